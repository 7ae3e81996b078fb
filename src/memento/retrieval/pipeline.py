"""The five phases in a row."""

from __future__ import annotations

from datetime import datetime

from memento.backends import Backends
from memento.instants import now
from memento.model import Recollection, Scope, Scored
from memento.retrieval.anchor import anchor
from memento.retrieval.distill import distill
from memento.retrieval.expand import expand
from memento.retrieval.land import land
from memento.retrieval.trace import trace
from memento.search.view import View
from memento.settings import Settings
from memento.telemetry import Stopwatch


def recall(
    question: str,
    scope: Scope,
    *,
    k: int,
    as_of: datetime | None,
    believed_at: datetime | None,
    parts: Backends,
    settings: Settings,
) -> Recollection:
    """
    At most `k` memories that answer a question, best first.

    Raises:
        BackendError: store or embedder failed.
    """
    watch = Stopwatch("recall")
    graph, readable, indexes, limit = parts.graph, scope.readable, parts.indexes, settings.land.candidates
    with watch.phase("embed"):
        asked = parts.embedder.embed(parts.embedder.windows(question))
    with indexes.lock:
        view = View.at(indexes, scope.memory_graphs, now(), as_of, believed_at)
        with watch.phase("land"):
            seeds = land(question, asked, view, settings.land, settings.fusion, settings.words)
        with watch.phase("anchor"):
            anchors = anchor(seeds, asked, view, graph, readable, scope.user, settings.anchor)
        with watch.phase("expand"):
            reached = expand(anchors, asked, view, limit, settings.expand)
        with watch.phase("distill"):
            chosen = distill(seeds, reached, view, k, settings.distill, settings.fusion)
        named = [Scored(indexes.nodes.iri(one.item), one.score, one.source) for one in chosen]
    with watch.phase("trace"):
        memories, entities = trace(named, graph, readable, scope.user, believed_at)
    return Recollection(
        query=question,
        namespace=scope.namespace,
        memories=memories,
        entities=entities,
        total_candidates=len(seeds) + len(reached),
        timings_ms={**watch.ms, "total": round(sum(watch.ms.values()), 3)},
    )
