"""What a compaction lets go is shown before, hidden and not lost, and comes back exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.archive.compact import STEP, say_the_same
from memento.errors import InputError, NotFound
from memento.iris import IRI, MEM, PROV
from memento.model import NoteRow, Scope
from memento.operations.care import Compact
from memento.python import Memento, open_memento
from memento.search.nodes import Record
from memento.settings import EmbeddingSettings
from memento.time import now

GRAPH = Scope().graph
TRIGRAM = replace(OFFLINE, embedding=EmbeddingSettings(model="trigram"))


@pytest.fixture
def memento(tmp_path: Path) -> Iterator[Memento]:
    with open_memento(tmp_path, namespace="main", configured=TRIGRAM) as memory:
        assert isinstance(memory, Memento)
        yield memory


def digest(memento: Memento) -> str:
    found = sorted(repr(quad) for quad in memento.service.stores.graph.quads(GRAPH))
    return sha256("\n".join(found).encode()).hexdigest()


def keep(memento: Memento, *texts: str, days_ago: float = 0) -> list[IRI]:
    """Keep texts as rows, which nothing is compared with, written so many days ago."""
    clock = memento.service.stores.clock
    memento.service.stores.clock = lambda: now() - timedelta(days=days_ago)
    rows = [NoteRow(content=text, at=now() - timedelta(days=days_ago)) for text in texts]
    notes = [memento.intake.import_notes([row], consolidate=False).notes[0] for row in rows]
    memento.service.stores.clock = clock
    return [memento.review.sources(note)[0].memory for note in notes if note]


def said(text: str, days: int = 1, **more: object) -> Record:
    """Return a memory as the graph has it, of so many days ago."""
    at = now() - timedelta(days=days)
    statements = {MEM.content: [text], MEM.validAt: [at], **{MEM[name]: [value] for name, value in more.items()}}
    return Record(IRI(f"urn:memento:memory:{days}"), GRAPH, statements)  # type: ignore[arg-type]


def contents(memento: Memento) -> list[str]:
    return sorted(one.content for one in memento.list())


def test_age_likeness_and_importance_go_in_this_order_and_a_trial_run_changes_nothing(memento: Memento) -> None:
    keep(memento, "The heating was serviced in spring.", days_ago=200)
    keep(memento, "USER likes green tea.", days_ago=20)
    keep(memento, "USER really likes the green tea.", days_ago=10)
    keep(memento, "The bakery opens at seven.", days_ago=9)
    [dull] = keep(memento, "The lamp flickers.", days_ago=8)
    memento.review.mark(dull, importance=0.1)
    before = digest(memento)

    trial = memento.admin.compact(dry_run=True, max_entries=2, threshold=0.7)

    assert (trial.stage, trial.total, trial.remaining) == ("staged", 5, 2)
    assert [(one.why, one.content) for one in trial.changes] == [
        ("merged", "USER likes green tea."),
        ("expired", "The heating was serviced in spring."),
        ("evicted", "The lamp flickers."),
    ]
    assert trial.changes[0].into_content == "USER really likes the green tea."
    assert trial.changes[1].detail == "written 200 days ago"
    assert digest(memento) == before
    assert len(contents(memento)) == 5

    done = memento.admin.compact(branch=trial.branch)

    assert (done.stage, done.expired, done.merged, done.evicted, done.remaining) == ("applied", 1, 1, 1, 2)
    assert contents(memento) == ["The bakery opens at seven.", "USER really likes the green tea."]
    back = memento.admin.compact(undo=True)
    assert (back.stage, back.branch, back.remaining) == ("undone", trial.branch, 5)
    assert digest(memento) == before
    assert len(memento.recall("green tea", gate=False).memories) == 5
    assert memento.admin.check() == ()


def test_a_merged_memory_has_the_notes_names_tags_and_the_beginning_of_both(memento: Memento) -> None:
    [old] = keep(memento, "Anna lives in Lisbon.", days_ago=30)
    memento.review.mark(old, tags=("friends",))
    [new] = keep(memento, "Anna lives in the Lisbon.")
    assert memento.admin.compact(threshold=0.7).merged == 1

    [found] = memento.recall("Where does Anna live?", k=1, gate=False).memories

    assert (found.iri, found.count, found.merged) == (new, 2, (old,))
    assert [one.content for one in found.notes] == ["Anna lives in the Lisbon.", "Anna lives in Lisbon."]
    assert found.valid_at and (now() - found.valid_at).days == 30
    said = memento.service.stores.indexes.read([new], [GRAPH])[0].statements
    assert {found.notes[1].iri} <= set(said[PROV.wasDerivedFrom])
    assert len(said[MEM.tagged]) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The dog weighs 20 kg.", "The dog weighs 25 kg."),
        ("The temperature is -3 degrees.", "The temperature is 3 degrees."),
        ("USER likes green tea.", "USER does not like green tea."),
        ("USER likes green tea.", "USER never likes green tea."),
        (
            "The meeting of the research group is in the green room.",
            "The meeting of the research group is in the blue room.",
        ),
        ("Anna called Bert.", "Bert called Anna."),
        ("The keys are on the table.", "The keys are under the table."),
        ("USER smokes.", "USER smoked."),
        ("USER's left knee hurts.", "USER's right knee hurts."),
        ("USER drinks coffee.", "USER rarely drinks coffee."),
    ],
)
def test_what_says_something_else_is_not_the_same_however_alike_it_is(one: str, other: str) -> None:
    assert not say_the_same(said(one), said(other))
    assert say_the_same(said(one), said(f"The {one}"))


def test_an_event_of_two_days_happened_twice_and_a_state_is_one() -> None:
    met = "USER met Anna for lunch."
    assert not say_the_same(said(met, 1), said(met, 9))
    assert say_the_same(said(met, 1), said(met, 1))
    assert say_the_same(said("USER likes tea.", 1), said("USER likes the tea.", 9))
    assert not say_the_same(
        said("USER likes tea.", 1, about=IRI("urn:a")), said("USER likes tea.", 1, about=IRI("urn:b"))
    )


def test_what_was_forgotten_meanwhile_stays_so_and_what_was_brought_back_by_hand_too(memento: Memento) -> None:
    first, second, third = keep(memento, "The first thing.", "Another matter.", "Something third.", days_ago=300)
    memento.admin.compact()
    memento.forget(first)
    memento.review.unforget(second)

    memento.admin.compact(undo=True)

    assert contents(memento) == ["Another matter.", "Something third."]
    assert third in [one.iri for one in memento.list()]


@pytest.mark.parametrize("erase", [False, True])
def test_forgetting_a_merged_memory_forgets_what_it_was_merged_of(memento: Memento, erase: bool) -> None:
    keep(memento, "The code word is marigold.", days_ago=3)
    [new] = keep(memento, "The code word is really marigold.")
    assert memento.admin.compact(threshold=0.7).merged == 1

    memento.forget(new, erase=erase)
    memento.admin.compact(undo=True)

    assert memento.recall("code word", gate=False).memories == ()
    graph = memento.service.stores.graph
    left = [quad for name in graph.graphs() for quad in graph.quads(name) if "marigold" in str(quad[2])]
    assert bool(left) != erase


def test_a_run_that_was_stopped_goes_on_or_back(memento: Memento) -> None:
    keep(memento, *(f"The old thing number {i} lies about." for i in range(STEP + 6)), days_ago=300)
    before = digest(memento)
    trial = memento.admin.compact(dry_run=True)
    done = []

    def stop(count: int, total: int) -> None:
        done.append((count, total))
        raise KeyboardInterrupt

    for again in (True, False):
        with pytest.raises(KeyboardInterrupt):
            memento.call(Compact(branch=trial.branch), stop)
        assert len(contents(memento)) == 6
        if again:
            memento.admin.compact(undo=True)
            assert digest(memento) == before
            trial = memento.admin.compact(dry_run=True)
    assert memento.admin.compact(branch=trial.branch).stage == "applied"
    assert contents(memento) == []
    assert done == [(STEP, STEP + 6)] * 2


def test_only_a_branch_of_the_namespace_is_applied_or_undone(memento: Memento) -> None:
    keep(memento, "The heating was serviced in spring.", days_ago=200)
    trial = memento.admin.compact(dry_run=True)

    with pytest.raises(NotFound, match="there is none of that name"):
        memento.admin.compact(branch=trial.branch, namespace="other")
    with pytest.raises(NotFound, match="none was applied"):
        memento.admin.compact(undo=True)
    with pytest.raises(InputError, match="leave out undo and branch"):
        memento.admin.compact(dry_run=True, branch=trial.branch)
    later = memento.admin.compact(dry_run=True)  # which takes the place of the one before
    with pytest.raises(NotFound, match="there is none of that name"):
        memento.admin.compact(branch=trial.branch)
    assert memento.admin.compact(branch=later.branch).expired == 1
    with pytest.raises(NotFound, match="it is applied"):
        memento.admin.compact(branch=later.branch)
    assert memento.admin.compact().branch is None


def test_a_note_and_a_row_may_end_by_themselves_and_are_over_then_without_a_compaction(memento: Memento) -> None:
    told = memento.note("My parking permit is blue.", ttl_s=3600).memories
    [row, lasting] = [NoteRow(content="The scaffold stands until noon.", ttl_s=60), NoteRow(content="Rye is a grain.")]
    memento.intake.import_notes([row, lasting], consolidate=False)
    assert len(contents(memento)) == 3
    ends = memento.service.stores.indexes.read(told, [GRAPH])[0].time_of(MEM.expiresAt)
    assert ends and 3590 < (ends - now()).total_seconds() <= 3600

    memento.service.stores.clock = lambda: now() + timedelta(hours=2)

    assert contents(memento) == ["Rye is a grain."]
    with pytest.raises(InputError, match="ttl of row 1 must be a number of seconds above 0"):
        memento.intake.import_notes([NoteRow(content="x y z", ttl_s=0)])
    with pytest.raises(InputError, match="ttl must be"):
        memento.note("My permit is red.", ttl_s=-1)
