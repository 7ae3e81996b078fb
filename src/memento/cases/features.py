"""
What the Q function sees of a task and a case: both embeddings, how alike they are, what the case has earned, and the form of both
texts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memento.cases.bank import Bank, Rows, Vector
from memento.cases.form import FORM

Features = NDArray[np.float32]

VERSION = 2
"""Raise it with every change in what the network sees: weights of another version are not used."""

_PRIOR, _PRIOR_USES = 0.3, 5.0
"""What a case that was never shown is held to have earned, in how many uses: few rewards make it neither the best nor the worst."""


def width(dimensions: int) -> int:
    """How many numbers a pair has, the two embeddings first."""
    return 2 * dimensions + 5 + 3 * FORM


def features(state: Vector, written: Vector, rows: Rows, bank: Bank, now_ms: float, centre: Vector) -> Features:
    """
    (len(rows), width) one row for each case.

    Args:
        state: (d,) the task's vector.
        written: (6,) its form.
        now_ms: when it is asked, in milliseconds since 1970.
        centre: (d,) what is taken off every embedding, so that it says how a text differs from the others.
    """
    d, count = bank.dimensions, len(rows)
    found = np.empty((count, width(d)), dtype=np.float32)
    vectors, form_of = bank.vectors[rows], bank.form[rows]
    found[:, :d] = state - centre
    np.subtract(vectors, centre, out=found[:, d : 2 * d])
    own = bank.reward[rows]
    # Whole days: how fast a machine is must not decide what is learned.
    uses, age_days = bank.uses[rows], np.floor(np.maximum(now_ms - bank.at[rows], 0) / 86_400_000)
    found[:, 2 * d] = vectors @ state
    found[:, 2 * d + 1] = np.where(np.isnan(own), 0.5, np.clip(own, 0, 1))
    found[:, 2 * d + 2] = (bank.earned[rows] + _PRIOR * _PRIOR_USES) / (uses + _PRIOR_USES)
    found[:, 2 * d + 3] = np.log1p(uses) / 3
    found[:, 2 * d + 4] = np.log1p(age_days) / 6
    tail = 2 * d + 5
    found[:, tail : tail + FORM] = written
    found[:, tail + FORM : tail + 2 * FORM] = form_of
    np.abs(form_of - written, out=found[:, tail + 2 * FORM :])
    return found
