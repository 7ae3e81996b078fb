"""What a worker is asked to do and what comes back: nouns only, so that the child that reads them imports nothing else."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    A query that passed the guard, to be answered on a snapshot.

    `default_graphs` and `named_graphs` are the dataset, both or neither: they are the access control, and an empty one reads
    nothing. None leaves the dataset to the query and the store (bare mode). `media` is the media type of the answer. `is_light`
    says that its shape promises an answer at once, which lets it use the worker that is kept for such queries.
    """

    sparql: str
    media: str
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None
    base: str | None = None
    is_light: bool = False
    kind: Literal["query"] = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """
    An update that passed the guard, to be tried on a writable copy of a snapshot, which is thrown away afterwards.

    What comes back is a document of lines `- quad .` and `+ quad .` in N-Quads: what it removes, then what it adds.
    """

    sparql: str
    base: str | None = None
    kind: Literal["update"] = "update"


Job = Query | Update


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far one job may go: seconds of evaluation, rows of a SELECT, bytes of the answer."""

    seconds: float
    rows: int
    bytes: int


class Waiting(Protocol):
    """Whoever waits for an answer and may leave: `web.departures.Presence` is one."""

    has_left: bool

    def hold(self, answering: socket.socket, /) -> bool:
        """Have this socket shut down when the caller leaves; False when that has happened already."""
        ...

    def release(self) -> None:
        """The socket may be used for somebody else from now on."""
        ...


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
