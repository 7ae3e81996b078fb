"""Makes cases of finished tasks: their quads, their vectors and their places in the bank, in one atomic write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memento.cases.bank import Entry, embedded
from memento.cases.credit import Writer
from memento.cases.domain import Domain
from memento.cases.rewards import agreed, reward_of
from memento.cases.run import Kept
from memento.graph.mapping import quads
from memento.iris import IRI, mint
from memento.model import Action, Case, CaseRow, Change, Node, Quad, Reward, Verdict
from memento.model.cases import State
from memento.search.vectors import digest
from memento.settings import CasesSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A case with its quads, not yet written."""

    case: Case
    task: str
    quads: tuple[Quad, ...]


def made(row: CaseRow, about: Sequence[IRI], graph: IRI, now: datetime, knobs: CasesSettings) -> Made:
    """A row as a case; raises `InputError` when its outcome is none, or its reward out of range or against its outcome."""
    reward = agreed(row.reward, row.outcome) if row.reward is not None else None
    if reward is None and row.outcome is not None:
        reward = reward_of(row.outcome, knobs)
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
        derived_from=tuple(IRI(one) for one in row.derived_from),
    )
    nodes: list[Node] = [state, action, case]
    return Made(case=case, task=row.task, quads=tuple(quad for node in nodes for quad in quads(node, graph)))


def finished(kept: Kept, plan: str, verdict: Verdict, graph: IRI) -> Made:
    """The case of a run that ends, with its verdict."""
    way = kept.trajectory
    action = way.action if way.action and plan == kept.plan else mint("action")
    case = Case(
        iri=mint("case"),
        state=way.state,
        action=action,
        at=verdict.at,
        reward=verdict.reward,
        about=way.about,
        derived_from=way.derived_from,
        trajectory=way.iri,
    )
    judged = Reward(
        iri=mint("reward"),
        case=case.iri,
        value=verdict.reward,
        at=verdict.at,
        outcome=verdict.outcome,
        efficiency=verdict.efficiency,
        score=verdict.score,
        reason=verdict.reason,
    )
    nodes: list[Node] = [case, judged]
    if action != way.action:
        nodes.append(Action(iri=action, content=plan))
    return Made(case=case, task=kept.task, quads=tuple(quad for node in nodes for quad in quads(node, graph)))


def keep(cases: Sequence[Made], more: Change, domain: Domain, writer: Writer, operation: str = "cases.add") -> None:
    """
    Write cases, and with them whatever else belongs into the same write.

    Raises:
        EmbeddingError: a task cannot be embedded; nothing was written.
        GraphError: the store refused; nothing was written.
    """
    if not cases:
        return
    vectors = embedded([one.task for one in cases], writer.parts)
    written = Change(tuple(quad for one in cases for quad in one.quads)) + more
    writer.write(written, operation, [one.case.iri for one in cases])
    marks = [(one.case.iri, digest(one.task), row) for one, row in zip(cases, vectors, strict=True)]
    writer.parts.indexes.file.write_states(marks)
    domain.bank.put(
        [
            Entry(iri=one.case.iri, task=one.task, at=one.case.at, reward=one.case.reward, about=one.case.about)
            for one in cases
        ],
        vectors,
    )
