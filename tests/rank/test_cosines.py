"""Unit rows and cosines against worked numbers."""

from __future__ import annotations

import numpy as np
import pytest

from memento.rank import cosines, unit


def test_unit_rows_have_length_one_and_zero_stays_zero() -> None:
    rows = unit(np.array([[3e20, 4e20], [0, 0], [1e-30, 0]]))

    assert rows == pytest.approx(np.array([[0.6, 0.8], [0, 0], [1, 0]]))
    assert rows.dtype == np.float32


def test_the_best_window_of_the_question_counts() -> None:
    matrix = unit(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]]))
    asked = unit(np.array([[1, 0, 0], [0, 1, 0]]))

    assert cosines(matrix, asked) == pytest.approx([1, 0.5**0.5, 0])
    assert cosines(matrix[:0], asked).shape == (0,)
