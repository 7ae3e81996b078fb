"""
What a worker can be told to do and what it returns: queries, the operations of an update, documents. These nouns travel as JSON,
and the child process that reads them imports nothing else.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from memento.graph.store import DEFAULT

CHEAP, LIKELY, UNKNOWN = 0, 1, 2
"""Cost classes: immediate, probably immediate, unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityData:
    """How similar everything that the reader can see is to a text, or to the node with an IRI; see `graph.similarity`."""

    asked: str
    is_iri: bool
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """
    A task of a worker on a snapshot.

    `media` is the media type of the result, `cost` the cost class. If `sparql` differs from the text that was sent, `edited` says
    how. `tables` are those that `mem:similarity` reads. With `is_data` the job does not depend on the content of the store, and any
    snapshot will do. A worker finds out by `kind` what to do.
    """

    kind: ClassVar[str]

    sparql: str = ""
    media: str = "application/octet-stream"
    cost: int = UNKNOWN
    edited: Edited | None = None
    tables: tuple[SimilarityData, ...] = ()
    is_data: bool = False

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The graphs that it may read; None is any."""
        return None

    def to_plain(self) -> dict[str, object]:
        """Return the job in the form that a worker reads; the data of the tables is sent separately."""
        tables = [{"asked": one.asked, "is_iri": one.is_iri, "size": len(one.data)} for one in self.tables]
        return {**asdict(replace(self, tables=(), edited=None)), "kind": self.kind, "tables": tables}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Job):
    """
    A query accepted by the guard, to be answered on a snapshot.

    `default_graphs` and `named_graphs` are the dataset, both or neither: they are the access control, and an empty one reads
    nothing. None leaves the dataset to the query and the store. `digest` is that of the text without its strings and
    numbers, which groups similar queries.
    """

    kind: ClassVar[str] = "query"
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None
    base: str | None = None
    digest: str = ""

    @property
    def reads(self) -> tuple[str, ...] | None:
        if self.default_graphs is None or self.named_graphs is None:
            return None
        return (*self.default_graphs, *self.named_graphs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Job):
    """
    The operations of an update accepted by the guard, to be tried on a snapshot; the result is a packed `graph.store.Delta`.

    If an operation reads what another has changed, the worker copies the snapshot to `scratch`. With `is_data` the result is the
    given data to remove and to add, whatever the store contains.
    """

    kind: ClassVar[str] = "update"
    operations: tuple[Operation, ...]
    options: TrialOptions
    scratch: str

    def to_plain(self) -> dict[str, object]:
        """Return the job as `Job.to_plain`, without the text, which the operations have too."""
        return {**Job.to_plain(self), "sparql": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(Job):
    """
    Documents for one graph ("" is the default graph), to replace its content or add to it; the result is like that of an update.

    With `is_data` the result is everything in the documents, whatever the store contains.
    """

    kind: ClassVar[str] = "upload"
    documents: tuple[Document, ...]
    graph: str
    replaces: bool
    options: TrialOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite(Job):
    """
    A document of any format, to be written as N-Quads to the file `target`; the result is the number of quads, in JSON.

    It may take `seconds`, because long documents take longer than a query may, and write at most `most_bytes`.
    """

    kind: ClassVar[str] = "rewrite"
    media: str = "application/json"
    is_data: bool = True
    path: str
    form: str
    name: str
    target: str
    seconds: float
    most_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Job):
    """
    A function, by its dotted name as `package.module:function`, and its arguments, which JSON can write; the answer is the bytes
    that it returns. It may take `seconds`.
    """

    kind: ClassVar[str] = "call"
    is_data: bool = True
    function: str
    arguments: Mapping[str, object]
    seconds: float


class WaitingClient:
    """A client that waits for an answer and may disconnect, and the socket on which the answer arrives."""

    def __init__(self) -> None:
        self.has_left = False
        self.is_broken = False
        self.on_leave: Callable[[], object] | None = None
        """Called when the client disconnects, by the thread that notices it."""
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def hold(self, answering: socket.socket) -> bool:
        """Register a socket to be shut down if the client disconnects; return False if it already has."""
        with self._lock:
            self._socket = None if self.has_left else answering
            return not self.has_left

    def release(self) -> None:
        """Unregister the socket, because another client may use it from now on."""
        with self._lock:
            self._socket = None

    def leave(self) -> None:
        """Wake the thread that waits on the socket; nothing else wakes a thread that is blocked in a read."""
        with self._lock:
            self.has_left = True
            if self._socket:
                with suppress(OSError):
                    # Not the method of a TLS socket, which would remove the session under the reader.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                self._socket = None
        if self.on_leave is not None:
            self.on_leave()


CLIENT: ContextVar[WaitingClient | None] = ContextVar("client", default=None)
"""The client whose request this thread answers, for long work that stops once nobody waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    The answer of a worker: its media type, and its bytes as they arrive.

    Read `chunks` to the end or call `close`: either frees the worker. An answer that cannot be finished raises from `chunks`
    (`TimedOut`, `TooMuch`, `GraphError`); what came before is then incomplete.
    """

    media: str
    chunks: Iterator[bytes]
    close: Callable[[], None]
    whole: bytes | None = None
    """The whole answer if it arrived at once; `chunks` has it too."""


NAMED, ALL = "NAMED", "ALL"
"""Every named graph, and all graphs with the default graph; neither is a valid IRI."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modify:
    """
    INSERT, DELETE or both; for given data, `where` is empty.

    `deletes` and `inserts` are the content of the templates' braces, with the IRI `marker` + name in place of each variable;
    `variables` are those names. `where` is a group with its braces. `default` and `named` are the graphs that it reads, None for
    those of the store; `free_default` and `free_named` add the free graphs that exist by then, including those created in the same
    request. Quads that name no graph are written `into` one.
    """

    deletes: str = ""
    inserts: str = ""
    where: str = ""
    marker: str = ""
    variables: tuple[str, ...] = ()
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    free_default: bool = False
    free_named: bool = False
    into: str = DEFAULT
    kind: Literal["modify"] = "modify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """CLEAR or DROP of a graph, of the default graph, of the `NAMED` ones or of `ALL`."""

    graph: str
    is_drop: bool = False
    is_silent: bool = False
    kind: Literal["clear"] = "clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """CREATE of an empty graph."""

    graph: str
    is_silent: bool = False
    kind: Literal["create"] = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """ADD of one graph to another; COPY and MOVE also `replaces` the target, and MOVE `drops` the source."""

    source: str
    target: str
    replaces: bool = False
    drops: bool = False
    is_silent: bool = False
    kind: Literal["transfer"] = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a request: what it does, the prefixes and the base before it, its text and its place."""

    act: Modify | Clear | Create | Transfer
    prologue: str
    text: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """
    How a trial treats terms and graphs.

    With `no_blanks`, IRIs replace new blank nodes. If a graph is emptied whose name begins with `listed`, its quads are returned
    one by one; other graphs are only named. The names of free graphs begin with `free`; of these only `free_names` are read, all if
    that is None. At most `most` quads may be removed and added.
    """

    base: str | None = None
    no_blanks: bool = False
    listed: str = ""
    free: str = ""
    free_names: tuple[str, ...] | None = None
    most: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An RDF document in a file, and the base of its relative IRIs."""

    path: str
    media: str
    base: str | None = None


def operation_from_plain(plain: Mapping[str, Any]) -> Operation:
    """Build an operation from the output of `dataclasses.asdict` after a round trip through JSON."""
    acts = {"modify": Modify, "clear": Clear, "create": Create, "transfer": Transfer}
    act: Any = acts[plain["act"]["kind"]]
    return Operation(**{**plain, "act": from_plain(act, plain["act"])})


def from_plain(cls: type[T], plain: Mapping[str, Any]) -> T:
    """Build a noun of this module from plain data; JSON lists become tuples."""
    names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items() if name in names})


class Edit(NamedTuple):
    """`text` in place of `original[start:end]`; `cause` is the place to report for errors in it."""

    start: int
    end: int
    text: str
    cause: int = -1


@dataclass(frozen=True)
class Edited:
    """
    A text with replaced pieces, which can map places of the new text back to the original.

    Edits do not overlap.

    >>> edited = Edited("ASK { a }", (Edit(6, 7, "bcd"),))
    >>> edited.text
    'ASK { bcd }'
    >>> edited.original_place(1, 11), edited.original_place(1, 8)
    ((1, 9), (1, 7))
    """

    source: str
    edits: tuple[Edit, ...]

    @cached_property
    def text(self) -> str:
        """The new text."""
        pieces, at = [], 0
        for edit in self._in_order:
            pieces += [self.source[at : edit.start], edit.text]
            at = edit.end
        return "".join([*pieces, self.source[at:]])

    def original_place(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and column in the original for those in the new text; both count from 1."""
        lines = self.text.split("\n")
        offset = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        shift = 0
        for edit in self._in_order:
            begin = edit.start + shift
            if offset < begin:
                break
            if offset < begin + len(edit.text):
                return _line_and_column(self.source, edit.start if edit.cause < 0 else edit.cause)
            shift += len(edit.text) - (edit.end - edit.start)
        return _line_and_column(self.source, min(offset - shift, len(self.source)))

    @cached_property
    def _in_order(self) -> list[Edit]:
        return sorted(self.edits, key=lambda edit: (edit.start, edit.end))


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")
