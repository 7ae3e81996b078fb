"""
How good a ranking is, and how sure one may be of it: recall, all-gold, reciprocal rank, nDCG, bootstrap intervals.

A ranking is a sequence of ids without repetitions, best first. Every metric of one question is a fraction in 0..1; ranks count
from 1 in the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
"""(n,) one metric, a value for each question."""


class Estimate(NamedTuple):
    """A mean and the interval it lies in with 95 % confidence."""

    mean: float
    low: float
    high: float


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return the share of the gold that stands among the first `k`; `gold` must not be empty.

    >>> recall(["a", "b", "c"], {"a", "c", "d"}, k=3)
    0.6666666666666666
    """
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def all_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    1.0 when all of the gold stands among the first `k`, else 0.0; what a question that needs two documents wants.

    >>> all_found(["a", "b"], {"a", "b"}, k=2), all_found(["a", "b"], {"a", "b"}, k=1)
    (1.0, 0.0)
    """
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    1 / the rank of the first gold one among the first `k`, or 0.0.

    Source: Voorhees 1999, TREC-8 question answering track.

    >>> round(reciprocal_rank(["a", "b", "c", "d"], {"c"}, k=4), 5)
    0.33333
    """
    return next((1 / rank for rank, item in enumerate(ranked[:k], 1) if item in gold), 0.0)


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """
    Σ grade / log2(rank + 1) over the first `k`, divided by what the best possible order gives; 0.0 without any grade.

    Args:
        grades: id → how relevant it is, above 0; what is not there counts 0.

    Source: Järvelin and Kekäläinen 2002, ACM TOIS 20(4), with linear gains.

    >>> round(ndcg(["a", "b", "c", "d"], {"b": 1, "d": 1}, k=4), 5)
    0.65092
    """
    best = _discounted(sorted(grades.values(), reverse=True)[:k])
    return _discounted([grades.get(item, 0.0) for item in ranked[:k]]) / best if best else 0.0


def estimate(values: Sequence[float] | Values, rng: np.random.Generator, resamples: int = 5_000) -> Estimate:
    """
    Return the mean over questions with its 95 % percentile bootstrap interval.

    Args:
        values: (n,), n at least 1; questions are drawn anew with replacement.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 13.

    >>> estimate([1.0, 0.0, 1.0, 1.0], np.random.default_rng(0))
    Estimate(mean=0.75, low=0.25, high=1.0)
    """
    x = np.asarray(values, dtype=np.float64)
    means = x[rng.integers(0, x.size, (resamples, x.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(x.mean()), float(low), float(high))


def paired(
    first: Sequence[float] | Values, second: Sequence[float] | Values, rng: np.random.Generator, resamples: int = 5_000
) -> Estimate:
    """
    Return how much better `second` is than `first` on the same questions: the mean difference, −1..1, with its interval.

    The difference of a question is drawn as one, so what both find hard does not widen the interval.

    Source: Efron and Tibshirani 1993, ch. 16; Sakai 2006, SIGIR.

    >>> paired([0.0, 0.5, 1.0], [0.5, 1.0, 1.5], np.random.default_rng(0))
    Estimate(mean=0.5, low=0.5, high=0.5)
    """
    return estimate(np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64), rng, resamples)


def _discounted(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
