"""
Which parts of a graph belong together and what it turns on: communities, ranks, bridges, and how dense it is.

Nothing here knows what a node is; the same graph gives the same structure, whenever it is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memento.rank.walks import Csr

Sparse: TypeAlias = Any  # scipy.sparse.csr_matrix, which has no types

Numbers = NDArray[np.float64]
Nodes = NDArray[np.int64]

SEED = 0
MOST_BRIDGES = 10
MOST_COMMUNITIES = 50
MOST_KEYS = 20
_MANY = (
    100_000  # nodes above which ranks are let be half a percent off: nobody sees it, and it takes a third of the time
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Nodes that have more links among each other than chance; `nodes` are the highest ranked first."""

    nodes: Nodes
    importance: float
    """The sum of the ranks of its nodes, 0..1."""
    volatility: float
    """The share of its nodes that were touched lately, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """A link between two communities, which are numbered as they are listed."""

    nodes: tuple[int, int]
    communities: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """
    The graph in numbers. `density`, `clustering` (mean over nodes with two neighbours) and `largest` (its share of nodes) are in
    0..1, `modularity` in −½..1.
    """

    nodes: int
    links: int
    average_degree: float
    density: float
    clustering: float
    modularity: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """
    What was found: `rank` (n,) sums to 1, `community` (n,) is a place among all communities, the largest first, of which
    `communities` lists the first fifty that have more than one node.
    """

    rank: Numbers
    community: NDArray[np.int32]
    communities: tuple[Community, ...]
    bridges: tuple[Bridge, ...]
    keys: tuple[tuple[int, float], ...]
    """The nodes that it turns on, and their scores in 0..1, the highest first."""
    topology: Topology


def analyse_graph(csr: Csr, energy: Numbers, importance: Numbers, touched: NDArray[np.bool_]) -> Structure:
    """
    Args:
        csr: the links, without loops.
        energy, importance: (n,) 0..1.
        touched: (n,) made, used or changed within a week.

    Sources: Blondel et al. 2008, J. Stat. Mech. (communities, resolution 1); Page et al. 1999 (ranks, damping .85);
    Watts and Strogatz 1998, Nature 393 (clustering).
    """
    n = len(csr)
    if not n:
        return _NOTHING
    adjacency = _to_matrix(csr)
    rank = _page_ranks(adjacency)
    community, modularity = _detect_communities(adjacency)
    return Structure(
        rank=rank,
        community=community,
        communities=_list_communities(community, rank, touched),
        bridges=_find_bridges(csr, community),
        keys=_rank_keys(rank, energy, importance),
        topology=_measure_topology(adjacency, modularity),
    )


_NOTHING = Structure(
    rank=np.zeros(0),
    community=np.zeros(0, dtype=np.int32),
    communities=(),
    bridges=(),
    keys=(),
    topology=Topology(nodes=0, links=0, average_degree=0.0, density=0.0, clustering=0.0, modularity=0.0, largest=0.0),
)


def _to_matrix(csr: Csr) -> Sparse:
    from scipy.sparse import csr_matrix

    weights = np.ones(len(csr.indices)) if csr.weights is None else csr.weights.astype(np.float64)
    return csr_matrix((weights, csr.indices, csr.indptr), shape=(len(csr), len(csr)))


def _page_ranks(adjacency: Sparse) -> Numbers:
    from sknetwork.ranking import PageRank

    n = adjacency.shape[0]
    if not adjacency.nnz:
        return np.full(n, 1 / n)
    ranking = PageRank(damping_factor=0.85, n_iter=100 if n <= _MANY else 30, tol=1e-9)
    ranks = np.asarray(ranking.fit_predict(adjacency), dtype=np.float64)
    # What has no link is where a walker comes by chance alone, and from where it goes on by chance.
    alone = np.diff(adjacency.indptr) == 0
    each = 0.15 / (n - 0.85 * alone.sum())
    return np.asarray(np.where(alone, each, ranks * (1 - each * alone.sum()) / ranks[~alone].sum()))


def _detect_communities(adjacency: Sparse) -> tuple[NDArray[np.int32], float]:
    """Return (n,) the community of each node, the largest first, and how much better than chance they are."""
    from sknetwork.clustering import Louvain, get_modularity

    if not adjacency.nnz:
        return np.arange(adjacency.shape[0], dtype=np.int32), 0.0
    # Soft membership and the graph between clusters are not needed, and would take most of the time.
    louvain = Louvain(resolution=1.0, random_state=SEED, return_probs=False, return_aggregate=False)
    labels = np.asarray(louvain.fit_predict(adjacency), dtype=np.int32)
    return labels, float(get_modularity(adjacency, labels))


def _list_communities(community: NDArray[np.int32], rank: Numbers, touched: NDArray[np.bool_]) -> tuple[Community, ...]:
    sizes = np.bincount(community)
    by_rank = np.lexsort((-rank, community))
    ends = np.cumsum(sizes)
    ranks = np.bincount(community, weights=rank)
    lately = np.bincount(community, weights=touched.astype(np.float64)) / sizes
    return tuple(
        Community(
            nodes=by_rank[ends[place] - sizes[place] : ends[place]],
            importance=float(ranks[place]),
            volatility=float(lately[place]),
        )
        for place in range(min(len(sizes), MOST_COMMUNITIES))
        if sizes[place] > 1
    )


def _find_bridges(csr: Csr, community: NDArray[np.int32]) -> tuple[Bridge, ...]:
    rows = np.repeat(np.arange(len(csr)), np.diff(csr.indptr))
    across = np.flatnonzero((community[rows] != community[csr.indices]) & (rows < csr.indices))
    weights = np.ones(len(across)) if csr.weights is None else csr.weights[across].astype(np.float64)
    return tuple(
        Bridge(
            nodes=(int(rows[at]), int(csr.indices[at])),
            communities=(int(community[rows[at]]), int(community[csr.indices[at]])),
            weight=float(weights[place]),
        )
        for place, at in ((place, across[place]) for place in np.argsort(-weights, kind="stable")[:MOST_BRIDGES])
    )


def _rank_keys(rank: Numbers, energy: Numbers, importance: Numbers) -> tuple[tuple[int, float], ...]:
    """Choose of the highest ranked the best by rank (as a share of the highest, else it would not count), energy and importance."""
    highest = np.argsort(-rank, kind="stable")[:MOST_KEYS]
    scores = 0.4 * rank[highest] / rank.max() + 0.3 * energy[highest] + 0.3 * importance[highest]
    order = np.argsort(-scores, kind="stable")
    return tuple((int(highest[place]), float(scores[place])) for place in order)


def _measure_topology(adjacency: Sparse, modularity: float) -> Topology:
    from scipy.sparse.csgraph import connected_components

    n, links = adjacency.shape[0], adjacency.nnz // 2
    _, component = connected_components(adjacency, directed=False)
    return Topology(
        nodes=n,
        links=links,
        average_degree=2 * links / n,
        density=2 * links / (n * (n - 1)) if n > 1 else 0.0,
        clustering=_measure_clustering(adjacency),
        modularity=modularity,
        largest=float(np.bincount(component).max() / n),
    )


def _measure_clustering(adjacency: Sparse) -> float:
    """
    Return the mean, over the nodes with two neighbours or more, of the share of their neighbours that are neighbours of each other.

    Links point from the node with fewer to the one with more of them, so that no row is long: each triangle is then found once.
    """
    from scipy.sparse import csr_matrix

    degree = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(len(degree)), degree)
    columns = adjacency.indices
    upward = (degree[rows] < degree[columns]) | ((degree[rows] == degree[columns]) & (rows < columns))
    ones = np.ones(int(upward.sum()), dtype=np.int32)
    directed = csr_matrix((ones, (rows[upward], columns[upward])), shape=adjacency.shape)
    over = (directed @ directed).multiply(directed)  # by its lowest and its highest corner
    beside = (directed.T @ directed).multiply(directed)  # by its middle and its highest corner
    triangles = np.asarray(over.sum(axis=0)).ravel() + np.asarray(over.sum(axis=1)).ravel()
    triangles = triangles + np.asarray(beside.sum(axis=1)).ravel()
    pairs = degree * (degree - 1) / 2
    several = pairs > 0
    return float(np.mean(triangles[several] / pairs[several])) if several.any() else 0.0
