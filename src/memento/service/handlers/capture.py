"""Answer the operations on what was said in sessions: put it into the journal, note it, let the user decide."""

from __future__ import annotations

import logging
from dataclasses import replace

from memento.access import OWNER
from memento.consolidation import queue
from memento.consolidation.task import make_tasks
from memento.errors import BackendError, InputError
from memento.intake.capture import ALIKE, ALIKE_HIGH, BATCH, Captured, keep_turns
from memento.model import Capturing, Decided, LogEntry, Noted, Proposal, Scope
from memento.operations import capture as operations
from memento.search.indexes import View
from memento.service.context import Context, Service, handles
from memento.service.handlers.notes import join_pieces
from memento.service.understanding import take_batches

logger = logging.getLogger(__name__)

_AWAY_S = 60.0
"""Seconds until entries are tried again whose store was unavailable."""
_LOOK_S = 2.0
"""Seconds between two looks at the journal, since hooks write to it without notifying the service."""


@handles(operations.Capture)
def capture(operation: operations.Capture, context: Context) -> Capturing:
    """Write the parts of a session that are to be stored into the journal."""
    scope = context.scope(operation.namespace, "write")
    done = keep_turns(operation, scope, context.settings.capture, context.service.journal)
    if done.kept and done.mode == "on":
        context.service.capturer.wake()
    return done


def take_captured(service: Service) -> float | None:
    """Note a batch of waiting entries of the journal; return the seconds until the next look."""
    if service.degraded or not service.journal.list_waiting():
        return _LOOK_S if service.settings.capture.is_on else None
    with service.journal.taking() as is_ours:
        return _take_some(service) if is_ours else _LOOK_S


def _take_some(service: Service) -> float | None:
    waiting = [one for one in service.journal.list_waiting() if one.state == "waiting"]
    if not waiting:
        return _LOOK_S if service.settings.capture.is_on else None
    batch = waiting[:BATCH]
    modes = {one.id: service.settings.capture.find_mode(one.namespace) for one in batch}
    if proposed := [one.id for one in batch if modes[one.id] != "on"]:
        service.journal.propose(proposed)
    for one in batch:
        if service.capturer.stopping.is_set():
            return None
        if modes[one.id] == "on":
            try:
                _note_captured(one, service)
            except BackendError as error:  # the store or a model is unavailable: the entries wait
                logger.warning("capture.put-off", extra={"error": type(error).__name__})
                return _AWAY_S
    return 0.0 if len(waiting) > len(batch) else _LOOK_S


def _note_captured(captured: Captured, service: Service) -> Noted:
    """Note an entry of the journal and remove it; an entry that cannot become a note is removed too."""
    context = service.context(replace(OWNER, tenant=captured.tenant))
    scope = context.scope(captured.namespace, "write")
    if captured.keep and context.stores.run(lambda: _is_told_already(captured, scope, context), is_read=True):
        service.journal.remove_entries([captured.id], "known")
        return Noted(note=None, skipped="it is already known")
    tasks = make_tasks(
        captured.row, scope, captured.at, service.zone, service.settings.consolidation, keep=captured.keep
    )
    try:
        noted = [one for batch in take_batches([tasks], scope, context.service) for one in batch]
    except InputError as error:
        service.journal.remove_entries([captured.id], "refused")
        return Noted(note=None, skipped=str(error))
    service.journal.remove_entries([captured.id], "noted")
    return join_pieces(noted)


def _is_told_already(captured: Captured, scope: Scope, context: Context) -> bool:
    """Tell whether a current memory is almost the same: tools repeat themselves."""
    vectors = context.embed_question(captured.row.content)
    with context.stores.indexes.lock:
        at, texts = context.stores.clock(), [captured.row.content]
        view = View.at(context.stores.indexes, scope.memory_graphs, at, None, None, texts)
        _, cosines = view.indexes.vectors["memory"].near(vectors, 1, view.visible)
    least = ALIKE_HIGH if captured.row.priority == "high" else ALIKE
    return bool(cosines.size) and float(cosines[0]) >= least


@handles(operations.Proposals)
def list_proposals(operation: operations.Proposals, context: Context) -> tuple[Proposal, ...]:
    """Look up the proposals that wait for approval."""
    context.require_page(operation.limit, operation.offset)
    waiting = _list_proposed(operation.namespace, context)[operation.offset :][: operation.limit]
    return tuple(
        Proposal(
            id=one.id,
            content=one.row.content,
            at=one.row.at or one.at,
            client=one.client,
            session=one.row.session,
            speaker=one.row.speaker,
            source=one.row.source,
            priority=one.row.priority,
        )
        for one in waiting
    )


def _list_proposed(namespace: str | None, context: Context) -> list[Captured]:
    return [one for one in context.service.journal.list_waiting(context.scope(namespace)) if one.state == "proposed"]


def _choose_proposals(
    operation: operations.AcceptProposals | operations.RejectProposals, context: Context
) -> tuple[list[Captured], tuple[str, ...]]:
    """Return the requested proposals, and the ids that are unknown."""
    context.scope(operation.namespace, "write")
    if bool(operation.proposals) == operation.every:
        raise InputError("give the ids of proposals, or every=true for all that wait in the namespace")
    waiting = {one.id: one for one in _list_proposed(operation.namespace, context)}
    wanted = [*waiting] if operation.every else [*dict.fromkeys(operation.proposals)]
    return [waiting[id] for id in wanted if id in waiting], tuple(id for id in wanted if id not in waiting)


@handles(operations.AcceptProposals)
def accept_proposals(operation: operations.AcceptProposals, context: Context) -> Decided:
    """Note proposals one after the other."""
    chosen, unknown = _choose_proposals(operation, context)
    noted = [_note_captured(one, context.service) for one in chosen]
    return Decided(
        decided=tuple(one.id for one in chosen),
        unknown=unknown,
        memories=sum(len(one.memories) for one in noted),
        skipped=sum(one.skipped is not None for one in noted),
    )


@handles(operations.RejectProposals)
def reject_proposals(operation: operations.RejectProposals, context: Context) -> Decided:
    """Delete proposals."""
    chosen, unknown = _choose_proposals(operation, context)
    context.service.journal.remove_entries([one.id for one in chosen], "rejected")
    return Decided(decided=tuple(one.id for one in chosen), unknown=unknown)


@handles(operations.WriteAheadLog)
def list_unfinished(operation: operations.WriteAheadLog, context: Context) -> tuple[LogEntry, ...]:
    """Look up the waiting notes and the captured entries."""
    scope = context.scope(operation.namespace)
    found = [
        LogEntry(id=one.id, timestamp=one.at, kind="captured" if one.state == "waiting" else "proposal")
        for one in context.service.journal.list_waiting(scope)
    ]
    for waiting in queue.list_waiting(context.stores, ("pending", "failed")):
        if (waiting.scope.tenant, waiting.scope.namespace) != (scope.tenant, scope.namespace):
            continue
        if (task := queue.load_task(waiting, context.stores)) and task.run:
            error = task.run.error
            found.append(LogEntry(id=waiting.note, timestamp=task.run.at, attempts=waiting.attempts, error=error))
    return tuple(sorted(found, key=lambda one: one.timestamp))
