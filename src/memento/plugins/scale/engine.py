"""
The interface to an engine that holds the index outside of this process.

*Flow:* an `Entry` for every node (its vectors, its folded text, its lifetime, the keys that find it, and its records) →
`Engine.put`, after the store has committed → `nearest`, `words` and `linked` return IRIs → `records` returns their entries, from
which `search/pool.py` fills the indexes of one question.

*Guarantees:* every engine ranks words by BM25 over stems that Memento has prepared, and no engine stems or folds by itself; an
entry is replaced whole; an engine's content is a function of the graph, so deleting it costs only a rebuild.

*But:* an engine finds candidates and does not rank answers: its scores compare only within one result of `nearest` or `words`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Protocol

import msgspec
import numpy as np

from memento import telemetry
from memento.errors import EngineError
from memento.iris import IRI
from memento.model import Value
from memento.ports import Vectors
from memento.search.nodes import Record

K1, B = 1.2, 0.75
"""The BM25 constants of every engine; the candidates are then ranked by those of the settings."""
KINDS = ("memory", "anchor", "key", "name", "other")
"""The possible values of `Entry.kind`."""
_IRI = 1  # the code of an IRI among the packed values


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One node in the form that an engine stores."""

    iri: IRI
    graph: IRI
    kind: str
    """`memory`, `anchor` or `key`; for a record that is not a node, `name` or `other`."""
    vectors: Vectors
    """(windows, d); no rows for a node that is found by its spelling alone."""
    text: str
    """Its stems separated by spaces, each as often as it occurs."""
    times: tuple[int, int, int, int, int]
    """In ms since 1970: valid from, valid until, believed from, believed until, its end known since."""
    keys: tuple[str, ...] = ()
    """The keys that find it: what it is about, the label of a name, its place in a session, its slot."""
    packed: bytes = b""
    """Its record, the records that belong to it, and its masked vector, as `pack_records` returns them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A filter over the entries of an engine."""

    graphs: Sequence[IRI]
    kinds: tuple[str, ...] = ("memory",)
    """Empty for all kinds."""
    current: int | None = None
    """Of the memories, only those that are current (valid and believed) at this instant, in ms since 1970."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching entry and its score: a cosine, a BM25 score above 0, or 0 when a key found it."""

    iri: IRI
    score: float = 0.0
    entry: Entry | None = None
    """Set when the engine has read the entry anyway; else `Engine.records` returns it."""


class Engine(Protocol):
    """
    The store of an index. Many threads may use it; several processes may write to one that runs outside of them.

    Every method raises `EngineError` when the engine fails or cannot be reached.
    """

    dimensions: int

    @property
    def owner(self) -> str:
        """The store and the embedder that this index belongs to; empty when it was never set."""
        ...

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), owner: str | None = None) -> None:
        """Replace the entries of some IRIs, and drop those in `gone`; then record the owner, if one is given."""
        ...

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        """Return the `k` entries that have a window nearest to a row of `asked` (w, d), best first."""
        ...

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        """Return the `k` entries that share the most telling stems with a question, best first."""
        ...

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        """Return at most `most` entries that have one of the given keys, unordered."""
        ...

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        """Return the entries of some IRIs, or all, in the given graphs, or in any, unordered; missing ones are left out."""
        ...

    def sample(self, most: int, where: Where) -> list[str]:
        """Return the folded texts of at most `most` entries."""
        ...

    def count(self, where: Where) -> int:
        """Return the number of entries; with `Where.graphs` empty, those of all graphs."""
        ...

    def settle(self) -> None:
        """Optimise what recent writes have made slow; may take minutes. Harmless at any time."""
        ...

    def purge(self) -> None:
        """Erase dropped and replaced entries from all files and all older versions."""
        ...

    def clear(self) -> None:
        """Delete everything, the owner too; a rebuild begins with it."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def time_calls(engine: Engine) -> Engine:
    """Count and time the calls of an engine by method name; return the engine."""

    def time_call(name: str) -> Callable[..., Any]:
        kind = type(engine)

        @wraps(getattr(kind, name))
        def run(*given: Any, **named: Any) -> Any:
            try:
                with telemetry.measure("engine_call_seconds", call=name):
                    return getattr(kind, name)(engine, *given, **named)
            except EngineError:
                telemetry.increment("engine_failures_total", call=name)
                raise

        return run

    for name in telemetry.ENGINE_CALLS:
        setattr(engine, name, time_call(name))
    return engine


def pack_records(records: Iterable[Record], masked: Vectors | None = None) -> bytes:
    """
    Pack some records into bytes; `unpack_entry` restores them.

    Args:
        masked: (1, d) the masked vector of a memory, zeros if it names nobody; None if it was not computed.
    """
    rows: list[object] = [
        (
            str(one.iri),
            str(one.graph),
            {str(name): [*map(_pack_value, values)] for name, values in one.statements.items()},
        )
        for one in records
    ]
    last = [] if masked is None else [masked.astype(np.float16).tobytes() if masked.any() else b""]
    return msgspec.msgpack.encode([*rows, *last])


@lru_cache(maxsize=20_000)  # the same memories answer many questions
def unpack_entry(packed: bytes) -> tuple[tuple[Record, ...], Vectors | None]:
    """Return the records that `pack_records` packed, and (1, d) or (1, 0) the masked vector; None if there was none."""
    rows = msgspec.msgpack.decode(packed, ext_hook=_unpack_value)
    masked = None
    if rows and isinstance(rows[-1], bytes):
        masked = np.frombuffer(rows.pop(), dtype=np.float16).astype(np.float32).reshape(1, -1)
    records = (
        Record(IRI(iri), IRI(graph), {IRI(name): values for name, values in said.items()}) for iri, graph, said in rows
    )
    return tuple(records), masked


def _pack_value(value: Value) -> object:
    return msgspec.msgpack.Ext(_IRI, value.encode()) if isinstance(value, IRI) else value


def _unpack_value(code: int, data: memoryview) -> IRI:
    return IRI(bytes(data).decode())
