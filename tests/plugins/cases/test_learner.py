"""What rewards teach: which cases are worth showing, how much that counts, and when it does not."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.archive.cases import weights_path
from memento.backends import open_backends
from memento.datadir import DataFolder
from memento.errors import InputError, NotFound
from memento.iris import IRI, cases_iri
from memento.model import CasesFound
from memento.plugins.cases.bank import Bank, Entry, Pair, measure_form
from memento.plugins.cases.learner import Learner, read_weights, write_weights
from memento.plugins.cases.nouns import CaseRow, CaseStatus
from memento.plugins.cases.settings import CasesSettings
from memento.python import Memento, open_memento
from memento.settings import Settings
from memento.time import now

PLACES = ("Lisbon", "Porto", "Braga", "Faro", "Evora", "Beja", "Aveiro", "Viseu")
"""What the two kinds of tasks have in common: likeness cannot tell them apart."""
LOUD = [CaseRow(task=f"Tell Me About {place} Now?", plan=f"1. Shout {place}.", outcome="success") for place in PLACES]
QUIET = [CaseRow(task=f"tell me about {place.lower()} now", plan="1. Whisper.", outcome="success") for place in PLACES]


@contextmanager
def opened(path: Path, cases: CasesSettings | None = None) -> Iterator[Memento]:
    configured = Settings(embedding=OFFLINE.embedding).having(cases or CasesSettings())
    memento = open_memento(path / "home", configured=configured)
    assert isinstance(memento, Memento)
    with memento:
        yield memento


def is_loud(text: str) -> bool:
    return text.endswith("?")


def taught(memento: Memento, rounds: int, k: int = 2) -> None:
    """Ask for loud and quiet tasks in turn; a case helps a task of its own kind."""
    for number in range(rounds):
        place = PLACES[(number * 3 + number // 8) % len(PLACES)]
        task = f"Tell Me About {place} Now?" if number % 2 else f"tell me about {place.lower()} now"
        found = memento.cases.retrieve(task, k=k)
        single: dict[str, float] = {one.iri: float(is_loud(one.task) == is_loud(task)) for one in found.positives}
        assert found.retrieval
        memento.cases.reward(found.retrieval, single=single)


def hits(found: CasesFound, k: int) -> float:
    return float(np.mean([is_loud(one.task) == is_loud(found.task) for one in found.positives[:k]]))


ASKED = "Tell Me About Coimbra Now?"


@dataclass
class Lesson:
    """A memory that was taught, and what it answered before and after."""

    home: Path
    before: CasesFound
    after: CasesFound
    status: CaseStatus

    def copied(self, path: Path) -> Path:
        """The weights of a copy of its data folder, in `path`."""
        shutil.copytree(self.home, path / "home")
        return weights_path(cases_iri("local", "main"), DataFolder(path / "home"))


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    path = tmp_path_factory.mktemp("lesson")
    with opened(path) as memento:
        memento.cases.add([*LOUD, *QUIET])
        before = memento.cases.retrieve(ASKED, k=8)
        taught(memento, 40)
        status, after = memento.cases.status(), memento.cases.retrieve(ASKED, k=8)
        assert memento.admin.check() == ()
    return Lesson(path / "home", before, after, status)


def test_cases_that_earn_come_first(lesson: Lesson) -> None:
    after, status = lesson.after, lesson.status

    assert hits(lesson.before, 8) < hits(after, 8) == 1
    assert (after.ranking, status.guarded) == ("q", False)
    assert 0.5 <= after.beta <= 1
    assert (status.labelled, status.updates, status.retrievals) == (80, 8, 40)
    assert [one.score for one in after.positives] == pytest.approx(
        [after.beta * one.q + (1 - after.beta) * one.cosine for one in after.positives if one.q is not None]
    )


def test_what_was_learned_survives_a_restart(lesson: Lesson, tmp_path: Path) -> None:
    lesson.copied(tmp_path)
    with opened(tmp_path) as memento:
        again = memento.cases.retrieve(ASKED, k=8)

        # A moment later: the cases are older.
        assert [one.iri for one in again.positives] == [one.iri for one in lesson.after.positives]
        assert [one.q for one in again.positives] == pytest.approx([one.q for one in lesson.after.positives], abs=1e-3)
        assert memento.cases.status() == lesson.status


def test_without_its_weights_it_learns_anew_from_the_graph(lesson: Lesson, tmp_path: Path) -> None:
    lesson.copied(tmp_path).unlink()
    with opened(tmp_path) as memento:
        found = memento.cases.retrieve("tell me about coimbra now", k=8)

        assert (found.ranking, memento.cases.status().updates) == ("q", 8)
        assert hits(found, 8) >= 0.75


def test_weights_of_another_embedder_are_not_used(lesson: Lesson, tmp_path: Path) -> None:
    """The vectors are made anew, and the network learns from the graph with them."""
    path = lesson.copied(tmp_path)
    kept = read_weights(path)
    assert kept is not None
    write_weights(path, {name: array * 0 for name, array in kept[0].items()}, {**kept[1], "embedder": "another"})
    (tmp_path / "home" / "vectors.sqlite").unlink()
    with opened(tmp_path) as memento:
        found = memento.cases.retrieve("tell me about coimbra now", k=8)

        assert found.ranking == "q"
        assert hits(found, 8) >= 0.75
        assert memento.admin.check() == ()
    again = read_weights(path)
    assert again is not None
    assert again[1]["embedder"] == "trigram-256"


def test_the_setting_cosine_leaves_q_out(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings(ranking="cosine")) as memento:
        memento.cases.add([*LOUD, *QUIET])
        taught(memento, 30)
        found = memento.cases.retrieve("tell me about coimbra now", k=8)

        assert (found.beta, found.ranking) == (0, "cosine")
        assert [one.score for one in found.positives] == [one.cosine for one in found.positives]


def test_all_cases_that_were_shown_share_the_credit(memento: Memento) -> None:
    memento.cases.add([*LOUD[:2], CaseRow(task="Tell Me?", plan="1. Fail.", outcome="failure")])
    found = memento.cases.retrieve("Tell Me About Faro Now?")
    assert found.retrieval
    credited = memento.cases.reward(found.retrieval, "partial")

    assert set(credited.cases) == {one.iri for one in (*found.positives, *found.negatives)}
    assert {(one.uses, one.earned) for one in memento.cases.list()} == {(1, 0.5)}
    assert credited.labelled == 3


def test_a_reward_told_again_replaces_the_first(memento: Memento) -> None:
    memento.cases.add(LOUD[:1])
    found = memento.cases.retrieve("Tell Me About Faro Now?")
    assert found.retrieval
    memento.cases.reward(found.retrieval, "failure")
    memento.cases.reward(found.retrieval, "success")
    [case] = memento.cases.list()

    assert (case.uses, case.earned) == (1, 1)
    assert memento.cases.status().labelled == 1
    assert memento.admin.check() == ()


def test_single_cases_may_earn_for_themselves(memento: Memento) -> None:
    memento.cases.add(LOUD[:2])
    found = memento.cases.retrieve("Tell Me About Faro Now?")
    good, bad = found.positives
    assert found.retrieval
    memento.cases.reward(found.retrieval, single={good.iri: 1.0})

    assert memento.cases.get(good.iri).earned == 1
    assert memento.cases.get(bad.iri).uses == 0
    with pytest.raises(NotFound, match="did not show"):
        memento.cases.reward(found.retrieval, single={"urn:x:another": 1.0})
    with pytest.raises(InputError, match="a reward or a judge's score"):
        memento.cases.reward(found.retrieval)
    with pytest.raises(NotFound, match="no retrieval"):
        memento.cases.reward("urn:memento:retrieval:none", "success")


def test_the_case_has_the_mean_of_what_q_said_of_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memento:
        memento.cases.add(LOUD[:2])
        said: list[float] = []
        for number in range(16):
            found = memento.cases.retrieve("Tell Me About Faro Now?", k=1)
            said += [one.q for one in found.positives if one.q is not None]
            assert found.retrieval
            memento.cases.reward(found.retrieval, "success" if number % 2 else "failure")
        shown = [case for case in memento.cases.list() if case.q is not None]

        assert len(said) == 6  # the first ten pairs taught it
        assert sum(case.q or 0 for case in shown) == pytest.approx(np.mean(said))


@pytest.fixture(scope="module")
def learners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bank, type[Made]]]:
    """Makes learners over a bank of loud and quiet cases, without a graph."""
    home = DataFolder(tmp_path_factory.mktemp("learner"))
    parts = open_backends(home, OFFLINE)
    rows = [*LOUD, *QUIET]
    vectors = parts.embedder.embed([row.task for row in rows])
    bank = Bank(IRI("urn:memento:cases:x:y"), 256)
    bank.put([Entry(iri=IRI(f"urn:x:{n}"), task=row.task, at=now(), reward=1.0) for n, row in enumerate(rows)], vectors)
    Made.parts, Made.bank = parts, bank
    yield bank, Made
    parts.close()


class Made:
    """A learner and the pairs it is told."""

    parts: object
    bank: Bank

    def __init__(self, **knobs: object) -> None:
        self.learner = Learner(self.bank, [], self.parts, CasesSettings(**knobs))  # type: ignore[arg-type]
        self.told = 0

    def tell(self, said: Sequence[tuple[float | None, float, float]]) -> None:
        """(Q before the reward, cosine, reward) of pairs, a retrieval each."""
        for q, cosine, reward in said:
            row = self.told % self.bank.size
            self.told += 1
            self.learner.learn(
                [
                    Pair(
                        use=IRI(f"urn:x:use:{self.told}"),
                        retrieval=IRI(f"urn:x:retrieval:{self.told}"),
                        case=self.bank.iris[row],
                        state=self.bank.vectors[row],
                        form=measure_form("Tell Me?"),
                        at_ms=0.0,
                        cosine=cosine,
                        reward=reward,
                        q=q,
                    )
                ]
            )


def test_q_has_no_say_before_enough_pairs_of_both_kinds(learners: tuple[Bank, type[Made]]) -> None:
    made = learners[1]()
    made.tell([(None, 0.5, 1.0)] * 60)
    assert (made.learner.weight.beta, "earned alike" in made.learner.weight.reason) == (0, True)
    made.tell([(0.1, 0.5, 0.0)])
    first = made.learner.weight.beta
    made.tell([(0.9, 0.5, 1.0), (0.1, 0.5, 0.0)] * 50)

    assert 0.5 <= first < made.learner.weight.beta < 1
    assert made.learner.label_counts == (110, 51)


def test_q_that_tells_rewards_worse_than_likeness_is_left_out_until_it_is_better(
    learners: tuple[Bank, type[Made]],
) -> None:
    made = learners[1]()
    made.tell([(0.2, 0.9, 1.0), (0.8, 0.1, 0.0)] * 60)
    guarded = made.learner.weight

    assert (guarded.beta, guarded.guarded) == (0, True)
    assert (guarded.auc_q, guarded.auc_cosine) == (0, 1)
    assert "worse (AUC 0.00) than the cosine did (1.00): by likeness alone" in guarded.reason
    made.tell([(0.9, 0.5, 1.0), (0.1, 0.5, 0.0)] * 100)
    assert made.learner.weight.beta > 0.5
    assert not made.learner.weight.guarded


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.none() | st.floats(0, 1), st.floats(-1, 1), st.floats(-0.2, 1)), max_size=80),
    st.integers(2, 60),
)
def test_beta_and_q_are_always_from_zero_to_one(
    learners: tuple[Bank, type[Made]], said: list[tuple[float | None, float, float]], needed: int
) -> None:
    made = learners[1](pairs_needed=needed)
    made.tell(said)
    bank = learners[0]
    q = made.learner.q(bank.vectors[0], measure_form("Tell?"), np.arange(bank.size), 0.0)

    assert 0 <= made.learner.weight.beta <= 1
    assert q is None or bool(((q >= 0) & (q <= 1)).all())


def test_without_torch_likeness_alone_decides_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # whoever imports it gets an ImportError
    with opened(tmp_path, CasesSettings(pairs_needed=4, update_every=2)) as memento:
        memento.cases.add([*LOUD[:3], *QUIET[:3]])
        taught(memento, 6)
        status = memento.cases.status()
        assert (status.beta, status.updates) == (0.0, 0)
        assert "torch, which learning takes, is not installed" in status.reason and "pip install" in status.reason
        found = memento.cases.retrieve(ASKED, k=2)
        assert found.positives and memento.admin.check() == ()
