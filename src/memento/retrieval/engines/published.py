"""
Rank with the constants that others published, for comparison: the phases of the first design (`--profile seed`, or `half` without
the walk), and the plain searches of a tool server (`mode="vector"`, `"keyword"` or `"hybrid"`).

*Flow:* LAND fuses two searches, ANCHOR weighs entities, EXPAND walks from them, DISTILL fuses again and diversifies. A plain search
has one phase.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import log1p
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Scope, Scored
from memento.ports import Vectors
from memento.rank import adaptive_lambda, blend, fuse, minmax, mmr, ppr
from memento.retrieval.question import Question
from memento.retrieval.signals import order_largest, pick_leading, spread
from memento.search.arrays import distinct
from memento.search.indexes import View
from memento.search.words import bm25
from memento.settings import (
    MODES,
    AnchorSettings,
    DistillSettings,
    ExpandSettings,
    FusionSettings,
    LandSettings,
    Settings,
    WordsSettings,
)
from memento.telemetry import Stopwatch

AS_ASKED = frozenset(("published", *MODES))
"""Engines that read the question exactly as typed, and whose order is final."""

SEARCHED_WORDS = WordsSettings(k1=1.2, b=0.75)
"""The BM25 constants of a plain search, as published."""


def rank_by_search(mode: str, question: Question, k: int, settings: LandSettings) -> tuple[list[Scored[int]], int]:
    """
    Return the `k` best memories of one plain search, scores 0..1, and the number of memories it scored.

    `vector` is the cosine, `keyword` is BM25 divided by its largest value, `hybrid` is 0.7 of the first plus 0.3 of the second. If
    the question could not be embedded, only its words are searched. Above `settings.whole` memories, only the candidates of both
    searches are scored.
    """
    view = question.view
    found, values = bm25(question.text, view.indexes.words(view.graphs, "memory"), SEARCHED_WORDS.k1, SEARCHED_WORDS.b)
    words = np.where(view.visible, spread(found, values, view), np.float32(0.0))
    if mode == "keyword" or not question.vectors.any():
        nodes, label = np.flatnonzero(words).astype(np.int32), "fulltext"
        scores = blend(np.zeros(len(nodes)), words[nodes], 0.0)
    else:
        index, most = view.indexes.vectors["memory"], max(k, settings.candidates)
        if view.visible_count <= settings.whole:
            nodes = np.flatnonzero(view.visible).astype(np.int32)
            cosines = index.likeness(question.vectors, len(view.visible))[nodes]
        else:
            near, _ = index.search(question.vectors, most, view.visible)
            named = pick_leading(words, view.visible, most) if mode == "hybrid" else near[:0]
            nodes = distinct(np.concatenate([near, named]))
            cosines = index.cosines(nodes, question.vectors)
        cosines, label = np.maximum(cosines, np.float32(0.0)), "vector" if mode == "vector" else "multiple"
        scores = cosines.astype(np.float64) if mode == "vector" else blend(cosines, words[nodes])
    return [Scored(int(nodes[at]), float(scores[at]), label) for at in order_largest(scores, k).tolist()], len(nodes)


def rank_as_published(
    question: Question, k: int, graph: Store, scope: Scope, settings: Settings, watch: Stopwatch
) -> tuple[list[Scored[int]], int]:
    """Return the `k` memories that answer a question, in the order in which they were chosen, and the number of candidates."""
    vectors, view, run = question.vectors, question.view, watch.time_call
    seeds = run(land, question.text, vectors, view, settings.land, settings.fusion, settings.words)
    if settings.expand.iterations == 0:
        return run(distill, seeds, (), view, k, settings.distill, settings.fusion), len(seeds)
    anchors = run(anchor, seeds, vectors, view, graph, scope.readable, scope.user, settings.anchor)
    reached = run(expand, anchors, vectors, view, settings.land.candidates, settings.expand)
    return run(distill, seeds, reached, view, k, settings.distill, settings.fusion), len(seeds) + len(reached)


def land(
    question: str, vectors: Vectors, view: View, settings: LandSettings, fusion: FusionSettings, words: WordsSettings
) -> list[Scored[int]]:
    """
    Return the seeds: at most `candidates` memories, best first, scores 0..1.

    Args:
        vectors: (w, d) unit rows, the windows of the question.
    """
    by_meaning = view.nearest(vectors, settings.candidates, "vector")
    by_words = view.wordiest(question, settings.candidates, words, "fulltext")
    return fuse(by_meaning, by_words, fusion)[: settings.candidates]


def anchor(
    seeds: Sequence[Scored[int]],
    vectors: Vectors,
    view: View,
    graph: Store,
    readable: Sequence[IRI],
    user: IRI,
    settings: AnchorSettings,
) -> list[Scored[int]]:
    """
    Return the entities to walk from, heaviest first, with weights that sum to 1; empty when all weights are zero.

    Args:
        vectors: (w, d) unit rows, the windows of the question.
        user: becomes an anchor only if the settings say so.
    """
    if not seeds:
        return []
    rows = graph.select("retrieval/anchor", readable, memory=view.iris([seed.item for seed in seeds]))
    seeds_about: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        memory, entity = (view.indexes.nodes.find(cast(IRI, row[name])) for name in ("memory", "anchor"))
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
    semantic: Sequence[float], memory: Sequence[float], degree: Sequence[int], settings: AnchorSettings
) -> list[float]:
    """
    Return each entity's share of the walk, summing to 1; all zero when the sum is not positive.

    Args:
        semantic: (n,) cosine of the entity with the question.
        memory: (n,) mean cosine of the seeds about the entity.
        degree: (n,) number of memories about the entity in the whole graph; 0 counts as 1.

    >>> [round(w, 5) for w in weigh_entities([0.8, 0.4], [0.6, 0.5], [10, 3], AnchorSettings())]
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
    anchors: Sequence[Scored[int]], vectors: Vectors, view: View, limit: int, settings: ExpandSettings
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
    settings: DistillSettings,
    fusion: FusionSettings,
) -> list[Scored[int]]:
    """
    Return the final `k` memories, in the order in which they were chosen, scores 0..1: seeds and reached memories in one list.
    """
    fused = fuse(seeds, reached, fusion)
    if len(fused) <= k:
        return fused
    scores = np.array([one.score for one in fused])
    lam = adaptive_lambda(scores, settings.lambda_min, settings.lambda_max)
    rows = view.indexes.vectors["memory"].vectors([one.item for one in fused])
    return [fused[row] for row in mmr(scores, rows, k, lam)]
