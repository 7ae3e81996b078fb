"""Which memory is about which anchor, in memory: edge arrays that grow, and the matrix that walks need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memento.rank.walks import Csr
from memento.search.nodes import Ids, Mask


class Adjacency:
    """Undirected edges between memories and anchors, by dense id."""

    def __init__(self) -> None:
        self._about: dict[int, tuple[int, ...]] = {}
        self._degree: dict[int, int] = {}
        self._revision = 0
        self._edges: tuple[Ids, Ids] | None = None
        self._matrix: tuple[tuple[int, bytes], Csr] | None = None

    def put(self, memory: int, anchors: Sequence[int]) -> None:
        """Say what a memory is about, in place of what was said before."""
        if self._about.get(memory) == tuple(anchors):
            return
        self.drop(memory)
        self._about[memory] = tuple(anchors)
        for anchor in anchors:
            self._degree[anchor] = self._degree.get(anchor, 0) + 1
        self._changed()

    def drop(self, memory: int) -> None:
        """Take a memory's edges away; harmless when it has none."""
        for anchor in self._about.pop(memory, ()):
            self._degree[anchor] -= 1
            self._changed()

    def about(self, memory: int) -> tuple[int, ...]:
        """The anchors of a memory, in the order they were put."""
        return self._about.get(memory, ())

    def memories(self, anchor: int) -> Ids:
        """The memories about an anchor, in no order."""
        memories, anchors = self._arrays()
        return memories[np.flatnonzero(anchors == anchor)]

    def degree(self, anchor: int) -> int:
        """How many memories are about an anchor, retired ones included."""
        return self._degree.get(anchor, 0)

    def matrix(self, inside: Mask) -> Csr:
        """
        The links of the memories that `inside` (size,) allows, over all ids; kept until an edge or the mask changes.
        """
        key = (self._revision, np.packbits(inside).tobytes())
        if self._matrix is None or self._matrix[0] != key:
            memories, anchors = self._arrays()
            kept = inside[memories]
            self._matrix = (key, Csr.of(len(inside), memories[kept], anchors[kept]))
        return self._matrix[1]

    def _arrays(self) -> tuple[Ids, Ids]:
        if self._edges is None:
            counts = [len(anchors) for anchors in self._about.values()]
            memories = np.repeat(np.fromiter(self._about, dtype=np.int32, count=len(self._about)), counts)
            flat = (anchor for anchors in self._about.values() for anchor in anchors)
            self._edges = (memories, np.fromiter(flat, dtype=np.int32, count=sum(counts)))
        return self._edges

    def _changed(self) -> None:
        self._revision += 1
        self._edges = None
