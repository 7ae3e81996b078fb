"""Tasks as a list, and plans on their way into the graph: what planner and executor need beside `run.py`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from memento.backends import Backends
from memento.cases import run as one_run
from memento.cases.domain import Domain
from memento.cases.retrieve import shown
from memento.cases.run import Kept
from memento.model import CaseFound, CasesFound, Change, StepState, TaskRun, TaskStep, Trajectory
from memento.vocabulary import IRI


def listed(states: Sequence[StepState], domain: Domain, name: str, parts: Backends) -> list[TaskRun]:
    """The runs of a domain in these states, the latest first, without their steps."""
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


def begun(task: str, plan: str, steps: Sequence[str], way: Trajectory, graph: IRI) -> Change:
    """What is written when a task is planned: the run, and every step of the plan as one that is still to do."""
    change = one_run.begun(task, plan, way, graph)
    kept = Kept(way, task, plan, ())
    for place, text in enumerate(steps):
        change += one_run.stepped(kept, TaskStep(step=place, task=text, state="pending"), (), graph)
    return change


def shown_for(run: TaskRun, domain: Domain, parts: Backends) -> CasesFound:
    """The cases that were shown when a run was planned, with what planning needs of them."""
    rows = parts.graph.select("cases/retrieval", [domain.graph], retrieval=run.retrieval) if run.retrieval else []
    uses = [row for row in rows if "use" in row]
    texts = shown([cast(IRI, row["case"]) for row in uses], domain, parts)
    found = [
        CaseFound(
            iri=cast(IRI, row["case"]),
            task=texts[cast(IRI, row["case"])][0],
            plan=texts[cast(IRI, row["case"])][1],
            section=cast(Any, row["section"]),
            rank=int(str(row["rank"])),
            cosine=0.0,
            score=0.0,
            reason="",
            at=run.at,
        )
        for row in uses
        if row["case"] in texts
    ]
    return CasesFound(
        task=run.task,
        domain=run.domain,
        positives=tuple(one for one in found if one.section == "positive"),
        negatives=tuple(one for one in found if one.section == "negative"),
        ranking="cosine",
        beta=0.0,
        reason="",
        retrieval=run.retrieval,
    )
