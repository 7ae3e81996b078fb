"""
How well Memento recalled: metrics of a ranking, the figures and the table of an evaluation set, and how much better one profile is.

A ranking is a sequence of ids without repetitions, best first. Every metric of one question is a fraction in 0..1; ranks count
from 1 in the formulas.

*Guarantees:* the same rankings always give the same figures; the keys of the JSON are stable.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memento.evaluation.sets import Question

Values = NDArray[np.float64]
"""(n,) one metric, a value for each question."""


class Estimate(NamedTuple):
    """A mean and the interval around it with 95 % confidence."""

    mean: float
    low: float
    high: float


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return the share of the gold that stands among the first `k`; `gold` must not be empty.

    >>> recall_at(["a", "b", "c"], {"a", "c", "d"}, k=3)
    0.6666666666666666
    """
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def all_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    1.0 when all of the gold stands among the first `k`, else 0.0; what a question that needs two documents wants.

    >>> all_found(["a", "b"], {"a", "b"}, k=2), all_found(["a", "b"], {"a", "b"}, k=1)
    (1.0, 0.0)
    """
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    1 / the rank of the first gold one among the first `k`, or 0.0.

    Source: Voorhees 1999, TREC-8 question answering track.

    >>> round(reciprocal_rank(["a", "b", "c", "d"], {"c"}, k=4), 5)
    0.33333
    """
    return next((1 / rank for rank, item in enumerate(ranked[:k], 1) if item in gold), 0.0)


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """
    Σ grade / log2(rank + 1) over the first `k`, divided by what the best possible order gives; 0.0 without any grade.

    Args:
        grades: id → how relevant it is, above 0; what is not there counts 0.

    Source: Järvelin and Kekäläinen 2002, ACM TOIS 20(4), with linear gains.

    >>> round(ndcg(["a", "b", "c", "d"], {"b": 1, "d": 1}, k=4), 5)
    0.65092
    """
    best = _discount(sorted(grades.values(), reverse=True)[:k])
    return _discount([grades.get(item, 0.0) for item in ranked[:k]]) / best if best else 0.0


def estimate(values: Sequence[float] | Values, rng: np.random.Generator, resamples: int = 5_000) -> Estimate:
    """
    Return the mean over questions with its 95 % percentile bootstrap interval.

    Args:
        values: (n,), n at least 1; questions are drawn with replacement.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 13.

    >>> estimate([1.0, 0.0, 1.0, 1.0], np.random.default_rng(0))
    Estimate(mean=0.75, low=0.25, high=1.0)
    """
    x = np.asarray(values, dtype=np.float64)
    means = x[rng.integers(0, x.size, (resamples, x.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(x.mean()), float(low), float(high))


def estimate_difference(
    first: Sequence[float] | Values, second: Sequence[float] | Values, rng: np.random.Generator, resamples: int = 5_000
) -> Estimate:
    """
    Return how much better `second` is than `first` on the same questions: the mean difference, −1..1, with its interval.

    The difference of a question is drawn as one, so what both find hard does not widen the interval.

    Source: Efron and Tibshirani 1993, ch. 16; Sakai 2006, SIGIR.

    >>> estimate_difference([0.0, 0.5, 1.0], [0.5, 1.0, 1.5], np.random.default_rng(0))
    Estimate(mean=0.5, low=0.5, high=0.5)
    """
    return estimate(np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64), rng, resamples)


def _discount(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


SEED = 20_240_229
"""Of the bootstrap, so that the same rankings always give the same intervals."""

METRICS: Mapping[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {
    "recall@5": lambda ranked, gold: recall_at(ranked, gold, 5),
    "recall@10": lambda ranked, gold: recall_at(ranked, gold, 10),
    "all@5": lambda ranked, gold: all_found(ranked, gold, 5),
    "all@10": lambda ranked, gold: all_found(ranked, gold, 10),
    "mrr@10": lambda ranked, gold: reciprocal_rank(ranked, gold, 10),
    "ndcg@10": lambda ranked, gold: ndcg(ranked, gold, 10),
}

COMPARED = ("recall@5", "recall@10")
"""Metrics whose difference to another profile is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """What became of one question: documents best first, milliseconds in all and by phase."""

    question: Question
    ranked: tuple[str, ...]
    latency_ms: float
    phases_ms: Mapping[str, float]

    def measure(self, metric: str) -> float:
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
    answers: tuple[AnsweredQuestion, ...]
    others: tuple[Report, ...] = ()

    @property
    def profile_name(self) -> str:
        """Return the profile by the name that people use."""
        return self.profile or "default"

    def list_values(self, metric: str) -> Values:
        """Return (n,) a metric for each question, in their order: what `estimate_difference` compares."""
        return np.array([answer.measure(metric) for answer in self.answers])

    def estimate(self, metric: str) -> Estimate:
        """Return the mean of a metric with its interval."""
        return _estimate_seeded(self.list_values(metric))

    def compare_with(self, other: Report, metric: str) -> Estimate:
        """Return how much better this is than another report on the same questions, with its paired interval."""
        return estimate_difference(other.list_values(metric), self.list_values(metric), np.random.default_rng(SEED))

    def as_json(self) -> dict[str, object]:
        """
        Return the figures with stable keys; quality as fractions in 0..1, latencies in milliseconds.

        With `others` there is one more key, `compare`: for each of them its own values and how much this one is better.
        """
        quality = {metric: round(float(self.list_values(metric).mean()), 6) for metric in METRICS}
        return {
            "dataset": self.dataset,
            "queries": len(self.answers),
            **quality,
            "latency_ms": _quantiles([answer.latency_ms for answer in self.answers]),
            "phases_ms": {phase: _quantiles(spent) for phase, spent in self._phases().items()},
            **({"compare": {other.profile_name: self._compare(other) for other in self.others}} if self.others else {}),
        }

    def as_table(self, per_type: bool = False) -> str:
        """Return the figures for people: percent with 95 % bootstrap intervals, a row for each type when asked for, then times."""
        by_type: dict[str, list[AnsweredQuestion]] = defaultdict(list)
        for answer in self.answers if per_type else ():
            by_type[answer.question.type or "(no type)"].append(answer)
        rows = [("", "n", *METRICS), _row("all", self.answers)]
        rows += [_row(f"  {name}", by_type[name]) for name in sorted(by_type)]
        for other in self.others:
            rows += [_row(other.profile_name, other.answers), self._comparison_row(other)]
        times = [("ms", "p50", "p95"), _times("recall", [answer.latency_ms for answer in self.answers])]
        times += [_times(f"  {phase}", spent) for phase, spent in self._phases().items()]
        return "\n".join([self._head(), "", *align_columns(rows), "", *align_columns(times)])

    def _head(self) -> str:
        return (
            f"{self.dataset} · profile {self.profile_name} · {self.documents:,} documents, {self.memories:,} memories"
            f" · {len(self.answers):,} queries, {self.skipped:,} skipped without qrels · import {self.import_s:.1f} s\n"
            "percent [95 % bootstrap interval]"
        )

    def _compare(self, other: Report) -> dict[str, object]:
        differences = {metric: self.compare_with(other, metric) for metric in COMPARED}
        return {
            metric: {
                "value": round(float(other.list_values(metric).mean()), 6),
                "difference": round(found.mean, 6),
                "interval": [round(found.low, 6), round(found.high, 6)],
            }
            for metric, found in differences.items()
        }

    def _comparison_row(self, other: Report) -> tuple[str, ...]:
        cells = (
            format_difference(self.compare_with(other, metric)) if metric in COMPARED else "" for metric in METRICS
        )
        return (f"{self.profile_name} − {other.profile_name}", "", *cells)

    def _phases(self) -> dict[str, list[float]]:
        spent: dict[str, list[float]] = defaultdict(list)
        for answer in self.answers:
            for phase, ms in answer.phases_ms.items():
                spent[phase].append(ms)
        return dict(spent)


def format_difference(difference: Estimate) -> str:
    """
    Return a difference in points of percent with its interval.

    >>> format_difference(Estimate(0.125, -0.01, 0.2))
    '+12.5 [-1.0, +20.0]'
    """
    mean, low, high = (100 * value for value in difference)
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def _estimate_seeded(values: Values) -> Estimate:
    return estimate(values, np.random.default_rng(SEED))


def _quantiles(ms: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.quantile(ms, (0.5, 0.95))
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def _row(name: str, answers: Sequence[AnsweredQuestion]) -> tuple[str, ...]:
    estimates = (_estimate_seeded(np.array([answer.measure(metric) for answer in answers])) for metric in METRICS)
    figures = (f"{100 * mean:5.1f} [{100 * low:.1f}, {100 * high:.1f}]" for mean, low, high in estimates)
    return (name, f"{len(answers):,}", *figures)


def _times(name: str, ms: Sequence[float]) -> tuple[str, ...]:
    quantiles = _quantiles(ms)
    return (name, f"{quantiles['p50']:.1f}", f"{quantiles['p95']:.1f}")


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of equally wide columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
