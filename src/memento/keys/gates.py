"""When direct recall has an answer at all: something named, a key near enough, or a memory that stands out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FEWEST = 8
"""Memories that are needed to say what stands out."""
_NORMAL = 1.4826  # what the median deviation of a normal distribution is multiplied with to give its standard deviation


def robust_z(cosines: NDArray[np.floating]) -> float | None:
    """
    How far the best cosine stands out from the others, in robust standard deviations; None when that cannot be said.

    >>> round(robust_z(np.array([0.2, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.9])), 4)
    22.4268

    Source: Iglewicz and Hoaglin 1993, the median and the median absolute deviation.
    """
    x = np.asarray(cosines, dtype=np.float64)
    if x.size < FEWEST:
        return None
    middle = float(np.median(x))
    spread = float(np.median(np.abs(x - middle)))
    return None if spread == 0 else (float(x.max()) - middle) / (_NORMAL * spread)


def stands_out(cosines: NDArray[np.floating], least: float) -> bool:
    """Whether the best of all cosines stands out by so much; True when that cannot be said, or nothing is asked for."""
    if least <= 0:
        return True
    found = robust_z(cosines)
    return found is None or found >= least
