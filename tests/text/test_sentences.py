"""Where sentences and clauses end, and which words only introduce them."""

from __future__ import annotations

import pytest

from memento.text.sentences import LONGEST_TEXT, clauses, introduced, sentences, split_read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I met Dr. Ruiz. She is kind.", ["I met Dr. Ruiz.", "She is kind."]),
        ("We live at 5 St. James St. in York.", ["We live at 5 St. James St. in York."]),
        ("J. K. Rowling wrote it. I read it.", ["J. K. Rowling wrote it.", "I read it."]),
        ("I use tools, e.g. Vim. Do you?", ["I use tools, e.g. Vim.", "Do you?"]),
        ("- one\n* two\n3. three", ["one", "two", "three"]),
        ("Python 3.12 is out.", ["Python 3.12 is out."]),
        ("", []),
        ("   \n ", []),
    ],
)
def test_sentences_end_at_full_stops_and_not_at_abbreviations(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@pytest.mark.parametrize(
    ("sentence", "body"),
    [
        ("Remember that I like tea", "I like tea"),
        ("Please note that I like tea", "I like tea"),
        ("Please remember: I like tea", "I like tea"),
        ("FYI, I like tea", "I like tea"),
        ("Note to self: buy milk", "buy milk"),
        ("Keep in mind that I like tea", "I like tea"),
        ("By the way, I like tea", "I like tea"),
        ("Hey, I like tea", "I like tea"),
        ("Remember to buy milk", "Remember to buy milk"),
        ("I remember that day", "I remember that day"),
        ("No, the rent is 540", "the rent is 540"),
        ("No more night trains after 11!", "No more night trains after 11!"),
        ("No Ana on Friday", "No Ana on Friday"),
    ],
)
def test_words_that_only_introduce_are_dropped(sentence: str, body: str) -> None:
    assert introduced(sentence) == (body, False)


@pytest.mark.parametrize(
    "sentence",
    [
        "Correction: I like tea",
        "Actually, I like tea",
        "Sorry, I like tea",
        "I meant I like tea",
        "FYI, correction: I like tea",
        "Scratch that, I like tea",
    ],
)
def test_corrections_are_known_by_their_opening(sentence: str) -> None:
    assert introduced(sentence) == ("I like tea", True)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("I live in Berlin and I work at Acme", ["I live in Berlin", "I work at Acme"]),
        ("I left Google, and now I work at Acme", ["I left Google", "now I work at Acme"]),
        ("Anna works at SAP but her sister lives in Rome", ["Anna works at SAP", "her sister lives in Rome"]),
        ("I like tea; coffee is fine", ["I like tea", "coffee is fine"]),
        ("My wife and I live in Oslo", ["My wife and I live in Oslo"]),
        ("I like Python, Go and Rust", ["I like Python, Go and Rust"]),
        ("Last year, I moved to Rome", ["Last year, I moved to Rome"]),
        ("Anna said that I should go and I agree", ["Anna said that I should go and I agree"]),
        ("If it rains, I stay home", ["If it rains, I stay home"]),
    ],
)
def test_a_clause_ends_where_a_new_subject_and_verb_begin(sentence: str, found: list[str]) -> None:
    assert clauses(sentence) == found


def test_the_beginning_of_a_long_text_ends_with_a_sentence_else_a_word() -> None:
    for unit, end in (
        ("Tom met Alice Smith in Rome. ", "Rome."),
        ("tom met alice ", ("tom", "met", "alice")),
        ("x", "x"),
    ):
        text = unit * (30_000 // len(unit))
        begin, rest = split_read(text)
        assert begin + rest == text and 19_950 < len(begin) <= LONGEST_TEXT
        assert begin.endswith(end) and rest.startswith((" ", "x"))
