"""
Rank by the phases of the first published design: LAND fuses two searches, ANCHOR weighs entities, EXPAND walks from them, DISTILL
fuses again and diversifies. Without steps of the walk, only LAND and DISTILL are left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log1p
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Scored
from memento.plugins.published.fusion import adaptive_lambda, fuse, minmax, mmr
from memento.plugins.published.settings import PublishedSettings
from memento.ports import Vectors
from memento.rank import ppr
from memento.retrieval.question import Query, Question
from memento.search.indexes import View
from memento.settings import Settings, WordsSettings
from memento.telemetry import Stopwatch


def rank_as_published(
    question: Question, k: int, query: Query, stores: Backends, settings: Settings, watch: Stopwatch
) -> tuple[list[Scored[int]], int]:
    """Return the `k` memories that answer a question, in the order in which they were chosen, and the number of candidates."""
    vectors, view, run, own = question.vectors, question.view, watch.time_call, settings.of(PublishedSettings)
    seeds = run(land, question.text, vectors, view, own, settings.words)
    if own.iterations == 0:
        return run(distill, seeds, (), view, k, own), len(seeds)
    scope = query.scope
    anchors = run(anchor, seeds, vectors, view, stores.graph, scope.readable, scope.user, own)
    reached = run(expand, anchors, vectors, view, own.candidates, own)
    return run(distill, seeds, reached, view, k, own), len(seeds) + len(reached)


def land(
    question: str, vectors: Vectors, view: View, settings: PublishedSettings, words: WordsSettings
) -> list[Scored[int]]:
    """
    Return the seeds: at most `candidates` memories, best first, scores 0..1.

    Args:
        vectors: (w, d) unit rows, the windows of the question.
    """
    by_meaning = view.nearest(vectors, settings.candidates, "vector")
    by_words = view.wordiest(question, settings.candidates, words, "fulltext")
    return fuse(by_meaning, by_words, settings)[: settings.candidates]


def anchor(
    seeds: Sequence[Scored[int]],
    vectors: Vectors,
    view: View,
    graph: Store,
    readable: Sequence[IRI],
    user: IRI,
    settings: PublishedSettings,
) -> list[Scored[int]]:
    """
    Return the entities to walk from, heaviest first, with weights that sum to 1; empty when all weights are zero.

    Args:
        vectors: (w, d) unit rows, the windows of the question.
        user: becomes an anchor only if the settings say so.
    """
    if not seeds:
        return []
    rows = graph.select("plugins/published/anchor", readable, memory=view.iris([seed.item for seed in seeds]))
    seeds_about: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        memory, entity = (view.indexes.nodes.find(row[name]) for name in ("memory", "anchor"))
        if memory is not None and entity is not None and (settings.user or row["anchor"] != user):
            seeds_about[entity].add(memory)
    entities = [entity for entity, about in seeds_about.items() if len(about) >= settings.min_memories]
    if not entities:
        return []
    likeness = dict(
        zip((s.item for s in seeds), _cosines(view, "memory", [s.item for s in seeds], vectors), strict=True)
    )
    weights = weigh_entities(
        semantic=_cosines(view, "anchor", entities, vectors),
        memory=[sum(likeness[m] for m in seeds_about[entity]) / len(seeds_about[entity]) for entity in entities],
        degree=[view.indexes.adjacency.degree(entity) for entity in entities],
        settings=settings,
    )
    found = [Scored(e, w, "anchor") for e, w in zip(entities, weights, strict=True) if w > 0]
    return sorted(found, key=lambda one: -one.score)


def weigh_entities(
    semantic: Sequence[float], memory: Sequence[float], degree: Sequence[int], settings: PublishedSettings
) -> list[float]:
    """
    Return each entity's share of the walk, summing to 1; all zero when the sum is not positive.

    Args:
        semantic: (n,) cosine of the entity with the question.
        memory: (n,) mean cosine of the seeds about the entity.
        degree: (n,) number of memories about the entity in the whole graph; 0 counts as 1.

    >>> [round(w, 5) for w in weigh_entities([0.8, 0.4], [0.6, 0.5], [10, 3], PublishedSettings())]
    [0.62619, 0.37381]
    """
    most = max(1, *degree)
    raw = [
        settings.semantic * s + settings.memory * m + settings.structural * log1p(d or 1) / log1p(most)
        for s, m, d in zip(semantic, memory, degree, strict=True)
    ]
    total = sum(raw)
    return [weight / total for weight in raw] if total > 0 else [0.0] * len(raw)


def _cosines(view: View, kind: str, nodes: Sequence[int], vectors: Vectors) -> list[float]:
    found = view.indexes.vectors["memory" if kind == "memory" else "anchor"].cosines(nodes, vectors)
    return cast(list[float], np.asarray(found, dtype=np.float64).tolist())


def expand(
    anchors: Sequence[Scored[int]], vectors: Vectors, view: View, limit: int, settings: PublishedSettings
) -> list[Scored[int]]:
    """
    Return at most `limit` memories that the walk reaches, best first; empty without anchors.

    The score mixes the walk with the similarity to the question: `α · rank + (1 − α) · cosine`.

    Args:
        vectors: (w, d) unit rows, the windows of the question.
    """
    if not anchors:
        return []
    restart = np.zeros(view.indexes.nodes.size)
    restart[[one.item for one in anchors]] = [one.score for one in anchors]
    ranks = ppr(view.matrix(), restart, settings.damping, settings.iterations, weighted=settings.weighted)
    ranks[~view.visible] = 0.0
    reached = np.argsort(-ranks, kind="stable")[:limit]
    reached = reached[ranks[reached] > 0]
    nodes: list[int] = reached.tolist()
    structure = _scale(ranks[reached], settings.normalise)
    likeness = view.indexes.vectors["memory"].cosines(nodes, vectors)
    mixed = settings.structural_weight * structure + (1 - settings.structural_weight) * likeness
    found = [Scored(node, score, "sem-ppr") for node, score in zip(nodes, mixed.tolist(), strict=True)]
    return sorted(found, key=lambda one: -one.score)


def _scale(ranks: NDArray[np.float64], how: str) -> NDArray[np.float64]:
    if how == "max" and ranks.size:
        return np.asarray(ranks / ranks.max())
    return np.asarray(minmax(ranks)) if how == "minmax" else ranks


def distill(
    seeds: Sequence[Scored[int]],
    reached: Sequence[Scored[int]],
    view: View,
    k: int,
    settings: PublishedSettings,
) -> list[Scored[int]]:
    """
    Return the final `k` memories, in the order in which they were chosen, scores 0..1: seeds and reached memories in one list.
    """
    fused = fuse(seeds, reached, settings)
    if len(fused) <= k:
        return fused
    scores = np.array([one.score for one in fused])
    lam = adaptive_lambda(scores, settings.lambda_min, settings.lambda_max)
    rows = view.indexes.vectors["memory"].vectors([one.item for one in fused])
    return [fused[row] for row in mmr(scores, rows, k, lam)]
