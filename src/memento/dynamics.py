"""
The four numbers of a memory, and the laws by which each of them moves; nothing here reads a clock or a store.

| number | says | moved by | with time |
| --- | --- | --- | --- |
| importance | how valuable when stored | feedback: `judged` | aged by who uses it: `aged` |
| depth | how well established | a full read: `read`; a correction: `corrected` | stays, and slows ageing: `time_factor` |
| energy | how active now | feedback: `roused` | halves, as far as `Decay` has been asked for: `energy_at` |
| usefulness | how often it helped | feedback: `usefulness` | stays |

Times are days, as numbers; each law says its range. Sources: the forgetting curve of Ebbinghaus 1885 for what fades
exponentially; Hebb 1949 for links that grow by use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


def clamped(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The nearest number in low..high."""
    return min(max(value, low), high)


# Importance

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


def time_factor(days: float, depth: float) -> float:
    """
    How much a memory of that age still counts, .5..1: half of it stays, the rest fades in 30 days, 3.3 times as slowly when deep.

    >>> round(time_factor(30, 0), 5), round(time_factor(90, 1), 5)
    (0.68394, 0.70328)
    """
    return 0.5 + 0.5 * math.exp(-days * (1 - 0.7 * depth) / 30)


def depth_factor(depth: float) -> float:
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


# Energy

GONE = 0.01
"""An energy below this is none."""


@dataclass(frozen=True, slots=True)
class Decay:
    """
    How far the energies of a graph have been let decay: up to which instants, and by which half-life since the one before.

    Asking twice for the same span decays it once, so that asking often changes nothing.
    """

    marks: tuple[tuple[datetime, float], ...] = ()
    """(instant, half-life in days), ascending; neighbours have different half-lives."""

    def until(self, now: datetime, half_life_days: float) -> Decay:
        """The same, let decay up to `now`; an instant that is already past the last one, or a half-life not above 0, is refused."""
        if half_life_days <= 0:
            raise ValueError(f"a half-life must be above 0 days, not {half_life_days}")
        if self.marks and now <= self.marks[-1][0]:
            return self
        kept = self.marks[:-1] if self.marks and self.marks[-1][1] == half_life_days else self.marks
        return Decay((*kept, (now, half_life_days)))

    def half_lives(self, since: datetime) -> float:
        """How many half-lives have passed from `since` to the last instant asked for, 0 or more."""
        passed, begin = 0.0, since
        for at, half_life_days in self.marks:
            if at > begin:
                passed += (at - begin) / timedelta(days=half_life_days)
                begin = at
        return passed


def energy_at(value: float, at: datetime, decay: Decay) -> float:
    """
    What is left of an energy, 0..1: half of it after each half-life that was let pass since `at`; below .01 it is gone.

    >>> from datetime import UTC
    >>> then = datetime(2026, 1, 1, tzinfo=UTC)
    >>> round(energy_at(0.8, then, Decay().until(then + timedelta(days=3), 7)), 6)
    0.594398
    """
    left = value * 0.5 ** decay.half_lives(at)
    return left if left >= GONE else 0.0


def association_at(weight: float, at: datetime, decay: Decay) -> float:
    """What is left of an association's weight, 0..1, last strengthened at `at`: a twentieth less for each half-life let pass."""
    return float(weight * 0.95 ** decay.half_lives(at))


def associated(weight: float, again: float) -> float:
    """The weight of an association, 0..1, that is drawn again with the weight `again`."""
    return clamped(weight + 0.1 * again)


def roused(energy: float, helped: bool) -> float:
    """An energy, 0..1, after feedback: a tenth more where it helped, a tenth less where it did not."""
    return clamped(energy * (1.1 if helped else 0.9))


# What is let go


def outlives(energy: float, accesses: int) -> bool:
    """Whether consolidation leaves a memory where it is: it still has energy, or it was used more than five times."""
    return energy > 0.05 or accesses > 5


# How memories rank by what they are, rather than by what is asked

HALF_LIFE_DAYS = 7.0


def recency(days: float) -> float:
    """How recent a use was, 0..1: half after a week."""
    return float(0.5 ** (days / HALF_LIFE_DAYS))


def activated(activation: float, days: float, importance: float) -> float:
    """
    The rank of a memory that activation reached, 0..1.

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


Numbers = NDArray[np.floating]


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
