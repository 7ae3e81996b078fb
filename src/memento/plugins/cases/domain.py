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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from math import log2

import numpy as np

from memento.backends import Backends
from memento.iris import CASES, IRI
from memento.model import Change
from memento.plugins.cases.bank import Bank, load_bank
from memento.plugins.cases.learner import Learner
from memento.plugins.cases.nouns import CaseMetrics, CurvePoint
from memento.plugins.cases.settings import CasesSettings
from memento.service.audit import access_quads

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
                bank, pairs = load_bank(graph, self._parts)
                learner = Learner(bank, pairs, self._parts, self._knobs)
                domain = self._open[graph] = Domain(graph, bank, learner)
            return domain

    def invalidate(self, graph: IRI) -> None:
        """Have a domain read again at its next use."""
        with self._lock:
            self._open.pop(graph, None)

    def close(self) -> None:
        """Save what the Q functions learned for the next start."""
        with self._lock:
            for domain in self._open.values():
                domain.learner.save()

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
    rows = parts.graph.select("plugins/cases/earned", [domain.graph])
    rewards, rankings = [], []
    for _, some in groupby(rows, key=lambda row: row["retrieval"]):
        uses = list(some)
        rewards.append(float(str(uses[0]["earned"])))
        ranking = [float(np.clip(float(str(row["reward"])), 0, 1)) for row in uses if "reward" in row]
        if ranking:
            rankings.append(ranking)
    steps = {
        str(row["state"]): int(str(row["count"]))
        for row in parts.graph.select("plugins/cases/outcomes", [domain.graph])
    }
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
