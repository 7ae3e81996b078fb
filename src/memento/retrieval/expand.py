"""
EXPAND: from the best memories to what they mention, to what covers what they leave open, and as far as a walk gets.

*Flow:* `signals` has the functions; the laws by which a walk ranks are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.iris import MEM
from memento.model import Anchor
from memento.rank import push
from memento.retrieval.question import Question
from memento.retrieval.signals import Evidence, Law, Seeds, Signal, measure_signals, spread
from memento.search.indexes import View
from memento.search.links import Joined
from memento.search.neighbourhood import look_around
from memento.settings import ExpandSettings

_DAY_S = 86_400.0


def expand(question: Question, evidence: Evidence, settings: ExpandSettings, law: Law | None) -> Evidence:
    """
    Add what the best memories and the anchors lead to.

    Args:
        law: how a walk ranks, for the signal `walk`; None leaves the walk out.
    """
    assert evidence.seeds is not None
    sources = {**question.list_sources(), "seeds": evidence.seeds, "anchors": evidence.anchors, "walking": settings}
    return evidence.extend(measure_signals("expand", sources | ({"law": law} if law else {})), question.view)


def rank_by_pagerank(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """
    Return the personalised PageRank of the memories: a walk along who is about and mentions what, over successions, turns and
    associations, which often starts again.

    It starts at the anchors by their weights and at the seeds by the square of how good they are, and prefers rare neighbours. What
    is retired carries it on, but has no rank itself.

    Source: Gutiérrez, Shu, Gu, Yasunaga and Su 2025, "From RAG to Memory" (HippoRAG 2): entities and passages in the restart.
    """
    known = view.indexes.links.anchors
    numbers = {known.number(one.iri): one.weight for one in anchors}
    around = look_around(seeds[0], [*numbers], view, joined, settings)
    there = [(around.places[number], weight) for number, weight in numbers.items() if number in around.places]
    sources = np.concatenate([np.array([place for place, _ in there], dtype=np.int64), around.find(seeds[0])])
    mass = np.concatenate(
        [np.array([weight for _, weight in there]), settings.passages * seeds[1].astype(np.float64) ** 2]
    )
    if not sources.size or not mass.sum():
        return spread(seeds[0][:0], seeds[1][:0], view)
    places, start = np.unique(sources, return_inverse=True)
    nodes, ranks = push(
        around.csr,
        places,
        np.bincount(start.reshape(-1), weights=mass).astype(np.float64),
        settings.damping,
        settings.epsilon,
    )
    memories = nodes < len(around.memories)
    return _keep_visible(around.memories[nodes[memories]].astype(np.int64), ranks[memories], view)


def rank_by_activation(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """
    Return the rank of each memory that activation reaches from the anchors and the seeds, over names and over associations: mostly
    how active it is, and some of it how lately it was used and how important it is.

    *But:* who starts fully active and who is reached from several sides are equally active in the end, and nothing is ranked.

    Source: Collins and Loftus 1975, Psychological Review 82.
    """
    places, weights = _locate(anchors, view)
    nodes, active = rank.spread(
        view.matrix().rare,
        np.concatenate([places, seeds[0]]),
        settings.active * np.concatenate([weights, seeds[1].astype(np.float64) ** 2]),
        settings.steps,
        settings.decay,
        settings.threshold,
        beside=view.association_matrix(),
    )
    numbers, known = view.indexes.numbers, view.indexes.nodes
    used = numbers.column(MEM.lastAccessedAt, nodes)
    used = np.where(np.isnan(used), known.creation_times(nodes) / 1000.0, used)
    important = numbers.column(MEM.importance, nodes)
    important[np.isnan(important)] = rank.MIDDLING
    days = np.maximum(view.now.timestamp() - used, 0.0) / _DAY_S
    return _keep_visible(nodes, rank.score_activation(active, days, important), view)


def rank_by_hops(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """Return what each memory is given as a seed, and by those that share an anchor with it, the less the more memories do."""
    csr = view.matrix()
    degrees = np.diff(csr.indptr)
    memories = view.indexes.nodes.within(view.graphs, "memory")
    through = np.where(memories, 0.0, 1.0 / np.maximum(degrees, 1))
    nodes, gained, _ = rank.hops(csr, seeds[0], seeds[1].astype(np.float64), settings.hops, through)
    return _keep_visible(nodes, gained, view)


WALKS: Mapping[str, Law] = {"ppr": rank_by_pagerank, "spread": rank_by_activation, "hops": rank_by_hops}
"""The walks that can rank by themselves, by the name of the engine."""


def _locate(anchors: Sequence[Anchor], view: View) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ids of the anchors that are there, and their weights."""
    there = [(node, one.weight) for one in anchors if (node := view.indexes.nodes.find(one.iri)) is not None]
    return np.array([node for node, _ in there], dtype=np.int64), np.array([weight for _, weight in there])


def _keep_visible(nodes: NDArray[np.int64], values: NDArray[np.float64], view: View) -> Signal:
    """Return (ids,) the values of what may come back."""
    seen = view.visible[nodes]
    return spread(nodes[seen].astype(np.int32), values[seen].astype(np.float32), view)
