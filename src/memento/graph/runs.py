"""
Read how a task was carried out from a graph of cases; while it is under way, its texts are in the graph in full.

When it is done, they are packed, gzipped, into one literal beside steps with shortened texts, which SPARQL reads.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar

from memento.errors import NotFound
from memento.graph.mapping import node_or_none, statements
from memento.graph.store import Store
from memento.iris import IRI, MEM, TYPE, parse_iri
from memento.model import Action, State, SubtaskRecord, TaskStep, ToolCall, ToolRecord, Trajectory
from memento.time import utc

_MOST_PACKED, _MOST_UNPACKED = 64 << 20, 256 << 20
"""Maximum size in bytes of the texts of one run, packed and unpacked."""

N = TypeVar("N", Action, State, SubtaskRecord, ToolRecord, Trajectory)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is in the graph: its objects, and its steps with their calls in order."""

    trajectory: Trajectory
    task: str
    plan: str | None
    steps: tuple[tuple[SubtaskRecord, tuple[ToolRecord, ...]], ...]

    def list_steps(self) -> tuple[TaskStep, ...]:
        """Return the steps as callers see them; those of a finished run are unpacked."""
        return unpack_steps(self.trajectory.packed) or tuple(to_task_step(one, calls) for one, calls in self.steps)


def read_run(run: str, graph: IRI, store: Store) -> StoredRun:
    """Read one run from a graph of cases; raise `NotFound`."""
    trajectories = _load_nodes(Trajectory, [parse_iri(run)], graph, store)
    if not trajectories:
        raise NotFound(f"there is no run <{run}> in this domain: `start_case` names the one it begins")
    way = trajectories[0]
    states = _load_nodes(State, [way.state], graph, store)
    if not states:
        raise NotFound(f"the run <{run}> cannot be read: it has no task")
    plans = _load_nodes(Action, [way.action], graph, store) if way.action else []
    subtasks = sorted(_load_nodes(SubtaskRecord, way.subtasks, graph, store), key=lambda one: one.step)
    calls = {one.iri: one for one in _load_nodes(ToolRecord, [c for s in subtasks for c in s.tool_calls], graph, store)}
    steps = tuple(
        (one, tuple(sorted((calls[call] for call in one.tool_calls if call in calls), key=lambda call: call.step)))
        for one in subtasks
    )
    return StoredRun(way, states[0].content, plans[0].content if plans else None, steps)


def pack_steps(steps: Iterable[TaskStep]) -> str:
    """
    Pack steps as gzipped JSON in base64.

    >>> unpack_steps(pack_steps([TaskStep(step=0, task="Look.", state="done")]))
    (TaskStep(step=0, task='Look.', state='done', result=None, tools=(), cycle=1, id=None),)
    """
    text = json.dumps([asdict(step) for step in steps], ensure_ascii=False, separators=(",", ":"), default=str)
    return base64.b64encode(gzip.compress(text.encode("utf-8", errors="surrogatepass"), mtime=0)).decode("ascii")


def unpack_steps(text: str | None) -> tuple[TaskStep, ...]:
    """Unpack a text of unknown origin: return no steps if it is not a pack, or larger than Memento writes."""
    if not text or len(text) > _MOST_PACKED:
        return ()
    try:
        data = gzip.GzipFile(fileobj=io.BytesIO(base64.b64decode(text))).read(_MOST_UNPACKED + 1)
        if len(data) > _MOST_UNPACKED:
            return ()
        rows = json.loads(data.decode("utf-8", errors="surrogatepass"))
        return tuple(TaskStep(**{**row, "tools": tuple(map(_parse_tool_call, row["tools"]))}) for row in rows)
    except (ValueError, OSError, EOFError, TypeError, LookupError, RecursionError, zlib.error):
        return ()


def to_task_step(record: SubtaskRecord, calls: Sequence[ToolRecord]) -> TaskStep:
    """Return a step with its calls as callers see it."""
    tools = tuple(
        ToolCall(
            tool=call.tool,
            arguments=call.arguments,
            result=call.result,
            state=call.progress,
            at=call.at,
            took_ms=call.took_ms,
        )
        for call in calls
    )
    return TaskStep(
        step=record.step,
        task=record.task,
        state=record.progress,
        result=record.result,
        tools=tools,
        cycle=record.cycle,
        id=record.number,
    )


def to_records(step: TaskStep, name: Callable[..., IRI]) -> tuple[SubtaskRecord, tuple[ToolRecord, ...]]:
    """
    Return a step and its calls as they are in the graph.

    Args:
        name: returns the IRI of the "subtask" with a number, or of the "tool-call" with the number of its step and its own.
    """
    calls = tuple(
        ToolRecord(
            iri=name("tool-call", step.step, place),
            step=place,
            tool=call.tool,
            arguments=call.arguments,
            progress=call.state,
            result=call.result,
            at=call.at and utc(call.at),
            took_ms=call.took_ms,
        )
        for place, call in enumerate(step.tools)
    )
    record = SubtaskRecord(
        iri=name("subtask", step.step),
        step=step.step,
        task=step.task,
        progress=step.state,
        result=step.result,
        tool_calls=tuple(call.iri for call in calls),
        cycle=step.cycle,
        number=step.id,
    )
    return record, calls


def _parse_tool_call(row: Mapping[str, Any]) -> ToolCall:
    at = row.get("at")
    return ToolCall(**{**row, "at": datetime.fromisoformat(at) if at else None})


def _load_nodes(kind: type[N], iris: Sequence[IRI], graph: IRI, store: Store) -> list[N]:
    """Load the objects of one kind among some nodes of a graph."""
    if not iris:
        return []
    rows = store.select("search/statements", [graph], node=iris)
    described = statements((r["node"], r["predicate"], r["value"], graph) for r in rows)
    nouns = (
        node_or_none(kind, iri, found) for iri, found in described.items() if MEM[kind.__name__] in found.get(TYPE, ())
    )
    return [noun for noun in nouns if noun is not None]
