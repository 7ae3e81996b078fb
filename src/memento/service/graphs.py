"""
Run updates, and read and write whole graphs, over any kind of store: every SPARQL interface uses this.

*Because:* memories and a plain dataset (`memento serve --bare`) differ only in who owns which graph and in what else a write does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memento.model import Changed, Dataset
from memento.sparql.description import Statistics, describe_dataset, describe_service
from memento.sparql.jobs import Answer, WaitingClient
from memento.sparql.prepare import QueryRequest
from memento.sparql.update import GraphStore, SentDocument, Using, WriteRequest, resolve_target


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCall:
    """
    The options of a request: its namespace, the base IRI of a write, the timeout in seconds, and the client, whose disconnect ends
    a query.
    """

    namespace: str | None
    base: str | None = None
    timeout_s: float | None = None
    waiting: WaitingClient | None = None


class Graphs(ABC):
    """The graphs of one caller."""

    def __init__(self, statistics: Statistics, caller: str, *, may_write: bool) -> None:
        """
        Args:
            caller: the caller whose share of the workers a query uses.
            may_write: whether the caller may write at all.
        """
        self._statistics = statistics
        self.caller = caller
        self.may_write = may_write

    @abstractmethod
    def answer_query(self, query: QueryRequest, call: GraphCall) -> Answer:
        """Run a query and return rows as they arrive, for callers that can stream; a later failure is raised by the chunks."""

    def update(self, sparql: str, using: Using, call: GraphCall) -> Changed:
        """Run an update."""
        return self.store.commit_update(sparql, self.write_request(call), using)

    def read_graph(self, graph: str | None, call: GraphCall, *, accept: str = "") -> Answer:
        """Read all triples of a graph as they arrive."""
        dataset = self.dataset(call.namespace, "read")
        return self.store.read_graph(graph, dataset, accept=accept, caller=self.caller, waiting=call.waiting)

    def upload(
        self, documents: Sequence[SentDocument], graph: str | None, call: GraphCall, *, replaces: bool
    ) -> Changed:
        """Put several documents into one graph."""
        request = self.write_request(call)
        return self.store.upload(
            documents, resolve_target(graph, request.dataset, empties=replaces), request, replaces=replaces
        )

    def patch(self, sparql: str, graph: str | None, call: GraphCall) -> Changed:
        """Run an update that reads and writes one graph only."""
        return self.store.patch(sparql, graph, self.write_request(call))

    def drop_graph(self, graph: str | None, call: GraphCall) -> Changed:
        """Remove a graph."""
        request = self.write_request(call)
        return self.store.drop(resolve_target(graph, request.dataset, empties=True), request)

    def description(self, endpoint: str, *, accept: str = "", namespace: str | None) -> tuple[bytes, str]:
        """
        Describe the SPARQL service at an address and what the caller may use of it; return the document and its media type.

        Raises:
            NotAcceptable: no offered media type fits.
        """
        dataset = self.dataset(namespace, "read")
        counts = self._statistics.count_statements(dataset, self.store.writes, self.caller)
        return describe_service(endpoint, dataset, counts, accept, may_write=self.may_write)

    def void(self, endpoint: str, *, accept: str = "", namespace: str | None) -> tuple[bytes, str]:
        """Return the size of the graphs that the caller sees; as `description`."""
        dataset = self.dataset(namespace, "read")
        return describe_dataset(
            endpoint, self._statistics.count_statements(dataset, self.store.writes, self.caller), accept
        )

    @abstractmethod
    def named_graph(self, name: str, address: str) -> str:
        """
        Return the graph that the end of an address of the graph store names.

        Args:
            address: the whole address, without parameters.
        """

    @abstractmethod
    def fresh_graph(self, address: str) -> str:
        """Return a name for an unnamed graph; `address` is that of the graph store."""

    @abstractmethod
    def dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        """Return the graphs that the caller reads and writes; raise `Forbidden` without that right."""

    @abstractmethod
    def write_request(self, call: GraphCall) -> WriteRequest:
        """Return the graphs that the caller may write, and how to commit; raise `Forbidden` without the right to write."""

    @property
    @abstractmethod
    def store(self) -> GraphStore:
        """Return the graphs, the same for every caller."""
