"""EXPAND: from the best memories to what they mention, to what covers what they leave open, and as far as a walk gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memento.iris import MEM
from memento.rank import laws, walks
from memento.rank.walks import push
from memento.retrieval.anchor import Anchored
from memento.retrieval.land import Evidence
from memento.retrieval.signals import Signal, spread
from memento.search.links import Joined, link_signal, shared_signal, tie_signal
from memento.search.view import View
from memento.settings import ExpandSettings

_DAY_S = 86_400.0

Walk: TypeAlias = Callable[[Anchored, View, ExpandSettings], Signal]


def expand(
    question: str, anchored: Anchored, joined: Joined, view: View, knobs: ExpandSettings, *, walk: Walk | None = None
) -> Evidence:
    """
    The evidence with `link`, `shared` and `tie`.

    Args:
        walk: also `walk`, the rank of each memory on a walk from the anchors by that law.
    """
    postings = [passages.context for passages in view.passages()]
    evidence = anchored.evidence.with_(
        link=spread(*link_signal(anchored.seeds, joined, view.visible), view),
        shared=spread(*shared_signal(anchored.seeds, question, joined, postings, view.visible), view),
        tie=spread(*tie_signal(anchored.seeds, joined, view.visible), view),
    )
    return evidence.with_(walk=walk(anchored, view, knobs)) if walk else evidence


def by_rank(anchored: Anchored, view: View, knobs: ExpandSettings) -> Signal:
    """
    Personalised PageRank of the memories: a walk along who is about what, which often starts again.

    It starts at the anchors by their weights and at the seeds by the square of how good they are, and prefers rare neighbours. What
    is retired carries it on, but has no rank of its own.

    Source: Gutiérrez, Shu, Gu, Yasunaga and Su 2025, "From RAG to Memory" (HippoRAG 2): entities and passages in the restart.
    """
    anchors, weights = _anchors(anchored, view)
    seeds, goods = anchored.seeds
    nodes, ranks = push(
        view.matrix().rare,
        np.concatenate([anchors, seeds]),
        np.concatenate([weights, knobs.passages * goods.astype(np.float64) ** 2]),
        knobs.damping,
        knobs.epsilon,
    )
    return _seen(nodes, ranks, view)


def by_activation(anchored: Anchored, view: View, knobs: ExpandSettings) -> Signal:
    """
    The rank of each memory that activation reaches from the anchors and the seeds, over names and over associations: mostly how
    active it is, and some of it how lately it was used and how important it is.

    *But:* who starts fully active and who is reached from several sides are equally active in the end, and nothing is ranked.

    Source: Collins and Loftus 1975, Psychological Review 82.
    """
    anchors, weights = _anchors(anchored, view)
    seeds, goods = anchored.seeds
    nodes, active = walks.spread(
        view.matrix().rare,
        np.concatenate([anchors, seeds]),
        knobs.active * np.concatenate([weights, goods.astype(np.float64) ** 2]),
        knobs.steps,
        knobs.decay,
        knobs.threshold,
        beside=view.associated(),
    )
    numbers, kept = view.indexes.numbers, view.indexes.nodes
    used = numbers.column(MEM.lastAccessedAt, nodes)
    used = np.where(np.isnan(used), kept.created(nodes) / 1000.0, used)
    important = numbers.column(MEM.importance, nodes)
    important[np.isnan(important)] = laws.MIDDLING
    days = np.maximum(view.now.timestamp() - used, 0.0) / _DAY_S
    return _seen(nodes, laws.score_activation(active, days, important), view)


def by_hops(anchored: Anchored, view: View, knobs: ExpandSettings) -> Signal:
    """What each memory is given as a seed, and by those that share an anchor with it, the less the more hangs on that."""
    csr, seeds = view.matrix(), anchored.seeds
    links = np.diff(csr.indptr)
    memories = view.indexes.nodes.within(view.graphs, "memory")
    through = np.where(memories, 0.0, 1.0 / np.maximum(links, 1))
    nodes, gained, _ = walks.hops(csr, seeds[0], seeds[1].astype(np.float64), knobs.hops, through)
    return _seen(nodes, gained, view)


WALKS: Mapping[str, Walk] = {"ppr": by_rank, "spread": by_activation, "hops": by_hops}
"""The walks that can rank by themselves, by the name of the engine."""


def _anchors(anchored: Anchored, view: View) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    found = [(node, one.weight) for one in anchored.anchors if (node := view.indexes.nodes.find(one.iri)) is not None]
    return np.array([node for node, _ in found], dtype=np.int64), np.array([weight for _, weight in found])


def _seen(nodes: NDArray[np.int64], values: NDArray[np.float64], view: View) -> Signal:
    """What of it may come back."""
    seen = view.visible[nodes]
    return spread(nodes[seen].astype(np.int32), values[seen].astype(np.float32), view)
