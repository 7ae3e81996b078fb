"""Spreading activation and hops against worked numbers and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memento.rank import Csr, hops, spread


def path(*weights: float) -> Csr:
    n = len(weights)
    return Csr.of(n + 1, np.arange(n), np.arange(n) + 1, np.array(weights))


def active(csr: Csr, seed: float, steps: int = 3) -> NDArray[np.float64]:
    nodes, found = spread(csr, np.array([0]), np.array([seed]), steps, 0.85, 0.1)
    dense = np.zeros(len(csr))
    dense[nodes] = found
    return dense


def test_activation_runs_down_a_path_as_worked() -> None:
    assert active(path(0.3, 0.4, 0.3), 0.5) == pytest.approx([0.597537, 0.390791, 0.130050, 0], abs=1e-6)


def test_activation_saturates_at_one() -> None:
    assert active(path(0.5, 0.4, 0.3), 1.0) == pytest.approx([1, 1, 0.4335, 0.036848], abs=1e-6)
    assert active(path(0.5, 0.4, 0.3), 1.0, steps=1)[1] == pytest.approx(0.425)


def test_no_seed_reaches_nothing() -> None:
    nodes, found = spread(path(0.5), np.zeros(0, dtype=np.int64), np.zeros(0))

    assert nodes.size == found.size == 0


@given(st.integers(0, 10_000), st.integers(0, 5))
def test_activation_is_what_plain_loops_give(seed: int, steps: int) -> None:
    random = np.random.default_rng(seed)
    n, m = 8, 12
    csr = Csr.of(n, random.integers(0, n, m), random.integers(0, n, m), random.random(m) / 2)
    seeds = random.choice(n, 2, replace=False)
    started = random.random(2)
    expected = np.zeros(n)
    expected[seeds] = started
    for _ in range(steps):
        added = np.zeros(n)
        for node in range(n):
            if expected[node] > 0.1:
                for at in range(csr.indptr[node], csr.indptr[node + 1]):
                    added[csr.indices[at]] += expected[node] * csr.weights[at] * 0.85  # type: ignore[index]
        expected = np.minimum(expected + added, 1)

    nodes, found = spread(csr, seeds, started, steps, 0.85, 0.1)

    dense = np.zeros(n)
    dense[nodes] = found
    assert dense == pytest.approx(expected)
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_a_hop_over_a_key_brings_what_is_worked() -> None:
    star = Csr.of(3, np.array([2, 2]), np.array([0, 1]), np.array([1.0, 1.0]))

    _, gained, came = hops(star, np.array([0]), np.array([0.0325]), 2, np.array([0, 0, 0.5]))

    assert gained.tolist() == pytest.approx([0.0325, 0.004875])
    assert came.tolist() == [1, 2]


def test_a_direct_link_needs_no_key() -> None:
    _, gained, came = hops(path(0.5, 1.0), np.array([0]), np.array([1.0]), 3, np.zeros(3))

    assert gained.tolist() == pytest.approx([1.0 + 0.15 * 0.3 * 0.5, 0.15, 0.045])
    assert came.tolist() == [1, 2, 3]


def test_one_hop_leads_nowhere() -> None:
    nodes, gained, came = hops(path(0.5), np.array([0]), np.array([1.0]), 1, np.zeros(2))

    assert (nodes.tolist(), gained.tolist(), came.tolist()) == ([0], [1.0], [1])


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_hops_are_what_plain_loops_give(seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    memories, keys = 6, 4
    links = np.unique(random.integers(0, memories, 10) * keys + random.integers(0, keys, 10))
    csr = Csr.of(memories + keys, links // keys, memories + links % keys, random.random(len(links)) + 0.5)
    through = np.concatenate([np.zeros(memories), random.random(keys) + 0.1])
    expected = {0: 1.0, 1: 0.5}
    came = {0: 1, 1: 1}
    front = {0: 1.0, 1: 0.5}
    for hop in range(2, most + 1):
        arriving: dict[int, float] = {}
        for memory, score in front.items():
            for key in csr.neighbours(memory):
                for at in range(csr.indptr[key], csr.indptr[key + 1]):
                    other = int(csr.indices[at])
                    if other != memory:
                        brought = score * 0.3 * through[key] * csr.weights[at]  # type: ignore[index]
                        arriving[other] = arriving.get(other, 0) + brought
        for other, brought in arriving.items():
            expected[other] = expected.get(other, 0) + brought
        front = {other: expected[other] for other in arriving if other not in came}
        came.update(dict.fromkeys(front, hop))

    nodes, gained, hop_of = hops(csr, np.array([0, 1]), np.array([1.0, 0.5]), most, through)

    assert dict(zip(nodes.tolist(), gained.tolist(), strict=True)) == pytest.approx(expected)
    assert dict(zip(nodes.tolist(), hop_of.tolist(), strict=True)) == came
