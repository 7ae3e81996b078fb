"""Activation that spreads: `spread` adds up and saturates, `hops` pays for each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memento.rank.walks.csr import Csr, Mass, arcs_of


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
    The nodes that activation reaches, ascending, and how active each is, 0..1.

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
    The nodes that are reached within so many hops, ascending, what each hop brought them in all, and at which hop they came in.

    A hop leads to a neighbour, or through a connector to all others that hang on it. It brings `score · decay · weight`, over
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
    """What reaches the others on each connector, and what it takes back of the senders' own echo."""
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
    """Where each sender's links lead and what goes over each: what is sent times the weight."""
    arcs, sizes = arcs_of(csr, senders)
    reached, flow = csr.indices[arcs].astype(np.int64), np.repeat(sent, sizes)
    if csr.weights is not None:
        flow = flow * csr.weights[arcs]
    if to is None:
        return reached, flow
    return reached[to[reached]], flow[to[reached]]
