"""
The graphs of inferences of all readers, brought up to date when somebody reads one.

A write only leaves a note of what it touched; one that leaves none is seen by the count of writes, and has all built anew.
Whoever is about to read a graph of inferences calls `refresh`, which looks at those nodes again and writes what is different into
that graph, so that a query sees what follows from every write before it.

*But:* after a start, and after a change of the axioms, the first reader waits until everything that takes part has been read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from memento.graph.inference.closure import Overflow
from memento.graph.inference.kin import Kin
from memento.graph.inference.materialised import Materialised
from memento.graph.inference.reading import Reader
from memento.graph.inference.written import Line
from memento.iris import IRI, data_iri, inferred_iri
from memento.model import Inferred, Scope

if TYPE_CHECKING:
    from memento.graph.oxigraph import Oxigraph

logger = logging.getLogger(__name__)

_MANY = 20_000
"""Nodes touched since the last time from which on it is quicker to build anew."""
_KEPT = 8
"""Readers whose facts are kept in memory; a further one lets go of the one that was built first."""


@dataclass(slots=True)
class _Kept:
    """One reader's inferences, None until they are made, and what was touched since."""

    found: Materialised | None
    graphs: tuple[IRI, ...]
    touched: set[IRI] = field(default_factory=set)
    is_stale: bool = False


class Inferences:
    """What follows, for every scope; may be called from several threads."""

    def __init__(self, graph: Oxigraph, most: int) -> None:
        """
        Args:
            most: facts that may be derived for one reader; with more of them nothing is inferred for them.
        """
        self._graph = graph
        self._most = most
        self._kept: dict[IRI, _Kept] = {}
        self._lock = threading.RLock()
        self._noting = threading.Lock()
        self._noted = graph.writes

    def touched(self, nodes: Iterable[IRI] | None) -> None:
        """Take note of what a write touched; None when that may be anything."""
        with self._noting:
            self._noted += 1
            listed = None if nodes is None else list(nodes)
            for one in self._kept.values():
                if listed is None or len(one.touched) > _MANY:
                    one.is_stale, one.touched = True, set()
                else:
                    one.touched.update(listed)

    def current(self, scope: Scope, now: datetime) -> Inferred:
        """What is in the graph of inferences of a scope, once it is brought up to date; raises `GraphError`."""
        with self._lock:
            self.refresh(scope, now)
            return _described(scope, self._kept[scope.inferred])

    def kin(self, scope: Scope, now: datetime) -> Kin:
        """What is related to what in the graphs of a scope, by the properties that axioms name; raises `GraphError`."""
        with self._lock:
            self.refresh(scope, now)
            found = self._kept[scope.inferred].found
            with self._graph.reading():
                return found.kin() if found and found.is_complete else Kin()

    def refresh(self, scope: Scope, now: datetime) -> None:
        """Bring the graph of inferences of a scope up to date; raises `GraphError`."""
        with self._lock:
            kept = self._kept.get(scope.inferred)
            with self._noting:
                if (writes := self._graph.writes) > self._noted:
                    self._noted = writes
                    for one in self._kept.values():
                        one.is_stale = True
                touched, is_stale = (kept.touched, kept.is_stale) if kept else (set(), True)
                if kept:
                    kept.touched, kept.is_stale = set(), False
            if kept and not touched and not is_stale and not (kept.found and kept.found.due(now)):
                return
            try:
                self._followed(scope, kept, touched, is_stale, now)
            except BaseException:
                self._kept.pop(scope.inferred, None)
                raise

    def forget(self, tenant: str) -> None:
        """Delete every graph of inferences of a tenant, as what they rest on is erased; the next reader has them made anew."""
        with self._lock:
            for graph in self._graph.graphs():
                if graph.startswith(inferred_iri(tenant, "")):
                    self._kept.pop(graph, None)
                    self._derive(graph, None, ())

    def close(self) -> None:
        """Let go of the store; calling it twice is harmless."""
        with self._lock, self._noting:
            self._kept.clear()

    def _followed(self, scope: Scope, kept: _Kept | None, touched: set[IRI], is_stale: bool, now: datetime) -> None:
        nodes = {f"<{node}>" if not node.startswith("_:") else node for node in touched}
        graphs = self._sources(scope) if kept is None or is_stale or touched else kept.graphs
        is_new = kept is None or is_stale or graphs != kept.graphs
        if is_new or kept is None or kept.found is None or self._is_outdated(kept.found, nodes):
            self._build(scope, graphs, now)
        elif not kept.found.is_complete:
            with self._graph.reading():
                is_concerned = kept.found.concerns(nodes, now)
            if is_concerned:
                self._build(scope, graphs, now)
        else:
            try:
                with self._graph.reading():
                    gone, come = kept.found.follow(nodes, now)
            except Overflow:
                self._build(scope, graphs, now)  # what was taken out may have made room: only a new beginning can tell
            else:
                self._derive(scope.inferred, gone, come)

    def _build(self, scope: Scope, graphs: tuple[IRI, ...], now: datetime) -> None:
        # Kept before it is read, so that a write in the meantime leaves its note.
        kept = _Kept(None, graphs)
        with self._noting:
            self._kept.pop(scope.inferred, None)
            while len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[scope.inferred] = kept
        with self._graph.reading() as store:
            kept.found = Materialised(Reader(store, graphs, scope.memory_graphs), self._most, now)
            wanted = set(kept.found.follow((), now)[1]) if kept.found.is_complete else set()
        if not kept.found.is_complete:
            logger.warning("inference.given-up", extra={"graph": scope.inferred, "most": self._most})
        there = set(self._graph.lines(scope.inferred))
        self._derive(scope.inferred, sorted(there - wanted), sorted(wanted - there))

    def _derive(self, graph: IRI, gone: Sequence[Line] | None, come: Sequence[Line]) -> None:
        """Write what is derived, without taking it for a reason to look again; None lets all of the graph go."""
        if gone is None:
            self._graph.clear(graph)
        elif gone or come:
            self._graph.derive(graph, gone, come)
        else:
            return
        with self._noting:
            self._noted += 1

    def _is_outdated(self, found: Materialised, nodes: Iterable[str]) -> bool:
        with self._graph.reading():
            return found.is_outdated(nodes)

    def _sources(self, scope: Scope) -> tuple[IRI, ...]:
        """The graphs that premises are read from: the memories, the user, and the tenant's free graphs."""
        free = [graph for graph in self._graph.graphs() if graph.startswith(data_iri(scope.tenant, ""))]
        return (*scope.memory_graphs, scope.self_graph, *free)


def _described(scope: Scope, kept: _Kept) -> Inferred:
    found = kept.found
    if found is None or not found.is_complete:
        return Inferred(namespace=scope.namespace, graph=scope.inferred, is_complete=False)
    return Inferred(
        namespace=scope.namespace,
        graph=scope.inferred,
        triples=found.triples,
        contradictions=found.contradictions,
        by_rule=found.by_rule,
    )
