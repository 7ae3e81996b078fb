"""Where nothing surely answers, what is nearest is shown apart, and only where a memory could have answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.model import NEAREST
from memento.operations.recall import Recall
from memento.python import Memento, open_memento
from memento.retrieval.nearest import MOST, is_asking
from memento.retrieval.render import as_list, as_text, as_xml, fit_block, fit_budget
from memento.service.handlers.recall import peek
from memento.settings import GateSettings

NOTES = (
    "My dentist is Dr Okafor on Mill Lane.",
    "My dentist moved my appointment to Friday.",
    "I paid my dentist 80 euros.",
    "My dentist has a new assistant.",
    "The cellar of our house floods in November.",
)
QUESTION = "Which dentists have a new car?"
STRICT = replace(OFFLINE, gate=GateSettings(base=0.99, floor=0.99))
"""A gate that opens for nothing but what surely answers."""


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Memento]:
    with open_memento(tmp_path / "home", configured=STRICT) as memento:
        assert isinstance(memento, Memento)
        for note in NOTES:
            memento.note(note, at="2025-03-03")
        yield memento


def test_what_is_near_a_question_that_nothing_answers_is_shown_apart(told: Memento) -> None:
    found = told.recall(QUESTION)

    assert found.gated
    assert not found.memories
    assert 0 < len(found.nearest) <= MOST
    assert all("dentist" in one.content for one in found.nearest)
    assert [one.rank for one in found.nearest] == [*range(1, len(found.nearest) + 1)]


def test_every_text_labels_what_is_nearest(told: Memento) -> None:
    found = told.recall(QUESTION)
    today = found.nearest[0].note.at.date() if found.nearest[0].note else None

    assert today
    assert as_list(found).startswith(f"{NEAREST}\n- ")
    assert NEAREST in as_text(found)
    assert "<nearest>" in as_xml(found, today)
    assert "<memories>" not in as_xml(found, today)


def test_a_block_for_a_model_that_nobody_asked_for_holds_answers_alone(told: Memento) -> None:
    found = peek(Recall(QUESTION), told.context)
    today = found.nearest[0].valid_at

    assert today
    assert "dentist" not in fit_block(found, today.date(), 500)[1].replace(QUESTION, "")


def test_a_budget_holds_for_what_is_nearest_too(told: Memento) -> None:
    found = told.recall(QUESTION)

    assert fit_budget(found, 5).nearest == ()
    assert fit_budget(found, 10_000).nearest


def test_a_question_that_is_answered_has_no_nearest(told: Memento) -> None:
    found = told.recall("Who is my dentist?")

    assert found.memories
    assert found.nearest == ()


@pytest.mark.parametrize(
    "text", ["Thanks, that was great!", "How do I pull a tooth?", "Explain how teeth grow.", "Are you sure?"]
)
def test_what_asks_for_no_memory_has_no_nearest(told: Memento, text: str) -> None:
    found = told.recall(text)

    assert (found.memories, found.nearest) == ((), ())


def test_a_forgotten_memory_is_not_nearest(told: Memento) -> None:
    gone = {one.iri for one in told.recall(QUESTION).nearest}
    for iri in gone:
        told.forget(iri)

    assert not gone & {one.iri for one in told.recall(QUESTION).nearest}


def test_a_task_asks_for_no_memory_unless_it_names_something_known() -> None:
    assert not is_asking("Draft a mail about the boiler", is_named=False)
    assert is_asking("Draft a mail to Ana about the boiler", is_named=True)
