"""
How strong memories are, what feedback makes of it, how energy decays, and which memories are archived when it is gone.

*Guarantees:* to let a graph decay writes one instant, however many memories it has; what is archived stays whole, and
can be brought back.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.graph.mapping import quads
from memento.graph.ranges import fits
from memento.iris import IRI, MEM, fading_iri, parse_iri
from memento.model import Change, Fading, Scope, Strength, Value
from memento.rank import laws
from memento.search.nodes import Ids
from memento.settings import StrengthSettings
from memento.strength.reinforcement import Reinforcement

Column = NDArray[np.float64]


def energies(nodes: Ids, parts: Backends) -> Column:
    """Return the energies of some memories now, (n,) in 0..1. Call under `indexes.lock`."""
    indexes = parts.indexes
    values = indexes.numbers.column(MEM.energy, nodes)
    since = indexes.numbers.column(MEM.energyAt, nodes)
    begun = np.isnan(values)
    values[begun] = importances(nodes[begun], parts)
    since = np.where(begun | np.isnan(since), indexes.nodes.creation_times(nodes) / 1000.0, since)
    energies_now = np.zeros(len(nodes))
    for graph, of in indexes.nodes.by_graph(nodes):
        energies_now[of] = laws.decay_energies(values[of], since[of], indexes.fadings.of(graph))
    return energies_now


def importances(nodes: Ids, parts: Backends) -> Column:
    """Return the importance of some memories, (n,) in 0..1."""
    values = parts.indexes.numbers.column(MEM.importance, nodes)
    return np.where(np.isnan(values), laws.MIDDLING, values)


def read_strength(iri: str, scope: Scope, parts: Backends, use: Reinforcement) -> Strength:
    """
    Return the numbers of a memory now, its energy as it has decayed.

    Raises:
        NotFound: the namespace's graphs have no such memory, or it is forgotten.
    """
    node = _find_memory(iri, scope, parts)
    with parts.indexes.lock:
        energy = float(energies(np.array([node], dtype=np.int32), parts)[0])
        importance = float(importances(np.array([node], dtype=np.int32), parts)[0])
    return replace(use.strength(IRI(iri)), energy=energy, importance=importance)


def record_feedback(
    iri: str, helped: bool, scope: Scope, now: datetime, parts: Backends, use: Reinforcement
) -> Strength:
    """
    Record that a memory helped or misled, and return its numbers afterwards. The writers' lock must be held.

    Raises:
        NotFound: the namespace's own graph has no such memory, or it is forgotten.
    """
    use.write_held()  # so that nothing is folded into numbers that are no more
    _find_memory(iri, scope, parts, own=True)
    before = read_strength(iri, scope, parts, use)
    successes, failures = before.success_count + helped, before.failure_count + (not helped)
    after = replace(
        before,
        importance=round(laws.adjust_importance(before.importance or 0.0, helped), 9),
        energy=round(laws.adjust_energy(before.energy or 0.0, helped), 9),
        energy_at=now,
        usefulness=round(laws.usefulness(successes, failures) or 0.0, 9),
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
    Let the energies of the namespace decay up to now, since they last were; earlier spans keep their half-lives.

    Raises:
        InputError: a half-life that is not above 0.
    """
    if not 0 < half_life_days < 1e6:
        raise InputError(f"the half-life must be a number of days above 0, not {half_life_days}")
    with parts.indexes.lock:
        before = parts.indexes.fadings.of(scope.graph)
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
    """Find the current memories of the namespace that have no energy left and are hardly used, in no order."""
    indexes = parts.indexes
    with indexes.lock:
        nodes = np.flatnonzero(indexes.nodes.current([scope.graph], now=now)).astype(np.int32)
        left = energies(nodes, parts)
        used = np.nan_to_num(indexes.numbers.column(MEM.accessCount, nodes))
        stays = laws.outlives(left, used, knobs.archive_energy, knobs.archive_uses)
        return tuple(indexes.nodes.iri(node) for node in nodes[~stays].tolist())


def archive_memories(memories: tuple[IRI, ...], scope: Scope, now: datetime, parts: Backends) -> None:
    """Hide memories as forgetting does, and mark them as archived; they stay whole."""
    adds = [(one, predicate, now, scope.graph) for one in memories for predicate in (MEM.expiredAt, MEM.archivedAt)]
    if adds:
        parts.invalidate_copies(memories)
        parts.commit(Change(tuple(adds)), scope)


def unarchive_memory(iri: str, scope: Scope, now: datetime, parts: Backends) -> None:
    """
    Bring an archived memory back, with the energy it had at first.

    Raises:
        NotFound: the namespace has no archived memory of that name.
    """
    rows = parts.graph.select("search/statements", [scope.graph], node=parse_iri(iri))
    stated = {row["predicate"]: row["value"] for row in rows if fits(IRI(str(row["predicate"])), row["value"])}
    if MEM.archivedAt not in stated:
        raise NotFound(f"no memory <{iri[:200]}> is archived in the namespace {scope.namespace!r}")
    gone = (MEM.archivedAt, MEM.expiredAt, MEM.energy, MEM.energyAt)
    removes = tuple(
        (IRI(iri), IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows if row["predicate"] in gone
    )
    importance = stated.get(MEM.importance, laws.MIDDLING)
    adds = ((IRI(iri), MEM.energy, float(str(importance)), scope.graph), (IRI(iri), MEM.energyAt, now, scope.graph))
    parts.commit(Change(adds, removes), scope)


def _set_values(memory: IRI, values: dict[IRI, Value], scope: Scope, parts: Backends) -> None:
    """Set some values of a memory, in the place of those that the graph has."""
    rows = parts.graph.select("search/statements", [scope.graph], node=memory)
    removes = [(memory, IRI(str(r["predicate"])), r["value"], scope.graph) for r in rows if r["predicate"] in values]
    adds = [(memory, predicate, value, scope.graph) for predicate, value in values.items()]
    change = Change(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds))
    parts.reinforce(change, [memory], lambda: None)


def _find_memory(iri: str, scope: Scope, parts: Backends, *, own: bool = False) -> int:
    with parts.indexes.lock:
        nodes = parts.indexes.nodes
        node = nodes.find(IRI(iri))
        graphs = (scope.graph,) if own else scope.memory_graphs
        if node is None or nodes.kind(node) != "memory" or nodes.graph(node) not in graphs:
            raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
        return node
