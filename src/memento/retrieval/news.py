"""
Find what became of what an answer names: "the plumber is Delroy" is old news after "Delroy emigrated, we ring Agnieszka now".

*Because:* who or what took the place of another is seldom told in the words of the question. What is told is that the other is
gone, by its name. A later memory that says so of a name in the answer comes before the answer, and has the new one.

*But:* only words of a table tell that somebody or something is gone, and they must stand near the name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memento.retrieval.question import Question, wants_time
from memento.search.postings import tokens
from memento.text.claims import words
from memento.text.dates import is_date_word
from memento.text.words import STOP_WORDS, WORDS

MOST = 4
"""The most memories, of those compared, in which a name may stand that tells one of them from others."""

WINDOW = 6
"""The most words from a name to the word that says that it is gone."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"\d+(?:[:.,]\d+)+|[^\W_]+")
_NAMELESS = STOP_WORDS | WORDS["abbreviated_titles"]


def find_news(question: Question, nodes: Sequence[int], texts: Mapping[int, str]) -> NDArray[np.bool_]:
    """
    Return (n, n) True where the second of two memories tells what became of somebody or something that the first one names where it
    answers, and the question does not. Names are told by their capitals; numbers that are no years count too, days and months if
    the question asks for a time.
    """
    skipped = {_fold(word) for word in _WORD.findall(question.text)}
    has_days = wants_time(question.text)
    asked = {*tokens(question.stripped)}
    sentences = [_SENTENCE.split(texts.get(node, "")) for node in nodes]
    answers = [{*_list_answers(_keep_answering(some, asked))} for some in sentences]
    gone = [{*_list_gone(some)} for some in sentences]
    inside = {name for some in sentences for one in some for name in _list_capitals([one], first=1)}
    count = Counter(name for some in sentences for name in {*_list_capitals(some)})
    telling = {name for name in inside - skipped if count[name] <= MOST and (has_days or not is_date_word(name))}
    news = np.array([[bool(one & other & telling) for other in gone] for one in answers], dtype=np.bool_)
    np.fill_diagonal(news, False)
    return news


def _keep_answering(sentences: Sequence[str], asked: Collection[str]) -> list[str]:
    """Return the sentences with words of the question; all of them where none has any."""
    return [one for one in sentences if not {*tokens(one)}.isdisjoint(asked)] or [*sentences]


def _list_capitals(sentences: Sequence[str], first: int = 0) -> Iterator[str]:
    """Yield the capitalised words of some sentences, from the `first` of each on, without their endings."""
    for sentence in sentences:
        for word in _WORD.findall(sentence)[first:]:
            if _names(word) and word.casefold() not in _NAMELESS:
                yield _fold(word)


def _list_answers(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the capitalised words of some sentences, but for whose somebody is: of "Ana's tutor is Ben" Ben."""
    for said in map(_WORD.findall, sentences):
        for at, word in enumerate(said):
            if not _is_of_another(said, at):
                yield from _list_capitals([word])


def _list_gone(sentences: Sequence[str]) -> Iterator[str]:
    """
    Yield the capitalised words near a word that says that something is over or no more.

    *But:* of "Ravi's mentor retired" not Ravi; "Ravi's knee is broken" is about himself.
    """
    for said in map(_WORD.findall, sentences):
        signs = [at for at, word in enumerate(said) if word.casefold() in words("leaving")]
        for at, word in enumerate(said):
            is_near = any(abs(at - sign) <= WINDOW for sign in signs)
            if _names(word) and is_near and not _is_of_another(said, at):
                yield _fold(word)


def _names(word: str) -> bool:
    """Tell whether a word may name something: it has a capital, or is a number that is no year, as in "the 7:42"."""
    if word[0].isdigit():
        return len(word) > 1 and not re.fullmatch(r"(?:19|20)\d\d", word)
    return word[0].isupper() and len(word) > 1


def _is_of_another(said: Sequence[str], at: int) -> bool:
    """Tell whether the word at a place only says whose somebody is, as in "Ravi's mentor"."""
    return said[at + 1 : at + 2] == ["s"] and not words("people").isdisjoint(said[at + 2 : at + 4])


def _fold(word: str) -> str:
    """Return a word as it is compared: "Tuesdays" is "tuesday"."""
    return word.casefold().removesuffix("s")
