"""
A question becomes the few memories that matter: LAND → ANCHOR → EXPAND → DISTILL → TRACE → answer.

*Flow:* `recall` reads the question and takes the indexes; `rank` is LAND to DISTILL, by the signals or by another engine, with the
gate behind it; TRACE reads from the graph what the answer carries.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from memento.backends import Backends
from memento.graph.inferences import Kin
from memento.iris import IRI
from memento.model import Recalled, RecalledEntity, Recollection, Scope, Scored
from memento.retrieval import explain, gate, timely
from memento.retrieval.anchor import anchor
from memento.retrieval.distill import distill
from memento.retrieval.engines.published import rank_as_published
from memento.retrieval.expand import WALKS, expand
from memento.retrieval.question import Query, Question, correct_spelling, strip_names
from memento.retrieval.signals import Evidence, is_needed, land, score_meaning
from memento.retrieval.trace import trace
from memento.search.indexes import View
from memento.search.links import Joined
from memento.settings import Settings
from memento.telemetry import Stopwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What DISTILL chose, best first, out of how many; whether the gate keeps it back; and what it was found by."""

    chosen: list[Scored[int]]
    considered: int
    evidence: Evidence
    is_gated: bool = False


def recall(query: Query, stores: Backends, settings: Settings) -> Recollection:
    """
    Return at most `k` memories that answer a question, best first; none when none is relevant.

    Raises:
        BackendError: store or embedder failed.
    """
    watch = Stopwatch("recall")
    with read_question(query, stores, settings, watch) as question:
        ranking = rank(question, query, stores, settings, watch)
        chosen = pick_in_time(ranking, query, question, stores, settings)
        named = [Scored(question.view.indexes.nodes.iri(one.item), one.score, one.source) for one in chosen]
        reasons = give_reasons(chosen, question, ranking, settings) if query.explained else {}
    memories, entities = watch.run(trace, named, stores.graph, query.scope, query.believed_at)
    memories = tuple(reasons[one.iri].add_to(one) if reasons else one for one in memories)
    return build_answer(query, question, ranking, memories, entities, stores, watch)


def rank(question: Question, query: Query, stores: Backends, settings: Settings, watch: Stopwatch) -> Ranking:
    """Return the best memories for a question by their ids, and what they were found by. Call it under `indexes.lock`."""
    engine, run, view = settings.land.engine, watch.run, question.view
    limits = gate.choose_thresholds(stores.embedder.fingerprint, settings.gate) if settings.gate.on else None
    k = max(query.k, gate.TOP) if limits else query.k
    if engine == "published":
        evidence = Evidence({"meaning": score_meaning(question.vectors, view)} if limits else {})
        chosen, considered = rank_as_published(question, k, stores.graph, query.scope, settings, watch)
    else:
        k = max(query.k + timely.MARGIN, k)
        law = WALKS.get(engine) or (WALKS["ppr"] if is_needed("law", settings.signals) else None)
        only = "walk" if engine in WALKS else None
        evidence = run(land, question, settings.words, settings.land)
        evidence = run(anchor, question, evidence, stores.graph, query.scope, settings.anchor, settings.expand.seeds)
        evidence = run(expand, question, evidence, settings.expand, law)
        chosen, considered = run(distill, evidence, view, k, settings.land.pool, settings.signals, only=only)
    ranking = Ranking(chosen=chosen, considered=considered, evidence=evidence)
    if limits is None:
        return ranking
    with watch.phase("gate"):
        top = [one.item for one in chosen[: gate.TOP]]
        is_gated = gate.is_closed(question, top, evidence.signals, limits)
    return Ranking(chosen=chosen, considered=considered, evidence=evidence, is_gated=is_gated)


def rank_memories(query: Query, stores: Backends, settings: Settings) -> list[Scored[IRI]]:
    """Return the memories that `recall` brings back, with their scores in 0..1 and nothing else about them."""
    watch = Stopwatch("ranked")
    with read_question(query, stores, settings, watch) as question:
        ranking = rank(question, query, stores, settings, watch)
        chosen = pick_in_time(ranking, query, question, stores, settings)
        iris = [question.view.indexes.nodes.iri(one.item) for one in chosen]
    return [
        Scored(iri, round(min(max(one.score, 0.0), 1.0), 6), one.source) for iri, one in zip(iris, chosen, strict=True)
    ]


def pick_in_time(
    ranking: Ranking, query: Query, question: Question, stores: Backends, settings: Settings
) -> list[Scored[int]]:
    """
    Return the best `k` memories, rivals among them in the order of time; none when the gate keeps all back.

    *But:* `published` keeps its own order.
    """
    if ranking.is_gated:
        return []
    if settings.land.engine == "published":
        return ranking.chosen[: query.k]
    now, nodes = question.view.now, question.view.indexes.nodes
    when = query.as_of or timely.asked_time(query.question, now) or now
    ids = {nodes.iri(one.item): one.item for one in ranking.chosen}
    named = [Scored(iri, one.score, one.source) for iri, one in zip(ids, ranking.chosen, strict=True)]
    ordered = timely.order_by_time(named, when, stores.graph, query.scope.readable, query.question)
    return [Scored(ids[one.item], one.score, one.source) for one in ordered[: query.k]]


def build_answer(
    query: Query,
    question: Question,
    ranking: Ranking,
    memories: tuple[Recalled, ...],
    entities: tuple[RecalledEntity, ...],
    stores: Backends,
    watch: Stopwatch,
) -> Recollection:
    """Return what a caller is told."""
    sparql = None
    if query.explained:
        sparql = explain.write_query(memories, question.view.now, query.as_of, query.believed_at)
    return Recollection(
        query=query.question,
        namespace=query.scope.namespace,
        memories=memories,
        entities=entities,
        total_candidates=ranking.considered,
        timings_ms={**watch.ms, "total": round(sum(watch.ms.values()), 3)},
        gated=ranking.is_gated and bool(ranking.chosen),
        anchors=ranking.evidence.anchors if query.explained and not ranking.is_gated else (),
        sparql=sparql,
        degraded=stores.degraded.brief if stores.degraded else None,
    )


@contextmanager
def read_question(query: Query, stores: Backends, settings: Settings, watch: Stopwatch) -> Iterator[Question]:
    """Read a question and hold the indexes while it is answered; it is embedded before, so that nobody waits for that."""
    with stores.indexes.lock:
        text, stripped = _correct_and_strip(query, stores, settings)
    with watch.phase("embed"):
        vectors = stores.embedder.embed(stores.embedder.windows(stripped))
    kin = _infer_kin(query.scope, stores, settings)
    with stores.indexes.lock:
        view = _view_at(query, stores)
        yield Question(text=text, stripped=stripped, vectors=vectors, view=view, joined=Joined(view.links()), kin=kin)


def _view_at(query: Query, stores: Backends) -> View:
    """Return what may come back; where the question names a past date, what held then too; all if it looks back."""
    at = stores.clock()
    view = View.at(stores.indexes, query.scope.memory_graphs, at, query.as_of, query.believed_at)
    if query.as_of is not None:
        return view
    if then := timely.asked_time(query.question, at):
        held = View.at(stores.indexes, query.scope.memory_graphs, at, then, query.believed_at)
        return replace(view, visible=view.visible | held.visible)
    if timely.looks_back(query.question):
        told = stores.indexes.nodes.history(query.scope.memory_graphs, now=at, believed_at=query.believed_at)
        return replace(view, visible=told)
    return view


def _correct_and_strip(query: Query, stores: Backends, settings: Settings) -> tuple[str, str]:
    """Return the question spell-corrected, and also without the names of those who take part; for `published` as it is."""
    if settings.land.engine == "published":
        return query.question, query.question
    indexes, graphs = stores.indexes, query.scope.memory_graphs
    postings = [indexes.passages[graph].context for graph in graphs if graph in indexes.passages]

    def frequency(stem: str) -> int:
        return sum(words.frequency(stem) for words in postings)

    text = query.question
    if settings.land.mend:
        text = correct_spelling(text, stores.embedder.is_word, frequency)
    return text, strip_names(text, indexes.participants(graphs))


def _infer_kin(scope: Scope, stores: Backends, settings: Settings) -> Kin | None:
    """Return what is related to what, where recall infers."""
    is_wanted = is_needed("kin", settings.signals) and settings.inference.on and settings.land.engine != "published"
    return stores.inferences.kin(scope, stores.clock()) if is_wanted else None


def give_reasons(
    chosen: list[Scored[int]], question: Question, ranking: Ranking, settings: Settings
) -> dict[IRI, explain.Reasons]:
    """Return why each memory came back."""
    if settings.land.engine in WALKS or settings.land.engine == "published":
        return explain.explain_one_score(chosen, ranking.evidence.anchors, question.view)
    return explain.explain_signals(chosen, question, ranking.evidence, settings.land.pool, settings.signals)
