"""
The strength of memories as people see and change it: numbers, feedback, decay, the archive, and associations between memories.

*Guarantees:* decay of a graph writes a single time, however many memories the graph has. Archived memories stay whole and can be
brought back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from memento import rank
from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.graph.mapping import quads
from memento.graph.ranges import fits
from memento.iris import (
    IRI,
    MEM,
    association_iri,
    fading_iri,
    parse_iri,
    relation_iri,
    relation_name,
)
from memento.model import (
    Association,
    Change,
    Fading,
    Scope,
    Strength,
    Value,
)
from memento.plugins.living.nouns import Activated, FadingMemory, Followed
from memento.rank import Decay, spread
from memento.search.indexes import View
from memento.search.shared import link_shared
from memento.settings import StrengthSettings
from memento.strength import Reinforcement, describe_relation, energies, importances

_DECIMALS = 9
_PORTION = 5_000  # memories of a large namespace that are examined in one batch


def read_strength(iri: str, scope: Scope, parts: Backends, use: Reinforcement) -> Strength:
    """
    Return the current numbers of a memory, with its energy decayed.

    Raises:
        NotFound: the namespace's graphs contain no such memory, or it is forgotten.
    """
    node = _find_memory(iri, scope, parts)
    with parts.indexes.lock:
        energy = float(energies(np.array([node], dtype=np.int32), parts)[0])
        importance = float(importances(np.array([node], dtype=np.int32), parts)[0])
        begun = int(parts.indexes.nodes.creation_times(np.array([node]))[0]) / 1000
    days = max(parts.clock().timestamp() - begun, 0.0) / 86_400
    effective = round(rank.age_importance(importance, days), 9)
    return replace(use.read_numbers(IRI(iri)), energy=energy, importance=importance, effective_importance=effective)


def record_feedback(
    iri: str, helped: bool, scope: Scope, now: datetime, parts: Backends, use: Reinforcement
) -> Strength:
    """
    Record that a memory helped or misled, and return its new numbers. Hold the write lock.

    Raises:
        NotFound: the namespace's own graph contains no such memory, or it is forgotten.
    """
    use.write_held()  # so that no pending effect is applied to outdated numbers
    _find_memory(iri, scope, parts, own=True)
    before = read_strength(iri, scope, parts, use)
    successes, failures = before.success_count + helped, before.failure_count + (not helped)
    after = replace(
        before,
        importance=round(rank.adjust_importance(before.importance or 0.0, helped), 9),
        energy=round(rank.adjust_energy(before.energy or 0.0, helped), 9),
        energy_at=now,
        usefulness=round(rank.usefulness(successes, failures) or 0.0, 9),
        success_count=successes,
        failure_count=failures,
    )
    written: dict[IRI, Value] = {
        MEM.importance: after.importance or 0.0,
        MEM.energy: after.energy or 0.0,
        MEM.energyAt: now,
        MEM.usefulness: after.usefulness or 0.0,
        MEM.successCount: successes,
        MEM.failureCount: failures,
    }
    _set_values(IRI(iri), written, scope, parts)
    return after


def decay_energies(half_life_days: float, scope: Scope, now: datetime, parts: Backends) -> Fading:
    """
    Decay the energies of the namespace from the last decay up to now; earlier periods keep their half-lives.

    Raises:
        InputError: the half-life is not above 0.
    """
    if not 0 < half_life_days < 1e6:
        raise InputError(f"the half-life must be a number of days above 0, not {half_life_days}")
    before = parts.indexes.find_decay(scope.graph)
    after = before.until(now, half_life_days)
    place = len(after.marks) - 1
    until, half_life = after.marks[place]
    fading = Fading(iri=fading_iri(scope.graph, place), graph=scope.graph, until=until, half_life=half_life)
    removes = []
    if place < len(before.marks):
        old = before.marks[place]
        removes = quads(replace(fading, until=old[0], half_life=old[1]), scope.graph)
    adds = quads(fading, scope.graph)
    change = Change(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds))
    if change.adds:
        parts.commit(change, scope)
    return fading


def find_exhausted(scope: Scope, now: datetime, parts: Backends, knobs: StrengthSettings) -> tuple[IRI, ...]:
    """Return the current memories of the namespace that have no energy left, were hardly used and are not important, unordered."""
    return tuple(
        one.iri
        for one in _list_unkept(scope, now, parts, knobs)
        if not rank.outlives(np.array([one.energy]), np.zeros(1), knobs.archive_energy)[0]
    )


def list_fading(
    limit: int, offset: int, scope: Scope, now: datetime, parts: Backends, knobs: StrengthSettings
) -> tuple[FadingMemory, ...]:
    """
    List the current memories of the namespace that `archive` will archive if nobody uses them, the next one first.

    Their energies are those of `now`, whenever the last decay was.
    """
    decay = parts.indexes.find_decay(scope.graph)
    until = max([now, *(instant for instant, _ in decay.marks[-1:])])
    found = [
        replace(
            one, archived_on=until + timedelta(days=rank.days_until(one.energy, knobs.archive_energy, knobs.half_life))
        )
        for one in _list_unkept(scope, now, parts, knobs, decay.until(now, knobs.half_life))
    ]
    page = sorted(found, key=lambda one: (one.archived_on, one.iri))[offset : offset + limit]
    texts = _read_texts([one.iri for one in page], scope, parts)
    return tuple(replace(one, content=texts[one.iri]) for one in page)


def _list_unkept(
    scope: Scope, now: datetime, parts: Backends, knobs: StrengthSettings, decay: Decay | None = None
) -> Iterable[FadingMemory]:
    """
    Yield the current memories of the namespace that are neither important nor used often, without their texts and days, unordered.

    Args:
        decay: how far energies have decayed, None for as far as was requested.
    """
    numbers = (MEM.importance, MEM.energy, MEM.energyAt, MEM.accessCount)
    found = parts.indexes.list_newest([scope.graph], now, numbers=numbers)
    energy, since, used = (found.numbers[name] for name in numbers[1:])
    used, importance, begun = np.nan_to_num(used), found.importance, np.isnan(energy)
    since = np.where(begun | np.isnan(since), found.written, since)
    left = rank.decay_energies(
        np.where(begun, importance, energy), since, decay or parts.indexes.find_decay(scope.graph)
    )
    is_kept = (importance >= knobs.keep_importance) | rank.outlives(np.zeros(len(used)), used, few=knobs.archive_uses)
    for place in np.flatnonzero(~is_kept).tolist():
        yield FadingMemory(
            iri=found.iris[place],
            energy=round(float(left[place]), _DECIMALS),
            importance=float(importance[place]),
            access_count=int(used[place]),
        )


def archive_memories(memories: tuple[IRI, ...], scope: Scope, now: datetime, parts: Backends) -> None:
    """Hide memories as forgetting does, and mark them as archived; nothing of them is deleted."""
    adds = [(one, predicate, now, scope.graph) for one in memories for predicate in (MEM.expiredAt, MEM.archivedAt)]
    if adds:
        parts.invalidate_copies(memories)
        parts.commit(Change(tuple(adds)), scope)


def unarchive_memory(iri: str, scope: Scope, now: datetime, parts: Backends) -> None:
    """
    Restore an archived memory, with its initial energy.

    Raises:
        NotFound: the namespace has no such archived memory.
    """
    rows = parts.graph.select("search/statements", [scope.graph], node=parse_iri(iri))
    stated = {row["predicate"]: row["value"] for row in rows if fits(IRI(str(row["predicate"])), row["value"])}
    if MEM.archivedAt not in stated:
        raise NotFound(f"no memory <{iri[:200]}> is archived in the namespace {scope.namespace!r}")
    gone = (MEM.archivedAt, MEM.expiredAt, MEM.energy, MEM.energyAt)
    removes = tuple(
        (IRI(iri), IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows if row["predicate"] in gone
    )
    importance = stated.get(MEM.importance, rank.MIDDLING)
    adds = ((IRI(iri), MEM.energy, float(str(importance)), scope.graph), (IRI(iri), MEM.energyAt, now, scope.graph))
    parts.commit(Change(adds, removes), scope)


def _set_values(memory: IRI, values: dict[IRI, Value], scope: Scope, parts: Backends) -> None:
    """Set some values of a memory, replacing those in the graph."""
    rows = parts.graph.select("search/statements", [scope.graph], node=memory)
    removes = [(memory, IRI(str(r["predicate"])), r["value"], scope.graph) for r in rows if r["predicate"] in values]
    adds = [(memory, predicate, value, scope.graph) for predicate, value in values.items()]
    change = Change(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds))
    parts.reinforce(change, [memory], lambda: None)


def _find_memory(iri: str, scope: Scope, parts: Backends, *, own: bool = False) -> int:
    with parts.indexes.lock:
        node = parts.indexes.find_all([IRI(iri)], scope.memory_graphs).get(IRI(iri))
        nodes = parts.indexes.nodes
        graphs = (scope.graph,) if own else scope.memory_graphs
        if node is None or nodes.kind(node) != "memory" or nodes.graph(node) not in graphs:
            raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
        return node


MOST_ACTIVE = 20
DEEPEST = 6
MOST_PATHS = 200


def associate(
    source: str, target: str, relation: str, weight: float, scope: Scope, now: datetime, parts: Backends
) -> Association:
    """
    Associate one memory with another, or strengthen the existing link.

    Args:
        relation: the kind of link in a word or two, such as "similar" or "leads to".
        weight: 0..1.

    Raises:
        NotFound: one is not a current memory of the namespace's graphs, or the first is not in the namespace's own graph.
        InputError: both are the same memory, the relation is missing, or the weight is out of range.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"weight must be from 0 to 1, not {weight}")
    if not relation.strip() or len(relation) > 100:
        raise InputError("relation must be a word or a few, such as similar")
    if source == target:
        raise InputError(f"<{source}> cannot lead to itself: give another memory as the second")
    indexes = parts.indexes
    with indexes.lock:
        _find_current([source], Scope(scope.tenant, scope.namespace, with_main=False), now, parts)
        _find_current([target], scope, now, parts)
        iri = association_iri(source, relation_iri(relation), target)
        known = indexes.associations.find_arc(iri)
    drawn = Association(
        iri=iri,
        source=IRI(source),
        target=IRI(target),
        relation=relation_iri(relation),
        weight=weight,
        created_at=now,
        last_reinforced_at=now,
    )
    if known is None:
        parts.commit(Change((*quads(drawn, scope.graph), *describe_relation(drawn.relation, scope.graph))), scope)
        return drawn
    left = rank.decay_association(known.weight, known.at, indexes.fadings.decay_of(scope.graph))
    rows = parts.graph.select("search/statements", [scope.graph], node=iri)
    removes = [(iri, IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows]
    created = next((row["value"] for row in rows if str(row["predicate"]).endswith("createdAt")), now)
    after = replace(
        drawn,
        weight=round(rank.strengthen_association(left, weight), 9),
        created_at=created if isinstance(created, datetime) else now,
    )
    adds = quads(after, scope.graph)
    parts.commit(Change(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds)), scope)
    return after


def trace_paths(start: str, depth: int, scope: Scope, now: datetime, parts: Backends) -> tuple[Followed, ...]:
    """
    Trace the paths that start at a memory and follow associations, the strongest link first; no path has a memory twice.

    Args:
        depth: maximum number of links in a path, 1 to 6.

    Raises:
        NotFound: the namespace's graphs have no such current memory.
        InputError: a depth out of range.
    """
    if not 1 <= depth <= DEEPEST:
        raise InputError(f"depth must be from 1 to {DEEPEST}, not {depth}")
    indexes = parts.indexes
    with indexes.lock:
        [begin] = _find_current([start], scope, now, parts, steps=depth)
        visible = indexes.nodes.current(scope.memory_graphs, now=now)
        found: list[Followed] = []
        _follow_arcs(begin, Followed(memories=(IRI(start),)), {begin}, depth, visible, parts, found)
    texts = _read_texts({memory for path in found for memory in path.memories}, scope, parts)
    return tuple(replace(path, contents=tuple(texts[memory] for memory in path.memories)) for path in found)


def spread_activation(
    seeds: Sequence[str],
    steps: int,
    decay: float,
    threshold: float,
    scope: Scope,
    now: datetime,
    parts: Backends,
) -> tuple[Activated, ...]:
    """
    Spread activation from some memories, and return those it reaches, the most active first, at most twenty.

    Args:
        seeds: IRIs of memories, each with activation 1.
        steps: 1 to 10.
        decay, threshold: 0..1.

    Raises:
        NotFound: a seed is not a current memory of the namespace's graphs.
        InputError: no seed, or a number out of range.
    """
    if not seeds:
        raise InputError("seeds must name at least one memory")
    if not 1 <= steps <= 10:
        raise InputError(f"steps must be from 1 to 10, not {steps}")
    for name, value in (("decay", decay), ("threshold", threshold)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must be from 0 to 1, not {value}")
    indexes = parts.indexes
    with indexes.lock:
        # Two memories about the same thing are two steps apart.
        begin = _find_current(list(dict.fromkeys(seeds)), scope, now, parts, steps=steps)
        view = View.at(indexes, scope.memory_graphs, now, None, None)
        seeded = np.array(begin, dtype=np.int32)
        rare, beside = view.matrix().rare, [view.association_matrix(), link_shared(view, seeded, steps)]
        nodes, active = spread(rare, seeded, np.ones(len(begin)), steps, decay, threshold, beside=beside)
        there = nodes < len(view.visible)
        there[there] = view.visible[nodes[there]]
        nodes, active = nodes[there], active[there]
        order = np.lexsort((nodes, -active))[:MOST_ACTIVE]
        reached = [indexes.nodes.iri(node) for node in nodes[order].tolist()]
    texts = _read_texts(reached, scope, parts)
    return tuple(
        Activated(memory=iri, activation=round(value, 9), content=texts[iri])
        for iri, value in zip(reached, active[order].tolist(), strict=True)
    )


def _follow_arcs(
    node: int, path: Followed, on: set[int], depth: int, visible: np.ndarray, parts: Backends, found: list[Followed]
) -> None:
    indexes = parts.indexes
    arcs = [arc for _, arc in indexes.associations.arcs_of(node) if arc.source == node and arc.target not in on]
    weighed = [
        (rank.decay_association(arc.weight, arc.at, indexes.fadings.decay_of(indexes.nodes.graph(node))), arc)
        for arc in arcs
        if arc.target < len(visible) and visible[arc.target]
    ]
    for weight, arc in sorted(weighed, key=lambda one: (-one[0], one[1].target)):
        if len(found) >= MOST_PATHS:
            return
        further = Followed(
            memories=(*path.memories, indexes.nodes.iri(arc.target)),
            relations=(*path.relations, relation_name(arc.relation)),
            weights=(*path.weights, round(weight, 9)),
        )
        found.append(further)
        if depth > 1:
            _follow_arcs(arc.target, further, on | {arc.target}, depth - 1, visible, parts, found)


def _read_texts(memories: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    """Read the contents of some memories; those that were removed meanwhile are left out."""
    wanted = sorted(memories)
    rows = parts.graph.select("search/texts", scope.memory_graphs, memory=wanted) if wanted else []
    return dict.fromkeys(wanted, "") | {IRI(str(row["memory"])): str(row["content"]) for row in rows}


def _find_current(iris: Sequence[str], scope: Scope, now: datetime, parts: Backends, *, steps: int = 0) -> list[int]:
    """
    Return the ids of some memories; raise `NotFound` for one that is not current.

    Args:
        steps: how far from them the caller follows links.
    """
    known = parts.indexes.find_all([IRI(iri) for iri in iris], scope.memory_graphs, steps=steps)
    visible = parts.indexes.nodes.current(scope.memory_graphs, now=now)
    for iri in iris:
        if IRI(iri) not in known or not visible[known[IRI(iri)]]:
            raise NotFound(f"there is no current memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return [*known.values()]
