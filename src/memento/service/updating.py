"""
What changes the graphs of a tenant by SPARQL and by the Graph Store Protocol, and what the indexes and the history make of it.

*Guarantees:* a change is written whole or not at all, with a line of its own in the audit graph; when a call returns, the next
recall and the next query see it.
"""

from __future__ import annotations

from typing import Literal

from memento.graph import mapping
from memento.graph.delta import Delta
from memento.iris import IRI, audit_iri, data_iri, mint
from memento.model import Change, Dataset, Update
from memento.service.graphs import Graphs
from memento.service.querying import Querying
from memento.sparql.change import Errand, GraphStore, is_absolute
from memento.sparql.jobs import Waiting
from memento.sparql.memories import effect
from memento.time import now


class Updating(Querying, Graphs):
    """Updates, and whole graphs in and out."""

    def named_graph(self, name: str, address: str) -> str:
        """The graph that a name at the end of an address of the graph store means: an IRI itself, or a free graph's name."""
        return name if is_absolute(name) else data_iri(self._access.tenant, name)

    def fresh_graph(self, address: str) -> str:
        """A name for a graph that nobody has named."""
        return data_iri(self._access.tenant, mint("graph").rpartition(":")[2])

    @property
    def _caller(self) -> str:
        return self._access.caller

    @property
    def _may_write(self) -> bool:
        return self._access.may("write")

    @property
    def _store(self) -> GraphStore:
        return GraphStore(self._parts.graph, self._workers, self.settings.limits, self._writing)

    def _dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        """What the caller reads and writes by SPARQL."""
        scope = self._in(namespace, right)
        visible = self._visible(scope)
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
            caller=self._caller,
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
