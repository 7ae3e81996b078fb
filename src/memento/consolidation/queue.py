"""
The queue of notes that wait to be understood: stored in the graph, tried, retried later, and found again after a kill.

    accepted ── (pending) ─┬─ understood and written ── done
                           ├─ nothing new ───────────── skipped
                           └─ failed n times ────────── by rules, or (failed)

If several nodes share the store, the node that has claimed a waiting note tries it; when the claim expires, another node may.

*Guarantees:* a note is in the store before anybody tries to understand it. Everything needed for that is stored with the note, so a
new process continues where the old one ended. `is_waiting`, checked under the writers' lock, ensures that it happens only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.context import load_statements
from memento.consolidation.task import Neighbours, Task, contents_of, link_turns
from memento.errors import MementoError, NotFound, ShapeViolation
from memento.graph.mapping import attribute_note, node_or_none, quads, tag_quads
from memento.graph.ranges import fits
from memento.iris import GLOBAL, IRI, MEM, TYPE, graph_iri, mint, namespace_of, parse_iri, tag_name, tenant_of
from memento.model import (
    Change,
    Consolidation,
    Note,
    NoteState,
    NoteStatus,
    Quad,
    Scope,
    Session,
    StepState,
    Value,
)

_STATE_NAMES: dict[str, NoteState] = {
    "pending": "pending",
    "done": "consolidated",
    "skipped": "skipped",
    "failed": "failed",
}
_LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingNote:
    """A note in the queue; earlier ones sort first."""

    note: IRI
    scope: Scope
    state: StepState
    attempts: int = 0
    retry_at: datetime | None = None


def accept_note(task: Task) -> tuple[Task, Change]:
    """Return the task with its note as pending, and the change that stores it."""
    scope = task.scope
    run = Consolidation(
        iri=mint("consolidation"),
        note=task.note.iri,
        at=task.received,
        state="pending",
        isolated=None if scope.with_main else True,
    )
    note = replace(task.note, state="pending", title=task.title, speaker=task.speaker)
    pending = _pending_quads(note, task.session, scope)
    accepted = replace(task, run=run, pending=pending, neighbours=Neighbours())
    # Not among the quads that go if the note says nothing new: other notes may be of the import too.
    imported = quads(task.imported, scope.graph) if task.imported else ()
    return accepted, Change((*pending, *imported, *quads(run, scope.provenance))) + link_turns(task)


def list_waiting(parts: Backends, states: Sequence[StepState] = ("pending",)) -> list[WaitingNote]:
    """List the notes of every namespace of every tenant that are still to be understood, oldest first."""
    graphs = [
        graph for graph in parts.graph.graphs() if graph.startswith(("urn:memento:graph:", "urn:memento:provenance:"))
    ]
    rows = parts.graph.select("consolidation/waiting", graphs, state=list(states)) if graphs else []
    return [
        WaitingNote(
            note=cast(IRI, row["note"]),
            scope=Scope(
                tenant_of(str(row["graph"])),
                namespace_of(str(row["graph"])),
                with_main="isolated" not in row,
                with_global="isolated" not in row
                and parts.indexes.knows(graph_iri(tenant_of(str(row["graph"])), GLOBAL)),
            ),
            state=cast(StepState, row["state"]),
            attempts=int(str(row.get("attempts", 0))),
            retry_at=cast("datetime | None", row.get("retryAt")),
        )
        for row in rows
    ]


def list_states(scope: Scope, parts: Backends) -> tuple[NoteStatus, ...]:
    """List the status of the notes in the graphs of a scope that are not understood yet, oldest first."""
    waiting = [one for one in list_waiting(parts, ("pending", "failed")) if one.scope.graph in scope.memory_graphs]
    said = load_statements([one.note for one in waiting], scope, parts) if waiting else {}
    return tuple(
        replace(load_status(one.note, one.scope, parts), said=str(next(iter(said[one.note].get(MEM.content, ())), "")))
        for one in waiting
        if one.note in said
    )


def load_task(waiting: WaitingNote, parts: Backends) -> Task | None:
    """Load a waiting note from the graph as a task; None if it no longer waits or cannot be read."""
    scope = waiting.scope
    statements = load_statements([waiting.note], scope, parts).get(waiting.note)
    run, _ = _load_run(waiting.note, scope, parts)
    if statements is None or run is None or MEM.state not in statements:
        return None
    note = node_or_none(Note, waiting.note, statements)
    if note is None:
        return None
    session = None
    if note.session and (named := load_statements([note.session], scope, parts).get(note.session)):
        session = node_or_none(Session, note.session, named)
    return Task(
        note=replace(note, state=None, title=None, speaker=None),
        scope=scope,
        received=run.at,
        session=session,
        speaker=note.speaker,
        title=note.title,
        run=run,
        pending=_pending_quads(note, session, scope),
    )


def is_waiting(task: Task, parts: Backends) -> bool:
    """Tell whether the note of a task still waits. Call this under the writers' lock."""
    statements = load_statements([task.note.iri], task.scope, parts).get(task.note.iri, {})
    return bool({"pending", "failed"} & set(statements.get(MEM.state, ())))


def claim(task: Task, until: datetime) -> tuple[Task, Change]:
    """Claim a note for this node until some time, so that no other node tries it. Call this under the writers' lock."""
    assert task.run is not None
    run = replace(task.run, retry_at=until)
    before, after = quads(task.run, task.scope.provenance), quads(run, task.scope.provenance)
    new, gone = ([one for one in some if one not in others] for some, others in ((after, before), (before, after)))
    return replace(task, run=run), Change(tuple(new), tuple(gone))


def postpone(task: Task, error: BaseException, state: StepState, retry_at: datetime | None) -> tuple[Task, Change]:
    """
    Count one more failure of the run, and set the state of the note accordingly.

    Of the error, its class and message are stored, which contain no text of the note, or the report of the shape violation.
    """
    assert task.run is not None
    known = isinstance(error, MementoError)
    reason = error.report if isinstance(error, ShapeViolation) and error.report else str(error)
    run = replace(
        task.run,
        state=state,
        attempts=(task.run.attempts or 0) + 1,
        error=type(error).__name__,
        reason=(reason[:_LONGEST_REASON].strip() if known else "") or "it failed inside; the log says where",
        retry_at=retry_at,
    )
    before, after = quads(task.run, task.scope.provenance), quads(run, task.scope.provenance)
    pending = tuple(
        (subject, predicate, state if (subject, predicate) == (task.note.iri, MEM.state) else value, graph)
        for subject, predicate, value, graph in task.pending
    )
    gone = [quad for quad in (*before, *task.pending) if quad not in (*after, *pending)]
    new = [quad for quad in (*after, *pending) if quad not in (*before, *task.pending)]
    return replace(task, run=run, pending=pending), Change(tuple(new), tuple(gone))


def load_status(iri: str, scope: Scope, parts: Backends) -> NoteStatus:
    """
    Load the status of a note.

    Raises:
        NotFound: the namespace has no such note.
    """
    note = parse_iri(iri) if ":" in iri else IRI(iri)
    statements = load_statements([note], scope, parts).get(note, {}) if ":" in iri else {}
    run, agent = _load_run(note, scope, parts) if statements else (None, None)
    if MEM.Note not in statements.get(TYPE, ()):
        raise NotFound(f"there is no note <{iri[:200]}> in the namespace {scope.namespace!r}")
    rows = parts.graph.select("consolidation/outcome", scope.readable, note=note)
    state = str(next((value for value in statements.get(MEM.state, ()) if fits(MEM.state, value)), "done"))
    return NoteStatus(
        note=note,
        state=_STATE_NAMES[state],
        memories=tuple(dict.fromkeys(cast(IRI, row["memory"]) for row in rows)),
        invalidated=tuple(dict.fromkeys(cast(IRI, row["retired"]) for row in rows if "retired" in row)),
        agent=agent,
        attempts=(run.attempts or 0) if run else 0,
        error=run.error if run else None,
        reason=run.reason if run else None,
        retry_at=run.retry_at if run else None,
        contents=contents_of(rows),
    )


def _load_run(note: IRI, scope: Scope, parts: Backends) -> tuple[Consolidation | None, str | None]:
    """Load the run of a note, and the name of its agent."""
    statements: dict[IRI, list[Value]] = {}
    rows = parts.graph.select("consolidation/run", [scope.provenance], note=note)
    for row in rows:
        statements.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
    if not rows:
        return None, None
    agent = rows[0].get("agent")
    return node_or_none(Consolidation, cast(IRI, rows[0]["run"]), statements), str(agent) if agent is not None else None


def _pending_quads(note: Note, session: Session | None, scope: Scope) -> tuple[Quad, ...]:
    """List the quads that the graph holds of a waiting note."""
    graph = scope.graph
    pending = [*quads(note, graph), attribute_note(note.iri, scope.user, graph)]
    pending += tag_quads(note.iri, map(tag_name, note.tags), graph)
    if session:
        pending += [*quads(session, graph), (note.iri, TYPE, MEM.Turn, graph)]
    return tuple(dict.fromkeys(pending))
