"""
Turn a relevance into the probability that the memory answers, by two numbers of `calibration.toml` for each family of embedders.

*Guarantees:* a higher relevance has a higher probability, so that no order changes.

*Source:* Platt 1999, "Probabilistic outputs for support vector machines"; `tests/bench/calibration.py` fits and measures it.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from math import exp, log
from pathlib import Path

TABLE = Path(__file__).with_name("calibration.toml")
LEAST_SHARE = 0.1
"""The share of the best memory's probability below which a memory is not shown."""
_LEAST = 1e-9


def calibrate(relevance: float, fingerprint: str) -> float:
    """
    Return the probability that a memory of some relevance, 0..1, answers.

    >>> calibrate(0.5, "another embedder"), calibrate(0.0, "all-MiniLM-L6-v2")
    (0.5, 0.0)
    >>> calibrate(0.2, "all-MiniLM-L6-v2") < calibrate(0.9, "all-MiniLM-L6-v2") < 1.0
    True
    """
    slope, offset = _find_numbers(fingerprint)
    if (slope, offset) == (1.0, 0.0) or relevance < _LEAST:
        return relevance
    p = min(relevance, 1 - _LEAST)
    return 1 / (1 + exp(-(slope * log(p / (1 - p)) + offset)))


@lru_cache(maxsize=8)
def _find_numbers(fingerprint: str) -> tuple[float, float]:
    """Return the slope and the offset for an embedder; 1 and 0 for an unknown one."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    row = next((row for family, row in table.items() if fingerprint.startswith(family)), {"slope": 1.0, "offset": 0.0})
    return float(row["slope"]), float(row["offset"])
