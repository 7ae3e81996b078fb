"""Operations on cases: finished tasks as examples, plans based on them, and tasks in progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.iris import IRI
from memento.operations.base import Instant, Interface, Iri, Limit, Offset, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model
    from memento.plugins.cases import nouns

GROUP = "cases"
NOUNS = "memento.plugins.cases.nouns"

LEAST_REWARD, MOST_REWARD = -0.2, 1.0

Domain = Annotated[str, Meta(min_length=1, description="the case bank; default the one named like the namespace")]
About = Annotated[
    Sequence[str], Meta(description="IRIs of entities that it concerns, in addition to those that it names")
]
Tags = Annotated[Sequence[str], Meta(description="words for the kind of task")]
Count = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 1000})]
Since = Annotated[Instant, Meta(description="only cases finished at this time or later")]
Until = Annotated[Instant, Meta(description="only cases finished before this time")]
Reward = Annotated[
    float,
    Meta(
        description="what it earned; it overrides the reward of an outcome, and must not contradict the outcome",
        extra_json_schema={"minimum": LEAST_REWARD, "maximum": MOST_REWARD},
    ),
]
Score = Annotated[float, Meta(description="a judge's score", extra_json_schema={"minimum": 0, "maximum": 1})]
Efficiency = Annotated[
    float, Meta(description="the share of its cost that it saved", extra_json_schema={"minimum": 0, "maximum": 1})
]


class AddCases(Operation["tuple[IRI, ...]"], frozen=True):
    """
    Store finished tasks as cases, in one write; return their IRIs in the order of the rows.

    If the domain then has more than `cases.limit` cases, it is pruned as `cases.prune` says.

    Raises:
        InputError: an empty task or plan, an unknown outcome, or a reward that is out of range or contradicts the outcome;
            the message names the row, counted from 1; nothing is stored.
        TooLong: a text over `limits.text_bytes`.
        BackendError: store or embedder failed; nothing was written.
    """

    route: ClassVar[str] = "POST /cases"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model keeps one task at a time"}

    rows: Annotated[Sequence[nouns.CaseRow], Meta(description="the tasks, each with what was done and how it ended")]
    domain: Domain | None = None


class RetrieveCases(Operation["model.CasesFound"], frozen=True):
    """
    Find the cases to follow and those to avoid for a task, best first, with the reason for each.

    The retrieval is stored, and `retrieval` is its IRI, so that `reward_cases` can credit the cases. If the domain has no cases, or
    the memory is read-only, nothing is stored and `retrieval` is null.

    Raises:
        InputError: empty task, k out of range.
        TooLong: task over `limits.text_bytes`.
        Forbidden: no access to the domain.
    """

    route: ClassVar[str] = "POST /cases/retrieve"
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)

    task: Annotated[Text, Meta(description="what is to be done")]
    k: Annotated[Count, Meta(description="most cases in each section; default 4")] | None = None
    about: About = ()
    tags: Tags = ()
    since: Since | None = None
    until: Until | None = None
    explore: Annotated[bool, Meta(description="draw the cases to follow at random, the better ones more often")] = False
    domain: Domain | None = None


class RetrieveCasesEach(Operation["tuple[model.CasesFound, ...]"], frozen=True):
    """
    Find the cases for each of several tasks, which are embedded together.

    Raises:
        InputError: too many tasks.
    """

    route: ClassVar[str] = "POST /cases/retrieve/each"
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "cli": "`memento cases retrieve` takes one task",
        "mcp": "a model has one task at a time",
    }

    tasks: Annotated[Sequence[Text], Meta(description="what is to be done", extra_json_schema={"minItems": 1})]
    k: Annotated[Count, Meta(description="most cases in each section; default 4")] | None = None
    since: Since | None = None
    until: Until | None = None
    domain: Domain | None = None


class RewardCases(Operation["nouns.Credited"], frozen=True):
    """
    Report the reward of a task for which cases were retrieved: they share the credit equally, and the Q function learns.

    The verdict is an outcome, which implies a reward, or the reward itself. A later verdict replaces an earlier one.

    Raises:
        NotFound: no such retrieval in this domain, or it did not show a case of `single`.
        InputError: neither a verdict nor a reward, or out of range.
    """

    route: ClassVar[str] = "POST /cases/retrievals/{retrieval}/reward"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    retrieval: Annotated[Iri, Meta(description="the IRI from `retrieve_cases`")]
    outcome: Annotated[model.Outcome, Meta(description="how the task ended")] | None = None
    reward: Reward | None = None
    efficiency: Efficiency | None = None
    score: Score | None = None
    single: Annotated[
        Mapping[str, Reward] | None,
        Meta(description="the rewards of single cases by IRI; without a verdict the others get none"),
    ] = None
    domain: Domain | None = None


class GetCase(Operation["model.CaseShown"], frozen=True):
    """
    Show everything about one case, including its verdicts and steps.

    Raises:
        NotFound: no such case in this domain.
    """

    route: ClassVar[str] = "GET /cases/{case}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    case: Annotated[Iri, Meta(description="the case")]
    domain: Domain | None = None


class ListCases(Operation["tuple[model.CaseShown, ...]"], frozen=True):
    """List the cases of a domain, latest first or most similar to a task first, without steps and verdicts."""

    route: ClassVar[str] = "GET /cases"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task"}

    task: Annotated[Text, Meta(description="rank the cases by similarity to this task")] | None = None
    limit: Limit = 50
    offset: Offset = 0
    domain: Domain | None = None


class ForgetCase(Operation["IRI"], frozen=True):
    """
    Hide a case from every retrieval.

    Raises:
        NotFound: no such case in this domain.
    """

    route: ClassVar[str] = "DELETE /cases/{case}"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "people decide which cases go"}

    case: Annotated[Iri, Meta(description="the case")]
    erase: Annotated[
        bool,
        Meta(
            description="also delete its texts, steps, verdicts and every record that it was shown; Q is then trained again"
        ),
    ] = False
    domain: Domain | None = None


class NavigateCases(Operation["nouns.Navigated"], frozen=True):
    """
    View the cases of a domain by zoom, pan and tilt; if there are any, the view is stored.

    Raises:
        InputError: an unknown zoom or tilt, no task where the tilt needs one, or limit out of range.
        NotFound: no such earlier view.
    """

    route: ClassVar[str] = "GET /cases/view"
    fails: ClassVar[tuple[int, ...]] = (404, 413)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task"}

    zoom: Annotated[
        nouns.Zoom, Meta(description="what to show: cases, their steps, or communities of cases that share entities")
    ] = "case"
    pan: Annotated[
        Sequence[str],
        Meta(description="only what matches all of these: entities by IRI or name, or words of the task"),
    ] = ()
    tilt: Annotated[
        nouns.Tilt | None,
        Meta(
            description="the order: by similarity to `task`, its words, shared entities, or time; default embedding with a "
            "task, temporal without"
        ),
    ] = None
    task: Annotated[Text, Meta(description="the task that cases are compared with")] | None = None
    since: Since | None = None
    until: Until | None = None
    previous: Annotated[str, Meta(description="an earlier view: what was in it ranks a little higher")] | None = None
    limit: Limit = 20
    domain: Domain | None = None


class CaseMetrics(Operation["nouns.CaseMetrics"], frozen=True):
    """Show how well the cases of a domain work: rankings, success, execution, the learning curve, costs."""

    route: ClassVar[str] = "GET /cases/metrics"
    is_idempotent: ClassVar[bool] = True

    domain: Domain | None = None


class CaseStatus(Operation["nouns.CaseStatus"], frozen=True):
    """Show how many cases a domain has, and how far its Q function is trained."""

    route: ClassVar[str] = "GET /cases/status"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task"}

    domain: Domain | None = None


class PruneCases(Operation["tuple[IRI, ...]"], frozen=True):
    """Prune the cases of a domain down to `keep`, in the order of the strategy; return those that were removed."""

    route: ClassVar[str] = "POST /cases/prune"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "people decide which cases go"}

    keep: Annotated[int, Meta(ge=1, le=2**31 - 1, description="how many cases stay")]
    strategy: Annotated[
        Literal["value", "oldest", "unused", "reward"] | None,
        Meta(
            description="which to remove: worth least, finished first, shown least, earned least; default `cases.prune`"
        ),
    ] = None
    domain: Domain | None = None


DerivedFrom = Annotated[Sequence[str], Meta(description="memories and notes that it uses")]


class StartCase(Operation["nouns.TaskRun"], frozen=True):
    """
    Start to record how a task is carried out; `complete_case` turns it into a case.

    Raises:
        NotFound: no such retrieval in this domain.
    """

    route: ClassVar[str] = "POST /cases/runs"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)

    task: Annotated[Text, Meta(description="what is to be done")]
    plan: Annotated[
        Text | None, Meta(description="the plan, if it is known; `complete_case` may give a better one")
    ] = None
    retrieval: Annotated[
        Text | None, Meta(description="the retrieval of cases for it; these cases will share its reward")
    ] = None
    about: About = ()
    derived_from: DerivedFrom = ()
    domain: Domain | None = None


class TaskRun(Operation["nouns.TaskRun"], frozen=True):
    """
    Show a task in progress or done, with its steps in order.

    Raises:
        NotFound: no such run in this domain.
    """

    route: ClassVar[str] = "GET /cases/runs/{run}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    run: Annotated[Iri, Meta(description="the task: the IRI from `start_case` or `plan_task`")]
    domain: Domain | None = None


class RecordStep(Operation["nouns.TaskRun"], frozen=True):
    """
    Record one step of a task with its tool calls.

    Raises:
        NotFound: no such run in this domain.
        Conflict: it is complete already.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/steps"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"cli": "`memento cases record` keeps a whole task"}

    run: Annotated[Iri, Meta(description="the task under way")]
    task: Annotated[Text, Meta(description="what the step does")]
    result: Annotated[str, Meta(description="the result of the step")] | None = None
    state: Annotated[model.StepState, Meta(description="the state of the step")] = "done"
    tools: Annotated[Sequence[model.ToolCall], Meta(description="its tool calls")] = ()
    step: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=2**31 - 1,
                description="its place, counted from 0; an existing step is replaced; default after the last",
            ),
        ]
        | None
    ) = None
    derived_from: DerivedFrom = ()
    domain: Domain | None = None


class CompleteCase(Operation["nouns.Completed"], frozen=True):
    """
    Complete a task: it becomes a case with its reward, and the cases that were retrieved for it share the credit.

    Raises:
        NotFound: no such run in this domain.
        Conflict: it is complete already.
        InputError: no verdict, or nothing that could be its plan.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/complete"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 409, 415)

    run: Annotated[Iri, Meta(description="the task under way")]
    outcome: Annotated[model.Outcome, Meta(description="how it ended")] | None = None
    plan: Annotated[
        Text | None, Meta(description="what was done; default the plan it started with, else its steps")
    ] = None
    reward: Reward | None = None
    efficiency: Efficiency | None = None
    score: Score | None = None
    reason: Annotated[str, Meta(description="why the verdict is what it is")] | None = None
    tags: Tags = ()
    domain: Domain | None = None


class TaskRuns(Operation["tuple[nouns.TaskRun, ...]"], frozen=True):
    """List the tasks of a domain, latest first, without their steps; `pending` ones are in progress or were abandoned."""

    route: ClassVar[str] = "GET /cases/runs"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model knows the runs that it started"}

    state: Annotated[model.StepState, Meta(description="only tasks in this state")] | None = None
    limit: Limit = 50
    offset: Offset = 0
    domain: Domain | None = None


class PlanTask(Operation["nouns.Planned"], frozen=True):
    """
    Plan a task, based on the most similar cases; the plan is stored, and `execute_task` carries it out.

    If the settings have a model, it makes the plan. Otherwise the plan of the best successful case is copied, and the things that
    its task names are replaced by those that this task names.

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

    task: Annotated[Text, Meta(description="what is to be done")]
    steps: Annotated[
        Sequence[Text],
        Meta(description="your own plan; similar cases had no part in it, and share no reward"),
    ] = ()
    retrieval: Annotated[
        Text | None, Meta(description="the retrieval that your steps are based on; its cases then share the reward")
    ] = None
    k: Annotated[Count, Meta(description="most cases in each section that are retrieved for it")] | None = None
    about: About = ()
    domain: Domain | None = None


class ExecuteTask(Operation["nouns.Executed"], frozen=True):
    """
    Carry out a task from its next step on, with the tools of the servers in `[executor]`.

    The call ends when all steps are done, when no plan is left after a failure, at a limit, or at a step that lacks a model or a
    tool. In the last two cases, or if the process died, the next call continues from there.

    Raises:
        Forbidden: the caller may not use the whole data folder: tools run in its owner's name.
        NotFound: no such run in this domain.
        Conflict: it is complete already, or it is running now.
        ToolError: a configured server cannot be used.
    """

    route: ClassVar[str] = "POST /cases/runs/{run}/execute"
    right: ClassVar[Right] = "admin"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 409, 415)

    run: Annotated[Iri, Meta(description="the task: the IRI from `plan_task`")]
    uncertain: Annotated[
        nouns.Doubt, Meta(description="what to do about a tool call that was running when the process ended")
    ] = "ask"
    complete: Annotated[
        bool,
        Meta(description="turn it into a case when it is done or has failed; false: leave that to `complete_case`"),
    ] = True
    domain: Domain | None = None


class ListTools(Operation["tuple[nouns.Offered, ...]"], frozen=True):
    """
    List the tools of the servers in `[executor]`.

    Raises:
        Forbidden: the caller may not use the whole data folder.
        ToolError: a configured server cannot be used.
    """

    route: ClassVar[str] = "GET /cases/tools"
    right: ClassVar[Right] = "admin"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model has its own tools"}
