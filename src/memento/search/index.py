"""
What a derived index is, where it registers, and what all indexes of one store share.

A new index is one file of this room: a class that extends `Index`, decorated with `@register`. From then on it is filled at
start, follows every write, is checked against the graph, kept for the next start, and rebuilt, without being named anywhere
else. Without its line `@register` it is gone, and whoever asks the `Context` for it gets an empty one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE
from memento.ports import Vectors
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.nodes import BASE, Edge, Kind, Nodes, Record
from memento.search.postings import StemNumbers, Vocabulary
from memento.search.vectors import VectorFile
from memento.settings import Above

FLAT = 200_000
"""Vectors of a kind up to which a search looks at every one."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Placed = tuple[int, Record]
"""A node that has an id, and its record."""


@dataclass(slots=True)
class Update:
    """Records that the indexes follow, when their nodes have ids and places in `Context.nodes`."""

    nodes: Sequence[Placed]
    """Anchors and keys before memories, or all by ascending id."""
    fresh: Sequence[Placed] = ()
    """Those of the nodes that have a new text."""
    others: Sequence[Record] = ()
    """Records of what is no node: notes, keys that denote an anchor, associations, invalidations."""
    vectors: Mapping[int, Vectors] = field(default_factory=dict)
    """(windows, d) of the fresh ones."""


@dataclass(slots=True)
class Everything(Update):
    """All records of the graph, as `Index.fill` takes them; every node is a fresh one."""

    edges: Sequence[Edge] = field(kw_only=True)
    """Every link from a key to a memory."""
    numbers: StemNumbers = field(kw_only=True)
    """Stems the words of all indexes, each different one once."""
    _by_graph: dict[Kind, dict[IRI, list[Placed]]] = field(default_factory=dict)
    _stems: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    def by_graph(self, kind: Kind) -> Mapping[IRI, Sequence[Placed]]:
        """Return the nodes of a kind, by the graph that describes them."""
        if not self._by_graph:
            grouped: dict[Kind, dict[IRI, list[Placed]]] = {
                name: defaultdict(list) for name in ("memory", "anchor", "key")
            }
            for placed in self.nodes:
                grouped[cast(Kind, placed[1].kind)][placed[1].graph].append(placed)
            self._by_graph = grouped
        return self._by_graph[kind]

    def stem(self, node: int, record: Record) -> tuple[list[int], list[int]]:
        """Return the stems of a memory's title and content by their numbers; each text is stemmed once for all indexes."""
        stems = self._stems.get(node)
        if stems is None:
            title = record.first(MEM.title)
            of_title = self.numbers.number_stems(title) if title else []
            stems = self._stems[node] = (of_title, self.numbers.number_stems(record.first(MEM.content)))
        return stems


class Context:
    """
    The indexes of one store as each of them sees the others: ids, numbers of words, and what other records say of a record.

    The index of a class is `context[class]`. Iterating gives the registered ones.
    """

    def __init__(self, dimensions: int = 0, flat: int = FLAT, above: Above = "ivf") -> None:
        """
        Args:
            dimensions: numbers of a vector.
            flat: vectors of a kind up to which a search looks at every one.
            above: what is searched where there are more.
        """
        self.dimensions, self.flat, self.above = dimensions, flat, above
        self.clear()

    def clear(self) -> None:
        """Empty everything that is in memory."""
        self.nodes = Nodes()
        self.vocabulary = Vocabulary()
        self.names: dict[IRI, str] = {}
        """What each anchor and each key is called."""
        self.retired_at: dict[IRI, datetime] = {}
        """When Memento learned that a memory was over."""
        self.turn_places: dict[IRI, tuple[IRI, int] | None] = {}
        """The session and position of each note that was read; None for one of no conversation."""
        self.sources: dict[IRI, str] = {}
        """How each note that was read came in, where that was not on purpose."""
        self._indexes: dict[type[Index], Index] = {kind: kind(self) for kind in find_registered()}

    def __getitem__(self, kind: type[I]) -> I:
        index = self._indexes.get(kind)
        return cast(I, index if index is not None else kind(self))

    def __iter__(self) -> Iterator[Index]:
        return iter(self._indexes.values())

    def replace_index(self, index: Index) -> None:
        """Let another index of the same class be the one that is asked."""
        self._indexes[type(index)] = index

    def name(self, anchor: IRI) -> str:
        """Return what an anchor is called; empty for one that is not known."""
        return self.names.get(anchor, "")

    def text(self, record: Record) -> str:
        """Return what is embedded and searched for of a node; anchors must be learned before."""
        return record.text(self.names)

    def turn_place(self, record: Record) -> tuple[IRI, int] | None:
        """Return the session and position of a memory's note; None where it belongs to no conversation."""
        return self.turn_places.get(IRI(record.first(MEM.extractedFrom)))

    def learn(self, record: Record) -> None:
        """Learn what an anchor is called, or whether a note is a turn and how it came in: the records of memories need it."""
        if record.kind in ("anchor", "key"):
            self.names[record.iri] = record.name
        elif session := record.first(MEM.session):
            self.turn_places[record.iri] = (IRI(session), int(record.first(MEM.position) or 0))
        elif record.kind is None and MEM.Note in record.statements.get(TYPE, ()):
            self.turn_places[record.iri] = None
        if record.kind is None and (source := record.first(MEM.source)) and source != "explicit":
            self.sources[record.iri] = source

    def learn_end(self, record: Record) -> None:
        """Learn from an Invalidation, before its memory is placed, when a memory was known to be over; the first one counts."""
        if MEM.Invalidation not in record.statements.get(TYPE, ()):
            return
        at = record.time_of(MEM.at)
        for value in record.statements.get(MEM.invalidated, ()):
            if at is not None and isinstance(value, IRI):
                self.retired_at[value] = min(at, self.retired_at.get(value, at))

    def unlearn(self, iri: IRI) -> None:
        """Forget what `learn` and `learn_end` know of a node."""
        self.names.pop(iri, None)
        self.retired_at.pop(iri, None)
        self.turn_places.pop(iri, None)
        self.sources.pop(iri, None)

    def arrays(self) -> Arrays:
        """Return what is to be kept of all indexes, each settled before."""
        for index in self:
            index.complete()
        ends = self.retired_at.values()
        parts: dict[str, Mapping[str, NDArray[Any]]] = {index.name: index.arrays() for index in self}
        parts["nodes"] = self.nodes.arrays()
        parts["names/iris"], parts["names/names"] = (
            pack_strings(list(self.names)),
            pack_strings(list(self.names.values())),
        )
        parts["retired/iris"] = pack_strings(list(self.retired_at))
        parts["retired"] = {"at": np.array([(at - _EPOCH) / timedelta(microseconds=1) for at in ends])}
        parts["vocabulary"] = pack_strings(self.vocabulary.word_list())  # last: to settle may learn words
        return nest_arrays(parts)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what `arrays` gave, where everything is empty; the arrays are written to."""
        self.nodes = Nodes.from_arrays(select_part(arrays, "nodes"))
        self.vocabulary = Vocabulary(unpack_strings(select_part(arrays, "vocabulary")))
        iris, names = (unpack_strings(select_part(arrays, f"names/{name}")) for name in ("iris", "names"))
        self.names = dict(zip(map(IRI, iris), names, strict=True))
        retired = zip(unpack_strings(select_part(arrays, "retired/iris")), arrays["retired/at"].tolist(), strict=True)
        self.retired_at = {IRI(iri): _EPOCH + timedelta(microseconds=at) for iri, at in retired}
        for index in self:
            index.restore(select_part(arrays, index.name))

    def forms(self) -> str:
        """Return which indexes there are, each with the version of its arrays: what was kept by others is not restored."""
        return " ".join(f"{index.name}-{index.version}" for index in self)


class Index(ABC):
    """One index: a function of the graph's records, and of nothing else."""

    name: ClassVar[str]
    """Its arrays are kept under it; `check` says it."""
    version: ClassVar[int] = 1
    """To be raised with every change in what is kept."""
    reads: ClassVar[frozenset[IRI]] = frozenset()
    """The predicates that it derives from, beside those that every record has."""
    learns_from: ClassVar[frozenset[IRI]] = frozenset()
    """The types of records that are no nodes, but that it derives from."""
    follows_use: ClassVar[bool] = False
    """Whether it derives from what use changes of a memory: its numbers."""

    def __init__(self, context: Context | None = None) -> None:
        self.context = Context() if context is None else context

    @abstractmethod
    def apply(self, update: Update) -> None:
        """Set what derives from some records, in place of what was known of them."""

    @abstractmethod
    def drop(self, node: int) -> None:
        """Forget a node, while `context.nodes` still has it; harmless when it is not here."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return what is to be kept."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what `arrays` gave, where nothing is known; the arrays are written to."""

    def fill(self, everything: Everything) -> None:
        """Do the same as `apply` for everything at once, where nothing is known; it may take a fraction of the time."""
        self.apply(everything)

    def fill_vectors(self, file: VectorFile) -> None:
        """Take what derives from vectors, after `fill` and when its records are let go of: neither is small."""
        return

    def follow_edges(self, memories: Sequence[IRI], edges: Sequence[Edge]) -> None:
        """Set what leads to some memories by links from keys: `edges` are all that there are."""
        return

    def forget(self, iri: IRI) -> None:
        """Forget a record that is no node; harmless when it is not here."""
        return

    def find_dependents(self, iri: IRI) -> tuple[set[IRI], set[IRI]]:
        """Return the records that are lost when a node is dropped, and the memories whose edges are."""
        return set(), set()

    def complete(self) -> None:
        """Work out, before it is kept, what is worked out lazily otherwise."""
        return

    def holds(self, node: int, record: Record) -> bool:
        """Return False where something derives from a node's record that is not here."""
        return True


I = TypeVar("I", bound=Index)  # noqa: E741  # an index
T = TypeVar("T")

_registered: list[type[Index]] = []


def register(kind: type[I]) -> type[I]:
    """Let an index be filled, updated, checked and kept with all others."""
    _registered.append(kind)
    find_registered.cache_clear()
    return kind


@cache
def find_registered() -> tuple[type[Index], ...]:
    """Import the files of this room, so that their indexes register, and return these by name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        if not module.ispkg:
            import_module(f"{__package__}.{module.name}")
    return tuple(sorted(_registered, key=lambda kind: kind.name))


def find_predicates() -> frozenset[IRI]:
    """Return what the registered indexes take from the graph; the rest says nothing to them."""
    return BASE.union(*(kind.reads for kind in find_registered()))


def find_types() -> frozenset[IRI]:
    """Return the types of records that are no nodes, but that a registered index derives from."""
    return frozenset().union(*(kind.learns_from for kind in find_registered()))


class GraphTables(Index, Generic[T]):
    """An index that has one table for the memories of each named graph."""

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._tables: dict[IRI, T] = {}

    def __getitem__(self, graph: IRI) -> T:
        return self._tables[graph]

    def __contains__(self, graph: object) -> bool:
        return graph in self._tables

    def __iter__(self) -> Iterator[IRI]:
        return iter(self._tables)

    def among(self, graphs: Sequence[IRI]) -> list[T]:
        """Return the tables of some graphs that have one."""
        return [self._tables[graph] for graph in graphs if graph in self._tables]

    def need(self, graph: IRI, create: Callable[[], T]) -> T:
        """Return the table of a graph, a new one where it has none."""
        table = self._tables.get(graph)
        if table is None:
            table = self._tables[graph] = create()
        return table

    def pack_tables(self, arrays_of: Callable[[T], Mapping[str, NDArray[Any]]]) -> Arrays:
        """Return the graphs, and the arrays of their tables by number."""
        parts = {str(number): arrays_of(table) for number, table in enumerate(self._tables.values())}
        return nest_arrays({**parts, "graphs": pack_strings(list(self._tables))})

    def unpack_tables(self, arrays: Mapping[str, NDArray[Any]], create: Callable[[Arrays], T]) -> None:
        """Take what `pack_tables` gave."""
        for number, graph in enumerate(unpack_strings(select_part(arrays, "graphs"))):
            self._tables[IRI(graph)] = create(select_part(arrays, str(number)))
