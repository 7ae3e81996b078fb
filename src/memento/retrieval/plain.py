"""
Rank by one plain search in place of the signals: by meaning, by words, or by both, as a tool server does (`mode="vector"`,
`"keyword"` or `"hybrid"`). Plug-ins add further engines that read the question as it is typed and whose order is final.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from memento.model import Scored
from memento.rank import blend
from memento.retrieval.question import Question
from memento.retrieval.signals import order_largest, pick_leading, spread
from memento.search.arrays import distinct
from memento.search.words import bm25
from memento.settings import LandSettings, WordsSettings

if TYPE_CHECKING:
    from memento.backends import Backends
    from memento.retrieval.question import Query
    from memento.settings import Settings
    from memento.telemetry import Stopwatch

RankMemories: TypeAlias = (
    "Callable[[Question, int, Query, Backends, Settings, Stopwatch], tuple[list[Scored[int]], int]]"
)
"""
Returns the `k` memories that answer a question, best first, and how many were considered; the stopwatch times its phases. It is
called under `indexes.lock`.
"""

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
