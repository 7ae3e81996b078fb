"""
What a worker is asked to do and what comes back: queries, the operations of an update, documents; nouns that travel as JSON, so
that the child that reads them imports nothing else.
"""

from __future__ import annotations

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

from memento.graph.store import DEFAULT

CHEAP, LIKELY, UNKNOWN = 0, 1, 2
"""Cost classes: what answers at once, what most likely does, what may take as long as it likes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityData:
    """How like a text, or what an IRI names, everything is that the reader may see; see `graph.similarity`."""

    asked: str
    is_iri: bool
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(ABC):
    """
    Anything that a worker does on a snapshot.

    `media` is the media type of what comes back, `cost` the cost class. Where `sparql` is not what was asked, `edited` says how it
    came to be. `tables` are what `mem:similarity` looks up. With `is_data` the job does not look at what the store holds, and any
    snapshot will do.
    """

    sparql: str = ""
    media: str = "application/octet-stream"
    cost: int = UNKNOWN
    edited: Edited | None = None
    tables: tuple[SimilarityData, ...] = ()
    is_data: bool = False

    @property
    def reads(self) -> tuple[str, ...] | None:
        """The graphs that it may look at; None is any."""
        return None

    @abstractmethod
    def to_plain(self) -> dict[str, object]:
        """Return the job as a worker reads it; the data of the tables comes apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Job):
    """
    A query that passed the guard, to be answered on a snapshot.

    `default_graphs` and `named_graphs` are the dataset, both or neither: they are the access control, and an empty one reads
    nothing. None leaves the dataset to the query and the store (bare mode). `digest` is that of the text without its strings and
    numbers, to tell which queries are alike.
    """

    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None
    base: str | None = None
    digest: str = ""

    @property
    def reads(self) -> tuple[str, ...] | None:
        if self.default_graphs is None or self.named_graphs is None:
            return None
        return (*self.default_graphs, *self.named_graphs)

    def to_plain(self) -> dict[str, object]:
        return {
            "kind": "query",
            "sparql": self.sparql,
            "media": self.media,
            "base": self.base,
            "default_graphs": self.default_graphs,
            "named_graphs": self.named_graphs,
            "tables": [{"asked": one.asked, "is_iri": one.is_iri, "size": len(one.data)} for one in self.tables],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Job):
    """
    The operations of an update that passed the guard, to be tried on a snapshot; what comes back is a `graph.store.Delta`, packed.

    Where one operation reads what another has changed, the worker makes a copy of the snapshot at `scratch`. With `is_data` what is
    said to go and to come is given back, whatever the store holds.
    """

    operations: tuple[Operation, ...]
    options: TrialOptions
    scratch: str

    def to_plain(self) -> dict[str, object]:
        return {
            "kind": "data" if self.is_data else "update",
            "media": self.media,
            "scratch": self.scratch,
            "operations": [asdict(one) for one in self.operations],
            "options": asdict(self.options),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(Job):
    """
    Documents for one graph ("" is the default graph), in the place of what is there or beside it; comes back as an update.

    With `is_data` all that they say is given back, whatever the store holds.
    """

    documents: tuple[Document, ...]
    graph: str
    replaces: bool
    options: TrialOptions

    def to_plain(self) -> dict[str, object]:
        return {
            "kind": "upload",
            "media": self.media,
            "graph": self.graph,
            "replaces": self.replaces,
            "is_data": self.is_data,
            "documents": [asdict(one) for one in self.documents],
            "options": asdict(self.options),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite(Job):
    """
    A document of any format to be written as N-Quads into the file `target`; comes back as how many quads they are, in JSON.

    It may take `seconds`, as a long one takes longer than a query may, and make at most `most_bytes`.
    """

    media: str = "application/json"
    is_data: bool = True
    path: str
    form: str
    name: str
    target: str
    seconds: float
    most_bytes: int

    def to_plain(self) -> dict[str, object]:
        return {
            "kind": "rewrite",
            "media": self.media,
            "path": self.path,
            "form": self.form,
            "name": self.name,
            "target": self.target,
            "most": self.most_bytes,
        }


class WaitingClient:
    """Whoever waits for an answer and may leave, and the socket that the answer comes from."""

    def __init__(self) -> None:
        self.has_left = False
        self.is_broken = False
        self.on_leave: Callable[[], object] | None = None
        """Called when the caller leaves, by whoever notes it."""
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def hold(self, answering: socket.socket) -> bool:
        """Have this socket shut down when the caller leaves; False when that has happened already."""
        with self._lock:
            self._socket = None if self.has_left else answering
            return not self.has_left

    def release(self) -> None:
        """The socket may be used for somebody else from now on."""
        with self._lock:
            self._socket = None

    def leave(self) -> None:
        """Wake whoever waits on the socket; a thread that is blocked in a read can be woken in no other way."""
        with self._lock:
            self.has_left = True
            if self._socket:
                with suppress(OSError):
                    # Not the method of a TLS socket, which would take the session away under the reader.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                self._socket = None
        if self.on_leave is not None:
            self.on_leave()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    What a worker answers: its media type, and the bytes as they come.

    Whoever takes one reads `chunks` to the end or calls `close`: either frees the worker. An answer that cannot be finished
    raises from `chunks` (`TimedOut`, `TooMuch`, `GraphError`); what came before is then not the whole.
    """

    media: str
    chunks: Iterator[bytes]
    close: Callable[[], None]
    whole: bytes | None = None
    """All of it, where it came at once; `chunks` has it too."""


NAMED, ALL = "NAMED", "ALL"
"""Every named graph, and these with the default graph: no IRI is called so."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modify:
    """
    INSERT, DELETE or both; of given data when `where` is empty.

    `deletes` and `inserts` are what the braces of the templates hold, with the IRI `marker` + name in the place of each variable;
    `variables` are those names. `where` is a group in its braces. `default` and `named` are the graphs that it reads, None for
    those of the store; with `free_default` and `free_named` also the free graphs that there are by then, those of the same request
    among them. Quads that name no graph are written `into` one.
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
    """ADD of one graph to another; `replaces` what is there, for COPY and MOVE; MOVE also `drops` the source."""

    source: str
    target: str
    replaces: bool = False
    drops: bool = False
    is_silent: bool = False
    kind: Literal["transfer"] = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a request: what it does, the prefixes and the base before it, and its own text with its place."""

    act: Modify | Clear | Create | Transfer
    prologue: str
    text: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """
    How a trial treats terms and graphs.

    With `no_blanks`, an IRI stands in the place of what would be a new blank node. A graph whose name begins with `listed`, when it
    is emptied, comes back quad by quad; others are only named. The names of free graphs begin with `free`. `most` quads may go and
    come.
    """

    base: str | None = None
    no_blanks: bool = False
    listed: str = ""
    free: str = ""
    most: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An RDF document in a file, and what its relative IRIs are relative to."""

    path: str
    media: str
    base: str | None = None


def operation_from_plain(plain: Mapping[str, Any]) -> Operation:
    """Build an operation that `dataclasses.asdict` made plain and that has been JSON since."""
    acts = {"modify": Modify, "clear": Clear, "create": Create, "transfer": Transfer}
    act: Any = acts[plain["act"]["kind"]]
    return Operation(**{**plain, "act": from_plain(act, plain["act"])})


def from_plain(cls: type[T], plain: Mapping[str, Any]) -> T:
    """Build a noun of this module that was made plain: what JSON has as a list was a tuple."""
    names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items() if name in names})


class Edit(NamedTuple):
    """`text` in the place of `original[start:end]`; `cause` is where to look when something is wrong with it."""

    start: int
    end: int
    text: str
    cause: int = -1


@dataclass(frozen=True)
class Edited:
    """
    A text with pieces replaced, and the way back: which place of the original a place of the new text comes from.

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
        """The text as it is now."""
        pieces, at = [], 0
        for edit in self._in_order:
            pieces += [self.source[at : edit.start], edit.text]
            at = edit.end
        return "".join([*pieces, self.source[at:]])

    def original_place(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and column of the original that those of the text come from; both count from 1."""
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
