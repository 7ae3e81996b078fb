"""
The domains of all tenants, each with its bank and its learner, read when it is first asked for; how they are written,
and how well case memory does in one.

*Guarantees:* what somebody else writes into a domain's graph is seen at the next use, as the domain is read again. Every write has
one `mem:Access` beside it in the tenant's audit graph, which names nodes and has no text.

*But:* a query in SPARQL is an access to all the cases of its dataset, whatever it reads of them. Of a call that concerns many
nodes the access names the first hundred.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby, islice, pairwise
from math import log2

import numpy as np

from memento.backends import Backends
from memento.cases.bank import Bank, load_bank, load_tasks
from memento.cases.learner import Learner, weights_path
from memento.errors import MementoError
from memento.iris import CASES, IRI, MEM, PROV, TYPE, audit_iri, cases_iri, mint
from memento.model import CaseMetrics, Change, CurvePoint, Difference, Quad
from memento.search.vectors import digest
from memento.settings import CasesSettings
from memento.worker import Worker

logger = logging.getLogger(__name__)


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
        parts.change_listeners.append(self._follow_change)

    def open(self, graph: IRI) -> Domain:
        """Return the domain of a graph, read when it is not open yet; raises `GraphError`, `EmbeddingError`."""
        with self._lock:
            domain = self._open.get(graph)
            if domain is None:
                bank, pairs, _ = load_bank(graph, self._parts)
                learner = Learner(bank, pairs, self._parts, self._knobs)
                domain = self._open[graph] = Domain(graph, bank, learner)
            return domain

    def graphs_of(self, tenant: str) -> list[IRI]:
        """List the graphs of a tenant's cases, sorted."""
        return [graph for graph in self._parts.graph.graphs() if graph.startswith(cases_iri(tenant, ""))]

    def invalidate(self, graph: IRI) -> None:
        """Read a domain again at its next use."""
        with self._lock:
            self._open.pop(graph, None)

    def save(self) -> None:
        """Keep what the Q functions learned for the next start."""
        with self._lock:
            for domain in self._open.values():
                domain.learner.save()

    def embed_again(self) -> int:
        """Embed every case's state again; returns how many there are."""
        with self._lock:
            self._open.clear()
            return sum(load_bank(graph, self._parts)[2] for graph in self._graphs())

    def differences(self) -> list[Difference]:
        """List where the vectors of states are not what the graph says; changes nothing."""
        known = self._parts.indexes.file.read_state_digests()
        wanted = {iri: digest(text) for graph in self._graphs() for iri, text in load_tasks(graph, self._parts).items()}
        differences = [
            Difference(what="missing-vector", iri=iri, detail="no vector of its state in the file")
            for iri in wanted.keys() - known
        ]
        differences += [
            Difference(what="orphan-vector", iri=iri, detail="the graph has no such case or retrieval")
            for iri in known.keys() - wanted
        ]
        differences += [
            Difference(what="outdated-vector", iri=iri, detail="the task has changed since it was embedded")
            for iri in known.keys() & wanted
            if known[iri] != wanted[iri]
        ]
        return sorted(differences, key=lambda one: (one.what, one.iri))

    def _graphs(self) -> list[IRI]:
        return [graph for graph in self._parts.graph.graphs() if graph.startswith(CASES)]

    @contextmanager
    def follow_own_writes(self) -> Iterator[None]:
        """Let whoever writes within the block bring the arrays up to date."""
        self._own.writes = True
        try:
            yield
        finally:
            self._own.writes = False

    def _follow_change(self, change: Change | None) -> None:
        if change is None:
            with self._lock:
                self._open.clear()
            return
        if getattr(self._own, "writes", False):
            return
        for graph in {quad[3] for quad in (*change.adds, *change.removes) if quad[3].startswith(CASES)}:
            self.invalidate(graph)
        # What was learned from a case that somebody erased goes with it.
        for graph in {quad[3] for quad in change.removes if quad[1] == TYPE and quad[2] == MEM.Case}:
            weights_path(graph, self._parts.datadir).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes where: the caller's name and tenant, the time, and the parts."""

    actor: str
    tenant: str
    at: datetime
    domains: Domains
    parts: Backends

    def write_change(self, change: Change, operation: str, nodes: Sequence[IRI] = (), asked: str | None = None) -> None:
        """Write a change into a domain, with the access it was; the arrays are brought up to date by whoever calls."""
        logged = access_quads(operation, self.actor, self.tenant, self.at, nodes, asked)
        with self.domains.follow_own_writes():
            self.parts.apply(change + Change(logged))


MOST_NODES = 100
"""Nodes that one access names."""


def access_quads(
    operation: str, actor: str, tenant: str, at: datetime, nodes: Iterable[IRI] = (), asked: str | None = None
) -> tuple[Quad, ...]:
    """
    Return the quads that say that somebody called something.

    Args:
        operation: the call, as `cases.retrieve`.
        actor: the name of the token.
        nodes: what was returned or written.
        asked: a text of the caller's, of which only the digest is kept.
    """
    iri, graph = mint("access"), audit_iri(tenant)
    quads: list[Quad] = [
        (iri, TYPE, MEM.Access, graph),
        (iri, MEM.at, at, graph),
        (iri, MEM.actor, actor, graph),
        (iri, MEM.operation, operation, graph),
    ]
    if asked is not None:
        quads.append((iri, MEM.queryHash, sha256(asked.encode("utf-8")).hexdigest(), graph))
    quads += [(iri, PROV.used, node, graph) for node in islice(dict.fromkeys(nodes), MOST_NODES)]
    return tuple(quads)


READS_S = 5.0
"""Seconds in which alike queries of one caller are one access."""


class ReadLog:
    """
    Who could read the cases by SPARQL or in an export; written together every `READS_S` seconds, so that nobody waits for a write.

    *But:* what was noted since the last write is lost when the process is killed.
    """

    def __init__(self, parts: Backends, writing: AbstractContextManager[object]) -> None:
        """
        Args:
            writing: the lock of all writers; never held by who calls `note_read`.
        """
        self._parts, self._writing = parts, writing
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, str, str, tuple[IRI, ...]], datetime] = {}
        self._worker = Worker(self._write_when_due, "reads of cases")

    def note_read(
        self,
        actor: str,
        tenant: str,
        digest: str,
        graphs: tuple[IRI, ...],
        at: datetime,
        *,
        operation: str = "cases.sparql",
    ) -> None:
        """
        Note that somebody asked a query whose dataset has some graphs of cases, or was given them as a document.

        Args:
            digest: of the query without its strings and numbers; left out of the access where there were many.
        """
        if self._parts.degraded:
            return
        with self._lock:
            key = (operation, actor, tenant, digest if len(self._waiting) < MOST_NODES else "", graphs)
            was_empty = not self._waiting
            self._waiting.setdefault(key, at)
        if was_empty:
            self._worker.wake()

    def write_reads(self) -> None:
        """Write what is noted now; raises `GraphError`, and keeps it then."""
        with self._writing:
            with self._lock:
                reads = {key: at for key, at in self._waiting.items() if self._parts.has_tenant(key[2])}
                self._waiting = {}
            quads: list[Quad] = []
            for (operation, actor, tenant, digest, graphs), at in reads.items():
                access = access_quads(operation, actor, tenant, at, graphs)
                quads += [*access, (access[0][0], MEM.queryHash, digest, audit_iri(tenant))] if digest else access
            try:
                if quads:
                    self._parts.apply(Change(tuple(quads)))
            except BaseException:
                with self._lock:
                    self._waiting = reads | self._waiting
                raise

    def close(self, wait_s: float) -> None:
        """Write the rest and begin nothing more; call it before the store is closed."""
        self._worker.stop(wait_s)
        self.write_reads()

    def _write_when_due(self) -> float | None:
        if self._worker.stopping.wait(READS_S):
            return None
        try:
            self.write_reads()
        except MementoError as error:
            logger.warning("reads-of-cases.put-off", extra={"error": type(error).__name__})
            return 60.0
        with self._lock:
            return 0.0 if self._waiting else None


STRETCHES = 20
"""Points of a learning curve at most."""
_GOOD = 0.5


def reciprocal_rank(relevances: Sequence[float]) -> float:
    """
    Return 1 / the rank of the first relevant one, 0 when none is; a relevance from one half on counts.

    >>> round(reciprocal_rank([0, 0, 1, 0]), 5)
    0.33333
    """
    return next((1 / rank for rank, relevance in enumerate(relevances, 1) if relevance >= _GOOD), 0.0)


def dcg(relevances: Sequence[float]) -> float:
    """Return Σ relevance / log₂(rank + 1). Source: Järvelin and Kekäläinen 2002, TOIS 20(4)."""
    return sum(relevance / log2(rank + 1) for rank, relevance in enumerate(relevances, 1))


def ndcg(relevances: Sequence[float], k: int) -> float:
    """
    Return the DCG of the first k against that of the best order of all of them; 0 where nothing is relevant.

    >>> round(ndcg([0, 1, 0, 1], 4), 5)
    0.65092
    """
    ideal = dcg(sorted(relevances, reverse=True)[:k])
    return dcg(relevances[:k]) / ideal if ideal else 0.0


def learning_curve(rewards: Sequence[float], stretches: int = STRETCHES) -> tuple[CurvePoint, ...]:
    """
    Return the mean reward of equal stretches, the first first.

    >>> learning_curve([0, 0, 1, 1], 2)
    (CurvePoint(until=2, reward=0.0), CurvePoint(until=4, reward=1.0))
    """
    ends = np.unique(np.linspace(0, len(rewards), min(stretches, len(rewards)) + 1).round().astype(int))
    return tuple(CurvePoint(until=int(end), reward=float(np.mean(rewards[begin:end]))) for begin, end in pairwise(ends))


def measure_domain(domain: Domain, name: str, parts: Backends, knobs: CasesSettings) -> CaseMetrics:
    """
    Measure one domain; a figure is None where there is nothing yet to tell it from.

    A shown case is as relevant as what showing it earned, from 0 to 1.
    """
    rows = parts.graph.select("cases/earned", [domain.graph])
    rewards, rankings = [], []
    for _, some in groupby(rows, key=lambda row: row["retrieval"]):
        uses = list(some)
        rewards.append(float(str(uses[0]["earned"])))
        ranking = [float(np.clip(float(str(row["reward"])), 0, 1)) for row in uses if "reward" in row]
        if ranking:
            rankings.append(ranking)
    steps = {str(row["state"]): int(str(row["count"])) for row in parts.graph.select("cases/outcomes", [domain.graph])}
    bank = domain.bank
    judged = bank.reward[bank.alive & ~np.isnan(bank.reward)]
    count = max(len(bank), 1)
    return CaseMetrics(
        domain=name,
        cases=len(bank),
        retrievals=len(rewards),
        mrr=float(np.mean([reciprocal_rank(one) for one in rankings])) if rankings else None,
        ndcg=float(np.mean([ndcg(one, knobs.k) for one in rankings])) if rankings else None,
        success_rate=float((judged >= knobs.positive_from).mean()) if len(judged) else None,
        execution_accuracy=steps.get("done", 0) / sum(steps.values()) if steps else None,
        curve=learning_curve(rewards),
        bytes_per_case=bank.nbytes / count,
        earned_per_case=sum(rewards) / count,
    )
