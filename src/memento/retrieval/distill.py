"""DISTILL: one number for each candidate out of all signals, and the few best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.retrieval.signals import SIGNALS, Evidence, order_largest, pick_leading
from memento.search.arrays import distinct
from memento.search.indexes import View
from memento.search.nodes import Ids
from memento.settings import SignalsSettings


def distill(
    evidence: Evidence, view: View, k: int, pool: int, settings: SignalsSettings, *, only: str | None = None
) -> tuple[list[Scored[int]], int]:
    """
    Return the `k` best memories, best first, scores 0..1, and how many were candidates.

    Args:
        pool: candidates that each channel brings in.
        only: the one signal that ranks, in place of their weighted sum.
    """
    if only:
        return _rank_by_one(only, evidence, view, k)
    nodes = candidates(evidence, view, pool)
    shares = weigh_signals(evidence, nodes, settings)
    total = np.sum([*shares.values()], axis=0) if nodes.size else np.zeros(0)
    order = order_largest(total, k)
    most = sum(asdict(settings).values()) or 1.0
    best = [
        Scored(int(nodes[place]), float(total[place]) / most, _find_strongest(shares, int(place)))
        for place in order.tolist()
    ]
    return best, len(nodes)


def _rank_by_one(name: str, evidence: Evidence, view: View, k: int) -> tuple[list[Scored[int]], int]:
    """Return the `k` best memories by one signal, and how many it has anything to say of."""
    signal = evidence.signals[name]
    nodes = np.flatnonzero(view.visible & (signal > 0))
    order = nodes[order_largest(signal[nodes], k)]
    most = float(signal[order[0]]) if order.size else 1.0
    return [Scored(int(node), float(signal[node]) / most, name) for node in order.tolist()], len(nodes)


def candidates(evidence: Evidence, view: View, pool: int) -> Ids:
    """
    Return the ids of the `pool` best visible memories by each channel, ascending; only positive values count.

    A scope of no more than `pool` memories is looked at whole.
    """
    if view.count <= pool:
        return np.flatnonzero(view.visible).astype(np.int32)
    among = evidence.pool.nodes if evidence.pool else None
    channels = [name for name in evidence.signals if SIGNALS[name].is_channel]
    return distinct(np.concatenate([_pick_best(evidence, name, view, pool, among) for name in channels]))


def weigh_signals(evidence: Evidence, nodes: Ids, settings: SignalsSettings) -> dict[str, NDArray[np.float32]]:
    """
    Return (len(nodes),) what each signal contributes to the score of some memories.

    A signal without an upper bound is divided by its best value among them.
    """
    weights = asdict(settings)
    shares = {}
    for name, signal in evidence.signals.items():
        values = signal[nodes]
        best = 1.0 if SIGNALS[name].is_bounded else max(float(values.max(initial=0.0)), 1e-9)
        shares[name] = np.asarray(values * (weights[name] / best), dtype=np.float32)
    return shares


def _pick_best(evidence: Evidence, name: str, view: View, count: int, among: Sequence[int] | Ids | None) -> Ids:
    """Return the `count` visible memories that a signal speaks for most, only positive values; among some, where given."""
    if among is None:
        return pick_leading(evidence.signals[name], view.visible, count)
    nodes = np.asarray(among, dtype=np.int32)
    values = evidence.signals[name][nodes]
    nodes, values = nodes[values > 0], values[values > 0]
    return nodes if len(nodes) <= count else nodes[np.argpartition(-values, count)[:count]]


def _find_strongest(shares: dict[str, NDArray[np.float32]], place: int) -> str:
    return max(shares, key=lambda name: float(shares[name][place]))
