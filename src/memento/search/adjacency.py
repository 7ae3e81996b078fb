"""Which memory is about which anchor, in memory, and the matrix that walks need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.rank.walks import Csr
from memento.search.archive import nested, part
from memento.search.nodes import Ids, Mask
from memento.search.postings import Postings
from memento.search.ragged import Log, begins_of
from memento.search.segment import Arrays, Segment

_FEW = 2000
"""Changed memories up to which the matrix is patched: two copies of it, instead of sorting all links anew."""


@dataclass(frozen=True, slots=True)
class _Matrix:
    csr: Csr
    inside: Mask


class Adjacency:
    """Undirected edges between memories and anchors, by dense id."""

    def __init__(self) -> None:
        self._about = Log(np.int32)
        self._of = Postings()  # an anchor is a term of the memories about it
        self._matrix: _Matrix | None = None
        self._changed: set[int] = set()  # memories, since the matrix was made

    def put(self, memory: int, anchors: Sequence[int]) -> None:
        """Say what a memory is about, in place of what was said before."""
        if self.about(memory) == tuple(anchors):
            return
        self._about.put(memory, anchors)
        self._of.add_keys(memory, anchors)
        self._changed.add(memory)

    def drop(self, memory: int) -> None:
        """Take a memory's edges away; harmless when it has none."""
        if self.about(memory):
            self._about.put(memory, ())
            self._of.remove(memory)
            self._changed.add(memory)

    def fill(self, about: Mapping[int, Sequence[int]]) -> None:
        """Say it of many memories where nothing is said: the same as `put` for each, in a fraction of the time."""
        nodes = np.array(sorted(about), dtype=np.int32)
        counts = np.array([len(about[node]) for node in nodes.tolist()], dtype=np.int32)
        flat = np.array([anchor for node in nodes.tolist() for anchor in about[node]], dtype=np.int32)
        self._about = Log.of(nodes, counts, flat)
        self._of = Postings(segment=Segment.of(nodes, counts, counts, flat.astype(np.int64)))
        self._matrix = None

    def about(self, memory: int) -> tuple[int, ...]:
        """The anchors of a memory, in the order they were put."""
        return tuple(self._about.get(memory).tolist())

    def memories(self, anchor: int) -> Ids:
        """The memories about an anchor, in no order."""
        found = self._of.having(anchor)
        return np.zeros(0, dtype=np.int32) if found is None else found[0]

    def counts(self, memories: Ids) -> Ids:
        """(n,) how many anchors each of some memories is about."""
        return self._about.count(memories)

    def arcs(self, memories: Ids) -> tuple[Ids, Ids]:
        """What some memories are about, as two columns: (memories, anchors)."""
        counts = self._about.count(memories)
        some = memories[counts > 0]
        return np.repeat(some, counts[counts > 0]), self._about.gathered(some)

    def degree(self, anchor: int) -> int:
        """How many memories are about an anchor, retired ones included."""
        return self._of.frequency(anchor)

    def matrix(self, inside: Mask) -> Csr:
        """
        The links of the memories that `inside` (size,) allows, over all ids; kept, and patched where few memories have changed.
        """
        kept = self._matrix
        if kept is None or len(kept.inside) > len(inside):
            self._matrix = kept = _Matrix(self._csr(inside), inside.copy())
        else:
            before = np.zeros_like(inside)
            before[: len(kept.inside)] = kept.inside
            turned = np.flatnonzero(before != inside)
            changed = self._changed.union(turned[self._about.count(turned) > 0].tolist())
            if len(changed) > _FEW:
                self._matrix = kept = _Matrix(self._csr(inside), inside.copy())
            elif changed or len(inside) > len(kept.inside):
                wanted = {memory: self.about(memory) if inside[memory] else () for memory in sorted(changed)}
                self._matrix = kept = _Matrix(_patched(kept.csr, len(inside), wanted), inside.copy())
        self._changed.clear()
        return kept.csr

    def _csr(self, inside: Mask) -> Csr:
        memories = np.flatnonzero(inside).astype(np.int32)
        counts = self._about.count(memories)
        memories = memories[counts > 0]
        sources = np.repeat(memories, counts[counts > 0])
        return Csr.of(len(inside), sources, self._about.gathered(memories))

    def arrays(self) -> Arrays:
        """What is to be kept."""
        return nested({"about": self._about.arrays(), "of": self._of.settle()})

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave."""
        adjacency = cls()
        adjacency._about = Log.from_arrays(part(arrays, "about"))
        adjacency._of = Postings(segment=Segment.from_arrays(part(arrays, "of")))
        return adjacency


def _patched(csr: Csr, n: int, wanted: Mapping[int, Sequence[int]]) -> Csr:
    """A matrix over `n` ids in which some memories have other neighbours; memories and anchors have none of their own kind."""
    counts = np.zeros(n, dtype=np.int64)
    counts[: len(csr)] = np.diff(csr.indptr)
    old = _both((m, a) for m in wanted if m < len(csr) for a in csr.neighbours(m).tolist())
    places = [int(csr.indptr[r]) + int(np.searchsorted(csr.neighbours(r), c)) for r, c in old]
    indices = np.delete(csr.indices, np.array(places, dtype=np.int64))
    for row, _ in old:
        counts[row] -= 1
    rest = Csr(begins_of(counts), indices)
    new = _both((m, a) for m, anchors in wanted.items() for a in set(anchors))
    places = [int(rest.indptr[r]) + int(np.searchsorted(rest.neighbours(r), c)) for r, c in new]
    for row, _ in new:
        counts[row] += 1
    return Csr(
        begins_of(counts),
        np.insert(indices, np.array(places, dtype=np.int64), np.array([c for _, c in new], dtype=np.int32)),
    )


def _both(arcs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Links in both directions, row after row."""
    found = list(arcs)
    return sorted([*found, *((b, a) for a, b in found)])
