"""Which memories lead to which others by a link of their own, in what way and how strongly, by dense id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE
from memento.rank.walks import Csr
from memento.search.archive import Arrays, nested, part, strings, unpacked
from memento.search.found import Found
from memento.search.nodes import Mask, Nodes


class Arc(NamedTuple):
    """One association: `weight` in 0..1 as it was at `at`, in seconds since 1970."""

    source: int
    target: int
    relation: IRI
    weight: float
    at: float


class Columns(NamedTuple):
    """(m,) each: where associations begin and end, their weights as they were, and when, in seconds since 1970."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    at: NDArray[np.float64]


class Associations:
    """The associations of one store."""

    def __init__(self) -> None:
        self._arcs: dict[IRI, Arc] = {}
        self._places: dict[IRI, int] = {}  # in the columns
        self._free: list[int] = []
        self._ends = np.zeros((2, 0), dtype=np.int64)  # -1: nothing stands there
        self._weights = np.zeros((2, 0))  # and since when they are that
        self._walked: tuple[tuple[NDArray[Any], ...], Csr] | None = None
        self._of: dict[int, set[IRI]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._arcs)

    def learn(self, one: Found, nodes: Nodes) -> None:
        """Put an association, or replace what is known of it; nothing for anything else, or when an end of it is not there."""
        if MEM.Association not in one.said.get(TYPE, ()):
            return
        self.unlearn(one.iri)
        source, target = (nodes.find(IRI(one.one(end))) for end in (MEM["from"], MEM.to))
        if source is None or target is None:
            return
        at = one.time_of(MEM.lastReinforcedAt) or datetime.fromtimestamp(0, UTC)
        weight = float(one.one(MEM.weight) or 0.0)
        self._put(one.iri, Arc(source, target, IRI(one.one(MEM.relation)), weight, at.timestamp()))

    def unlearn(self, iri: IRI) -> None:
        """Forget an association; harmless for anything else."""
        arc = self._arcs.pop(iri, None)
        if arc is not None:
            self._free.append(place := self._places.pop(iri))
            self._ends[:, place] = -1
            for end in (arc.source, arc.target):
                self._of[end].discard(iri)

    def drop(self, node: int) -> None:
        """Forget all that lead from a memory or to it."""
        for iri in tuple(self._of.pop(node, ())):
            self.unlearn(iri)

    def of(self, node: int) -> list[tuple[IRI, Arc]]:
        """Those that lead from a memory or to it, by IRI."""
        return [(iri, self._arcs[iri]) for iri in sorted(self._of.get(node, ()))]

    def get(self, iri: IRI) -> Arc | None:
        """One of them, or None."""
        return self._arcs.get(iri)

    def among(self, inside: Mask) -> Columns:
        """Those whose ends are both `inside` (size,)."""
        source, target = self._ends
        there = (source >= 0) & (np.maximum(source, target) < len(inside))
        there[there] = inside[source[there]] & inside[target[there]]
        return Columns(source[there], target[there], *self._weights[:, there])

    def csr(self, arcs: Columns, weights: NDArray[np.float64], size: int) -> Csr:
        """Some of them over `size` ids, weighing `weights` now; kept until something of that is another."""
        parts = (arcs.source, arcs.target, weights)
        if self._walked is not None:
            before, kept = self._walked
            if len(kept) == size and all(map(np.array_equal, before, parts)):
                return kept
        made = Csr.of(size, arcs.source, arcs.target, weights)
        self._walked = (parts, made)
        return made

    def arrays(self) -> Arrays:
        """What is to be kept."""
        arcs = list(self._arcs.values())
        return nested(
            {
                "": {
                    "ends": np.array([(arc.source, arc.target) for arc in arcs], dtype=np.int32).reshape(-1, 2),
                    "weights": np.array([(arc.weight, arc.at) for arc in arcs], dtype=np.float64).reshape(-1, 2),
                },
                "iris": strings(list(self._arcs)),
                "relations": strings([arc.relation for arc in arcs]),
            }
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave."""
        found = cls()
        iris, relations = (unpacked(part(arrays, name)) for name in ("iris", "relations"))
        ends: Sequence[tuple[int, int]] = arrays["ends"].tolist()
        weights: Sequence[tuple[float, float]] = arrays["weights"].tolist()
        for iri, relation, (source, target), (weight, at) in zip(iris, relations, ends, weights, strict=True):
            found._put(IRI(iri), Arc(source, target, IRI(relation), weight, at))
        return found

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
