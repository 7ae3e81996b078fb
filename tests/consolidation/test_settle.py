"""Decisions fit time, whoever made them: what recurs is new, what began later stays, one instant has no before and after."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import at
from memento.consolidation.agents import Add, Draft, Existing, Invalidate, Skip, Target
from memento.consolidation.settle import FOLLOWED, settle_decisions
from memento.iris import IRI, MEM
from memento.model import Memory, Note
from memento.python import Memento
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


def ending(mode: Any = "state-change", rule: str = "") -> Invalidate:
    return Invalidate(draft=DRAFT, targets=(Target(memory=IRI("urn:m"), reason="changed", mode=mode, rule=rule),))


def test_a_fact_that_recurs_after_its_end_is_a_new_memory() -> None:
    skip = Skip(draft=DRAFT, duplicate=IRI("urn:m"), reason="the same")

    assert settle_decisions([skip], [known("2020-01-01", "2022-01-01")], NOTE) != [skip]
    assert isinstance(settle_decisions([skip], [known("2020-01-01", "2022-01-01")], NOTE)[0], Add)
    assert settle_decisions([skip], [known("2020-01-01", "2025-01-01")], NOTE) == [skip]
    assert settle_decisions([skip], [known("2020-01-01")], NOTE) == [skip]


def test_what_began_later_follows_the_draft_instead_of_ending() -> None:
    [found] = settle_decisions([ending()], [known("2025-01-01")], NOTE)

    assert isinstance(found, Add)
    assert found.successor is not None
    assert found.successor.memory == "urn:m"


def test_what_is_over_does_not_end_again() -> None:
    assert isinstance(settle_decisions([ending()], [known("2020-01-01", "2022-01-01")], NOTE)[0], Add)
    assert isinstance(settle_decisions([ending()], [known("2020-01-01", "2025-01-01")], NOTE)[0], Invalidate)


def test_two_states_of_one_instant_contradict_each_other() -> None:
    [found] = settle_decisions([ending()], [known("2024-01-01")], NOTE)

    assert isinstance(found, Add)
    assert found.contradicts == ("urn:m",)


@pytest.mark.parametrize("decision", [ending("correction"), ending(rule="ends:left")])
def test_a_correction_and_an_ending_of_the_same_instant_retire(decision: Invalidate) -> None:
    assert settle_decisions([decision], [known("2024-01-01")], NOTE) == [decision]


def test_a_target_that_was_never_shown_is_no_target() -> None:
    assert isinstance(settle_decisions([ending()], [], NOTE)[0], Add)


# ---- in the graph, by rules and by a model


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
        assert contents(chosen) == {"USER lives in Paris.", "USER lives in Rome."}
        assert (str(MEM.contradicts), second.memories[0]) in chosen.get(first.memories[0]).properties
        assert (str(MEM.contradicts), first.memories[0]) in chosen.get(second.memories[0]).properties
        assert chosen.check() == ()


@pytest.mark.parametrize("by", ["rules", "model"])
def test_history_is_in_order_whatever_order_it_is_told_in(by: str, tmp_path: Path, memento: Memento) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path / "other", model) as other:
        chosen = memento if by == "rules" else other
        for when, company in (("2019-01-01", "Siemens"), ("2025-01-01", "Microsoft"), ("2021-01-01", "Google")):
            chosen.note(f"I work at {company}.", at=when)

        def employers(as_of: str | None) -> set[str]:
            return {one.content for one in chosen.recall("Where do I work?", as_of=as_of, gate=False).memories}

        assert employers("2020-01-01") == {"USER works at Siemens."}
        assert employers("2022-01-01") == {"USER works at Google."}
        assert employers(None) == {"USER works at Microsoft."}
        assert chosen.check() == ()


@pytest.mark.parametrize("by", ["rules", "model"])
def test_what_was_true_before_and_is_again_is_two_memories(by: str, tmp_path: Path, memento: Memento) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path / "other", model) as other:
        chosen = memento if by == "rules" else other
        for when, company in (("2019-01-01", "Google"), ("2021-01-01", "Acme"), ("2024-01-01", "Google")):
            chosen.note(f"I work at {company}.", at=when)

        assert contents(chosen) == {"USER works at Google."}
        assert len(chosen.list(past=True)) == 3
        assert chosen.check() == ()


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


def test_another_value_of_a_relation_whose_values_followed_one_another_is_a_likely_rival() -> None:
    old = replace(known("2020-01-01"), followed=((0, "mentor", 4),))
    [found] = settle_decisions([Add(draft=Draft(content="Ana's mentor is Bo.", about=("Ana", "Bo")))], [old], NOTE)

    assert isinstance(found, Add)
    [rival] = found.rivals
    assert rival.memory == old.memory.iri
    assert rival.confidence == FOLLOWED
    assert rival.reason == "values of mentor followed one another 4 times"


def test_with_a_word_of_change_it_ends_what_says_no_more_than_the_other_value() -> None:
    earlier = known("2020-01-01")
    says = replace(earlier, followed=((0, "mentor", 4),), memory=replace(earlier.memory, slot="mentor"))
    passing = replace(earlier, followed=((0, "mentor", 4),))
    add = Add(draft=Draft(content="Ana's mentor is Bo now.", about=("Ana", "Bo")))

    [ended], [linked] = (settle_decisions([add], [old], NOTE) for old in (says, passing))
    assert isinstance(ended, Invalidate)
    assert [target.memory for target in ended.targets] == [earlier.memory.iri]
    assert isinstance(linked, Add)
    assert len(linked.rivals) == 1


def test_a_second_value_beside_the_first_is_no_rival_of_it() -> None:
    old = replace(known("2020-01-01"), followed=((0, "mentor", 4),))
    [found] = settle_decisions([Add(draft=Draft(content="Bo is also a mentor of Ana.", about=("Ana",)))], [old], NOTE)

    assert isinstance(found, Add)
    assert found.rivals == ()
