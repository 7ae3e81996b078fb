"""A question about somebody brings what is known of that person, never of somebody else with a part of the name."""

from __future__ import annotations

import pytest

from conftest import at
from measure import fresh_memory
from memento.model import NoteRow
from memento.python import Memento
from memento.retrieval.relevance import asks_in_particular

BOOK = (
    "Ana Costa works at the harbour clinic.",
    "Ana Costa plays the harp.",
    "Ana Lopes works at the town hall.",
    "Ben Costa works at the harbour.",
    "Ben Lopes plays the oud.",
    "Ana Lopes plays the banjo.",
)


@pytest.fixture(params=[True, False], ids=["rules", "plain"])
def book(memento: Memento, request: pytest.FixtureRequest) -> Memento:
    rows = [NoteRow(content=text, at=at(f"2025-01-0{day}T09:00:00")) for day, text in enumerate(BOOK, start=1)]
    memento.intake.import_notes(rows, consolidate=request.param)
    return memento


@pytest.mark.parametrize("name", ["Ana Costa", "Ana Lopes", "Ben Costa"])
def test_a_full_name_brings_nobody_else_first(book: Memento, name: str) -> None:
    found = book.recall(f"Where does {name} work?", gate=False).memories
    assert name in found[0].content


def test_a_full_name_is_not_its_parts(book: Memento) -> None:
    found = [one.content for one in book.recall("What does Ana Costa play?", gate=False).memories]
    own = [place for place, text in enumerate(found) if "Ana Costa" in text]
    similar = [place for place, text in enumerate(found) if "Ana Lopes" in text or "Ben Costa" in text]
    assert len(own) == 2 and max(own) < min(similar)


def test_a_first_name_alone_means_everybody_who_has_it(book: Memento) -> None:
    anchors = book.recall("Where does Ana work?", gate=False, explain=True).anchors
    assert {"Ana Costa", "Ana Lopes"} <= {one.name for one in anchors if one.named}


def test_a_full_name_that_nobody_has_means_nobody(book: Memento) -> None:
    anchors = book.recall("Where does Ana Prado work?", gate=False, explain=True).anchors
    assert not [one for one in anchors if one.named]


@pytest.mark.parametrize(
    "request_", ["What do you know about Ana Costa?", "I'm meeting Ana Costa tomorrow", "Write a card for Ana Costa"]
)
def test_who_is_known_by_name_is_never_refused(book: Memento, request_: str) -> None:
    found = book.recall(request_).memories
    assert found and "Ana Costa" in found[0].content


def test_a_question_for_a_particular_thing_is_told_from_one_for_all() -> None:
    assert asks_in_particular("What is Ana Costa's surname?", ["ana costa"])
    assert not asks_in_particular("Tell me everything about Ana Costa", ["ana costa"])


SHARED = (
    "Otto is the husband of Ana Costa.",
    "celery makes Ben Costa ill.",
    "Otto is the husband of Ben Lopes.",
    "celery makes Ana Lopes ill.",
    "Ana Costa lives in Porto.",
    "Ana Costa is with the harbour clinic now.",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the name of Ana Costa's husband?", SHARED[0]),
        ("What makes Ben Costa ill?", SHARED[1]),
        ("Which city does Ana Costa live in?", SHARED[4]),
    ],
)
def test_what_was_told_later_about_others_or_something_else_does_not_pass(question: str, answer: str) -> None:
    with fresh_memory("minilm") as opened:
        rows = [NoteRow(content=text, at=at(f"2025-01-0{day}T09:00:00")) for day, text in enumerate(SHARED, start=1)]
        opened.intake.import_notes(rows, consolidate=True)
        assert opened.recall(question).memories[0].content == answer


UNFAMILIAR = (
    "Tunde Alabi teaches physics at a night school.",
    "Tunde's partner is Sorrel Meyer.",
    "Ilya Frisk moved to Tromsø in March.",
    "Ilya is scared of heights.",
    "Noemi Santos drives the night tram.",
    "Zsófia Marsh is a tax adviser at Pell & Grieve.",
    "Zsófia drives a green Skoda.",
    "Abelard Nwosu's wife is called Thea.",
    "Abelard plays the bassoon in the town band.",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does Tunde teach?", UNFAMILIAR[0]),
        ("Who is Tunde's partner?", UNFAMILIAR[1]),
        ("Where does Ilya live?", UNFAMILIAR[2]),
        ("What is Ilya scared of?", UNFAMILIAR[3]),
        ("What does Noemi drive?", UNFAMILIAR[4]),
        ("Who does Zsófia work for?", UNFAMILIAR[5]),
        ("Who is Abelard married to?", UNFAMILIAR[7]),
    ],
)
def test_a_first_name_that_no_table_knows_means_who_is_called_so(question: str, answer: str) -> None:
    with fresh_memory("minilm") as opened:
        rows = [
            NoteRow(content=text, at=at(f"2025-01-0{day}T09:00:00")) for day, text in enumerate(UNFAMILIAR, start=1)
        ]
        opened.intake.import_notes(rows, consolidate=True)
        assert opened.recall(question).memories[0].content == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which instrument does Ines Falk play?", "Ines Falk is learning the oud."),
        ("Who does Ines Falk work for?", "Ines Falk is with Lumen Foods now."),
        ("What job does Otis Falk have?", "By trade Otis Falk is a beekeeper."),
        ("What pets does Otis Falk have?", "At home Otis Falk looks after goldfish."),
    ],
)
def test_what_says_as_much_in_other_words_answers(question: str, answer: str) -> None:
    told = (
        "Ines Falk lives in Lyon.",
        "Ines Falk is with Lumen Foods now.",
        "Ines Falk is learning the oud.",
        "Otis Falk has a red bicycle.",
        "By trade Otis Falk is a beekeeper.",
        "At home Otis Falk looks after goldfish.",
    )
    rows = [NoteRow(content=text, at=at(f"2025-01-0{day}T09:00:00")) for day, text in enumerate(told, start=1)]
    with fresh_memory("minilm") as memento:
        memento.intake.import_notes(rows)

        assert memento.recall(question).memories[0].content == answer
