"""
The domains of all tenants: each with its bank and its learner, read when it is first asked for.

*Guarantees:* what somebody else writes into a domain's graph is seen at the next use, as the domain is read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memento.backends import Backends
from memento.cases.bank import Bank, read, states
from memento.cases.learner import Learner, weights_of
from memento.iris import CASES, IRI, MEM, TYPE, cases_iri
from memento.model import Change, Difference
from memento.search.vectors import digest
from memento.settings import CasesSettings


@dataclass(slots=True)
class Domain:
    """One domain: its graph, its cases as arrays, and what ranks them."""

    graph: IRI
    bank: Bank
    learner: Learner


class Domains:
    """Hold the lock of writers while using a domain: its arrays follow its writes."""

    def __init__(self, parts: Backends, knobs: CasesSettings) -> None:
        self._parts = parts
        self._knobs = knobs
        self._open: dict[IRI, Domain] = {}
        self._lock = threading.RLock()
        self._own = threading.local()
        parts.followers.append(self._follow)

    def of(self, graph: IRI) -> Domain:
        """The domain of a graph, read when it is not yet; raises `GraphError`, `EmbeddingError`."""
        with self._lock:
            found = self._open.get(graph)
            if found is None:
                bank, pairs, _ = read(graph, self._parts)
                learner = Learner(bank, pairs, self._parts, self._knobs)
                found = self._open[graph] = Domain(graph, bank, learner)
            return found

    def names(self, tenant: str) -> list[IRI]:
        """The graphs of a tenant's cases, sorted."""
        return [graph for graph in self._parts.graph.graphs() if graph.startswith(cases_iri(tenant, ""))]

    def close(self, graph: IRI) -> None:
        """Read a domain anew at its next use."""
        with self._lock:
            self._open.pop(graph, None)

    def save(self) -> None:
        """Keep what the Q functions learned for the next start."""
        with self._lock:
            for one in self._open.values():
                one.learner.save()

    def rebuild(self) -> int:
        """Make every vector of a case's state anew; returns how many there are."""
        with self._lock:
            self._open.clear()
            return sum(read(graph, self._parts)[2] for graph in self._graphs())

    def differences(self) -> list[Difference]:
        """Where the vectors of states are not what the graph says; changes nothing."""
        known = self._parts.indexes.file.state_marks()
        wanted = {iri: digest(text) for graph in self._graphs() for iri, text in states(graph, self._parts).items()}
        found = [
            Difference(what="missing-vector", iri=iri, detail="no vector of its state in the file")
            for iri in wanted.keys() - known
        ]
        found += [
            Difference(what="orphan-vector", iri=iri, detail="the graph has no such case or retrieval")
            for iri in known.keys() - wanted
        ]
        found += [
            Difference(what="outdated-vector", iri=iri, detail="the task has changed since it was embedded")
            for iri in known.keys() & wanted
            if known[iri] != wanted[iri]
        ]
        return sorted(found, key=lambda one: (one.what, one.iri))

    def _graphs(self) -> list[IRI]:
        return [graph for graph in self._parts.graph.graphs() if graph.startswith(CASES)]

    @contextmanager
    def own(self) -> Iterator[None]:
        """Within it, what is written is taken into the arrays by whoever writes it."""
        self._own.writes = True
        try:
            yield
        finally:
            self._own.writes = False

    def _follow(self, change: Change | None) -> None:
        if change is None:
            with self._lock:
                self._open.clear()
            return
        if getattr(self._own, "writes", False):
            return
        for graph in {quad[3] for quad in (*change.adds, *change.removes) if quad[3].startswith(CASES)}:
            self.close(graph)
        # What was learned from a case that somebody erased goes with it.
        for graph in {quad[3] for quad in change.removes if quad[1] == TYPE and quad[2] == MEM.Case}:
            weights_of(graph, self._parts.datadir).unlink(missing_ok=True)
