"""What a worker is asked to do and what comes back: nouns only, so that the child that reads them imports nothing else."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Protocol

from memento.graph.acts import Document, Operation, Terms
from memento.sparql.edits import Edited


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """How like a text, or what an IRI names, everything is that the reader may see; see `graph.likeness`."""

    asked: str
    is_iri: bool
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    A query that passed the guard, to be answered on a snapshot.

    `default_graphs` and `named_graphs` are the dataset, both or neither: they are the access control, and an empty one reads
    nothing. None leaves the dataset to the query and the store (bare mode). `media` is the media type of the answer, `weight` what
    its shape promises (`weight.weight`).
    """

    sparql: str
    media: str
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None
    base: str | None = None
    weight: int = 2
    edited: Edited | None = None
    """How it was asked, where that was something else."""
    tables: tuple[Table, ...] = ()
    """What `mem:similarity` looks up."""
    takes_stale: bool = False

    def sent(self, **more: object) -> dict[str, object]:
        """As a worker reads it; the data of the tables comes apart."""
        tables = [{"asked": one.asked, "is_iri": one.is_iri, "size": len(one.data)} for one in self.tables]
        more = {"tables": tables, **more}
        dataset = {"default_graphs": self.default_graphs, "named_graphs": self.named_graphs}
        return {"kind": "query", "sparql": self.sparql, "media": self.media, "base": self.base, **dataset, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """
    The operations of an update that passed the guard, to be tried on a snapshot; what comes back is a `graph.delta.Delta`, packed.

    Where one operation reads what another has changed, the worker makes a copy of the snapshot at `scratch`. Given data are only
    read: `is_data` gives back what is said to go and to come, whatever the store holds, and any snapshot will do.
    """

    sparql: str
    operations: tuple[Operation, ...]
    terms: Terms
    scratch: str
    is_data: bool = False
    media: str = "application/octet-stream"
    weight: int = 2
    edited: Edited | None = None
    tables: tuple[Table, ...] = ()

    @property
    def takes_stale(self) -> bool:
        """Whether a snapshot will do that was taken earlier."""
        return self.is_data

    def sent(self, **more: object) -> dict[str, object]:
        """As a worker reads it."""
        plain = {"operations": [asdict(one) for one in self.operations], "terms": asdict(self.terms)}
        kind = "data" if self.is_data else "update"
        return {"kind": kind, "media": self.media, "scratch": self.scratch, **plain, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """
    Documents for one graph ("" is the default graph), in the place of what is there or beside it; comes back as an update.

    With `is_data` all that they say is given back, whatever the store holds, and any snapshot will do.
    """

    documents: tuple[Document, ...]
    graph: str
    replaces: bool
    terms: Terms
    is_data: bool = False
    sparql: str = ""
    media: str = "application/octet-stream"
    weight: int = 2
    edited: Edited | None = None
    tables: tuple[Table, ...] = ()

    @property
    def takes_stale(self) -> bool:
        """Whether a snapshot will do that was taken earlier."""
        return self.is_data

    def sent(self, **more: object) -> dict[str, object]:
        """As a worker reads it."""
        plain = {"documents": [asdict(one) for one in self.documents], "terms": asdict(self.terms)}
        return {
            "kind": "upload",
            "media": self.media,
            "graph": self.graph,
            "replaces": self.replaces,
            "is_data": self.is_data,
            **plain,
            **more,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """
    A document of any format to be written as N-Quads into the file `target`; comes back as how many quads they are, in JSON.

    It may take `seconds`, as a long one takes longer than a query may, and make at most `most_bytes`.
    """

    path: str
    form: str
    name: str
    target: str
    seconds: float
    most_bytes: int
    sparql: str = ""
    media: str = "application/json"
    weight: int = 2
    edited: Edited | None = None
    tables: tuple[Table, ...] = ()
    takes_stale: bool = True

    def sent(self, **more: object) -> dict[str, object]:
        """As a worker reads it."""
        plain = {
            "path": self.path,
            "form": self.form,
            "name": self.name,
            "target": self.target,
            "most": self.most_bytes,
        }
        return {"kind": "rewrite", "media": self.media, **plain, **more}


Job = Query | Update | Upload | Rewrite


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
