"""
View cases from a viewpoint: zoom is what is shown, pan what it must concern, tilt what orders it.

Each view is stored as a `zpt:NavigationView`, the latest few hundred of a domain. Cases seen in the preceding view rank a little
higher, and so do cases that the latest views showed often and cases with larger rewards; with the order by time only the first
applies. A community is a group of cases that concern the same entities more than by chance: cases and entities are the nodes of one
graph, with a link for each "concerns", so that an entity shared by many cases costs as many links, not their square.

*Source:* the ZPT ontology, http://purl.org/stuff/zpt/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memento.archive.cases import embed_tasks
from memento.backends import Backends
from memento.errors import NotFound
from memento.iris import IRI, TYPE, ZPT, is_claim, is_tag, mint, parse_iri, tag_iri, tag_name
from memento.manifest import analyse_graph
from memento.model import Change, Quad
from memento.plugins.cases.bank import Bank, Rows
from memento.plugins.cases.domain import Domain, Writer
from memento.plugins.cases.nouns import Landmark, Navigated, Tilt, Zoom
from memento.plugins.cases.retrieve import Values, load_texts, order_best_first
from memento.rank import Csr
from memento.search.postings import tokens

VIEWS = 200
"""Number of views that a domain keeps: the latest."""
_CHOSEN = 100  # cases stored with a view: the first
_SEEN = 0.1  # added to a score in 0..1 for a case that was seen in the preceding view
_HABIT = 0.03  # added for a case seen in all of the latest views, and for a reward of 1
_LATEST = 20  # number of views that form the habit
_LEVELS: dict[Zoom, IRI] = {"case": ZPT.UnitLevel, "subtask": ZPT.MicroLevel, "community": ZPT.CommunityLevel}
_PROJECTIONS: dict[Tilt, IRI] = {
    "embedding": ZPT.EmbeddingProjection,
    "keyword": ZPT.KeywordProjection,
    "graph": ZPT.GraphProjection,
    "temporal": ZPT.TemporalProjection,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewpoint:
    """
    A viewpoint.

    `entities` are those of the pan and `words` the rest of it: a case must concern all of the entities and contain all of the
    words. `about` are the entities of the task.
    """

    zoom: Zoom
    tilt: Tilt
    limit: int
    pan: tuple[str, ...] = ()
    entities: tuple[IRI, ...] = ()
    words: tuple[str, ...] = ()
    task: str | None = None
    about: tuple[IRI, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    previous: IRI | None = None


def navigate(look: Viewpoint, domain: Domain, writer: Writer, *, keep: bool = True) -> Navigated:
    """
    Return what the viewpoint shows, best first, and store the view if `keep` is set.

    Raises:
        NotFound: the preceding view is unknown.
    """
    parts, bank = writer.parts, domain.bank
    seen = _load_seen_cases(look.previous, domain, parts)
    rows = select_rows(look, domain, parts)
    scores = score_rows(look, rows, domain, parts)
    scores = scores + _SEEN * np.array([bank.iris[row] in seen for row in rows.tolist()], dtype=np.float64)
    if look.tilt != "temporal":
        scores = scores + _HABIT * (_habits(rows, domain, parts) + _earnings(rows, bank))
    order = order_best_first(scores)
    ordered, values = rows[order], scores[order]
    landmarks = _ZOOMED[look.zoom](ordered, values, look, domain, parts)[: look.limit]
    view = mint("view") if keep else None
    if view:
        change = Change(_view_quads(view, look, landmarks, writer.at, domain.graph), _expired_views(domain, parts))
        writer.write_change(change, "cases.navigate", [one.iri for one in landmarks], look.task)
    return Navigated(
        view=view, zoom=look.zoom, pan=look.pan, tilt=look.tilt, seen=tuple(landmarks), previous=look.previous
    )


def select_rows(look: Viewpoint, domain: Domain, parts: Backends) -> Rows:
    """Return (m,) the rows within the pan, ascending."""
    bank = domain.bank
    mask = bank.mask_finished(look.since, look.until)
    for entity in look.entities:
        concerned = np.zeros(bank.size, dtype=np.bool_)
        concerned[list(bank.count_shared([entity]))] = True
        mask &= concerned
    rows = np.flatnonzero(mask)
    if look.words:
        wanted = {stem for word in look.words for stem in tokens(word)}
        texts = load_texts([bank.iris[row] for row in rows], domain, parts)
        rows = rows[[wanted <= set(tokens(texts.get(bank.iris[row], ("", ""))[0])) for row in rows]]
    return rows


def score_rows(look: Viewpoint, rows: Rows, domain: Domain, parts: Backends) -> Values:
    """Score (m,) rows by the tilt, in 0..1."""
    bank = domain.bank
    match look.tilt:
        case "embedding":
            [state] = embed_tasks([look.task or ""], parts.embedder)
            return np.asarray(np.clip(bank.vectors[rows] @ state, 0, 1), dtype=np.float64)
        case "keyword":
            return _by_words(look.task or "", rows, domain, parts)
        case "graph":
            shared = bank.count_shared(look.about) if look.about else {}
            counts = [shared.get(row, 0) if look.about else len(bank.about[row]) for row in rows.tolist()]
            return np.array(counts, dtype=np.float64) / max([*counts, 1])
        case "temporal":
            places = np.argsort(np.argsort(bank.at[rows], kind="stable"), kind="stable")
            return np.asarray((places + 1) / max(len(rows), 1), dtype=np.float64)


def _habits(rows: Rows, domain: Domain, parts: Backends) -> Values:
    """Return (m,) the share of the latest views that showed each row."""
    views = [row["view"] for row in parts.graph.select("plugins/cases/views", [domain.graph])][:_LATEST]
    counts = Counter(
        row["value"]
        for row in (parts.graph.select("plugins/cases/view", [domain.graph], view=views) if views else ())
        if row["predicate"] == ZPT.selectedCorpuscle
    )
    return np.array([counts[domain.bank.iris[row]] for row in rows.tolist()], dtype=np.float64) / max(len(views), 1)


def _earnings(rows: Rows, bank: Bank) -> Values:
    """Return (m,) the mean reward of the tasks that each row was shown for, else its own reward; 0 if neither is known."""
    uses = bank.uses[rows]
    own = np.nan_to_num(bank.reward[rows])
    return np.where(uses > 0, bank.reward_sums[rows] / np.maximum(uses, 1), own)


def _by_words(task: str, rows: Rows, domain: Domain, parts: Backends) -> Values:
    """
    Score (m,) rows by the share of the task's words that occur in a case's task, each weighted by its rarity among these cases.
    """
    wanted = set(tokens(task))
    iris = [domain.bank.iris[row] for row in rows]
    texts = load_texts(iris, domain, parts)
    having = [wanted & set(tokens(texts[iri][0])) for iri in iris]
    weight = {word: np.log1p(len(iris) / (1 + sum(word in some for some in having))) for word in wanted}
    total = sum(weight.values()) or 1.0
    return np.array([sum(weight[word] for word in sorted(some)) / total for some in having], dtype=np.float64)


def _show_cases(rows: Rows, values: Values, look: Viewpoint, domain: Domain, parts: Backends) -> list[Landmark]:
    bank = domain.bank
    chosen = rows[: look.limit]
    texts = load_texts([bank.iris[row] for row in chosen], domain, parts)
    return [
        Landmark(
            iri=bank.iris[row],
            label=texts.get(bank.iris[row], ("", ""))[0],
            score=float(value),
            reason=_explain_order(look),
            cases=(bank.iris[row],),
            about=tuple(one for one in bank.about[row] if not is_tag(one)),
        )
        for row, value in zip(chosen.tolist(), values.tolist(), strict=False)
    ]


def _show_subtasks(rows: Rows, values: Values, look: Viewpoint, domain: Domain, parts: Backends) -> list[Landmark]:
    """Return the steps of the cases, those of the best case first."""
    bank = domain.bank
    score = {bank.iris[row]: value for row, value in zip(rows.tolist(), values.tolist(), strict=True)}
    steps = parts.graph.select("plugins/cases/steps", [domain.graph], case=list(score)) if score else []
    place = {iri: number for number, iri in enumerate(score)}
    return [
        Landmark(
            iri=row["subtask"],
            label=str(row["task"]),
            score=score[row["case"]],
            reason=f"step {row['step']} of its case, {row['state']}; {_explain_order(look)}",
            cases=(row["case"],),
        )
        for row in sorted(steps, key=lambda row: place[row["case"]])
    ]


def _show_communities(rows: Rows, values: Values, look: Viewpoint, domain: Domain, parts: Backends) -> list[Landmark]:
    """Return communities of the cases, the one with the best mean first, each named by its central entities."""
    bank = domain.bank
    score = dict(zip(rows.tolist(), values.tolist(), strict=True))
    with parts.indexes.lock:
        return sorted(
            (
                Landmark(
                    iri=IRI(f"{bank.iris[one.rows[0]]}#community"),
                    label=", ".join(_name_anchor(anchor, parts) for anchor in list_named(one.entities)[:3]),
                    score=float(np.mean([score[row] for row in one.rows])),
                    reason=f"{len(one.rows)} cases that concern the same; {_explain_order(look)}",
                    cases=tuple(bank.iris[row] for row in one.rows),
                    about=tuple(anchor for anchor in one.entities if not is_tag(anchor)),
                )
                for one in find_communities(np.sort(rows), bank)
            ),
            key=lambda one: (-one.score, one.iri),
        )


def list_named(anchors: Sequence[IRI]) -> list[IRI]:
    """List those of some anchors that have names: entities and tags, not relationships."""
    return [anchor for anchor in anchors if not is_claim(anchor)]


def _name_anchor(anchor: IRI, parts: Backends) -> str:
    return f"#{tag_name(anchor)}" if is_tag(anchor) else parts.indexes.name(anchor) or anchor


_ZOOMED: dict[Zoom, Callable[[Rows, Values, Viewpoint, Domain, Backends], list[Landmark]]] = {
    "case": _show_cases,
    "subtask": _show_subtasks,
    "community": _show_communities,
}


def _explain_order(look: Viewpoint) -> str:
    by = {
        "embedding": "by likeness to the task",
        "keyword": "by the words of the task",
        "graph": "by the entities it shares with the task" if look.about else "by how many entities it concerns",
        "temporal": "the latest first",
    }[look.tilt]
    if look.tilt != "temporal":
        by += ", what is seen often or has earned more a little earlier"
    return f"{by}, what was seen before a little earlier" if look.previous else by


def _load_seen_cases(previous: IRI | None, domain: Domain, parts: Backends) -> set[IRI]:
    """Load the cases that an earlier view showed."""
    if previous is None:
        return set()
    rows = parts.graph.select("plugins/cases/view", [domain.graph], view=parse_iri(previous))
    if not rows:
        raise NotFound(f"there is no view <{previous}> in this domain, or it was let go: the latest {VIEWS} are kept")
    return {row["value"] for row in rows if row["predicate"] == ZPT.selectedCorpuscle}


def _view_quads(view: IRI, look: Viewpoint, found: Sequence[Landmark], at: datetime, graph: IRI) -> tuple[Quad, ...]:
    zoom, pan, tilt = (IRI(f"{view}#{part}") for part in ("zoom", "pan", "tilt"))
    quads: list[Quad] = [
        (view, TYPE, ZPT.NavigationView, graph),
        (view, ZPT.navigationTimestamp, at, graph),
        (view, ZPT.hasZoomState, zoom, graph),
        (view, ZPT.hasPanState, pan, graph),
        (view, ZPT.hasTiltState, tilt, graph),
        (zoom, TYPE, ZPT.ZoomState, graph),
        (zoom, ZPT.atZoomLevel, _LEVELS[look.zoom], graph),
        (pan, TYPE, ZPT.PanState, graph),
        (tilt, TYPE, ZPT.TiltState, graph),
        (tilt, ZPT.withTiltProjection, _PROJECTIONS[look.tilt], graph),
    ]
    if look.entities:
        quads.append((pan, ZPT.withPanDomain, ZPT.EntityDomain, graph))
    if look.words:
        quads.append((pan, ZPT.withPanDomain, ZPT.TopicDomain, graph))
    if look.since or look.until:
        quads.append((pan, ZPT.withPanDomain, ZPT.TemporalDomain, graph))
    if look.task:
        quads.append((view, ZPT.answersQuery, look.task, graph))
    if look.previous:
        quads.append((view, ZPT.previousView, look.previous, graph))
    chosen = list(dict.fromkeys(case for one in found for case in one.cases))[:_CHOSEN]
    quads += [(view, ZPT.selectedCorpuscle, case, graph) for case in chosen]
    return tuple(quads)


def _expired_views(domain: Domain, parts: Backends) -> tuple[Quad, ...]:
    """Return the quads of the views beyond the number to keep."""
    views = [row["view"] for row in parts.graph.select("plugins/cases/views", [domain.graph])][VIEWS - 1 :]
    rows = parts.graph.select("plugins/cases/view", [domain.graph], view=views) if views else []
    return tuple((row["subject"], row["predicate"], row["value"], domain.graph) for row in rows)


def parse_pan(pan: Sequence[str], bank: Bank, known: Callable[[str], list[IRI]]) -> tuple[list[IRI], list[str]]:
    """
    Split a pan into entities and tags of cases, and other words.

    Args:
        known: returns the entities with a name.
    """
    entities: list[IRI] = []
    words: list[str] = []
    for term in pan:
        tag = tag_iri(term.removeprefix("#"))
        found = (
            [IRI(term)] if term.startswith("urn:") else [e for e in (*known(term), tag) if bank.count_shared([e])][:1]
        )
        (entities.extend(found) if found else words.append(term))
    return entities, words


@dataclass(frozen=True, slots=True)
class CaseCommunity:
    """
    The rows of a community's cases, and their shared entities, the most shared first. `importance` is its share of the rank, 0..1.
    """

    rows: tuple[int, ...]
    entities: tuple[IRI, ...]
    importance: float


def find_communities(rows: Rows, bank: Bank) -> list[CaseCommunity]:
    """
    Find the communities among some cases, the largest first; a case that concerns no entity is in none.

    Source: Blondel et al. 2008, J. Stat. Mech.
    """
    linked = [row for row in rows.tolist() if bank.about[row]]
    entities = list(dict.fromkeys(entity for row in linked for entity in bank.about[row]))
    place = {entity: len(linked) + number for number, entity in enumerate(entities)}
    links = [(case, place[entity]) for case, row in enumerate(linked) for entity in bank.about[row]]
    if not links:
        return []
    source, target = np.array(links).T
    n = len(linked) + len(entities)
    idle = np.zeros(n)
    structure = analyse_graph(Csr.of(n, source, target), idle, idle, idle.astype(bool))
    grouped = []
    for one in structure.communities:
        cases = tuple(linked[node] for node in sorted(one.nodes.tolist()) if node < len(linked))
        shared = tuple(entities[node - len(linked)] for node in one.nodes.tolist() if node >= len(linked))
        if cases:
            grouped.append(CaseCommunity(cases, shared, one.importance))
    return sorted(grouped, key=lambda one: (-len(one.rows), one.rows))
