"""The structure of a graph against networkx, and on graphs whose structure can be seen."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.manifest import Structure, analyse_graph
from memento.rank import Csr


def found(n: int, links: list[tuple[int, int]], weights: list[float] | None = None) -> Structure:
    source, target = np.array(links, dtype=np.int64).reshape(-1, 2).T
    csr = Csr.of(n, source, target, np.array(weights or [1.0] * len(links)))
    return analyse_graph(csr, np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_))


TRIANGLE = [(0, 1), (1, 2), (0, 2)]
TWO_TRIANGLES = [*TRIANGLE, (3, 4), (4, 5), (3, 5), (2, 3)]


def test_a_triangle_is_as_clustered_as_can_be() -> None:
    assert found(3, TRIANGLE).topology.clustering == 1
    assert found(3, TRIANGLE).topology.density == 1


def test_two_triangles_are_two_communities_and_what_joins_them_is_the_bridge() -> None:
    two = found(6, TWO_TRIANGLES, [1, 1, 1, 1, 1, 1, 0.4])

    assert {frozenset(one.nodes.tolist()) for one in two.communities} == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert [(one.nodes, round(one.weight, 6)) for one in two.bridges] == [((2, 3), 0.4)]
    assert set(two.bridges[0].communities) == {0, 1}
    assert sum(one.importance for one in two.communities) == pytest.approx(1)


def test_bridges_are_the_heaviest_first_and_ten_at_most() -> None:
    blocks = [
        (a, b) for block in range(13) for a in range(4 * block, 4 * block + 4) for b in range(a + 1, 4 * block + 4)
    ]
    joins = [(4 * block, 4 * block + 4) for block in range(12)]
    weights = [5.0] * len(blocks) + [0.1 + block / 100 for block in range(12)]

    bridges = found(52, blocks + joins, weights).bridges

    assert len(bridges) == 10
    assert [one.weight for one in bridges] == sorted((one.weight for one in bridges), reverse=True)
    assert bridges[0].nodes == (44, 48)


def test_key_nodes_are_ranked_by_rank_energy_and_importance() -> None:
    csr = Csr.of(4, np.array([0, 0, 0]), np.array([1, 2, 3]))
    energy, importance = np.array([0.0, 0, 1, 0]), np.array([0.0, 0, 1, 0.5])

    star = analyse_graph(csr, energy, importance, np.zeros(4, dtype=np.bool_))

    leaf = star.rank[1] / star.rank[0]
    assert [node for node, _ in star.keys[:2]] == [2, 0]
    assert [score for _, score in star.keys[:2]] == pytest.approx([0.4 * leaf + 0.6, 0.4])


def test_the_same_graph_gives_the_same_structure() -> None:
    random = np.random.default_rng(1)
    links = random.integers(0, 300, (900, 2))
    csr = Csr.of(300, links[:, 0], links[:, 1], random.random(900))
    first, second = (analyse_graph(csr, np.zeros(300), np.zeros(300), np.zeros(300, dtype=np.bool_)) for _ in range(2))

    assert (first.community == second.community).all()
    assert (first.rank == second.rank).all()


def test_communities_say_how_much_of_them_was_touched() -> None:
    csr = Csr.of(6, *np.array(TWO_TRIANGLES).T)
    touched = np.array([True, True, True, False, False, True])

    two = analyse_graph(csr, np.zeros(6), np.zeros(6), touched)

    assert sorted(one.volatility for one in two.communities) == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_graph_without_links_has_no_structure(n: int) -> None:
    empty = found(n, [])

    assert (empty.communities, empty.bridges) == ((), ())
    assert (empty.topology.nodes, empty.topology.density, empty.topology.clustering) == (n, 0, 0)


@given(st.integers(0, 100_000))
def test_ranks_clustering_and_density_equal_those_of_networkx(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 40))
    links = {(int(a), int(b)) for a, b in random.integers(0, n, (3 * n, 2)) if a < b}
    if not links:
        return
    weights = random.random(len(links)) + 0.1
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(links, weights, strict=True))
    ours = found(n, list(links), weights.tolist())

    several = [nx.clustering(graph, node) for node in graph if graph.degree(node) > 1]
    assert ours.topology.clustering == pytest.approx(np.mean(several) if several else 0)
    assert ours.topology.density == pytest.approx(nx.density(graph))
    assert ours.topology.largest == pytest.approx(max(map(len, nx.connected_components(graph))) / n)
    ranks = nx.pagerank(graph, alpha=0.85, tol=1e-9, max_iter=1000)
    assert ours.rank == pytest.approx([ranks[node] for node in range(n)], abs=1e-4)
    assert ours.rank.sum() == pytest.approx(1)
