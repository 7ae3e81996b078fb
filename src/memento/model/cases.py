"""
Cases: a finished task with its plan and reward, how it was carried out, and what a service takes and answers about cases and plans.

*But:* no vectors. That of a case's state is in the vector file, keyed by the case, that of a retrieval keyed by the retrieval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memento.iris import IRI, MEM, PROV
from memento.model.stored import (
    Agent,
    Association,
    Consolidation,
    Entity,
    Fading,
    Invalidation,
    Key,
    KeyLink,
    Memory,
    Note,
    Reversal,
    Rivalry,
    Session,
    Statement,
    StepState,
    Update,
    User,
    prop,
)

Outcome = Literal["success", "partial", "failure"]
OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure")
LEAST_REWARD, MOST_REWARD = -0.2, 1.0
"""What a task may have earned."""

Section = Literal["positive", "negative"]
"""Whether a case is shown to be followed or to be avoided."""

Ranking = Literal["cosine", "q"]
"""What put cases in order: likeness alone, or the learned value as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The situation a case began in: the task in words."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What was decided: a plan of numbered steps as text."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One finished task as an example for later ones.

    `at` is when it was finished, `created_at` when it was kept, where that is another time. `reward` is in −0.2…1, None until
    somebody has judged. `q` is the mean of the values that the Q function gave it in `uses` rankings.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    action: IRI = prop(MEM.hasAction)
    at: datetime = prop(MEM.timestamp)
    created_at: datetime | None = prop(MEM.createdAt, None)
    reward: float | None = prop(MEM.hasReward, None)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    tags: tuple[IRI, ...] = prop(MEM.tagged, ())
    derived_from: tuple[IRI, ...] = prop(PROV.wasDerivedFrom, ())
    trajectory: IRI | None = prop(MEM.hasTrajectory, None)
    q: float | None = prop(MEM.hasQValue, None)
    uses: int | None = prop(MEM.uses, None)
    expired_at: datetime | None = prop(MEM.expiredAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """One verdict on a case: its parts, and the one number they make."""

    iri: IRI
    case: IRI = prop(MEM.rewards)
    value: float = prop(MEM.hasReward)
    at: datetime = prop(MEM.at)
    outcome: Outcome | None = prop(MEM.outcome, None)
    efficiency: float | None = prop(MEM.efficiency, None)
    score: float | None = prop(MEM.judgeScore, None)
    reason: str | None = prop(MEM.reason, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """
    The way a task is carried out. While it is `pending` it has a state; when it is done, `case` is what came of it.

    `packed` is the whole way, gzipped JSON in base64; the steps beside it then have their texts shortened.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    at: datetime = prop(MEM.at)
    progress: StepState = prop(MEM.state)
    action: IRI | None = prop(MEM.hasAction, None)
    retrieval: IRI | None = prop(MEM.retrieval, None)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    derived_from: tuple[IRI, ...] = prop(PROV.wasDerivedFrom, ())
    subtasks: tuple[IRI, ...] = prop(MEM.hasSubtask, ())
    packed: str | None = prop(MEM.packed, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskRecord:
    """
    One step of a trajectory, counted from 0.

    `cycle` says which plan it is of, counted from 1, and `number` which number that plan gives it.
    """

    iri: IRI
    step: int = prop(MEM.step)
    task: str = prop(MEM.task)
    progress: StepState = prop(MEM.state)
    result: str | None = prop(MEM.result, None)
    tool_calls: tuple[IRI, ...] = prop(MEM.hasToolCall, ())
    cycle: int = prop(MEM.cycle, 1)
    number: int | None = prop(MEM.planStep, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """
    One call of a tool within a step, counted from 0; `arguments` are a JSON object.

    `result` is what the tool said, or why the call failed; `at` is when it was made, `took_ms` how long it took.
    """

    iri: IRI
    step: int = prop(MEM.step)
    tool: str = prop(MEM.tool)
    arguments: str = prop(MEM.arguments)
    progress: StepState = prop(MEM.state)
    result: str | None = prop(MEM.result, None)
    at: datetime | None = prop(MEM.at, None)
    took_ms: int | None = prop(MEM.milliseconds, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRetrieval:
    """
    Cases were asked for: for which task, when, and how they were put in order.

    `beta` is the weight of Q against the cosine; `reason` says why it was that. `reward` is what the task came to earn.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    at: datetime = prop(MEM.at)
    ranking: Ranking = prop(MEM.ranking)
    beta: float = prop(MEM.beta)
    reason: str = prop(MEM.reason)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    reward: float | None = prop(MEM.hasReward, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseUse:
    """
    A case that a retrieval showed: in which section and place, with which values, and why.

    `q` is what the Q function said of this case for this task, absent when it was not asked; `reward` is what the task earned.
    """

    iri: IRI
    retrieval: IRI = prop(MEM.retrieval)
    case: IRI = prop(MEM.case)
    section: Section = prop(MEM.section)
    rank: int = prop(MEM.rank)
    cosine: float = prop(MEM.cosine)
    score: float = prop(MEM.score)
    reason: str = prop(MEM.reason)
    q: float | None = prop(MEM.hasQValue, None)
    reward: float | None = prop(MEM.hasReward, None)


CaseNode = Case | State | Action | Reward | Trajectory | SubtaskRecord | ToolRecord | CaseRetrieval | CaseUse

Node = (
    Session
    | Note
    | Entity
    | User
    | Memory
    | Statement
    | Rivalry
    | Key
    | KeyLink
    | Association
    | Fading
    | Invalidation
    | Agent
    | Consolidation
    | Reversal
    | Update
    | CaseNode
)
"""Everything that `graph/mapping.py` turns into quads and back."""


Zoom = Literal["case", "subtask", "community"]
"""How large what one looks at is."""

Tilt = Literal["embedding", "keyword", "graph", "temporal"]
"""By what it is put in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """
    A finished task, before it is a case.

    Args:
        outcome, reward: how it ended, or what it earned, in −0.2…1; neither when nobody has judged.
        at: when it was finished; default now.
        about: entities that it concerns, by IRI; the names of known ones are also found in the task.
        derived_from: memories, notes or cases that were used.
        tags: words that tell what kind of task it is.
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

    `score` is β·q + (1 − β)·likeness, which is the cosine and what the case shares of the task's entities and tags; `q` is None
    where the Q function was not asked. `reward` is what the case earned as a task, `earned` the mean of what the tasks it was shown
    for earned, `uses` how many those are. `reason` says why it is here.
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
    """
    One step of a trajectory, counted from 0.

    `cycle` says which plan it is of: a task that fails is planned again. `id` is the number that the plan gives it, where it does.
    """

    step: int
    task: str
    state: StepState
    result: str | None = None
    tools: tuple[ToolCall, ...] = ()
    cycle: int = 1
    id: int | None = None


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
    tags: tuple[str, ...] = ()
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


Ending = Literal["done", "failed", "stopped", "uncertain"]
"""
How carrying out a task ended: its steps are done; its last plan failed; a limit was reached, or a step cannot be tried for want
of a model or a tool, and it can go on; or it waits for a word about a call that may have happened.
"""

Doubt = Literal["ask", "repeat", "skip"]
"""What to do about a call of a tool that may have happened before the process ended: wait to be told, make it again, or pass on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """
    A tool of a configured server; `schema` is the JSON schema of its arguments as text.

    `repeatable` is what its server says: that it changes nothing, or that a second call changes nothing more.
    """

    name: str
    server: str
    description: str
    schema: str
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """
    A plan that is stored and waits to be carried out as `run`.

    `by` is who made it: the name of a model, `template`, or `caller`; `reason` says of what. `found` are the cases that were shown.
    """

    run: TaskRun
    by: str
    reason: str
    found: CasesFound
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """
    How far a task has come. `answer` is the planner's last word or the result of the last step, `reason` why it ended here.

    `calls`, `tokens` and `seconds` are those of this go; `completed` is the case that came of it.
    """

    run: TaskRun
    ending: Ending
    reason: str
    answer: str | None = None
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    completed: Completed | None = None
