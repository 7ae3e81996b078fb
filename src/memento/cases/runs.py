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
from memento.iris import IRI, MEM
from memento.model import CaseFound, CasesFound, Change, StepState, TaskRun, TaskStep, Trajectory


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


def shown_for(task: str, retrieval: IRI, name: str, domain: Domain, parts: Backends) -> CasesFound:
    """The cases that a look-up showed, with what planning needs of them; none when it was let go."""
    rows = parts.graph.select("cases/retrieval", [domain.graph], retrieval=retrieval)
    uses = [row for row in rows if "use" in row]
    texts = shown([cast(IRI, row["case"]) for row in uses], domain, parts)
    found = [
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
        )
        for row in uses
        if row["case"] in texts
    ]
    return CasesFound(
        task=task,
        domain=name,
        positives=tuple(one for one in found if one.section == "positive"),
        negatives=tuple(one for one in found if one.section == "negative"),
        ranking="cosine",
        beta=0.0,
        reason="what an earlier look-up showed",
        retrieval=retrieval,
    )


def followed(run: IRI, found: CasesFound, graph: IRI) -> Change:
    """What is written when a run that began without cases follows some: from then on they share its reward."""
    return Change(((run, MEM.retrieval, found.retrieval, graph),)) if found.retrieval else Change()
