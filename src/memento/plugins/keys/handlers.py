"""Answer the operations on keys: the walk, and texts stored under keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memento.consolidation.amend import Rewrite
from memento.consolidation.task import Task, link_turns, place_in_session
from memento.errors import Forbidden, InputError, MementoError, NotFound
from memento.graph.mapping import mark_quads, quads
from memento.graph.oxigraph import measure_files
from memento.iris import IRI, MEM, TYPE, anchor_of, phrase_of, session_iri
from memento.model import Change, Filter, Marks, Read, Scope, Session
from memento.plugins.keys import direct, learn, match, operations, walk
from memento.plugins.keys.labels import check_types, clean_keys
from memento.plugins.keys.learn import QueryLog
from memento.plugins.keys.match import choose_thresholds
from memento.plugins.keys.nouns import (
    BatchRow,
    Cleaned,
    DirectRecall,
    FoundKeys,
    KeyOf,
    KeyPage,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    Related,
    Remembered,
    ToRemember,
    TurnRow,
)
from memento.plugins.keys.remember import Outcome, WriteContext, inherit_keys, link_keys, plan_memory
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.keys.view import KeyView
from memento.plugins.keys.walk import PageRequest, Traversal
from memento.rank import MIDDLING, rate_importance
from memento.search.spellings import fold_text
from memento.service.context import Context, handles
from memento.text.tags import sort_by_rules
from memento.time import now

MOST_ITEMS = 100
_FOLLOWED = 20  # in a large namespace, how many of the keys found for a question have their memories loaded


@handles(operations.FindKeys)
def find_keys(operation: operations.FindKeys, context: Context) -> FoundKeys:
    """Match a question with keys by spelling, meaning and content."""
    context.require_text(operation.query, "query")
    scope, at = context.scope(operation.namespace), now()
    vectors, options = context.embed_question(operation.query), context.settings.of(KeysSettings)
    limits = choose_thresholds(context.stores.embedder.fingerprint, options)
    query = match.KeyQuery(text=operation.query, vectors=vectors, limits=limits)
    _bring_matched(query, scope, context)
    with context.stores.indexes.lock:
        leads = key_view(context, scope, at)
        found = match.match_keys(query, leads, context.stores.graph, options)
        best = match.pick_best(found, leads, operation.k)
        aliases = match.list_aliases([one.entry for one in best], scope.readable, context.stores.graph)
        rows = match.describe_keys(best, leads, aliases, options.hub)
    if options.autokey:
        context.service.keep(QueryLog).log(operation.query, scope.graph, found, at)
    return FoundKeys(query=operation.query, namespace=scope.namespace, keys=tuple(rows))


@handles(operations.ReadKey)
def read_key(operation: operations.ReadKey, context: Context) -> KeyPage:
    """Show a page of the memories that a key leads to."""
    if operation.offset < 0:
        raise InputError(f"offset must not be negative, not {operation.offset}")
    if operation.query is not None:
        context.require_text(operation.query, "query")
    scope = context.scope(operation.namespace)
    vectors = None if operation.query is None else context.embed_question(operation.query)
    page = PageRequest(limit=operation.limit, offset=operation.offset, query=vectors)
    _bring_led(operation.iri, scope, context)
    with context.stores.indexes.lock:
        way = traversal(scope, context)
        lead = way.view.find_entry(operation.iri)
        if lead is None:
            raise NotFound(
                f"there is no key <{operation.iri[:200]}> in the namespace {scope.namespace!r}: ask for keys first"
            )
        aliases = match.list_aliases([lead], scope.readable, context.stores.graph)
        return walk.list_page(lead, page, way, aliases.get(lead.iri, ()), context.settings.of(KeysSettings).hub)


@handles(operations.ReadMemory)
def read_memory(operation: operations.ReadMemory, context: Context) -> OpenedMemory:
    """Open a memory, and reinforce it and the link that led to it."""
    scope, service = context.scope(operation.namespace), context.service
    leaves_trace = context.access.may("write") and service.degraded is None
    if operation.via is not None:
        _bring_led(operation.via, scope, context)
    _bring_beside(operation.iri, scope, context)
    with context.stores.indexes.lock:
        way = traversal(scope, context)
        opened, effects = walk.open_memory(operation.iri, operation.via, way, past=operation.past, traced=leaves_trace)
    if effects:
        service.reinforcement.note_effects(*effects)
        traversed = next((one for one in opened.keys if one.is_traversed), None)
        if traversed and context.settings.of(KeysSettings).autokey:
            _learn(traversed, opened.memory, scope, context)
    return opened


@handles(operations.Related)
def related(operation: operations.Related, context: Context) -> Related:
    """Find the neighbours of a memory."""
    scope = context.scope(operation.namespace)
    _bring_beside(operation.iri, scope, context)
    with context.stores.indexes.lock:
        return walk.find_related(operation.iri, traversal(scope, context))


@handles(operations.Conversation)
def conversation(operation: operations.Conversation, context: Context) -> tuple[TurnRow, ...]:
    """List the turns of a session."""
    context.require_text(operation.session, "session")
    scope = context.scope(operation.namespace)
    return walk.read_conversation(operation.session, operation.turn, scope, context.stores.graph)


@handles(operations.ListMemories)
def list_memories(operation: operations.ListMemories, context: Context) -> tuple[MemoryRow, ...]:
    """List memories with their keys."""
    context.require_page(operation.limit, operation.offset)
    scope = context.scope(operation.namespace)
    only, indexes = context.read_filter(operation), context.stores.indexes
    page = indexes.list_newest(scope.memory_graphs, now(), only, skip=operation.offset, most=operation.limit).iris
    with indexes.lock:
        known = indexes.find_all(page, scope.memory_graphs)
        return walk.list_memory_rows([*known], traversal(scope, context, only))


@handles(operations.MemoryStats)
def memory_stats(operation: operations.MemoryStats, context: Context) -> MemoryStats:
    """Count what the memory contains."""
    scope = context.scope(operation.namespace).narrow(alone=operation.alone)
    return walk.count_memories(scope, now(), context.stores, measure_files(context.service.datadir.path))


@handles(operations.RecallMemories)
def recall_memories(operation: operations.RecallMemories, context: Context) -> DirectRecall:
    """Go from a question over keys to memories in one call."""
    options = context.settings.of(KeysSettings)
    if not options.direct:
        raise Forbidden("direct recall over keys is off: set MEMENTO_KEYS_DIRECT=true, or walk with find_keys")
    context.require_text(operation.query, "query")
    scope = context.scope(operation.namespace)
    limits = choose_thresholds(context.stores.embedder.fingerprint, options)
    query = match.KeyQuery(text=operation.query, vectors=context.embed_question(operation.query), limits=limits)
    reranker = context.service.reranker
    wanted = direct.DirectOptions(
        k=max(operation.k, reranker.pool if reranker.has_model else 0),
        hops=operation.hops,
        expand=operation.expand,
        least_share=operation.least_share,
        least_depth=operation.least_depth,
        min_score=operation.min_score,
        gate_z=operation.gate_z,
        key_gate=operation.key_gate,
    )
    _bring_matched(query, scope, context)
    with context.stores.indexes.lock:
        found, effects = direct.rank_directly(query, wanted, traversal(scope, context), options, context.settings.words)
    if reranker.has_model:
        most = operation.k * (2 if operation.expand else 1)
        order = reranker.order(operation.query, [one.content for one in found])
        found = (found if order is None else [found[place] for place in order])[:most]
        kept = {one.memory for one in found}
        effects = [one for one in effects if not isinstance(one, Read) or one.memory in kept]
    if context.access.may("write"):
        context.service.reinforcement.note_effects(*effects)
    return DirectRecall(query=operation.query, namespace=scope.namespace, memories=tuple(found))


@handles(operations.Remember)
def remember(operation: operations.Remember, context: Context) -> Remembered:
    """Store one text."""
    item = ToRemember(
        content=operation.content,
        keys=None if operation.keys is None else tuple(clean_keys(operation.keys)),
        types=dict(operation.types or {}),
        ttl_s=operation.ttl_s,
        related_to=tuple(operation.related_to),
        session=operation.session,
        source=operation.source,
        piece=operation.piece,
    )
    marks = Marks(
        type=operation.type or "",
        importance=operation.importance,
        tags=tuple(operation.tags),
        container=operation.container,
    )
    return _remember(item, context.scope(operation.namespace, "write"), context, marks)


@handles(operations.RememberBatch)
def remember_batch(operation: operations.RememberBatch, context: Context) -> tuple[BatchRow, ...]:
    """Store texts one after the other."""
    scope, items = context.scope(operation.namespace, "write"), operation.items
    if len(items) > MOST_ITEMS:
        raise InputError(f"items must be {MOST_ITEMS} at most, not {len(items)}: send the rest in a further call")
    rows = []
    for item in items:
        try:
            if isinstance(item, InputError):
                raise item
            rows.append(BatchRow(remembered=_remember(item, scope, context, Marks())))
        except MementoError as error:
            rows.append(BatchRow(error=str(error)))
    return tuple(rows)


@handles(operations.CleanupExpired)
def cleanup_expired(operation: operations.CleanupExpired, context: Context) -> Cleaned:
    """Forget memories that have expired, and phrases of keys that were not used for long."""
    scope, at, service = context.scope(operation.namespace, "write"), context.stores.clock(), context.service
    bring_keys(context, scope, ())
    with service.writing, context.stores.indexes.lock:
        service.reinforcement.write_held()
        over, expired = walk.expire_overdue(scope, at, context.stores.graph)
        idle, phrases = learn.unlearn_idle(
            write_context(context, scope, at), context.settings.of(KeysSettings).autokey_days
        )
        change = over + idle
        if change.adds or change.removes:
            context.stores.commit(change, scope)
    return Cleaned(expired=expired, phrases=phrases)


def _remember(item: ToRemember, scope: Scope, context: Context, marks: Marks) -> Remembered:
    context.require_text(item.content, "content")
    context.require_text(item.source, "source")
    stores, service = context.stores, context.service
    # Before the lock is taken: embedded texts are cached.
    stores.embedder.embed([*stores.embedder.windows(item.content), *clean_keys(item.keys or ())])
    bring_keys(context, scope, item.related_to, item.content, [*(item.keys or ()), *marks.tags])
    with service.writing, stores.indexes.lock:
        at = stores.clock()
        if item.related_to or item.keys:
            service.reinforcement.write_held()
        written = plan_memory(item, write_context(context, scope, at))
        change = written.change + _place_turn(item, written, scope, context)
        if written.note is not None:
            tags = sort_by_rules(item.content, context.settings.consolidation.tag_rules)
            importance = marks.importance
            if importance is None:
                importance = rate_importance(item.source, (*marks.tags, *tags), "high")
            beside = replace(
                marks, tags=(*marks.tags, *tags), importance=None if importance == MIDDLING else importance
            )
            change += Change(tuple(mark_quads(written.answer.saved, beside, scope.graph)))
            change += _link_tags(written.answer.saved, marks, item, write_context(context, scope, at))
        if change.adds or change.removes:
            stores.commit(change, scope)
    service.reinforcement.note_effects(*written.effects)
    return written.answer


def _place_turn(item: ToRemember, written: Outcome, scope: Scope, context: Context) -> Change:
    """Return the change that makes a note the next turn of its conversation."""
    if not (item.session and item.session.strip()) or written.note is None:
        return Change()
    session = Session(iri=session_iri(scope.graph, item.session), name=item.session)
    note = replace(written.note, session=session.iri)
    task = place_in_session(Task(note=note, scope=scope, received=now(), session=session), context.stores)
    assert task.note.position is not None
    turn = (
        (note.iri, TYPE, MEM.Turn, scope.graph),
        (note.iri, MEM.session, session.iri, scope.graph),
        (note.iri, MEM.position, task.note.position, scope.graph),
    )
    return Change((*turn, *quads(session, scope.graph))) + link_turns(task)


def _link_tags(memory: IRI, marks: Marks, item: ToRemember, desk: WriteContext) -> Change:
    """Return the links from tags to a memory; they lead to it like given keys. The memory can still be found by its own words."""
    given = {fold_text(key) for key in item.keys or ()}
    tags = [tag for tag in clean_keys(marks.tags) if fold_text(tag) not in given]
    if not tags:
        return Change()
    resolved = desk.resolver().resolve(check_types(tags, None))
    return link_keys(memory, {one.entry: 1.0 for one in resolved}, resolved, desk)


def _learn(traversed: KeyOf, memory: IRI, scope: Scope, context: Context) -> None:
    """Let the traversed key learn from the question that led to it, if that happened often enough."""
    at, options, key, service = now(), context.settings.of(KeysSettings), traversed.key, context.service
    phrase = service.keep(QueryLog).find_phrase(key, scope.graph, at)
    if phrase and phrase != fold_text(traversed.name):
        service.reinforcement.note_effects(*learn.count_use(key, phrase, scope, context.stores))
    lesson = service.keep(QueryLog).take_lesson(key, scope.graph, at, options.autokey_after)
    if lesson is None:
        return
    with service.writing, context.stores.indexes.lock:
        desk = write_context(context, scope, at)
        lead = desk.view.find_entry(key)
        change = learn.learn_phrase(lesson, lead, memory, desk, options) if lead else Change()
        if change.adds:
            context.stores.commit(change, scope)


def _bring_matched(query: match.KeyQuery, scope: Scope, context: Context) -> None:
    """Load into the indexes the keys that a question leads to, and the memories they lead to."""
    indexes, options = context.stores.indexes, context.settings.of(KeysSettings)
    bring_keys(context, scope, (), query.text)
    if not indexes.has_whole(scope.memory_graphs):
        with indexes.lock:
            found = match.match_keys(query, key_view(context, scope, now()), context.stores.graph, options)
        best = sorted(found.candidates.values(), key=lambda one: -one.relevance)[:_FOLLOWED]
        bring_keys(context, scope, [iri for one in best for iri in one.entry.written])


def _bring_led(key: str, scope: Scope, context: Context) -> None:
    """Load into the indexes a key, and the memories it leads to."""
    indexes = context.stores.indexes
    bring_keys(context, scope, [key], phrase_of(key) or "")
    if not indexes.has_whole(scope.memory_graphs):
        with indexes.lock:
            lead = key_view(context, scope, now()).find_entry(key)
        if lead:
            bring_keys(context, scope, lead.written, lead.name)


def _bring_beside(memory: str, scope: Scope, context: Context) -> None:
    """Load into the indexes a memory, and what shares a key with it."""
    indexes = context.stores.indexes
    if ":" in memory and not indexes.has_whole(scope.memory_graphs):
        said = indexes.read([IRI(memory)], scope.memory_graphs)
        bring_keys(context, scope, [memory], "".join(one.first(MEM.content) for one in said))


def traversal(scope: Scope, context: Context, only: Filter | None = None) -> Traversal:
    """Return the key view that a walk uses. Hold `indexes.lock`."""
    at = now()
    return Traversal(
        key_view(context, scope, at, only), context.service.reinforcement, context.stores.graph, scope.readable, at
    )


def bring_keys(context: Context, scope: Scope, nodes: Sequence[str], text: str = "", keys: Sequence[str] = ()) -> None:
    """
    Load into the indexes the neighbours of some nodes, what is relevant to a text, and the keys that the text or others name.
    """
    texts = [text] if text else []
    around = [IRI(iri) for one in nodes if ":" in one for iri in (one, anchor_of(one)) if iri]
    context.stores.indexes.bring(scope.memory_graphs, texts=texts, names=[*texts, *keys], around=around)


def key_view(context: Context, scope: Scope, at: datetime, only: Filter | None = None) -> KeyView:
    """Return the key view of the memories, or of those that a filter selects. Hold `indexes.lock`."""
    indexes = context.stores.indexes
    visible = indexes.nodes.current(scope.memory_graphs, now=at)
    if only:
        visible = visible & indexes.filter_nodes(only)
    return KeyView(indexes, context.service.reinforcement, scope, visible, context.settings.of(KeysSettings))


def write_context(context: Context, scope: Scope, at: datetime) -> WriteContext:
    """Return the state that writing under keys needs. Hold `indexes.lock` and the write lock."""
    return WriteContext(
        scope=scope,
        view=key_view(context, scope, at),
        stores=context.stores,
        strengths=context.service.reinforcement,
        limits=choose_thresholds(context.stores.embedder.fingerprint, context.settings.of(KeysSettings)),
        now=at,
        near=context.settings.consolidation,
    )


def add_keys(rewrite: Rewrite, context: Context) -> Change:
    """Return the links of a memory that takes the place of another to the keys given for it, or to those that still fit."""
    bring_keys(context, rewrite.scope, [rewrite.replaces.iri], rewrite.content, rewrite.asked.keys or ())
    with context.stores.indexes.lock:
        return inherit_keys(rewrite, write_context(context, rewrite.scope, rewrite.at))
