"""
Keep the strength of memories (importance, depth, energy, usefulness) and of the links between them: how use, feedback and time
change both, and which memories are archived when their energy is gone.

*Flow:* a read of a memory → `Reinforcement.note_effects` → a `Tally` in memory → `write_effects`, on a background thread: it turns
all collected effects into one change, by applying the laws of `rank.py` to the numbers that the graph has by then.

*Guarantees:* a recorded effect counts for the next reader at once, and is in the store within a second, or when the memory is
closed. A kill loses only the effects of that second: no memory and no link depends on them. Decay of a graph writes a single time,
however many memories the graph has. Archived memories stay whole and can be brought back.

*Because:* the new numbers are computed from those in the graph at the time of the write, so that a correction in between is kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.backends import Backends
from memento.errors import InputError, MementoError, NotFound
from memento.graph.mapping import quads, statements
from memento.graph.ranges import fits
from memento.iris import (
    IRI,
    MEM,
    SKOS,
    TYPE,
    association_iri,
    fading_iri,
    link_iri,
    parse_iri,
    relation_iri,
    relation_name,
)
from memento.model import (
    Activated,
    Association,
    Change,
    Counted,
    Effect,
    Fading,
    FadingMemory,
    Followed,
    Key,
    KeyLink,
    Quad,
    Read,
    Scope,
    Skipped,
    Strength,
    Traversed,
    Used,
    Value,
)
from memento.rank import Decay, spread
from memento.search.indexes import View
from memento.search.nodes import Ids, walk_memories
from memento.search.shared import link_shared
from memento.settings import StrengthSettings
from memento.time import now, utc
from memento.worker import Worker

logger = logging.getLogger(__name__)

_DECIMALS = 9
"""Decimals of a stored number: enough that sums of twentieths stay exact."""


@dataclass(slots=True)
class Uses:
    """The uses of one memory that are not written yet: how often it was read in full, and how often used otherwise."""

    graph: IRI
    count: int = 0
    used: int = 0
    at: datetime | None = None

    def apply_to(self, strength: Strength) -> Strength:
        """Return the numbers of the memory after these uses."""
        depth = strength.depth
        for _ in range(min(self.count, round(1 / rank.READ))):
            depth = rank.deepen(depth)
        times = [at for at in (strength.last_accessed_at, self.at) if at]
        return replace(
            strength,
            depth=round(depth, _DECIMALS),
            access_count=strength.access_count + self.count + self.used,
            last_accessed_at=max(times, default=None),
        )


@dataclass(slots=True)
class Traversals:
    """The uses of one link that are not written yet; `first` says what to write if the link does not exist."""

    memory: IRI
    key: IRI
    graph: IRI
    first: Traversed | None = None
    traversed: int = 0
    skipped: int = 0
    at: datetime | None = None

    def apply_to(self, weight: float) -> float:
        """Return the weight of the link after these uses, .1..3."""
        for _ in range(self.traversed):
            weight = rank.reinforce_link(weight)
        for _ in range(self.skipped):
            weight = rank.weaken_link(weight)
        return round(weight, _DECIMALS)


@dataclass(slots=True)
class Tally:
    """All effects that are not written yet, by memory, by link, and by other nodes that count uses."""

    reads: dict[IRI, Uses] = field(default_factory=dict)
    steps: dict[IRI, Traversals] = field(default_factory=dict)
    counts: dict[IRI, tuple[IRI, int]] = field(default_factory=dict)  # node → its graph and the number of uses

    def __bool__(self) -> bool:
        return bool(self.reads or self.steps or self.counts)

    def add_effect(self, effect: Effect) -> None:
        """Add one effect."""
        match effect:
            case Read():
                one = self.reads.setdefault(effect.memory, Uses(effect.graph))
                one.count += 1
                one.at = max(one.at or effect.at, effect.at)
            case Used():
                one = self.reads.setdefault(effect.memory, Uses(effect.graph))
                one.used += 1
                one.at = max(one.at or effect.at, effect.at)
            case Traversed():
                steps = self._traversals_of(effect.key.iri, effect.memory, effect.graph)
                steps.first = steps.first or effect
                steps.traversed += 1
                steps.at = effect.at
            case Counted():
                self.counts[effect.node] = (effect.graph, self.counts.get(effect.node, (effect.graph, 0))[1] + 1)
            case Skipped():
                self._traversals_of(effect.key, effect.memory, effect.graph).skipped += 1

    def merge(self, later: Tally) -> None:
        """Add the effects of a later tally."""
        for iri, reads in later.reads.items():
            known = self.reads.setdefault(iri, Uses(reads.graph))
            known.count += reads.count
            known.used += reads.used
            known.at = max((at for at in (known.at, reads.at) if at), default=None)
        for node, (graph, count) in later.counts.items():
            self.counts[node] = (graph, self.counts.get(node, (graph, 0))[1] + count)
        for steps in later.steps.values():
            mine = self._traversals_of(steps.key, steps.memory, steps.graph)
            mine.first = mine.first or steps.first
            mine.traversed += steps.traversed
            mine.skipped += steps.skipped
            mine.at = steps.at or mine.at

    def _traversals_of(self, key: IRI, memory: IRI, graph: IRI) -> Traversals:
        return self.steps.setdefault(link_iri(key, memory), Traversals(memory, key, graph))


Statements = Mapping[IRI, Mapping[IRI, Sequence[Value]]]
"""Subject → predicate → objects, as in the graph."""


def find_subjects(tally: Tally) -> tuple[list[IRI], list[IRI]]:
    """Return the subjects whose statements are needed to build a change, and the graphs that contain them."""
    firsts = [steps.first for steps in tally.steps.values() if steps.first]
    graphs = {reads.graph for reads in tally.reads.values()} | {steps.graph for steps in tally.steps.values()}
    graphs |= {one.key_graph for one in firsts} | {graph for graph, _ in tally.counts.values()}
    subjects = [*touched_memories(tally), *tally.steps, *(one.key.iri for one in firsts), *tally.counts]
    return list(dict.fromkeys(subjects)), sorted(graphs)


def touched_memories(tally: Tally) -> list[IRI]:
    """Return the memories that were used, or reached over a link."""
    return list(dict.fromkeys([*tally.reads, *(steps.memory for steps in tally.steps.values())]))


def build_change(tally: Tally, stated: Statements, decays: Callable[[IRI], Decay]) -> Change:
    """
    Build the change that writes a tally; memories that no longer exist are left out.

    Args:
        decays: returns how far the energies of a graph have decayed.
    """
    change = Change()
    for memory, reads in tally.reads.items():
        if memory in stated:
            change += _change_numbers(memory, reads, stated[memory], decays(reads.graph))
    for link, steps in tally.steps.items():
        if steps.memory in stated:
            change += _change_link(link, steps, stated)
    for node, (graph, count) in tally.counts.items():
        if known := stated.get(node):
            uses = int(str(_first_value(known, MEM.accessCount) or 0)) + count
            change += _replace_values(node, [(MEM.accessCount, uses)], known, graph)
    return change


def _change_numbers(memory: IRI, reads: Uses, stated: Mapping[IRI, Sequence[Value]], decay: Decay) -> Change:
    """Build the change of a used memory's numbers: its energy at the time of use is stored, and decays from there."""
    before = Strength(
        depth=float(str(_first_value(stated, MEM.depth) or 0.0)),
        access_count=int(str(_first_value(stated, MEM.accessCount) or 0)),
        last_accessed_at=cast("datetime | None", _first_value(stated, MEM.lastAccessedAt)),
    )
    after = reads.apply_to(before)
    new: list[tuple[IRI, Value | None]] = [
        (MEM.depth, after.depth),
        (MEM.accessCount, after.access_count),
        (MEM.lastAccessedAt, after.last_accessed_at and utc(after.last_accessed_at)),
        *_settle_energy(reads.at, stated, decay),
    ]
    return _replace_values(memory, [one for one in new if one[1] is not None], stated, reads.graph)


def _settle_energy(
    at: datetime | None, stated: Mapping[IRI, Sequence[Value]], decay: Decay
) -> Iterable[tuple[IRI, Value]]:
    since = _first_value(stated, MEM.energyAt) or _first_value(stated, MEM.createdAt)
    if at is None or not isinstance(since, datetime):
        return
    known = (_first_value(stated, name) for name in (MEM.energy, MEM.importance))
    value = next((one for one in known if one is not None), rank.MIDDLING)
    left = rank.decay_energy(float(str(value)), since, decay)
    # A decay that is already included must not apply again.
    until = max([at, *(instant for instant, _ in decay.marks[-1:])])
    yield MEM.energy, round(left, 9)
    yield MEM.energyAt, utc(max(until, since))


def _change_link(link: IRI, steps: Traversals, stated: Statements) -> Change:
    """Build the change of a link that was traversed or skipped; if the link does not exist yet, create it, with its key."""
    if known := stated.get(link):
        weight = steps.apply_to(float(str(_first_value(known, MEM.weight) or 1.0)))
        new: list[tuple[IRI, Value | None]] = [(MEM.weight, weight)]
        if steps.at:
            new.append((MEM.lastReinforcedAt, utc(steps.at)))
        return _replace_values(link, new, known, steps.graph)
    if steps.first is None:
        return Change()
    made = KeyLink(
        iri=link,
        key=steps.key,
        memory=steps.memory,
        weight=steps.apply_to(steps.first.weight),
        created_at=utc(steps.first.at),
        last_reinforced_at=steps.at and utc(steps.at),
    )
    return Change((*_new_key(steps.first.key, steps.first.key_graph, stated), *quads(made, steps.graph)))


def _new_key(key: Key, graph: IRI, stated: Statements) -> Iterable[Quad]:
    return () if key.iri in stated else quads(key, graph)


def _replace_values(
    subject: IRI, new: Sequence[tuple[IRI, Value | None]], stated: Mapping[IRI, Sequence[Value]], graph: IRI
) -> Change:
    """Build the change that replaces stated values."""
    removes = [(subject, predicate, value, graph) for predicate, _ in new for value in stated.get(predicate, ())]
    adds = [(subject, predicate, value, graph) for predicate, value in new if value is not None]
    return Change(
        tuple(quad for quad in adds if quad not in removes), tuple(quad for quad in removes if quad not in adds)
    )


def _first_value(stated: Mapping[IRI, Sequence[Value]], predicate: IRI) -> Value | None:
    """Return the first valid value of a predicate."""
    return next((value for value in stated.get(predicate, ()) if fits(predicate, value)), None)


DELAY_S = 0.5
"""Seconds for which effects are collected before they are written."""


class Reinforcement:
    """The effects of use on the memories of one store; all readers share one, from any thread."""

    def __init__(self, parts: Backends, writing: AbstractContextManager[object]) -> None:
        """
        Args:
            writing: the lock of all writers; the caller of `note_effects` must not hold it.
        """
        self._parts = parts
        self._writing = writing
        self._lock = threading.Lock()
        self._waiting = Tally()  # effects that are noted
        self._in_writing = Tally()  # effects being written; they count for readers until the indexes contain them
        self._since: datetime | None = None
        self._worker = Worker(self._write_when_due, "reinforcement")

    def note_effects(self, *effects: Effect) -> None:
        """Note that something was used: takes a microsecond or two; the next reader sees it."""
        if not effects or self._parts.degraded:
            return
        with self._lock:
            was_empty = not self._waiting
            for effect in effects:
                self._waiting.add_effect(effect)
            if was_empty:
                self._since = now()
        if was_empty:
            self._worker.wake()

    def read_numbers(self, memory: IRI) -> Strength:
        """Return the numbers of a memory, including unwritten effects."""
        indexes = self._parts.indexes
        with indexes.lock, self._lock:
            node = indexes.nodes.find(memory)
            found = Strength() if node is None else indexes.numbers.strength(node)
            for pending in (self._in_writing, self._waiting):
                if reads := pending.reads.get(memory):
                    found = reads.apply_to(found)
        return found

    def depths(self, nodes: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the depth of some memories, (n,) in 0..1, including unwritten effects. Call it under `indexes.lock`."""
        found = np.nan_to_num(self._parts.indexes.numbers.column(MEM.depth, nodes))
        with self._lock:
            for pending in (self._in_writing, self._waiting):
                for memory, reads in pending.reads.items():
                    place = np.flatnonzero(nodes == self._node(memory))
                    found[place] = [reads.apply_to(Strength(depth=depth)).depth for depth in found[place].tolist()]
        return found

    def weights(self, key: IRI, nodes: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """
        Return the weights, (n,), of the links from a key to some memories: the given stored weights with unwritten effects applied.
        """
        found = np.array(weights, dtype=np.float64)
        with self._lock:
            for pending in (self._in_writing, self._waiting):
                for steps in pending.steps.values():
                    if steps.key == key:
                        place = np.flatnonzero(nodes == self._node(steps.memory))
                        found[place] = [steps.apply_to(weight) for weight in found[place].tolist()]
        return found

    def weight(self, key: IRI, memory: IRI, weight: float) -> float:
        """Return the weight of one link: the given stored weight with unwritten effects applied."""
        with self._lock:
            for pending in (self._in_writing, self._waiting):
                if steps := pending.steps.get(link_iri(key, memory)):
                    weight = steps.apply_to(weight)
        return weight

    def write_effects(self) -> int:
        """Write all noted effects as one change; return the number of changed memories. Raises `GraphError`."""
        with self._writing:
            return self.write_held()

    def write_held(self) -> int:
        """Do the same as `write_effects` for a caller who holds the writers' lock and is about to change the same numbers."""
        with self._lock:
            self._in_writing, self._waiting, self._since = self._waiting, Tally(), None
        if not self._in_writing:
            return 0
        try:
            touched, indexes = touched_memories(self._in_writing), self._parts.indexes
            with indexes.pool():
                _, graphs = find_subjects(self._in_writing)
                indexes.bring(graphs, iris=touched)
                change = build_change(
                    self._in_writing, self._read_statements(self._in_writing), indexes.fadings.decay_of
                )
                self._parts.reinforce(change, touched, self._finish_writing)
        except BaseException:
            with self._lock:
                self._in_writing.merge(self._waiting)
                self._in_writing, self._waiting, self._since = Tally(), self._in_writing, now()
            raise
        return len(touched)

    def close(self, wait_s: float) -> None:
        """Write the remaining effects and stop; call it before the store is closed."""
        self._worker.stop(wait_s)
        self.write_effects()

    def _finish_writing(self) -> None:
        """Drop the effects that were being written: the indexes now contain them."""
        with self._lock:
            self._in_writing = Tally()

    def _write_when_due(self) -> float | None:
        """Write when the first effect has waited long enough; the background worker calls it."""
        with self._lock:
            since = self._since
        if since is None:
            return None
        left = DELAY_S - (now() - since).total_seconds()
        if left > 0 and not self._worker.stopping.is_set():
            return min(left, DELAY_S)
        try:
            self.write_effects()
        except MementoError as error:
            logger.warning("reinforcement.put-off", extra={"error": type(error).__name__})
            return 60 * DELAY_S
        return 0.0 if self._since else None

    def _node(self, memory: IRI) -> int:
        node = self._parts.indexes.nodes.find(memory)
        return -1 if node is None else node

    def _read_statements(self, tally: Tally) -> Statements:
        subjects, graphs = find_subjects(tally)
        rows = self._parts.graph.select("search/statements", graphs, node=subjects)
        found = ((cast(IRI, r["node"]), cast(IRI, r["predicate"]), r["value"], cast(IRI, r["graph"])) for r in rows)
        return statements(dict.fromkeys(found))


Column = NDArray[np.float64]
_PORTION = 5_000  # memories of a large namespace that are examined in one batch


def energies(nodes: Ids, parts: Backends, decay: Decay | None = None) -> Column:
    """
    Return the energies of some memories, (n,) in 0..1, as the last decay of their graph left them, or as `decay` does. Call it
    under `indexes.lock`.
    """
    indexes = parts.indexes
    values = indexes.numbers.column(MEM.energy, nodes)
    since = indexes.numbers.column(MEM.energyAt, nodes)
    begun = np.isnan(values)
    values[begun] = importances(nodes[begun], parts)
    since = np.where(begun | np.isnan(since), indexes.nodes.creation_times(nodes) / 1000.0, since)
    energies_now = np.zeros(len(nodes))
    for graph, of in indexes.nodes.by_graph(nodes):
        energies_now[of] = rank.decay_energies(values[of], since[of], decay or indexes.fadings.decay_of(graph))
    return energies_now


def importances(nodes: Ids, parts: Backends) -> Column:
    """Return the importance of some memories, (n,) in 0..1."""
    values = parts.indexes.numbers.column(MEM.importance, nodes)
    return np.where(np.isnan(values), rank.MIDDLING, values)


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
    parts.indexes.bring(scope.memory_graphs)
    with parts.indexes.lock:
        before = parts.indexes.fadings.decay_of(scope.graph)
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
    parts.indexes.bring([scope.graph])
    with parts.indexes.lock:
        decay = parts.indexes.fadings.decay_of(scope.graph)
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
    indexes = parts.indexes
    if indexes.has_whole([scope.graph]):
        with indexes.lock:
            nodes = np.flatnonzero(indexes.nodes.current([scope.graph], now=now)).astype(np.int32)
            used = np.nan_to_num(indexes.numbers.column(MEM.accessCount, nodes))
            importance, left = importances(nodes, parts), energies(nodes, parts, decay)
            iris = [indexes.nodes.iri(node) for node in nodes.tolist()]
        yield from _keep_unkept(iris, left, used, importance, knobs)
        return
    indexes.bring([scope.graph])
    walk = walk_memories(parts.graph, [scope.graph], now)
    decay = decay or indexes.fadings.decay_of(scope.graph)
    while some := list(islice(walk, _PORTION)):
        importance, energy, used = (
            np.array([one.number(name, otherwise) for one in some])
            for name, otherwise in ((MEM.importance, rank.MIDDLING), (MEM.energy, np.nan), (MEM.accessCount, 0.0))
        )
        begun = np.isnan(energy)
        since = [one.time_of(MEM.energyAt) if has else None for one, has in zip(some, ~begun, strict=True)]
        seconds = np.array([(at or one.written).timestamp() for one, at in zip(some, since, strict=True)])
        energy = np.where(begun, importance, energy)
        faded = rank.decay_energies(energy, seconds, decay)
        yield from _keep_unkept([one.iri for one in some], faded, used, importance, knobs)


def _keep_unkept(
    iris: Sequence[IRI], left: NDArray[np.floating], used: Column, importance: Column, knobs: StrengthSettings
) -> Iterable[FadingMemory]:
    """Yield those of some memories, (n,), that are neither important nor used often."""
    is_kept = (importance >= knobs.keep_importance) | rank.outlives(np.zeros(len(iris)), used, few=knobs.archive_uses)
    for place in np.flatnonzero(~is_kept).tolist():
        yield FadingMemory(
            iri=iris[place],
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
    parts.indexes.bring(scope.memory_graphs, iris=[IRI(iri)])
    with parts.indexes.lock:
        nodes = parts.indexes.nodes
        node = nodes.find(IRI(iri))
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
    indexes.bring(scope.memory_graphs, iris=[IRI(source), IRI(target)])
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
        parts.commit(Change((*quads(drawn, scope.graph), *_describe_relation(drawn.relation, scope.graph))), scope)
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


def relate_alike(memory: IRI, near: Iterable[tuple[IRI, float]], alike: float, graph: IRI, at: datetime) -> list[Quad]:
    """
    Return the links from a new memory to those nearest to it, weighted by their similarity: `similar` from a cosine of `alike` on,
    else `references`.
    """
    found: list[Quad] = []
    for other, cosine in near:
        relation = relation_iri("similar" if cosine >= alike else "references")
        link = Association(
            iri=association_iri(memory, relation, other),
            source=memory,
            target=other,
            relation=relation,
            weight=round(min(max(cosine, 0.0), 1.0), 4),
            created_at=at,
            last_reinforced_at=at,
        )
        found += quads(link, graph)
    return found


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
    indexes.bring(scope.memory_graphs, around=[IRI(start)], steps=depth)
    with indexes.lock:
        [begin] = _find_current([start], scope, now, parts)
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
    # Two memories about the same thing are two steps apart.
    indexes.bring(scope.memory_graphs, around=[IRI(seed) for seed in seeds], steps=steps)
    with indexes.lock:
        begin = _find_current(list(dict.fromkeys(seeds)), scope, now, parts)
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


def _describe_relation(relation: IRI, graph: IRI) -> tuple[Quad, ...]:
    """Describe a relation that is missing from the ontology."""
    if relation.startswith(MEM.base):
        return ()
    return (relation, TYPE, MEM.Relation, graph), (relation, SKOS.prefLabel, relation_name(relation), graph)


def _read_texts(memories: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    """Read the contents of some memories; those that were removed meanwhile are left out."""
    wanted = sorted(memories)
    rows = parts.graph.select("keys/texts", scope.memory_graphs, memory=wanted) if wanted else []
    return dict.fromkeys(wanted, "") | {IRI(str(row["memory"])): str(row["content"]) for row in rows}


def _find_current(iris: Sequence[str], scope: Scope, now: datetime, parts: Backends) -> list[int]:
    """Return the ids of some memories; raise `NotFound` for one that is not current."""
    nodes = parts.indexes.nodes
    visible = nodes.current(scope.memory_graphs, now=now)
    found = [nodes.find(IRI(iri)) for iri in iris]
    for iri, node in zip(iris, found, strict=True):
        if node is None or not visible[node]:
            raise NotFound(f"there is no current memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return [node for node in found if node is not None]
