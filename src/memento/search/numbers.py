"""The numbers of memories that use moves, by dense id: a column for each, made when the first memory has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM
from memento.model import Strength, Value
from memento.search.archive import Arrays

Column = NDArray[np.float64]

KEPT: tuple[IRI, ...] = (
    *(MEM.importance, MEM.depth, MEM.energy, MEM.usefulness),
    *(MEM.accessCount, MEM.successCount, MEM.failureCount, MEM.lastAccessedAt, MEM.energyAt),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Numbers:
    """
    What the graph says of memories under the predicates `KEPT`; times are seconds since 1970. NaN is what it does not say.

    >>> numbers = Numbers()
    >>> numbers.put(3, {MEM.depth: [0.5]})
    >>> numbers.column(MEM.depth, np.array([3, 4])).tolist(), numbers.strength(3).depth
    ([0.5, nan], 0.5)
    """

    def __init__(self) -> None:
        self._columns: dict[IRI, Column] = {}

    def put(self, node: int, said: Mapping[IRI, Sequence[Value]]) -> None:
        """Set all numbers of a memory, in place of those it had."""
        for predicate in KEPT:
            value = _number(next(iter(said.get(predicate, ())), None))
            column = self._columns.get(predicate)
            if column is None or node >= len(column):
                if np.isnan(value):
                    continue
                column = self._columns[predicate] = _reaching(column, node)
            column[node] = value

    def drop(self, node: int) -> None:
        """Forget a memory's numbers; harmless when it has none."""
        self.put(node, {})

    def column(self, predicate: IRI, nodes: NDArray[np.integer]) -> Column:
        """(n,) one number of some memories."""
        found = np.full(len(nodes), np.nan)
        column = self._columns.get(predicate)
        if column is not None:
            there = np.flatnonzero(nodes < len(column))
            found[there] = column[nodes[there]]
        return found

    def strength(self, node: int) -> Strength:
        """All numbers of one memory."""
        values = [float(self.column(predicate, np.array([node]))[0]) for predicate in KEPT]
        importance, depth, energy, usefulness = (None if np.isnan(value) else value for value in values[:4])
        counts = [0 if np.isnan(value) else int(value) for value in values[4:7]]
        return Strength(
            importance=importance,
            depth=depth or 0.0,
            energy=energy,
            usefulness=usefulness,
            access_count=counts[0],
            success_count=counts[1],
            failure_count=counts[2],
            last_accessed_at=_time(values[7]),
            energy_at=_time(values[8]),
        )

    def arrays(self) -> Arrays:
        """What is to be kept."""
        return {predicate.rsplit("/", 1)[-1]: column for predicate, column in self._columns.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave; they are written to."""
        numbers = cls()
        numbers._columns = {MEM[name]: column for name, column in arrays.items()}
        return numbers


def _number(value: Value | None) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else float("nan")


def _time(seconds: float) -> datetime | None:
    return None if np.isnan(seconds) else _EPOCH + timedelta(milliseconds=round(seconds * 1000))


def _reaching(column: Column | None, node: int) -> Column:
    """The same, long enough for a node."""
    old = np.zeros(0) if column is None else column
    more = max(node + 1, 2 * len(old), 64) - len(old)
    return np.concatenate([old, np.full(more, np.nan)])
