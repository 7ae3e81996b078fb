"""
Notes that wait to be understood: kept in the graph, tried, put off, and found again after a kill.

    accepted ── (pending) ─┬─ understood and written ── done
                           ├─ nothing new ───────────── skipped
                           └─ failed n times ────────── by rules, or (failed)

*Guarantees:* a note is in the store before anybody tries to understand it. What that takes lies with the note, so a new process
goes on where the old one ended. `still_waits` under the writers' lock is what makes it happen once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.resolve import said_of
from memento.consolidation.task import Beside, Task, order
from memento.errors import MementoError, NotFound, ShapeViolation
from memento.graph.mapping import attributed, node_or_none, quads
from memento.graph.ranges import fits
from memento.model import (
    Change,
    Consolidation,
    Note,
    NoteState,
    NoteStatus,
    Quad,
    Scope,
    Session,
    State,
    Value,
)
from memento.vocabulary import IRI, MEM, TYPE, mint, namespace_of, tenant_of

_CALLED: dict[str, NoteState] = {
    "pending": "pending",
    "done": "consolidated",
    "skipped": "skipped",
    "failed": "failed",
}
_LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A note in the queue; those that came first sort first."""

    note: IRI
    scope: Scope
    state: State
    attempts: int = 0
    retry_at: datetime | None = None


def accepted(task: Task) -> tuple[Task, Change]:
    """The note as pending, and the change that keeps it."""
    scope = task.scope
    run = Consolidation(
        iri=mint("consolidation"),
        note=task.note.iri,
        at=task.received,
        state="pending",
        isolated=None if scope.with_main else True,
    )
    note = replace(task.note, state="pending", title=task.title, speaker=task.speaker)
    pending = _pending(note, task.session, scope)
    kept = replace(task, run=run, pending=pending, beside=Beside())
    return kept, Change((*pending, *quads(run, scope.provenance))) + order(task)


def waiting(parts: Backends, states: Sequence[State] = ("pending",)) -> list[Waiting]:
    """The notes of every namespace of every tenant that are still to be understood, the oldest first."""
    graphs = [
        graph for graph in parts.graph.graphs() if graph.startswith(("urn:memento:graph:", "urn:memento:provenance:"))
    ]
    rows = parts.graph.select("consolidation/waiting", graphs, state=list(states)) if graphs else []
    return [
        Waiting(
            note=cast(IRI, row["note"]),
            scope=Scope(tenant_of(str(row["graph"])), namespace_of(str(row["graph"])), with_main="isolated" not in row),
            state=cast(State, row["state"]),
            attempts=int(str(row.get("attempts", 0))),
            retry_at=cast("datetime | None", row.get("retryAt")),
        )
        for row in rows
    ]


def task_again(one: Waiting, parts: Backends) -> Task | None:
    """A waiting note as a task, from what lies in the graph; None when it waits no more."""
    scope = one.scope
    said = said_of([one.note], scope, parts).get(one.note)
    run, _ = _run_of(one.note, scope, parts)
    if said is None or run is None or MEM.state not in said:
        return None
    note = node_or_none(Note, one.note, said)
    if note is None:
        return None
    session = None
    if note.session and (named := said_of([note.session], scope, parts).get(note.session)):
        session = node_or_none(Session, note.session, named)
    return Task(
        note=replace(note, state=None, title=None, speaker=None),
        scope=scope,
        received=run.at,
        session=session,
        speaker=note.speaker,
        title=note.title,
        run=run,
        pending=_pending(note, session, scope),
    )


def still_waits(task: Task, parts: Backends) -> bool:
    """Whether the note of a task is still to be understood; ask under the writers' lock."""
    said = said_of([task.note.iri], task.scope, parts).get(task.note.iri, {})
    return bool({"pending", "failed"} & set(said.get(MEM.state, ())))


def put_off(task: Task, error: BaseException, state: State, retry_at: datetime | None) -> tuple[Task, Change]:
    """
    The run with one more failure; the note's own state follows it.

    What is kept of the error is its class and message, which name no text of the note, or the report of what broke a shape.
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


def status_of(iri: str, scope: Scope, parts: Backends) -> NoteStatus:
    """
    How far a note has come.

    Raises:
        NotFound: the namespace has no such note.
    """
    note = IRI(iri)
    said = said_of([note], scope, parts).get(note, {}) if ":" in iri else {}
    run, agent = _run_of(note, scope, parts) if said else (None, None)
    if MEM.Note not in said.get(TYPE, ()):
        raise NotFound(f"there is no note <{iri[:200]}> in the namespace {scope.namespace!r}")
    rows = parts.graph.select("consolidation/outcome", scope.readable, note=note)
    state = str(next((value for value in said.get(MEM.state, ()) if fits(MEM.state, value)), "done"))
    return NoteStatus(
        note=note,
        state=_CALLED[state],
        memories=tuple(dict.fromkeys(cast(IRI, row["memory"]) for row in rows)),
        invalidated=tuple(dict.fromkeys(cast(IRI, row["retired"]) for row in rows if "retired" in row)),
        agent=agent,
        attempts=(run.attempts or 0) if run else 0,
        error=run.error if run else None,
        reason=run.reason if run else None,
        retry_at=run.retry_at if run else None,
    )


def _run_of(note: IRI, scope: Scope, parts: Backends) -> tuple[Consolidation | None, str | None]:
    """The run of a note, and the name of its agent."""
    said: dict[IRI, list[Value]] = {}
    rows = parts.graph.select("consolidation/run", [scope.provenance], note=note)
    for row in rows:
        said.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
    if not rows:
        return None, None
    agent = rows[0].get("agent")
    return node_or_none(Consolidation, cast(IRI, rows[0]["run"]), said), str(agent) if agent is not None else None


def _pending(note: Note, session: Session | None, scope: Scope) -> tuple[Quad, ...]:
    """What lies in the graph of a note that waits."""
    graph = scope.graph
    found = [*quads(note, graph), attributed(note.iri, scope.user, graph)]
    if session:
        found += [*quads(session, graph), (note.iri, TYPE, MEM.Turn, graph)]
    return tuple(found)
