"""Whose memory, and which part of it: the graphs that are read and the one that is written."""

from __future__ import annotations

from dataclasses import dataclass

from memento.iris import IRI, ONTOLOGY, graph_iri, inferred_iri, provenance_iri, self_iri, user_iri


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory, and which part of it: decides the graph that is written and the graphs that may be read."""

    tenant: str = "local"
    namespace: str = "main"
    with_main: bool = True  # whether reads cover `main` too

    @property
    def graph(self) -> IRI:
        """The named graph that this scope writes to."""
        return graph_iri(self.tenant, self.namespace)

    @property
    def memory_graphs(self) -> tuple[IRI, ...]:
        """The graphs whose memories this scope may recall: its own, and mostly `main`."""
        return tuple(dict.fromkeys((self.graph, graph_iri(self.tenant, "main")))) if self.with_main else (self.graph,)

    @property
    def readable(self) -> tuple[IRI, ...]:
        """Every graph this scope may read: its memories, the tenant's user, the ontology."""
        return (*self.memory_graphs, self.self_graph, ONTOLOGY)

    @property
    def self_graph(self) -> IRI:
        """The named graph of the tenant's user."""
        return self_iri(self.tenant)

    @property
    def provenance(self) -> IRI:
        """The named graph of the tenant's runs: who made which memory of which note."""
        return provenance_iri(self.tenant)

    @property
    def inferred(self) -> IRI:
        """The named graph of what follows from the graphs that this scope reads."""
        return inferred_iri(self.tenant, self.namespace, alone=not self.with_main and self.namespace != "main")

    @property
    def user(self) -> IRI:
        """The one user of the tenant."""
        return user_iri(self.tenant)
