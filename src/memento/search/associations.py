"""Which memories lead to which others by a link of their own, in what way and how strongly, by dense id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from memento.search.archive import Arrays, nested, part, strings, unpacked
from memento.search.found import Found
from memento.search.nodes import Mask, Nodes
from memento.vocabulary import IRI, MEM, TYPE


class Arc(NamedTuple):
    """One association: `weight` in 0..1 as it was at `at`, in seconds since 1970."""

    source: int
    target: int
    relation: IRI
    weight: float
    at: float


class Associations:
    """The associations of one store."""

    def __init__(self) -> None:
        self._arcs: dict[IRI, Arc] = {}
        self._of: dict[int, set[IRI]] = defaultdict(set)
        self.version = 0
        """Another number whenever something has changed."""

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
            self.version += 1
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

    def arcs(self, inside: Mask) -> list[tuple[IRI, Arc]]:
        """Those whose ends are both `inside` (size,)."""
        size = len(inside)
        return [
            (iri, arc)
            for iri, arc in self._arcs.items()
            if arc.source < size and arc.target < size and inside[arc.source] and inside[arc.target]
        ]

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
        self.version += 1
