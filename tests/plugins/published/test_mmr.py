"""MMR against worked numbers and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memento.plugins.published.fusion import adaptive_lambda, mmr
from memento.rank import unit

RELEVANCE = np.array([1.0, 0.95, 0.6, 0.5])
VECTORS = np.array([[1, 0], [1, 0], [0, 1], [0.6, 0.8]])


@pytest.mark.parametrize(("lam", "expected"), [(0.5, [0, 2, 1]), (0.7, [0, 2, 1]), (1.0, [0, 1, 2])])
def test_the_worked_example_is_picked_in_order(lam: float, expected: list[int]) -> None:
    assert mmr(RELEVANCE, VECTORS, k=3, lam=lam) == expected


def test_all_rows_come_back_as_they_stand_when_there_are_few() -> None:
    assert mmr(np.array([0.1, 0.9]), np.eye(2), k=2, lam=0.5) == [0, 1]
    assert mmr(np.array([]), np.zeros((0, 2)), k=2, lam=0.5) == []
    assert mmr(RELEVANCE, VECTORS, k=0, lam=0.5) == []


def test_a_row_without_embedding_is_never_redundant() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 0]])

    assert mmr(np.array([1.0, 0.9, 0.6]), vectors, k=2, lam=0.5) == [0, 2]


def test_opposite_rows_earn_no_bonus() -> None:
    vectors = np.array([[1, 0], [-1, 0], [0, 1]])

    assert mmr(np.array([1.0, 0.5, 0.5]), vectors, k=2, lam=0.5) == [0, 1]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], 0.6),
        ([0.4], 0.5),
        ([1.0, 0.0], 0.7),
        ([0.5, 0.0], 0.65),
        ([0.25, 0.0], 0.6),
        ([0.125, 0.0], 0.5),
    ],
)
def test_lambda_rises_with_how_far_the_best_stands_out(scores: list[float], expected: float) -> None:
    assert adaptive_lambda(scores, lo=0.5, hi=0.7) == pytest.approx(expected)


def test_lambda_stays_within_its_bounds() -> None:
    assert adaptive_lambda([0.5, 0.0], lo=0.6, hi=0.6) == 0.6


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 14), st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0]))
def test_mmr_equals_brute_force(seed: int, n: int, k: int, lam: float) -> None:
    random = np.random.default_rng(seed)
    relevance, vectors = random.random(n), unit(random.normal(size=(n, 5))).astype(np.float64)

    assert mmr(relevance, vectors, k, lam) == brute_force(relevance, vectors, k, lam)


def brute_force(relevance: NDArray[np.float64], vectors: NDArray[np.float64], k: int, lam: float) -> list[int]:
    if len(relevance) <= k:
        return list(range(len(relevance)))
    picks: list[int] = [max(range(len(relevance)), key=lambda row: relevance[row])]
    while len(picks) < k:
        left = [row for row in range(len(relevance)) if row not in picks]

        def gain(row: int) -> float:
            redundancy = max(0.0, *(float(np.dot(vectors[row], vectors[pick])) for pick in picks))
            return float(lam * relevance[row] - (1 - lam) * redundancy)

        picks.append(max(left, key=gain))
    return picks
