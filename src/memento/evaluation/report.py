"""
How well Memento recalled: the figures and the table of an evaluation set, and how much better one profile is than another.

*Guarantees:* the same rankings always give the same figures; the keys of the JSON are stable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memento.evaluation import metrics
from memento.evaluation.metrics import Estimate, Values
from memento.evaluation.sets import Question

SEED = 20_240_229
"""Of the bootstrap, so that the same rankings always give the same intervals."""

METRICS: Mapping[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {
    "recall@5": lambda ranked, gold: metrics.recall(ranked, gold, 5),
    "recall@10": lambda ranked, gold: metrics.recall(ranked, gold, 10),
    "all@5": lambda ranked, gold: metrics.all_found(ranked, gold, 5),
    "all@10": lambda ranked, gold: metrics.all_found(ranked, gold, 10),
    "mrr@10": lambda ranked, gold: metrics.reciprocal_rank(ranked, gold, 10),
    "ndcg@10": lambda ranked, gold: metrics.ndcg(ranked, gold, 10),
}

COMPARED = ("recall@5", "recall@10")
"""Metrics whose difference to another profile is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What became of one question: documents best first, milliseconds in all and by phase."""

    question: Question
    ranked: tuple[str, ...]
    latency_ms: float
    phases_ms: Mapping[str, float]

    def value(self, metric: str) -> float:
        """One of `METRICS`, 0..1."""
        return METRICS[metric](self.ranked, self.question.grades)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The answers to a set, and what there is to say about them; `others` are those of other profiles to the same questions."""

    dataset: str
    profile: str | None
    documents: int
    memories: int
    import_s: float
    skipped: int
    answers: tuple[Answered, ...]
    others: tuple[Report, ...] = ()

    @property
    def called(self) -> str:
        """Return the profile by the name that people use."""
        return self.profile or "default"

    def values(self, metric: str) -> Values:
        """Return (n,) a metric for each question, in their order: what `metrics.paired` compares."""
        return np.array([answer.value(metric) for answer in self.answers])

    def estimate(self, metric: str) -> Estimate:
        """Return the mean of a metric with its interval."""
        return _estimate(self.values(metric))

    def minus(self, other: Report, metric: str) -> Estimate:
        """Return how much better this is than another report on the same questions, with its paired interval."""
        return metrics.paired(other.values(metric), self.values(metric), np.random.default_rng(SEED))

    def as_json(self) -> dict[str, object]:
        """
        Return the figures with stable keys; quality as fractions in 0..1, latencies in milliseconds.

        With `others` there is one more key, `compare`: for each of them its own values and how much this one is better.
        """
        quality = {metric: round(float(self.values(metric).mean()), 6) for metric in METRICS}
        return {
            "dataset": self.dataset,
            "queries": len(self.answers),
            **quality,
            "latency_ms": _quantiles([answer.latency_ms for answer in self.answers]),
            "phases_ms": {phase: _quantiles(spent) for phase, spent in self._phases().items()},
            **({"compare": {other.called: self._compared(other) for other in self.others}} if self.others else {}),
        }

    def as_table(self, per_type: bool = False) -> str:
        """Return the figures for people: percent with 95 % bootstrap intervals, a row for each type when asked for, then times."""
        by_type: dict[str, list[Answered]] = defaultdict(list)
        for answer in self.answers if per_type else ():
            by_type[answer.question.type or "(no type)"].append(answer)
        rows = [("", "n", *METRICS), _row("all", self.answers)]
        rows += [_row(f"  {name}", by_type[name]) for name in sorted(by_type)]
        for other in self.others:
            rows += [_row(other.called, other.answers), self._minus_row(other)]
        times = [("ms", "p50", "p95"), _times("recall", [answer.latency_ms for answer in self.answers])]
        times += [_times(f"  {phase}", spent) for phase, spent in self._phases().items()]
        return "\n".join([self._head(), "", *aligned(rows), "", *aligned(times)])

    def _head(self) -> str:
        return (
            f"{self.dataset} · profile {self.called} · {self.documents:,} documents, {self.memories:,} memories"
            f" · {len(self.answers):,} queries, {self.skipped:,} skipped without qrels · import {self.import_s:.1f} s\n"
            "percent [95 % bootstrap interval]"
        )

    def _compared(self, other: Report) -> dict[str, object]:
        differences = {metric: self.minus(other, metric) for metric in COMPARED}
        return {
            metric: {
                "value": round(float(other.values(metric).mean()), 6),
                "difference": round(found.mean, 6),
                "interval": [round(found.low, 6), round(found.high, 6)],
            }
            for metric, found in differences.items()
        }

    def _minus_row(self, other: Report) -> tuple[str, ...]:
        cells = (signed(self.minus(other, metric)) if metric in COMPARED else "" for metric in METRICS)
        return (f"{self.called} − {other.called}", "", *cells)

    def _phases(self) -> dict[str, list[float]]:
        spent: dict[str, list[float]] = defaultdict(list)
        for answer in self.answers:
            for phase, ms in answer.phases_ms.items():
                spent[phase].append(ms)
        return dict(spent)


def signed(difference: Estimate) -> str:
    """
    Return a difference in points of percent with its interval.

    >>> signed(Estimate(0.125, -0.01, 0.2))
    '+12.5 [-1.0, +20.0]'
    """
    mean, low, high = (100 * value for value in difference)
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def _estimate(values: Values) -> Estimate:
    return metrics.estimate(values, np.random.default_rng(SEED))


def _quantiles(ms: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.quantile(ms, (0.5, 0.95))
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def _row(name: str, answers: Sequence[Answered]) -> tuple[str, ...]:
    estimates = (_estimate(np.array([answer.value(metric) for answer in answers])) for metric in METRICS)
    figures = (f"{100 * mean:5.1f} [{100 * low:.1f}, {100 * high:.1f}]" for mean, low, high in estimates)
    return (name, f"{len(answers):,}", *figures)


def _times(name: str, ms: Sequence[float]) -> tuple[str, ...]:
    quantiles = _quantiles(ms)
    return (name, f"{quantiles['p50']:.1f}", f"{quantiles['p95']:.1f}")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of equally wide columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
