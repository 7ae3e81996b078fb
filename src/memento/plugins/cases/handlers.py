"""Answer the operations on cases, and on tasks in progress: planned, recorded step by step, carried out, completed as a case."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from memento.access import Right
from memento.archive.cases import embed_tasks, list_domains
from memento.errors import Conflict, Forbidden, InputError
from memento.iris import IRI, cases_iri, check_namespace, mint, namespace_of, parse_iri, tag_iri
from memento.llm import Chat, chats_of
from memento.model import CasesFound, CaseShown, Change, Outcome, Scope, StepState, TaskStep, Trajectory, Verdict
from memento.plugins.cases import credit, lifecycle, navigate, operations, retrieve, runs
from memento.plugins.cases import plan as plans
from memento.plugins.cases.credit import check_reward, compute_reward, reconcile_reward
from memento.plugins.cases.domain import Domain, Domains, Writer, measure_domain
from memento.plugins.cases.lifecycle import make_case, make_case_of_run, save_cases
from memento.plugins.cases.nouns import (
    CaseMetrics,
    CaseStatus,
    Completed,
    Credited,
    Executed,
    Navigated,
    Offered,
    Planned,
    TaskRun,
)
from memento.plugins.cases.operations import RetrieveCases
from memento.plugins.cases.plan import ANSWER, Examples, Execution, RunResult
from memento.plugins.cases.retrieve import find_entities, find_entities_by_name, find_entities_each
from memento.plugins.cases.settings import CasesSettings, ExecutorSettings
from memento.plugins.cases.toolbox import Toolbox, servers_of
from memento.service.context import Context, handles
from memento.time import instant, now


def open_domains(context: Context) -> Domains:
    """Return the domains of all tenants, as long as the memory is open."""
    return context.service.keep(Domains, lambda: Domains(context.stores, context.settings.of(CasesSettings)))


def domain_of(
    domain: str | None, namespace: str | None, context: Context, right: Right = "read"
) -> tuple[Scope, str, Domain]:
    """
    Return the scope, the name of the domain and the domain of a call; the default name is that of the namespace.

    Raises:
        Forbidden: the caller lacks the right, has no access to the namespace or the domain, or cases are switched off.
    """
    if not context.settings.of(CasesSettings).on:
        raise Forbidden("cases are switched off: set cases.on = true")
    scope = context.scope(namespace, right)
    name = check_namespace(context.access.namespace(domain, scope.namespace))
    return scope, name, open_domains(context).open(cases_iri(scope.tenant, name))


def writer_of(scope: Scope, context: Context) -> Writer:
    """Return the writer of changes to cases."""
    return Writer(context.access.name, scope.tenant, now(), open_domains(context), context.stores)


def log_read(operation: str, nodes: Sequence[IRI], scope: Scope, context: Context) -> None:
    """
    Record in the audit graph that a caller got cases or runs; nothing if there were none, or if a backup is read in place of the
    store.
    """
    if nodes and not context.stores.degraded:
        writer_of(scope, context).write_change(Change(), operation, nodes)


def earned_by(
    outcome: Outcome | None, reward: float | None, efficiency: float | None, score: float | None, context: Context
) -> float:
    """Return the reward of a verdict; raise `InputError` if there is none, or if a part is out of range."""
    if reward is not None:
        return reconcile_reward(reward, outcome)
    return compute_reward(outcome, context.settings.of(CasesSettings), efficiency=efficiency, score=score)


@handles(operations.AddCases)
def add_cases(operation: operations.AddCases, context: Context) -> tuple[IRI, ...]:
    """Check every row, then store all of them."""
    rows, options = operation.rows, context.settings.of(CasesSettings)
    for number, row in enumerate(rows, start=1):
        context.require_text(row.task, f"task of row {number}")
        context.require_text(row.plan, f"plan of row {number}")
        try:
            if row.outcome is not None or row.reward is not None:
                earned_by(row.outcome, row.reward, None, None, context)
        except InputError as error:
            raise InputError(f"row {number}: {error}") from error
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        writer = writer_of(scope, context)
        concerned = find_entities_each([(row.task, row.about) for row in rows], scope, context.stores)
        cases = [
            make_case(row, about, domain.graph, writer.at, options) for row, about in zip(rows, concerned, strict=True)
        ]
        iris = tuple(one.case.iri for one in cases)
        save_cases(cases, Change(), domain, writer)
        lifecycle.prune_cases(domain, options, writer)
    return iris


@handles(operations.RetrieveCases)
def retrieve_cases(operation: operations.RetrieveCases, context: Context) -> CasesFound:
    """Rank the cases of a domain for a task, and record which were shown."""
    context.require_text(operation.task, "task")
    options, zone, k = context.settings.of(CasesSettings), context.service.zone, operation.k
    results = context.settings.limits.results
    if k is not None and not 1 <= k <= results:
        raise InputError(f"k must be from 1 to {results}, not {k}")
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        concerned = find_entities(operation.task, operation.about, scope, context.stores)
        query = retrieve.CaseQuery(
            task=operation.task,
            k=k or options.k,
            about=concerned,
            tags=tuple(dict.fromkeys(tag_iri(name) for name in operation.tags if name.strip())),
            since=None if operation.since is None else instant(operation.since, "since", zone),
            until=None if operation.until is None else instant(operation.until, "until", zone),
            explore=operation.explore,
        )
        writer = writer_of(scope, context)
        found, vector = retrieve.find_cases(query, domain, name, writer.at, context.stores, options)
        if not len(domain.bank):
            found = replace(found, reason=f"the domain {name!r} has no cases: `cases status` lists those that have")
        if not _keeps_looks(domain, context):
            return found
        return credit.save_retrieval(found, vector, concerned, domain, writer, options.retrievals)


@handles(operations.RetrieveCasesEach)
def retrieve_cases_each(operation: operations.RetrieveCasesEach, context: Context) -> tuple[CasesFound, ...]:
    """Embed all tasks together, then find the cases of each."""
    results = context.settings.limits.results
    if not 1 <= len(operation.tasks) <= results:
        raise InputError(f"tasks must be from 1 to {results}, not {len(operation.tasks)}")
    for number, task in enumerate(operation.tasks, start=1):
        context.require_text(task, f"task {number}")
    domain_of(operation.domain, operation.namespace, context)
    embed_tasks(operation.tasks, context.stores.embedder)
    return tuple(
        retrieve_cases(
            operations.RetrieveCases(
                task,
                k=operation.k,
                since=operation.since,
                until=operation.until,
                domain=operation.domain,
                namespace=operation.namespace,
            ),
            context,
        )
        for task in operation.tasks
    )


@handles(operations.RewardCases)
def reward_cases(operation: operations.RewardCases, context: Context) -> Credited:
    """Share the credit of a task among the cases that were shown for it."""
    single = {IRI(iri): check_reward(value) for iri, value in (operation.single or {}).items()}
    has_verdict = not (single and operation.outcome is None and operation.reward is None and operation.score is None)
    earned = None
    if has_verdict:
        earned = earned_by(operation.outcome, operation.reward, operation.efficiency, operation.score, context)
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        writer = writer_of(scope, context)
        debt = credit.assign_credit(operation.retrieval, earned, single, domain, writer)
        writer.write_change(debt.change, "cases.reward", [debt.retrieval, *(pair.case for pair in debt.pairs)])
        return credit.apply_credit(debt, domain, writer)


@handles(operations.GetCase)
def get_case(operation: operations.GetCase, context: Context) -> CaseShown:
    """Look up one case."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        case = lifecycle.describe_case(operation.case, domain, name, context.stores)
        log_read("cases.get", [case.iri], scope, context)
        return case


@handles(operations.ListCases)
def list_cases(operation: operations.ListCases, context: Context) -> tuple[CaseShown, ...]:
    """Look up a page of cases."""
    context.require_page(operation.limit, operation.offset)
    if operation.task is not None:
        context.require_text(operation.task, "task")
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        cases = lifecycle.list_cases(operation.limit, operation.offset, domain, name, context.stores, operation.task)
        log_read("cases.list", [one.iri for one in cases], scope, context)
        return cases


@handles(operations.ForgetCase)
def forget_case(operation: operations.ForgetCase, context: Context) -> IRI:
    """Hide a case, or erase it."""
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        iri = lifecycle.hide_case(operation.case, domain, writer_of(scope, context))
        if operation.erase:
            lifecycle.erase_cases([iri], domain, writer_of(scope, context))
        return iri


@handles(operations.NavigateCases)
def navigate_cases(operation: operations.NavigateCases, context: Context) -> Navigated:
    """Zoom, pan and tilt over the cases of a domain."""
    task, zone = operation.task, context.service.zone
    tilt = operation.tilt or ("temporal" if task is None else "embedding")
    if task is None and tilt in ("embedding", "keyword"):
        raise InputError(f"the tilt {tilt!r} ranks cases by a task: give task, or the tilt 'temporal'")
    context.require_page(operation.limit)
    if task is not None:
        context.require_text(task, "task")
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context)
        named = partial(find_entities_by_name, scope=scope, parts=context.stores)
        entities, words = navigate.parse_pan(operation.pan, domain.bank, named)
        look = navigate.Viewpoint(
            zoom=operation.zoom,
            tilt=tilt,
            limit=operation.limit,
            pan=tuple(operation.pan),
            entities=tuple(entities),
            words=tuple(words),
            task=task,
            about=find_entities(task, (), scope, context.stores) if task else (),
            since=None if operation.since is None else instant(operation.since, "since", zone),
            until=None if operation.until is None else instant(operation.until, "until", zone),
            previous=IRI(operation.previous) if operation.previous else None,
        )
        return navigate.navigate(look, domain, writer_of(scope, context), keep=_keeps_looks(domain, context))


@handles(operations.CaseMetrics)
def case_metrics(operation: operations.CaseMetrics, context: Context) -> CaseMetrics:
    """Measure a domain."""
    with context.service.writing:
        _, name, domain = domain_of(operation.domain, operation.namespace, context)
        return measure_domain(domain, name, context.stores, context.settings.of(CasesSettings))


@handles(operations.CaseStatus)
def case_status(operation: operations.CaseStatus, context: Context) -> CaseStatus:
    """Count the cases of a domain, and report the progress of learning."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        bank, learner = domain.bank, domain.learner
        good, bad = learner.label_counts
        weight = learner.weight
        judged = bank.reward[bank.alive]
        names = (namespace_of(graph) for graph in list_domains(scope.tenant, context.stores))
        return CaseStatus(
            domain=name,
            cases=len(bank),
            successes=int((judged >= context.settings.of(CasesSettings).positive_from).sum()),
            retrievals=learner.retrievals,
            labelled=good + bad,
            positives=good,
            negatives=bad,
            updates=learner.updates,
            beta=weight.beta,
            guarded=weight.guarded,
            reason=weight.reason,
            auc_q=weight.auc_q,
            auc_cosine=weight.auc_cosine,
            domains=tuple(sorted(filter(context.access.sees, names))),
        )


@handles(operations.PruneCases)
def prune_cases(operation: operations.PruneCases, context: Context) -> tuple[IRI, ...]:
    """Prune cases until a given number is left."""
    options = context.settings.of(CasesSettings)
    options = replace(options, limit=operation.keep, prune=operation.strategy or options.prune)
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        return lifecycle.prune_cases(domain, options, writer_of(scope, context))


def _keeps_looks(domain: Domain, context: Context) -> bool:
    """Tell whether views of a domain are recorded: a view never creates a domain, nor changes a backup."""
    return len(domain.bank) > 0 and not context.stores.degraded


_under_way: set[IRI] = set()
_lock = threading.Lock()


@handles(operations.StartCase)
def start_case(operation: operations.StartCase, context: Context) -> TaskRun:
    """Create a task that begins."""
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
        writer.write_change(change, "cases.start", [trajectory.iri], operation.task)
        return runs.describe_run(runs.load_run(trajectory.iri, domain, context.stores), name)


@handles(operations.TaskRun)
def task_run(operation: operations.TaskRun, context: Context) -> TaskRun:
    """Look up a task with its steps."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        case = runs.find_case_of_run(operation.run, domain, context.stores)
        run = runs.describe_run(runs.load_run(operation.run, domain, context.stores), name, case)
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
        planned = next((one for one, _ in kept.steps if one.step == place), None)
        done = TaskStep(
            step=place,
            task=operation.task,
            state=operation.state,
            result=operation.result or None,
            tools=tuple(operation.tools),
            cycle=planned.cycle if planned else 1,
            id=planned.number if planned else None,
        )
        change = runs.replace_step(kept, done, [parse_iri(one) for one in operation.derived_from], domain.graph)
        writer_of(scope, context).write_change(change, "cases.step", [kept.trajectory.iri])
        return runs.describe_run(runs.load_run(operation.run, domain, context.stores), name)


@handles(operations.CompleteCase)
def complete_case(operation: operations.CompleteCase, context: Context) -> Completed:
    """Complete a task: make a case of it, with its verdict."""
    earned = earned_by(operation.outcome, operation.reward, operation.efficiency, operation.score, context)
    options = context.settings.of(CasesSettings)
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
        pruned = lifecycle.prune_cases(open_domains(context).open(domain.graph), options, writer)
        return Completed(case=case.case.iri, reward=earned, credited=credited, pruned=pruned)


@handles(operations.TaskRuns)
def task_runs(operation: operations.TaskRuns, context: Context) -> tuple[TaskRun, ...]:
    """Look up a page of tasks."""
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
    """Plan a task by its cases, and store the plan."""
    task, steps = operation.task, operation.steps
    context.require_text(task, "task")
    for number, step in enumerate(steps, start=1):
        context.require_text(step, f"step {number}")
    if operation.retrieval is not None and not steps:
        raise InputError("retrieval needs steps: it names the look-up that your own plan was made from")
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
    most = context.settings.of(ExecutorSettings).steps
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
        writer.write_change(change, "cases.plan", [trajectory.iri], task)
        run = runs.describe_run(runs.load_run(trajectory.iri, domain, context.stores), name)
    return Planned(run=run, by=draft.by, reason=draft.reason, found=found, tokens=draft.tokens)


@handles(operations.ExecuteTask)
def execute_task(operation: operations.ExecuteTask, context: Context) -> Executed:
    """Carry out the steps of a plan with tools."""
    _require_tools(context)
    with context.service.writing:
        _, name, domain = domain_of(operation.domain, operation.namespace, context, "write")
        run = runs.describe_run(runs.load_pending_run(operation.run, domain, context.stores), name)
    if not run.steps:
        raise InputError("the run has no steps to carry out: plan the task with `plan_task`, or record pending steps")
    cases = _cases_for(run, operation, context)
    with _alone(run.iri), _open_chats(context) as chats, _open_tools(context) as tools:
        execution = Execution(
            run,
            cases,
            tools,
            chats,
            context.settings.of(ExecutorSettings),
            lambda step: _write_step(run.iri, step, operation, context),
            lambda text: context.redact_question(text, operation.namespace),
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
            return plans.plan_by_template(task, found, context.settings.of(CasesSettings).template_from)
        with ExitStack() as stack:
            offered = stack.enter_context(_open_tools(context)).offered if context.owns_folder() else {}
            return plans.plan_by_model(chats[0], task, found, offered, most=context.settings.of(ExecutorSettings).steps)


def _cases_shown(
    task: str, retrieval: str, operation: operations.PlanTask | operations.ExecuteTask, context: Context
) -> CasesFound:
    """Return the cases that an earlier case retrieval showed; raise `NotFound`."""
    with context.service.writing:
        _, name, domain = domain_of(operation.domain, operation.namespace, context)
        credit.require_retrieval(retrieval, domain, context.stores)
        return runs.load_examples(task, IRI(retrieval), name, domain, context.stores)


def _cases_for(run: TaskRun, operation: operations.ExecuteTask, context: Context) -> Examples:
    """Return the cases for planning a run again: those it was planned with, or else those most similar now."""

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
                writer_of(scope, context).write_change(change, "cases.plan", [run.iri])

    return Examples(find, follow, context.settings.of(CasesSettings).template_from)


def _complete(run: IRI, ended: RunResult, operation: operations.ExecuteTask, context: Context) -> Completed:
    done = [one for one in ended.steps if one.state == "done" and one.task != ANSWER]
    tried = [one for one in ended.steps if one.state in ("done", "failed") and one.task != ANSWER]
    # A task that failed gives no plan to follow, even if its first steps went well.
    outcome: Outcome = "success" if ended.ending == "done" else "failure"
    limits, calls = context.settings.of(ExecutorSettings), sum(len(one.tools) for one in ended.steps)
    saved = max(0.0, 1 - max(len(ended.steps) / limits.steps, calls / limits.calls))
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
    """Write the current state of one step."""
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        kept = runs.load_pending_run(run, domain, context.stores)
        writer_of(scope, context).write_change(runs.replace_step(kept, step, (), domain.graph), "cases.step", [run])


def _require_tools(context: Context) -> None:
    context.access.needs("admin")
    if not context.owns_folder():
        raise Forbidden(
            "tools run with the rights of the data folder's owner: this needs an admin token of the owner's tenant "
            "for all namespaces"
        )


def _open_tools(context: Context) -> Toolbox:
    options = context.settings.of(ExecutorSettings)
    return Toolbox(servers_of(options), options)


@contextmanager
def _open_chats(context: Context) -> Iterator[tuple[Chat, Chat] | None]:
    """Yield the models that plan and act, if any are configured."""
    chats = chats_of(context.settings.model)
    try:
        yield (chats["plan"], chats["act"]) if chats else None
    finally:
        for chat in chats.values():
            chat.close()


@contextmanager
def _alone(run: IRI) -> Iterator[None]:
    """Raise `Conflict` if the run is already being carried out."""
    with _lock:
        if run in _under_way:
            raise Conflict(f"the run <{run}> is being carried out already")
        _under_way.add(run)
    try:
        yield
    finally:
        with _lock:
            _under_way.discard(run)
