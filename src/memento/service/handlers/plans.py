"""Answers the operations on tasks under way: planned, kept step by step, carried out, ended as a case."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from memento.cases import credit, runs
from memento.cases import plan as plans
from memento.cases.lifecycle import make_case_of_run, prune_cases, save_cases
from memento.cases.plan import ANSWER, Examples, Execution, RunResult
from memento.cases.retrieve import find_entities
from memento.errors import Conflict, Forbidden, InputError
from memento.iris import IRI, mint, parse_iri
from memento.llm.chat import chats_of
from memento.llm.tools import Toolbox, servers_of
from memento.model import (
    CasesFound,
    Completed,
    Executed,
    Offered,
    Outcome,
    Planned,
    StepState,
    TaskRun,
    TaskStep,
    Trajectory,
    Verdict,
)
from memento.operations import plans as operations
from memento.operations.cases import RetrieveCases
from memento.ports import Chat
from memento.service.context import Context
from memento.service.dispatch import handles
from memento.service.handlers.cases import domain_of, earned_by, log_read, retrieve_cases, writer_of

_under_way: set[IRI] = set()
_lock = threading.Lock()


@handles(operations.StartCase)
def start_case(operation: operations.StartCase, context: Context) -> TaskRun:
    """Write a task that begins."""
    context.require_text(operation.task, "task")
    if operation.plan is not None:
        context.require_text(operation.plan, "plan")
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context, "write")
        if operation.retrieval is not None:
            credit.require_retrieval(operation.retrieval, domain, context.stores)
        writer = writer_of(scope, context)
        trajectory = Trajectory(
            iri=mint("trajectory"),
            state=mint("state"),
            at=writer.at,
            progress="pending",
            action=mint("action") if operation.plan else None,
            retrieval=parse_iri(operation.retrieval) if operation.retrieval else None,
            about=find_entities(operation.task, operation.about, scope, context.stores),
            derived_from=tuple(dict.fromkeys(map(parse_iri, operation.derived_from))),
        )
        change = runs.begin_run(operation.task, operation.plan, trajectory, domain.graph)
        writer.write(change, "cases.start", [trajectory.iri], operation.task)
        return runs.load_run(trajectory.iri, domain, context.stores).to_task_run(name)


@handles(operations.TaskRun)
def task_run(operation: operations.TaskRun, context: Context) -> TaskRun:
    """Look a task up with its steps."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        case = runs.find_case_of_run(operation.run, domain, context.stores)
        run = runs.load_run(operation.run, domain, context.stores).to_task_run(name, case)
        log_read("cases.run", [run.iri], scope, context)
        return run


@handles(operations.RecordStep)
def record_step(operation: operations.RecordStep, context: Context) -> TaskRun:
    """Write one step of a task."""
    context.require_text(operation.task, "task of the step")
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context, "write")
        kept = runs.load_pending_run(operation.run, domain, context.stores)
        place = operation.step
        if place is None:
            place = max((one.step for one, _ in kept.steps), default=-1) + 1
        done = TaskStep(
            step=place,
            task=operation.task,
            state=operation.state,
            result=operation.result or None,
            tools=tuple(operation.tools),
        )
        change = runs.replace_step(kept, done, [parse_iri(one) for one in operation.derived_from], domain.graph)
        writer_of(scope, context).write(change, "cases.step", [kept.trajectory.iri])
        return runs.load_run(operation.run, domain, context.stores).to_task_run(name)


@handles(operations.CompleteCase)
def complete_case(operation: operations.CompleteCase, context: Context) -> Completed:
    """Make a case of a task, with its verdict."""
    earned = earned_by(operation.outcome, operation.reward, operation.efficiency, operation.score, context)
    options = context.settings.cases
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        kept, writer = runs.load_pending_run(operation.run, domain, context.stores), writer_of(scope, context)
        plan = operation.plan or kept.plan or runs.write_plan(kept)
        if not plan.strip():
            raise InputError("a case needs a plan: give one, or record the steps of the task")
        verdict = Verdict(
            reward=earned,
            at=writer.at,
            outcome=operation.outcome,
            efficiency=operation.efficiency,
            score=operation.score,
            reason=operation.reason,
        )
        case = make_case_of_run(kept, plan, verdict, operation.tags, domain.graph)
        progress: StepState = "failed" if earned <= 0 else "done"
        ends = runs.end_run(kept, progress, options.record_chars, options.pack, domain.graph)
        retrieval = kept.trajectory.retrieval
        debt = None
        if retrieval and credit.has_retrieval(retrieval, domain, context.stores):
            debt = credit.assign_credit(retrieval, earned, {}, domain, writer)
        save_cases([case], ends + debt.change if debt else ends, domain, writer, "cases.complete")
        credited = credit.apply_credit(debt, domain, writer) if debt else None
        pruned = prune_cases(context.service.domains.open(domain.graph), options, writer)
        return Completed(case=case.case.iri, reward=earned, credited=credited, pruned=pruned)


@handles(operations.TaskRuns)
def task_runs(operation: operations.TaskRuns, context: Context) -> tuple[TaskRun, ...]:
    """Look a page of tasks up."""
    context.require_page(operation.limit, operation.offset)
    states: list[StepState] = [operation.state] if operation.state else ["pending", "done", "failed"]
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        found = runs.list_runs(states, domain, name, context.stores)
        page = tuple(found[operation.offset : operation.offset + operation.limit])
        log_read("cases.runs", [one.iri for one in page], scope, context)
    return page


@handles(operations.PlanTask)
def plan_task(operation: operations.PlanTask, context: Context) -> Planned:
    """Plan a task after its cases, and write the plan."""
    task, steps = operation.task, operation.steps
    context.require_text(task, "task")
    for number, step in enumerate(steps, start=1):
        context.require_text(step, f"step {number}")
    if operation.retrieval is not None and not steps:
        raise InputError("retrieval goes with steps: it names the look-up that your own plan was made of")
    context.scope(operation.namespace, "write")
    if operation.retrieval is None:
        found = retrieve_cases(
            RetrieveCases(
                task,
                k=operation.k,
                about=operation.about,
                domain=operation.domain,
                namespace=operation.namespace,
            ),
            context,
        )
    else:
        found = _cases_shown(task, operation.retrieval, operation, context)
    draft = _draft(task, steps, found, context)
    most = context.settings.executor.steps
    if len(draft.steps) > most:
        raise InputError(f"a plan may have at most {most} steps (steps of [executor]), not {len(draft.steps)}")
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context, "write")
        writer = writer_of(scope, context)
        trajectory = Trajectory(
            iri=mint("trajectory"),
            state=mint("state"),
            at=writer.at,
            progress="pending",
            action=mint("action"),
            retrieval=None if steps and operation.retrieval is None else found.retrieval,
            about=find_entities(task, operation.about, scope, context.stores),
        )
        change = runs.begin_planned_run(task, draft, trajectory, domain.graph)
        writer.write(change, "cases.plan", [trajectory.iri], task)
        run = runs.load_run(trajectory.iri, domain, context.stores).to_task_run(name)
    return Planned(run=run, by=draft.by, reason=draft.reason, found=found, tokens=draft.tokens)


@handles(operations.ExecuteTask)
def execute_task(operation: operations.ExecuteTask, context: Context) -> Executed:
    """Carry out the steps of a plan with tools."""
    _require_tools(context)
    with context.service.writing:
        _, name, domain = domain_of(operation.domain, operation.namespace, context, "write")
        run = runs.load_pending_run(operation.run, domain, context.stores).to_task_run(name)
    if not run.steps:
        raise InputError("the run has no steps to carry out: plan the task with `plan_task`, or record pending steps")
    cases = _cases_for(run, operation, context)
    with _alone(run.iri), _open_chats(context) as chats, _open_tools(context) as tools:
        execution = Execution(
            run,
            cases,
            tools,
            chats,
            context.settings.executor,
            lambda step: _write_step(run.iri, step, operation, context),
        )
        ended = execution.go(operation.uncertain)
        completed = None
        if operation.complete and ended.ending in ("done", "failed"):
            completed = _complete(run.iri, ended, operation, context)
    shown = operations.TaskRun(operation.run, domain=operation.domain, namespace=operation.namespace)
    return Executed(
        run=task_run(shown, context),
        ending=ended.ending,
        reason=ended.reason,
        answer=ended.answer,
        calls=ended.calls,
        tokens=ended.tokens,
        seconds=ended.seconds,
        completed=completed,
    )


@handles(operations.ListTools)
def list_tools(operation: operations.ListTools, context: Context) -> tuple[Offered, ...]:
    """Ask the configured servers for their tools."""
    _require_tools(context)
    with _open_tools(context) as tools:
        return tuple(tools.offered.values())


def _draft(task: str, steps: Sequence[str], found: CasesFound, context: Context) -> plans.Draft:
    if steps:
        own = tuple(" ".join(step.split()) for step in steps)
        return plans.Draft(steps=own, by="caller", reason="the caller's own plan")
    with _open_chats(context) as chats:
        if chats is None:
            return plans.plan_by_template(task, found, context.settings.cases.template_from)
        with ExitStack() as stack:
            offered = stack.enter_context(_open_tools(context)).offered if context.owns_folder() else {}
            return plans.plan_by_model(chats[0], task, found, offered, most=context.settings.executor.steps)


def _cases_shown(
    task: str, retrieval: str, operation: operations.PlanTask | operations.ExecuteTask, context: Context
) -> CasesFound:
    """Return the cases that an earlier look-up showed; raise `NotFound`."""
    with context.service.writing:
        _, name, domain = domain_of(operation.domain, operation.namespace, context)
        credit.require_retrieval(retrieval, domain, context.stores)
        return runs.load_examples(task, IRI(retrieval), name, domain, context.stores)


def _cases_for(run: TaskRun, operation: operations.ExecuteTask, context: Context) -> Examples:
    """Return the cases that a run is planned again with: those it was planned with, or else those that are like it now."""

    def find() -> CasesFound:
        if run.retrieval is None:
            wanted = RetrieveCases(run.task, domain=operation.domain, namespace=operation.namespace)
            return retrieve_cases(wanted, context)
        with context.service.writing:
            _, name, domain = domain_of(operation.domain, operation.namespace, context)
            return runs.load_examples(run.task, run.retrieval, name, domain, context.stores)

    def follow(found: CasesFound) -> None:
        with context.service.writing:
            scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
            kept = runs.load_pending_run(run.iri, domain, context.stores)
            if kept.trajectory.retrieval is None and found.retrieval:
                change = runs.follow_examples(run.iri, found, domain.graph)
                writer_of(scope, context).write(change, "cases.plan", [run.iri])

    return Examples(find, follow, context.settings.cases.template_from)


def _complete(run: IRI, ended: RunResult, operation: operations.ExecuteTask, context: Context) -> Completed:
    done = [one for one in ended.steps if one.state == "done" and one.task != ANSWER]
    tried = [one for one in ended.steps if one.state in ("done", "failed") and one.task != ANSWER]
    # Steps that went well before one that did not make no plan to follow: the task was not done.
    outcome: Outcome = "success" if ended.ending == "done" else "failure"
    saved = max(0.0, 1 - len(ended.steps) / context.settings.executor.steps)
    return complete_case(
        operations.CompleteCase(
            run,
            outcome,
            plan=plans.write_steps((done if outcome == "success" else tried) or ended.steps),
            efficiency=saved if outcome == "success" else None,
            reason=plans.shorten(ended.reason),
            domain=operation.domain,
            namespace=operation.namespace,
        ),
        context,
    )


def _write_step(run: IRI, step: TaskStep, operation: operations.ExecuteTask, context: Context) -> None:
    """Write one step as it is now."""
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        kept = runs.load_pending_run(run, domain, context.stores)
        writer_of(scope, context).write(runs.replace_step(kept, step, (), domain.graph), "cases.step", [run])


def _require_tools(context: Context) -> None:
    context.access.needs("admin")
    if not context.owns_folder():
        raise Forbidden(
            "tools work in the name of whoever has the data folder: it takes an admin token of its tenant for all namespaces"
        )


def _open_tools(context: Context) -> Toolbox:
    options = context.settings.executor
    return Toolbox(servers_of(options), options)


@contextmanager
def _open_chats(context: Context) -> Iterator[tuple[Chat, Chat] | None]:
    """Give the models that plan and act, where there are any."""
    chats = chats_of(context.settings.model)
    try:
        yield (chats["plan"], chats["act"]) if chats else None
    finally:
        for chat in chats.values():
            chat.close()


@contextmanager
def _alone(run: IRI) -> Iterator[None]:
    """Raise `Conflict` when the run is being carried out already."""
    with _lock:
        if run in _under_way:
            raise Conflict(f"the run <{run}> is being carried out already")
        _under_way.add(run)
    try:
        yield
    finally:
        with _lock:
            _under_way.discard(run)
