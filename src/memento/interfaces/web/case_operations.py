"""The addresses below `/cases` as the OpenAPI page describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from memento.interfaces.web import case_bodies as forms
from memento.interfaces.web.operation import FLAG, PAGE, TEXT, TIME, Operation, Schema
from memento.iris import IRI
from memento.model import (
    TILTS,
    ZOOMS,
    CaseMetrics,
    CasesFound,
    CaseShown,
    CaseStatus,
    Completed,
    Credited,
    Executed,
    Navigated,
    Offered,
    Planned,
    StepState,
    TaskRun,
)

DOMAIN: Mapping[str, Schema] = {"domain": {**TEXT, "description": "a bank of cases; default that of the namespace"}}
PAGES: Mapping[str, Schema] = {name: PAGE[name] for name in ("limit", "offset")}


def case_operations() -> dict[tuple[str, str], Operation]:
    """Every address below `/cases`, by verb and path as OpenAPI writes it."""
    return {
        ("get", "/cases"): Operation(
            does="The cases of a domain, the latest first",
            answers=tuple[CaseShown, ...],
            parameters={**PAGES, **DOMAIN},
        ),
        ("post", "/cases"): Operation(
            does="Keep finished tasks as cases",
            answers=tuple[IRI, ...],
            body=forms.Rows,
            created=True,
            fails=(413, 415),
        ),
        ("post", "/cases/retrieve"): Operation(
            does="The cases to follow and those to avoid for a task, with why each was chosen",
            answers=CasesFound,
            body=forms.Wanted,
            fails=(404, 413, 415),
        ),
        ("post", "/cases/retrieve/each"): Operation(
            does="The same for each of several tasks, which are embedded together",
            answers=tuple[CasesFound, ...],
            body=forms.WantedEach,
            fails=(404, 413, 415),
        ),
        ("post", "/cases/retrievals/{retrieval}/reward"): Operation(
            does="Tell what the task earned that cases were shown for",
            answers=Credited,
            body=forms.Earned,
            fails=(404, 415),
        ),
        **_looks(),
        ("get", "/cases/{case}"): Operation(
            does="Everything about one case", answers=CaseShown, parameters=DOMAIN, needed=("case",), fails=(404,)
        ),
        ("delete", "/cases/{case}"): Operation(
            does="Show a case no more; with `erase`, delete it",
            answers=IRI,
            parameters={"erase": FLAG, **DOMAIN},
            needed=("case",),
            fails=(404,),
        ),
        **_runs(),
        **_plans(),
    }


def _looks() -> dict[tuple[str, str], Operation]:
    """The addresses that say how a domain stands."""
    return {
        ("get", "/cases/view"): Operation(
            does="The cases of a domain from a point of view: zoom, pan and tilt",
            answers=Navigated,
            parameters={
                "zoom": {"enum": list(ZOOMS)},
                "pan": {"type": "array", "items": TEXT, "description": "only what concerns all of these"},
                "tilt": {"enum": list(TILTS), "description": "default embedding with a task, temporal without"},
                "task": TEXT,
                "since": TIME,
                "until": TIME,
                "previous": {**TEXT, "description": "an earlier view"},
                "limit": {**PAGE["limit"], "default": 20},
                **DOMAIN,
            },
            fails=(404, 413),
        ),
        ("get", "/cases/metrics"): Operation(
            does="How well the cases of a domain do", answers=CaseMetrics, parameters=DOMAIN
        ),
        ("get", "/cases/status"): Operation(
            does="How many cases a domain has, and how far its Q function has come",
            answers=CaseStatus,
            parameters=DOMAIN,
        ),
    }


def _runs() -> dict[tuple[str, str], Operation]:
    """The addresses of tasks under way."""
    return {
        ("post", "/cases/runs"): Operation(
            does="Begin to keep how a task is carried out",
            answers=TaskRun,
            body=forms.Start,
            created=True,
            fails=(404, 413, 415),
        ),
        ("get", "/cases/runs"): Operation(
            does="The tasks under way and done, the latest first, without their steps",
            answers=tuple[TaskRun, ...],
            parameters={"state": {"enum": list(get_args(StepState))}, **PAGES, **DOMAIN},
        ),
        ("get", "/cases/runs/{run}"): Operation(
            does="A task under way or done, with its steps",
            answers=TaskRun,
            parameters=DOMAIN,
            needed=("run",),
            fails=(404,),
        ),
        ("post", "/cases/runs/{run}/steps"): Operation(
            does="Keep one step of a task with the calls of tools it made",
            answers=TaskRun,
            body=forms.StepDone,
            fails=(404, 409, 413, 415),
        ),
        ("post", "/cases/runs/{run}/complete"): Operation(
            does="End a task: it becomes a case, and the cases shown for it share its reward",
            answers=Completed,
            body=forms.End,
            created=True,
            fails=(404, 409, 415),
        ),
    }


def _plans() -> dict[tuple[str, str], Operation]:
    """The addresses that plan, carry out and let go."""
    return {
        ("post", "/cases/plan"): Operation(
            does="Plan a task after the cases that are most like it; the plan waits to be carried out",
            answers=Planned,
            body=forms.Task,
            created=True,
            fails=(404, 413, 415),
        ),
        ("post", "/cases/runs/{run}/execute"): Operation(
            does="Carry out a task from the step that is next, with the tools of the configured servers",
            answers=Executed,
            body=forms.Execute,
            fails=(404, 409, 415),
        ),
        ("get", "/cases/tools"): Operation(does="The tools of the configured servers", answers=tuple[Offered, ...]),
        ("post", "/cases/prune"): Operation(
            does="Let the least valuable cases go until so many are left",
            answers=tuple[IRI, ...],
            body=forms.Prune,
            fails=(415,),
        ),
    }
