"""
The seam to an engine that holds the index outside of this process: what is put into it, what it is asked, and one in memory.

*Flow:* an `Entry` for every node (its vectors, its folded text, its lifetime, the keys by which it is found, and its records) →
`Engine.put`, after the store has it → `nearest`, `words` and `linked` bring in IRIs → `records` gives the entries back, of which
`search/pool.py` fills the indexes of one question.

*Guarantees:* every engine ranks words by BM25 over the stems that Memento has folded, and none stems or folds by itself; an entry
is replaced whole; what an engine holds is a function of the graph, so that deleting it costs a rebuild.

*But:* an engine brings in candidates, it does not rank answers: its scores compare within one answer of `nearest` or `words` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from threading import RLock
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from memento import telemetry
from memento.errors import EngineError
from memento.iris import IRI
from memento.model import Value
from memento.ports import Vectors
from memento.search.nearest import VectorIndex
from memento.search.nodes import Record
from memento.search.postings import Postings
from memento.search.words import bm25_of_terms

K1, B = 1.2, 0.75
"""The constants of BM25 in every engine; what is brought in is ranked by those of the settings."""
KINDS = ("memory", "anchor", "key", "name", "other")
"""What `Entry.kind` may be."""
_IRI = 1  # the code of an IRI among the packed values


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One node as an engine holds it."""

    iri: IRI
    graph: IRI
    kind: str
    """`memory`, `anchor` or `key`; of a record that is no node, `name` or `other`."""
    vectors: Vectors
    """(windows, d); none of what is found by its spelling alone."""
    text: str
    """Its stems with spaces between, repeated ones as often as they stand there."""
    times: tuple[int, int, int, int, int]
    """In ms since 1970: valid from, valid until, believed from, believed until, its end known since."""
    keys: tuple[str, ...] = ()
    """By which it is found: what it is about, the label of a name, its place in a session, its slot."""
    packed: bytes = b""
    """Its record and those that belong to it, as `pack_records` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which entries an engine is asked about."""

    graphs: Sequence[IRI]
    kinds: tuple[str, ...] = ("memory",)
    """Empty for any."""
    current: int | None = None
    """Of memories only those that hold and are believed at this instant, in ms since 1970."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, and how well it fits: a cosine, a BM25 score above 0, or 0 where it was found by a key."""

    iri: IRI
    score: float = 0.0
    entry: Entry | None = None
    """Where the engine has read it anyway; else `Engine.records` gives it."""


class Engine(Protocol):
    """
    What holds the index. May be used from many threads; several processes may write to one that is outside of them.

    Every method raises `EngineError` when the engine fails or cannot be reached.
    """

    dimensions: int

    @property
    def seen(self) -> int:
        """The sequence of the store that everything up to is here; 0 where nobody said."""
        ...

    @property
    def owner(self) -> str:
        """Of what store and embedder this is; empty where nobody said."""
        ...

    def put(
        self, entries: Sequence[Entry], gone: Collection[IRI] = (), seen: int | None = None, owner: str | None = None
    ) -> None:
        """Set some entries in place of what is there of their IRIs, and drop what is gone. `seen` is never set back."""
        ...

    def fill(self, entries: Sequence[Entry]) -> None:
        """Add entries of which none is here, as a rebuild does: faster than `put`."""
        ...

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        """Return the `k` entries of which a window is nearest to a row of `asked` (w, d), best first."""
        ...

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        """Return the `k` entries that share the most telling stems with a question, best first."""
        ...

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        """Return at most `most` entries that have one of some keys, in no order."""
        ...

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        """Return some entries of some graphs, or of any, in no order, or all of them; one that is not here is left out."""
        ...

    def sample(self, most: int, where: Where) -> list[str]:
        """Return the folded texts of at most `most` entries."""
        ...

    def count(self, where: Where) -> int:
        """Return how many entries there are; with `Where.graphs` empty, of all graphs."""
        ...

    def settle(self) -> None:
        """Make what is asked slowly since the last writes fast again; may take minutes. Harmless at any time."""
        ...

    def purge(self) -> None:
        """Leave nothing of what was dropped or replaced, in no file and no older version."""
        ...

    def clear(self) -> None:
        """Forget everything, `seen` and `owner` too: a rebuild begins with it."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def time_calls(engine: Engine, shard: str = "") -> Engine:
    """Let the calls of an engine be counted and timed by their names, and return it."""

    def time_call(name: str) -> Callable[..., Any]:
        kind = type(engine)

        @wraps(getattr(kind, name))
        def run(*given: Any, **named: Any) -> Any:
            try:
                with telemetry.measure("engine_call_seconds", shard=shard, call=name):
                    return getattr(kind, name)(engine, *given, **named)
            except EngineError:
                telemetry.increment("engine_failures_total", shard=shard, call=name)
                raise

        return run

    for name in telemetry.ENGINE_CALLS:
        setattr(engine, name, time_call(name))
    return engine


def pack_records(records: Iterable[Record]) -> bytes:
    """Return some records as bytes; `unpack_records` gives them back."""
    rows = [
        (one.iri, one.graph, {str(name): [*map(_pack_value, values)] for name, values in one.statements.items()})
        for one in records
    ]
    return msgspec.msgpack.encode([(str(iri), str(graph), said) for iri, graph, said in rows])


@lru_cache(maxsize=20_000)  # the same memories answer many questions
def unpack_records(packed: bytes) -> tuple[Record, ...]:
    """Return what `pack_records` was given."""
    rows = msgspec.msgpack.decode(packed, ext_hook=_unpack_value)
    return tuple(
        Record(IRI(iri), IRI(graph), {IRI(name): values for name, values in said.items()}) for iri, graph, said in rows
    )


def _pack_value(value: Value) -> object:
    return msgspec.msgpack.Ext(_IRI, value.encode()) if isinstance(value, IRI) else value


def _unpack_value(code: int, data: memoryview) -> IRI:
    return IRI(bytes(data).decode())


def is_current(times: Sequence[int], now: int) -> bool:
    """Tell whether a memory with some `Entry.times` holds and is believed at an instant."""
    _, valid_until, _, believed_until, known_since = times
    return (now < valid_until or known_since > now) and now < believed_until


class MemoryEngine:
    """The seam over vectors and postings in memory: what the others are compared with. Gone when it is closed."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._lock = RLock()
        self._seen, self._owner = 0, ""
        self.clear()

    @property
    def seen(self) -> int:
        return self._seen

    @property
    def owner(self) -> str:
        return self._owner

    def fill(self, entries: Sequence[Entry]) -> None:
        self.put(entries)

    def put(
        self, entries: Sequence[Entry], gone: Collection[IRI] = (), seen: int | None = None, owner: str | None = None
    ) -> None:
        with self._lock:
            self._owner = self._owner if owner is None else owner
            for iri in [*gone, *(one.iri for one in entries)]:
                self._drop(iri)
            for one in entries:
                node = self._ids.setdefault(one.iri, len(self._ids))
                self._entries[node] = one
                if len(one.vectors):
                    self._vectors.put([node], [one.vectors])
                self._words.setdefault(one.graph, Postings()).add_terms(node, one.text.split())
                for key in one.keys:
                    self._keys.setdefault(key, set()).add(node)
            self._seen = max(self._seen, seen or 0)

    def _drop(self, iri: IRI) -> None:
        node = self._ids.get(iri)
        known = self._entries.pop(node, None) if node is not None else None
        if node is None or known is None:
            return
        self._vectors.drop(node)
        self._words[known.graph].remove(node)
        for key in known.keys:
            self._keys[key].discard(node)

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        with self._lock:
            nodes, scores = self._vectors.search(asked, k, self._inside(where))
            return [
                Hit(self._entries[node].iri, score) for node, score in zip(nodes.tolist(), scores.tolist(), strict=True)
            ]

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        with self._lock:
            postings = [self._words[graph] for graph in where.graphs if graph in self._words]
            nodes, scores = bm25_of_terms(stems, postings, K1, B)
            inside = self._inside(where)[nodes]
            nodes, scores = nodes[inside], scores[inside]
            best = np.lexsort((nodes, -scores))[:k]
            return [
                Hit(self._entries[node].iri, float(score))
                for node, score in zip(nodes[best].tolist(), scores[best], strict=True)
            ]

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        with self._lock:
            inside = self._inside(where)
            found = {node for key in keys for node in self._keys.get(key, ()) if inside[node]}
            return [Hit(self._entries[node].iri) for node in sorted(found)[:most]]

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        with self._lock:
            iris = [one.iri for one in self._entries.values()] if iris is None else iris
            known = (self._entries.get(self._ids[iri]) for iri in dict.fromkeys(iris) if iri in self._ids)
            return [one for one in known if one is not None and (not graphs or one.graph in graphs)]

    def sample(self, most: int, where: Where) -> list[str]:
        with self._lock:
            return [self._entries[node].text for node in np.flatnonzero(self._inside(where))[:most].tolist()]

    def count(self, where: Where) -> int:
        with self._lock:
            return int(np.count_nonzero(self._inside(where)))

    def _inside(self, where: Where) -> NDArray[np.bool_]:
        """Return (ids,) what a question is about."""
        inside = np.zeros(len(self._ids), dtype=np.bool_)
        for node, one in self._entries.items():
            inside[node] = (
                (not where.kinds or one.kind in where.kinds)
                and (not where.graphs or one.graph in where.graphs)
                and (where.current is None or is_current(one.times, where.current))
            )
        return inside

    def settle(self) -> None:
        return

    def purge(self) -> None:
        return

    def clear(self) -> None:
        with self._lock:
            self._ids: dict[IRI, int] = {}
            self._entries: dict[int, Entry] = {}
            self._vectors = VectorIndex(self.dimensions)
            self._words: dict[IRI, Postings] = {}
            self._keys: dict[str, set[int]] = {}
            self._seen, self._owner = 0, ""

    def close(self) -> None:
        return
