"""A phrase is found where it stands as whole words, in any script, and nowhere else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.iris import IRI
from memento.search.spellings import Spellings, fold_text, is_spelt, words_of

HERE, THERE = IRI("urn:here"), IRI("urn:there")
WORDS = st.text(st.sampled_from("abcdeéßñ12"), min_size=1, max_size=6)
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


def stands_in(phrase: str, text: str) -> bool:
    """Tell whether a phrase is found in a text by a table that has nothing else."""
    spellings = Spellings()
    spellings.put(0, HERE, [phrase])
    return bool(spellings.find_in_text(text, [HERE]))


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("name", "the namespace", False),
        ("name", "surname", False),
        ("name", "Name: Bob", True),
        ("New York", "new   york's best", True),
        ("New York", "New, York", False),
        ("C++", "I write C++, mostly.", True),
        ("C++", "C++11 is old", False),
        (".net", "asp.net or .NET", True),
        (".net", "asp.net", False),
        ("node.js", "Node.js!", True),
        ("Straße", "in der STRASSE", True),
        ("ＡＢＣ", "abc", True),
        ("kafé", "kafés", False),
        ("苹果", "我喜欢苹果。", True),
        ("猫", "黒猫がいる", True),
        ("뉴턴", "뉴턴 이야기", True),
        ("뉴턴", "뉴턴은 과학자다", False),
        ("동건", "뉴턴", False),
        ("कमल", "कमला", False),
        ("iphone", "iPhone手机", True),
    ],
)
def test_a_phrase_stands_where_no_word_goes_on(phrase: str, text: str, stands: bool) -> None:
    assert stands_in(phrase, text) is stands


@pytest.mark.parametrize(("phrase", "spelt"), [("ab", True), ("a", False), ("猫", True), ("--", False), ("", False)])
def test_a_phrase_needs_a_word_and_two_characters(phrase: str, spelt: bool) -> None:
    assert is_spelt(phrase) is spelt


@given(PHRASES, PHRASES, PHRASES)
def test_a_phrase_between_others_is_found_whatever_its_case(before: str, phrase: str, after: str) -> None:
    if is_spelt(phrase):
        assert stands_in(phrase, f"{before} {phrase.upper().lower()}, {after}")


@given(PHRASES, WORDS)
def test_a_phrase_is_not_found_in_a_longer_word(phrase: str, more: str) -> None:
    if is_spelt(phrase):
        assert (
            not stands_in(phrase, f"{phrase}{more}{more}")
            or f" {fold_text(phrase)}" in f" {fold_text(phrase + more + more)}"[1:]
        )


@given(st.text(max_size=40))
def test_words_cover_every_letter_and_digit_of_a_text(text: str) -> None:
    text = fold_text(text)
    inside = {at for word in words_of(text) for at in range(word.begin, word.end)}

    assert inside == {
        at for at, c in enumerate(text) if unicodedata.category(c)[0] in "LMN" and (not c.isascii() or c.isalnum())
    }
    assert all(text[word.begin : word.end] == word.text for word in words_of(text))


@given(st.dictionaries(st.integers(0, 20), st.lists(PHRASES, max_size=3), max_size=8), st.text(max_size=40), PHRASES)
def test_a_table_finds_what_a_look_at_every_phrase_finds(placed: dict[int, list[str]], text: str, more: str) -> None:
    spellings = Spellings()
    for node, phrases in placed.items():
        spellings.put(node, HERE if node % 2 else THERE, phrases)
    asked = f"{more} {text} {more}"
    for graphs in ([HERE], [HERE, THERE]):
        shown = [node for node in placed if (HERE if node % 2 else THERE) in graphs]
        wanted = {node for node in shown for phrase in placed[node] if is_spelt(phrase) and stands_in(phrase, asked)}
        assert set(spellings.find_in_text(asked, graphs)) == wanted


def test_what_is_dropped_or_renamed_is_not_found_by_its_old_phrase() -> None:
    spellings = Spellings()
    spellings.put(1, HERE, ["apple", "red apple"])
    spellings.put(2, HERE, ["apple"])
    spellings.put(1, HERE, ["pear"])

    assert spellings.find_in_text("an apple and a pear", [HERE]) == {1: "pear", 2: "apple"}
    assert spellings.find_exact("Apple", [HERE]) == [2]
    spellings.drop(2)
    assert spellings.find_in_text("an apple", [HERE]) == {}


def test_the_longest_of_several_phrases_counts() -> None:
    spellings = Spellings()
    spellings.put(1, HERE, ["Newton", "Isaac Newton"])

    assert spellings.find_in_text("newton, that is Isaac Newton", [HERE]) == {1: "isaac newton"}
