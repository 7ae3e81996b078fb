"""EXPAND: from the best memories to what they mention, to what covers what they leave open, and as far as a walk gets."""

from __future__ import annotations

import numpy as np

from memento.rank.walks import push
from memento.retrieval.anchor import Anchored
from memento.retrieval.land import Evidence
from memento.retrieval.signals import Signal, spread
from memento.search.links import Joined, link_signal, shared_signal, tie_signal
from memento.search.view import View
from memento.settings import ExpandSettings


def expand(
    question: str, anchored: Anchored, joined: Joined, view: View, knobs: ExpandSettings, *, walks: bool = False
) -> Evidence:
    """
    The evidence with `link`, `shared` and `tie`.

    Args:
        walks: also `walk`, the rank of each memory on a walk from the anchors.
    """
    postings = [passages.context for passages in view.passages()]
    evidence = anchored.evidence.with_(
        link=spread(*link_signal(anchored.seeds, joined, view.visible), view),
        shared=spread(*shared_signal(anchored.seeds, question, joined, postings, view.visible), view),
        tie=spread(*tie_signal(anchored.seeds, joined, view.visible), view),
    )
    return evidence.with_(walk=walk(anchored, view, knobs)) if walks else evidence


def walk(anchored: Anchored, view: View, knobs: ExpandSettings) -> Signal:
    """
    Personalised PageRank of the memories: a walk along who is about what, which often starts again.

    It starts at the anchors by their weights and at the seeds by the square of how good they are, and prefers rare neighbours. What
    is retired carries it on, but has no rank of its own.

    Source: Gutiérrez, Shu, Gu, Yasunaga and Su 2025, "From RAG to Memory" (HippoRAG 2): entities and passages in the restart.
    """
    seeds, goods = anchored.seeds
    sources = [node for one in anchored.anchors if (node := view.indexes.nodes.find(one.iri)) is not None]
    weights = [one.weight for one in anchored.anchors if view.indexes.nodes.find(one.iri) is not None]
    nodes, ranks = push(
        view.matrix().rare,
        np.concatenate([np.array(sources, dtype=np.int64), seeds]),
        np.concatenate([np.array(weights), knobs.passages * goods.astype(np.float64) ** 2]),
        knobs.damping,
        knobs.epsilon,
    )
    seen = view.visible[nodes]
    return spread(nodes[seen].astype(np.int32), ranks[seen].astype(np.float32), view)
