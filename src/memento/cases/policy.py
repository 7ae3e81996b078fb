"""
Which cases are shown, given their values: the best ones, or for a caller that wants to explore, ones drawn by a softmax; and how
well values tell good from bad.

The best policy under a maximum-entropy objective is μ(c|s) = exp(Q(s, c)/α) / Σ exp(Q(s, c′)/α); with α near 0 it takes the best.

*Source:* Zhou et al. 2025, arXiv 2508.16153, eq. 7; Kool et al. 2019, arXiv 1903.06059 (drawing without replacement).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def softmax(values: Values, alpha: float) -> Values:
    """
    (n,) the chance of each value to be drawn; they sum to 1.

    >>> softmax(np.array([0.9, 0.5, 0.1]), 0.1).round(4).tolist()
    [0.9817, 0.018, 0.0003]
    >>> softmax(np.array([0.9, 0.5, 0.1]), 1.0).round(4).tolist()
    [0.4718, 0.3162, 0.212]
    """
    if not len(values):
        return values
    weights = np.exp((values - values.max()) / alpha)
    return np.asarray(weights / weights.sum())


def best(values: Values) -> NDArray[np.int64]:
    """(n,) places of the values, the largest first; of equal ones the earlier first."""
    return np.argsort(-values, kind="stable")


def drawn(values: Values, alpha: float, draw: np.random.Generator) -> NDArray[np.int64]:
    """(n,) places in the order in which a softmax draws them, none twice."""
    return np.argsort(-(values / alpha + draw.gumbel(size=len(values))), kind="stable")


def auc(values: Values, good: NDArray[np.bool_]) -> float:
    """
    The chance that a good one has the larger value, ties counting half; ½ is no better than chance. Both kinds must be there.

    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    order = np.sort(values[~good])
    below = np.searchsorted(order, values[good], side="left")
    upto = np.searchsorted(order, values[good], side="right")
    return float((below + upto).mean() / 2 / len(order))
