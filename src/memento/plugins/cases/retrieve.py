"""
Retrieve the cases for a task: those to follow and those to avoid, with the reason for every choice, which the graph stores.

Candidates are the cases nearest to the task, if they are similar at all, and those that share an entity, a relationship or a tag
with it. They are ordered by β·Q + (1 − β)·likeness; likeness is the cosine and the shared part of the task's context.

For a caller that wants to explore, cases are drawn by a softmax instead: the best policy under a maximum-entropy objective is
μ(c|s) = exp(Q(s, c)/α) / Σ exp(Q(s, c′)/α); with α near 0 it takes the best.

*Source:* the memory-based decision process of Zhou et al. 2025, arXiv 2508.16153, eq. 7; Kool et al. 2019, arXiv 1903.06059
(drawing without replacement).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from memento.archive.cases import Vector, embed_tasks
from memento.backends import Backends
from memento.errors import InputError
from memento.graph.store import Row
from memento.iris import IRI, is_claim, is_tag, parse_iri
from memento.model import CaseFound, CasesFound, Scope, Section
from memento.plugins.cases.bank import Bank, Rows, measure_form
from memento.plugins.cases.domain import Domain
from memento.plugins.cases.learner import Weight
from memento.plugins.cases.settings import CasesSettings
from memento.retrieval.question import named_entities
from memento.telemetry import Stopwatch

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseQuery:
    """
    A task for which cases are requested.

    `about` are the entities and relationships it concerns, `tags` its tags; `since` and `until` limit when the cases were finished.
    """

    task: str
    k: int
    about: tuple[IRI, ...] = ()
    tags: tuple[IRI, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    explore: bool = False


@dataclass(frozen=True, slots=True)
class QueryState:
    """
    A task as the ranking uses it: its vector, its form, the time of the retrieval, the weight of Q, and the random generator.

    `cosine` (size,) is the similarity of every case of the bank with it, `within` (size,) whether the case may be shown.
    """

    state: Vector
    cosine: Vector
    within: NDArray[np.bool_]
    form: NDArray[np.float32]
    at_ms: float
    weight: Weight
    draw: np.random.Generator


@dataclass(frozen=True, slots=True)
class SectionRanking:
    """The candidates of one section, best first: rows of the bank, their values, and why each is a candidate."""

    rows: Rows
    cosine: Scores
    q: Scores | None
    score: Scores
    why: tuple[str, ...]


def rank_section(
    asked: CaseQuery, task: QueryState, section: Section, domain: Domain, knobs: CasesSettings
) -> SectionRanking:
    """Order the candidates of a section."""
    bank = domain.bank
    good = bank.reward >= knobs.positive_from
    judged = good if section == "positive" else bank.reward < knobs.positive_from
    why = find_candidates(asked, task, task.within & judged, bank, knobs)
    rows = np.fromiter(why, dtype=np.int64, count=len(why))
    cosine = task.cosine[rows].astype(np.float64)
    likeness = cosine + knobs.context * _share_context(asked, rows, bank)
    values = domain.learner.q(task.state, task.form, rows, task.at_ms) if len(rows) else None
    q, beta = None if values is None else values.astype(np.float64), task.weight.beta
    score = likeness if q is None else beta * q + (1 - beta) * likeness
    order = (
        draw_order(score, knobs.temperature, task.draw)
        if asked.explore and section == "positive"
        else order_best_first(score)
    )
    reasons = tuple(why.values())
    return SectionRanking(
        rows[order], cosine[order], None if q is None else q[order], score[order], tuple(reasons[i] for i in order)
    )


def find_candidates(
    asked: CaseQuery, task: QueryState, mask: NDArray[np.bool_], bank: Bank, knobs: CasesSettings
) -> dict[int, str]:
    """Return the rows to rank, in the order of the bank, each with the reason: the nearest, and those that share most context."""
    allowed = np.flatnonzero(mask & (task.cosine >= knobs.relevant_from))
    if len(allowed) > knobs.candidates:
        allowed = allowed[np.argpartition(-task.cosine[allowed], knobs.candidates - 1)[: knobs.candidates]]
    near = {int(row): f"one of the {len(allowed)} nearest" for row in allowed}
    relationships = [one for one in asked.about if is_claim(one)]
    entities = [one for one in asked.about if not is_claim(one)]
    for what, context in (("entities", entities), ("relationships", relationships), ("tags", asked.tags)):
        shared = bank.count_shared(context)
        linked = sorted((row for row in shared if mask[row]), key=lambda row: (-shared[row], row))[: knobs.candidates]
        for row in linked:
            concerns = f"{'has' if what == 'tags' else 'concerns'} {shared[row]} of the task's {what}"
            near[row] = f"{near[row]}, and {concerns}" if row in near else concerns
    return dict(sorted(near.items()))


def _share_context(asked: CaseQuery, rows: Rows, bank: Bank) -> Scores:
    """Return (len(rows),) the share of the task's entities and tags that each row has; 0 if the task has none."""
    context = (*asked.about, *asked.tags)
    shared = bank.count_shared(context) if context else {}
    return np.array([shared.get(row, 0) for row in rows.tolist()], dtype=np.float64) / max(len(context), 1)


def find_cases(
    asked: CaseQuery, domain: Domain, name: str, at: datetime, parts: Backends, knobs: CasesSettings
) -> tuple[CasesFound, Vector]:
    """Return the result for a task, not stored yet, and the task's vector."""
    watch = Stopwatch("cases")
    with watch.phase("embed"):
        [state] = embed_tasks([asked.task], parts.embedder)
    with watch.phase("rank"):
        weight = domain.learner.weight
        draw = np.random.default_rng([knobs.seed, *sha256(f"{asked.task} {at}".encode()).digest()[:8]])
        bank = domain.bank
        task = QueryState(
            state=state,
            # Not `@`: the BLAS threads wait for each other, on a busy machine twenty times as long as one of them works.
            cosine=np.einsum("ij,j->i", bank.vectors, state),
            within=bank.mask_finished(asked.since, asked.until),
            form=measure_form(asked.task),
            at_ms=at.timestamp() * 1000,
            weight=weight,
            draw=draw,
        )
        sections: tuple[Section, Section] = ("positive", "negative")
        rankings = {section: rank_section(asked, task, section, domain, knobs) for section in sections}
        chosen = {section: ranking.rows[: asked.k] for section, ranking in rankings.items()}
    with watch.phase("read"):
        shown = [domain.bank.iris[row] for rows in chosen.values() for row in rows]
        texts, reasons = load_texts(shown, domain, parts), load_reasons(shown, domain, parts)
    reason = weight.reason
    if len(bank) and not any(len(ranking.rows) for ranking in rankings.values()):
        reason = f"no case is like the task: none reaches the cosine {knobs.relevant_from:g} (relevant_from of [cases])"
    sides = {
        section: tuple(
            _to_case_found(section, place, rankings[section], domain, texts, reasons)
            for place in range(len(chosen[section]))
        )
        for section in sections
    }
    return CasesFound(
        task=asked.task,
        domain=name,
        positives=sides["positive"],
        negatives=sides["negative"],
        ranking="q" if weight.beta else "cosine",
        beta=weight.beta,
        reason=reason,
        candidates=sum(len(ranking.rows) for ranking in rankings.values()),
        timings_ms=watch.ms,
    ), state


def load_texts(iris: Sequence[IRI], domain: Domain, parts: Backends) -> dict[IRI, tuple[str, str]]:
    """Load the tasks and plans of some cases."""
    rows = parts.graph.select("plugins/cases/shown", [domain.graph], case=iris) if iris else []
    return {row["case"]: (str(row["task"]), str(row["plan"])) for row in rows}


def load_reasons(iris: Sequence[IRI], domain: Domain, parts: Backends) -> dict[IRI, str]:
    """Load why some cases ended as they did, by their latest verdicts that say so."""
    rows = parts.graph.select("plugins/cases/reasons", [domain.graph], case=iris) if iris else []
    return {row["case"]: str(row["reason"]) for row in rows}


def _to_case_found(
    section: Section,
    place: int,
    ranking: SectionRanking,
    domain: Domain,
    texts: dict[IRI, tuple[str, str]],
    reasons: dict[IRI, str],
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
        at=bank.finished_at(row),
        q=None if ranking.q is None else float(ranking.q[place]),
        reward=None if np.isnan(bank.reward[row]) else float(bank.reward[row]),
        earned=float(bank.reward_sums[row]) / uses if uses else None,
        uses=uses,
        about=tuple(one for one in bank.about[row] if not is_tag(one)),
        verdict=reasons.get(bank.iris[row]),
    )


def find_entities(task: str, about: Sequence[str], scope: Scope, parts: Backends) -> tuple[IRI, ...]:
    """
    Return the entities of the readable graphs that a task concerns, the given ones first, then the relationships between them: the
    statements with one as subject and another one as value.

    Raises:
        InputError: a given entity is not one of these graphs.
    """
    return find_entities_each([(task, about)], scope, parts)[0]


def find_entities_each(
    tasks: Sequence[tuple[str, Sequence[str]]], scope: Scope, parts: Backends
) -> list[tuple[IRI, ...]]:
    """Do the same for many tasks, each with its given entities."""
    indexes, graphs = parts.indexes, scope.memory_graphs
    every = [parse_iri(iri) for _, about in tasks for iri in about]
    with indexes.lock:
        labels = indexes.find_labels([task for task, _ in tasks], graphs)
        known = indexes.find_all(every, graphs)
        anchors = indexes.nodes.within((*graphs, scope.self_graph), "anchor")
        are_names = bool(anchors.any())
        concerned: list[tuple[IRI, ...]] = []
        for task, about in tasks:
            given = tuple(dict.fromkeys(map(parse_iri, about)))
            for iri in given:
                if iri not in known or not anchors[known[iri]]:
                    raise InputError(
                        f"<{iri[:80]}> is no entity of the namespace {scope.namespace!r}: note something about it"
                    )
            mentioned = named_entities(task, labels, graphs) if are_names else []
            concerned.append(tuple(dict.fromkeys([*given, *map(indexes.nodes.iri, mentioned)])))
    return _add_relationships(concerned, scope, parts)


def _add_relationships(concerned: Sequence[tuple[IRI, ...]], scope: Scope, parts: Backends) -> list[tuple[IRI, ...]]:
    several = sorted({entity for entities in concerned if len(entities) > 1 for entity in entities})
    rows = parts.graph.select("plugins/cases/relationships", scope.memory_graphs, entity=several) if several else []
    return [
        tuple(dict.fromkeys([*some, *(row["relationship"] for row in rows if _relates(row, some))]))
        for some in concerned
    ]


def _relates(row: Row, entities: Sequence[IRI]) -> bool:
    return row["subject"] in entities and row["value"] in entities and row["subject"] != row["value"]


def find_entities_by_name(name: str, scope: Scope, parts: Backends) -> list[IRI]:
    """Return the entities of the readable graphs that have a name."""
    indexes = parts.indexes
    with indexes.lock:
        labels = indexes.find_labels([name], scope.memory_graphs)
        return [indexes.nodes.iri(node) for node in labels.find_exact(name, scope.memory_graphs)]


Values = NDArray[np.float64]


def order_best_first(values: Values) -> NDArray[np.int64]:
    """Return (n,) the positions of the values, the largest first; ties in order of position."""
    return np.argsort(-values, kind="stable")


def draw_order(values: Values, alpha: float, draw: np.random.Generator) -> NDArray[np.int64]:
    """Return (n,) positions in the order in which a softmax draws them, without repetition."""
    return np.argsort(-(values / alpha + draw.gumbel(size=len(values))), kind="stable")
