"""The five phases in a row, a gate behind DISTILL, and the reasons where they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memento.backends import Backends
from memento.graph.inference.kin import Kin
from memento.iris import IRI
from memento.model import Anchor, Recollection, Scope, Scored
from memento.ports import Vectors
from memento.retrieval import explain, gate, published, signals, timely
from memento.retrieval.anchor import Seeds, anchor
from memento.retrieval.distill import alone, distill
from memento.retrieval.expand import WALKS, expand
from memento.retrieval.inferred import inferred_signal
from memento.retrieval.land import Evidence, land
from memento.retrieval.question import without
from memento.retrieval.spelling import mended
from memento.retrieval.trace import trace
from memento.search.links import Joined
from memento.search.view import View
from memento.settings import Settings
from memento.telemetry import Stopwatch


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: who asks it of which graphs, about when, and how much is to come back."""

    question: str
    scope: Scope
    k: int
    as_of: datetime | None = None
    believed_at: datetime | None = None
    explained: bool = False

    def view(self, parts: Backends, at: datetime) -> View:
        """What may come back; where the question names a past date, what held then too."""
        view = View.at(parts.indexes, self.scope.memory_graphs, at, self.as_of, self.believed_at)
        then = timely.asked_time(self.question, at) if self.as_of is None else None
        if then is not None:
            held = View.at(parts.indexes, self.scope.memory_graphs, at, then, self.believed_at)
            view = replace(view, visible=view.visible | held.visible)
        elif self.as_of is None and timely.looks_back(self.question):
            told = parts.indexes.nodes.told(self.scope.memory_graphs, now=at, believed_at=self.believed_at)
            view = replace(view, visible=told)
        return view


@dataclass(frozen=True, slots=True)
class Heard:
    """
    A question as the phases take it: without the participants' names and as vectors too, and what may come back. `kin` is what is
    related to what, where recall infers.
    """

    question: str
    stripped: str
    vectors: Vectors
    view: View
    kin: Kin | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What came out of DISTILL, best first, out of how many; and what it was found by, except as published."""

    chosen: list[Scored[int]]
    considered: int
    evidence: Evidence | None = None
    joined: Joined | None = None
    seeds: Seeds | None = None
    anchors: tuple[Anchor, ...] = ()


def recall(asked: Asked, parts: Backends, settings: Settings) -> Recollection:
    """
    At most `k` memories that answer a question, best first; none when none is relevant.

    Raises:
        BackendError: store or embedder failed.
    """
    watch, scope, indexes = Stopwatch("recall"), asked.scope, parts.indexes
    question, stripped, vectors = _embedded(asked, parts, settings, watch)
    kin = _kin(scope, parts, settings)
    with indexes.lock:
        moment = parts.clock()
        heard = Heard(question, stripped, vectors, asked.view(parts, moment), kin)
        found, is_closed = _chosen(heard, asked, parts, settings, watch)
        when = asked.as_of or timely.asked_time(asked.question, moment) or moment
        chosen = [] if is_closed else _in_time(found.chosen, when, asked, parts, settings)
        named = _named(chosen, parts)
        reasons = _reasons(chosen, heard, found, settings) if asked.explained else {}
    with watch.phase("trace"):
        memories, entities = trace(named, parts.graph, scope.readable, scope.user, asked.believed_at)
    memories = tuple(reasons[one.iri].of(one) if reasons else one for one in memories)
    return Recollection(
        query=asked.question,
        namespace=scope.namespace,
        memories=memories,
        entities=entities,
        total_candidates=found.considered,
        timings_ms={**watch.ms, "total": round(sum(watch.ms.values()), 3)},
        gated=is_closed and bool(found.chosen),
        anchors=found.anchors if asked.explained and not is_closed else (),
        sparql=explain.sparql(memories, moment, asked.as_of, asked.believed_at) if asked.explained else None,
        degraded=parts.degraded.brief if parts.degraded else None,
    )


def ranked(asked: Asked, parts: Backends, settings: Settings) -> list[Scored[IRI]]:
    """The memories that `recall` brings back, with their scores in 0..1 and nothing else about them."""
    watch = Stopwatch("ranked")
    question, stripped, vectors = _embedded(asked, parts, settings, watch)
    kin = _kin(asked.scope, parts, settings)
    with parts.indexes.lock:
        heard = Heard(question, stripped, vectors, asked.view(parts, parts.clock()), kin)
        found, is_closed = _chosen(heard, asked, parts, settings, watch)
        when = asked.as_of or timely.asked_time(asked.question, parts.clock()) or parts.clock()
        named = _named([] if is_closed else _in_time(found.chosen, when, asked, parts, settings), parts)
    return [Scored(one.item, round(min(max(one.score, 0.0), 1.0), 6), one.source) for one in named]


def _embedded(asked: Asked, parts: Backends, settings: Settings, watch: Stopwatch) -> tuple[str, str, Vectors]:
    """The question as it is read, without the participants' names, and as vectors."""
    with parts.indexes.lock:
        question, stripped = _read(asked, parts, settings)
    with watch.phase("embed"):
        return question, stripped, parts.embedder.embed(parts.embedder.windows(stripped))


def _kin(scope: Scope, parts: Backends, settings: Settings) -> Kin | None:
    """What is related to what, before the indexes are held: it may have to be inferred first."""
    if settings.signals.inferred <= 0 or not settings.inference.on or settings.land.engine == "published":
        return None
    return parts.inferences.kin(scope, parts.clock())


def _chosen(heard: Heard, asked: Asked, parts: Backends, settings: Settings, watch: Stopwatch) -> tuple[Found, bool]:
    """What comes out of DISTILL, and whether the gate closes on it."""
    limits = gate.thresholds(parts.embedder.fingerprint, settings.gate) if settings.gate.on else None
    most = max(asked.k, gate.TOP) if limits else asked.k
    if settings.land.engine != "published":
        most = max(asked.k + timely.MARGIN, most)
    if settings.land.engine == "published":
        found = _found_as_published(heard, most, asked.scope, parts, settings, watch)
    else:
        found = _found(heard, most, asked.scope, parts, settings, watch)
    return found, limits is not None and _is_closed(heard, found, limits, watch)


def _in_time(
    chosen: list[Scored[int]], when: datetime, asked: Asked, parts: Backends, settings: Settings
) -> list[Scored[int]]:
    """The best `k` memories, rivals among them in the order of time, except as published."""
    if settings.land.engine == "published":
        return chosen[: asked.k]
    ordered = timely.order_by_time(_named(chosen, parts), when, parts.graph, asked.scope.readable, asked.question)
    ids = {parts.indexes.nodes.iri(one.item): one.item for one in chosen}
    return [Scored(ids[one.item], one.score, one.source) for one in ordered[: asked.k]]


def _named(chosen: list[Scored[int]], parts: Backends) -> list[Scored[IRI]]:
    return [Scored(parts.indexes.nodes.iri(one.item), one.score, one.source) for one in chosen]


def _read(asked: Asked, parts: Backends, settings: Settings) -> tuple[str, str]:
    """The question without slips of the pen, and without the names of those who take part either; as it is for `published`."""
    if settings.land.engine == "published":
        return asked.question, asked.question
    indexes, graphs = parts.indexes, asked.scope.memory_graphs
    postings = [indexes.passages[graph].context for graph in graphs if graph in indexes.passages]

    def frequency(stem: str) -> int:
        return sum(words.frequency(stem) for words in postings)

    question = mended(asked.question, parts.embedder.is_word, frequency) if settings.land.mend else asked.question
    return question, without(question, indexes.participants(graphs))


def _found(heard: Heard, k: int, scope: Scope, parts: Backends, settings: Settings, watch: Stopwatch) -> Found:
    question, view, joined = heard.question, heard.view, Joined(heard.view.links())
    by_walk = WALKS.get(settings.land.engine)
    with watch.phase("land"):
        evidence = land(question, heard.stripped, heard.vectors, view, settings.words, settings.land)
    with watch.phase("anchor"):
        anchored = anchor(
            question, evidence, joined, view, parts.graph, scope, settings.anchor, seeds=settings.expand.seeds
        )
    with watch.phase("expand"):
        walk = by_walk or (WALKS["ppr"] if settings.signals.walk > 0 else None)
        evidence = expand(question, anchored, joined, view, settings.expand, walk=walk)
        if heard.kin is not None:
            evidence = evidence.with_(inferred=inferred_signal(question, heard.kin, view))
    with watch.phase("distill"):
        if by_walk:
            chosen, considered = alone("walk", evidence, view, k)
        else:
            chosen, considered = distill(evidence, view, k, settings.land.pool, settings.signals)
    return Found(chosen, considered, evidence, joined, anchored.seeds, anchored.anchors)


def _found_as_published(
    heard: Heard, k: int, scope: Scope, parts: Backends, settings: Settings, watch: Stopwatch
) -> Found:
    chosen, considered = published.chosen(
        heard.question, heard.vectors, heard.view, k, parts.graph, scope, settings, watch
    )
    return Found(chosen, considered)


def _is_closed(heard: Heard, found: Found, limits: gate.Thresholds, watch: Stopwatch) -> bool:
    with watch.phase("gate"):
        evidence = found.evidence or Evidence({"meaning": signals.meaning(heard.vectors, heard.view)})
        top = [one.item for one in found.chosen[: gate.TOP]]
        return gate.is_closed(heard.question, heard.stripped, top, evidence, heard.view, limits)


def _reasons(chosen: list[Scored[int]], heard: Heard, found: Found, settings: Settings) -> dict[IRI, explain.Reasons]:
    if found.evidence is None or found.joined is None or found.seeds is None:
        return explain.by_one_score(chosen, (), heard.view)
    if settings.land.engine in WALKS:
        return explain.by_one_score(chosen, found.anchors, heard.view)
    led = explain.Led(heard.question, found.evidence, found.joined, found.seeds, found.anchors, heard.view)
    return explain.reasons(chosen, led, settings)
