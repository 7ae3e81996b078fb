"""The five phases in a row."""

from __future__ import annotations

from datetime import datetime

from memento.backends import Backends
from memento.instants import now
from memento.model import Recollection, Scope, Scored
from memento.ports import Vectors
from memento.retrieval import published
from memento.retrieval.anchor import anchor
from memento.retrieval.distill import distill
from memento.retrieval.expand import expand
from memento.retrieval.land import land
from memento.retrieval.question import without
from memento.retrieval.trace import trace
from memento.search.links import Joined
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
    indexes, as_published = parts.indexes, settings.land.engine == "published"
    with indexes.lock:
        view = View.at(indexes, scope.memory_graphs, now(), as_of, believed_at)
        stripped = question if as_published else without(question, view.participants())
    with watch.phase("embed"):
        asked = parts.embedder.embed(parts.embedder.windows(stripped))
    with indexes.lock:
        view = View.at(indexes, scope.memory_graphs, now(), as_of, believed_at)
        if as_published:
            chosen, considered = published.chosen(question, asked, view, k, parts.graph, scope, settings, watch)
        else:
            chosen, considered = _chosen(question, stripped, asked, view, k, settings, watch)
        named = [Scored(indexes.nodes.iri(one.item), one.score, one.source) for one in chosen]
    with watch.phase("trace"):
        memories, entities = trace(named, parts.graph, scope.readable, scope.user, believed_at)
    return Recollection(
        query=question,
        namespace=scope.namespace,
        memories=memories,
        entities=entities,
        total_candidates=considered,
        timings_ms={**watch.ms, "total": round(sum(watch.ms.values()), 3)},
    )


def _chosen(
    question: str, stripped: str, asked: Vectors, view: View, k: int, settings: Settings, watch: Stopwatch
) -> tuple[list[Scored[int]], int]:
    joined = Joined(view.links())
    with watch.phase("land"):
        evidence = land(question, stripped, asked, view, settings.words)
    with watch.phase("anchor"):
        evidence = anchor(question, evidence, joined, view)
    with watch.phase("expand"):
        evidence = expand(question, evidence, joined, view, settings.expand)
    with watch.phase("distill"):
        return distill(evidence, view, k, settings.land.pool, settings.signals)
