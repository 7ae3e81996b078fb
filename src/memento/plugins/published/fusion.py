"""
The formulas of the published phases: two ranked lists become one, and an answer is relevant and has no repetitions.

**Fusion** scales each list to 0..1, weighs short lists less, and drops weak hits of the second; nothing is cut off. **Diversity**
returns a short list in which no memory says what another one says.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.plugins.published.settings import PublishedSettings
from memento.rank import Scores

T = TypeVar("T", bound=Hashable)


def align(scores: Sequence[float] | Scores, mean: float = 0.5, deviation: float = 0.2) -> Scores:
    """
    Return (n,) the scores shifted and scaled to the given mean and population standard deviation; equal scores all become `mean`.

    >>> align([0.89, 0.85, 0.82]).round(4).tolist()
    [0.7557, 0.4768, 0.2675]
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.size == 0 or x.max() == x.min():
        return np.full(x.shape, mean)
    # Centre and scale first, so that neither tiny nor huge scores lose their spread in the squares.
    x = (x - x.min()) / (x.max() - x.min())
    return np.asarray(mean + deviation * (x - x.mean()) / x.std())


def minmax(scores: Sequence[float] | Scores) -> Scores:
    """
    Return (n,) the scores scaled to 0..1: the best becomes 1, the worst 0; equal scores all become 0.5.

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
        full: number of results from which on a list has its full weight.

    >>> [round(weight, 4) for weight in coverage(50, 2, vector_weight=0.7, full=5)]
    [0.8537, 0.1463]
    """
    first = vector_weight * min(n_first / full, 1.0)
    second = (1.0 - vector_weight) * min(n_second / full, 1.0)
    total = first + second
    return (first / total, second / total) if total > 0 else (0.0, 0.0)


def fuse(
    first: Sequence[Scored[T]], second: Sequence[Scored[T]], knobs: PublishedSettings, both: str = "multiple"
) -> list[Scored[T]]:
    """
    Merge two lists into one, best first, scores in 0..1; an item in both lists gets `both` as its source.

    If one list is empty, return the other unchanged. Of equal scores, the item that appears first wins. No item may occur twice in
    a list.

    >>> near = [Scored(1, 0.9, "vector"), Scored(2, 0.8, "vector")]
    >>> named = [Scored(2, 12.0, "fulltext"), Scored(3, 9.0, "fulltext")]
    >>> [(hit.item, round(hit.score, 2), hit.source) for hit in fuse(near, named, PublishedSettings())]
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
        ):  # rounding depends on the order of the list, but what is dropped must not
            continue
        known = fused.get(hit.item)
        fused[hit.item] = (
            Scored(hit.item, known.score + w_second * score, both)
            if known
            else Scored(hit.item, w_second * score, hit.source)
        )
    return sorted(fused.values(), key=lambda hit: -hit.score)


def _normalise(hits: Sequence[Scored[T]], knobs: PublishedSettings) -> list[float]:
    # Min-max undoes any alignment; the step is kept because it is a named part of the pipeline.
    scores = align([hit.score for hit in hits], knobs.target_mean, knobs.target_deviation)
    return [float(score) for score in minmax(scores)]


def adaptive_lambda(scores: Sequence[float] | NDArray[np.floating], lo: float, hi: float) -> float:
    """
    Return the weight of relevance in MMR, `lo`..`hi`: the more the best score stands out from the mean, the larger.

    Args:
        scores: fused scores in 0..1, in any order.

    >>> adaptive_lambda([1.0, 0.2, 0.1], lo=0.5, hi=0.7), adaptive_lambda([0.5, 0.5], lo=0.5, hi=0.7)
    (0.7, 0.5)
    """
    x = np.asarray(scores, dtype=np.float64)
    middle = (lo + hi) / 2
    if x.size == 0:
        return middle
    gap = float(x.max() - x.mean())
    if gap > 0.3:
        return hi
    if gap > 0.2:
        return min(middle + 0.05, hi)
    return middle if gap > 0.1 else lo


def mmr(relevance: NDArray[np.floating], vectors: NDArray[np.floating], k: int, lam: float) -> list[int]:
    """
    Return the rows of the `k` most relevant, least redundant candidates, best first; all in their order if there are at most `k`.

    Each pick maximises `lam · relevance − (1 − lam) · max(0, cosines to the rows picked so far)`; of equal rows the first wins.

    Args:
        relevance: (n,) in 0..1.
        vectors: (n, d) unit rows; a row of zeros has no embedding and is never redundant.
        lam: 1 is relevance only, 0 is diversity only.

    Source: Carbonell and Goldstein 1998, SIGIR.

    >>> mmr(np.array([1.0, 0.9, 0.5]), np.array([[1, 0], [1, 0], [0, 1.0]]), k=2, lam=0.5)
    [0, 2]
    """
    n = len(relevance)
    if n <= k:
        return list(range(n))
    if k <= 0:
        return []
    gains = lam * np.asarray(relevance, dtype=np.float64)
    redundancy = np.zeros(n)
    left = np.ones(n, dtype=bool)
    picks: list[int] = []
    pick = int(np.argmax(relevance))
    while True:
        picks.append(pick)
        left[pick] = False
        if len(picks) == k:
            return picks
        redundancy = np.maximum(redundancy, vectors @ vectors[pick])
        pick = int(np.argmax(np.where(left, gains - (1.0 - lam) * redundancy, -np.inf)))
