"""ANCHOR: the entities that the seeds are about, weighed by likeness to the question and by place in the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log1p
from typing import cast

import numpy as np

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Scored
from memento.ports import Vectors
from memento.search.view import View
from memento.settings import AnchorSettings


def anchor(
    seeds: Sequence[Scored[int]],
    asked: Vectors,
    view: View,
    graph: Store,
    readable: Sequence[IRI],
    user: IRI,
    knobs: AnchorSettings,
) -> list[Scored[int]]:
    """
    The entities to walk from, weights summing to 1, heaviest first; empty when none weighs anything.

    Args:
        asked: (w, d) unit rows, the question's windows.
        user: never an anchor unless the settings say so.
    """
    if not seeds:
        return []
    rows = graph.select("retrieval/anchor", readable, memory=view.iris([seed.item for seed in seeds]))
    seeds_about: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        memory, entity = (view.indexes.nodes.find(cast(IRI, row[name])) for name in ("memory", "anchor"))
        if memory is not None and entity is not None and (knobs.user or row["anchor"] != user):
            seeds_about[entity].add(memory)
    entities = [entity for entity, about in seeds_about.items() if len(about) >= knobs.min_memories]
    if not entities:
        return []
    likeness = dict(zip((s.item for s in seeds), _cosines(view, "memory", [s.item for s in seeds], asked), strict=True))
    weights = weigh(
        semantic=_cosines(view, "anchor", entities, asked),
        memory=[sum(likeness[m] for m in seeds_about[entity]) / len(seeds_about[entity]) for entity in entities],
        degree=[view.indexes.adjacency.degree(entity) for entity in entities],
        knobs=knobs,
    )
    found = [Scored(e, w, "anchor") for e, w in zip(entities, weights, strict=True) if w > 0]
    return sorted(found, key=lambda one: -one.score)


def weigh(
    semantic: Sequence[float], memory: Sequence[float], degree: Sequence[int], knobs: AnchorSettings
) -> list[float]:
    """
    Each entity's share of the walk, summing to 1; all zero when the sum is not positive.

    Args:
        semantic: (n,) cosine of the entity to the question.
        memory: (n,) mean cosine of the seeds about it.
        degree: (n,) memories about it in the whole graph; 0 counts as 1.

    >>> [round(w, 5) for w in weigh([0.8, 0.4], [0.6, 0.5], [10, 3], AnchorSettings())]
    [0.62619, 0.37381]
    """
    most = max(1, *degree)
    raw = [
        knobs.semantic * s + knobs.memory * m + knobs.structural * log1p(d or 1) / log1p(most)
        for s, m, d in zip(semantic, memory, degree, strict=True)
    ]
    total = sum(raw)
    return [weight / total for weight in raw] if total > 0 else [0.0] * len(raw)


def _cosines(view: View, kind: str, nodes: Sequence[int], asked: Vectors) -> list[float]:
    found = view.indexes.vectors["memory" if kind == "memory" else "anchor"].cosines(nodes, asked)
    return cast(list[float], np.asarray(found, dtype=np.float64).tolist())
