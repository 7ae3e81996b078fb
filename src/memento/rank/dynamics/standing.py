"""How a memory stands among others: whether it is let go, how it ranks by what it is, and its season."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from memento.rank.dynamics.fading import Numbers
from memento.rank.dynamics.use import F

# What is let go


def outlives(energy: Numbers, accesses: Numbers, spent: float = 0.05, few: int = 5) -> NDArray[np.bool_]:
    """
    (n,) whether consolidation leaves memories where they are: they still have energy, or were used more than a few times.

    >>> outlives(np.array([0.06, 0.05, 0.0]), np.array([0, 5, 6])).tolist()
    [True, False, True]
    """
    return (energy > spent) | (accesses > few)


# How memories rank by what they are, rather than by what is asked

HALF_LIFE_DAYS = 7.0


def recency(days: F) -> F:
    """How recent a use was, 0..1: half after a week."""
    found: F = 0.5 ** (days / HALF_LIFE_DAYS)
    return found


def activated(activation: F, days: F, importance: F) -> F:
    """
    The rank of memories that activation reached, 0..1.

    Args:
        activation: 0..1.
        days: since it was last used.
        importance: 0..1.

    >>> round(activated(0.5, 7, 0.9), 4)
    0.56
    """
    return 0.6 * activation + 0.25 * recency(days) + 0.15 * importance


_RERANK_SOURCE = {"hook:stop": 0.8, "hook:post_tool_use": 0.6}
_RERANK_TAG = {"decision": 1.2, "architecture": 1.2, "error": 1.1, "conversation": 0.8}
_RERANK_PRIORITY = {"high": 1.3, "low": 0.7}


def standing(days: float, source: str, tags: Sequence[str], accesses: int, priority: str) -> float:
    """
    What a similarity is multiplied with for the standing of a memory: its age, origin, tags, use and priority; above 0.

    The tag that counts most for it counts; what is not known counts 1.

    >>> round(0.8 * standing(30, "explicit", ["decision"], 5, "high"), 6)
    1.355495
    """
    tag = max((_RERANK_TAG.get(tag, 1.0) for tag in tags), default=1.0)
    used = 1 + 0.1 * math.log1p(accesses)
    return math.exp(-days / 365) * _RERANK_SOURCE.get(source, 1.0) * tag * used * _RERANK_PRIORITY.get(priority, 1.0)


class Season(StrEnum):
    """Where a memory stands in its life; the first that fits, in this order."""

    EMERGING = "emerging"
    ACTIVE = "active"
    STABLE = "stable"
    DECAYING = "decaying"
    OTHER = "other"


def seasons(
    created_days: Numbers, used_days: Numbers, changed_days: Numbers, energy: Numbers, accesses: NDArray[np.integer]
) -> NDArray[np.int8]:
    """
    (n,) the season of each memory, as its place in `Season`.

    Emerging: made within a day. Active: used within a week. Stable: unchanged for 30 days and not without energy.
    Decaying: without energy, and hardly used.

    Args:
        created_days, used_days, changed_days: (n,) since it was made, last used (or made) and last changed.
        energy: (n,) 0..1.
        accesses: (n,) how often it was used.
    """
    return np.select(
        [created_days < 1, used_days < 7, (changed_days > 30) & (energy > 0.1), (energy < 0.1) & (accesses < 3)],
        [np.int8(0), np.int8(1), np.int8(2), np.int8(3)],
        np.int8(4),
    )
