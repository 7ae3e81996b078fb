"""How alike two words are spelt, and how many letters lie between them."""

from __future__ import annotations

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein


def likeness(one: str, other: str) -> float:
    """
    Return how alike two words are, 0 to 1.

    >>> likeness("Brady", "Brody"), likeness("Brady", "Oslo")
    (0.8, 0.0)
    """
    return fuzz.ratio(one, other) / 100


def count_edits(one: str, other: str, most: int) -> int:
    """
    Return how many letters must be put in, taken out or replaced to turn one word into another; `most` + 1 when more than that.

    >>> count_edits("aple", "apple", 1), count_edits("kitten", "sitting", 2)
    (1, 3)

    Source: Levenshtein 1966.
    """
    return Levenshtein.distance(one, other, score_cutoff=most)
