"""DISTILL: one number for each candidate out of all signals, and the few best."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.retrieval.land import Evidence
from memento.search.view import View
from memento.settings import SignalsSettings

Ids = NDArray[np.int32]

# These are in 0..1 as they are; the others have no upper bound and are divided by their best among the candidates.
ABSOLUTE = frozenset({"session", "speaker", "own", "slot", "when", "form", "subject"})
CHANNELS = ("meaning", "window", "words", "subject", "link", "shared", "tie", "slot", "walk")


def distill(evidence: Evidence, view: View, k: int, pool: int, knobs: SignalsSettings) -> tuple[list[Scored[int]], int]:
    """
    The `k` best memories, best first, scores 0..1, and how many were candidates.

    Args:
        pool: candidates that each channel brings in.
    """
    nodes = candidates(evidence, view, pool)
    shares = weighed(evidence, nodes, knobs)
    total = np.sum([*shares.values()], axis=0) if nodes.size else np.zeros(0)
    order = np.argsort(-total, kind="stable")[:k]
    most = sum(asdict(knobs).values()) or 1.0
    found = [
        Scored(int(nodes[place]), float(total[place]) / most, _strongest(shares, int(place)))
        for place in order.tolist()
    ]
    return found, len(nodes)


def best(name: str, evidence: Evidence, view: View, k: int) -> tuple[list[Scored[int]], int]:
    """The `k` best memories by one signal alone, best first, scores 0..1, and how many it has anything to say of."""
    signal = evidence.found[name]
    found = np.flatnonzero(view.visible & (signal > 0))
    order = found[np.argsort(-signal[found], kind="stable")[:k]]
    most = float(signal[order[0]]) if order.size else 1.0
    return [Scored(int(node), float(signal[node]) / most, name) for node in order.tolist()], len(found)


def candidates(evidence: Evidence, view: View, pool: int) -> Ids:
    """
    The ids of the `pool` best visible memories by each channel, ascending; only positive values count.

    A scope of no more than `pool` memories is looked at whole.
    """
    everyone = np.flatnonzero(view.visible).astype(np.int32)
    if len(everyone) <= pool:
        return everyone
    return np.unique(
        np.concatenate([_best(evidence.found[name], view, pool) for name in CHANNELS if name in evidence.found])
    )


def weighed(evidence: Evidence, nodes: Ids, knobs: SignalsSettings) -> dict[str, NDArray[np.float32]]:
    """(len(nodes),) what each signal contributes to the score of some memories."""
    weights = asdict(knobs)
    shares = {}
    for name, signal in evidence.found.items():
        values = signal[nodes]
        best = 1.0 if name in ABSOLUTE else max(float(values.max(initial=0.0)), 1e-9)
        shares[name] = np.asarray(values * (weights[name] / best), dtype=np.float32)
    return shares


def _best(signal: NDArray[np.float32], view: View, pool: int) -> Ids:
    found = np.flatnonzero(view.visible & (signal > 0)).astype(np.int32)
    return found if len(found) <= pool else found[np.argpartition(-signal[found], pool)[:pool]]


def _strongest(shares: dict[str, NDArray[np.float32]], place: int) -> str:
    return max(shares, key=lambda name: float(shares[name][place]))
