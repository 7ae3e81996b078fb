"""
Keeps which cases were shown for a task, and tells them what the task came to earn: all of them share the credit equally.

*Guarantees:* a look-up is one atomic write, and so is its reward; telling a reward again replaces what was told before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.cases import audit
from memento.cases.bank import Pair, Vector, vectors_of
from memento.cases.domain import Domain, Domains
from memento.cases.form import form
from memento.errors import BackendError, NotFound
from memento.graph.mapping import quads
from memento.library import named
from memento.model import CaseRetrieval, CasesFound, CaseUse, Change, Credited, Node, Quad
from memento.model.cases import State
from memento.ports import Row
from memento.search.vectors import digest
from memento.vocabulary import IRI, MEM, mint

_AT_ONCE = 20  # look-ups that go together


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes where: the caller's name and tenant, the time, and the parts."""

    actor: str
    tenant: str
    at: datetime
    domains: Domains
    parts: Backends

    def write(self, change: Change, operation: str, nodes: Sequence[IRI] = (), asked: str | None = None) -> None:
        """Write a change into a domain, with the access it was; the arrays are brought up to date by whoever calls."""
        logged = audit.access(operation, self.actor, self.tenant, self.at, nodes, asked)
        with self.domains.own():
            self.parts.apply(change + Change(logged))


def keep(
    found: CasesFound, vector: Vector, about: Sequence[IRI], domain: Domain, writer: Writer, most: int
) -> CasesFound:
    """
    Keep a look-up in the graph: what was shown, by which values, and why; the same, with its name.

    Args:
        most: look-ups to keep; over that the oldest go, some at a time.
    """
    state = State(iri=mint("state"), content=found.task)
    retrieval = CaseRetrieval(
        iri=mint("retrieval"),
        state=state.iri,
        at=writer.at,
        ranking=found.ranking,
        beta=found.beta,
        reason=found.reason,
        about=tuple(about),
    )
    shown = (*found.positives, *found.negatives)
    uses = [
        CaseUse(
            iri=mint("case-use"),
            retrieval=retrieval.iri,
            case=one.iri,
            section=one.section,
            rank=one.rank,
            cosine=one.cosine,
            score=one.score,
            reason=one.reason,
            q=one.q,
        )
        for one in shown
    ]
    nodes: list[Node] = [state, retrieval, *uses]
    written = Change(tuple(quad for node in nodes for quad in quads(node, domain.graph)))
    means = _means({one.iri: one.q for one in shown if one.q is not None}, domain)
    old, gone = _oldest(domain, writer, most)
    try:
        writer.write(written + means + Change(removes=gone), "cases.retrieve", [one.iri for one in shown], found.task)
    except BackendError:
        writer.domains.close(domain.graph)  # the means in memory are ahead of the graph
        raise
    writer.parts.indexes.file.write_states([(retrieval.iri, digest(found.task), vector)], old)
    for _ in old:
        domain.bank.retrievals.popleft()
    domain.bank.retrievals.append(retrieval.iri)
    return replace(found, retrieval=retrieval.iri)


def _oldest(domain: Domain, writer: Writer, most: int) -> tuple[list[IRI], tuple[Quad, ...]]:
    """The look-ups that are over the number kept, when they are worth a write, and their quads."""
    kept = domain.bank.retrievals
    if len(kept) < most + _AT_ONCE:
        return [], ()
    old = [kept[place] for place in range(_AT_ONCE)]
    rows = writer.parts.graph.select("cases/look_ups", [domain.graph], retrieval=old)
    gone = ((cast(IRI, row["subject"]), cast(IRI, row["predicate"]), row["value"], domain.graph) for row in rows)
    return old, tuple(dict.fromkeys(gone))


def exists(retrieval: str, domain: Domain, parts: Backends) -> bool:
    """Whether the domain has such a look-up; the oldest go."""
    return any("task" in row for row in _look_up(retrieval, domain, parts))


def known(retrieval: str, domain: Domain, parts: Backends) -> None:
    """Raises `NotFound` when the domain has no such look-up."""
    if not exists(retrieval, domain, parts):
        raise NotFound(f"there is no retrieval <{retrieval}> in this domain: `retrieve_cases` names the one it made")


def _look_up(retrieval: str, domain: Domain, parts: Backends) -> list[Row]:
    """What is known of a look-up, and then the cases it showed; nothing when there is no such."""
    rows = parts.graph.select("cases/retrieval", [domain.graph], retrieval=named(retrieval))
    return sorted(rows, key=lambda row: "task" not in row)


@dataclass(frozen=True, slots=True)
class Owed:
    """A reward on its way to the cases that were shown: what it changes in the graph, and the pairs that it labels."""

    retrieval: IRI
    reward: float
    change: Change
    pairs: tuple[Pair, ...]
    again: bool


def owed(retrieval: str, reward: float | None, single: Mapping[IRI, float], domain: Domain, writer: Writer) -> Owed:
    """
    What it takes to tell a task's reward to the cases that were shown for it.

    Args:
        reward: the task's; None when only `single` is known: it is then their mean, and the other cases get nothing.
        single: rewards of single cases, where those are known; the others have the task's.

    Raises:
        NotFound: no such retrieval in this domain, or it did not show one of the single cases.
    """
    graph, parts = domain.graph, writer.parts
    rows = _look_up(retrieval, domain, parts)
    if not rows or not str(rows[0].get("task", "")).strip():
        raise NotFound(f"there is no retrieval <{retrieval}> in this domain: `retrieve_cases` names the one it made")
    iri, shown, task = IRI(retrieval), rows[1:], str(rows[0]["task"])
    if strange := single.keys() - {cast(IRI, row["case"]) for row in shown}:
        raise NotFound(f"the retrieval <{retrieval}> did not show <{min(strange)}>")
    whole = sum(single.values()) / len(single) if reward is None else reward
    adds: list[Quad] = [(iri, MEM.hasReward, whole, graph)]
    removes: list[Quad] = []
    if "earned" in rows[0]:
        removes.append((iri, MEM.hasReward, rows[0]["earned"], graph))
    state = vectors_of({iri: task}, parts)[iri]
    written, pairs = form(task), []
    for row in shown:
        use, case = cast(IRI, row["use"]), cast(IRI, row["case"])
        if "reward" in row:
            removes.append((use, MEM.hasReward, row["reward"], graph))
        share = single.get(case, reward)
        if share is None:
            continue
        adds.append((use, MEM.hasReward, share, graph))
        pairs.append(
            Pair(
                use=use,
                retrieval=iri,
                case=case,
                state=state,
                written=written,
                at_ms=cast(datetime, rows[0]["at"]).timestamp() * 1000,
                cosine=float(str(row["cosine"])),
                reward=share,
                q=cast("float | None", row.get("q")),
            )
        )
    return Owed(iri, whole, Change(tuple(adds), tuple(removes)), tuple(pairs), bool(removes))


def settled(debt: Owed, domain: Domain, writer: Writer) -> Credited:
    """After the write: let the arrays have the reward, and the Q function learn from it."""
    if debt.again:  # what was told before has been learned from
        writer.domains.close(domain.graph)
        domain = writer.domains.of(domain.graph)
    else:
        domain.learner.learn(debt.pairs)
    weight = domain.learner.weight
    return Credited(
        retrieval=debt.retrieval,
        reward=debt.reward,
        cases=tuple(pair.case for pair in debt.pairs),
        labelled=sum(domain.learner.labelled),
        updates=domain.learner.updates,
        beta=weight.beta,
        reason=weight.reason,
    )


def _means(values: dict[IRI, float], domain: Domain) -> Change:
    """The running means of Q that some rankings change."""
    adds: list[Quad] = []
    removes: list[Quad] = []
    bank, graph = domain.bank, domain.graph
    for iri, q in values.items():
        row = bank.row(iri)
        if row is None:
            continue
        before, count = float(bank.q[row]), int(bank.ranked[row])
        mean, counted = bank.value(row, q)
        if count:
            removes += [(iri, MEM.hasQValue, before, graph), (iri, MEM.uses, count, graph)]
        adds += [(iri, MEM.hasQValue, mean, graph), (iri, MEM.uses, counted, graph)]
    return Change(tuple(adds), tuple(removes))
