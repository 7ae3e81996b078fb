"""
What changes the graphs by SPARQL and by the Graph Store Protocol, and what the indexes and the history make of it.

*Guarantees:* a change is written whole or not at all, with a line of its own in the audit graph; when a call returns, the next
recall and the next query see it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from memento.errors import Forbidden, NotFound
from memento.graph import mapping
from memento.graph.binding import query
from memento.graph.delta import Delta
from memento.instants import now
from memento.model import Change, Changed, Dataset, Update
from memento.service.querying import Querying
from memento.sparql.asking import Asked, Visible, job
from memento.sparql.change import Errand, Sent, Writer, is_absolute, target
from memento.sparql.jobs import Answer, Waiting
from memento.sparql.memories import effect
from memento.sparql.plan import Using
from memento.vocabulary import IRI, audit_iri, data_iri, mint


class Updating(Querying):
    """Updates, and whole graphs in and out."""

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
        waiting: Waiting | None = None,
    ) -> Changed:
        """The same, for a door that knows who waits and what relative IRIs are relative to."""
        errand = self._errand(namespace, base=base, timeout_s=timeout_s, waiting=waiting)
        return self._writer.update(sparql, errand, using)

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
        waiting: Waiting | None = None,
    ) -> Answer:
        """The same as it comes, for whoever can pass on a part."""
        dataset = self._dataset(namespace, "read")
        name = target(graph, dataset)
        if not dataset.reads(name):
            raise Forbidden(f"the graph <{name}> is not yours to read")
        if graph is not None and not self._parts.graph.has(IRI(name)):
            raise NotFound(f"there is no graph <{name}>")
        only = Visible(default=(IRI(name),), named=())
        found = job(Asked(sparql=query("sparql/graph").text, accept=accept), only, self.settings.limits)
        return self._workers.run(found, caller=self._access.caller, waiting=waiting)

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
            [Sent(content=io.BytesIO(document), media=media)], graph, replaces=True, namespace=namespace
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
            [Sent(content=io.BytesIO(document), media=media)], graph, replaces=False, namespace=namespace
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
        documents: Sequence[Sent],
        graph: str | None,
        *,
        replaces: bool,
        base: str | None = None,
        namespace: str | None = None,
        waiting: Waiting | None = None,
    ) -> Changed:
        """Several documents for one graph, for a door that has them as they come."""
        errand = self._errand(namespace, base=base, waiting=waiting)
        return self._writer.upload(
            documents, target(graph, errand.dataset, empties=replaces), errand, replaces=replaces
        )

    def dropped(
        self,
        graph: str | None,
        *,
        base: str | None = None,
        namespace: str | None = None,
        waiting: Waiting | None = None,
    ) -> Changed:
        """The same as `delete_graph`, for a door that knows who waits."""
        errand = self._errand(namespace, base=base, waiting=waiting)
        return self._writer.drop(target(graph, errand.dataset, empties=True), errand)

    def named_graph(self, name: str, address: str) -> str:
        """The graph that a name at the end of an address of the graph store means: an IRI itself, or a free graph's name."""
        return name if is_absolute(name) else data_iri(self._access.tenant, name)

    def fresh_graph(self, address: str) -> str:
        """A name for a graph that nobody has named."""
        return data_iri(self._access.tenant, mint("graph").rpartition(":")[2])

    @property
    def _writer(self) -> Writer:
        return Writer(self._parts.graph, self._workers, self.settings.limits, self._writing)

    def _dataset(self, namespace: str | None, right: str) -> Dataset:
        """What the caller reads and writes by SPARQL."""
        scope = self._in(namespace, "write" if right == "write" else "read")
        visible = self._visible(namespace)
        return Dataset(
            default=visible.default,
            named=visible.named,
            into=scope.graph,
            tenant=scope.tenant,
            namespaces=self._access.namespaces,
        )

    def _errand(
        self,
        namespace: str | None,
        *,
        base: str | None = None,
        timeout_s: float | None = None,
        waiting: Waiting | None = None,
    ) -> Errand:
        dataset = self._dataset(namespace, "write")
        return Errand(
            dataset=dataset,
            caller=self._access.caller,
            commit=lambda delta: self._committed(delta, dataset),
            base=base,
            timeout_s=timeout_s,
            waiting=waiting,
        )

    def _committed(self, delta: Delta, dataset: Dataset) -> None:
        """Write a change that may be made, with what goes along; the lock for writers is held."""
        assert dataset.tenant is not None
        done = effect(delta, dataset, self._parts, self.settings.limits.update_nodes)
        written = Update(
            iri=mint("update"),
            at=now(),
            token=self._access.name,
            graphs=tuple(IRI(graph) for graph in delta.touched),
            added=delta.added,
            removed=delta.removed,
        )
        audit = Change(tuple(mapping.quads(written, audit_iri(dataset.tenant))))
        if done.nodes:
            self._parts.forget_copies(done.nodes)
        self._parts.amend(done.delta + audit, done.nodes, done.graphs, done.texts)
        if done.nodes:
            self._parts.forget_copies(done.nodes)  # one that was made meanwhile
