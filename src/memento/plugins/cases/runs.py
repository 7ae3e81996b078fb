"""
Store how a task is executed, step by step, so that it can be resumed after the process died; a finished run becomes a case.

While a task is under way, its texts are in the graph in full. When it is done, they are packed, gzipped, into one literal beside
steps with shortened texts, which SPARQL reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import cast

from memento.backends import Backends
from memento.errors import Conflict
from memento.graph.mapping import quads
from memento.graph.runs import StoredRun, pack_steps, read_run, to_records, to_task_step
from memento.iris import IRI, MEM, mint, parse_iri
from memento.model import (
    Action,
    CaseFound,
    CasesFound,
    Change,
    Node,
    Quad,
    State,
    StepState,
    TaskStep,
    Trajectory,
)
from memento.plugins.cases.domain import Domain
from memento.plugins.cases.nouns import TaskRun
from memento.plugins.cases.plan import Draft, write_steps
from memento.plugins.cases.retrieve import load_reasons, load_texts


def load_run(run: str, domain: Domain, parts: Backends) -> StoredRun:
    """Load one run; raise `NotFound`."""
    return read_run(run, domain.graph, parts.graph)


def describe_run(stored: StoredRun, name: str, case: IRI | None = None) -> TaskRun:
    """Return a run as callers see it; `name` is that of the domain."""
    way = stored.trajectory
    return TaskRun(
        iri=way.iri,
        task=stored.task,
        domain=name,
        state=way.progress,
        at=way.at,
        plan=stored.plan,
        retrieval=way.retrieval,
        steps=stored.list_steps(),
        about=way.about,
        derived_from=way.derived_from,
        case=case,
    )


def find_case_of_run(run: str, domain: Domain, parts: Backends) -> IRI | None:
    """Return the case of a finished run, or None while it is under way."""
    rows = parts.graph.select("plugins/cases/case_of", [domain.graph], run=parse_iri(run))
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
    record, calls = to_records(step, lambda kind, *place: mint(kind))
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
            packed=pack_steps(to_task_step(one, calls) for one, calls in kept.steps) if packs else None,
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


def write_plan(kept: StoredRun) -> str:
    """Write the steps of a run as a plan; empty if there are none."""
    return write_steps([to_task_step(one, calls) for one, calls in kept.steps])


def _cap_text(text: str | None, most: int) -> str | None:
    return text if text is None or len(text) <= most else f"{text[: most - 1]}…"


def list_runs(states: Sequence[StepState], domain: Domain, name: str, parts: Backends) -> list[TaskRun]:
    """Return the runs of a domain in these states, the latest first, without their steps."""
    return [
        TaskRun(
            iri=row["run"],
            task=str(row["task"]),
            domain=name,
            state=row["state"],
            at=row["at"],
            plan=row.get("plan"),
            retrieval=row.get("retrieval"),
        )
        for row in parts.graph.select("plugins/cases/runs", [domain.graph], state=list(states))
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
    rows = parts.graph.select("plugins/cases/retrieval", [domain.graph], retrieval=retrieval)
    uses = [row for row in rows if "use" in row]
    shown = [row["case"] for row in uses]
    texts, reasons = load_texts(shown, domain, parts), load_reasons(shown, domain, parts)
    cases = [
        CaseFound(
            iri=row["case"],
            task=texts[row["case"]][0],
            plan=texts[row["case"]][1],
            section=row["section"],
            rank=int(str(row["rank"])),
            cosine=float(str(row["cosine"])),
            score=float(str(row["cosine"])),
            reason="shown before",
            at=cast(datetime, next(one["at"] for one in rows if "at" in one)),
            verdict=reasons.get(row["case"]),
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
