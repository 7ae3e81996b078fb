"""
Who is near, by walking: three laws over one undirected graph, a `Csr`.

`ppr` conserves what the sources give and shares it out: what a walker who restarts at the sources visits most. It is the power
iteration, exact and as slow as the graph is large; `push` finds nearly the same near nodes at a cost that does not depend on the
size of the graph. `spread` adds up and saturates at 1; `hops` pays a fixed price for each step. Their numbers are not comparable,
and are not made so.

But: in `ppr` and `push` a node without links passes nothing on. A source that has none keeps its (1 − damping), the rest of its
mass is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Mass = NDArray[np.float64]
"""(n,) what a walk has brought to every node."""


@dataclass(frozen=True, eq=False)
class Csr:
    """
    An undirected graph over the nodes 0..n-1 as compressed rows: every link stands in the rows of both its ends.

    The neighbours of node v are `indices[indptr[v] : indptr[v + 1]]`, ascending; `weights` are beside `indices`, or is
    None when all links count the same.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls,
        n: int,
        source: NDArray[np.integer],
        target: NDArray[np.integer],
        weights: NDArray[np.floating] | None = None,
    ) -> Csr:
        """
        Return the graph of links given once, in either direction. Repeated links count once, or add up where there are weights.

        Args:
            n: number of nodes.
            source, target: (m,) node ids in 0..n-1.
            weights: (m,) positive.

        >>> Csr.of(3, np.array([0, 0]), np.array([1, 2])).neighbours(0).tolist()
        [1, 2]
        """
        source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        loops = source == target
        rows = np.concatenate([source, target[~loops]])
        columns = np.concatenate([target, source[~loops]])
        arcs, place = np.unique(rows * n + columns, return_inverse=True)
        indptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(arcs // max(n, 1), minlength=n), out=indptr[1:])
        summed = None
        if weights is not None:
            both = np.concatenate([weights, np.asarray(weights)[~loops]])
            summed = np.bincount(place, weights=both, minlength=len(arcs)).astype(np.float32)
        return cls(indptr, (arcs % max(n, 1)).astype(np.int32), summed)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """Return the neighbours of a node, ascending."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    @cached_property
    def strength(self) -> Mass:
        """(n,) the number of links of each node, or the sum of their weights."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.row_sums(self.weights.astype(np.float64))

    @cached_property
    def rare(self) -> Csr:
        """
        The same links, each as heavy as both its ends are rare: a walker prefers the particular to the hub.

        Links count the same before; the rarity is that of a node's links among all linked nodes.
        """
        links = np.diff(self.indptr)
        rare = rarity(links, int(np.count_nonzero(links)))
        return Csr(self.indptr, self.indices, (np.repeat(rare, links) * rare[self.indices]).astype(np.float32))

    def row_sums(self, values: NDArray[np.float64]) -> Mass:
        """Return (n,) the sum over each row of `values`, which are beside `indices`."""
        sums = np.zeros(len(self))
        filled = np.flatnonzero(np.diff(self.indptr))  # `reduceat` would give an empty row its successor's first value
        if filled.size:
            sums[filled] = np.add.reduceat(values, self.indptr[filled])
        return sums


def rarity(links: NDArray[np.integer], n: int) -> NDArray[np.float64]:
    """
    Return how much it says of something to be linked to a node with so many links, in 0..1: ln((n + 2) / (links + 1)) / ln(n + 2).

    Unlike the idf of words it is above 0 also for what everything is linked to: where all is about one thing, this one still leads.

    Args:
        links: of each node, 1 at least where it counts; more than `n` counts as `n`.
        n: how many could be linked.

    >>> rarity(np.array([1, 10, 98]), 98).round(2).tolist()
    [0.85, 0.48, 0.0]
    """
    return np.asarray(np.log((n + 2) / (np.minimum(links, n) + 1)) / np.log(n + 2))


def arcs_of(csr: Csr, nodes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the arcs of these nodes in `indices`, node after node, and how many each has."""
    begins = csr.indptr[nodes]
    sizes = csr.indptr[nodes + 1] - begins
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(begins - (ends - sizes), sizes), sizes


def ppr(
    csr: Csr,
    restart: NDArray[np.floating],
    damping: float,
    iterations: int,
    tolerance: float = 1e-7,
    weighted: bool = False,
) -> Mass:
    """
    Return (n,) personalised PageRank by power iteration: `r = (1 − damping) · p + damping · Wᵀ r`.

    Equal sources (`weighted=False`): p is 1 at every node with `restart > 0` and the walk starts with (1 − damping) · p,
    so that ranks sum to just under the number of sources. This is how the Neo4j Graph Data Science engine counts.
    Weighted: p is `restart` scaled to sum to 1 and the walk starts with p, so that ranks sum to 1.

    Args:
        restart: (n,) not negative; all zero gives all zero.
        damping: share of the rank that follows links, 0..1.
        iterations: steps at most; fewer when no rank moves by `tolerance` any more.

    Source: Page, Brin, Motwani and Winograd 1999; Haveliwala 2002, WWW.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> ppr(path, np.array([1.0, 0, 0]), damping=0.5, iterations=50).round(4).tolist()
    [0.5833, 0.3333, 0.0833]
    """
    p = _sources(restart, weighted)
    share = damping * _reciprocal(csr.strength)
    ranks = p if weighted else (1.0 - damping) * p
    for _ in range(iterations):
        flow = (ranks * share)[csr.indices]
        if csr.weights is not None:
            flow *= csr.weights
        fresh = (1.0 - damping) * p + csr.row_sums(flow)
        moved = np.abs(fresh - ranks).max(initial=0.0)
        ranks = fresh
        if moved < tolerance:
            break
    return ranks


def push(
    csr: Csr,
    sources: NDArray[np.integer],
    mass: NDArray[np.floating],
    damping: float,
    epsilon: float = 1e-5,
) -> tuple[NDArray[np.int64], Mass]:
    """
    Return the nodes that mass reaches, ascending, and their ranks: those of weighted `ppr` in its limit, from below.

    Each rank is short by at most `epsilon · strength`. Mass waits at nodes; as long as a node has more than that waiting, it
    keeps (1 − damping) of it and passes the rest on. Hubs need much before they pass on, which keeps the walk local.

    Args:
        sources: (s,) distinct nodes where the walk restarts.
        mass: (s,) how often it does so at each, not negative; scaled to sum to 1. Nothing but zeros reaches nothing.
        epsilon: smaller is more exact and slower; 1e-5 finds 94 to 99 of the first hundred nodes.

    Source: Andersen, Chung and Lang 2006, FOCS.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> nodes, ranks = push(path, np.array([0]), np.array([1.0]), damping=0.5, epsilon=1e-9)
    >>> nodes.tolist(), ranks.round(4).tolist()
    ([0, 1, 2], [0.5833, 0.3333, 0.0833])
    """
    # Pages of zeros cost nothing until they are written to, so neither array makes the walk depend on the size of the graph.
    ranks, waiting = np.zeros(len(csr)), np.zeros(len(csr))
    front = np.asarray(sources, dtype=np.int64)
    waiting[front] = _scale(mass)
    kept: list[NDArray[np.int64]] = []
    front = front[waiting[front] > epsilon * csr.strength[front]]
    while front.size:
        kept.append(front)
        arriving = waiting[front]
        waiting[front] = 0.0
        ranks[front] += (1.0 - damping) * arriving
        arcs, sizes = arcs_of(csr, front)
        reached = csr.indices[arcs]
        flow = np.repeat(damping * arriving * _reciprocal(csr.strength[front]), sizes)
        if csr.weights is not None:
            flow *= csr.weights[arcs]
        np.add.at(waiting, reached, flow)
        candidates = np.unique(reached).astype(np.int64)
        front = candidates[waiting[candidates] > epsilon * csr.strength[candidates]]
    nodes = np.unique(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)
    return nodes, ranks[nodes]


def _sources(restart: NDArray[np.floating], weighted: bool) -> Mass:
    p = np.asarray(restart, dtype=np.float64)
    if not weighted:
        return (p > 0).astype(np.float64)
    return _scale(p)


def _scale(mass: NDArray[np.floating]) -> Mass:
    """Scale mass to sum to 1; nothing but zeros stays as it is."""
    total = float(np.sum(mass, dtype=np.float64))
    return np.asarray(mass, dtype=np.float64) / (total if total > 0 else 1.0)


def _reciprocal(strength: Mass) -> Mass:
    """1 / strength, and 0 for a node without links."""
    return np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)


def spread(
    csr: Csr,
    seeds: NDArray[np.integer],
    activation: NDArray[np.floating],
    steps: int = 3,
    decay: float = 0.85,
    threshold: float = 0.1,
    *,
    beside: Csr | None = None,
) -> tuple[NDArray[np.int64], Mass]:
    """
    Return the nodes that activation reaches, ascending, and how active each is, 0..1.

    In each step every node above the threshold sends `activation · weight · decay` to each neighbour; all of it is added at
    once, and what exceeds 1 is cut. Nothing is lost: a node stays as active as it was.

    Args:
        seeds: (s,) distinct nodes.
        activation: (s,) of the seeds, cut to 0..1.
        steps: how often it is passed on, 0 or more.
        decay: share that arrives over a link of weight 1, 0..1.
        threshold: who is not above it passes nothing on, 0..1.
        beside: further links between the same nodes; where both have one, their weights add up.

    Source: Collins and Loftus 1975, Psychological Review 82; Crestani 1997, Artificial Intelligence Review 11.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> nodes, active = spread(path, np.array([0]), np.array([1.0]), steps=1)
    >>> nodes.tolist(), active.tolist()
    ([0, 1], [1.0, 0.425])
    """
    # Pages of zeros cost nothing until they are written to: the cost is that of the arcs walked.
    active = np.zeros(len(csr))
    touched = np.unique(np.asarray(seeds, dtype=np.int64))
    active[np.asarray(seeds, dtype=np.int64)] = np.clip(activation, 0.0, 1.0)
    for _ in range(steps):
        senders = touched[active[touched] > threshold]
        reached, flow = _flow(csr, senders, decay * active[senders])
        if beside is not None:
            further, more = _flow(beside, senders, decay * active[senders])
            reached, flow = np.concatenate([reached, further]), np.concatenate([flow, more])
        if not reached.size:
            break
        np.add.at(active, reached, flow)
        touched = np.union1d(touched, reached)
        active[touched] = np.minimum(active[touched], 1.0)
    return touched, active[touched]


def hops(
    csr: Csr,
    sources: NDArray[np.integer],
    scores: NDArray[np.floating],
    most: int,
    through: NDArray[np.floating],
    decay: float = 0.3,
) -> tuple[NDArray[np.int64], Mass, NDArray[np.int64]]:
    """
    Return the nodes that are reached within so many hops, ascending, what the hops brought each, and at which hop it came in.

    A hop leads to a neighbour, or through a connector to all others that are linked to it. It brings `score · decay · weight`, over
    a connector also times what the connector lets through; of two links over a connector the weight of the second counts.
    Only nodes that are new in one hop go on in the next, each with what it had by then. Sources are at hop 1, as those who
    asked found them directly.

    Args:
        sources: (s,) distinct nodes, none of them a connector.
        scores: (s,) not negative.
        most: hops in all, the sources' own included: 1 leads nowhere.
        through: (n,) for a connector what it lets through, as a key's idf, above 0; 0 for a node to be reached.
        decay: what is left of a score after one hop.

    >>> star = Csr.of(4, np.array([3, 3, 3]), np.array([0, 1, 2]))  # three memories on the key 3
    >>> nodes, gained, hop = hops(star, np.array([0]), np.array([0.0325]), 2, np.array([0, 0, 0, 0.5]))
    >>> nodes.tolist(), gained.round(6).tolist(), hop.tolist()
    ([0, 1, 2], [0.0325, 0.004875, 0.004875], [1, 2, 2])
    """
    gained, came = np.zeros(len(csr)), np.zeros(len(csr), dtype=np.int64)
    front = np.asarray(sources, dtype=np.int64)
    gained[front], came[front] = scores, 1
    touched = [np.sort(front)]
    for hop in range(2, most + 1):
        direct, flow = _flow(csr, front, decay * gained[front], to=through == 0)
        given = [(direct, flow), *_over_connectors(csr, front, decay * gained[front], through)]
        reached = np.concatenate([nodes for nodes, _ in given])
        np.add.at(gained, reached, np.concatenate([flow for _, flow in given]))
        new = np.unique(reached)
        front = new[came[new] == 0]
        came[front] = hop
        touched.append(front)
        if not front.size:
            break
    nodes = np.unique(np.concatenate(touched))
    return nodes, gained[nodes], came[nodes]


def _over_connectors(
    csr: Csr, front: NDArray[np.int64], sent: Mass, through: NDArray[np.floating]
) -> list[tuple[NDArray[np.int64], Mass]]:
    """Return what reaches the others on each connector, and what it takes back of the senders' own echo."""
    arcs, sizes = arcs_of(csr, front)
    connectors, senders = csr.indices[arcs].astype(np.int64), np.repeat(front, sizes)
    carried = np.repeat(sent, sizes) * through[connectors]
    heavy = carried > 0
    arcs, connectors, senders, carried = arcs[heavy], connectors[heavy], senders[heavy], carried[heavy]
    held, place = np.unique(connectors, return_inverse=True)
    sums: Mass = np.bincount(place, weights=carried, minlength=len(held)).astype(np.float64)
    echo: Mass = carried if csr.weights is None else (carried * csr.weights[arcs]).astype(np.float64)
    return [_flow(csr, held, sums), (senders, -echo)]


def _flow(
    csr: Csr, senders: NDArray[np.int64], sent: Mass, to: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], Mass]:
    """Return where each sender's links lead and what goes over each: what is sent times the weight."""
    arcs, sizes = arcs_of(csr, senders)
    reached, flow = csr.indices[arcs].astype(np.int64), np.repeat(sent, sizes)
    if csr.weights is not None:
        flow = flow * csr.weights[arcs]
    if to is None:
        return reached, flow
    return reached[to[reached]], flow[to[reached]]
