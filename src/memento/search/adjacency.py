"""
The edges that graph walks follow, by dense id: which memory is about which anchor, and which memories are associated and how
strongly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE
from memento.rank import Csr
from memento.search.arrays import Arrays, Log, begins_of, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, Index, Update, register
from memento.search.nodes import Ids, Mask, Record
from memento.search.postings import Postings, Segment

_FEW = 2000
"""Up to this many changed memories the matrix is patched, which copies it twice instead of sorting all links again."""


@dataclass(frozen=True, slots=True)
class _Matrix:
    csr: Csr
    inside: Mask


@register
class Adjacency(Index):
    """Undirected edges between memories and anchors, by dense id."""

    name = "adjacency"
    reads = frozenset({MEM.about})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._about = Log(np.int32)
        self._of = Postings()  # an anchor is a term of the memories about it
        self._matrix: _Matrix | None = None
        self._changed: set[int] = set()  # memories that changed since the matrix was built

    def put(self, memory: int, anchors: Sequence[int]) -> None:
        """Set what a memory is about, replacing what was set before."""
        if self.about(memory) == tuple(anchors):
            return
        self._about.put(memory, anchors)
        self._of.add_keys(memory, anchors)
        self._changed.add(memory)

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "memory":
                self.put(node, self._find_anchors(record))

    def fill(self, everything: Everything) -> None:
        memories = ((node, record) for node, record in everything.nodes if record.kind == "memory")
        self.fill_edges({node: anchors for node, record in memories if (anchors := self._find_anchors(record))})

    def _find_anchors(self, record: Record) -> list[int]:
        """Return the ids of the anchors that a memory is about, without those that have no id yet."""
        find = self.context.nodes.find
        return [node for iri in record.statements.get(MEM.about, ()) if (node := find(IRI(str(iri)))) is not None]

    def drop(self, node: int) -> None:
        if self.about(node):
            self._about.put(node, ())
            self._of.remove(node)
            self._changed.add(node)

    def holds(self, node: int, record: Record) -> bool:
        return record.kind != "memory" or set(self.about(node)) == set(self._find_anchors(record))

    def fill_edges(self, about: Mapping[int, Sequence[int]]) -> None:
        """Set what many memories are about where nothing is set yet: the same as `put` for each, in a fraction of the time."""
        nodes = np.array(sorted(about), dtype=np.int32)
        counts = np.array([len(about[node]) for node in nodes.tolist()], dtype=np.int32)
        flat = np.array([anchor for node in nodes.tolist() for anchor in about[node]], dtype=np.int32)
        self._about = Log.of(nodes, counts, flat)
        self._of = Postings(segment=Segment.of(nodes, counts, counts, flat.astype(np.int64)))
        self._matrix = None

    def about(self, memory: int) -> tuple[int, ...]:
        """Return the anchors of a memory, in the order in which they were put."""
        return tuple(self._about.get(memory).tolist())

    def memories(self, anchor: int) -> Ids:
        """Return the memories about an anchor, unordered."""
        having = self._of.having(anchor)
        return np.zeros(0, dtype=np.int32) if having is None else having[0]

    def counts(self, memories: Ids) -> Ids:
        """Return (n,) the number of anchors that each of the given memories is about."""
        return self._about.count_values(memories)

    def arcs(self, memories: Ids) -> tuple[Ids, Ids]:
        """Return the anchors of the given memories as two columns: (memories, anchors)."""
        counts = self._about.count_values(memories)
        some = memories[counts > 0]
        return np.repeat(some, counts[counts > 0]), self._about.gather(some)

    def degree(self, anchor: int) -> int:
        """Return the number of memories about an anchor, retired ones included."""
        return self._of.frequency(anchor)

    def matrix(self, inside: Mask) -> Csr:
        """
        Return the links of the memories that `inside` (size,) allows, over all ids. The matrix is cached, and patched when few
        memories changed.
        """
        kept = self._matrix
        if kept is None or len(kept.inside) > len(inside):
            self._matrix = kept = _Matrix(self._build(inside), inside.copy())
        else:
            before = np.zeros_like(inside)
            before[: len(kept.inside)] = kept.inside
            turned = np.flatnonzero(before != inside)
            changed = self._changed.union(turned[self._about.count_values(turned) > 0].tolist())
            if len(changed) > _FEW:
                self._matrix = kept = _Matrix(self._build(inside), inside.copy())
            elif changed or len(inside) > len(kept.inside):
                wanted = {memory: self.about(memory) if inside[memory] else () for memory in sorted(changed)}
                self._matrix = kept = _Matrix(_patch(kept.csr, len(inside), wanted), inside.copy())
        self._changed.clear()
        return kept.csr

    def _build(self, inside: Mask) -> Csr:
        memories = np.flatnonzero(inside).astype(np.int32)
        counts = self._about.count_values(memories)
        memories = memories[counts > 0]
        sources = np.repeat(memories, counts[counts > 0])
        return Csr.of(len(inside), sources, self._about.gather(memories))

    def arrays(self) -> Arrays:
        return nest_arrays({"about": self._about.arrays(), "of": self._of.merge_all()})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._about = Log.from_arrays(select_part(arrays, "about"))
        self._of = Postings(segment=Segment.from_arrays(select_part(arrays, "of")))


def _patch(csr: Csr, n: int, wanted: Mapping[int, Sequence[int]]) -> Csr:
    """
    Return a matrix over `n` ids in which the given memories have new neighbours; memories link to anchors only, and anchors to
    memories only.
    """
    counts = np.zeros(n, dtype=np.int64)
    counts[: len(csr)] = np.diff(csr.indptr)
    old = _in_both_directions((m, a) for m in wanted if m < len(csr) for a in csr.neighbours(m).tolist())
    places = [int(csr.indptr[r]) + int(np.searchsorted(csr.neighbours(r), c)) for r, c in old]
    indices = np.delete(csr.indices, np.array(places, dtype=np.int64))
    for row, _ in old:
        counts[row] -= 1
    rest = Csr(begins_of(counts), indices)
    new = _in_both_directions((m, a) for m, anchors in wanted.items() for a in set(anchors))
    places = [int(rest.indptr[r]) + int(np.searchsorted(rest.neighbours(r), c)) for r, c in new]
    for row, _ in new:
        counts[row] += 1
    return Csr(
        begins_of(counts),
        np.insert(indices, np.array(places, dtype=np.int64), np.array([c for _, c in new], dtype=np.int32)),
    )


def _in_both_directions(arcs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return links in both directions, sorted by row."""
    links = list(arcs)
    return sorted([*links, *((b, a) for a, b in links)])


@register
class Successions(Index):
    """Which memory ended which: `mem:invalidates` in both directions, stored by IRI because either end may arrive first."""

    name = "successions"
    reads = frozenset({MEM.invalidates})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._ended: dict[IRI, tuple[IRI, ...]] = {}
        self._ending: dict[IRI, set[IRI]] = defaultdict(set)
        self._ends: set[int] | None = None  # the ids of both ends, and some that no longer are; None: not looked up yet

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "memory":
                said = record.statements.get(MEM.invalidates, ())
                self._put(record.iri, tuple(value for value in said if isinstance(value, IRI)))
                if self._ends is not None and (others := self.beside(node)):
                    self._ends.update((node, *others))

    def _put(self, memory: IRI, ended: tuple[IRI, ...]) -> None:
        for old in self._ended.pop(memory, ()):
            self._ending[old].discard(memory)
        if ended:
            self._ended[memory] = ended
            for old in ended:
                self._ending[old].add(memory)

    def drop(self, node: int) -> None:
        self._put(self.context.nodes.iri(node), ())

    def beside(self, memory: int) -> list[int]:
        """Return the memories that a memory ended and those that ended it, without those that have no id yet."""
        iri = self.context.nodes.iri(memory)
        if iri not in self._ended and iri not in self._ending:
            return []
        others = (*self._ended.get(iri, ()), *sorted(self._ending.get(iri, ())))
        return [node for other in others if (node := self.context.nodes.find(other)) is not None]

    def pairs(self, memories: Ids) -> list[tuple[int, int]]:
        """Return the successions that begin or end at the given memories, once each: pairs of ids, the smaller first, ascending."""
        if self._ends is None:
            found = map(self.context.nodes.find, {*self._ended, *self._ending})
            self._ends = {node for node in found if node is not None}
        ends = self._ends
        mine = [one for one in memories.tolist() if one in ends]
        return sorted({(min(one, other), max(one, other)) for one in mine for other in self.beside(one)})

    def arrays(self) -> Arrays:
        return nest_arrays(
            {
                "from": pack_strings([new for new, ended in self._ended.items() for _ in ended]),
                "to": pack_strings([old for ended in self._ended.values() for old in ended]),
            }
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        grouped: dict[IRI, list[IRI]] = defaultdict(list)
        ends = (unpack_strings(select_part(arrays, name)) for name in ("from", "to"))
        for new, old in zip(*ends, strict=True):
            grouped[IRI(new)].append(IRI(old))
        for memory, ended in grouped.items():
            self._put(memory, tuple(ended))


class Arc(NamedTuple):
    """One association, with its `weight` in 0..1 at the time `at`, in seconds since 1970."""

    source: int
    target: int
    relation: IRI
    weight: float
    at: float


class Columns(NamedTuple):
    """
    (m,) each: where associations begin and end, their weights, and the times at which they had these weights, in seconds since
    1970.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    at: NDArray[np.float64]


@register
class Associations(Index):
    """The associations of one store: direct weighted links between memories."""

    name = "associations"
    reads = frozenset({MEM.relation, MEM.lastReinforcedAt})
    learns_from = frozenset({MEM.Association})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._arcs: dict[IRI, Arc] = {}
        self._places: dict[IRI, int] = {}  # the column of each association
        self._free: list[int] = []
        self._ends = np.zeros((2, 0), dtype=np.int64)  # -1: this column is empty
        self._weights = np.zeros((2, 0))  # the weights, and since when
        self._walked: tuple[tuple[NDArray[Any], ...], Csr] | None = None
        self._of: dict[int, set[IRI]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._arcs)

    def apply(self, update: Update) -> None:
        for record in update.others:
            if MEM.Association in record.statements.get(TYPE, ()):
                self._learn(record)

    def _learn(self, record: Record) -> None:
        """Add or replace an association; do nothing when one of its ends is missing."""
        self.forget(record.iri)
        source, target = (self.context.nodes.find(IRI(record.first(end))) for end in (MEM["from"], MEM.to))
        if source is None or target is None:
            return
        at = record.time_of(MEM.lastReinforcedAt) or datetime.fromtimestamp(0, UTC)
        weight = float(record.first(MEM.weight) or 0.0)
        self._put(record.iri, Arc(source, target, IRI(record.first(MEM.relation)), weight, at.timestamp()))

    def forget(self, iri: IRI) -> None:
        arc = self._arcs.pop(iri, None)
        if arc is not None:
            self._free.append(place := self._places.pop(iri))
            self._ends[:, place] = -1
            for end in (arc.source, arc.target):
                self._of[end].discard(iri)

    def drop(self, node: int) -> None:
        """Remove all associations that start or end at a memory."""
        for iri in tuple(self._of.pop(node, ())):
            self.forget(iri)

    def find_dependents(self, iri: IRI) -> tuple[set[IRI], set[IRI]]:
        node = self.context.nodes.find(iri)
        return set() if node is None else set(self._of.get(node, ())), set()

    def arcs_of(self, node: int) -> list[tuple[IRI, Arc]]:
        """Return the associations that start or end at a memory, by IRI."""
        return [(iri, self._arcs[iri]) for iri in sorted(self._of.get(node, ()))]

    def find_arc(self, iri: IRI) -> Arc | None:
        """Return one association, or None."""
        return self._arcs.get(iri)

    def among(self, inside: Mask) -> Columns:
        """Return the associations whose two ends are both `inside` (size,)."""
        source, target = self._ends
        there = (source >= 0) & (np.maximum(source, target) < len(inside))
        there[there] = inside[source[there]] & inside[target[there]]
        return Columns(source[there], target[there], *self._weights[:, there])

    def csr(self, arcs: Columns, weights: NDArray[np.float64], size: int) -> Csr:
        """
        Return a matrix of the given associations over `size` ids with `weights` as their current weights; cached until one of the
        three changes.
        """
        parts = (arcs.source, arcs.target, weights)
        if self._walked is not None:
            before, kept = self._walked
            if len(kept) == size and all(map(np.array_equal, before, parts)):
                return kept
        made = Csr.of(size, arcs.source, arcs.target, weights)
        self._walked = (parts, made)
        return made

    def arrays(self) -> Arrays:
        arcs = list(self._arcs.values())
        return nest_arrays(
            {
                "": {
                    "ends": np.array([(arc.source, arc.target) for arc in arcs], dtype=np.int32).reshape(-1, 2),
                    "weights": np.array([(arc.weight, arc.at) for arc in arcs], dtype=np.float64).reshape(-1, 2),
                },
                "iris": pack_strings(list(self._arcs)),
                "relations": pack_strings([arc.relation for arc in arcs]),
            }
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        iris, relations = (unpack_strings(select_part(arrays, name)) for name in ("iris", "relations"))
        ends: Sequence[tuple[int, int]] = arrays["ends"].tolist()
        weights: Sequence[tuple[float, float]] = arrays["weights"].tolist()
        for iri, relation, (source, target), (weight, at) in zip(iris, relations, ends, weights, strict=True):
            self._put(IRI(iri), Arc(source, target, IRI(relation), weight, at))

    def _put(self, iri: IRI, arc: Arc) -> None:
        self._arcs[iri] = arc
        self._of[arc.source].add(iri)
        self._of[arc.target].add(iri)
        if not self._free:
            self._grow()
        self._places[iri] = place = self._free.pop()
        self._ends[:, place] = arc.source, arc.target
        self._weights[:, place] = arc.weight, arc.at

    def _grow(self) -> None:
        size = self._ends.shape[1]
        more = max(size, 64)
        self._ends = np.concatenate([self._ends, np.full((2, more), -1, dtype=np.int64)], axis=1)
        self._weights = np.concatenate([self._weights, np.zeros((2, more))], axis=1)
        self._free = list(range(size + more - 1, size - 1, -1))
