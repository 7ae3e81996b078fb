"""
BM25 that forgives: a word that no memory has is read as those that begin with it, and as those spelt nearly like it.

*Source:* keymem's search: prefixes, and edits up to a fifth of the length; the weights of both are those of MiniSearch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memento.search.words import Postings, bm25_of_terms, tokens
from memento.settings import WordsSettings

FUZZY = 0.2
_AS_PREFIX, _AS_SLIP = 0.375, 0.45
_SHORTEST = 3  # letters of a prefix
_MOST = 20  # words that one word is read as


def ranked(
    question: str, postings: Sequence[Postings], knobs: WordsSettings
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Every memory that shares a word with a question, nearly, ascending, and its score (positive)."""
    known: list[str] = []
    sums: dict[int, float] = {}
    for term in tokens(question):
        if any(some.frequency(term) for some in postings):
            known.append(term)
            continue
        for word, weight in read_as(term, _words(postings)):
            _add(sums, [word], weight, postings, knobs)
    _add(sums, known, 1.0, postings, knobs)
    nodes = np.fromiter(sorted(sums), dtype=np.int32, count=len(sums))
    return nodes, np.array([sums[node] for node in nodes.tolist()])


def read_as(term: str, words: Iterable[str]) -> list[tuple[str, float]]:
    """
    The words that a word may stand for, and how much each counts, the likeliest first; less with each letter of difference.

    >>> [word for word, _ in read_as("strawbery", ["strawberi", "straw", "berri", "strawberyfield"])]
    ['strawberi', 'strawberyfield']
    """
    most = round(FUZZY * len(term))
    found: list[tuple[str, float]] = []
    for word in words:
        more = len(word) - len(term)
        if more > 0 and len(term) >= _SHORTEST and word.startswith(term):
            found.append((word, _AS_PREFIX * len(word) / (len(word) + 0.3 * more)))
        elif most and abs(more) <= most and (edits := distance(term, word, most)) is not None:
            found.append((word, _AS_SLIP * len(word) / (len(word) + edits)))
    return sorted(found, key=lambda one: (-one[1], one[0]))[:_MOST]


def distance(one: str, other: str, most: int) -> int | None:
    """
    How many letters must be put in, taken out or replaced to turn one word into another; None when more than `most`.

    >>> distance("aple", "apple", 1), distance("kitten", "sitting", 2)
    (1, None)

    Source: Levenshtein 1966.
    """
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        before, row = row, [place]
        for column, against in enumerate(other, start=1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != against)))
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None


def _words(postings: Sequence[Postings]) -> Iterator[str]:
    seen = {id(some.vocabulary): some.vocabulary for some in postings}
    return (word for vocabulary in seen.values() for word in vocabulary.words() if " " not in word)


def _add(
    sums: dict[int, float], terms: Sequence[str], weight: float, postings: Sequence[Postings], knobs: WordsSettings
) -> None:
    nodes, scores = bm25_of_terms(terms, postings, knobs.k1, knobs.b)
    for node, score in zip(nodes.tolist(), scores.tolist(), strict=True):
        sums[node] = sums.get(node, 0.0) + weight * score
