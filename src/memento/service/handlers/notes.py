"""Answer the operations on notes, and on the memories that are made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from memento.archive.forget import forget_iri, unforget_iri
from memento.archive.read import list_sources
from memento.consolidation import amend, queue
from memento.consolidation.amend import list_disputes, settle_dispute
from memento.consolidation.task import (
    make_tasks,
    require_ttl,
)
from memento.errors import InputError, NotFound
from memento.iris import MEM, TYPE, tag_iri
from memento.model import (
    Change,
    Dispute,
    Filter,
    Forgotten,
    Marked,
    Marks,
    Noted,
    NoteRow,
    NoteStatus,
    Receipt,
    Scope,
    Settled,
    Source,
    Undone,
    Unforgotten,
)
from memento.operations import notes
from memento.service.audit import access_quads
from memento.service.context import Context, handles
from memento.service.understanding import preview_note, raise_if_full, retry_note, take_note
from memento.time import instant


@handles(notes.Note)
def note(operation: notes.Note, context: Context) -> Noted:
    """Understand a note and write the result."""
    zone = context.service.zone
    row = NoteRow(
        content=operation.content,
        at=None if operation.at is None else instant(operation.at, "at", zone),
        title=operation.title,
        speaker=operation.speaker,
        session=operation.session,
        position=operation.position,
        idempotency_key=operation.idempotency_key,
        tags=tuple(operation.tags),
        container=operation.container,
        priority=operation.priority,
        source=operation.source,
        ttl_s=operation.ttl_s,
    )
    context.require_text(operation.content, "content")
    require_ttl(operation.ttl_s, "ttl")
    scope, knobs = context.scope(operation.namespace, "write"), context.settings.consolidation
    tasks = make_tasks(row, scope, context.stores.clock(), zone, knobs)
    if operation.dry_run:
        return join_pieces([preview_note(task, context.service) for task in tasks])
    if not operation.wait or context.service.models:
        raise_if_full(context.service)
    done = [take_note(tasks[0], context.service, wait=operation.wait)]
    for task in tasks[1:]:  # the first piece may have been stored before, under another IRI
        note = replace(task.note, parent=done[0].note or task.note.parent)
        done.append(take_note(replace(task, note=note), context.service, wait=operation.wait))
    return join_pieces(done)


@handles(notes.NoteStatus)
def note_status(operation: notes.NoteStatus, context: Context) -> NoteStatus:
    """Look up the state of a note."""
    scope = context.scope(operation.namespace)
    with context.service.writing:  # so that a recall finds whatever this reports as written
        return queue.load_status(operation.iri, scope, context.stores)


@handles(notes.ListWaiting)
def list_waiting(operation: notes.ListWaiting, context: Context) -> tuple[NoteStatus, ...]:
    """Look up the waiting notes."""
    return queue.list_states(context.scope(operation.namespace), context.stores)


@handles(notes.Retry)
def retry(operation: notes.Retry, context: Context) -> tuple[NoteStatus, ...]:
    """Try the notes of every namespace that the caller may write to."""
    context.access.needs("write")
    context.require_writable()
    states = []
    for one in queue.list_waiting(context.stores, ("pending", "failed")):
        if one.scope.tenant != context.access.tenant or not context.access.sees(one.scope.namespace):
            continue
        if task := queue.load_task(one, context.stores):
            retry_note(task, context.service.new_agents(), context.service)
            states.append(queue.load_status(one.note, one.scope, context.stores))
    return tuple(states)


def join_pieces(noted: Sequence[Noted]) -> Noted:
    """Combine the results of the pieces of one text; its note is the first that was stored."""
    if len(noted) == 1:
        return noted[0]
    kept = [one for one in noted if one.note]
    return Noted(
        note=kept[0].note if kept else None,
        memories=tuple(memory for one in noted for memory in one.memories),
        invalidated=tuple(dict.fromkeys(old for one in noted for old in one.invalidated)),
        claims=tuple(one for part in noted for one in part.claims),
        ended=tuple(one for part in noted for one in part.ended),
        skipped=None if kept or any(one.readings for one in noted) else noted[0].skipped,
        contradicts=tuple(dict.fromkeys(old for one in noted for old in one.contradicts)),
        pending=any(one.pending for one in noted),
        verbatim=next((one.verbatim for one in noted if one.verbatim), None),
        remarks=tuple(dict.fromkeys(remark for one in noted for remark in one.remarks)),
        contents={iri: text for one in noted for iri, text in one.contents.items()},
        readings=tuple(reading for one in noted for reading in one.readings),
    )


@handles(notes.Mark)
def mark(operation: notes.Mark, context: Context) -> tuple[Marked, ...]:
    """Change the tags, container or importance of memories."""
    given = (operation.tags, operation.untag, operation.importance)
    if operation.container is None and not any(one not in (None, ()) and one != [] for one in given):
        raise InputError("nothing to change: give tags, untag, container or importance")
    scope, service = context.scope(operation.namespace, "write"), context.service
    with service.writing:
        service.reinforcement.write_held()
        return amend.mark_memories(
            operation.iri,
            Marks(tags=tuple(operation.tags), container=operation.container, importance=operation.importance),
            operation.untag,
            scope,
            context.stores,
        )


@handles(notes.Correct)
def correct(operation: notes.Correct, context: Context) -> Noted:
    """Retire a memory as never having been true, and write the text that replaces it."""
    context.require_text(operation.content, "content")
    scope, service = context.scope(operation.namespace, "write"), context.service
    since = None if operation.at is None else instant(operation.at, "at", service.zone)
    asked = amend.Correction(
        iri=operation.iri,
        content=operation.content,
        since=since,
        keys=operation.keys,
        types=operation.types,
        related_to=operation.related_to,
    )
    with service.understanding, service.writing:
        service.reinforcement.write_held()
        noted = amend.correct(
            asked, scope, context.stores, service.reinforcement, service.new_rules(), add=context.add_to_rewrite
        )
    service.maps.record(scope, "corrected", *noted.memories)
    return noted


@handles(notes.Undo)
def undo(operation: notes.Undo, context: Context) -> Undone:
    """Undo an invalidation: the memory that it retired holds again."""
    scope = context.scope(operation.namespace, "write")
    with context.service.writing:
        return amend.undo(operation.iri, scope, context.stores.clock(), context.stores)


@handles(notes.Disputes)
def disputes(operation: notes.Disputes, context: Context) -> tuple[Dispute, ...]:
    """Look up memories that disagree."""
    return list_disputes(context.scope(operation.namespace), context.stores, operation.limit)


@handles(notes.Settle)
def end_dispute(operation: notes.Settle, context: Context) -> Settled:
    """End one of two memories."""
    scope = context.scope(operation.namespace, "write")
    with context.service.writing:
        return settle_dispute(operation.kept, operation.ended, scope, context.stores, reason=operation.reason)


@handles(notes.Forget)
def forget(operation: notes.Forget, context: Context) -> Forgotten:
    """Forget a memory or note: hide or erase it."""
    with context.service.writing:
        scope = context.scope(operation.namespace, "write")
        now = context.stores.clock()
        restored = amend.restore_ended(operation.iri, scope, now, context.stores) if operation.restore else {}
        gone = forget_iri(operation.iri, scope, operation.erase, now, context.stores, confirm=operation.confirm)
        if gone.erased:
            gone = replace(gone, receipt=_write_receipt(gone, scope, now, context))
    context.service.maps.record(scope, f"forgot {len(gone.memories):,}")
    return replace(gone, restored=restored) if restored else gone


@handles(notes.ForgetTagged)
def forget_tagged(operation: notes.ForgetTagged, context: Context) -> Forgotten:
    """Hide or erase every memory that has one of some tags."""
    scope, stores = context.scope(operation.namespace, "write"), context.stores
    wanted = Filter(tags=tuple(tag_iri(name) for name in operation.tags if name.strip()))
    if not wanted.tags:
        raise InputError("no tag is given: name at least one")
    with context.service.writing:
        memories = stores.indexes.list_newest([scope.graph], stores.clock(), wanted).iris[::-1]
        if not memories:
            named = ", ".join(operation.tags)[:80]
            raise NotFound(
                f"no memory of the namespace {scope.namespace!r} has the tag {named}: `tags` lists those in use"
            )
        # A memory that was erased together with another, such as the summary of a session, is already gone.
        parts = [
            forget_iri(iri, scope, operation.erase, stores.clock(), stores)
            for iri in memories
            if not operation.erase or any(True for _ in stores.graph.match(iri, TYPE, MEM.Memory, scope.graph))
        ]
        gone = Forgotten(
            memories=tuple(dict.fromkeys(iri for one in parts for iri in one.memories)),
            notes=tuple(dict.fromkeys(iri for one in parts for iri in one.notes)),
            erased=operation.erase,
            still_told=tuple(dict.fromkeys(iri for one in parts for iri in one.still_told)),
            cases=tuple(dict.fromkeys(iri for one in parts for iri in one.cases)),
        )
        if gone.erased:
            gone = replace(gone, receipt=_write_receipt(gone, scope, stores.clock(), context))
    context.service.maps.record(scope, f"forgot {len(gone.memories):,}")
    return gone


def _write_receipt(gone: Forgotten, scope: Scope, at: datetime, context: Context) -> Receipt:
    """Record in the audit graph that something was erased, without its content."""
    went = "\n".join(sorted((*gone.memories, *gone.notes, *gone.cases)))
    access = access_quads("memory.erase", context.access.name, scope.tenant, at, [scope.graph], went)
    context.stores.apply(Change(access))
    return Receipt(
        iri=access[0][0],
        at=at,
        by=context.access.name,
        graph=scope.graph,
        memories=len(gone.memories),
        notes=len(gone.notes),
        cases=len(gone.cases),
        digest=sha256(went.encode()).hexdigest(),
    )


@handles(notes.Unforget)
def unforget(operation: notes.Unforget, context: Context) -> Unforgotten:
    """Bring back what was hidden."""
    scope = context.scope(operation.namespace, "write")
    with context.service.writing:
        back = unforget_iri(operation.iri, scope, context.stores.clock(), context.stores)
    if back.notes:
        context.service.consolidator.wake()
    context.service.maps.record(scope, "brought back", *back.memories)
    return back


@handles(notes.Sources)
def sources(operation: notes.Sources, context: Context) -> tuple[Source, ...]:
    """Look up the sources of a memory."""
    return tuple(list_sources(operation.iri, context.scope(operation.namespace), context.stores))
