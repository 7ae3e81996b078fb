"""
Snapshots of a store: taken beside it, opened by the worker that evaluates foreign SPARQL, and gone when nobody needs them.

*Flow:* the owner of the store takes one (`Snapshots.lease`), a worker opens it (`opened`) and answers from it (`answered`).

*Guarantees:* a snapshot holds every write that was acknowledged before it was asked for. It is taken anew only when the store has
changed since. `drop` leaves none behind, so that none keeps what was erased; nor does the end of the process, nor the next start.

*But:* a snapshot is hard links to the store's own files. It costs milliseconds, and shares with them the text that the engine
keeps in its files until they are written anew (`oxigraph.rewrite`). A store in memory has no files and so no snapshots.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

import pyoxigraph as ox

from memento.errors import GraphError, InputError

if TYPE_CHECKING:
    from memento.graph.likeness import Function
    from memento.graph.oxigraph import Oxigraph

Store = ox.Store
"""A snapshot that is open."""

ROW_FORMATS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "application/xml": ox.QueryResultsFormat.XML,
    "text/csv": ox.QueryResultsFormat.CSV,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
GRAPH_FORMATS = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "application/trig": ox.RdfFormat.TRIG,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}

_UNKNOWN_FUNCTION = re.compile(r"The custom function <([^>]*)> is not supported")
_WRONG_CALL = re.compile(r"The custom function <[^>]*> requires")
_MISREAD = re.compile(r"error at (\d+):(\d+): expected (.*)", re.DOTALL)
_KEYWORD = re.compile(r"[A-Za-z_]{2,}")
_PADDING = "\n" + 32 * " "
"""Longer than any keyword: the engine reads as many characters as a keyword has before it sees that it is none."""


class Misread(Exception):
    """The engine cannot read a query from this place on; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(line, column)
        self.line, self.column = line, column


class Snapshots:
    """The snapshots of one store, owned by the process that owns the store. May be used from many threads."""

    def __init__(self, graph: Oxigraph, folder: Path) -> None:
        """
        Args:
            folder: where they lie, on the file system of the store; what an earlier process left there is deleted.

        Raises:
            GraphError: the folder cannot be emptied.
        """
        self._graph, self._folder = graph, folder
        self._lock = threading.Lock()
        self.newest: Path | None = None
        """The one that is read at present, which may be gone the next moment."""
        self.dropped: Callable[[], None] = lambda: None
        """Called after `drop`, for whoever still has one open."""
        self._writes = -1  # how many the newest one holds
        self._leases: dict[Path, int] = {}
        self._taken = 0
        discard(folder)

    @contextmanager
    def lease(self, *, stale: bool = False) -> Iterator[Path]:
        """
        A folder that holds all that was written before the call, to be opened with `opened` until the end of the block.

        Args:
            stale: whether one that was taken earlier will do, for whoever does not look at what it holds.

        Raises:
            GraphError: the store is closed or in memory, or the disk has no room.
        """
        path = self._lent(stale)
        try:
            yield path
        finally:
            self._returned(path)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """
        A path beside the snapshots at which a worker may make a copy of one, to write to; it is deleted at the end of the block.

        Raises:
            GraphError: the folder cannot be made.
        """
        with self._lock:
            path = self._fresh()
        try:
            yield path
        finally:
            rmtree(path, ignore_errors=True)

    def drop(self) -> None:
        """Let no snapshot be used again; each is deleted at once, or as soon as whoever reads it has ended."""
        with self._lock:
            self._writes = -1
            self._retire()
        self.dropped()

    def turn_to(self, graph: Oxigraph) -> None:
        """Be of another store from now on."""
        with self._lock:
            self._graph = graph
        self.drop()

    def close(self) -> None:
        """Delete every snapshot; the workers have ended before. Calling it twice is harmless."""
        self.drop()
        discard(self._folder)

    def _lent(self, stale: bool) -> Path:
        with self._lock:
            writes = self._graph.writes  # before the backup: what is written meanwhile may or may not be in it
            if self.newest is None or (self._writes != writes and not stale):
                path = self._backup()
                self._retire()
                self.newest, self._writes = path, writes
            self._leases[self.newest] = self._leases.get(self.newest, 0) + 1
            return self.newest

    def _returned(self, path: Path) -> None:
        with self._lock:
            self._leases[path] -= 1
            if self._leases[path] == 0 and path != self.newest:
                del self._leases[path]
                rmtree(path, ignore_errors=True)

    def _retire(self) -> None:
        old, self.newest = self.newest, None
        if old is not None and not self._leases.get(old):
            self._leases.pop(old, None)
            rmtree(old, ignore_errors=True)

    def _backup(self) -> Path:
        path = self._fresh()
        self._graph.backup(path)
        return path

    def _fresh(self) -> Path:
        self._taken += 1
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise GraphError(f"{self._folder} cannot hold a snapshot: {error.strerror}") from error
        return self._folder / str(self._taken)


def discard(folder: Path) -> None:
    """Delete the snapshots in a folder; raises `GraphError` when they cannot be."""
    try:
        rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise GraphError(f"{folder} holds snapshots that cannot be deleted: {error.strerror}") from error


def opened(folder: Path | str) -> ox.Store:
    """A snapshot to read from; raises `GraphError`."""
    try:
        return ox.Store.read_only(str(folder))
    except OSError as error:
        raise GraphError(f"the snapshot cannot be opened: {error}") from error


def answered(
    store: ox.Store,
    sparql: str,
    media: str,
    write: Callable[[bytes], None],
    *,
    default_graphs: Sequence[str] | None,
    named_graphs: Sequence[str] | None,
    base: str | None = None,
    functions: Mapping[ox.NamedNode, Function] | None = None,
) -> None:
    """
    Answer a query, handing the serialised answer to `write` as it comes, some kilobytes at a time.

    A function that the engine does not know is an error of the expression that calls it, as the standard has it, not of the query.

    Args:
        media: a media type of `ROW_FORMATS` or `GRAPH_FORMATS`, after the form of the query.
        default_graphs, named_graphs: the dataset; None leaves it to the query.
        functions: what the query may call beside what the engine has.

    Raises:
        Misread: this is no query.
        InputError: a function is called with too many or too few arguments.
        GraphError: the store failed.
        whatever `write` raises.
    """
    found = evaluated(store, sparql, default_graphs, named_graphs, base, functions or {})
    sink = _Sink(write)
    file = cast("IO[bytes]", sink)
    try:
        if isinstance(found, ox.QueryTriples):
            found.serialize(file, GRAPH_FORMATS[media])
        else:
            found.serialize(file, ROW_FORMATS[media])
    except (OSError, RuntimeError, ValueError) as error:
        if sink.failure is not None:
            raise sink.failure from None
        raise GraphError(f"the query failed: {error}") from error


def evaluated(
    store: ox.Store,
    sparql: str,
    default_graphs: Sequence[str] | None,
    named_graphs: Sequence[str] | None,
    base: str | None,
    functions: Mapping[ox.NamedNode, Function],
) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
    dataset: dict[str, Any] = {
        "default_graph": None if default_graphs is None else [ox.NamedNode(iri) for iri in default_graphs],
        "named_graphs": None if named_graphs is None else [ox.NamedNode(iri) for iri in named_graphs],
    }
    known: dict[ox.NamedNode, Any] = dict(functions)
    while True:
        try:
            return store.query(sparql, base_iri=base, custom_functions=known or None, **dataset)
        except SyntaxError as error:
            raise _misread(store, sparql, base, error) from None
        except (OSError, ValueError, RuntimeError) as error:
            function = _UNKNOWN_FUNCTION.match(str(error))
            if function is None or (name := ox.NamedNode(function.group(1))) in known:
                kind = InputError if _WRONG_CALL.match(str(error)) else GraphError
                raise kind(f"the query failed: {error}") from error
            known[name] = _fail


def _fail(*terms: object) -> NoReturn:
    raise ValueError  # which the engine takes for an unbound value


def _misread(store: ox.Store, sparql: str, base: str | None, error: SyntaxError) -> Misread | GraphError:
    """Where the engine could not read on: what it says is the end of the longest keyword that it tried there."""
    try:
        store.query(sparql + _PADDING, base_iri=base)
    except SyntaxError as again:
        error = again
    except (OSError, ValueError, RuntimeError):
        pass
    if not (place := _MISREAD.match(str(error))):
        return GraphError(f"the query failed: {error}")
    lines = (sparql + _PADDING).split("\n")
    at = sum(len(one) + 1 for one in lines[: int(place.group(1)) - 1]) + int(place.group(2)) - 1
    words = [word for word in place.group(3).removeprefix("one of ").split(", ") if word != "[_]"]
    if words and all(_KEYWORD.fullmatch(word) for word in words):
        at -= min(map(len, words))
    before = sparql[: max(at, 0)]
    return Misread(before.count("\n") + 1, len(before) - before.rfind("\n"))


class _Sink:
    """A file that the engine writes to; what `write` raises ends the evaluation and is raised again by whoever started it."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self.failure: BaseException | None = None

    def write(self, data: bytes) -> int:
        try:
            self._write(data)
        except BaseException as failure:
            self.failure = failure
            raise
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back here."""
