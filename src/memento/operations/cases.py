"""Operations on cases: finished tasks as examples, plans made after them, and tasks under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.iris import IRI
from memento.operations.base import Instant, Interface, Iri, Limit, Offset, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model

LEAST_REWARD, MOST_REWARD = -0.2, 1.0

Domain = Annotated[str, Meta(min_length=1, description="the bank of cases; default that of the namespace's name")]
About = Annotated[Sequence[str], Meta(description="entities that it concerns, by IRI, beside those that it names")]
Tags = Annotated[Sequence[str], Meta(description="words that tell what kind of task it is")]
Count = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": 1000})]
Since = Annotated[Instant, Meta(description="only cases finished from then on")]
Until = Annotated[Instant, Meta(description="only cases finished before")]
Reward = Annotated[
    float,
    Meta(
        description="what it earned; beside an outcome it counts, and must say the same",
        extra_json_schema={"minimum": LEAST_REWARD, "maximum": MOST_REWARD},
    ),
]
Score = Annotated[float, Meta(description="how good a judge found it", extra_json_schema={"minimum": 0, "maximum": 1})]
Efficiency = Annotated[
    float, Meta(description="the share of its cost that it saved", extra_json_schema={"minimum": 0, "maximum": 1})
]
NO_VERB: Mapping[Interface, str] = {"sexpr": "expressions know memories, not cases"}


class AddCases(Operation["tuple[IRI, ...]"], frozen=True):
    """
    Keep finished tasks as cases, in one write; answers with their IRIs in the order of the rows.

    Where that makes more than `cases.limit`, the least valuable go.

    Raises:
        InputError: an empty task or plan, an unknown outcome, or a reward that is out of range or contradicts the outcome;
            names the row, counted from 1; nothing is stored.
        TooLong: a text over `limits.text_bytes`.
        BackendError: store or embedder failed; nothing was written.
    """

    route: ClassVar[str] = "POST /cases"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model keeps one task at a time", **NO_VERB}

    rows: Annotated[Sequence[model.CaseRow], Meta(description="the tasks, with what was done and how each ended")]
    domain: Domain | None = None


class RetrieveCases(Operation["model.CasesFound"], frozen=True):
    """
    Find the cases to follow and those to avoid for a task, each best first, with why each was chosen.

    What was shown is kept under `retrieval`, so that `reward_cases` can tell what came of it; where the domain has no cases, or
    nothing can be written, nothing is kept, and it is null.

    Raises:
        InputError: empty task, k out of range.
        TooLong: task over `limits.text_bytes`.
        Forbidden: no access to the domain.
    """

    route: ClassVar[str] = "POST /cases/retrieve"
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

    task: Annotated[Text, Meta(description="what is to be done")]
    k: Annotated[Count, Meta(description="most cases of either section; default the setting `cases.k`")] | None = None
    about: About = ()
    tags: Tags = ()
    since: Since | None = None
    until: Until | None = None
    explore: Annotated[bool, Meta(description="draw the cases to follow by chance, the better ones more often")] = False
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
        "sexpr": "expressions know memories, not cases",
    }

    tasks: Annotated[Sequence[Text], Meta(description="what is to be done", extra_json_schema={"minItems": 1})]
    k: Annotated[Count, Meta(description="most cases of either section; default the setting `cases.k`")] | None = None
    since: Since | None = None
    until: Until | None = None
    domain: Domain | None = None


class RewardCases(Operation["model.Credited"], frozen=True):
    """
    Tell what the task earned that some cases were shown for: they share the credit equally, and the Q function learns.

    The verdict is an outcome, from which the reward follows, or the reward itself. Telling it again replaces what was told before.

    Raises:
        NotFound: no such retrieval in this domain, or it did not show a case of `single`.
        InputError: neither a verdict nor a reward, or out of range.
    """

    route: ClassVar[str] = "POST /cases/retrievals/{retrieval}/reward"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

    retrieval: Annotated[Iri, Meta(description="as `retrieve_cases` named it")]
    outcome: Annotated[model.Outcome, Meta(description="how the task ended")] | None = None
    reward: Reward | None = None
    efficiency: Efficiency | None = None
    score: Score | None = None
    single: (
        Annotated[
            Mapping[str, Reward],
            Meta(description="the rewards of single cases by IRI; without a verdict the others get none"),
        ]
        | None
    ) = None
    domain: Domain | None = None


class GetCase(Operation["model.CaseShown"], frozen=True):
    """
    Show everything about one case, its verdicts and steps among it.

    Raises:
        NotFound: no such case in this domain.
    """

    route: ClassVar[str] = "GET /cases/{case}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

    case: Annotated[Iri, Meta(description="the case")]
    domain: Domain | None = None


class ListCases(Operation["tuple[model.CaseShown, ...]"], frozen=True):
    """List the cases of a domain, the latest first or those most like a task first, without steps and verdicts."""

    route: ClassVar[str] = "GET /cases"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task", **NO_VERB}

    task: Annotated[Text, Meta(description="what the cases are to be like; then the most like come first")] | None = (
        None
    )
    limit: Limit = 50
    offset: Offset = 0
    domain: Domain | None = None


class ForgetCase(Operation["IRI"], frozen=True):
    """
    Show a case no more.

    Raises:
        NotFound: no such case in this domain.
    """

    route: ClassVar[str] = "DELETE /cases/{case}"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "people decide which cases go", **NO_VERB}

    case: Annotated[Iri, Meta(description="the case")]
    erase: Annotated[
        bool,
        Meta(
            description="also delete its texts, its steps, its verdicts and that it was ever shown; Q then learns again"
        ),
    ] = False
    domain: Domain | None = None


class NavigateCases(Operation["model.Navigated"], frozen=True):
    """
    Look at the cases of a domain from a point of view, and keep that one has looked, where there are any.

    Raises:
        InputError: an unknown zoom or tilt, no task where the tilt needs one, or limit out of range.
        NotFound: no such earlier view.
    """

    route: ClassVar[str] = "GET /cases/view"
    fails: ClassVar[tuple[int, ...]] = (404, 413)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task", **NO_VERB}

    zoom: Annotated[
        model.Zoom, Meta(description="cases, the steps they took, or communities of cases that share entities")
    ] = "case"
    pan: Annotated[
        Sequence[str],
        Meta(description="only what concerns all of these: entities by IRI or name, or words of the task"),
    ] = ()
    tilt: (
        Annotated[
            model.Tilt,
            Meta(
                description="the order: by likeness to `task`, its words, shared entities, or time; default embedding with a task, "
                "temporal without"
            ),
        ]
        | None
    ) = None
    task: Annotated[Text, Meta(description="what the order is by")] | None = None
    since: Since | None = None
    until: Until | None = None
    previous: Annotated[str, Meta(description="an earlier view: what was seen there comes a little earlier")] | None = (
        None
    )
    limit: Limit = 20
    domain: Domain | None = None


class CaseMetrics(Operation["model.CaseMetrics"], frozen=True):
    """Say how well the cases of a domain do: rankings, success, execution, the learning curve, what they cost."""

    route: ClassVar[str] = "GET /cases/metrics"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

    domain: Domain | None = None


class CaseStatus(Operation["model.CaseStatus"], frozen=True):
    """Say how many cases a domain has, and how far its Q function has come."""

    route: ClassVar[str] = "GET /cases/status"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model retrieves the cases for its task", **NO_VERB}

    domain: Domain | None = None


class PruneCases(Operation["tuple[IRI, ...]"], frozen=True):
    """Let cases of a domain go until it has `keep`, those that the strategy names first; answers with those that went."""

    route: ClassVar[str] = "POST /cases/prune"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "people decide which cases go", **NO_VERB}

    keep: Annotated[int, Meta(ge=1, le=2**31 - 1, description="how many cases stay")]
    strategy: (
        Annotated[
            Literal["value", "oldest", "unused", "reward"],
            Meta(description="which go: worth least, finished first, shown least, earned least; default `cases.prune`"),
        ]
        | None
    ) = None
    domain: Domain | None = None


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
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

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
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

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
    absent: ClassVar[Mapping[Interface, str]] = {"cli": "`memento cases record` keeps a whole task", **NO_VERB}

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
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

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
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model knows the runs that it began", **NO_VERB}

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
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

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
    absent: ClassVar[Mapping[Interface, str]] = NO_VERB

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
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model has its own tools", **NO_VERB}
