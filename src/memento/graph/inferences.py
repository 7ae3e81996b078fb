"""
Writes what follows from a reader's graphs into one graph for each reader, when that graph is read.

*Flow:* if something was written since, or premises are due, plug-ins read their `Premises`; if these have changed, they derive what
follows, and the differences are written to the graph of inferences.

*Guarantees:* what is read follows from every write before. When data of a tenant is erased, everything that was inferred for that
tenant is deleted at once, whether a plug-in infers or not. If one plug-in finds too many facts, nothing is inferred.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pyoxigraph as ox

from memento.graph.binding import SlotValues, bind_query
from memento.iris import IRI, data_iri, inferred_iri
from memento.model import Inferred, Scope

if TYPE_CHECKING:
    from memento.graph.oxigraph import Line, Oxigraph

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """
    What something follows from, for one reader.

    `derive` yields the triples that follow from `facts`, with each term in N-Triples syntax; it is called again when `facts` have
    changed, and raises `TooMuch` if nothing is to be inferred. `due` is when they change without a write.
    """

    facts: Hashable
    derive: Callable[[], Iterable[Line]]
    due: datetime | None = None


ReadPremises = Callable[[Scope, datetime], Premises | None]
"""Reads the premises of a reader that hold at a time; None if there are none."""


class TooMuch(Exception):
    """More facts take part than allowed."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A graph of inferences as it was written: after how many writes, from which premises, and until when it is right."""

    writes: int
    premises: int
    due: datetime | None
    is_complete: bool
    has_premises: bool


class Inferences:
    """What follows, for every scope. Thread-safe."""

    def __init__(self, graph: Oxigraph) -> None:
        self._graph = graph
        self._known: dict[IRI, _Known] = {}
        self._lock = threading.RLock()

    def current(self, scope: Scope, now: datetime, readers: Sequence[ReadPremises]) -> Inferred:
        """Update the graph of inferences of a scope and count what it has; raise `GraphError`."""
        with self._lock:
            self.refresh(scope, now, readers)
            graph, known = scope.inferred, self._known[scope.inferred]
            if not (known.is_complete and known.has_premises):
                return Inferred(namespace=scope.namespace, graph=graph, is_complete=known.is_complete)
            return Inferred(
                namespace=scope.namespace,
                graph=graph,
                triples=sum(1 for _ in self._graph.lines(graph)),
                contradictions=sum(1 for _ in self.select("inference/functional", [*self.list_sources(scope), graph])),
            )

    def refresh(self, scope: Scope, now: datetime, readers: Sequence[ReadPremises]) -> None:
        """Update the graph of inferences of a scope; raise `GraphError`."""
        with self._lock:
            known, writes = self._known.get(scope.inferred), self._graph.writes
            if known and known.writes == writes and not (known.due and known.due <= now):
                return
            premises = [found for read in readers if (found := read(scope, now))]
            digest, is_complete = hash(tuple(one.facts for one in premises)), True
            if known is None or known.premises != digest:
                try:
                    lines = {line for one in premises for line in one.derive()}
                except TooMuch:
                    logger.warning("inference.given-up", extra={"graph": scope.inferred})
                    lines, is_complete = set(), False
                there = set(self._graph.lines(scope.inferred))
                if lines != there:
                    self._graph.derive(scope.inferred, sorted(there - lines), sorted(lines - there))
                    writes += 1  # another write meanwhile makes this one too few, and so is read next time
            else:
                is_complete = known.is_complete
            due = min((one.due for one in premises if one.due), default=None)
            self._known[scope.inferred] = _Known(writes, digest, due, is_complete, bool(premises))

    def forget_tenant(self, tenant: str) -> None:
        """Delete every graph of inferences of a tenant whose data is erased; the next read writes them again."""
        with self._lock:
            for graph in self._graph.graphs():
                if graph.startswith(inferred_iri(tenant, "")):
                    self._known.pop(graph, None)
                    self._graph.drop_graph(graph)

    def select(self, name: str, graphs: Sequence[IRI], **slots: SlotValues) -> Iterator[tuple[str, ...]]:
        """Yield the solutions of a query over some graphs, each as its terms in order, in N-Triples syntax."""
        text = bind_query(name, slots)
        with self._graph.reading() as store:
            found = store.query(text, default_graph=[ox.NamedNode(graph) for graph in graphs])
            assert isinstance(found, ox.QuerySolutions)
            for solution in found:
                yield tuple(map(str, solution))

    def list_sources(self, scope: Scope) -> list[IRI]:
        """List the graphs that premises are read from: memories, the user, and the free graphs that the reader sees."""
        every = (graph for graph in self._graph.graphs() if graph.startswith(data_iri(scope.tenant, "")))
        free = [graph for graph in every if scope.free is None or graph in scope.free]
        return [*scope.memory_graphs, *scope.user_graphs, *free]
