"""Of a passage of several sentences, an answer names the one that answers."""

from __future__ import annotations

import pytest

from memento.python import Memento
from memento.retrieval.sentence import choose_sentence, split_at

PETRA = "My sister Petra sold her Polo yesterday. She drives an ID.3 now and likes it. We had soup."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What did Petra sell?", "My sister Petra sold her Polo yesterday."),
        ("What does Petra drive?", "She drives an ID.3 now and likes it."),
    ],
)
def test_the_sentence_that_answers_is_named(memento: Memento, question: str, sentence: str) -> None:
    memento.note(PETRA, at="2025-03-03")
    found = memento.recall(question, gate=False).memories[0]

    assert found.sentence == sentence
    assert sentence in found.content


def test_a_memory_of_one_sentence_names_none(memento: Memento) -> None:
    memento.note("The rent of my flat is 1,250 a month.", at="2025-03-03")

    assert memento.recall("How much is my rent?", gate=False).memories[0].sentence is None


def test_a_passage_in_which_nothing_stands_out_names_none() -> None:
    assert choose_sentence("It rained. We stayed in.", {"rent": 1.0}) is None


def test_a_sentence_that_is_no_part_of_the_text_any_more_splits_nothing() -> None:
    assert split_at("It rai…", "It rains.") == ("It rai…", "", "")
