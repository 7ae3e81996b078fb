"""
The cases for a task: those to follow and those to avoid, with the reason of every choice, which the graph keeps.

Candidates are the cases nearest to the task and those that concern an entity it names; they are put in order by
β·Q + (1 − β)·cosine.

*Source:* the memory-based decision process of Zhou et al. 2025, arXiv 2508.16153.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.cases.bank import Bank, Rows, Vector, embedded
from memento.cases.domain import Domain
from memento.cases.form import form
from memento.cases.learner import Weight
from memento.cases.policy import best, drawn
from memento.iris import IRI
from memento.model import CaseFound, CasesFound, Section
from memento.settings import CasesSettings

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A task that cases are wanted for: `about` are entities it concerns, `since` and `until` when the cases were finished."""

    task: str
    k: int
    about: tuple[IRI, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    explore: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """
    A task as it is ranked for: its vector, its form, when it is asked, how much Q counts, and what draws are made from.

    `cosine` (size,) is the likeness of every case of the bank to it, `within` (size,) whether the case may be shown at all.
    """

    state: Vector
    cosine: Vector
    within: NDArray[np.bool_]
    written: NDArray[np.float32]
    at_ms: float
    weight: Weight
    draw: np.random.Generator


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one section, best first: rows of the bank, their values, and why each is a candidate."""

    rows: Rows
    cosine: Scores
    q: Scores | None
    score: Scores
    why: tuple[str, ...]


@dataclass(slots=True)
class Clock:
    """Milliseconds by phase."""

    ms: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.ms[name] = round((now - self._last) * 1000, 3)
        self._last = now


def ranked(asked: Asked, task: Task, section: Section, domain: Domain, knobs: CasesSettings) -> Ranked:
    """The candidates of a section in order."""
    bank = domain.bank
    good = bank.reward >= knobs.positive_from
    judged = good if section == "positive" else bank.reward < knobs.positive_from
    why = candidates(asked, task, task.within & judged, bank, knobs)
    rows = np.fromiter(why, dtype=np.int64, count=len(why))
    cosine = task.cosine[rows].astype(np.float64)
    found = domain.learner.q(task.state, task.written, rows, task.at_ms) if len(rows) else None
    q, beta = None if found is None else found.astype(np.float64), task.weight.beta
    score = cosine if q is None else beta * q + (1 - beta) * cosine
    order = drawn(score, knobs.temperature, task.draw) if asked.explore and section == "positive" else best(score)
    reasons = tuple(why.values())
    return Ranked(
        rows[order], cosine[order], None if q is None else q[order], score[order], tuple(reasons[i] for i in order)
    )


def candidates(asked: Asked, task: Task, mask: NDArray[np.bool_], bank: Bank, knobs: CasesSettings) -> dict[int, str]:
    """The rows that are ranked, in the order of the bank, each with why it is: the nearest, and those that share most entities."""
    allowed = np.flatnonzero(mask)
    if len(allowed) > knobs.candidates:
        allowed = allowed[np.argpartition(-task.cosine[allowed], knobs.candidates - 1)[: knobs.candidates]]
    near = {int(row): f"one of the {len(allowed)} nearest" for row in allowed}
    shared = bank.concerning(asked.about)
    linked = sorted((row for row in shared if mask[row]), key=lambda row: (-shared[row], row))[: knobs.candidates]
    for row in linked:
        concerns = f"concerns {shared[row]} of the task's entities"
        near[row] = f"{near[row]}, and {concerns}" if row in near else concerns
    return dict(sorted(near.items()))


def retrieve(
    asked: Asked, domain: Domain, name: str, at: datetime, parts: Backends, knobs: CasesSettings
) -> tuple[CasesFound, Vector]:
    """What comes back for a task, not yet kept, and the task's vector."""
    clock = Clock()
    [state] = embedded([asked.task], parts)
    clock.lap("embed")
    weight = domain.learner.weight
    draw = np.random.default_rng([knobs.seed, *sha256(f"{asked.task} {at}".encode()).digest()[:8]])
    bank = domain.bank
    task = Task(
        state=state,
        # Not `@`: the threads of BLAS wait for each other, on a busy machine twenty times as long as one of them works.
        cosine=np.einsum("ij,j->i", bank.vectors, state),
        within=bank.within(asked.since, asked.until),
        written=form(asked.task),
        at_ms=at.timestamp() * 1000,
        weight=weight,
        draw=draw,
    )
    sections: tuple[Section, Section] = ("positive", "negative")
    found = {section: ranked(asked, task, section, domain, knobs) for section in sections}
    chosen = {section: ranking.rows[: asked.k] for section, ranking in found.items()}
    clock.lap("rank")
    texts = shown([domain.bank.iris[row] for rows in chosen.values() for row in rows], domain, parts)
    clock.lap("read")
    sides = {
        section: tuple(_found(section, place, found[section], domain, texts) for place in range(len(chosen[section])))
        for section in sections
    }
    return CasesFound(
        task=asked.task,
        domain=name,
        positives=sides["positive"],
        negatives=sides["negative"],
        ranking="q" if weight.beta else "cosine",
        beta=weight.beta,
        reason=weight.reason,
        candidates=sum(len(ranking.rows) for ranking in found.values()),
        timings_ms=clock.ms,
    ), state


def shown(iris: Sequence[IRI], domain: Domain, parts: Backends) -> dict[IRI, tuple[str, str]]:
    """The task and the plan of some cases."""
    rows = parts.graph.select("cases/shown", [domain.graph], case=iris) if iris else []
    return {cast(IRI, row["case"]): (str(row["task"]), str(row["plan"])) for row in rows}


def _found(
    section: Section, place: int, ranking: Ranked, domain: Domain, texts: dict[IRI, tuple[str, str]]
) -> CaseFound:
    bank, row = domain.bank, int(ranking.rows[place])
    uses = int(bank.uses[row])
    task, plan = texts.get(bank.iris[row], ("", ""))
    return CaseFound(
        iri=bank.iris[row],
        task=task,
        plan=plan,
        section=section,
        rank=place + 1,
        cosine=float(ranking.cosine[place]),
        score=float(ranking.score[place]),
        reason=ranking.why[place],
        at=bank.when(row),
        q=None if ranking.q is None else float(ranking.q[place]),
        reward=None if np.isnan(bank.reward[row]) else float(bank.reward[row]),
        earned=float(bank.earned[row]) / uses if uses else None,
        uses=uses,
        about=bank.about[row],
    )
