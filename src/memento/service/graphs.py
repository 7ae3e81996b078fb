"""
Updates and whole graphs, in and out, over a store of whatever kind: what every door of SPARQL that writes goes through.

*Because:* memories and a plain dataset (`memento serve --bare`) differ in whose graphs are whose and in what a write brings along,
and in nothing else.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

from memento.model import Changed, Dataset
from memento.sparql.query.description import Statistics, describe_dataset, describe_service
from memento.sparql.update.graph_store import GraphStore, SentDocument, WriteRequest, resolve_target
from memento.sparql.update.parse import Using
from memento.sparql.worker.jobs import Answer, WaitingClient


class Graphs(ABC):
    """The graphs of one caller."""

    _statistics: Statistics

    def update(
        self,
        sparql: str,
        *,
        using_graphs: Sequence[str] | None = None,
        using_named_graphs: Sequence[str] | None = None,
        timeout_s: float | None = None,
        namespace: str | None = None,
    ) -> Changed:
        """
        Do what a SPARQL update says, all of it or nothing, in the graphs that the caller may write.

        A pattern without GRAPH reads what a query reads; a template without GRAPH, and DEFAULT, is the graph of the namespace.

        Args:
            using_graphs, using_named_graphs: what patterns read, instead of USING; what the caller may not see is left out.
            timeout_s: seconds it may take to try, at most `sparql.query_s`, which is the default.

        Raises:
            InputError: no SPARQL; names line and column.
            Forbidden: LOAD, SERVICE, a graph that is not the caller's, or no right to write.
            ShapeViolation: memories would break a shape; the report says how to mend them.
            NotFound, Conflict: it takes for granted that there is a graph, or that there is none.
            TooLong: its text, or what it changes, is over a limit; names it.
            Busy, TimedOut, TooMuch: as `query`.
        """
        using = Using(default=tuple(using_graphs or ()), named=tuple(using_named_graphs or ()))
        return self.updated(sparql, using, timeout_s=timeout_s, namespace=namespace)

    def updated(
        self,
        sparql: str,
        using: Using,
        *,
        base: str | None = None,
        timeout_s: float | None = None,
        namespace: str | None = None,
        waiting: WaitingClient | None = None,
    ) -> Changed:
        """The same, for a door that knows who waits and what relative IRIs are relative to."""
        errand = self._errand(namespace, base=base, timeout_s=timeout_s, waiting=waiting)
        return self._store.update(sparql, errand, using)

    def get_graph(
        self, graph: str | None = None, *, accept: str = "", namespace: str | None = None
    ) -> tuple[bytes, str]:
        """
        All triples of a graph, serialised, and the media type.

        Args:
            graph: its IRI; default the graph of the namespace.
            accept: an HTTP Accept header; default Turtle.

        Raises:
            NotFound: there is no such graph.
            Forbidden: it is not the caller's, whether it is there or not.
            NotAcceptable: no offered media type fits.
        """
        answer = self.graph_answer(graph, accept=accept, namespace=namespace)
        try:
            return b"".join(answer.chunks), answer.media
        finally:
            answer.close()

    def graph_answer(
        self,
        graph: str | None = None,
        *,
        accept: str = "",
        namespace: str | None = None,
        waiting: WaitingClient | None = None,
    ) -> Answer:
        """The same as it comes, for whoever can pass on a part."""
        dataset = self._dataset(namespace, "read")
        return self._store.read(graph, dataset, accept=accept, caller=self._caller, waiting=waiting)

    def put_graph(
        self,
        document: bytes,
        graph: str | None = None,
        *,
        media: str = "text/turtle",
        namespace: str | None = None,
    ) -> Changed:
        """
        Let a graph hold what a document says, and nothing else.

        Args:
            graph: its IRI; the default graph holds memories, and is replaced by its name alone.
            media: of the document: Turtle, N-Triples, RDF/XML, JSON-LD, N3, or TriG and N-Quads without other graphs.

        Raises:
            InputError: the document is not well formed, or of no such media type.
            Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """
        return self.uploaded(
            [SentDocument(content=io.BytesIO(document), media=media)], graph, replaces=True, namespace=namespace
        )

    def post_graph(
        self,
        document: bytes,
        graph: str | None = None,
        *,
        media: str = "text/turtle",
        namespace: str | None = None,
    ) -> Changed:
        """Add what a document says to a graph, to that of the namespace by default; raises as `put_graph`."""
        return self.uploaded(
            [SentDocument(content=io.BytesIO(document), media=media)], graph, replaces=False, namespace=namespace
        )

    def delete_graph(self, graph: str, *, namespace: str | None = None) -> Changed:
        """
        Take a graph away with all that is in it.

        Raises:
            NotFound: there is no such graph.
            Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
        """
        return self.dropped(graph, namespace=namespace)

    def uploaded(
        self,
        documents: Sequence[SentDocument],
        graph: str | None,
        *,
        replaces: bool,
        base: str | None = None,
        namespace: str | None = None,
        waiting: WaitingClient | None = None,
    ) -> Changed:
        """Several documents for one graph, for a door that has them as they come."""
        errand = self._errand(namespace, base=base, waiting=waiting)
        return self._store.upload(
            documents, resolve_target(graph, errand.dataset, empties=replaces), errand, replaces=replaces
        )

    def dropped(
        self,
        graph: str | None,
        *,
        base: str | None = None,
        namespace: str | None = None,
        waiting: WaitingClient | None = None,
    ) -> Changed:
        """The same as `delete_graph`, for a door that knows who waits."""
        errand = self._errand(namespace, base=base, waiting=waiting)
        return self._store.drop(resolve_target(graph, errand.dataset, empties=True), errand)

    def description(self, endpoint: str, *, accept: str = "", namespace: str | None = None) -> tuple[bytes, str]:
        """
        What the SPARQL service at an address is and may be asked by the caller, serialised, and the media type.

        Raises:
            NotAcceptable: no offered media type fits.
        """
        dataset = self._dataset(namespace, "read")
        counts = self._statistics.count(dataset, self._store.writes, self._caller)
        return describe_service(endpoint, dataset, counts, accept, may_write=self._may_write)

    def void(self, endpoint: str, *, accept: str = "", namespace: str | None = None) -> tuple[bytes, str]:
        """How much the graphs hold that the caller sees; as `description`."""
        dataset = self._dataset(namespace, "read")
        return describe_dataset(endpoint, self._statistics.count(dataset, self._store.writes, self._caller), accept)

    @abstractmethod
    def named_graph(self, name: str, address: str) -> str:
        """
        The graph that is meant by a name at the end of an address of the graph store.

        Args:
            address: the whole of it, without parameters.
        """

    @abstractmethod
    def fresh_graph(self, address: str) -> str:
        """A name for a graph that nobody has named; `address` is that of the graph store."""

    @abstractmethod
    def _dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        """What the caller reads and writes; raises `Forbidden` without that right."""

    @abstractmethod
    def _errand(
        self,
        namespace: str | None,
        *,
        base: str | None = None,
        timeout_s: float | None = None,
        waiting: WaitingClient | None = None,
    ) -> WriteRequest:
        """What the caller may write, and how it is committed; raises `Forbidden` without the right to write."""

    @property
    @abstractmethod
    def _store(self) -> GraphStore:
        """The graphs, whoever asks."""

    @property
    @abstractmethod
    def _caller(self) -> str:
        """Whose share of the workers it takes."""

    @property
    @abstractmethod
    def _may_write(self) -> bool:
        """Whether the caller has the right to write at all."""
