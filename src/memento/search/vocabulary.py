"""Terms as numbers: one for each word, and one for each pair of words made of the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]


class Vocabulary:
    """
    Words numbered in the order in which they came. A number is never given twice; a word that nobody has any more keeps its.

    >>> known = Vocabulary()
    >>> known.learnt("green"), known.learnt("tea"), known.learnt("green tea") == known.key("green tea")
    (0, 1, True)
    >>> known.key("pot"), known.term(known.key("green tea"))
    (None, 'green tea')
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = list(words)
        self._numbers = {word: number for number, word in enumerate(self._words)}

    def __len__(self) -> int:
        return len(self._words)

    def key(self, term: str) -> int | None:
        """The number of a word, or of a pair of words with a space between; None when one of them is not known."""
        number = self._numbers.get(term)
        if number is not None or " " not in term:
            return number
        first, second = term.split(" ", 1)
        one, other = self._numbers.get(first), self._numbers.get(second)
        return None if one is None or other is None else pair(one, other)

    def learnt(self, term: str) -> int:
        """The same, and what is not known gets a number."""
        if " " in term:
            first, second = term.split(" ", 1)
            return pair(self.learnt(first), self.learnt(second))
        number = self._numbers.setdefault(term, len(self._words))
        if number == len(self._words):
            self._words.append(term)
        return number

    def number(self, label: str) -> int | None:
        """The number of a label of any number of words that was learnt as it stands; None when it was not."""
        return self._numbers.get(label)

    def whole(self, label: str) -> int:
        """The number of a label of any number of words, learnt as it stands."""
        number = self._numbers.setdefault(label, len(self._words))
        if number == len(self._words):
            self._words.append(label)
        return number

    def numbers(self, words: Sequence[str]) -> list[int]:
        """The numbers of some words, none of them a pair; what is not known is learnt."""
        known, listed = self._numbers, self._words
        found = []
        for word in words:
            number = known.get(word)
            if number is None:
                number = known[word] = len(listed)
                listed.append(word)
            found.append(number)
        return found

    def term(self, key: int) -> str:
        """The term of a number; raises `IndexError` when there is none."""
        if key < 1 << 32:
            return self._words[key]
        return f"{self._words[(key >> 32) - 1]} {self._words[key & 0xFFFFFFFF]}"

    def words(self) -> list[str]:
        """Every word, by its number."""
        return self._words


def pair(first: int, second: int) -> int:
    """The number of two words beside each other; none that a single word has."""
    return (first + 1) << 32 | second


def paired(first: NDArray[np.integer], second: NDArray[np.integer]) -> Keys:
    """(n,) the same for arrays."""
    return np.asarray((first.astype(np.int64) + 1) << 32 | second.astype(np.int64))
