"""
Compute the reward of a task as one number, store which cases were shown for it, and credit all of them with the reward equally.

The reward is 1 for success, 0.5 for partial success, −0.2 for failure. A bonus for efficiency is added, normalised so that a
success that cost nothing earns 1, and a judge's score is averaged in.

*Guarantees:* a reward is always in −0.2…1; unknown figures count neither for nor against. A retrieval is one atomic write, and so
is its reward; giving a reward again replaces the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from memento.archive.cases import Vector, load_vectors
from memento.backends import Backends
from memento.errors import BackendError, InputError, NotFound
from memento.graph.mapping import quads
from memento.graph.store import Row
from memento.iris import IRI, MEM, mint, parse_iri
from memento.model import CaseRetrieval, CasesFound, CaseUse, Change, Node, Outcome, Quad, State
from memento.plugins.cases.bank import Pair, measure_form
from memento.plugins.cases.domain import Domain, Writer
from memento.plugins.cases.nouns import OUTCOMES, Credited
from memento.plugins.cases.operations import LEAST_REWARD, MOST_REWARD
from memento.plugins.cases.settings import CasesSettings
from memento.search.vectors import digest

_AT_ONCE = 20  # retrievals that are deleted in one batch


def save_retrieval(
    found: CasesFound, vector: Vector, about: Sequence[IRI], domain: Domain, writer: Writer, most: int
) -> CasesFound:
    """
    Store a retrieval in the graph: the cases shown, their values, and the reasons; return it with its IRI.

    Args:
        most: number of retrievals to keep; above it the oldest are deleted, several at a time.
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
            case=case.iri,
            section=case.section,
            rank=case.rank,
            cosine=case.cosine,
            score=case.score,
            reason=case.reason,
            q=case.q,
        )
        for case in shown
    ]
    nodes: list[Node] = [state, retrieval, *uses]
    written = Change(tuple(quad for node in nodes for quad in quads(node, domain.graph)))
    means = _update_means({case.iri: case.q for case in shown if case.q is not None}, domain)
    old, gone = _select_oldest(domain, writer, most)
    try:
        writer.write_change(
            written + means + Change(removes=gone), "cases.retrieve", [case.iri for case in shown], found.task
        )
    except BackendError:
        writer.domains.invalidate(domain.graph)  # the means in memory are ahead of the graph
        raise
    writer.parts.indexes.file.write_states([(retrieval.iri, digest(found.task), vector)], old)
    for _ in old:
        domain.bank.retrievals.popleft()
    domain.bank.retrievals.append(retrieval.iri)
    return replace(found, retrieval=retrieval.iri)


def _select_oldest(domain: Domain, writer: Writer, most: int) -> tuple[list[IRI], tuple[Quad, ...]]:
    """Return the retrievals beyond the number to keep, if there are enough of them for a write, and their quads."""
    retrievals = domain.bank.retrievals
    if len(retrievals) < most + _AT_ONCE:
        return [], ()
    old = [retrievals[place] for place in range(_AT_ONCE)]
    rows = writer.parts.graph.select("exchange/case_look_ups", [domain.graph], retrieval=old)
    gone = ((row["subject"], row["predicate"], row["value"], domain.graph) for row in rows)
    return old, tuple(dict.fromkeys(gone))


def has_retrieval(retrieval: str, domain: Domain, parts: Backends) -> bool:
    """Tell whether the domain still has a retrieval; the oldest are deleted."""
    return any("task" in row for row in _load_retrieval(retrieval, domain, parts))


def require_retrieval(retrieval: str, domain: Domain, parts: Backends) -> None:
    """Raise `NotFound` if the domain has no such retrieval."""
    if not has_retrieval(retrieval, domain, parts):
        raise NotFound(f"there is no retrieval <{retrieval}> in this domain: `retrieve_cases` names the one it made")


def _load_retrieval(retrieval: str, domain: Domain, parts: Backends) -> list[Row]:
    """Load a retrieval and then the cases it showed; nothing if there is none."""
    rows = parts.graph.select("plugins/cases/retrieval", [domain.graph], retrieval=parse_iri(retrieval))
    return sorted(rows, key=lambda row: "task" not in row)


@dataclass(frozen=True, slots=True)
class PendingCredit:
    """A reward that is not applied yet: its change of the graph, and the pairs that it labels."""

    retrieval: IRI
    reward: float
    change: Change
    pairs: tuple[Pair, ...]
    again: bool


def assign_credit(
    retrieval: str, reward: float | None, single: Mapping[IRI, float], domain: Domain, writer: Writer
) -> PendingCredit:
    """
    Compute the change that gives a task's reward to the cases that were shown for it.

    Args:
        reward: the task's; None if only `single` is known: it is then their mean, and the other cases get nothing.
        single: rewards of single cases, where known; the others get the task's.

    Raises:
        NotFound: the domain has no such retrieval, or it did not show one of the single cases.
    """
    graph, parts = domain.graph, writer.parts
    rows = _load_retrieval(retrieval, domain, parts)
    if not rows or not str(rows[0].get("task", "")).strip():
        raise NotFound(f"there is no retrieval <{retrieval}> in this domain: `retrieve_cases` names the one it made")
    iri, uses, task = IRI(retrieval), rows[1:], str(rows[0]["task"])
    if strange := single.keys() - {row["case"] for row in uses}:
        raise NotFound(f"the retrieval <{retrieval}> did not show <{min(strange)}>")
    whole = sum(single.values()) / len(single) if reward is None else reward
    adds: list[Quad] = [(iri, MEM.hasReward, whole, graph)]
    removes: list[Quad] = []
    if "earned" in rows[0]:
        removes.append((iri, MEM.hasReward, rows[0]["earned"], graph))
    state = load_vectors({iri: task}, parts)[iri]
    form, pairs = measure_form(task), []
    for row in uses:
        use, case = row["use"], row["case"]
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
                form=form,
                at_ms=cast(datetime, rows[0]["at"]).timestamp() * 1000,
                cosine=float(str(row["cosine"])),
                reward=share,
                q=row.get("q"),
            )
        )
    return PendingCredit(iri, whole, Change(tuple(adds), tuple(removes)), tuple(pairs), bool(removes))


def apply_credit(debt: PendingCredit, domain: Domain, writer: Writer) -> Credited:
    """Update the arrays with a reward after it was written, and let the Q function learn from it."""
    if debt.again:  # the Q function has already learned from the earlier reward
        writer.domains.invalidate(domain.graph)
        domain = writer.domains.open(domain.graph)
    else:
        domain.learner.learn(debt.pairs)
    weight = domain.learner.weight
    return Credited(
        retrieval=debt.retrieval,
        reward=debt.reward,
        cases=tuple(pair.case for pair in debt.pairs),
        labelled=sum(domain.learner.label_counts),
        updates=domain.learner.updates,
        beta=weight.beta,
        reason=weight.reason,
    )


def _update_means(values: dict[IRI, float], domain: Domain) -> Change:
    """Build the change that updates the running means of Q after some rankings."""
    adds: list[Quad] = []
    removes: list[Quad] = []
    bank, graph = domain.bank, domain.graph
    for iri, q in values.items():
        row = bank.row(iri)
        if row is None:
            continue
        before, count = float(bank.q[row]), int(bank.rankings[row])
        mean, counted = bank.add_q(row, q)
        if count:
            removes += [(iri, MEM.hasQValue, before, graph), (iri, MEM.uses, count, graph)]
        adds += [(iri, MEM.hasQValue, mean, graph), (iri, MEM.uses, counted, graph)]
    return Change(tuple(adds), tuple(removes))


REWARD_OF_OUTCOME: Mapping[Outcome, float] = {"success": 1.0, "partial": 0.5, "failure": -0.2}
"""The reward for an outcome alone."""


def compute_reward(
    outcome: Outcome | None,
    knobs: CasesSettings,
    *,
    efficiency: float | None = None,
    score: float | None = None,
) -> float:
    """
    Compute the reward of a verdict: the weighted mean of the outcome's reward with an efficiency bonus, and a judge's score.

    Args:
        outcome: how the task ended; without it the judge's score alone decides.
        efficiency: the share of the possible cost that was saved, in 0..1. This share of the bonus is added, up to what a success
            of the same cost earns: (1 + bonus · efficiency) / (1 + bonus). A failure gets no bonus.
        score: a judge's rating, in 0..1.

    Raises:
        InputError: an unknown outcome, a share out of range, or neither outcome nor score.

    >>> knobs = CasesSettings()
    >>> [compute_reward(outcome, knobs) for outcome in OUTCOMES]
    [1.0, 0.5, -0.2]
    >>> round(compute_reward("success", knobs, efficiency=0.5), 3), round(compute_reward("partial", knobs, score=1.0), 3)
    (0.955, 0.667)
    >>> compute_reward("partial", knobs, efficiency=0.5)
    0.55
    """
    for name, share in (("efficiency", efficiency), ("score", score)):
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{name} must be from 0 to 1, not {share}")
    _check_outcome(outcome)
    parts: list[tuple[float, float]] = []
    if outcome is not None:
        value = REWARD_OF_OUTCOME[outcome]
        if efficiency is not None and outcome != "failure":
            bonus = knobs.efficiency_bonus * efficiency
            value = min(value + bonus, (MOST_REWARD + bonus) / (MOST_REWARD + knobs.efficiency_bonus))
        parts.append((1.0, value))
    if score is not None:
        parts.append((knobs.judge_weight if outcome is not None else 1.0, score))
    if not parts or not sum(weight for weight, _ in parts):
        raise InputError(
            f"a verdict needs an outcome ({', '.join(OUTCOMES)}), a reward or a judge's score: give outcome, reward or score "
            "(--outcome, --reward or --score of the command)"
        )
    return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def check_reward(reward: float) -> float:
    """Check a reward that a caller gives as a number; raise `InputError` if it is out of range."""
    if not LEAST_REWARD <= reward <= MOST_REWARD:
        raise InputError(f"reward must be from {LEAST_REWARD} to {MOST_REWARD:g}, not {reward}")
    return float(reward)


def reconcile_reward(reward: float, outcome: Outcome | None) -> float:
    """
    Check a reward against the outcome that may accompany it; the reward is what counts.

    Raises:
        InputError: the reward is out of range, the outcome is unknown, or they disagree: a failure with a positive reward, or any
        other outcome without one.

    >>> reconcile_reward(0.7, "success"), reconcile_reward(-0.2, "failure"), reconcile_reward(0, None)
    (0.7, -0.2, 0.0)
    """
    _check_outcome(outcome)
    if outcome is not None and (outcome == "failure") != (check_reward(reward) <= 0):
        rule = "at most 0" if outcome == "failure" else "above 0"
        raise InputError(
            f"reward {reward:g} contradicts the outcome {outcome!r}, whose reward is {rule}: give one of them"
        )
    return check_reward(reward)


def _check_outcome(outcome: Outcome | None) -> None:
    if outcome is not None and outcome not in OUTCOMES:
        raise InputError(f"outcome must be one of {', '.join(OUTCOMES)}, not {outcome!r}")
