"""How far the energies of each graph have been let fade."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.dynamics import Decay
from memento.search.archive import Arrays, nested, part, strings, unpacked
from memento.search.found import Found
from memento.vocabulary import IRI, MEM, TYPE


class Fadings:
    """The fadings of one store, by IRI, and what they come to for each graph."""

    def __init__(self) -> None:
        self._spans: dict[IRI, tuple[IRI, datetime, float]] = {}
        self._decays: dict[IRI, Decay] = {}

    def learn(self, one: Found) -> None:
        """Put a fading of the graph that it lies in, or replace it; nothing for anything else."""
        until, half_life = one.time_of(MEM.at), one.one(MEM.halfLife)
        if MEM.Fading in one.said.get(TYPE, ()) and until and half_life:
            self._spans[one.iri] = (one.graph, until, float(half_life))
            self._decays.clear()

    def unlearn(self, iri: IRI) -> None:
        """Forget a fading; harmless for anything else."""
        if self._spans.pop(iri, None):
            self._decays.clear()

    def of(self, graph: IRI) -> Decay:
        """How far the energies of a graph have faded."""
        found = self._decays.get(graph)
        if found is None:
            marks = sorted((until, half_life) for name, until, half_life in self._spans.values() if name == graph)
            found = self._decays[graph] = Decay(tuple(marks))
        return found

    def arrays(self) -> Arrays:
        """What is to be kept."""
        spans = list(self._spans.values())
        return nested(
            {
                "": {
                    "until": np.array([until.timestamp() for _, until, _ in spans]),
                    "half-lives": np.array([half_life for _, _, half_life in spans]),
                },
                "iris": strings(list(self._spans)),
                "graphs": strings([graph for graph, _, _ in spans]),
            }
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave."""
        found = cls()
        iris, graphs = (unpacked(part(arrays, name)) for name in ("iris", "graphs"))
        times, half_lives = arrays["until"].tolist(), arrays["half-lives"].tolist()
        for iri, graph, until, half_life in zip(iris, graphs, times, half_lives, strict=True):
            found._spans[IRI(iri)] = (IRI(graph), datetime.fromtimestamp(until, UTC), half_life)
        return found
