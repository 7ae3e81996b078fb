"""Slips of the pen: what nobody knows is read as what somebody knows, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento.model import NoteRow
from memento.python import Memento, open_memento
from memento.retrieval.question import correct_spelling
from memento.search.postings import tokens
from memento.settings import EmbeddingSettings, LandSettings, Settings
from memento.text.spelling import list_edits

KNOWN = {stem: times for word, times in (("melanie", 5), ("otters", 2), ("pottery", 7)) for stem in tokens(word)}


def read(question: str, words: frozenset[str] = frozenset({"class", "when", "does", "start", "pottery"})) -> str:
    return correct_spelling(question, words.__contains__, lambda stem: KNOWN.get(stem, 0))


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("potery", "pottery"),
        ("pottrey", "pottery"),
        ("pottary", "pottery"),
        ("potttery", "pottery"),
        ("Melnie", "Melanie"),
    ],
)
def test_one_slip_is_corrected(slip: str, meant: str) -> None:
    assert read(f"When does {slip} start?") == f"When does {meant} start?"


def test_a_name_with_an_accent_is_one_word() -> None:
    known = {"málaga": 3, "lava": 2}

    assert (
        correct_spelling("Is Málaga far?", {"lava"}.__contains__, lambda stem: known.get(stem, 0)) == "Is Málaga far?"
    )


@pytest.mark.parametrize(
    "question", ["When does class start?", "Otter?", "Was it ottrs or tea?", "xottery", "poetry2", "melnie"]
)
def test_what_is_a_word_or_known_or_short_or_too_far_off_stays(question: str) -> None:
    words = frozenset({"class", "when", "does", "start", "ottrs", "xottery", "poetry"})

    assert read(question, words) == question


def test_a_word_longer_than_any_is_left_as_it_is_at_once() -> None:
    looked_up: list[str] = []

    def count(stem: str) -> int:
        looked_up.append(stem)
        return 0

    assert correct_spelling("x" * 100_000, frozenset[str]().__contains__, count) == "x" * 100_000
    assert not looked_up


def test_a_first_letter_is_never_changed() -> None:
    assert all(word[0] == "t" for word in list_edits("tea"))


def test_a_misspelt_question_is_answered(tmp_path: Path) -> None:
    embedding = EmbeddingSettings(runtime="torch", cache=False)
    notes = [NoteRow(content=text) for text in ("The pottery class starts in June.", "The aquarium has three otters.")]
    with open_memento(tmp_path, configured=Settings(embedding=embedding)) as memento:
        assert isinstance(memento, Memento)
        memento.intake.import_notes(notes, consolidate=False)
        (found, *_) = memento.recall("aquariem", explain=True, gate=False).memories
        assert found.content == "The aquarium has three otters."
        assert found.why.get("words", 0) > 0

        memento.service.settings = Settings(embedding=embedding, land=LandSettings(mend=False))
        assert all(not one.why.get("words") for one in memento.recall("aquariem", explain=True, gate=False).memories)
