"""
Which graphs there are, and what readers may see of them: looked up when something was written, once for all callers.

*Because:* a caller gets a view of the service of their own for each request, and one who makes thousands of graphs would otherwise
have them listed anew for every question of everybody.
"""

from __future__ import annotations

import threading

from memento.backends import Backends
from memento.iris import IRI, audit_iri, data_iri, provenance_iri
from memento.model import Scope
from memento.sparql.asking import Visible


class Listing:
    """The graphs of one store. May be used from many threads."""

    def __init__(self, parts: Backends) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._writes = -1
        self._graphs: tuple[IRI, ...] = ()
        self._seen: dict[tuple[Scope, bool, bool, tuple[IRI, ...]], Visible] = {}

    def visible(self, scope: Scope, *, is_whole: bool, is_admin: bool, derived: tuple[IRI, ...] = ()) -> Visible:
        """
        What a reader of a scope may see.

        Args:
            is_whole: whether all namespaces of the tenant are the reader's; only then what tells of all of them.
            is_admin: whether the reader also sees who changed graphs by SPARQL.
            derived: the graphs of what follows, which need not be there yet, and of cases.
        """
        with self._lock:
            self._look()
            key = (scope, is_whole, is_admin, derived)
            if key not in self._seen:
                self._seen[key] = _visible(scope, self._graphs, derived, is_whole=is_whole, is_admin=is_admin)
            return self._seen[key]

    def beginning(self, name: str) -> tuple[IRI, ...]:
        """The graphs whose names begin so, sorted."""
        with self._lock:
            self._look()
            return tuple(graph for graph in self._graphs if graph.startswith(name))

    def _look(self) -> None:
        """List the graphs, unless nothing was written since; the lock is held."""
        graph = self._parts.graph  # another one once a backup was put back
        writes = graph.writes  # before the look: what is written meanwhile may or may not be in it
        if writes != self._writes:
            self._graphs, self._seen = tuple(graph.graphs()), {}
            self._writes = writes


def _visible(
    scope: Scope, graphs: tuple[IRI, ...], derived: tuple[IRI, ...], *, is_whole: bool, is_admin: bool
) -> Visible:
    free = (graph for graph in graphs if graph.startswith(data_iri(scope.tenant, "")))
    default = (*scope.readable, *free, *derived)
    provenance = (provenance_iri(scope.tenant),) if is_whole else ()
    audit = (audit_iri(scope.tenant),) if is_admin else ()
    return Visible(default=default, named=(*default, *provenance, *audit))
