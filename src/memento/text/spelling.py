"""
Compare the spelling of words: how similar two are, how many edits lie between them, and which words one typing error produces.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein


def likeness(one: str, other: str) -> float:
    """
    Return how similar the spelling of two words is, 0..1.

    >>> likeness("Brady", "Brody"), likeness("Brady", "Oslo")
    (0.8, 0.0)
    """
    return fuzz.ratio(one, other) / 100


def count_edits(one: str, other: str, most: int) -> int:
    """
    Return how many letters must be inserted, deleted or replaced to turn one word into another; `most` + 1 if it is more than that.

    >>> count_edits("aple", "apple", 1), count_edits("kitten", "sitting", 2)
    (1, 3)

    Source: Levenshtein 1966.
    """
    return Levenshtein.distance(one, other, score_cutoff=most)


def list_edits(word: str) -> Iterator[str]:
    """
    Yield the words that one typing error turns this one into, those that differ near the end first.

    Source: the four edits are those of Damerau 1964, "A technique for computer detection and correction of spelling errors".

    >>> found = set(list_edits("tea"))
    >>> found >= {"te", "tae", "ten", "team"}, "sea" in found
    (True, False)
    """
    for place in range(len(word), 0, -1):
        before, after = word[:place], word[place:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in ascii_lowercase:
            if after:
                yield before + letter + after[1:]
            yield before + letter + after
