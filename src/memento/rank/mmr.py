"""
How alike vectors are, and a short list that is relevant and does not repeat itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """
    Return (n, d) or (d,) the same directions with length 1; a zero vector stays zero.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    x = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def cosines(matrix: Vectors, asked: Vectors) -> NDArray[np.float32]:
    """
    Return (n,) how near each row is to the question, -1..1: the best over the question's windows.

    Args:
        matrix: (n, d) unit rows; a row of zeros has cosine 0.
        asked: (w, d) unit rows, at least one: the windows of one question.

    >>> cosines(np.eye(2, dtype=np.float32), np.array([[0, 1]], dtype=np.float32)).tolist()
    [0.0, 1.0]
    """
    return np.asarray((matrix @ asked.T).max(axis=1), dtype=np.float32)


def adaptive_lambda(scores: Sequence[float] | NDArray[np.floating], lo: float, hi: float) -> float:
    """
    Return how much relevance counts in MMR, `lo`..`hi`: the more the best score stands out from the mean, the more.

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
    Return the rows of the `k` most relevant, least redundant candidates, best first; all as they are when they are `k` at most.

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
