"""
Evaluates a query on a snapshot, in a process that may be killed: turns the engine's results into answers and errors of ours, and
counts the rows of a serialised answer.

*Guarantees:* a function that the engine does not know is an error of the expression that calls it, as the standard requires, not of
the query. A syntax error is located where the text cannot be parsed further.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

import pyoxigraph as ox

from memento.errors import GraphError, InputError

if TYPE_CHECKING:
    from memento.graph.similarity import Function

Snapshot = ox.Store
"""An open snapshot."""
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
_SYNTAX_ERROR = re.compile(r"error at (\d+):(\d+): expected (.*)", re.DOTALL)
_NOWHERE = ox.Variable("memento_is_not_in_this_query")
_KEYWORD = re.compile(r"[A-Za-z_]{2,}")
_PADDING = "\n" + 32 * " "
"""Longer than any keyword: the engine reads as many characters as a keyword has before it notices a mismatch."""


class QuerySyntaxError(Exception):
    """The engine cannot parse a query further from this place; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(line, column)
        self.line, self.column = line, column


def open_snapshot(folder: Path | str) -> Snapshot:
    """Open a snapshot for reading, or an empty store for the folder ""; raise `GraphError`."""
    try:
        return ox.Store.read_only(str(folder)) if folder else ox.Store()
    except OSError as error:
        raise GraphError(f"the snapshot cannot be opened: {error}") from error


def write_answer(
    store: Snapshot,
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
    Answer a query; pass the serialised answer to `write` in pieces of some kilobytes.

    A function that the engine does not know is an error of the expression that calls it, as the standard requires, not of the
    query.

    Args:
        media: a media type of `ROW_FORMATS` or `GRAPH_FORMATS`, whichever fits the form of the query.
        default_graphs, named_graphs: the dataset; None leaves it to the query.
        functions: custom functions that the query may call.

    Raises:
        Misread: this is not a query.
        InputError: a function is called with too many or too few arguments.
        GraphError: the store failed.
        whatever `write` raises.
    """
    answer = evaluate(store, sparql, default_graphs, named_graphs, base, functions or {})
    sink = _Sink(write)
    file = cast("IO[bytes]", sink)
    try:
        if isinstance(answer, ox.QueryTriples):
            answer.serialize(file, GRAPH_FORMATS[media])
        else:
            answer.serialize(file, ROW_FORMATS[media])
    except (OSError, RuntimeError, ValueError) as error:
        if sink.failure is not None:
            raise sink.failure from None
        raise GraphError(f"the query failed: {error}") from error


def read_query(store: Snapshot, sparql: str, base: str | None) -> None:
    """
    Parse a query without evaluating it: the engine refuses a value for an unknown variable as soon as it has parsed the text.

    Raises:
        QuerySyntaxError: this is not a query.
    """
    try:
        store.query(sparql, base_iri=base, substitutions={_NOWHERE: ox.Literal("")})
    except SyntaxError as error:
        raise _locate_syntax_error(store, sparql, base, error) from None
    except (OSError, ValueError, RuntimeError):
        pass


def evaluate(
    store: Snapshot,
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
            raise _locate_syntax_error(store, sparql, base, error) from None
        except (OSError, ValueError, RuntimeError) as error:
            function = _UNKNOWN_FUNCTION.match(str(error))
            if function is None or (name := ox.NamedNode(function.group(1))) in known:
                kind = InputError if _WRONG_CALL.match(str(error)) else GraphError
                raise kind(f"the query failed: {error}") from error
            known[name] = _fail


def _fail(*terms: object) -> NoReturn:
    raise ValueError  # which the engine treats as unbound


def _locate_syntax_error(
    store: Snapshot, sparql: str, base: str | None, error: SyntaxError
) -> QuerySyntaxError | GraphError:
    """Find where the engine could not parse further: the place it reports is the end of the longest keyword it tried there."""
    try:
        store.query(sparql + _PADDING, base_iri=base)
    except SyntaxError as again:
        error = again
    except (OSError, ValueError, RuntimeError):
        pass
    if not (place := _SYNTAX_ERROR.match(str(error))):
        return GraphError(f"the query failed: {error}")
    lines = (sparql + _PADDING).split("\n")
    at = sum(len(one) + 1 for one in lines[: int(place.group(1)) - 1]) + int(place.group(2)) - 1
    words = [word for word in place.group(3).removeprefix("one of ").split(", ") if word != "[_]"]
    if words and all(_KEYWORD.fullmatch(word) for word in words):
        at -= min(map(len, words))
    before = sparql[: max(at, 0)]
    return QuerySyntaxError(before.count("\n") + 1, len(before) - before.rfind("\n"))


class _Sink:
    """A file for the engine to write to; an exception of `write` stops the evaluation, and the caller raises it again."""

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
        """Do nothing: there is no buffer."""


_JSON = ("application/sparql-results+json", "application/json")
_MARKS = {
    "application/sparql-results+xml": b"<result>",
    "application/xml": b"<result>",
    "text/tab-separated-values": b"\n",
    "application/n-triples": b"\n",
    "application/n-quads": b"\n",
}


def row_counter(media: str) -> Callable[[bytes], int]:
    """
    Return a function that takes the next bytes and returns the rows so far; 0 for media types of graphs, except one triple a line.

    >>> rows = row_counter("text/csv")
    >>> rows(b'x\\r\\n"a\\r'), rows(b'\\nb"\\r\\n')
    (0, 1)
    """
    if media in _JSON:
        return _JsonCounter().count_in
    if media == "text/csv":
        return _CsvCounter().count_in
    mark = _MARKS.get(media)
    return _MarkCounter(mark, headers=int(media == "text/tab-separated-values")).count_in if mark else lambda data: 0


class _MarkCounter:
    """Counts a separator that may be split across two pieces, without those of a header."""

    def __init__(self, mark: bytes, headers: int) -> None:
        self._mark = mark
        self._rest = b""
        self._count = -headers

    def count_in(self, data: bytes) -> int:
        data = self._rest + data
        self._count += data.count(self._mark)
        keep = len(self._mark) - 1
        self._rest = data[-keep:] if keep else b""
        return max(self._count, 0)


class _CsvCounter:
    """Counts line ends outside quotes, without the header's; a doubled quote leaves the quotes and enters them again."""

    def __init__(self) -> None:
        self._quoted = False
        self._count = -1

    def count_in(self, data: bytes) -> int:
        for part in data.split(b'"'):
            if not self._quoted:
                self._count += part.count(b"\n")
            self._quoted = not self._quoted
        self._quoted = not self._quoted  # as many changes as quotes, which is one less than the parts
        return max(self._count, 0)


class _JsonCounter:
    """Counts rows by what is outside of strings: `[{` before the first one, `},{` between two."""

    def __init__(self) -> None:
        self._quoted = False
        self._escape = b""  # a backslash whose escaped character has not arrived
        self._rest = b""  # the last bytes outside of strings, with a quote for each string
        self._count = 0

    def count_in(self, data: bytes) -> int:
        data = (self._escape + data).replace(b"\\\\", b"")
        self._escape = b"\\" if data.endswith(b"\\") else b""
        parts = data.removesuffix(self._escape).replace(b'\\"', b"").split(b'"')
        bare = self._rest + b'"'.join(parts[self._quoted :: 2])
        self._quoted ^= len(parts) % 2 == 0
        self._count += bare.count(b"},{") + bare.count(b"[{") - self._rest.count(b"[{")
        self._rest = bare[-2:]
        return self._count
