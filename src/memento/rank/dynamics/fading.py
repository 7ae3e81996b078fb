"""Energy and the weights of associations: what fades as far as somebody asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memento.rank.dynamics.use import clamped

Numbers = NDArray[np.floating]

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

    def half_lives(self, since_s: Numbers) -> Numbers:
        """(n,) how many half-lives have passed from some times, in seconds since 1970, to the last instant asked for; 0 or more."""
        passed, begin = np.zeros(len(since_s)), np.asarray(since_s, dtype=np.float64)
        for at, half_life_days in self.marks:
            passed += np.maximum(at.timestamp() - begin, 0.0) / (half_life_days * 86_400)
            begin = np.maximum(begin, at.timestamp())
        return passed


UNFADED = Decay()


def energies_at(values: Numbers, at_s: Numbers, decay: Decay) -> Numbers:
    """
    (n,) what is left of some energies, 0..1: half after each half-life that was let pass since; below .01 it is gone.

    Args:
        values: (n,) 0..1.
        at_s: (n,) when they were that, in seconds since 1970.
    """
    left = values * 0.5 ** decay.half_lives(at_s)
    return np.where(left >= GONE, left, 0.0)


def energy_at(value: float, at: datetime, decay: Decay) -> float:
    """
    The same of one energy.

    >>> from datetime import UTC, timedelta
    >>> then = datetime(2026, 1, 1, tzinfo=UTC)
    >>> round(energy_at(0.8, then, UNFADED.until(then + timedelta(days=3), 7)), 6)
    0.594398
    """
    return float(energies_at(np.array([value]), np.array([at.timestamp()]), decay)[0])


def associations_at(weights: Numbers, at_s: Numbers, decay: Decay) -> Numbers:
    """(n,) what is left of associations' weights, 0..1: a twentieth less for each half-life let pass since, seconds since 1970."""
    return np.asarray(weights * 0.95 ** decay.half_lives(at_s))


def association_at(weight: float, at_s: float, decay: Decay) -> float:
    """The same of one association."""
    return float(associations_at(np.array([weight]), np.array([at_s]), decay)[0])


def associated(weight: float, again: float) -> float:
    """The weight of an association, 0..1, that is drawn again with the weight `again`."""
    return clamped(weight + 0.1 * again)


def roused(energy: float, helped: bool) -> float:
    """An energy, 0..1, after feedback: a tenth more where it helped, a tenth less where it did not."""
    return clamped(energy * (1.1 if helped else 0.9))
