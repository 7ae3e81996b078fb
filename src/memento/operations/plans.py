"""Operations on tasks under way: planned after cases, kept step by step, carried out, and ended as a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Iri, Limit, Offset, Operation, Right, Text
from memento.operations.cases import About, Count, Domain, Efficiency, Reward, Score, Tags

if TYPE_CHECKING:
    from memento import model

DerivedFrom = Annotated[Sequence[str], Meta(description="memories and notes that it uses")]


class StartCase(Operation["model.TaskRun"], frozen=True):
    """
    Begin to keep how a task is carried out; `complete_case` makes a case of it.

    Raises:
        NotFound: no such retrieval in this domain.
    """

    route: ClassVar[str] = "POST /cases/runs"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "expressions know memories, not cases"}

    task: Annotated[Text, Meta(description="what is to be done")]
    plan: (
        Annotated[Text, Meta(description="what is to be done, when that is known; `complete_case` may say better")]
        | None
    ) = None
    retrieval: (
        Annotated[Text, Meta(description="the cases that were shown for it, which then share its reward")] | None
    ) = None
    about: About = ()
    derived_from: DerivedFrom = ()
    domain: Domain | None = None


class TaskRun(Operation["model.TaskRun"], frozen=True):
    """
    Show a task under way or done, with its steps in order.

    Raises:
        NotFound: no such run in this domain.
    """

    route: ClassVar[str] = "GET /cases/runs/{run}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "expressions know memories, not cases"}

    run: Annotated[Iri, Meta(description="the task, as `start_case` or `plan_task` named it")]
    domain: Domain | None = None


class RecordStep(Operation["model.TaskRun"], frozen=True):
    """
    Keep one step of a task with the calls of tools it made.

    Raises:
        NotFound: no such run in this domain.
        Conflict: it is complete already.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/steps"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "cli": "`memento cases record` keeps a whole task",
        "sexpr": "expressions know memories, not cases",
    }

    run: Annotated[Iri, Meta(description="the task under way")]
    task: Annotated[Text, Meta(description="what the step does")]
    result: Annotated[str, Meta(description="what came of it")] | None = None
    state: Annotated[model.StepState, Meta(description="how far it is")] = "done"
    tools: Annotated[Sequence[model.ToolCall], Meta(description="the calls of tools that it made")] = ()
    step: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=2**31 - 1,
                description="its place, counted from 0: a step that is there is replaced; default after the last",
            ),
        ]
        | None
    ) = None
    derived_from: DerivedFrom = ()
    domain: Domain | None = None


class CompleteCase(Operation["model.Completed"], frozen=True):
    """
    End a task: it becomes a case with its reward, and the cases that were shown for it share the credit.

    Raises:
        NotFound: no such run in this domain.
        Conflict: it is complete already.
        InputError: no verdict, or nothing to make a plan of.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/complete"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 409, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "expressions know memories, not cases"}

    run: Annotated[Iri, Meta(description="the task under way")]
    outcome: Annotated[model.Outcome, Meta(description="how it ended")] | None = None
    plan: Annotated[Text, Meta(description="what was done; default the plan it began with, else its steps")] | None = (
        None
    )
    reward: Reward | None = None
    efficiency: Efficiency | None = None
    score: Score | None = None
    reason: Annotated[str, Meta(description="why the verdict is what it is")] | None = None
    tags: Tags = ()
    domain: Domain | None = None


class TaskRuns(Operation["tuple[model.TaskRun, ...]"], frozen=True):
    """List the tasks of a domain, the latest first, without their steps; `pending` ones are under way or were left."""

    route: ClassVar[str] = "GET /cases/runs"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model knows the runs that it began",
        "sexpr": "expressions know memories, not cases",
    }

    state: Annotated[model.StepState, Meta(description="only those")] | None = None
    limit: Limit = 50
    offset: Offset = 0
    domain: Domain | None = None


class PlanTask(Operation["model.Planned"], frozen=True):
    """
    Plan a task after the cases that are most like it; the plan is kept, and `execute_task` carries it out.

    A model plans where the settings have one; otherwise the plan of the best case that worked is taken over, with what its task
    names replaced by what this one names.

    Raises:
        InputError: neither steps, nor a model, nor a case to follow; a retrieval without steps; or more steps than a task may have.
        NotFound: no such retrieval in this domain.
        ModelError: the model gave no usable plan.
        ToolError: a configured server cannot be used.
    """

    route: ClassVar[str] = "POST /cases/plan"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "expressions know memories, not cases"}

    task: Annotated[Text, Meta(description="what is to be done")]
    steps: Annotated[
        Sequence[Text],
        Meta(description="the caller's own plan; the cases that are like it had no part in it, and share no reward"),
    ] = ()
    retrieval: (
        Annotated[Text, Meta(description="the look-up whose cases those steps were made of, which then do")] | None
    ) = None
    k: Annotated[Count, Meta(description="most cases of either section that are shown for it")] | None = None
    about: About = ()
    domain: Domain | None = None


class ExecuteTask(Operation["model.Executed"], frozen=True):
    """
    Carry out a task from the step that is next, with the tools of the servers in `[executor]`.

    It ends when the steps are done, when no further plan is left after a failure, at a limit, or at a step that cannot be tried
    for want of a model or a tool; then, as after a death of the process, the next call goes on from there.

    Raises:
        Forbidden: the caller has not the whole data folder: tools work in its owner's name.
        NotFound: no such run in this domain.
        Conflict: it is complete already, or being carried out.
        ToolError: a configured server cannot be used.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/execute"
    right: ClassVar[Right] = "admin"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 409, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "expressions know memories, not cases"}

    run: Annotated[Iri, Meta(description="the task, as `plan_task` named it")]
    uncertain: Annotated[
        model.Doubt, Meta(description="what to do about a call that was under way when the process ended")
    ] = "ask"
    complete: Annotated[
        bool, Meta(description="make a case of it when it is done or has failed; else that is left to `complete_case`")
    ] = True
    domain: Domain | None = None


class ListTools(Operation["tuple[model.Offered, ...]"], frozen=True):
    """
    List the tools of the servers in `[executor]`.

    Raises:
        Forbidden: the caller has not the whole data folder.
        ToolError: a configured server cannot be used.
    """

    route: ClassVar[str] = "GET /cases/tools"
    right: ClassVar[Right] = "admin"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model has its own tools",
        "sexpr": "expressions know memories, not cases",
    }
