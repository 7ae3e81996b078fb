"""
The life of a case: make it from a finished task, show it, hide or erase it, and prune the least valuable ones.

*Guarantees:* cases, their vectors and their rows in the bank are added together, with one atomic write to the graph. Forgotten
cases are hidden and stay in the graph; erased and pruned ones are deleted with everything that belongs to them. Pruning never
removes a domain's only case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memento.archive.case_rows import to_reward
from memento.archive.cases import drop_traces, embed_tasks, find_look_ups, load_quads, read_cases
from memento.backends import Backends
from memento.errors import NotFound
from memento.graph.mapping import quads, tag_quads
from memento.graph.runs import StoredRun
from memento.iris import IRI, MEM, mint, parse_iri, tag_iri, tenant_of
from memento.model import Action, Case, CaseShown, Change, Node, Quad, State, Verdict
from memento.plugins.cases.bank import Entry
from memento.plugins.cases.credit import compute_reward, reconcile_reward
from memento.plugins.cases.domain import Domain, Writer
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.search.vectors import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCase:
    """A case with its quads, not written yet."""

    case: Case
    task: str
    quads: tuple[Quad, ...]


def make_case(row: CaseRow, about: Sequence[IRI], graph: IRI, now: datetime, knobs: CasesSettings) -> NewCase:
    """
    Build a case from a row; raise `InputError` if its outcome is unknown, or its reward out of range or contrary to the outcome.
    """
    reward = reconcile_reward(row.reward, row.outcome) if row.reward is not None else None
    if reward is None and row.outcome is not None:
        reward = compute_reward(row.outcome, knobs)
    state = State(iri=mint("state"), content=row.task)
    action = Action(iri=mint("action"), content=row.plan)
    case = Case(
        iri=mint("case"),
        state=state.iri,
        action=action.iri,
        at=row.at or now,
        created_at=now if row.at else None,
        reward=reward,
        about=tuple(about),
        tags=tuple(dict.fromkeys(tag_iri(name) for name in row.tags if name.strip())),
        derived_from=tuple(IRI(one) for one in row.derived_from),
    )
    nodes: list[Node] = [state, action, case]
    written = [quad for node in nodes for quad in quads(node, graph)]
    return NewCase(
        case=case, task=row.task, quads=tuple(dict.fromkeys([*written, *tag_quads(case.iri, row.tags, graph)]))
    )


def make_case_of_run(kept: StoredRun, plan: str, verdict: Verdict, tags: Sequence[str], graph: IRI) -> NewCase:
    """Build the case of a finished run, with its verdict and tags."""
    way = kept.trajectory
    action = way.action if way.action and plan == kept.plan else mint("action")
    case = Case(
        iri=mint("case"),
        state=way.state,
        action=action,
        at=verdict.at,
        reward=verdict.reward,
        about=way.about,
        tags=tuple(dict.fromkeys(tag_iri(name) for name in tags if name.strip())),
        derived_from=way.derived_from,
        trajectory=way.iri,
    )
    nodes: list[Node] = [case, to_reward(verdict, mint("reward"), case.iri)]
    if action != way.action:
        nodes.append(Action(iri=action, content=plan))
    written = [quad for node in nodes for quad in quads(node, graph)]
    return NewCase(case=case, task=kept.task, quads=tuple(dict.fromkeys([*written, *tag_quads(case.iri, tags, graph)])))


def save_cases(
    cases: Sequence[NewCase], more: Change, domain: Domain, writer: Writer, operation: str = "cases.add"
) -> None:
    """
    Write cases, together with other changes that belong to the same write.

    Raises:
        EmbeddingError: a task cannot be embedded; nothing was written.
        GraphError: the store refused; nothing was written.
    """
    if not cases:
        return
    vectors = embed_tasks([one.task for one in cases], writer.parts.embedder)
    written = Change(tuple(quad for one in cases for quad in one.quads)) + more
    writer.write_change(written, operation, [one.case.iri for one in cases])
    marks = [(one.case.iri, digest(one.task), row) for one, row in zip(cases, vectors, strict=True)]
    writer.parts.indexes.file.write_states(marks)
    domain.bank.put(
        [
            Entry(
                iri=one.case.iri,
                task=one.task,
                at=one.case.at,
                reward=one.case.reward,
                about=(*one.case.about, *one.case.tags),
            )
            for one in cases
        ],
        vectors,
    )


def describe_case(case: str, domain: Domain, name: str, parts: Backends) -> CaseShown:
    """Describe one case in full, also if it is forgotten; raise `NotFound`."""
    cases = _load_cases([parse_iri(case)], domain, name, parts, steps=True)
    if not cases:
        raise NotFound(f"there is no case <{case}> in this domain")
    return cases[0]


def list_cases(
    limit: int, offset: int, domain: Domain, name: str, parts: Backends, task: str | None = None
) -> tuple[CaseShown, ...]:
    """Return a page of a domain's cases, the latest finished first, or those most similar to a task."""
    bank = domain.bank
    rows = np.flatnonzero(bank.alive)
    keys = [-rows, -bank.at[rows]]
    if task is not None:
        keys.append(-np.einsum("ij,j->i", bank.vectors[rows], embed_tasks([task], parts.embedder)[0]))
    page = rows[np.lexsort(keys)][offset : offset + limit]
    return _load_cases([bank.iris[row] for row in page], domain, name, parts, steps=False)


def _load_cases(
    iris: Sequence[IRI], domain: Domain, name: str, parts: Backends, *, steps: bool
) -> tuple[CaseShown, ...]:
    return tuple(_add_earnings(case, domain) for case in read_cases(iris, domain.graph, name, parts.graph, steps=steps))


def _add_earnings(case: CaseShown, domain: Domain) -> CaseShown:
    place = domain.bank.row(case.iri)
    uses = int(domain.bank.uses[place]) if place is not None else 0
    earned = float(domain.bank.reward_sums[place]) / uses if place is not None and uses else None
    return replace(case, uses=uses, earned=earned)


def hide_case(case: str, domain: Domain, writer: Writer) -> IRI:
    """Hide a case from all further retrievals; raise `NotFound`. Hiding it twice changes nothing."""
    iri = parse_iri(case)
    rows = writer.parts.graph.select("exchange/cases", [domain.graph], case=iri)
    if not rows:
        raise NotFound(f"there is no case <{case}> in this domain")
    if "expiredAt" not in rows[0]:
        writer.write_change(Change(((iri, MEM.expiredAt, writer.at, domain.graph),)), "cases.forget", [iri])
        domain.bank.drop(iri)
    return iri


def erase_cases(cases: Sequence[IRI], domain: Domain, writer: Writer) -> None:
    """Delete cases with every copy of their texts, and learn again without them; missing cases are skipped."""
    gone = load_quads(cases, domain.graph, writer.parts)
    if not gone:
        return
    tasks = [str(value) for _, predicate, value, _ in gone if predicate == MEM.content]
    gone = tuple(dict.fromkeys((*gone, *find_look_ups(tasks, tenant_of(domain.graph), writer.parts))))
    writer.parts.erasing()
    writer.write_change(Change(removes=gone), "cases.erase", list(cases))
    drop_traces(gone, writer.parts)
    domain.learner.discard()
    writer.domains.invalidate(domain.graph)


def find_least_valuable(domain: Domain, knobs: CasesSettings, now_ms: float) -> list[IRI]:
    """
    Return the cases beyond the limit, in the order of the strategy that the settings name.

    `value` is mean Q, reduced by half for each half-life; a case that was never ranked counts by its reward, one without a reward
    by one half. `oldest` is the finishing time, `unused` the number of times shown, `reward` the reward; ties by age, the oldest
    first.
    """
    bank = domain.bank
    over = len(bank) - max(knobs.limit, 1)
    if over <= 0:
        return []
    rows = np.flatnonzero(bank.alive)
    own = np.where(np.isnan(bank.reward[rows]), 0.5, np.clip(bank.reward[rows], 0, 1))
    worth = np.where(np.isnan(bank.q[rows]), own, bank.q[rows])
    age_days = np.maximum(now_ms - bank.at[rows], 0) / 86_400_000
    value = {
        "value": worth * 0.5 ** (age_days / knobs.half_life_days),
        "oldest": -age_days,
        "unused": bank.uses[rows],
        "reward": own,
    }[knobs.prune]
    return [bank.iris[row] for row in rows[np.lexsort((rows, -age_days, value))][:over]]


def prune_cases(domain: Domain, knobs: CasesSettings, writer: Writer) -> tuple[IRI, ...]:
    """Delete the least valuable cases until the domain is within its limit; return them."""
    going = find_least_valuable(domain, knobs, writer.at.timestamp() * 1000)
    if going:
        gone = load_quads(going, domain.graph, writer.parts)
        writer.write_change(Change(removes=gone), "cases.prune", going)
        domain.learner.mark_unsaved()
        writer.parts.indexes.file.write_states([], sorted({quad[0] for quad in gone}))
        for iri in going:
            domain.bank.drop(iri)
    return tuple(going)
