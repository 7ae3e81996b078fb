"""
Dense integer ids for everything that can be found, the arrays that say who may see a node and when it was true, and one node as the
graph describes it, a `Record`.

Vectors, words and links share the ids. All filters (namespace, kind, the two time axes) are one boolean array over ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.ranges import drop_unreadable
from memento.graph.store import Store
from memento.iris import IRI, MEM, SKOS, TYPE, tag_name
from memento.model import KeyType, Value
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.time import BEGINNING

Kind = Literal["memory", "anchor", "key"]
Mask = NDArray[np.bool_]
Ids = NDArray[np.int32]

EXPLICIT = "explicit"
"""The source of a note that does not state one."""
_KINDS: dict[Kind, int] = {"memory": 1, "anchor": 2, "key": 3}
_KIND_OF: dict[int, Kind] = {code: kind for kind, code in _KINDS.items()}
_EXPIRED = 3  # row of the times: believed until
_ENDINGS = (1, _EXPIRED, 4)  # rows of the times whose instants change what is current
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """
    When a node was true and when it was believed; None means that there is no end yet.

    `retired_at` is when Memento learned of `invalid_at`: before that instant it believed that the node still held.
    """

    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    expired_at: datetime | None = None
    retired_at: datetime | None = None


@dataclass(slots=True)
class _Moment:
    """The current nodes of some graphs, valid from one instant until the next end of a node, in milliseconds."""

    codes: Sequence[int]
    mask: Mask
    since: int
    until: int


class Nodes:
    """The ids in use and their filters. `search/vectors.py` assigns the ids and stores them."""

    def __init__(self) -> None:
        self._iris: list[IRI | None] = []
        self._ids: dict[IRI, int] = {}
        self._graphs: dict[IRI, int] = {}
        self._names: list[IRI] = []
        self._kind = np.zeros(0, dtype=np.int8)
        self._graph = np.zeros(0, dtype=np.int32)
        # milliseconds since 1970: valid from, valid until, believed from, believed until, end known since
        self._times = np.zeros((5, 0), dtype=np.int64)
        self._moments: dict[tuple[IRI, ...], _Moment] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def size(self) -> int:
        """The length of every mask: at least one more than the largest id ever used."""
        return len(self._kind)

    def put(self, node: int, iri: IRI, kind: Kind, graph: IRI, lifetime: Lifetime) -> None:
        """Add a node, or replace its data."""
        self._grow(node + 1)
        self._iris[node] = iri
        self._ids[iri] = node
        self._kind[node] = _KINDS[kind]
        if graph not in self._graphs:
            self._number(graph)
            self._moments.clear()
        self._graph[node] = self._graphs[graph]
        self._times[:, node] = column_of(lifetime)
        self._update_moments(node)

    def expire(self, node: int, at: datetime | None) -> None:
        """Set the instant until which a node is believed (None: no end); leave its other data unchanged."""
        self._times[_EXPIRED, node] = _ms(at, NEVER)
        self._update_moments(node)

    def fill(self, rows: Sequence[tuple[int, IRI, Kind, IRI, Lifetime]]) -> None:
        """Add many new nodes: the same as `put` for each, in a fraction of the time."""
        nodes = np.array([node for node, *_ in rows], dtype=np.int32)
        self._grow(int(nodes.max(initial=-1)) + 1)
        for node, iri, *_ in rows:
            self._iris[node] = iri
            self._ids[iri] = node
        for *_, graph, _ in rows:
            self._number(graph)
        self._kind[nodes] = [_KINDS[kind] for _, _, kind, _, _ in rows]
        self._graph[nodes] = [self._graphs[graph] for *_, graph, _ in rows]
        self._times[:, nodes] = (
            np.array([column_of(lifetime) for *_, lifetime in rows], dtype=np.int64).reshape(-1, 5).T
        )
        self._moments.clear()

    def drop(self, node: int) -> None:
        """Remove a node; harmless when it is missing."""
        if node < len(self._iris) and (iri := self._iris[node]) is not None:
            self._iris[node] = None
            del self._ids[iri]
            self._kind[node] = 0
            self._update_moments(node)

    def iri(self, node: int) -> IRI:
        """Return the IRI of an id; raise `KeyError` when the id is not in use."""
        iri = self._iris[node] if 0 <= node < len(self._iris) else None
        if iri is None:
            raise KeyError(node)
        return iri

    def find(self, iri: IRI) -> int | None:
        """Return the id of an IRI, or None."""
        return self._ids.get(iri)

    def iris(self) -> list[IRI]:
        """Return every IRI that can be found, unordered."""
        return list(self._ids)

    def kind(self, node: int) -> Kind:
        """Return the kind of a node."""
        return _KIND_OF[int(self._kind[node])]

    def graph(self, node: int) -> IRI:
        """Return the graph that describes a node."""
        return self._names[int(self._graph[node])]

    def by_graph(self, nodes: NDArray[np.integer]) -> Iterator[tuple[IRI, Mask]]:
        """Yield the graphs that describe some nodes, each with (n,) which of the nodes it describes."""
        codes, names = self._graph[nodes], self._names
        for code in np.unique(codes).tolist():
            yield names[code], codes == code

    def knows(self, graph: IRI) -> bool:
        """Return whether a graph has ever described a node."""
        return graph in self._graphs

    def graphs(self) -> list[IRI]:
        """Return every graph that has ever described a node."""
        return list(self._graphs)

    def within(self, graphs: Sequence[IRI], kind: Kind) -> Mask:
        """Return (size,) the nodes of a kind in some graphs, at any time."""
        return self._inside(self._codes(graphs), kind)

    def among(self, nodes: NDArray[np.integer], graphs: Sequence[IRI], kind: Kind) -> Mask:
        """Return (n,) which of some nodes are of a kind and in some graphs: like `within`, but examining these nodes only."""
        inside: Mask = self._kind[nodes] == _KINDS[kind]
        of, within = self._graph[nodes], np.zeros(len(nodes), dtype=np.bool_)
        for code in self._codes(graphs):
            within |= of == code
        return inside & within

    def current(
        self,
        graphs: Sequence[IRI],
        *,
        now: datetime,
        as_of: datetime | None = None,
        believed_at: datetime | None = None,
    ) -> Mask:
        """
        Return (size,) the memories in some graphs that were true at `as_of`, by what was believed at `believed_at`.

        Without `as_of` a memory counts unless it is already over: a fact about next month is known today. What is current now is
        cached and follows every change: do not modify the result, and do not keep it across a write.
        """
        if as_of is None and believed_at is None:
            return self._now(graphs, _ms(now, 0))
        valid_from, valid_until, believed_from, believed_until, known_since = self._times
        believed = _ms(believed_at, _ms(now, 0))
        true_at = _ms(as_of, believed)
        ends = np.where(known_since <= believed, valid_until, NEVER)
        mask = self.within(graphs, "memory") & (true_at < ends)
        # Without a question about the past, what was written in this very millisecond is already believed.
        mask &= believed < believed_until
        if believed_at is not None:
            mask &= believed_from <= believed
        if as_of is not None:
            mask &= valid_from <= true_at
        return np.asarray(mask, dtype=np.bool_)

    def find_begun(self, since: datetime, until: datetime) -> Mask:
        """Return which nodes began to hold at or after `since` and before `until`."""
        return np.asarray((self._times[0] >= _ms(since, 0)) & (self._times[0] < _ms(until, 0)), dtype=np.bool_)

    def began(self, node: int) -> int:
        """Return when a node began to hold, in milliseconds since 1970."""
        return int(self._times[0, node])

    def history(self, graphs: Sequence[IRI], *, now: datetime, believed_at: datetime | None = None) -> Mask:
        """
        Return (size,) the memories in some graphs that the history at `believed_at` includes: also those that had ended or been
        corrected by then, but none that was forgotten.
        """
        _, _, believed_from, believed_until, known_since = self._times
        believed = _ms(believed_at, _ms(now, 0))
        mask = self.within(graphs, "memory")
        # A correction ends a belief at the very instant at which the end becomes known; forgetting only ends the belief.
        mask &= (believed < believed_until) | (known_since == believed_until)
        if believed_at is not None:
            mask &= believed_from <= believed
        return np.asarray(mask, dtype=np.bool_)

    def _now(self, graphs: Sequence[IRI], now: int) -> Mask:
        known = self._moments.get(tuple(graphs))
        if known is None or not known.since <= now < known.until:
            codes = self._codes(graphs)
            mask = self._inside(codes, "memory")
            _, valid_until, _, believed_until, known_since = self._times
            mask &= (now < valid_until) | (known_since > now)
            mask &= now < believed_until
            self._moments[tuple(graphs)] = known = _Moment(codes, mask, now, self._next(now))
        return known.mask

    def next_end(self, now: datetime) -> int:
        """Return the next instant at which a node ends or an end becomes known, in milliseconds since 1970."""
        return self._next(milliseconds(now))

    def _next(self, now: int) -> int:
        """Return the next instant after `now` at which a node ends or an end becomes known."""
        return min(int(row.min(initial=NEVER, where=row > now)) for row in self._times[list(_ENDINGS)])

    def _update_moments(self, node: int) -> None:
        """Update the cached current nodes with a node's new state."""
        _, valid_until, _, believed_until, known_since = self._times[:, node].tolist()
        is_memory = self._kind[node] == _KINDS["memory"]
        for known in self._moments.values():
            now = known.since
            is_current = (now < valid_until or known_since > now) and now < believed_until
            known.mask[node] = is_memory and is_current and int(self._graph[node]) in known.codes
            known.until = min([known.until, *(end for end in (valid_until, believed_until, known_since) if end > now)])

    def days(self, nodes: Ids | None = None) -> NDArray[np.int64]:
        """Return (size,) the day since 1970 from which each node was true, or (len(nodes),) for the given ones."""
        since = self._times[0] if nodes is None else self._times[0, nodes]
        return np.asarray(since // 86_400_000, dtype=np.int64)

    def creation_times(self, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return (n,) when some nodes were first believed, in milliseconds since 1970."""
        return np.asarray(self._times[2, nodes], dtype=np.int64)

    def newest(self, mask: Mask) -> Ids:
        """Return the ids that a (size,) mask allows, the latest believed first; at the same instant, the largest id first."""
        nodes = np.flatnonzero(mask[: self.size]).astype(np.int32)
        return nodes[np.lexsort((-nodes, -self._times[2, nodes]))]

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return nest_arrays(
            {
                "": {"kind": self._kind, "graph": self._graph, "times": self._times},
                "iris": pack_strings([iri or "" for iri in self._iris]),
                "graphs": pack_strings(list(self._graphs)),
            }
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from what `arrays` returned; the arrays are modified later."""
        nodes = cls()
        nodes._iris = [IRI(iri) if iri else None for iri in unpack_strings(select_part(arrays, "iris"))]
        nodes._ids = {iri: node for node, iri in enumerate(nodes._iris) if iri is not None}
        nodes._graphs = {IRI(graph): code for code, graph in enumerate(unpack_strings(select_part(arrays, "graphs")))}
        nodes._names = list(nodes._graphs)
        nodes._kind, nodes._graph, nodes._times = arrays["kind"], arrays["graph"], arrays["times"]
        return nodes

    def _number(self, graph: IRI) -> None:
        if graph not in self._graphs:
            self._graphs[graph] = len(self._names)
            self._names.append(graph)

    def _codes(self, graphs: Sequence[IRI]) -> list[int]:
        return [self._graphs[graph] for graph in graphs if graph in self._graphs]

    def _inside(self, codes: Sequence[int], kind: Kind) -> Mask:
        inside: Mask = self._kind == _KINDS[kind]
        within = np.zeros(self.size, dtype=np.bool_)
        for code in codes:
            within |= self._graph == code
        return inside & within

    def _grow(self, size: int) -> None:
        if size > len(self._kind):
            more = max(size, len(self._kind) * 2, 64) - len(self._kind)
            self._kind = np.concatenate([self._kind, np.zeros(more, dtype=np.int8)])
            self._graph = np.concatenate([self._graph, np.full(more, -1, dtype=np.int32)])
            self._times = np.concatenate([self._times, np.zeros((5, more), dtype=np.int64)], axis=1)
            self._iris += [None] * (len(self._kind) - len(self._iris))
            self._moments.clear()
        elif size > len(self._iris):
            self._iris += [None] * (size - len(self._iris))


def column_of(lifetime: Lifetime) -> tuple[int, int, int, int, int]:
    """Return a lifetime in ms since 1970: valid from, valid until, believed from, believed until, its end known since."""
    starts = (_ms(lifetime.valid_at, 0), _ms(lifetime.created_at, 0))
    ends = (_ms(lifetime.invalid_at, NEVER), _ms(lifetime.expired_at, NEVER))
    return starts[0], ends[0], starts[1], ends[1], _ms(lifetime.retired_at, 0)


def milliseconds(at: datetime) -> int:
    """Return an instant in milliseconds since 1970."""
    return _ms(at, 0)


def _ms(at: datetime | None, otherwise: int) -> int:
    return otherwise if at is None else round(at.timestamp() * 1000)


Statements = Mapping[IRI, Sequence[Value]]
"""The statements of the graph about one node: predicate → objects."""

Edge = tuple[IRI, IRI, float]
"""A link from a key to a memory, and its weight."""

REMEMBERED = "remember"
"""The mem:source of a memory that was saved with keys."""

_KIND_OF_TYPE: dict[IRI, Kind] = {MEM.Memory: "memory", MEM.Entity: "anchor", MEM.User: "anchor", MEM.Key: "key"}

BASE: frozenset[IRI] = frozenset(
    {
        *(TYPE, MEM.content, MEM.title, MEM.saidBy, MEM.extractedFrom),
        *(MEM.validAt, MEM.invalidAt, MEM.createdAt, MEM.expiredAt, MEM.expiresAt),
        *(MEM.name, SKOS.altLabel, MEM.alias, MEM.description, MEM.entityType, MEM.keyType, MEM.denotes),
        *(MEM["from"], MEM.to, MEM.weight, MEM.session, MEM.position, MEM.invalidated, MEM.at),
    }
)
"""The predicates that every `Record` reads, whatever indexes there are."""


@dataclass(frozen=True, slots=True)
class Record:
    """One node as the graph has it now, without values outside the range of their property."""

    iri: IRI
    graph: IRI
    statements: Statements
    kind: Kind | None = field(init=False)
    """The kind of node it is for the indexes, or None when they do not hold such a node."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "statements", drop_unreadable(self.statements))
        kind = next((_KIND_OF_TYPE[IRI(str(t))] for t in self.statements.get(TYPE, ()) if t in _KIND_OF_TYPE), None)
        # A key that denotes an anchor is another name of that anchor.
        object.__setattr__(self, "kind", None if kind == "key" and MEM.denotes in self.statements else kind)

    def text(self, names: Mapping[IRI, str]) -> str:
        """
        Return the text that is embedded and searched.

        Args:
            names: the name of every anchor.
        """
        if self.kind == "memory":
            speaker = names.get(IRI(self.first(MEM.saidBy)))
            return text_of_memory(self.first(MEM.content), speaker, self.first(MEM.title))
        return text_of_anchor(self.name, self.first(MEM.description))

    @property
    def name(self) -> str:
        """The name of an anchor; the user may have none yet."""
        return self.first(MEM.name) or "user"

    @property
    def labels(self) -> list[str]:
        """All names of an anchor, the main one first."""
        predicates = (MEM.name, SKOS.altLabel, MEM.alias)
        return [str(name) for predicate in predicates for name in self.statements.get(predicate, ())]

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of a memory's tags, sorted."""
        return tuple(tag_name(IRI(str(tag))) for tag in sorted(map(str, self.statements.get(MEM.tagged, ()))))

    @property
    def written(self) -> datetime:
        """When a memory was written; the earliest possible time where the graph does not say."""
        return self.time_of(MEM.createdAt) or BEGINNING

    def number(self, predicate: IRI, otherwise: float) -> float:
        """Return the single value of a predicate as a number."""
        return float(self.first(predicate) or otherwise)

    @property
    def is_embedded(self) -> bool:
        """Whether it is embedded; a key that is a name is found by its spelling alone."""
        return self.kind is not None and (self.kind != "key" or self.first(MEM.keyType) == "concept")

    @property
    def edge(self) -> Edge | None:
        """The link from a key to a memory that this record is; None for any other record, and for one that lacks an end."""
        if MEM.KeyLink not in self.statements.get(TYPE, ()):
            return None
        key, memory = self.first(MEM["from"]), self.first(MEM.to)
        return (IRI(key), IRI(memory), float(self.first(MEM.weight) or 1.0)) if key and memory else None

    @property
    def key_type(self) -> KeyType:
        """The key's type; the type `name` where the graph does not say."""
        return cast(KeyType, self.first(MEM.keyType) or "name")

    def lifetime(self, retired_at: datetime | None) -> Lifetime:
        """Return when it held and was believed; `retired_at` is when its end became known."""
        ends = [end for end in (self.time_of(MEM.expiredAt), self.time_of(MEM.expiresAt)) if end]
        return Lifetime(
            valid_at=self.time_of(MEM.validAt),
            invalid_at=self.time_of(MEM.invalidAt),
            created_at=self.time_of(MEM.createdAt),
            expired_at=min(ends, default=None),
            retired_at=retired_at,
        )

    def value_of(self, predicate: IRI) -> Value | None:
        """Return the single value of a predicate."""
        return next(iter(self.statements.get(predicate, ())), None)

    def first(self, predicate: IRI) -> str:
        """Return the single value of a predicate as text, empty when there is none."""
        return str(next(iter(self.statements.get(predicate, ())), ""))

    def time_of(self, predicate: IRI) -> datetime | None:
        """Return the single value of a predicate if it is a time."""
        value = self.value_of(predicate)
        return value if isinstance(value, datetime) else None


def is_indexed(graph: IRI) -> bool:
    """Return whether a named graph holds memories or anchors."""
    return graph.startswith(("urn:memento:graph:", "urn:memento:self:"))


def read_records(graph: Store, predicates: Iterable[IRI]) -> Iterator[Record]:
    """Yield every subject of every indexed graph with its values of some predicates, one at a time."""
    kept = frozenset(predicates)
    for name in filter(is_indexed, graph.graphs()):
        for iri, quads in groupby(graph.quads(name), key=itemgetter(0)):
            if iri.startswith("_:"):  # a blank node: no request can name it
                continue
            statements: dict[IRI, list[Value]] = {}
            for _, predicate, value, _ in quads:
                if predicate in kept:
                    statements.setdefault(predicate, []).append(value)
            yield Record(iri, name, statements)


def text_of_memory(content: str, speaker: str | None, title: str | None) -> str:
    """
    Return the searchable text of a memory: its content, led by the speaker and by the title of its source.

    >>> text_of_memory("It has seven hills.", None, "Lisbon")
    'Lisbon. It has seven hills.'
    """
    titled = f"{title}. {content}" if title else content
    return f"{speaker}: {titled}" if speaker else titled


def text_of_anchor(name: str, description: str) -> str:
    """
    Return the searchable text of an anchor: `Name: Description`, or its name alone.

    >>> text_of_anchor("Zed", "a code editor")
    'Zed: a code editor'
    """
    return f"{name}: {description}" if description else name


def content_hash(content: str) -> str:
    """Return a digest that identifies exact duplicates: of the text without case and runs of space."""
    return sha256(" ".join(content.casefold().split()).encode("utf-8", errors="surrogatepass")).hexdigest()
