"""
Two ranked lists become one: each is scaled to 0..1, short lists weigh less, weak hits of the second list are dropped.

But: nothing is cut off; the caller takes as many as it needs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.settings import FusionSettings

T = TypeVar("T", bound=Hashable)

Scores = NDArray[np.float64]
"""(n,) scores of one list."""


def align(scores: Sequence[float] | Scores, mean: float = 0.5, deviation: float = 0.2) -> Scores:
    """
    Return (n,) the scores moved and stretched to the given mean and population standard deviation; equal scores all become `mean`.

    >>> align([0.89, 0.85, 0.82]).round(4).tolist()
    [0.7557, 0.4768, 0.2675]
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.size == 0 or x.max() == x.min():
        return np.full(x.shape, mean)
    # Away from zero and scaled first, so that neither tiny nor huge scores lose their spread in the squares.
    x = (x - x.min()) / (x.max() - x.min())
    return np.asarray(mean + deviation * (x - x.mean()) / x.std())


def minmax(scores: Sequence[float] | Scores) -> Scores:
    """
    Return (n,) the scores stretched to 0..1: the best becomes 1, the worst 0; equal scores all become 0.5.

    >>> minmax([0.89, 0.85, 0.82]).round(6).tolist()
    [1.0, 0.428571, 0.0]
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.size == 0 or x.max() == x.min():
        return np.full(x.shape, 0.5)
    return np.asarray((x - x.min()) / (x.max() - x.min()))


def coverage(n_first: int, n_second: int, vector_weight: float, full: int) -> tuple[float, float]:
    """
    Return the weights of two lists of these lengths; they sum to 1 unless both lists are empty.

    Args:
        vector_weight: share of the first list when both are long, 0..1.
        full: results from which on a list has its whole weight.

    >>> [round(weight, 4) for weight in coverage(50, 2, vector_weight=0.7, full=5)]
    [0.8537, 0.1463]
    """
    first = vector_weight * min(n_first / full, 1.0)
    second = (1.0 - vector_weight) * min(n_second / full, 1.0)
    total = first + second
    return (first / total, second / total) if total > 0 else (0.0, 0.0)


def fuse(
    first: Sequence[Scored[T]], second: Sequence[Scored[T]], knobs: FusionSettings, both: str = "multiple"
) -> list[Scored[T]]:
    """
    One list, best first, scores in 0..1; what stands in both lists bears the source `both`.

    When one list is empty the other comes back untouched, in its order and with its own scores. Of equal scores the one
    that appears first wins. No item stands twice in the same list.

    >>> near = [Scored(1, 0.9, "vector"), Scored(2, 0.8, "vector")]
    >>> named = [Scored(2, 12.0, "fulltext"), Scored(3, 9.0, "fulltext")]
    >>> [(hit.item, round(hit.score, 2), hit.source) for hit in fuse(near, named, FusionSettings())]
    [(1, 0.7, 'vector'), (2, 0.3, 'multiple')]
    """
    if not first or not second:
        return list(first or second)
    w_first, w_second = coverage(len(first), len(second), knobs.vector_weight, knobs.full_weight_results)
    fused = {
        hit.item: Scored(hit.item, w_first * score, hit.source)
        for hit, score in zip(first, _normalise(first, knobs), strict=True)
    }
    for hit, score in zip(second, _normalise(second, knobs), strict=True):
        if (
            score < knobs.quality_threshold - 1e-9
        ):  # rounding depends on the order of the list, what is dropped must not
            continue
        known = fused.get(hit.item)
        fused[hit.item] = (
            Scored(hit.item, known.score + w_second * score, both)
            if known
            else Scored(hit.item, w_second * score, hit.source)
        )
    return sorted(fused.values(), key=lambda hit: -hit.score)


def blend(cosines: NDArray[np.floating], words: NDArray[np.floating], vector_weight: float = 0.7) -> Scores:
    """
    Return (n,) a share of each cosine and the rest of its BM25 over the largest BM25 there is.

    >>> blend(np.array([0.2, 0.9]), np.array([12.0, 3.0])).round(3).tolist()
    [0.44, 0.705]
    """
    most = max(float(words.max(initial=0.0)), 1e-9)
    return np.asarray(vector_weight * cosines + (1.0 - vector_weight) * (words / most), dtype=np.float64)


def rrf(rankings: Sequence[Sequence[T]], k: float = 1.0) -> list[Scored[T]]:
    """
    Reciprocal rank fusion: Σ 1 / (rank + k) over the lists an item stands in, ranks from 0; best first, ties by first appearance.

    Source: Cormack, Clarke and Büttcher 2009, SIGIR (there k = 60 and ranks from 1).

    >>> [(hit.item, hit.score) for hit in rrf([["a", "b"], ["b"]])]
    [('b', 1.5), ('a', 1.0)]
    """
    sums: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            sums[item] = sums.get(item, 0.0) + 1.0 / (rank + k)
    return sorted((Scored(item, score) for item, score in sums.items()), key=lambda hit: -hit.score)


def _normalise(hits: Sequence[Scored[T]], knobs: FusionSettings) -> list[float]:
    # Min-max undoes any alignment; the step stays because it is a named part of the pipeline.
    scores = align([hit.score for hit in hits], knobs.target_mean, knobs.target_deviation)
    return [float(score) for score in minmax(scores)]
