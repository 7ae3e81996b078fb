"""DISTILL: one number for each candidate out of all signals, and the few best."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.retrieval.land import CHANNELS, Evidence, best
from memento.retrieval.signals import largest
from memento.search.arrays import distinct
from memento.search.view import View
from memento.settings import SignalsSettings

Ids = NDArray[np.int32]

# These are in 0..1 as they are; the others have no upper bound and are divided by their best among the candidates.
ABSOLUTE = frozenset({"session", "speaker", "own", "slot", "when", "form", "subject", "inferred"})


def distill(evidence: Evidence, view: View, k: int, pool: int, knobs: SignalsSettings) -> tuple[list[Scored[int]], int]:
    """
    The `k` best memories, best first, scores 0..1, and how many were candidates.

    Args:
        pool: candidates that each channel brings in.
    """
    nodes = candidates(evidence, view, pool)
    shares = weighed(evidence, nodes, knobs)
    total = np.sum([*shares.values()], axis=0) if nodes.size else np.zeros(0)
    order = largest(total, k)
    most = sum(asdict(knobs).values()) or 1.0
    found = [
        Scored(int(nodes[place]), float(total[place]) / most, _strongest(shares, int(place)))
        for place in order.tolist()
    ]
    return found, len(nodes)


def alone(name: str, evidence: Evidence, view: View, k: int) -> tuple[list[Scored[int]], int]:
    """The `k` best memories by one signal alone, best first, scores 0..1, and how many it has anything to say of."""
    signal = evidence.found[name]
    found = np.flatnonzero(view.visible & (signal > 0))
    order = found[largest(signal[found], k)]
    most = float(signal[order[0]]) if order.size else 1.0
    return [Scored(int(node), float(signal[node]) / most, name) for node in order.tolist()], len(found)


def candidates(evidence: Evidence, view: View, pool: int) -> Ids:
    """
    The ids of the `pool` best visible memories by each channel, ascending; only positive values count.

    A scope of no more than `pool` memories is looked at whole.
    """
    if view.count <= pool:
        return np.flatnonzero(view.visible).astype(np.int32)
    among = evidence.pool.nodes if evidence.pool else None
    names = [name for name in CHANNELS if name in evidence.found]
    return distinct(np.concatenate([best(evidence, name, view, pool, among) for name in names]))


def weighed(evidence: Evidence, nodes: Ids, knobs: SignalsSettings) -> dict[str, NDArray[np.float32]]:
    """(len(nodes),) what each signal contributes to the score of some memories."""
    weights = asdict(knobs)
    shares = {}
    for name, signal in evidence.found.items():
        values = signal[nodes]
        best = 1.0 if name in ABSOLUTE else max(float(values.max(initial=0.0)), 1e-9)
        shares[name] = np.asarray(values * (weights[name] / best), dtype=np.float32)
    return shares


def _strongest(shares: dict[str, NDArray[np.float32]], place: int) -> str:
    return max(shares, key=lambda name: float(shares[name][place]))
