"""Answer the operations that query the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from memento import settings, telemetry
from memento.archive import check, network, read
from memento.consolidation.reread import explain_spared
from memento.errors import InputError
from memento.iris import IRI
from memento.model import (
    Described,
    Health,
    Listed,
    Manifest,
    Neighbourhood,
    RecalledEntity,
    Recollection,
    Relation,
    Scope,
    TagCount,
    Timeline,
    Used,
)
from memento.operations import find_operation
from memento.operations import recall as operations
from memento.retrieval import pipeline
from memento.retrieval.explain import MOST as MOST_EXPLAINED
from memento.retrieval.question import Query
from memento.retrieval.render import fit_budget
from memento.service.context import Context, handle, handles
from memento.settings import Settings
from memento.strength import energies
from memento.time import instant

MOST_NODES = 500
"""Maximum number of nodes whose neighbours are looked up at once."""
MOST_RELATED = 100
"""Maximum number of linked memories beside an answer."""


def prepare(operation: operations.Recall, scope: Scope, context: Context) -> tuple[Query, Settings]:
    """
    Return a question for the pipeline, and the settings to answer it with.

    Raises:
        InputError: empty question, k, budget or related out of range, unknown profile, engine or mode, or a mode and an engine.
        TooLong: question over `limits.text_bytes`.
    """
    operation = context.redact_question(operation, operation.namespace)
    chosen = context.settings
    if operation.profile:
        chosen = settings.with_profile(chosen, operation.profile)
    if operation.engine:
        chosen = settings.with_engine(chosen, operation.engine)
    if operation.mode:
        if operation.engine:
            raise InputError(f"mode={operation.mode} ranks in place of engine={operation.engine}: give one of them")
        chosen = settings.with_mode(chosen, operation.mode)
    if operation.gate is not None:
        chosen = replace(chosen, gate=replace(chosen.gate, on=operation.gate))
    context.require_text(operation.question, "question")
    results = context.settings.limits.results
    most = min(results, MOST_EXPLAINED) if operation.explain else results
    k, zone = operation.k, context.service.zone
    if operation.budget is not None and operation.budget < 1:
        raise InputError(f"budget must be at least 1, not {operation.budget}")
    if not 0 <= operation.related <= MOST_RELATED:
        raise InputError(f"related must be from 0 to {MOST_RELATED}, not {operation.related}")
    if k is not None and not 1 <= k <= most:
        raise InputError(f"k must be from 1 to {most}{', explained' if operation.explain else ''}, not {k}")
    query = Query(
        operation.question,
        scope,
        k=k or min(chosen.distill.top_k, most),
        as_of=None if operation.as_of is None else instant(operation.as_of, "as_of", zone),
        believed_at=None if operation.believed_at is None else instant(operation.believed_at, "believed_at", zone),
        explained=operation.explain,
        only=context.read_filter(operation),
    )
    return query, chosen


@handles(operations.Recall)
def recall(operation: operations.Recall, context: Context) -> Recollection:
    """Run the five phases; the memories that come back count as used if the setting says so."""
    recollection = answer(operation, context)
    counts = context.settings.living.count_recall if operation.counts is None else operation.counts
    if counts and context.access.may("write") and not context.service.degraded:
        context.service.reinforcement.note_effects(*_uses(recollection, context))
    if operation.cases:
        retrieve = find_operation("retrieve_cases")
        wanted = retrieve(operation.question, k=operation.cases, namespace=operation.namespace)
        recollection = replace(recollection, cases=handle(wanted, context))
    if operation.related:
        recollection = replace(recollection, related=_list_linked(operation, recollection, context))
    return recollection


def _list_linked(operation: operations.Recall, found: Recollection, context: Context) -> tuple[Relation, ...]:
    """Return memories that are linked to those of an answer, of the same namespaces, time and filter."""
    scope, zone = context.scope(operation.namespace), context.service.zone
    return tuple(
        read.list_linked(
            [one.iri for one in found.memories],
            context.widen(scope) if operation.everywhere else scope,
            operation.related,
            context.stores,
            now=context.stores.clock(),
            as_of=None if operation.as_of is None else instant(operation.as_of, "as_of", zone),
            believed_at=None if operation.believed_at is None else instant(operation.believed_at, "believed_at", zone),
            only=context.read_filter(operation),
        )
    )


def peek(operation: operations.Recall, context: Context) -> Recollection:
    """Recall on behalf of a caller who did not ask, such as a prompt that memories are inserted into: never counted as use."""
    return answer(operation, context)


def answer(operation: operations.Recall, context: Context) -> Recollection:
    """Answer a question within its budget, from the cache if possible; the cases beside an answer are not cached."""
    scope = context.scope(operation.namespace)
    scope = context.widen(scope) if operation.everywhere else scope
    query, chosen = prepare(operation, scope, context)

    def make() -> Recollection:
        recollection = _recall_in_order(query, context, chosen)
        return fit_budget(recollection, operation.budget) if operation.budget else recollection

    return context.service.answers.get_answer(operation, context.access, scope, make)


def _recall_in_order(query: Query, context: Context, chosen: Settings) -> Recollection:
    """Recall, and let the reranker reorder the best memories if one is configured."""
    reranker = context.service.reranker
    if not reranker.pool:
        return _recall_by_energy(query, context, chosen)
    most = max(query.k, MOST_EXPLAINED) if query.explained else context.settings.limits.results
    wider = replace(query, k=min(max(query.k, reranker.pool), max(most, query.k)))
    found = _recall_by_energy(wider, context, chosen)
    return pipeline.rerank(found, query.k, reranker, query.scope, context.stores.clock(), context.stores)


_PROXIED = ("ok", "empty", "timeout", "error", "caught_up")  # counts of chat requests in a report of health
_WIDER = 3  # how many times as many memories as requested are ranked by energy


def _recall_by_energy(query: Query, context: Context, chosen: Settings) -> Recollection:
    """Recall, and reorder the memories by their energy if the settings give it a share of the score."""
    share = chosen.living.rank_energy
    if not share:
        return pipeline.recall(query, context.stores, chosen)
    most = min(_WIDER * query.k, max(query.k, MOST_EXPLAINED))
    recollection = pipeline.recall(replace(query, k=most), context.stores, chosen)
    indexes = context.stores.indexes
    with indexes.lock:
        nodes = [indexes.nodes.find(one.iri) for one in recollection.memories]
        known = np.array([node for node in nodes if node is not None], dtype=np.int32)
        energy = dict(zip(known.tolist(), energies(known, context.stores).tolist(), strict=True))
    scored = [
        replace(one, score=round((1 - share) * one.score + share * energy.get(node or 0, 0.0), 6))
        for one, node in zip(recollection.memories, nodes, strict=True)
    ]
    scored.sort(key=lambda one: -one.score)
    ranked = tuple(replace(one, rank=place) for place, one in enumerate(scored[: query.k], start=1))
    about = {name for one in ranked for name in one.about}
    return replace(
        recollection, memories=ranked, entities=tuple(one for one in recollection.entities if one.name in about)
    )


def _uses(recollection: Recollection, context: Context) -> tuple[Used, ...]:
    indexes, at = context.stores.indexes, context.stores.clock()
    with indexes.lock:
        known = [(one.iri, node) for one in recollection.memories if (node := indexes.nodes.find(one.iri)) is not None]
        return tuple(Used(memory=iri, graph=indexes.nodes.graph(node), at=at) for iri, node in known)


@handles(operations.Get)
def get(operation: operations.Get, context: Context) -> Described:
    """Look up every statement about an IRI."""
    scope, service = context.scope(operation.namespace), context.service
    described = read.describe(operation.iri, scope, context.stores)
    if not operation.explain:
        return described
    knobs, rules = context.settings.consolidation, service.new_rules()
    now = context.stores.clock()
    spared = explain_spared(operation.iri, scope, now, service.zone, rules, context.stores, knobs)
    return replace(described, spared=spared)


@handles(operations.List)
def list_page(operation: operations.List, context: Context) -> tuple[Listed, ...]:
    """Look up a page of memories."""
    context.require_page(operation.limit, operation.offset)
    scope = context.scope(operation.namespace).narrow(alone=operation.alone)
    return tuple(
        read.list_memories(
            scope,
            operation.limit,
            operation.offset,
            operation.past,
            context.stores.clock(),
            context.stores,
            only=context.read_filter(operation),
        )
    )


@handles(operations.Relations)
def list_related(operation: operations.Relations, context: Context) -> tuple[Relation, ...]:
    """Look up the links of a memory, or the memories about something."""
    context.require_page(operation.limit)
    scope, now = context.scope(operation.namespace), context.stores.clock()
    if (operation.iri is None) == (operation.entity is None):
        raise InputError("give either a memory or an entity: one of the two, not both")
    if operation.iri is not None:
        return tuple(read.list_relations(operation.iri, scope, operation.limit, now, context.stores))
    context.require_text(operation.entity, "entity")
    return tuple(read.list_mentioning(str(operation.entity), scope, operation.limit, now, context.stores))


@handles(operations.Tags)
def tags(operation: operations.Tags, context: Context) -> tuple[TagCount, ...]:
    """Look up the tags in use."""
    return read.list_tags(context.scope(operation.namespace).narrow(alone=operation.alone), context.stores)


@handles(operations.Entities)
def entities(operation: operations.Entities, context: Context) -> tuple[RecalledEntity, ...]:
    """Look up the entities that most memories are about."""
    context.require_page(operation.limit)
    return read.list_entities(context.scope(operation.namespace), operation.limit, context.stores)


@handles(operations.Timeline)
def timeline(operation: operations.Timeline, context: Context) -> Timeline:
    """Look up the history of a subject on both time axes."""
    context.require_text(operation.subject, "subject")
    context.require_page(operation.limit)
    zone = context.service.zone
    return read.build_timeline(
        operation.subject,
        context.scope(operation.namespace),
        operation.limit,
        context.stores,
        now=context.stores.clock(),
        as_of=None if operation.as_of is None else instant(operation.as_of, "as_of", zone),
        believed_at=None if operation.believed_at is None else instant(operation.believed_at, "believed_at", zone),
    )


@handles(operations.Neighbours)
def neighbours(operation: operations.Neighbours, context: Context) -> Neighbourhood:
    """Look up the links of some nodes."""
    if not 1 <= len(operation.nodes) <= MOST_NODES:
        raise InputError(f"nodes must be from 1 to {MOST_NODES} names or IRIs, not {len(operation.nodes)}")
    scope = context.scope(operation.namespace)
    iris = [iri for one in operation.nodes for iri in _resolve_node(one, scope, context)]
    return network.list_neighbours(iris, operation.limit, scope, context.stores)


@handles(operations.FindPath)
def find_path(operation: operations.FindPath, context: Context) -> Neighbourhood:
    """Look for a path between two things."""
    scope = context.scope(operation.namespace)
    start, end = (_resolve_node(one, scope, context) for one in (operation.start, operation.end))
    return network.find_path(start, end, operation.steps, scope, context.stores)


def _resolve_node(name: str, scope: Scope, context: Context) -> list[IRI]:
    context.require_text(name, "a name")
    return read.resolve_subject(name, scope, context.stores)


@handles(operations.Manifest)
def manifest(operation: operations.Manifest, context: Context) -> Manifest:
    """Draw the map, or return the cached one."""
    scope, maps = context.scope(operation.namespace), context.service.maps
    return maps.draw(scope) if operation.fresh else maps.get(scope)


def manifest_text(context: Context, namespace: str | None) -> str:
    """Return the text of the cached map without waiting; if there is none, return an empty text and start drawing one."""
    kept = context.service.maps.peek(context.scope(namespace), want=True)
    return kept.text if kept else ""


def health(context: Context, upstreams: Mapping[str, str]) -> Health:
    """
    Report whether questions are answered at full speed yet, and the state of each part, over all namespaces that the caller sees.

    Args:
        upstreams: the model providers, by protocol, of a proxy in front of this memory.
    """
    service, scope = context.service, context.scope(None)
    report = check.report_health(scope, context.access, upstreams, context.stores, service.watch.report())
    if not context.owns_folder():
        return report
    return replace(report, proxied=count_chats())


def count_chats() -> dict[str, int] | None:
    """Count the requests of chat apps since this process started, by what came of their memories; None if there were none."""
    return {name: n for name, n in telemetry.tally("proxy.").items() if name in _PROXIED} or None
