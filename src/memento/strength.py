"""
Keep the strength of memories (importance, depth, energy, usefulness) and of the links between them, as use and time change both.

*Flow:* a read of a memory → `Reinforcement.note_effects` → a `Tally` in memory → `write_effects`, on a background thread: it turns
all collected effects into one change, by applying the laws of `rank.py` to the numbers that the graph has by then.

*Guarantees:* a recorded effect counts for the next reader at once, and is in the store within a second, or when the memory is
closed. A kill loses only the effects of that second: no memory and no link depends on them.

*Because:* the new numbers are computed from those in the graph at the time of the write, so that a correction in between is kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.backends import Backends
from memento.errors import MementoError
from memento.graph.mapping import quads, statements
from memento.graph.ranges import fits
from memento.iris import (
    IRI,
    MEM,
    SKOS,
    TYPE,
    association_iri,
    link_iri,
    relation_iri,
    relation_name,
)
from memento.model import (
    Association,
    Change,
    Counted,
    Effect,
    Key,
    KeyLink,
    Quad,
    Read,
    Skipped,
    Strength,
    Traversed,
    Used,
    Value,
)
from memento.rank import Decay
from memento.search.nodes import Ids
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

    def weaken(self, memory: IRI, graph: IRI) -> Change:
        """Return the change of a corrected memory's depth. Write the noted effects first."""
        depth = self.read_numbers(memory).depth
        if not depth:
            return Change()
        return Change(
            ((memory, MEM.depth, round(rank.correct_depth(depth), 9), graph),), ((memory, MEM.depth, depth, graph),)
        )

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
            statements = self._read_statements(self._in_writing)
            change = build_change(self._in_writing, statements, indexes.find_decay)
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
        found = ((r["node"], r["predicate"], r["value"], r["graph"]) for r in rows)
        return statements(dict.fromkeys(found))


Column = NDArray[np.float64]


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


def describe_relation(relation: IRI, graph: IRI) -> tuple[Quad, ...]:
    """Describe a relation that is missing from the ontology."""
    if relation.startswith(MEM.base):
        return ()
    return (relation, TYPE, MEM.Relation, graph), (relation, SKOS.prefLabel, relation_name(relation), graph)
