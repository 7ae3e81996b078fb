"""
The single values of a memory that ranking reads: the numbers that use changes, and how far energies have decayed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE, tag_name
from memento.model import Filter, Strength, Value
from memento.rank import Decay
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, Index, Update, register
from memento.search.nodes import EXPLICIT, Record

Column = NDArray[np.float64]

NUMBERS: tuple[IRI, ...] = (
    *(MEM.importance, MEM.depth, MEM.energy, MEM.usefulness),
    *(MEM.accessCount, MEM.successCount, MEM.failureCount, MEM.lastAccessedAt, MEM.energyAt),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@register
class Numbers(Index):
    """
    The numbers of memories, under the predicates `NUMBERS`. Times are seconds since 1970; NaN stands for a value that the graph
    lacks.

    >>> numbers = Numbers()
    >>> numbers.put(3, {MEM.depth: [0.5]})
    >>> numbers.column(MEM.depth, np.array([3, 4])).tolist(), numbers.strength(3).depth
    ([0.5, nan], 0.5)
    """

    name = "numbers"
    reads = frozenset(NUMBERS)
    follows_use = True

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._columns: dict[IRI, Column] = {}

    def put(self, node: int, statements: Mapping[IRI, Sequence[Value]]) -> None:
        """Replace all numbers of a memory."""
        for predicate in NUMBERS:
            value = to_number(next(iter(statements.get(predicate, ())), None))
            column = self._columns.get(predicate)
            if column is None or node >= len(column):
                if np.isnan(value):
                    continue
                column = self._columns[predicate] = _lengthen(column, node)
            column[node] = value

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "memory":
                self.put(node, record.statements)

    def fill(self, everything: Everything) -> None:
        memories = [(node, record.statements) for node, record in everything.nodes if record.kind == "memory"]
        for predicate in NUMBERS:
            said = [(node, to_number(values[0])) for node, of in memories if (values := of.get(predicate))]
            if found := {node: value for node, value in said if not np.isnan(value)}:
                column = self._columns[predicate] = _lengthen(None, max(found))
                column[[*found]] = [*found.values()]

    def drop(self, node: int) -> None:
        """Remove a memory's numbers; harmless when it has none."""
        self.put(node, {})

    def column(self, predicate: IRI, nodes: NDArray[np.integer]) -> Column:
        """Return (n,) one number of the given memories."""
        values = np.full(len(nodes), np.nan)
        column = self._columns.get(predicate)
        if column is not None:
            there = np.flatnonzero(nodes < len(column))
            values[there] = column[nodes[there]]
        return values

    def strength(self, node: int) -> Strength:
        """Return all numbers of one memory."""
        values = [float(self.column(predicate, np.array([node]))[0]) for predicate in NUMBERS]
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
        return {predicate.rsplit("/", 1)[-1]: column for predicate, column in self._columns.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._columns = {MEM[name]: column for name, column in arrays.items()}


def to_number(value: Value | None) -> float:
    """Return a number, or an instant in seconds since 1970, as a number; NaN for anything else."""
    if isinstance(value, datetime):
        return value.timestamp()
    return float(value) if isinstance(value, int | float) else float("nan")


def _time(seconds: float) -> datetime | None:
    return None if np.isnan(seconds) else _EPOCH + timedelta(milliseconds=round(seconds * 1000))


def _lengthen(column: Column | None, node: int) -> Column:
    """Return the column extended so that it has a place for the node."""
    old = np.zeros(0) if column is None else column
    more = max(node + 1, 2 * len(old), 64) - len(old)
    return np.concatenate([old, np.full(more, np.nan)])


@register
class Sorting(Index):
    """
    The values that memories are filtered by: their tags, their container, and the source of their notes unless that is the default.

    *Because:* nearly all memories of an import have the same source; a number for each takes a tenth of the space of a set.
    """

    name = "sorting"
    reads = frozenset({MEM.tagged, MEM.container, MEM.source})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._names: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}
        self._columns: dict[IRI, NDArray[np.int32]] = {one: np.zeros(0, dtype=np.int32) for one in _SORTED_BY}
        self._tagged: dict[str, set[int]] = defaultdict(set)
        self._tags: dict[int, tuple[str, ...]] = {}

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "memory":
                self.drop(node)
                self._set_marks(node, self._read_marks(record))

    def drop(self, node: int) -> None:
        for tag in self._tags.pop(node, ()):
            self._tagged[tag].discard(node)
        for column in self._columns.values():
            if node < len(column):
                column[node] = 0

    def holds(self, node: int, record: Record) -> bool:
        if record.kind != "memory":
            return True
        values = [self._names[column[node]] if node < len(column) else "" for column in self._columns.values()]
        return (self._tags.get(node, ()), *values) == self._read_marks(record)

    def tags_of(self, node: int) -> tuple[str, ...]:
        """Return the names of a memory's tags, sorted."""
        return tuple(tag_name(IRI(tag)) for tag in self._tags.get(node, ()))

    def list_tagged(self, tag: IRI) -> list[int]:
        """Return the memories with a tag, ascending."""
        return sorted(self._tagged.get(tag, ()))

    def count_tags(self, visible: NDArray[np.bool_]) -> dict[IRI, int]:
        """Count how many of the given memories have each tag; tags without a memory are left out."""
        counts = {IRI(tag): sum(bool(visible[node]) for node in nodes) for tag, nodes in self._tagged.items()}
        return {tag: count for tag, count in counts.items() if count}

    def filter_nodes(self, wanted: Filter, size: int) -> NDArray[np.bool_]:
        """Return (size,) the nodes whose tags, container and source match the filter."""
        chosen = np.ones(size, dtype=np.bool_)
        if wanted.tags:
            nodes = set[int]().union(*(self._tagged.get(tag, ()) for tag in wanted.tags))
            chosen[:] = False
            chosen[list(nodes)] = True
        if wanted.container is not None:
            chosen &= self._column(MEM.container, size) == self._numbers.get(wanted.container, -1)
        if wanted.source is not None:
            number = 0 if wanted.source == EXPLICIT else self._numbers.get(wanted.source, -1)
            chosen &= self._column(MEM.source, size) == number
        return chosen

    def arrays(self) -> Arrays:
        pairs = [(node, tag) for node, tags in self._tags.items() for tag in tags]
        columns = {name.rsplit("/", 1)[-1]: column for name, column in self._columns.items()}
        tagged = {"nodes": np.array([node for node, _ in pairs], dtype=np.int32)}
        return nest_arrays(
            {
                "": {**columns, **tagged},
                "tags": pack_strings([tag for _, tag in pairs]),
                "names": pack_strings(self._names),
            }
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._names = unpack_strings(select_part(arrays, "names"))
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._columns = {one: arrays[one.rsplit("/", 1)[-1]] for one in _SORTED_BY}
        for node, tag in zip(arrays["nodes"].tolist(), unpack_strings(select_part(arrays, "tags")), strict=True):
            self._tags[node] = (*self._tags.get(node, ()), tag)
            self._tagged[tag].add(node)

    def _read_marks(self, record: Record) -> tuple[tuple[str, ...], str, str]:
        source = self.context.sources.get(IRI(record.first(MEM.extractedFrom)), "")
        tags = tuple(sorted(str(tag) for tag in record.statements.get(MEM.tagged, ())))
        return tags, record.first(MEM.container), source

    def _set_marks(self, node: int, marks: tuple[tuple[str, ...], str, str]) -> None:
        tags, *values = marks
        if tags:
            self._tags[node] = tags
        for tag in tags:
            self._tagged[tag].add(node)
        for predicate, value in zip(_SORTED_BY, values, strict=True):
            if value:
                if value not in self._numbers:
                    self._numbers[value] = len(self._names)
                    self._names.append(value)
                if node >= len(self._columns[predicate]):
                    self._columns[predicate] = self._column(
                        predicate, max(node + 1, 64, 2 * len(self._columns[predicate]))
                    )
                self._columns[predicate][node] = self._numbers[value]

    def _column(self, predicate: IRI, size: int) -> NDArray[np.int32]:
        column = self._columns[predicate]
        return np.pad(column, (0, size - len(column))) if size > len(column) else column[:size]


_SORTED_BY = (MEM.container, MEM.source)


@register
class Fadings(Index):
    """The decay records of one store, by IRI, and their sum for each graph."""

    name = "fadings"
    reads = frozenset({MEM.fades, MEM.halfLife})
    learns_from = frozenset({MEM.Fading})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._spans: dict[IRI, tuple[IRI, datetime, float]] = {}
        self._decays: dict[IRI, Decay] = {}

    def apply(self, update: Update) -> None:
        for record in update.others:
            until, half_life = record.time_of(MEM.at), record.first(MEM.halfLife)
            if MEM.Fading in record.statements.get(TYPE, ()) and until and half_life:
                self._spans[record.iri] = (record.graph, until, float(half_life))
                self._decays.clear()

    def drop(self, node: int) -> None:
        """Do nothing: a decay record is not a node."""

    def forget(self, iri: IRI) -> None:
        if self._spans.pop(iri, None):
            self._decays.clear()

    def decay_of(self, graph: IRI) -> Decay:
        """Return how far the energies of a graph have decayed."""
        decay = self._decays.get(graph)
        if decay is None:
            marks = sorted((until, half_life) for name, until, half_life in self._spans.values() if name == graph)
            decay = self._decays[graph] = Decay(tuple(marks))
        return decay

    def arrays(self) -> Arrays:
        spans = list(self._spans.values())
        return nest_arrays(
            {
                "": {
                    "until": np.array([until.timestamp() for _, until, _ in spans]),
                    "half-lives": np.array([half_life for _, _, half_life in spans]),
                },
                "iris": pack_strings(list(self._spans)),
                "graphs": pack_strings([graph for graph, _, _ in spans]),
            }
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        iris, graphs = (unpack_strings(select_part(arrays, name)) for name in ("iris", "graphs"))
        times, half_lives = arrays["until"].tolist(), arrays["half-lives"].tolist()
        for iri, graph, until, half_life in zip(iris, graphs, times, half_lives, strict=True):
            self._spans[IRI(iri)] = (IRI(graph), datetime.fromtimestamp(until, UTC), half_life)
