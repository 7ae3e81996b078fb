"""What the operations on cases answer with, and the finished tasks that they take."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memento.iris import IRI
from memento.model import CasesFound, Outcome, StepState, TaskStep

OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure")

Zoom = Literal["case", "subtask", "community"]
"""The level of detail of a view."""


Tilt = Literal["embedding", "keyword", "graph", "temporal"]
"""How a view is ordered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """
    A finished task, before it becomes a case.

    Args:
        outcome, reward: how it ended, or what it earned, in −0.2…1; neither if there is no verdict.
        at: when it was finished; default now.
        about: IRIs of entities that it concerns; the names of known ones are also found in the task.
        derived_from: memories, notes or cases that were used.
        tags: words for the kind of task.
    """

    task: str
    plan: str
    outcome: Outcome | None = None
    reward: float | None = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """A pending or finished task: its steps in order, the retrieval it began with, and the case made from it."""

    iri: IRI
    task: str
    domain: str
    state: StepState
    at: datetime
    plan: str | None = None
    retrieval: IRI | None = None
    steps: tuple[TaskStep, ...] = ()
    about: tuple[IRI, ...] = ()
    derived_from: tuple[IRI, ...] = ()
    case: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credited:
    """
    The effect of a reward: the cases that share it, and the state of the Q function.

    `labelled` counts the pairs of a task and a case with a reward, `updates` the training rounds; `beta` is the weight for the next
    retrieval, with its `reason`.
    """

    retrieval: IRI
    reward: float
    cases: tuple[IRI, ...]
    labelled: int
    updates: int
    beta: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A finished task: the case made from it, its reward, what was learned from it, and the cases that were pruned for it."""

    case: IRI
    reward: float
    credited: Credited | None = None
    pruned: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStatus:
    """
    The state of case memory in one domain.

    `positives` and `negatives` count labelled pairs; `auc_q` and `auc_cosine` are the AUC of either ranking on the latest held-out
    pairs, None while there are too few; `guarded` means that Q is not used because it was worse on them.
    """

    domain: str
    cases: int
    successes: int
    retrievals: int
    labelled: int
    positives: int
    negatives: int
    updates: int
    beta: float
    guarded: bool
    reason: str
    auc_q: float | None = None
    auc_cosine: float | None = None
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """An item of a view: a case, a step or a community of cases; `cases` are those it stands for."""

    iri: IRI
    label: str
    score: float
    reason: str
    cases: tuple[IRI, ...] = ()
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigated:
    """The result of a view; `view` is its record, which later views follow, if it was stored."""

    view: IRI | None
    zoom: Zoom
    pan: tuple[str, ...]
    tilt: Tilt
    seen: tuple[Landmark, ...]
    previous: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A span of rewarded retrievals: how many until its end, and the mean reward within it."""

    until: int
    reward: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMetrics:
    """
    The quality of case memory in one domain, computed from the graph.

    `retrievals` counts those with a reported reward; `mrr` and `ndcg` rate their rankings by which shown cases were successes.
    `success_rate` is the share of judged cases with a reward from 0.5, `execution_accuracy` the share of steps that were done,
    `curve` the mean reward over time, `bytes_per_case` the memory needed for one case, `earned_per_case` the reward per stored
    case.
    """

    domain: str
    cases: int
    retrievals: int
    mrr: float | None
    ndcg: float | None
    success_rate: float | None
    execution_accuracy: float | None
    curve: tuple[CurvePoint, ...]
    bytes_per_case: float
    earned_per_case: float


Ending = Literal["done", "failed", "stopped", "uncertain"]
"""
How carrying out a task ended: its steps are done; its last plan failed; it stopped and can go on, at a limit or because a step
lacks a model or a tool; or it waits for a decision about a call that may have been executed.
"""


Doubt = Literal["ask", "repeat", "skip"]
"""What to do about a tool call that may have been executed before the process ended: wait for a decision, repeat it, or skip it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """
    A tool of a configured server; `schema` is the JSON schema of its arguments as text.

    `repeatable` is the server's declaration: the tool changes nothing, or a second call changes nothing more.
    """

    name: str
    server: str
    description: str
    schema: str
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """
    A stored plan that waits to be carried out as `run`.

    `by` is its author: the name of a model, `template`, or `caller`; `reason` says what it is based on. `found` are the cases
    shown.
    """

    run: TaskRun
    by: str
    reason: str
    found: CasesFound
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """
    The progress of a task. `answer` is the planner's last word or the result of the last step, `reason` why it ended here.

    `calls`, `tokens` and `seconds` are those of this call; `completed` is the case made from it.
    """

    run: TaskRun
    ending: Ending
    reason: str
    answer: str | None = None
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    completed: Completed | None = None
