"""
Cases as they lie in the graph: a finished task with its plan and reward, the way it was carried out, and which cases were shown
for which task.

*But:* no vectors. That of a case's state lies in the vector file, keyed by the case, that of a retrieval's keyed by the retrieval.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    Update,
    User,
    prop,
)

Outcome = Literal["success", "partial", "failure"]
OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure")

StepState = Literal["pending", "done", "skipped", "failed"]
"""How far a trajectory or one of its steps has come."""

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
    The way a task is carried out. While it is `pending` it has a state of its own; when it is done, `case` is what came of it.

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
    """One step of a trajectory, counted from 0; `cycle` says which plan it is of, counted from 1."""

    iri: IRI
    step: int = prop(MEM.step)
    task: str = prop(MEM.task)
    progress: StepState = prop(MEM.state)
    result: str | None = prop(MEM.result, None)
    tool_calls: tuple[IRI, ...] = prop(MEM.hasToolCall, ())
    cycle: int = prop(MEM.cycle, 1)


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
