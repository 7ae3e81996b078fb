"""Importance, depth and usefulness, and the weights of links from keys: what use does to a memory and to the way there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", float, NDArray[np.float64])


def clamped(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest number in low..high."""
    return min(max(value, low), high)


# Importance

MIDDLING = 0.5
"""The importance of a memory that nobody has said anything of."""

_BY_SOURCE = {"explicit": 1.0, "import": 0.8, "hook:stop": 0.7, "hook:post_tool_use": 0.5}
_BY_TAG = {
    "decision": 1.0,
    "architecture": 1.0,
    "error": 0.9,
    "config": 0.8,
    "dependency": 0.7,
    "code": 0.7,
    "todo": 0.6,
    "conversation": 0.4,
}
_OTHER_TAG = 0.5
_BY_PRIORITY = {"high": 1.0, "normal": 0.7, "low": 0.4}


def importance(source: str, tags: Iterable[str], priority: str) -> float:
    """
    How valuable something is when it is stored, 0..1: by where it came from, its weightiest tag, and its priority.

    Args:
        source: "explicit", "import", "hook:stop" or "hook:post_tool_use".
        tags: any; one that is not known counts .5, as does none at all.
        priority: "high", "normal" or "low".

    Raises:
        KeyError: a source or a priority that is none of these.

    >>> importance("import", ["error"], "normal")
    0.504
    """
    tag = max((_BY_TAG.get(tag, _OTHER_TAG) for tag in tags), default=_OTHER_TAG)
    return round(clamped(_BY_SOURCE[source] * tag * _BY_PRIORITY[priority]), 12)


def aged(importance: float, days: float) -> float:
    """What is left of an importance, 0..1: .2 % less each day, half after 346 days."""
    return float(importance * 0.998**days)


def judged(importance: float, helped: bool) -> float:
    """An importance, 0..1, after feedback: .02 more where it helped, .01 less where it did not."""
    return clamped(importance + (0.02 if helped else -0.01))


def usefulness(successes: int, failures: int) -> float | None:
    """How often it helped, 0..1; None before the first feedback."""
    return successes / (successes + failures) if successes + failures else None


# Depth

READ = 0.05
RESISTS = 0.7


def read(depth: float) -> float:
    """A depth, 0..1, after the memory was read in full."""
    return clamped(depth + READ)


def corrected(depth: float) -> float:
    """
    The depth that is left to a memory which was corrected, 0..1: what is deep, from .7 on, resists and keeps four fifths.

    >>> round(corrected(0.69), 3), round(corrected(0.7), 3)
    (0.207, 0.56)
    """
    return depth * (0.8 if depth >= RESISTS else 0.3)


def band(depth: float) -> str:
    """A depth in a word: "shallow" below .3, "deep" above .7, "medium" between."""
    return "shallow" if depth < 0.3 else "deep" if depth > RESISTS else "medium"


def time_factor(days: F, depth: F) -> F:
    """
    How much memories of that age still count, .5..1: half of it stays, the rest fades in 30 days, 3.3 times as slowly when deep.

    >>> round(time_factor(30, 0), 5), round(time_factor(90, 1), 5)
    (0.68394, 0.70328)
    """
    fading: F = math.e ** (-days * (1 - 0.7 * depth) / 30)
    return 0.5 + 0.5 * fading


def depth_factor(depth: F) -> F:
    """How much a memory counts for its depth, .9..1."""
    return 0.9 + 0.1 * depth


# Links from keys to memories

LIGHTEST, HEAVIEST = 0.1, 3.0


def trodden(weight: float) -> float:
    """The weight of a link, .1..3, after somebody came over it."""
    return clamped(weight + 0.1, LIGHTEST, HEAVIEST)


def passed_by(weight: float) -> float:
    """The weight of a link, .1..3, that was looked at and not taken."""
    return clamped(weight - 0.005, LIGHTEST, HEAVIEST)


def key_rarity(links: int, named: bool) -> float:
    """
    How much a key says of a memory that hangs on it, 0..1: one over the number of its links, half of that for a name.

    Args:
        links: all links of the key, those to retired memories too.
        named: the key is a name or a proper noun, which is literal and says less about the topic.

    >>> [round(key_rarity(n, named=False), 4) for n in (0, 1, 2, 3, 10)], key_rarity(2, named=True)
    ([1.0, 1.0, 0.5, 0.3333, 0.1], 0.25)
    """
    return 1.0 if links <= 1 else (0.5 if named else 1.0) / links
