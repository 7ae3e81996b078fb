"""The words stay: what of a sentence changes, what leans on another, and what is worth no memory."""

from __future__ import annotations

import pytest

from memento.consolidation.rules.wording import leans, noise, with_user
from telling import drafts


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I live in Ancona with my aunt.", "USER lives in Ancona with USER's aunt."),
        ("We sold our van.", "We sold our van."),
        ("Milo said: 'I hate my job'.", "Milo said: 'I hate my job'."),
        ('She said "I love it".', 'She said "I love it".'),
        ("Ann and I were there.", "Ann and USER were there."),
    ],
)
def test_only_the_speaker_is_renamed(said: str, kept: str) -> None:
    assert with_user(said) == kept


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("Mum is fine, she still teaches.", ["Mum is fine, she still teaches."]),
        ("Ann met Eva. She was tired.", ["Ann met Eva. She was tired."]),
        ("My uncle is Piet. He lives in Delft.", ["USER's uncle is Piet.", "Piet lives in Delft."]),
        ("I moved yesterday. Two bedrooms.", ["USER moved yesterday [2024-05-14]. Two bedrooms."]),
        ("I like tea. The lift is broken.", ["USER likes tea.", "The lift is broken."]),
        ("Goes to the market on Fridays.", ["Goes to the market on Fridays."]),
    ],
)
def test_a_memory_is_a_sentence_and_what_leans_on_it(text: str, contents: list[str]) -> None:
    assert [draft.content for draft in drafts(text)] == contents


@pytest.mark.parametrize(
    "sentence", ["Hi there!", "Good evening, everyone", "Thanks a million!", "ok", "👍", "Is it open?"]
)
def test_noise_says_what_it_is(sentence: str) -> None:
    assert noise(sentence)
    assert [draft.noise for draft in drafts(sentence)] == [noise(sentence)]


@pytest.mark.parametrize(
    "sentence", ["Good evening classes start on Monday.", "Thanks to Ann I got the job.", "Ok is a town in Norway."]
)
def test_what_only_begins_like_noise_is_kept(sentence: str) -> None:
    assert noise(sentence) == ""


@pytest.mark.parametrize("sentence", ["She is tired.", "But it rained.", "Two rooms.", "Still wants the key."])
def test_what_needs_the_sentence_before_it_leans(sentence: str) -> None:
    assert leans(sentence)
