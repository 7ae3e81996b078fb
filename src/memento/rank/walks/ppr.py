"""
Personalised PageRank: what a walker who restarts at the sources visits most.

`ppr` is the power iteration, exact and as slow as the graph is large; `push` finds nearly the same near nodes at a cost
that does not depend on the size of the graph.

But: a node without links passes nothing on. A source that has none keeps its (1 − damping), the rest of its mass is lost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memento.rank.walks.csr import Csr, Mass, arcs_of


def ppr(
    csr: Csr,
    restart: NDArray[np.floating],
    damping: float,
    iterations: int,
    tolerance: float = 1e-7,
    weighted: bool = False,
) -> Mass:
    """
    (n,) personalised PageRank by power iteration: `r = (1 − damping) · p + damping · Wᵀ r`.

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
    The nodes that mass reaches, ascending, and their ranks: those of weighted `ppr` in its limit, from below.

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
    waiting[front] = _scaled(mass)
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
    return _scaled(p)


def _scaled(mass: NDArray[np.floating]) -> Mass:
    """The same, summing to 1; nothing but zeros stays as it is."""
    total = float(np.sum(mass, dtype=np.float64))
    return np.asarray(mass, dtype=np.float64) / (total if total > 0 else 1.0)


def _reciprocal(strength: Mass) -> Mass:
    """1 / strength, and 0 for a node without links."""
    return np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
