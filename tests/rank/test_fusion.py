"""Two rankings become one: by scores, against the worked numbers, and by ranks."""

from __future__ import annotations

import numpy as np
import pytest

from memento.rank import blend, rrf
from memento.search.postings import Postings
from memento.search.words import bm25_of_terms


def test_a_blend_is_seventy_parts_of_meaning_and_thirty_of_words_over_the_best_of_them() -> None:
    postings = Postings()
    for node, text in enumerate(("the cat sat", "the dog sat down", "cat and dog")):
        postings.add_terms(node, text.split())
    _, words = bm25_of_terms(["cat", "sat"], [postings], 1.2, 0.75)

    assert words.tolist() == pytest.approx([0.98010, 0.43446, 0.49005], abs=5e-6)
    assert blend(np.zeros(3), words, 0.0).tolist() == pytest.approx([1, 0.44328, 0.5], abs=5e-6)
    assert blend(np.array([0.2, 0.9, 0.0]), words).tolist() == pytest.approx([0.44, 0.762984, 0.15], abs=5e-6)
    assert blend(np.array([0.5]), np.zeros(1)).tolist() == [0.35]


def test_reciprocal_ranks_add_up_over_the_lists() -> None:
    hits = rrf([["a", "b", "c"], ["b", "d"]])

    assert [(hit.item, hit.score) for hit in hits] == [
        ("b", 1.5),
        ("a", 1.0),
        ("d", 0.5),
        ("c", pytest.approx(1 / 3)),
    ]
    assert rrf([["a"], ["a"]], k=61)[0].score == pytest.approx(2 / 61)
    assert rrf([]) == []
