"""How well case memory does in a domain, told from the graph: rankings, success, execution, learning over time, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from math import log2

import numpy as np

from memento.backends import Backends
from memento.cases.domain import Domain
from memento.model import CaseMetrics, CurvePoint
from memento.settings import CasesSettings

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
