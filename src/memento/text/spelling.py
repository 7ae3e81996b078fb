"""How alike two words are spelt, and how many slips lie between them."""

from __future__ import annotations

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA


def likeness(one: str, other: str) -> float:
    """
    Return how alike two words are, 0 to 1.

    >>> likeness("Brady", "Brody"), likeness("Brady", "Oslo")
    (0.8, 0.0)
    """
    return fuzz.ratio(one, other) / 100


def slips(one: str, other: str, most: int) -> int:
    """
    Return how many letters are wrong, missing, too many or swapped; `most` + 1 when there are more.

    >>> slips("teh", "the", 2), slips("kitten", "sitting", 2)
    (1, 3)
    """
    return OSA.distance(one, other, score_cutoff=most)
