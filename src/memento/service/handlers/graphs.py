"""Answer SPARQL over a caller's graphs: queries, updates, reading and writing whole graphs."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memento.errors import InputError
from memento.graph import mapping
from memento.graph.store import Delta
from memento.iris import CASES, IRI, audit_iri, data_iri, mint
from memento.model import Change, Changed, Dataset, Scope
from memento.model import Update as AuditEntry
from memento.operations import graphs as operations
from memento.operations.recall import Recall
from memento.retrieval import pipeline
from memento.retrieval.likeness import build_table, build_table_of
from memento.service.context import Context, handles
from memento.service.handlers.care import back_up
from memento.service.handlers.recall import prepare
from memento.sparql.description import describe_dataset, describe_service
from memento.sparql.effects import GraphsAfter, judge_effect
from memento.sparql.jobs import Answer, WaitingClient
from memento.sparql.prepare import QueryRequest, prepare_query
from memento.sparql.rewrite import SERVICES, MemoryAccess, SearchBlock
from memento.sparql.update import GraphStore, SentDocument, Using, WriteRequest, is_absolute, resolve_target
from memento.time import now

logger = logging.getLogger(__name__)

_READS = re.compile("where|copy|move|add", re.IGNORECASE)
"""Words that an update with a reading pattern contains, and some others too."""


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


class Graphs:
    """
    The graphs of one caller's tenant: memories, free graphs and inferred triples.

    *Guarantees:* a change is written whole or not at all, with an entry in the audit graph; when a call returns, the next recall
    and the next query see it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._statistics = context.service.statistics
        self.caller = context.access.caller
        """The caller whose share of the workers a query uses."""
        self.may_write = context.access.may("write")
        """Whether the caller may write at all."""

    def answer_query(self, query: QueryRequest, call: GraphCall) -> Answer:
        """
        Run a query with the services that query the memory; return the answer as it arrives.

        A later failure is raised by the chunks.
        """
        context, service = self._context, self._context.service
        scope = context.scope(call.namespace)
        sparql, limits = service.endpoints.answer_services(query.sparql, context.settings.limits, others=SERVICES)
        found = prepare_query(
            replace(query, sparql=sparql), context.visible_graphs(scope), limits, _memory_in_query(scope, context)
        )
        read = {*(found.default_graphs or ()), *(found.named_graphs or ())}
        self._refresh_inferences(read, call.namespace)
        self._note_cases(read, found.digest)
        return service.workers.run(found, caller=self.caller, timeout_s=call.timeout_s, waiting=call.waiting)

    def update(self, sparql: str, using: Using, call: GraphCall) -> Changed:
        """Run an update, which may read with its patterns."""
        is_reading = _READS.search(sparql) is not None
        if is_reading:
            self._refresh_inferences(self.dataset(call.namespace, "read").named or (), call.namespace)
        changed = self.store.commit_update(sparql, self.write_request(call), using)
        if is_reading:
            self._note_cases(self.dataset(call.namespace, "write").named or ())
        return changed

    def read_graph(self, graph: str | None, call: GraphCall, *, accept: str = "") -> Answer:
        """Read all triples of a graph as they arrive."""
        self._refresh_inferences([graph or ""], call.namespace)
        dataset = self.dataset(call.namespace, "read")
        answer = self.store.read_graph(graph, dataset, accept=accept, caller=self.caller, waiting=call.waiting)
        self._note_cases([graph or ""])
        return answer

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

    def _refresh_inferences(self, graphs: Iterable[str], namespace: str | None) -> None:
        """Update the inferred triples if they are among the graphs to be read: they may depend on a write of a moment ago."""
        scope = self._context.scope(namespace)
        if (readers := self._context.list_inferring()) and scope.inferred in set(graphs):
            self._context.stores.inferences.refresh(scope, now(), readers)

    def _note_cases(self, graphs: Iterable[str], digest: str = "") -> None:
        """Record for the audit graph that a caller may have read cases."""
        if cases := tuple(sorted(IRI(graph) for graph in graphs if graph.startswith(CASES))):
            access = self._context.access
            self._context.service.case_reads.note_read(access.name, access.tenant, digest, cases, now())

    def named_graph(self, name: str, address: str) -> str:
        """
        Return the graph that the end of an address of the graph store means: an IRI itself, or the name of a free graph.

        Args:
            address: the whole address, without parameters.
        """
        return name if is_absolute(name) else data_iri(self._context.access.tenant, name)

    def fresh_graph(self, address: str) -> str:
        """Return a name for an unnamed graph; `address` is that of the graph store."""
        return data_iri(self._context.access.tenant, mint("graph").rpartition(":")[2])

    @property
    def store(self) -> GraphStore:
        """Return the graphs, the same for every caller."""
        service = self._context.service
        return GraphStore(service.stores.graph, service.workers, service.settings.limits, service.writing)

    def dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        """Return the graphs that the caller reads and writes by SPARQL; raise `Forbidden` without that right."""
        scope = self._context.scope(namespace, right)
        visible = self._context.visible_graphs(scope)
        return Dataset(
            default=visible.default,
            named=visible.named,
            into=scope.graph,
            tenant=scope.tenant,
            namespaces=self._context.access.namespaces,
            free_readable=self._context.access.readable_graphs,
            free_writable=self._context.access.writable_graphs,
        )

    def write_request(self, call: GraphCall) -> WriteRequest:
        """Return the graphs that the caller may write, and how to commit; raise `Forbidden` without the right to write."""
        dataset = self.dataset(call.namespace, "write")
        return WriteRequest(
            dataset=dataset,
            caller=self.caller,
            commit=lambda delta: self._commit(delta, dataset),
            redact=lambda delta: self._redact(delta, call.namespace),
            prepare=lambda delta: self._keep_memories(delta, dataset),
            base=call.base,
            timeout_s=call.timeout_s,
            waiting=call.waiting,
        )

    def _keep_memories(self, delta: Delta, dataset: Dataset) -> None:
        """Make a backup before a change that would empty a graph of memories, so that the change can be undone."""
        service, graph = self._context.service, self._context.stores.graph
        held = [IRI(name) for name in delta.touched if dataset.holds_memories(name) and graph.has_graph(IRI(name))]
        after = GraphsAfter(graph, delta, held) if delta.removed and graph.is_on_disk else None
        emptied = [name for name in held if after and any(graph.match(graph=name)) and after.is_emptied(name)]
        if emptied:
            self._context.require_writable()
            with service.importing:
                made = back_up(service.datadir.backups, None, service)
            logger.warning("graph.emptied", extra={"graphs": emptied, "backup": made.folder})

    def _redact(self, delta: Delta, namespace: str | None) -> Delta:
        """
        Return a change with the secrets in its added texts redacted; removed texts stay as they are, to match the stored ones.
        """
        redaction = self._context.begin_redaction(namespace)
        redacted = replace(delta, adds=redaction.redact_quads(delta.adds))
        redaction.close()
        return redacted

    def _commit(self, delta: Delta, dataset: Dataset) -> None:
        """Write a permitted change with everything that depends on it; hold the write lock."""
        assert dataset.tenant is not None
        stores = self._context.stores
        done = judge_effect(delta, dataset, stores, self._context.settings.limits.update_nodes)
        entry = AuditEntry(
            iri=mint("update"),
            at=now(),
            token=self._context.access.name,
            graphs=tuple(IRI(graph) for graph in delta.touched),
            added=delta.added,
            removed=delta.removed,
        )
        audit = Change(tuple(mapping.quads(entry, audit_iri(dataset.tenant))))
        if done.nodes:
            stores.invalidate_copies(done.nodes)
        stores.amend(done.delta + audit, done.nodes, done.graphs, done.texts)
        if done.nodes:
            stores.invalidate_copies(done.nodes)  # copies that were made meanwhile


@handles(operations.Query)
def query(operation: operations.Query, context: Context) -> tuple[bytes, str]:
    """Run a query to its end."""
    question = QueryRequest(
        sparql=operation.sparql,
        accept=operation.accept,
        default_graphs=tuple(operation.default_graphs) if operation.default_graphs else None,
        named_graphs=tuple(operation.named_graphs) if operation.named_graphs else None,
    )
    call = GraphCall(namespace=operation.namespace, timeout_s=operation.timeout_s)
    return read_whole(Graphs(context).answer_query(question, call))


@handles(operations.Update)
def update(operation: operations.Update, context: Context) -> Changed:
    """Run an update."""
    using = Using(default=tuple(operation.using_graphs or ()), named=tuple(operation.using_named_graphs or ()))
    call = GraphCall(namespace=operation.namespace, timeout_s=operation.timeout_s)
    return Graphs(context).update(operation.sparql, using, call)


@handles(operations.GetGraph)
def get_graph(operation: operations.GetGraph, context: Context) -> tuple[bytes, str]:
    """Read a graph to its end."""
    call = GraphCall(namespace=operation.namespace)
    return read_whole(Graphs(context).read_graph(operation.graph, call, accept=operation.accept))


@handles(operations.PutGraph)
def put_graph(operation: operations.PutGraph, context: Context) -> Changed:
    """Replace a graph."""
    return _upload(operation, context, replaces=True)


@handles(operations.PostGraph)
def post_graph(operation: operations.PostGraph, context: Context) -> Changed:
    """Add to a graph."""
    return _upload(operation, context, replaces=False)


@handles(operations.PatchGraph)
def patch_graph(operation: operations.PatchGraph, context: Context) -> Changed:
    """Run an update in one graph."""
    return Graphs(context).patch(operation.sparql, operation.graph, GraphCall(namespace=operation.namespace))


@handles(operations.DeleteGraph)
def delete_graph(operation: operations.DeleteGraph, context: Context) -> Changed:
    """Remove a graph."""
    return Graphs(context).drop_graph(operation.graph, GraphCall(namespace=operation.namespace))


def read_whole(answer: Answer) -> tuple[bytes, str]:
    """Return the whole of an answer, and its media type."""
    try:
        return b"".join(answer.chunks), answer.media
    finally:
        answer.close()


def _upload(operation: operations.PutGraph | operations.PostGraph, context: Context, *, replaces: bool) -> Changed:
    documents: Sequence[SentDocument] = [SentDocument(content=io.BytesIO(operation.document), media=operation.media)]
    call = GraphCall(namespace=operation.namespace)
    return Graphs(context).upload(documents, operation.graph, call, replaces=replaces)


def _memory_in_query(scope: Scope, context: Context) -> MemoryAccess:
    """Return the functions with which a query asks the memory of a scope."""

    def recall_block(question: str, block: SearchBlock) -> Sequence[tuple[IRI, float]]:
        """Return the memories that a recall of the question finds, and the score of each."""
        most = context.settings.limits.results
        if block.k is not None and not 1 <= block.k <= most:
            raise InputError(f"mem:limit must be from 1 to {most}, not {block.k}")
        operation = Recall(
            question,
            k=block.k,
            as_of=block.as_of,
            believed_at=block.believed_at,
            profile=block.profile,
            engine=block.engine,
            gate=block.gate,
        )
        query, chosen = prepare(operation, scope, context)
        return [(one.item, one.score) for one in pipeline.rank_memories(query, context.stores, chosen)]

    def compare(text: str, is_iri: bool) -> bytes:
        """Return a table of the similarity of every memory and entity of the scope to a text, or to a memory or entity."""
        if is_iri:
            return build_table_of(IRI(text), scope, context.stores)
        context.require_text(text, "the text of mem:similarity")
        text = context.redact_question(text, scope.namespace)
        return build_table(text, scope, context.stores)

    return MemoryAccess(zone=context.service.zone, recall=recall_block, compare=compare)
