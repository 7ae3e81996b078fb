"""Which memory is about which anchor, in memory, and the matrix that walks need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.rank.walks import Csr
from memento.search.archive import nested, part
from memento.search.nodes import Ids, Mask
from memento.search.postings import Postings
from memento.search.ragged import Log
from memento.search.segment import Arrays, Segment


class Adjacency:
    """Undirected edges between memories and anchors, by dense id."""

    def __init__(self) -> None:
        self._about = Log(np.int32)
        self._of = Postings()  # an anchor is a term of the memories about it
        self._revision = 0
        self._matrix: tuple[tuple[int, bytes], Csr] | None = None

    def put(self, memory: int, anchors: Sequence[int]) -> None:
        """Say what a memory is about, in place of what was said before."""
        if self.about(memory) == tuple(anchors):
            return
        self._about.put(memory, anchors)
        self._of.add_keys(memory, anchors)
        self._revision += 1

    def drop(self, memory: int) -> None:
        """Take a memory's edges away; harmless when it has none."""
        if self.about(memory):
            self._about.put(memory, ())
            self._of.remove(memory)
            self._revision += 1

    def fill(self, about: Mapping[int, Sequence[int]]) -> None:
        """Say it of many memories where nothing is said: the same as `put` for each, in a fraction of the time."""
        nodes = np.array(sorted(about), dtype=np.int32)
        counts = np.array([len(about[node]) for node in nodes.tolist()], dtype=np.int32)
        flat = np.array([anchor for node in nodes.tolist() for anchor in about[node]], dtype=np.int32)
        self._about = Log.of(nodes, counts, flat)
        self._of = Postings(segment=Segment.of(nodes, counts, counts, flat.astype(np.int64)))
        self._revision += 1

    def about(self, memory: int) -> tuple[int, ...]:
        """The anchors of a memory, in the order they were put."""
        return tuple(self._about.get(memory).tolist())

    def memories(self, anchor: int) -> Ids:
        """The memories about an anchor, in no order."""
        found = self._of.having(anchor)
        return np.zeros(0, dtype=np.int32) if found is None else found[0]

    def degree(self, anchor: int) -> int:
        """How many memories are about an anchor, retired ones included."""
        return self._of.frequency(anchor)

    def matrix(self, inside: Mask) -> Csr:
        """
        The links of the memories that `inside` (size,) allows, over all ids; kept until an edge or the mask changes.
        """
        key = (self._revision, np.packbits(inside).tobytes())
        if self._matrix is None or self._matrix[0] != key:
            memories = np.flatnonzero(inside).astype(np.int32)
            counts = self._about.count(memories)
            memories = memories[counts > 0]
            sources = np.repeat(memories, counts[counts > 0])
            self._matrix = (key, Csr.of(len(inside), sources, self._about.gathered(memories)))
        return self._matrix[1]

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
