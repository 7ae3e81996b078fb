"""
What a derived index is, how it registers, and what all indexes of one store share.

A new index is one file in this package: a class that extends `Index`, decorated with `@register`. From then on it is filled at
start, follows every write, is checked against the graph, stored for the next start, and rebuilt, without being named anywhere else.
Without the line `@register` it is disabled, and a lookup in the `Context` returns an empty one.
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
"""Number of vectors of a kind up to which a search compares every one."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLAIMS = "urn:memento:claim:"

Placed = tuple[int, Record]
"""The id of a node, and its record."""


@dataclass(slots=True)
class Update:
    """Records that the indexes take in once their nodes have ids and places in `Context.nodes`."""

    nodes: Sequence[Placed]
    """Anchors and keys before memories, or all by ascending id."""
    fresh: Sequence[Placed] = ()
    """The nodes whose text is new."""
    others: Sequence[Record] = ()
    """Records that are not nodes: notes, keys that denote an anchor, associations, invalidations."""
    vectors: Mapping[int, Vectors] = field(default_factory=dict)
    """(windows, d) vectors of the fresh nodes."""


@dataclass(slots=True)
class Everything(Update):
    """All records of the graph, for `Index.fill`; every node counts as fresh."""

    edges: Sequence[Edge] = field(kw_only=True)
    """Every link from a key to a memory."""
    numbers: StemNumbers = field(kw_only=True)
    """Stems words for all indexes, each distinct word once."""
    _by_graph: dict[Kind, dict[IRI, list[Placed]]] = field(default_factory=dict)
    _stems: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    def by_graph(self, kind: Kind) -> Mapping[IRI, Sequence[Placed]]:
        """Return the nodes of a kind, grouped by the graph that describes them."""
        if not self._by_graph:
            grouped: dict[Kind, dict[IRI, list[Placed]]] = {
                name: defaultdict(list) for name in ("memory", "anchor", "key")
            }
            for placed in self.nodes:
                grouped[cast(Kind, placed[1].kind)][placed[1].graph].append(placed)
            self._by_graph = grouped
        return self._by_graph[kind]

    def stem(self, node: int, record: Record) -> tuple[list[int], list[int]]:
        """Return the stem numbers of a memory's title and content; each text is stemmed once for all indexes."""
        stems = self._stems.get(node)
        if stems is None:
            title = record.first(MEM.title)
            of_title = self.numbers.number_stems(title) if title else []
            stems = self._stems[node] = (of_title, self.numbers.number_stems(record.first(MEM.content)))
        return stems


class Context:
    """
    What the indexes of one store share: ids, word numbers, and facts that other records state about a record.

    `context[class]` is the index of that class. Iterating yields the registered indexes.
    """

    def __init__(self, dimensions: int = 0, flat: int = FLAT, above: Above = "ivf") -> None:
        """
        Args:
            dimensions: length of a vector.
            flat: number of vectors of a kind up to which a search compares every one.
            above: the index structure that a search uses above that number.
        """
        self.dimensions, self.flat, self.above = dimensions, flat, above
        self.clear()

    def clear(self) -> None:
        """Empty everything held in memory."""
        self.nodes = Nodes()
        self.vocabulary = Vocabulary()
        self.names: dict[IRI, str] = {}
        """The name of each anchor and each key."""
        self.retired_at: dict[IRI, datetime] = {}
        """When Memento learned that a memory had ended."""
        self.turn_places: dict[IRI, tuple[IRI, int] | None] = {}
        """The session and position of each note that was read; None for a note outside of any conversation."""
        self.sources: dict[IRI, str] = {}
        """The source of each note that was read, unless it is the default."""
        self._indexes: dict[type[Index], Index] = {kind: kind(self) for kind in find_registered()}

    def __getitem__(self, kind: type[I]) -> I:
        index = self._indexes.get(kind)
        return cast(I, index if index is not None else kind(self))

    def __iter__(self) -> Iterator[Index]:
        return iter(self._indexes.values())

    def replace_index(self, index: Index) -> None:
        """Use another index of the same class in place of the present one."""
        self._indexes[type(index)] = index

    def name(self, anchor: IRI) -> str:
        """Return the name of an anchor; empty when it is unknown."""
        return self.names.get(anchor, "")

    def text(self, record: Record) -> str:
        """Return the text of a node that is embedded and searched; `learn` the anchors first."""
        return record.text(self.names)

    def turn_place(self, record: Record) -> tuple[IRI, int] | None:
        """Return the session and position of a memory's note; None when it belongs to no conversation."""
        return self.turn_places.get(IRI(record.first(MEM.extractedFrom)))

    def learn(self, record: Record) -> None:
        """Learn the name of an anchor, or whether a note is a turn and what its source is: the records of memories need it."""
        if record.kind in ("anchor", "key"):
            self.names[record.iri] = record.name
        elif session := record.first(MEM.session):
            self.turn_places[record.iri] = (IRI(session), int(record.first(MEM.position) or 0))
        elif record.kind is None and MEM.Note in record.statements.get(TYPE, ()):
            self.turn_places[record.iri] = None
        if record.kind is None and (source := record.first(MEM.source)) and source != "explicit":
            self.sources[record.iri] = source

    def learn_end(self, record: Record) -> None:
        """
        Learn from an Invalidation when Memento knew that its memory had ended. Call it before the memory is placed; the first one
        counts. That of a claim is not needed.
        """
        if MEM.Invalidation not in record.statements.get(TYPE, ()):
            return
        at = record.time_of(MEM.at)
        for value in record.statements.get(MEM.invalidated, ()):
            if at is not None and isinstance(value, IRI) and not value.startswith(_CLAIMS):
                self.retired_at[value] = min(at, self.retired_at.get(value, at))

    def unlearn(self, iri: IRI) -> None:
        """Forget what `learn` and `learn_end` stored about a node."""
        self.names.pop(iri, None)
        self.retired_at.pop(iri, None)
        self.turn_places.pop(iri, None)
        self.sources.pop(iri, None)

    def arrays(self) -> Arrays:
        """Return the arrays of all indexes to store; each index is completed first."""
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
        parts["vocabulary"] = pack_strings(
            self.vocabulary.word_list()
        )  # last, because completing an index may add words
        return nest_arrays(parts)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore everything from what `arrays` returned, into empty indexes; the arrays are modified later."""
        self.nodes = Nodes.from_arrays(select_part(arrays, "nodes"))
        self.vocabulary = Vocabulary(unpack_strings(select_part(arrays, "vocabulary")))
        iris, names = (unpack_strings(select_part(arrays, f"names/{name}")) for name in ("iris", "names"))
        self.names = dict(zip(map(IRI, iris), names, strict=True))
        retired = zip(unpack_strings(select_part(arrays, "retired/iris")), arrays["retired/at"].tolist(), strict=True)
        self.retired_at = {IRI(iri): _EPOCH + timedelta(microseconds=at) for iri, at in retired}
        for index in self:
            index.restore(select_part(arrays, index.name))

    def forms(self) -> str:
        """Return the names of the indexes and the versions of their arrays; stored arrays of other forms are not restored."""
        return " ".join(f"{index.name}-{index.version}" for index in self)


class Index(ABC):
    """One index: a function of the graph's records alone."""

    name: ClassVar[str]
    """The name under which its arrays are stored and `check` reports it."""
    version: ClassVar[int] = 1
    """Version of its arrays; raise it with every change in what is stored."""
    reads: ClassVar[frozenset[IRI]] = frozenset()
    """The predicates that it reads, besides those that every `Record` reads."""
    learns_from: ClassVar[frozenset[IRI]] = frozenset()
    """The types of records that it reads although they are not nodes."""
    follows_use: ClassVar[bool] = False
    """Whether it reads the numbers of a memory that change with use."""

    def __init__(self, context: Context | None = None) -> None:
        self.context = Context() if context is None else context

    @abstractmethod
    def apply(self, update: Update) -> None:
        """Replace everything derived from the records of an update."""

    @abstractmethod
    def drop(self, node: int) -> None:
        """Remove a node, while `context.nodes` still has it; harmless when it is missing."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the arrays to store."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore from what `arrays` returned, into an empty index; the arrays are modified later."""

    def fill(self, everything: Everything) -> None:
        """Do the same as `apply` for everything at once, into an empty index; it may take a fraction of the time."""
        self.apply(everything)

    def fill_vectors(self, file: VectorFile) -> None:
        """
        Fill the part that derives from vectors. It is called after `fill`, when the records are freed, because both take much
        memory.
        """
        return

    def follow_edges(self, memories: Sequence[IRI], edges: Sequence[Edge]) -> None:
        """Replace the links from keys to some memories; `edges` are all of their links."""
        return

    def forget(self, iri: IRI) -> None:
        """Remove a record that is not a node; harmless when it is missing."""
        return

    def find_dependents(self, iri: IRI) -> tuple[set[IRI], set[IRI]]:
        """Return the records that dropping a node would lose, and the memories whose edges it would lose."""
        return set(), set()

    def complete(self) -> None:
        """Compute, before the index is stored, whatever it computes lazily otherwise."""
        return

    def holds(self, node: int, record: Record) -> bool:
        """Return False when the index lacks something that derives from a node's record."""
        return True


I = TypeVar("I", bound=Index)  # noqa: E741  # an index
T = TypeVar("T")

_registered: list[type[Index]] = []


def register(kind: type[I]) -> type[I]:
    """Register an index class, so that it is filled, updated, checked and stored with all others."""
    _registered.append(kind)
    find_registered.cache_clear()
    return kind


@cache
def find_registered() -> tuple[type[Index], ...]:
    """Import the modules of this package, so that their indexes register, and return the classes sorted by name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        if not module.ispkg:
            import_module(f"{__package__}.{module.name}")
    return tuple(sorted(_registered, key=lambda kind: kind.name))


def find_predicates() -> frozenset[IRI]:
    """Return the predicates that the registered indexes read; they ignore all others."""
    return BASE.union(*(kind.reads for kind in find_registered()))


def find_types() -> frozenset[IRI]:
    """Return the types of records that are not nodes but that a registered index reads."""
    return frozenset().union(*(kind.learns_from for kind in find_registered()))


class GraphTables(Index, Generic[T]):
    """An index with one table for the memories of each named graph."""

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
        """Return the tables of the given graphs that have one."""
        return [self._tables[graph] for graph in graphs if graph in self._tables]

    def need(self, graph: IRI, create: Callable[[], T]) -> T:
        """Return the table of a graph, created if missing."""
        table = self._tables.get(graph)
        if table is None:
            table = self._tables[graph] = create()
        return table

    def pack_tables(self, arrays_of: Callable[[T], Mapping[str, NDArray[Any]]]) -> Arrays:
        """Return the graphs, and the arrays of their tables by number."""
        parts = {str(number): arrays_of(table) for number, table in enumerate(self._tables.values())}
        return nest_arrays({**parts, "graphs": pack_strings(list(self._tables))})

    def unpack_tables(self, arrays: Mapping[str, NDArray[Any]], create: Callable[[Arrays], T]) -> None:
        """Restore the tables from what `pack_tables` returned."""
        for number, graph in enumerate(unpack_strings(select_part(arrays, "graphs"))):
            self._tables[IRI(graph)] = create(select_part(arrays, str(number)))
