"""Answers the operations on cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from memento import settings
from memento.access import Right
from memento.cases import credit, lifecycle, navigate, retrieve
from memento.cases.bank import embed_tasks
from memento.cases.credit import check_reward, compute_reward, reconcile_reward
from memento.cases.domain import Domain, Writer, measure_domain
from memento.cases.lifecycle import make_case, save_cases
from memento.cases.retrieve import find_entities, find_entities_by_name, find_entities_each
from memento.errors import Forbidden, InputError
from memento.iris import IRI, cases_iri, namespace_of, tag_iri
from memento.model import (
    CaseMetrics,
    CasesFound,
    CaseShown,
    CaseStatus,
    Change,
    Credited,
    Navigated,
    Outcome,
    Scope,
)
from memento.operations import cases as operations
from memento.service.context import Context
from memento.service.dispatch import handles
from memento.time import instant, now


def domain_of(
    domain: str | None, namespace: str | None, context: Context, right: Right = "read"
) -> tuple[Scope, str, Domain]:
    """
    Return the scope, the name of the domain and the domain that a call works in; without a name that of the namespace.

    Raises:
        Forbidden: the caller has no such right, no access to the namespace or the domain, or cases are switched off.
    """
    if not context.settings.cases.on:
        raise Forbidden("cases are switched off: set cases.on = true")
    scope = context.scope(namespace, right)
    name = settings.check_namespace(context.access.namespace(domain, scope.namespace))
    return scope, name, context.service.domains.open(cases_iri(scope.tenant, name))


def writer_of(scope: Scope, context: Context) -> Writer:
    """Return who writes what becomes of cases."""
    return Writer(context.access.name, scope.tenant, now(), context.service.domains, context.stores)


def log_read(operation: str, nodes: Sequence[IRI], scope: Scope, context: Context) -> None:
    """Leave in the audit graph that a caller was given cases or runs; nothing where none were, or a backup stands in."""
    if nodes and not context.stores.degraded:
        writer_of(scope, context).write(Change(), operation, nodes)


def earned_by(
    outcome: Outcome | None, reward: float | None, efficiency: float | None, score: float | None, context: Context
) -> float:
    """Return the one number of a verdict; raise `InputError` when there is none, or a part is out of range."""
    if reward is not None:
        return reconcile_reward(reward, outcome)
    return compute_reward(outcome, context.settings.cases, efficiency=efficiency, score=score)


@handles(operations.AddCases)
def add_cases(operation: operations.AddCases, context: Context) -> tuple[IRI, ...]:
    """Check every row, then keep all of them."""
    rows, options = operation.rows, context.settings.cases
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
    """Rank the cases of a domain for a task, and keep what was shown."""
    context.require_text(operation.task, "task")
    options, zone, k = context.settings.cases, context.service.zone, operation.k
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
    embed_tasks(operation.tasks, context.stores)
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
        writer.write(debt.change, "cases.reward", [debt.retrieval, *(pair.case for pair in debt.pairs)])
        return credit.apply_credit(debt, domain, writer)


@handles(operations.GetCase)
def get_case(operation: operations.GetCase, context: Context) -> CaseShown:
    """Look one case up."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        case = lifecycle.describe_case(operation.case, domain, name, context.stores)
        log_read("cases.get", [case.iri], scope, context)
        return case


@handles(operations.ListCases)
def list_cases(operation: operations.ListCases, context: Context) -> tuple[CaseShown, ...]:
    """Look a page of cases up."""
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
        raise InputError(f"the tilt {tilt!r} puts cases in order by a task: give task, or the tilt 'temporal'")
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
        return measure_domain(domain, name, context.stores, context.settings.cases)


@handles(operations.CaseStatus)
def case_status(operation: operations.CaseStatus, context: Context) -> CaseStatus:
    """Count the cases of a domain, and say how far learning has come."""
    with context.service.writing:
        scope, name, domain = domain_of(operation.domain, operation.namespace, context)
        bank, learner = domain.bank, domain.learner
        good, bad = learner.label_counts
        weight = learner.weight
        judged = bank.reward[bank.alive]
        names = (namespace_of(graph) for graph in context.service.domains.graphs_of(scope.tenant))
        return CaseStatus(
            domain=name,
            cases=len(bank),
            successes=int((judged >= context.settings.cases.positive_from).sum()),
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
    """Let cases go until so many are left."""
    options = context.settings.cases
    options = replace(options, limit=operation.keep, prune=operation.strategy or options.prune)
    with context.service.writing:
        scope, _, domain = domain_of(operation.domain, operation.namespace, context, "write")
        return lifecycle.prune_cases(domain, options, writer_of(scope, context))


def _keeps_looks(domain: Domain, context: Context) -> bool:
    """Tell whether a look at a domain is kept: a domain without cases is not made by looking, nor a backup changed."""
    return len(domain.bank) > 0 and not context.stores.degraded
