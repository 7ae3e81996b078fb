"""
Recall by activation: find the memories that contain a text, and those tied to them, ranked by activation, recency and importance.

*But:* it matches letters, not meaning; for meaning use the rest of `retrieval`.

Source: SPARQL for the seeds, spreading activation over names and associations (Crestani 1997), `laws.score_activation`.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np

from memento import rank
from memento.backends import Backends
from memento.errors import InputError
from memento.iris import IRI, MEM
from memento.model import Scope, Used
from memento.plugins.living.nouns import Item
from memento.rank import spread
from memento.search.indexes import View
from memento.search.shared import link_shared
from memento.strength import Reinforcement, importances

STEPS, DECAY, THRESHOLD = 3, 0.85, 0.1
MOST = 100


def recall_by_activation(
    text: str, limit: int, scope: Scope, now: datetime, parts: Backends, use: Reinforcement
) -> tuple[Item, ...]:
    """
    Return the memories that a text activates, best first, each with the effect of a use. Return None when no memory and no tag
    contains the text.

    Args:
        text: the text to search for in current memories and their tags, ignoring case.
        limit: 1 to 100.

    Raises:
        InputError: limit out of range.
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"limit must be from 1 to {MOST}, not {limit}")
    rows = parts.graph.select("plugins/living/containing", scope.memory_graphs, text=text)
    indexes = parts.indexes
    with indexes.lock:
        found = indexes.find_all([IRI(str(row["memory"])) for row in rows], scope.memory_graphs, steps=STEPS).values()
        view = View.at(indexes, scope.memory_graphs, now, None, None)
        seeds = np.array([node for node in found if view.visible[node]], dtype=np.int64)
        if not len(seeds):
            return ()
        rare, beside = view.matrix().rare, [view.association_matrix(), link_shared(view, seeds.astype(np.int32), STEPS)]
        nodes, active = spread(rare, seeds, np.ones(len(seeds)), STEPS, DECAY, THRESHOLD, beside=beside)
        there = nodes < len(view.visible)
        there[there] = view.visible[nodes[there]]
        nodes, active = nodes[there].astype(np.int32), active[there]
        scores = _score_nodes(nodes, active, now, parts)
        best = np.lexsort((nodes, -scores))[:limit]
        chosen = [
            (
                indexes.nodes.iri(int(nodes[at])),
                indexes.nodes.graph(int(nodes[at])),
                float(active[at]),
                float(scores[at]),
            )
            for at in best
        ]
    use.note_effects(*(Used(memory=iri, graph=graph, at=now) for iri, graph, _, _ in chosen))
    items = read_items([iri for iri, *_ in chosen], scope, parts)
    return tuple(
        Item(
            iri=iri,
            content=items[iri].content,
            type=items[iri].type,
            tags=items[iri].tags,
            valid_at=items[iri].valid_at,
            created_at=items[iri].created_at,
            activation=round(activation, 9),
            score=round(score, 9),
        )
        for iri, _, activation, score in chosen
        if iri in items
    )


def read_items(iris: list[IRI], scope: Scope, parts: Backends) -> dict[IRI, Item]:
    """Read the contents, types and tags of some memories."""
    found: dict[IRI, Item] = {}
    for row in parts.graph.select("plugins/living/recollected", scope.readable, memory=iris) if iris else ():
        iri = IRI(str(row["memory"]))
        tags = found[iri].tags if iri in found else ()
        if "tag" in row and str(row["tag"]) not in tags:
            tags = (*tags, str(row["tag"]))
        created, valid = row["createdAt"], row["validAt"]
        assert isinstance(created, datetime) and isinstance(valid, datetime)
        found[iri] = Item(
            iri=iri,
            content=str(row["content"]),
            type=str(row["type"]) if "type" in row else None,
            tags=tags,
            created_at=created,
            valid_at=valid,
        )
    return found


def _score_nodes(nodes: np.ndarray, active: np.ndarray, now: datetime, parts: Backends) -> np.ndarray:
    """Score active memories, (n,) in 0..1. Call under `indexes.lock`."""
    since = np.fmax(
        parts.indexes.nodes.creation_times(nodes) / 1000.0, parts.indexes.numbers.column(MEM.lastAccessedAt, nodes)
    )
    days = np.maximum(now.timestamp() - since, 0.0) / 86_400
    important = importances(nodes, parts)
    ranked = zip(active.tolist(), days.tolist(), important.tolist(), strict=True)
    return np.array([rank.score_activation(*one) for one in ranked])
