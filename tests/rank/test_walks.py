"""Walks against worked numbers, networkx and each other."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memento.rank import Csr, ppr, push

NODES = ["e1", "e2", "m1", "m2", "m3", "m4", "U"]
LINKS = ["m1-e1", "m1-U", "m2-e1", "m2-e2", "m3-e2", "m4-U"]
WORLD = Csr.of(
    7,
    np.array([NODES.index(link.split("-")[0]) for link in LINKS]),
    np.array([NODES.index(link.split("-")[1]) for link in LINKS]),
)


def restart(**weights: float) -> NDArray[np.float64]:
    return np.array([weights.get(node, 0.0) for node in NODES])


def random_graph(seed: int, n: int, weighted: bool) -> Csr:
    """Links at random; some nodes may have none."""
    random = np.random.default_rng(seed)
    m = int(random.integers(1, 3 * n))
    source, target = random.integers(0, n, m), random.integers(0, n, m)
    return Csr.of(n, source, target, random.random(m) + 0.1 if weighted else None)


def test_equal_sources_give_the_worked_ranks_of_the_engine_form() -> None:
    one = ppr(WORLD, restart(e1=1), damping=0.75, iterations=25)
    two = ppr(WORLD, restart(e1=1, e2=1), damping=0.75, iterations=25)

    assert dict(zip(NODES, one, strict=True)) == pytest.approx(
        {"e1": 0.38431, "m1": 0.17914, "m2": 0.17914, "U": 0.09340, "e2": 0.09340, "m3": 0.03502, "m4": 0.03502},
        abs=6e-6,
    )
    assert one.sum() == pytest.approx(0.99944, abs=6e-6)
    assert dict(zip(NODES, two, strict=True)) == pytest.approx(
        {"e2": 0.54847, "e1": 0.47771, "m2": 0.38481, "m1": 0.22265, "m3": 0.20567, "U": 0.11604, "m4": 0.04351},
        abs=6e-6,
    )
    assert two.sum() == pytest.approx(1.99887, abs=6e-6)


def test_weighted_sources_give_the_worked_ranks_of_the_teleport_form() -> None:
    ranks = ppr(WORLD, restart(e1=0.6, e2=0.4), damping=0.75, iterations=25, weighted=True)

    assert dict(zip(NODES, ranks, strict=True)) == pytest.approx(
        {"e1": 0.26794, "e2": 0.23807, "m2": 0.18994, "m1": 0.12508, "m3": 0.08937, "U": 0.06510, "m4": 0.02450},
        abs=6e-6,
    )
    assert ranks.sum() == pytest.approx(1.0)


def test_equal_sources_do_not_look_at_the_weights() -> None:
    equal = ppr(WORLD, restart(e1=1, e2=1), damping=0.75, iterations=25)

    assert ppr(WORLD, restart(e1=0.9, e2=0.1), damping=0.75, iterations=25) == pytest.approx(equal)


@pytest.mark.parametrize("weighted_links", [False, True])
def test_ranks_equal_those_of_networkx(weighted_links: bool) -> None:
    csr = random_graph(seed=7, n=60, weighted=weighted_links)
    graph = nx.Graph()
    graph.add_nodes_from(range(60))
    weights = np.ones(len(csr.indices)) if csr.weights is None else csr.weights
    for node in range(60):
        for place in range(int(csr.indptr[node]), int(csr.indptr[node + 1])):
            graph.add_edge(node, int(csr.indices[place]), weight=float(weights[place]))
    linked = np.flatnonzero(csr.strength)[:4]
    p = np.zeros(60)
    p[linked] = [0.4, 0.3, 0.2, 0.1]

    expected = nx.pagerank(graph, alpha=0.85, personalization=dict(enumerate(p)), tol=1e-12, max_iter=500)

    ranks = ppr(csr, p, damping=0.85, iterations=500, tolerance=1e-14, weighted=True)
    assert ranks == pytest.approx([expected[node] for node in range(60)], abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.booleans(), st.floats(0.05, 0.95), st.integers(0, 40))
def test_no_mass_is_made_and_none_is_lost_among_linked_nodes(
    seed: int, n: int, weighted_links: bool, damping: float, iterations: int
) -> None:
    csr = random_graph(seed, n, weighted_links)
    p = np.random.default_rng(seed).random(n) * (csr.strength > 0)
    sources = np.count_nonzero(p)

    teleport = ppr(csr, p, damping, iterations, tolerance=0.0, weighted=True)
    equal = ppr(csr, p, damping, iterations, tolerance=0.0)

    assert (teleport >= 0).all()
    assert teleport.sum() == pytest.approx(1.0)
    assert equal.sum() == pytest.approx(sources * (1 - damping ** (iterations + 1)))


def pushed_ranks(csr: Csr, p: NDArray[np.float64], epsilon: float = 1e-5) -> NDArray[np.float64]:
    """(n,) the ranks of `push`, 0 where it does not reach."""
    sources = np.flatnonzero(p)
    nodes, ranks = push(csr, sources, p[sources], damping=0.75, epsilon=epsilon)
    found = np.zeros(len(csr))
    found[nodes] = ranks
    return found


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 25),
    st.sampled_from(["plain", "weighted", "rare"]),
    st.sampled_from([1e-2, 1e-4, 1e-6]),
)
def test_push_is_short_of_the_power_iteration_by_no_more_than_it_promises(
    seed: int, n: int, kind: str, epsilon: float
) -> None:
    csr = random_graph(seed, n, kind == "weighted")
    csr = csr.rare if kind == "rare" else csr
    p = np.random.default_rng(seed).random(n) * (np.arange(n) < 4)

    exact = ppr(csr, p, damping=0.75, iterations=400, tolerance=0.0, weighted=True)
    pushed = pushed_ranks(csr, p, epsilon)

    assert (pushed <= exact + 1e-9).all()
    assert (exact - pushed <= epsilon * csr.strength + 1e-9).all()


def test_a_walker_prefers_the_particular_to_the_hub() -> None:
    """m links to a hub of eight and to e of two; on a plain walk both get half of what m passes on."""
    hub, e, m = 0, 1, 2
    csr = Csr.of(10, np.array([hub] * 8 + [e] * 2), np.array([2, 3, 4, 5, 6, 7, 8, 9, 2, 3]))
    p = np.zeros(10)
    p[m] = 1.0

    plain, rare = pushed_ranks(csr, p), pushed_ranks(csr.rare, p)

    assert rare[e] / rare[hub] > 1.5 * plain[e] / plain[hub]
    assert csr.rare.weights is not None
    first = csr.rare.weights[csr.indptr[m] : csr.indptr[m + 1]]
    own = np.log(12 / 3) / np.log(12)
    assert first == pytest.approx([own * np.log(12 / 9) / np.log(12), own**2])


def test_nothing_restarts_nothing_ranks() -> None:
    for weighted in (False, True):
        assert ppr(WORLD, restart(), damping=0.75, iterations=25, weighted=weighted).sum() == 0
    for sources in ([], [0, 3]):
        nodes, ranks = push(WORLD, np.array(sources, dtype=np.int64), np.zeros(len(sources)), damping=0.75)
        assert nodes.size == ranks.size == 0


def test_a_source_without_links_keeps_its_share_and_disturbs_nobody() -> None:
    lonely = Csr.of(8, *(np.array([NODES.index(link.split("-")[end]) for link in LINKS]) for end in (0, 1)))
    p = np.append(restart(e1=1), 1.0)

    ranks = ppr(lonely, p, damping=0.75, iterations=25)

    assert ranks[7] == pytest.approx(0.25)
    assert ranks[:7] == pytest.approx(ppr(WORLD, restart(e1=1), damping=0.75, iterations=25))
    assert pushed_ranks(lonely, p)[7] == pytest.approx(0.125)  # one of two sources that share a mass of 1


def test_an_empty_graph_has_no_ranks() -> None:
    empty = Csr.of(0, np.array([], dtype=np.int64), np.array([], dtype=np.int64))

    assert len(empty) == 0
    assert ppr(empty, np.array([]), damping=0.75, iterations=25).shape == (0,)
    assert push(empty, np.array([], dtype=np.int64), np.array([]), damping=0.75)[0].shape == (0,)


def test_links_stand_in_both_rows_once_however_often_they_are_given() -> None:
    csr = Csr.of(4, np.array([0, 1, 0, 3]), np.array([1, 0, 2, 3]))

    assert [csr.neighbours(node).tolist() for node in range(4)] == [[1, 2], [0], [0], [3]]
    assert csr.strength.tolist() == [2, 1, 1, 1]


def test_weights_of_repeated_links_add_up() -> None:
    csr = Csr.of(3, np.array([0, 1]), np.array([1, 0]), np.array([0.25, 0.5]))

    assert csr.weights is not None
    assert csr.weights.tolist() == [0.75, 0.75]
    assert csr.strength.tolist() == [0.75, 0.75, 0]
