"""What goes into and comes back from the service about cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memento.iris import IRI
from memento.model.cases import Outcome, Ranking, Section, StepState

Zoom = Literal["case", "subtask", "community"]
"""How large what one looks at is."""
ZOOMS: tuple[Zoom, ...] = ("case", "subtask", "community")

Tilt = Literal["embedding", "keyword", "graph", "temporal"]
"""By what it is put in order."""
TILTS: tuple[Tilt, ...] = ("embedding", "keyword", "graph", "temporal")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """
    A finished task, before it is a case.

    Args:
        outcome, reward: how it ended, or what it earned, in −0.2…1; neither when nobody has judged.
        at: when it was finished; default now.
        about: entities that it concerns, by IRI; the names of known ones are also found in the task.
        derived_from: memories, notes or cases that were used.
    """

    task: str
    plan: str
    outcome: Outcome | None = None
    reward: float | None = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    One call of a tool: `arguments` are a JSON object as text, `result` what it said or why it failed.

    A call that is `pending` was about to be made when it was last heard of: it may have happened.
    """

    tool: str
    arguments: str = "{}"
    result: str | None = None
    state: StepState = "done"
    at: datetime | None = None
    took_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFound:
    """
    A case that came back; `rank` counts from 1 within its section.

    `score` is β·q + (1 − β)·cosine; `q` is None where the Q function was not asked. `reward` is what the case earned as a task,
    `earned` the mean of what the tasks it was shown for earned, `uses` how many those are. `reason` says why it is here.
    """

    iri: IRI
    task: str
    plan: str
    section: Section
    rank: int
    cosine: float
    score: float
    reason: str
    at: datetime
    q: float | None = None
    reward: float | None = None
    earned: float | None = None
    uses: int = 0
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesFound:
    """
    The cases for a task: those to follow and those to avoid, each best first, at most k of either.

    `retrieval` names this look-up when the task's reward is told; None when it was not kept. `beta` is the weight of the
    learned value, and `reason` says why it is that. `candidates` counts the cases that were ranked.
    """

    task: str
    domain: str
    positives: tuple[CaseFound, ...]
    negatives: tuple[CaseFound, ...]
    ranking: Ranking
    beta: float
    reason: str
    retrieval: IRI | None = None
    candidates: int = 0
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """One step of a trajectory, counted from 0; `cycle` says which plan it is of: a task that fails is planned again."""

    step: int
    task: str
    state: StepState
    result: str | None = None
    tools: tuple[ToolCall, ...] = ()
    cycle: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """A task under way or done: its steps in order, the retrieval it began with, and the case that came of it."""

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
class Verdict:
    """One verdict on a case: its parts, and the one number they make."""

    reward: float
    at: datetime
    outcome: Outcome | None = None
    efficiency: float | None = None
    score: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseShown:
    """Everything about one case. `q` is the mean of the values that the Q function gave it when it was shown."""

    iri: IRI
    task: str
    plan: str
    domain: str
    at: datetime
    reward: float | None = None
    q: float | None = None
    earned: float | None = None
    uses: int = 0
    about: tuple[IRI, ...] = ()
    derived_from: tuple[IRI, ...] = ()
    trajectory: IRI | None = None
    steps: tuple[TaskStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    expired_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credited:
    """
    What became of a reward: the cases that share it, and how far the Q function has come.

    `labelled` counts the pairs of a task and a case with a reward, `updates` the rounds of learning; `beta` is what the next
    retrieval will use, for the `reason` given.
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
    """A finished task: the case that came of it, what it earned, what that taught, and the cases that had to go for it."""

    case: IRI
    reward: float
    credited: Credited | None = None
    pruned: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStatus:
    """
    How case memory stands in one domain.

    `positives` and `negatives` count labelled pairs; `auc_q` and `auc_cosine` are what either ranking reached on the latest
    held-out pairs, None while there are too few; `guarded` says that Q is not used because it was the worse one there.
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
    """Something seen from a point of view: a case, a step or a community of cases; `cases` are those it stands for."""

    iri: IRI
    label: str
    score: float
    reason: str
    cases: tuple[IRI, ...] = ()
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigated:
    """What is to be seen from a point of view; `view` is the record of having looked, which later ones follow, if it was kept."""

    view: IRI | None
    zoom: Zoom
    pan: tuple[str, ...]
    tilt: Tilt
    seen: tuple[Landmark, ...]
    previous: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A stretch of rewarded retrievals: how many until its end, and the mean reward within it."""

    until: int
    reward: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMetrics:
    """
    How well case memory does in one domain, all of it from the graph.

    `retrievals` counts the look-ups whose reward was told; `mrr` and `ndcg` rate their rankings by which shown cases were
    successes. `success_rate` is the share of judged cases with a reward from 0.5, `execution_accuracy` the share of steps that
    were done, `curve` the mean reward over time, `bytes_per_case` the memory held for one case, `earned_per_case` the reward per
    case kept.
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
