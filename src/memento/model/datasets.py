"""Which graphs somebody reads and writes by SPARQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote, unquote

from memento.iris import IRI, data_iri, graph_iri

_LONGEST = 200  # characters of a name, as of a namespace's


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """
    What one caller reads and writes: graphs by name, never by what is in them.

    `default` is read where a pattern names no graph, `named` where it names one; None for both is a plain dataset, all of it.
    Quads that name no graph are written `into` a graph; None is the default graph. A `tenant` writes the memories of its
    `namespaces`, of all of them when there are none here, and its free graphs; None writes everywhere.
    """

    default: tuple[IRI, ...] | None = None
    named: tuple[IRI, ...] | None = None
    into: IRI | None = None
    tenant: str | None = None
    namespaces: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is a dataset without owners: all of it may be read and written."""
        return self.tenant is None

    def holds_memories(self, graph: str) -> bool:
        """Whether a graph is one of the memories that may be written here."""
        name = self._name(graph, graph_iri)
        return name is not None and (not self.namespaces or name in self.namespaces)

    @property
    def free(self) -> str:
        """How the names of the tenant's free graphs begin; "" where there is no tenant."""
        return data_iri(self.tenant, "") if self.tenant is not None else ""

    def is_free(self, graph: str) -> bool:
        """Whether a graph is one of the tenant's own, in which any RDF may stand."""
        return self._name(graph, data_iri) is not None

    def writes(self, graph: str) -> bool:
        """Whether a graph may be written, whether it is there or not; "" is the default graph."""
        return self.is_plain or self.holds_memories(graph) or self.is_free(graph)

    def reads(self, graph: str) -> bool:
        """Whether a graph may be read, whether it is there or not."""
        return self.named is None or graph in self.named or graph in (self.default or ()) or self.writes(graph)

    def among(self, graphs: Iterable[str]) -> tuple[IRI, ...]:
        """Those of some graphs that may be read; what is not there reads as empty."""
        return tuple(IRI(graph) for graph in graphs if self.reads(graph))

    def choosing(self, default: Iterable[str], named: Iterable[str]) -> Self:
        """The same with a narrower choice of what is read, as FROM and USING make it."""
        return replace(self, default=self.among(default), named=self.among(named))

    def _name(self, graph: str, called: Callable[[str, str], IRI]) -> str | None:
        """What a graph of this tenant is called, when it is of a kind and spelled in the one way that counts."""
        if self.tenant is None:
            return None
        start = called(self.tenant, "")
        name = unquote(graph.removeprefix(start)) if graph.startswith(start) else ""
        is_name = bool(name.strip()) and len(name) <= _LONGEST and name.isprintable()
        return name if is_name and graph == start + quote(name, safe="") else None
