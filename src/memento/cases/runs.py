"""
Store how a task is executed, step by step, so that it can be resumed after the process died; a finished run becomes a case.

While a task is under way, its texts are in the graph in full. When it is done, they are packed, gzipped, into one literal beside
steps with shortened texts, which SPARQL reads.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any, TypeVar, cast

from memento.backends import Backends
from memento.cases.domain import Domain
from memento.cases.plan import Draft, write_steps
from memento.cases.retrieve import load_reasons, load_texts
from memento.errors import Conflict, NotFound
from memento.graph.mapping import node_or_none, quads, statements
from memento.graph.store import Store
from memento.iris import IRI, MEM, TYPE, mint, parse_iri
from memento.model import (
    Action,
    CaseFound,
    CasesFound,
    Change,
    Node,
    Quad,
    State,
    StepState,
    SubtaskRecord,
    TaskRun,
    TaskStep,
    ToolCall,
    ToolRecord,
    Trajectory,
)

_MOST_PACKED, _MOST_UNPACKED = 64 << 20, 256 << 20
"""Maximum size in bytes of the texts of one run, packed and unpacked."""

N = TypeVar("N", Action, State, SubtaskRecord, ToolRecord, Trajectory)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as stored in the graph: its objects, each with its quads."""

    trajectory: Trajectory
    task: str
    plan: str | None
    steps: tuple[tuple[SubtaskRecord, tuple[ToolRecord, ...]], ...]

    def to_task_run(self, name: str, case: IRI | None = None) -> TaskRun:
        """Return the run as shown to callers; the steps of a finished one are unpacked."""
        way = self.trajectory
        steps = unpack_steps(way.packed) or tuple(_to_task_step(one, calls) for one, calls in self.steps)
        return TaskRun(
            iri=way.iri,
            task=self.task,
            domain=name,
            state=way.progress,
            at=way.at,
            plan=self.plan,
            retrieval=way.retrieval,
            steps=steps,
            about=way.about,
            derived_from=way.derived_from,
            case=case,
        )


def load_run(run: str, domain: Domain, parts: Backends) -> StoredRun:
    """Load one run; raise `NotFound`."""
    return read_run(run, domain.graph, parts.graph)


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


def find_case_of_run(run: str, domain: Domain, parts: Backends) -> IRI | None:
    """Return the case of a finished run, or None while it is under way."""
    rows = parts.graph.select("cases/case_of", [domain.graph], run=parse_iri(run))
    return cast(IRI, rows[0]["case"]) if rows else None


def load_pending_run(run: str, domain: Domain, parts: Backends) -> StoredRun:
    """Load a run that is under way; raise `NotFound`, or `Conflict` if it is complete."""
    stored = load_run(run, domain, parts)
    if stored.trajectory.progress != "pending":
        raise Conflict(f"the run <{run}> is complete already: start another one")
    return stored


def begin_run(task: str, plan: str | None, way: Trajectory, graph: IRI) -> Change:
    """Return the change that begins a run."""
    nodes: list[Node] = [way, State(iri=way.state, content=task)]
    if plan and way.action:
        nodes.append(Action(iri=way.action, content=plan))
    return Change(tuple(quad for one in nodes for quad in quads(one, graph)))


def replace_step(kept: StoredRun, step: TaskStep, derived_from: Sequence[IRI], graph: IRI) -> Change:
    """Return the change that writes one step, replacing the one with its number."""
    way = kept.trajectory
    calls = [
        ToolRecord(
            iri=mint("tool-call"),
            step=place,
            tool=call.tool,
            arguments=call.arguments,
            progress=call.state,
            result=call.result,
            at=call.at,
            took_ms=call.took_ms,
        )
        for place, call in enumerate(step.tools)
    ]
    record = SubtaskRecord(
        iri=mint("subtask"),
        step=step.step,
        task=step.task,
        progress=step.state,
        result=step.result,
        tool_calls=tuple(call.iri for call in calls),
        cycle=step.cycle,
        number=step.id,
    )
    new: list[Node] = [record, *calls]
    adds = [quad for one in new for quad in quads(one, graph)]
    adds.append((way.iri, MEM.hasSubtask, record.iri, graph))
    adds += [
        quad
        for quad in quads(replace(way, derived_from=tuple(derived_from)), graph)
        if quad[2] in derived_from and quad[2] not in way.derived_from
    ]
    removes: list[Quad] = []
    for old, its in kept.steps:
        if old.step == step.step:
            gone: list[Node] = [old, *its]
            removes += [quad for one in gone for quad in quads(one, graph)]
            removes.append((way.iri, MEM.hasSubtask, old.iri, graph))
    return Change(tuple(adds), tuple(removes))


def end_run(kept: StoredRun, progress: StepState, most: int, packs: bool, graph: IRI) -> Change:
    """Return the change that ends a run: its texts are packed, and shortened to `most` characters for SPARQL."""
    way = kept.trajectory
    nodes: list[Node] = [way]
    done: list[Node] = [
        replace(
            way,
            progress=progress,
            packed=pack_steps(_to_task_step(one, calls) for one, calls in kept.steps) if packs else None,
        )
    ]
    if packs:
        for one, calls in kept.steps:
            nodes += [one, *calls]
            done.append(replace(one, task=_cap_text(one.task, most) or "…", result=_cap_text(one.result, most)))
            done += [
                replace(call, result=_cap_text(call.result, most), arguments=_cap_text(call.arguments, most) or "{}")
                for call in calls
            ]
    before = {quad for one in nodes for quad in quads(one, graph)}
    after = {quad for one in done for quad in quads(one, graph)}
    return Change(tuple(sorted(after - before, key=repr)), tuple(sorted(before - after, key=repr)))


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


def write_plan(kept: StoredRun) -> str:
    """Write the steps of a run as a plan; empty if there are none."""
    return write_steps([_to_task_step(one, calls) for one, calls in kept.steps])


def _to_task_step(record: SubtaskRecord, calls: Sequence[ToolRecord]) -> TaskStep:
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


def _parse_tool_call(row: Mapping[str, Any]) -> ToolCall:
    at = row.get("at")
    return ToolCall(**{**row, "at": datetime.fromisoformat(at) if at else None})


def _cap_text(text: str | None, most: int) -> str | None:
    return text if text is None or len(text) <= most else f"{text[: most - 1]}…"


def _load_nodes(kind: type[N], iris: Sequence[IRI], graph: IRI, store: Store) -> list[N]:
    """Load the objects of one kind among some nodes of a graph."""
    if not iris:
        return []
    rows = store.select("search/statements", [graph], node=iris)
    described = statements((cast(IRI, r["node"]), cast(IRI, r["predicate"]), r["value"], graph) for r in rows)
    nouns = (
        node_or_none(kind, iri, found) for iri, found in described.items() if MEM[kind.__name__] in found.get(TYPE, ())
    )
    return [noun for noun in nouns if noun is not None]


def list_runs(states: Sequence[StepState], domain: Domain, name: str, parts: Backends) -> list[TaskRun]:
    """Return the runs of a domain in these states, the latest first, without their steps."""
    return [
        TaskRun(
            iri=cast(IRI, row["run"]),
            task=str(row["task"]),
            domain=name,
            state=cast(Any, row["state"]),
            at=cast(datetime, row["at"]),
            plan=cast("str | None", row.get("plan")),
            retrieval=cast("IRI | None", row.get("retrieval")),
        )
        for row in parts.graph.select("cases/runs", [domain.graph], state=list(states))
    ]


def begin_planned_run(task: str, draft: Draft, way: Trajectory, graph: IRI) -> Change:
    """Return the change that begins a planned run: the run, and every step of the plan as still to do."""
    plan = draft.plan
    change = begin_run(task, plan, way, graph)
    stored = StoredRun(way, task, plan, ())
    for place, (text, number) in enumerate(zip_longest(draft.steps, draft.ids)):
        change += replace_step(stored, TaskStep(step=place, task=text, state="pending", id=number), (), graph)
    return change


def load_examples(task: str, retrieval: IRI, name: str, domain: Domain, parts: Backends) -> CasesFound:
    """Load the cases that a retrieval showed, with the data that planning needs; none if the retrieval was deleted."""
    rows = parts.graph.select("cases/retrieval", [domain.graph], retrieval=retrieval)
    uses = [row for row in rows if "use" in row]
    shown = [cast(IRI, row["case"]) for row in uses]
    texts, reasons = load_texts(shown, domain, parts), load_reasons(shown, domain, parts)
    cases = [
        CaseFound(
            iri=cast(IRI, row["case"]),
            task=texts[cast(IRI, row["case"])][0],
            plan=texts[cast(IRI, row["case"])][1],
            section=cast(Any, row["section"]),
            rank=int(str(row["rank"])),
            cosine=float(str(row["cosine"])),
            score=float(str(row["cosine"])),
            reason="shown before",
            at=cast(datetime, next(one["at"] for one in rows if "at" in one)),
            verdict=reasons.get(cast(IRI, row["case"])),
        )
        for row in uses
        if row["case"] in texts
    ]
    return CasesFound(
        task=task,
        domain=name,
        positives=tuple(one for one in cases if one.section == "positive"),
        negatives=tuple(one for one in cases if one.section == "negative"),
        ranking="cosine",
        beta=0.0,
        reason="what an earlier look-up showed",
        retrieval=retrieval,
    )


def follow_examples(run: IRI, found: CasesFound, graph: IRI) -> Change:
    """Return the change that lets a run which began without cases follow some: from then on they share its reward."""
    return Change(((run, MEM.retrieval, found.retrieval, graph),)) if found.retrieval else Change()
