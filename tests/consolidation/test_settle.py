"""Decisions fit time, whoever made them: what recurs is new, what began later stays, one instant has no before and after."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import at
from memento.consolidation.agents import Add, Draft, Existing, Held, Invalidate, Skip, Target
from memento.consolidation.settle import settle_decisions
from memento.iris import IRI, MEM
from memento.model import Memory, Note
from memento.python import Memento
from memento.text.claims import read_claims
from scripted import ScriptedModel
from understanding import Understanding, contents, opened

NOTE = Note(iri=IRI("urn:n"), content="", at=at("2024-01-01"))
DRAFT = Draft(content="USER works at Google.", about=("USER",))


def known(valid_at: str, invalid_at: str | None = None) -> Existing:
    memory = Memory(
        iri=IRI("urn:m"),
        content="USER works at Google.",
        extracted_from=IRI("urn:o"),
        valid_at=at(valid_at),
        created_at=at(valid_at),
        invalid_at=at(invalid_at) if invalid_at else None,
    )
    return Existing(memory=memory, about=("USER",))


def ending(mode: Any = "state-change", draft: Draft = DRAFT, claim: IRI | None = None) -> Invalidate:
    target = Target(memory=IRI("urn:m"), reason="changed", mode=mode, claim=claim)
    return Invalidate(draft=draft, targets=(target,))


def saying(text: str) -> Draft:
    return Draft(content=text, about=("USER",), claims=tuple(read_claims(text)))


def test_a_fact_that_recurs_after_its_end_is_a_new_memory() -> None:
    skip = Skip(draft=DRAFT, duplicate=IRI("urn:m"), reason="the same")

    assert settle_decisions([skip], [known("2020-01-01", "2022-01-01")], NOTE) != [skip]
    assert isinstance(settle_decisions([skip], [known("2020-01-01", "2022-01-01")], NOTE)[0], Add)
    assert settle_decisions([skip], [known("2020-01-01", "2025-01-01")], NOTE) == [skip]
    assert settle_decisions([skip], [known("2020-01-01")], NOTE) == [skip]


def test_what_began_later_follows_the_draft_instead_of_ending() -> None:
    [found] = settle_decisions([ending()], [known("2025-01-01")], NOTE)

    assert isinstance(found, Add)
    assert [one.memory for one in found.successors] == ["urn:m"]


def test_what_is_over_does_not_end_again() -> None:
    assert isinstance(settle_decisions([ending()], [known("2020-01-01", "2022-01-01")], NOTE)[0], Add)
    assert isinstance(settle_decisions([ending()], [known("2020-01-01", "2025-01-01")], NOTE)[0], Invalidate)


def test_two_states_of_one_instant_contradict_each_other() -> None:
    [found] = settle_decisions([ending()], [known("2024-01-01")], NOTE)

    assert isinstance(found, Add)
    assert found.contradicts == ("urn:m",)


@pytest.mark.parametrize("decision", [ending("correction"), ending(draft=saying("I left Google."))])
def test_a_correction_and_an_ending_of_the_same_instant_retire(decision: Invalidate) -> None:
    assert settle_decisions([decision], [known("2024-01-01")], NOTE) == [decision]


def test_a_claim_ends_by_its_own_times_not_by_those_of_its_memory() -> None:
    claim = Held(
        iri=IRI("urn:c"), memory=IRI("urn:m"), owner="USER", relation="work at", value="Acme", since=at("2023-06-01")
    )
    one = ending(draft=saying("I work at Google."), claim=claim.iri)
    over = replace(claim, until=at("2023-12-01"))

    assert settle_decisions([one], [replace(known("2024-01-01"), claims=(claim,))], NOTE) == [one]
    assert isinstance(settle_decisions([one], [replace(known("2020-01-01"), claims=(over,))], NOTE)[0], Add)


def test_a_target_that_was_never_shown_is_no_target() -> None:
    assert isinstance(settle_decisions([ending()], [], NOTE)[0], Add)


# ---- in the graph, by rules and by a model


def worded(by: str, texts: set[str]) -> set[str]:
    """The texts as rules keep them, or as the model words them: in the third person."""
    if by == "rules":
        return texts
    return {text.replace("I work", "USER works").replace("I live", "USER lives") for text in texts}


@pytest.mark.parametrize("by", ["rules", "model"])
def test_contradictory_notes_of_one_instant_are_both_kept_and_flagged(
    by: str, tmp_path: Path, memento: Memento
) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path / "other", model) as other:
        chosen = memento if by == "rules" else other
        first = chosen.note("I live in Paris.", at="2024-01-01")
        second = chosen.note("I live in Rome.", at="2024-01-01")

        assert second.contradicts == first.memories
        assert second.invalidated == ()
        assert contents(chosen) == worded(by, {"I live in Paris.", "I live in Rome."})
        assert (str(MEM.contradicts), second.memories[0]) in chosen.get(first.memories[0]).properties
        assert (str(MEM.contradicts), first.memories[0]) in chosen.get(second.memories[0]).properties
        assert chosen.admin.check() == ()


@pytest.mark.parametrize("by", ["rules", "model"])
def test_history_is_in_order_whatever_order_it_is_told_in(by: str, tmp_path: Path, memento: Memento) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path / "other", model) as other:
        chosen = memento if by == "rules" else other
        for when, company in (("2019-01-01", "Siemens"), ("2025-01-01", "Microsoft"), ("2021-01-01", "Google")):
            chosen.note(f"I work at {company}.", at=when)

        def employers(as_of: str | None) -> set[str]:
            return {one.content for one in chosen.recall("Where do I work?", as_of=as_of, gate=False).memories}

        assert employers("2020-01-01") == worded(by, {"I work at Siemens."})
        assert employers("2022-01-01") == worded(by, {"I work at Google."})
        assert employers(None) == worded(by, {"I work at Microsoft."})
        assert chosen.admin.check() == ()


@pytest.mark.parametrize("by", ["rules", "model"])
def test_what_was_true_before_and_is_again_is_two_memories(by: str, tmp_path: Path, memento: Memento) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path / "other", model) as other:
        chosen = memento if by == "rules" else other
        for when, company in (("2019-01-01", "Google"), ("2021-01-01", "Acme"), ("2024-01-01", "Google")):
            chosen.note(f"I work at {company}.", at=when)

        assert contents(chosen) == worded(by, {"I work at Google."})
        assert len(chosen.list(past=True)) == 3
        assert chosen.admin.check() == ()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(str.strip),
        st.sampled_from(
            [
                "I went for a run.",
                "My cat is called Tom!",
                "Hello",
                "? ? ?",
                "I like tea and I like cake.",
                "2024-05-01",
                "no",
            ]
        ),
    )
)
def test_saying_it_twice_leaves_what_saying_it_once_left(text: str, memento: Memento) -> None:
    memento.note(text)
    before = memento.status()
    again = memento.note(text)

    assert again.memories == ()
    assert (
        replace(memento.status(), parts=before.parts) == before
    )  # but for the room on the disk, and the number of writes


def test_a_model_that_words_it_differently_each_time_leaves_one_memory_too(tmp_path: Path) -> None:
    words = iter(("USER likes tea.", "USER enjoys tea.", "Tea is what USER likes."))
    script = Understanding(extract_memories=lambda given: {"memories": [{"content": next(words), "aboutEntities": []}]})
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I like tea.")
        again = memento.note("I like tea.")

        assert (again.note, again.skipped) == (None, "it is already known")
        assert len(contents(memento)) == 1
