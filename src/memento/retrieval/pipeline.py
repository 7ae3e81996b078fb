"""
Find the few memories that matter for a question: LAND → ANCHOR → EXPAND → DISTILL → TRACE → answer.

*Flow:* `recall` parses the question and locks the indexes; `rank` is LAND to DISTILL, by the signals or by another engine, followed
by the gate; TRACE reads from the graph what the answer contains.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from memento import plugin
from memento.backends import Backends
from memento.errors import EmbeddingError
from memento.iris import IRI, MEM, tag_name
from memento.model import Cut, Recalled, RecalledEntity, Recollection, Scope, Scored
from memento.rank import rerank_factor, usual_priority
from memento.retrieval import explain, relevance, timely
from memento.retrieval.anchor import anchor, list_meant, take_sides
from memento.retrieval.calibration import LEAST_SHARE, calibrate
from memento.retrieval.chains import END, order_by_kind, order_latest_first
from memento.retrieval.distill import distill, find_twins, merge_overlaps, merge_twins
from memento.retrieval.expand import WALKS, expand
from memento.retrieval.nearest import MOST as MOST_NEAREST
from memento.retrieval.nearest import find_nearest
from memento.retrieval.plain import RankMemories, rank_by_search
from memento.retrieval.question import (
    Asking,
    Query,
    Question,
    correct_spelling,
    list_short_forms,
    name_kin,
    strip_names,
)
from memento.retrieval.sentence import choose_sentence
from memento.retrieval.signals import Evidence, is_needed, land, list_prominent, score_meaning
from memento.retrieval.trace import describe_entities, trace
from memento.search.grains import choose_masked, mask_names
from memento.search.indexes import View
from memento.search.links import Asked, Joined
from memento.search.names import label_of
from memento.search.nodes import EXPLICIT
from memento.search.reranker import Reranker
from memento.settings import ENGINES, MODES, Settings, require_engine
from memento.telemetry import Stopwatch
from memento.text.claims import read_question as read_clauses
from memento.text.sentences import is_readable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """
    The chosen memories, best first; the number of candidates; the relevance of the best, unless the gate is off; and the evidence.
    """

    chosen: list[Scored[int]]
    considered: int
    evidence: Evidence
    judgement: relevance.Judgement | None = None

    @property
    def is_gated(self) -> bool:
        """Whether the gate found nothing relevant."""
        return self.judgement is not None and not self.judgement.is_open


@dataclass(slots=True, kw_only=True)
class Picked:
    """The memories of an answer in order, their fitness, and what was cut."""

    chosen: list[Scored[int]] = field(default_factory=list)
    fitness: list[float] = field(default_factory=list)
    cut: list[Scored[int]] = field(default_factory=list)
    cut_fitness: list[float] = field(default_factory=list)


def recall(query: Query, stores: Backends, settings: Settings) -> Recollection:
    """
    Return at most `k` memories that answer a question, best first; none when none is relevant.

    Raises:
        BackendError: store or embedder failed.
    """
    return stores.run(lambda: _recall(query, stores, settings), is_read=True)


def _recall(query: Query, stores: Backends, settings: Settings) -> Recollection:
    watch = Stopwatch("recall")
    with read_question(query, stores, settings, watch) as question:
        ranking = rank(question, query, stores, settings, watch)
        answer = pick_in_time(ranking, query, question, stores, settings)
        if ranking.is_gated:
            answer = pick_nearest(answer, question, ranking.evidence)
        nodes, vectors = question.view.indexes.nodes, question.view.indexes.vectors["memory"]
        found = {nodes.iri(one.item): vectors.vectors([one.item])[0] for one in answer.chosen}
        tags = {nodes.iri(one.item): stores.indexes.sorting.tags_of(one.item) for one in answer.chosen}
        places = {one.item: place for place, one in enumerate(ranking.chosen)}
        fits = {nodes.iri(one.item): fit for one, fit in zip(answer.chosen, answer.fitness, strict=False)}
        left = [
            (nodes.iri(one.item), places.get(one.item), fit)
            for one, fit in zip(answer.cut, answer.cut_fitness, strict=True)
        ]
        # Duplicates show only after the memories have been read.
        twins = find_twins(np.array([*found.values()])) if ranking.judgement else 0
        chosen = answer.chosen[: query.k + twins]
        named = [Scored(nodes.iri(one.item), one.score, one.source) for one in chosen]
        reasons = give_reasons(chosen, question, ranking, settings) if query.explained else {}
        weights = relevance.weigh_words(question.text, question.view.indexes.words(question.view.graphs, "memory"))
    judged = ranking.judgement if query.explained else None
    cut = explain.list_cut(left, judged, stores.graph, query.scope, stores.embedder.fingerprint) if judged else ()
    memories, entities = watch.time_call(trace, named, stores.graph, query.scope, query.believed_at)
    if ranking.judgement:
        memories = tuple(
            replace(
                one,
                relevance=round(calibrate(ranking.judgement.openness * fits[one.iri], stores.embedder.fingerprint), 4),
            )
            for one in memories
        )
    if ranking.judgement and not timely.looks_back(query.question):
        memories = tuple(merge_twins(memories, np.array([found[one.iri] for one in memories])))
    if any(one.note and one.note.piece for one in memories):
        memories = tuple(merge_overlaps(memories, query.question))
    memories = tuple(
        replace(one, rank=rank, tags=tags[one.iri]) for rank, one in enumerate(memories[: query.k], start=1)
    )
    memories, nearest = ((), memories) if ranking.is_gated else (memories, ())
    entities = describe_entities(keep_entities(entities, memories), query.scope, stores, query.as_of, query.believed_at)
    memories = tuple(reasons[one.iri].add_to(one) if reasons else one for one in memories)
    memories, nearest = (
        tuple(mark_sentence(one, weights, ranking.evidence) for one in some) for some in (memories, nearest)
    )
    sparql = None
    if query.explained:
        with stores.indexes.lock:
            sparql = explain.write_query(memories, reasons, question, ranking.evidence, stores.graph, query)
    return build_answer(query, question, ranking, memories, nearest, entities, cut, sparql, stores, watch)


def mark_sentence(memory: Recalled, weights: Mapping[str, float], evidence: Evidence) -> Recalled:
    """Return a memory with the sentence of it that answers."""
    claims = [(step.claim.words, step.fit) for step in evidence.steps if step.claim.memory == memory.iri]
    return replace(memory, sentence=choose_sentence(memory.content, weights, claims))


def rerank(
    found: Recollection, k: int, reranker: Reranker, scope: Scope, now: datetime, stores: Backends
) -> Recollection:
    """
    Return an answer with its best memories reordered, at most `k` of them: by the factors of the published design, then by the
    model. Relevance does not change; only the factors change scores.
    """
    memories = list(found.memories)
    if reranker.by_factors:
        factors = weigh_by_factors([one.iri for one in memories], scope, now, stores)
        memories = [replace(one, score=round(one.score * factors.get(one.iri, 1.0), 6)) for one in memories]
        memories = [*sorted(memories[: reranker.pool], key=lambda one: -one.score), *memories[reranker.pool :]]
    order = reranker.order(found.query, [one.content for one in memories])
    ordered = memories if order is None else [memories[place] for place in order]
    ranked = tuple(replace(one, rank=place) for place, one in enumerate(ordered[:k], start=1))
    return replace(
        found,
        memories=ranked,
        entities=keep_entities(found.entities, ranked),
        gated=found.gated or bool(memories and not ranked),
        nearest=found.nearest or (() if ranked else tuple(memories[:MOST_NEAREST])),
    )


def weigh_by_factors(memories: Sequence[IRI], scope: Scope, now: datetime, stores: Backends) -> dict[IRI, float]:
    """
    Return the factors of the published design, from age, source, tags, uses and priority.

    Source: `memento.rank.rerank_factor`.
    """
    records = stores.indexes.read(memories, scope.memory_graphs) if memories else []
    notes = list(dict.fromkeys(IRI(one.first(MEM.extractedFrom)) for one in records))
    told = {one.iri: one for one in stores.indexes.read(notes, scope.memory_graphs)} if notes else {}
    factors = {}
    for one in records:
        note, created = told.get(IRI(one.first(MEM.extractedFrom))), one.time_of(MEM.createdAt)
        factors[one.iri] = rerank_factor(
            max((now - created).total_seconds() / 86_400, 0.0) if created else 0.0,
            (note.first(MEM.source) if note else "") or EXPLICIT,
            [tag_name(IRI(str(tag))) for tag in one.statements.get(MEM.tagged, ())],
            int(one.first(MEM.accessCount) or 0),
            # A note does not store the usual priority of its source.
            note.first(MEM.priority) or usual_priority(note.first(MEM.source)) if note else "normal",
        )
    return factors


def keep_entities(entities: Iterable[RecalledEntity], memories: Iterable[Recalled]) -> tuple[RecalledEntity, ...]:
    """Return the entities that some memories are about, ordered by the number of these memories, the user first."""
    counts = Counter(iri for one in memories for iri in one.about_iris)
    kept = [replace(one, memory_count=counts[one.iri]) for one in entities if one.iri in counts]
    return tuple(sorted(kept, key=lambda one: (not one.is_user, -one.memory_count, one.name)))


def rank(question: Question, query: Query, stores: Backends, settings: Settings, watch: Stopwatch) -> Ranking:
    """Return the best memories for a question by id, and the evidence for them. Call it under `indexes.lock`."""
    engine, run, view = settings.land.engine, watch.time_call, question.view
    has_gate = settings.gate.on and bool(question.vectors.any())
    k = max(query.k, relevance.LOOKED_AT) if has_gate else query.k
    if engine not in ENGINES:
        require_engine(settings, engine)
        evidence = Evidence({"meaning": score_meaning(question.vectors, view)} if settings.gate.on else {})
        if engine in MODES:
            chosen, considered = run(rank_by_search, engine, question, k, settings.land)
        else:
            rank_otherwise: RankMemories = plugin.collect("engines")[engine]
            chosen, considered = rank_otherwise(question, k, query, stores, settings, watch)
    else:
        k = max(query.k + timely.MARGIN, k)
        law = WALKS.get(engine) or (WALKS["ppr"] if is_needed("law", settings.signals) else None)
        only = "walk" if engine in WALKS else None
        evidence = run(land, question, settings.words, settings.land)
        evidence = run(anchor, question, evidence, stores.graph, query.scope, settings.anchor, settings.expand.seeds)
        evidence = run(expand, question, evidence, settings.expand, law)
        chosen, considered = run(distill, evidence, view, k, settings.land.pool, settings.signals, only=only)
        if told := _list_what_happened(chosen, query.k, question):  # every memory of that time is an answer
            return Ranking(chosen=told, considered=considered, evidence=evidence)
    ranking = Ranking(chosen=chosen, considered=considered, evidence=evidence)
    if not has_gate:
        return ranking
    with watch.phase("gate"):
        judged = relevance.judge(
            question,
            chosen,
            evidence.signals,
            stores.embedder.fingerprint,
            settings.gate,
            text_reader(question, query, stores),
        )
    return replace(ranking, judgement=judged)


def text_reader(question: Question, query: Query, stores: Backends) -> relevance.Texts:
    """Return a function that reads the contents of some memories from the graph, by id."""

    def read_contents(nodes: Sequence[int]) -> dict[int, str]:
        ids = {question.view.indexes.nodes.iri(node): node for node in nodes}
        rows = stores.graph.select("search/texts", query.scope.readable, memory=[*ids]) if ids else []
        return {ids[row["memory"]]: str(row["content"]) for row in rows}

    return read_contents


def rank_memories(query: Query, stores: Backends, settings: Settings) -> list[Scored[IRI]]:
    """Return the memories that `recall` returns, with their scores in 0..1 and nothing else."""
    watch = Stopwatch("ranked")

    def choose() -> tuple[list[IRI], list[Scored[int]]]:
        with read_question(query, stores, settings, watch) as question:
            ranking = rank(question, query, stores, settings, watch)
            chosen = pick_in_time(ranking, query, question, stores, settings).chosen[: query.k]
            return [question.view.indexes.nodes.iri(one.item) for one in chosen], chosen

    iris, chosen = stores.run(choose, is_read=True)
    return [
        Scored(iri, round(min(max(one.score, 0.0), 1.0), 6), one.source) for iri, one in zip(iris, chosen, strict=True)
    ]


def pick_in_time(ranking: Ranking, query: Query, question: Question, stores: Backends, settings: Settings) -> Picked:
    """
    Return the best memories, with rivals in the order of time, without those that are hardly relevant; empty if none is relevant.

    With the gate off, return as many as the query asks for.

    *But:* a plain search, and an engine of a plug-in, keep their own order.
    """
    ordered = ranking.chosen
    if settings.land.engine in ENGINES:
        ordered = order_in_time(ranking.chosen, ranking.evidence, query, question, stores)
    ordered = order_by_kind(ordered, ranking.evidence.steps, query.question, question.view)
    signals = ranking.evidence.signals
    if "path" in signals and not timely.looks_back(query.question):  # the end of a chain is its answer
        at = question.asking.at if question.asking else question.view.now.timestamp()
        sides = take_sides([one.item for one in ordered], ranking.evidence, question)
        ordered = order_latest_first(ordered, query.question, question.view, at, sides)
        ordered.sort(key=lambda one: -max(float(signals["path"][one.item]), END))
    if settings.land.engine in ENGINES:
        ordered = _put_stand_ins_first(ordered, query, question)
    judged = ranking.judgement
    if judged is None:
        return Picked(chosen=ordered[: query.k])
    place = {one.item: place for place, one in enumerate(ranking.chosen)}
    most = calibrate(judged.openness * float(judged.fitness.max(initial=0.0)), stores.embedder.fingerprint)
    last = len(place)  # the position of a succession that the question itself did not find
    picked = Picked()
    for at, one in enumerate(ordered):
        # A memory that the order of time moved up is as relevant as those behind it.
        passed = [
            place[other.item] for other in ordered[at:] if place.get(other.item, last) <= place.get(one.item, last - 1)
        ]
        is_none = one.item in place and not judged.fitness[place[one.item]]
        fit = 0.0 if is_none else float(judged.fitness[passed].max(initial=0.0))
        if len(picked.chosen) >= FIRST and one.item in place:  # behind the first, each is shown for its own sake
            fit = float(judged.fitness[place[one.item]])
        share = calibrate(judged.openness * fit, stores.embedder.fingerprint) / (most or 1.0)
        if judged.is_kept(len(picked.chosen), fit) and share >= LEAST_SHARE:
            picked.chosen.append(one)
            picked.fitness.append(fit)
        else:
            picked.cut.append(one)
            picked.cut_fitness.append(fit)
    return picked


def _put_stand_ins_first(ordered: list[Scored[int]], query: Query, question: Question) -> list[Scored[int]]:
    """Return memories in order, with who stands in for somebody before the one that names whom, while it lasts."""
    if not ordered or not timely.asks_who(query.question):
        return ordered
    at = query.as_of or timely.asked_time(query.question, question.view.now) or question.view.now
    named = {iri for one in question.asked for iri in list_meant(one, question)}
    first = ordered[0]
    found = timely.find_stand_ins(first.item, question, named, at.timestamp())
    return [
        *(Scored(node, first.score, "claims") for node in found),
        *(one for one in ordered if one.item not in found),
    ]


def pick_nearest(nothing: Picked, question: Question, evidence: Evidence) -> Picked:
    """Return what is nearest where nothing answers: a few of the memories that were cut."""
    chosen = find_nearest(question, nothing.cut, evidence.signals)
    taken = {one.item for one in chosen}
    pairs = [*zip(nothing.cut, nothing.cut_fitness, strict=True)]
    return Picked(
        chosen=chosen,
        fitness=[fit for one, fit in pairs if one.item in taken],
        cut=[one for one, _ in pairs if one.item not in taken],
        cut_fitness=[fit for one, fit in pairs if one.item not in taken],
    )


def order_in_time(
    chosen: list[Scored[int]], evidence: Evidence, query: Query, question: Question, stores: Backends
) -> list[Scored[int]]:
    """Return the best memories, rivals among them in the order of time; who has a part of an asked name comes after who has all."""
    now, iri_of, find = question.view.now, question.view.indexes.nodes.iri, question.view.indexes.nodes.find
    then = query.as_of or timely.asked_time(query.question, now)
    when = then or now
    likeness = None
    readable = query.scope.readable
    if then or timely.looks_back(query.question):
        iris = [iri_of(one.item) for one in chosen]
        found = map(find, timely.find_successions(iris, stores.graph, readable, query.question))
        seen = question.view.visible
        chosen = [*chosen, *(Scored(node, 0.0, "succession") for node in found if node is not None and seen[node])]
    if len(chosen) > 1 and (then or timely.asks_of_a_state(query.question)):
        some = [one.item for one in chosen]
        stating = {node for step in evidence.steps if (node := find(step.claim.memory)) is not None}
        likeness = timely.compare(question, some, text_reader(question, query, stores)(some), stating)
    if timely.asked_span(query.question, now):
        return list(chosen)
    ids = {iri_of(one.item): one.item for one in chosen}
    named = [Scored(iri, one.score, one.source) for iri, one in zip(ids, chosen, strict=True)]
    nodes = [one.item for one in chosen]
    sides = take_sides(nodes, evidence, question)
    in_time = timely.order_by_time(named, when, stores.graph, readable, query.question, likeness, sides)
    ordered = [Scored(ids[one.item], one.score, one.source) for one in in_time]
    if evidence.mentioned is None or evidence.confused is None or not evidence.confused.size:
        return ordered
    asked = np.flatnonzero(np.isin([one.item for one in ordered], evidence.mentioned))
    last = int(asked[-1]) if asked.size else -1
    is_late = [place < last and one.item in evidence.confused for place, one in enumerate(ordered)]
    before = [one for place, one in enumerate(ordered[: last + 1]) if not is_late[place]]
    return [*before, *(one for place, one in enumerate(ordered) if is_late[place]), *ordered[last + 1 :]]


def _list_what_happened(chosen: list[Scored[int]], k: int, question: Question) -> list[Scored[int]]:
    """
    If a question asks what happened in a period, return at most `k` memories of that period, in order; else return none.

    Memories that the question found come before others.
    """
    span = timely.asked_span(question.text, question.view.now)
    if span is None:
        return []
    nodes, visible = question.view.indexes.nodes, question.view.visible
    within = visible & nodes.find_begun(*span)[: visible.size]
    found = {one.item: one for one in chosen if within[one.item]}
    others = (Scored(node, 0.0, "time") for node in np.flatnonzero(within).tolist() if node not in found)
    return sorted([*found.values(), *others][:k], key=lambda one: nodes.began(one.item))


def build_answer(
    query: Query,
    question: Question,
    ranking: Ranking,
    memories: tuple[Recalled, ...],
    nearest: tuple[Recalled, ...],
    entities: tuple[RecalledEntity, ...],
    cut: tuple[Cut, ...],
    sparql: str | None,
    stores: Backends,
    watch: Stopwatch,
) -> Recollection:
    """Assemble the answer for the caller."""
    return Recollection(
        query=query.question,
        namespace=query.scope.namespace,
        memories=memories,
        nearest=nearest,
        entities=entities,
        total_candidates=ranking.considered,
        timings_ms={**watch.ms, "total": round(sum(watch.ms.values()), 3)},
        gated=ranking.is_gated and bool(ranking.chosen),
        anchors=ranking.evidence.anchors if query.explained and not ranking.is_gated else (),
        sparql=sparql,
        cut=cut,
        degraded=stores.degraded.brief if stores.degraded else None if question.vectors.any() else _BY_WORDS,
    )


FIRST = 3
"""The number of memories that are shown for what the order of time makes of them."""
_BY_WORDS = "the embedder does not answer: these were found by their words alone"


@contextmanager
def read_question(query: Query, stores: Backends, settings: Settings, watch: Stopwatch) -> Iterator[Question]:
    """
    Parse a question and hold the lock of the indexes while it is answered; embed it before, so that no other thread waits for that.
    """
    with watch.phase("pool"):
        is_past = bool(query.as_of or query.believed_at)
        at, graphs = stores.clock(), query.scope.memory_graphs
        stores.indexes.bring_question(query.question, graphs, query.only, at, is_past=is_past)
    with stores.indexes.lock:
        text, stripped = _correct_and_strip(query, stores, settings)
        asked, lacking = _find_asked(text, query, stores, settings)
    windows, rest = stores.embedder.windows(stripped), relevance.find_topic(stripped)
    masked = [mask_names(stripped, choose_masked([one.label for one in asked]))] if asked else []
    texts = [*windows, *([rest] if rest != stripped else []), *masked]
    pending = stores.indexes.read_pending(_GRAINS, lacking) if lacking else []
    with watch.phase("embed"):
        try:
            vectors = stores.embedder.embed_questions(texts)
            if pending:
                lacking_texts = [text for one in pending for text in one.texts if text]
                stores.indexes.put_grains(pending, stores.embedder.embed_aside(lacking_texts))
        except EmbeddingError as error:  # the service is unreachable: words still find memories
            logger.warning("recall.by-words", extra={"error": type(error).__name__})
            vectors = np.zeros((len(texts), stores.embedder.dimensions), dtype=np.float32)
    asking = _read_asking(text, asked, query, stores)
    with stores.indexes.lock:
        view = _view_at(query, stores)
        yield Question(
            text=text,
            stripped=stripped,
            vectors=vectors[: len(windows)],
            topic=vectors[len(windows) :][:1] if rest != stripped else None,
            asked=asked,
            masked=vectors[-1:] if asked else None,
            asking=asking,
            view=view,
            joined=Joined(view.links()),
            prominent=list_prominent(view) if _goes_by_profile(settings) else None,
        )


def _read_asking(text: str, named: Sequence[Asked], query: Query, stores: Backends) -> Asking | None:
    """Read the clauses of a question, unless it is too long to be one."""
    if not is_readable(text):
        return None
    now = stores.clock()
    at = query.as_of or timely.asked_time(text, now) or now
    return Asking(read_clauses(text, [one.label for one in named]), at.timestamp(), timely.looks_back(text))


_GRAINS = 64
"""Memories about what a question names whose grains are computed before it is answered, if they have none yet."""


def _find_asked(text: str, query: Query, stores: Backends, settings: Settings) -> tuple[list[Asked], list[int]]:
    """Return the names in a question, without participants of conversations, and the memories with these names and no grains."""
    if settings.land.engine not in ENGINES:
        return [], []
    view = _view_at(query, stores)
    joined = Joined(view.links())
    people = {label_of(form) for form in list_short_forms(view.participants())}
    asked = [one for one in joined.find_asked(text) if one.label not in people]
    nodes = joined.mentioning(label for one in asked for label in one.meant).tolist()
    return asked, [node for node in nodes if view.visible[node] and node in stores.indexes.grains.pending]


def _view_at(query: Query, stores: Backends) -> View:
    """Return the view of the memories that may be returned; filtering before ranking ensures that the answer is not short."""
    view = _view_in_time(query, stores)
    return replace(view, visible=view.visible & stores.indexes.filter_nodes(query.only)) if query.only else view


def _view_in_time(query: Query, stores: Backends) -> View:
    """
    Return a view of current memories; of those true at a past date that the question names, too; of all if the question looks back.
    """
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
    """Return the question spell-corrected, and also without the participants' names; as typed where another engine ranks."""
    if settings.land.engine not in ENGINES:
        return query.question, query.question
    indexes, graphs = stores.indexes, query.scope.memory_graphs
    postings = [indexes.passages[graph].context for graph in graphs if graph in indexes.passages]

    def frequency(stem: str) -> int:
        return sum(words.frequency(stem) for words in postings)

    text = query.question
    if settings.land.mend:
        text = correct_spelling(text, stores.embedder.is_word, frequency)
    asked = query.as_of or timely.asked_time(text, stores.clock()) or stores.clock()
    text = name_kin(text, stores.graph, query.scope, indexes, asked)
    return text, strip_names(text, indexes.participants(graphs))


def _goes_by_profile(settings: Settings) -> bool:
    return is_needed("prominent", settings.signals) and settings.land.engine in ENGINES


def give_reasons(
    chosen: list[Scored[int]], question: Question, ranking: Ranking, settings: Settings
) -> dict[IRI, explain.Reasons]:
    """Return why each memory was returned."""
    if settings.land.engine in WALKS or settings.land.engine not in ENGINES:
        return explain.explain_one_score(chosen, ranking.evidence.anchors, question.view)
    return explain.explain_signals(chosen, question, ranking.evidence, settings.land.pool, settings.signals)
