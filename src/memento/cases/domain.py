"""
The domains of all tenants, each with its bank and its learner, loaded on first use; how they are written, and how well case memory
works in one.

*Guarantees:* if another program writes to a domain's graph, the next use reads the domain again. Every write adds one `mem:Access`
to the tenant's audit graph, which names nodes and contains no text.

*But:* a SPARQL query counts as an access to all cases of its dataset, whatever it reads of them. The access of a call that concerns
many nodes names the first hundred.
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
    """One domain: its graph, its cases as arrays, and the learner that ranks them."""

    graph: IRI
    bank: Bank
    learner: Learner


class Domains:
    """The domains of all tenants. Hold the writers' lock while using one: its arrays follow its writes."""

    def __init__(self, parts: Backends, knobs: CasesSettings) -> None:
        self._parts = parts
        self._knobs = knobs
        self._open: dict[IRI, Domain] = {}
        self._lock = threading.RLock()
        self._own = threading.local()
        parts.change_listeners.append(self._follow_change)

    def open(self, graph: IRI) -> Domain:
        """Return the domain of a graph, loading it if necessary; raise `GraphError` or `EmbeddingError`."""
        with self._lock:
            domain = self._open.get(graph)
            if domain is None:
                bank, pairs, _ = load_bank(graph, self._parts)
                learner = Learner(bank, pairs, self._parts, self._knobs)
                domain = self._open[graph] = Domain(graph, bank, learner)
            return domain

    def graphs_of(self, tenant: str) -> list[IRI]:
        """Return the graphs of a tenant's cases, sorted."""
        return [graph for graph in self._parts.graph.graphs() if graph.startswith(cases_iri(tenant, ""))]

    def invalidate(self, graph: IRI) -> None:
        """Have a domain read again at its next use."""
        with self._lock:
            self._open.pop(graph, None)

    def save(self) -> None:
        """Save what the Q functions learned for the next start."""
        with self._lock:
            for domain in self._open.values():
                domain.learner.save()

    def embed_again(self) -> int:
        """Embed every case's state again; return their number."""
        with self._lock:
            self._open.clear()
            return sum(load_bank(graph, self._parts)[2] for graph in self._graphs())

    def differences(self) -> list[Difference]:
        """Return the differences between the vectors of states and the graph; change nothing."""
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
        """Let the caller update the arrays itself for writes within the block."""
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
        # What was learned from an erased case is erased with it.
        for graph in {quad[3] for quad in change.removes if quad[1] == TYPE and quad[2] == MEM.Case}:
            weights_path(graph, self._parts.datadir).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Writer:
    """The context of a write: the caller's name and tenant, the time, and the stores."""

    actor: str
    tenant: str
    at: datetime
    domains: Domains
    parts: Backends

    def write_change(self, change: Change, operation: str, nodes: Sequence[IRI] = (), asked: str | None = None) -> None:
        """Write a change to a domain, with its access record; the caller updates the arrays."""
        logged = access_quads(operation, self.actor, self.tenant, self.at, nodes, asked)
        with self.domains.follow_own_writes():
            self.parts.apply(change + Change(logged))


MOST_NODES = 100
"""Maximum number of nodes that one access names."""


def access_quads(
    operation: str, actor: str, tenant: str, at: datetime, nodes: Iterable[IRI] = (), asked: str | None = None
) -> tuple[Quad, ...]:
    """
    Return the quads that record a call.

    Args:
        operation: the call, such as `cases.retrieve`.
        actor: the name of the token.
        nodes: what was returned or written.
        asked: a text of the caller, of which only the digest is stored.
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
"""Seconds within which similar queries of one caller count as one access."""


class ReadLog:
    """
    Records who could read the cases by SPARQL or in an export; written in batches every `READS_S` seconds, so that no reader waits
    for a write.

    *But:* records since the last write are lost when the process is killed.
    """

    def __init__(self, parts: Backends, writing: AbstractContextManager[object]) -> None:
        """
        Args:
            writing: the lock of all writers; the caller of `note_read` must not hold it.
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
        Note that somebody ran a query over some graphs of cases, or received them as a document.

        Args:
            digest: of the query without its strings and numbers; left out while very many reads wait to be written.
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
        """Write the noted records now; if that raises `GraphError`, they are kept."""
        with self._writing:
            with self._lock:
                reads, self._waiting = self._waiting, {}
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
        """Write the remaining records and stop; call it before the store is closed."""
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
"""Maximum number of points of a learning curve."""
_GOOD = 0.5


def reciprocal_rank(relevances: Sequence[float]) -> float:
    """
    Return 1 / the rank of the first relevant item, 0 if there is none; a relevance of at least one half counts.

    >>> round(reciprocal_rank([0, 0, 1, 0]), 5)
    0.33333
    """
    return next((1 / rank for rank, relevance in enumerate(relevances, 1) if relevance >= _GOOD), 0.0)


def dcg(relevances: Sequence[float]) -> float:
    """Return Σ relevance / log₂(rank + 1). Source: Järvelin and Kekäläinen 2002, TOIS 20(4)."""
    return sum(relevance / log2(rank + 1) for rank, relevance in enumerate(relevances, 1))


def ndcg(relevances: Sequence[float], k: int) -> float:
    """
    Return the DCG of the first k, divided by that of the best order of all of them; 0 if nothing is relevant.

    >>> round(ndcg([0, 1, 0, 1], 4), 5)
    0.65092
    """
    ideal = dcg(sorted(relevances, reverse=True)[:k])
    return dcg(relevances[:k]) / ideal if ideal else 0.0


def learning_curve(rewards: Sequence[float], stretches: int = STRETCHES) -> tuple[CurvePoint, ...]:
    """
    Return the mean reward of equal stretches, in order.

    >>> learning_curve([0, 0, 1, 1], 2)
    (CurvePoint(until=2, reward=0.0), CurvePoint(until=4, reward=1.0))
    """
    ends = np.unique(np.linspace(0, len(rewards), min(stretches, len(rewards)) + 1).round().astype(int))
    return tuple(CurvePoint(until=int(end), reward=float(np.mean(rewards[begin:end]))) for begin, end in pairwise(ends))


def measure_domain(domain: Domain, name: str, parts: Backends, knobs: CasesSettings) -> CaseMetrics:
    """
    Measure one domain; a figure is None if there is no data for it yet.

    The relevance of a shown case is the reward of the task it was shown for, clamped to 0..1.
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
