"""
How well Memento recalls: the figures and the table of an evaluation set, asked of a temporary memory of its own.

*Flow:* `sets.read` → `Trial` imports the corpus, a namespace for each scope → `Trial.asked` recalls every question →
`metrics` → `Report`.

*But:* it drives the public methods alone, so that the figures are those of the product. Each row is kept as one memory unless
`consolidate` is asked for; a document with several memories counts once, at its best rank.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memento.evaluation import metrics, sets
from memento.evaluation.metrics import Estimate, Values
from memento.evaluation.sets import EvaluationSet, Question
from memento.model import Recollection
from memento.ports import Progress
from memento.service import Memento, open_memento
from memento.settings import Settings
from memento.vocabulary import IRI

K = 10
"""Memories that every question asks for; the metrics look at the first 5 and the first 10."""

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

Stage = Callable[[str, int, int], None]
"""Called with (what goes on, done, in all)."""


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
    """The answers to a set, and what there is to say about them."""

    dataset: str
    profile: str | None
    documents: int
    memories: int
    import_s: float
    skipped: int
    answers: tuple[Answered, ...]

    def values(self, metric: str) -> Values:
        """(n,) a metric for each question, in their order: what `metrics.paired` compares."""
        return np.array([answer.value(metric) for answer in self.answers])

    def estimate(self, metric: str) -> Estimate:
        """The mean of a metric with its interval."""
        return _estimate(self.values(metric))

    def as_json(self) -> dict[str, object]:
        """The figures with stable keys; quality as fractions in 0..1, latencies in milliseconds."""
        quality = {metric: round(float(self.values(metric).mean()), 6) for metric in METRICS}
        return {
            "dataset": self.dataset,
            "queries": len(self.answers),
            **quality,
            "latency_ms": _quantiles([answer.latency_ms for answer in self.answers]),
            "phases_ms": {phase: _quantiles(spent) for phase, spent in self._phases().items()},
        }

    def as_table(self, per_type: bool = False) -> str:
        """The figures for people: percent with 95 % bootstrap intervals, a row for each type when asked for, then times."""
        by_type: dict[str, list[Answered]] = defaultdict(list)
        for answer in self.answers if per_type else ():
            by_type[answer.question.type or "(no type)"].append(answer)
        rows = [("", "n", *METRICS), _row("all", self.answers)]
        rows += [_row(f"  {name}", by_type[name]) for name in sorted(by_type)]
        times = [("ms", "p50", "p95"), _times("recall", [answer.latency_ms for answer in self.answers])]
        times += [_times(f"  {phase}", spent) for phase, spent in self._phases().items()]
        return "\n".join([self._head(), "", *_aligned(rows), "", *_aligned(times)])

    def _head(self) -> str:
        return (
            f"{self.dataset} · profile {self.profile or 'default'} · {self.documents:,} documents, {self.memories:,} memories"
            f" · {len(self.answers):,} queries, {self.skipped:,} skipped without qrels · import {self.import_s:.1f} s\n"
            "percent [95 % bootstrap interval]"
        )

    def _phases(self) -> dict[str, list[float]]:
        spent: dict[str, list[float]] = defaultdict(list)
        for answer in self.answers:
            for phase, ms in answer.phases_ms.items():
                spent[phase].append(ms)
        return dict(spent)


class Trial:
    """A set imported into a temporary memory, ready to be asked with any profile. Made by `prepared`."""

    def __init__(self, data: EvaluationSet, home: Path, configured: Settings | None, progress: Stage) -> None:
        self.data = data
        self.import_s = 0.0
        self.memories = 0
        self._progress = progress
        opened = open_memento(home, namespace="main", configured=configured, command="memento eval")
        assert isinstance(opened, Memento)  # nobody else serves a folder that was made a moment ago
        self._memento = opened
        self._document: dict[IRI, str] = {}  # note → the document it was imported from

    def imports(self, consolidate: bool) -> None:
        """Note the corpus, scope by scope, and load what the first question would otherwise wait for."""
        begin, done, total = time.perf_counter(), 0, len(self.data.documents)
        self._progress("import", 0, total)
        for scope in self.data.scopes:
            documents = [document for document in self.data.documents if document.scope == scope]
            imported = self._memento.import_notes(
                [document.row for document in documents],
                consolidate=consolidate,
                namespace=_namespace(scope),
                progress=self._counting_from(done, total),
            )
            self._document |= {note: d.id for note, d in zip(imported.notes, documents, strict=True) if note}
            self.memories += imported.memories
            done += len(documents)
        self._memento.warm_up()
        self.import_s = time.perf_counter() - begin

    def asked(self, profile: str | None = None) -> Report:
        """Every question once, in its scope."""
        answers = []
        for done, question in enumerate(self.data.questions):
            self._progress("questions", done, len(self.data.questions))
            answers.append(self._answered(question, profile))
        self._progress("questions", len(answers), len(answers))
        return Report(
            dataset=self.data.name,
            profile=profile,
            documents=len(self.data.documents),
            memories=self.memories,
            import_s=self.import_s,
            skipped=self.data.skipped,
            answers=tuple(answers),
        )

    def close(self) -> None:
        """Let go of the temporary memory."""
        self._memento.close()

    def _counting_from(self, before: int, total: int) -> Progress:
        return lambda done, _: self._progress("import", before + done, total)

    def _answered(self, question: Question, profile: str | None) -> Answered:
        namespace = _namespace(question.scope)
        begin = time.perf_counter()
        recollection = self._memento.recall(question.text, k=K, profile=profile, namespace=namespace)
        latency_ms = (time.perf_counter() - begin) * 1000
        return Answered(
            question=question,
            ranked=self._ranked(recollection),
            latency_ms=latency_ms,
            phases_ms=recollection.timings_ms,
        )

    def _ranked(self, recollection: Recollection) -> tuple[str, ...]:
        notes = [memory.note.iri for memory in recollection.memories if memory.note]
        return tuple(dict.fromkeys(self._document[note] for note in notes))


@contextmanager
def prepared(
    data: EvaluationSet,
    *,
    consolidate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
) -> Iterator[Trial]:
    """A set in a temporary memory, which is gone afterwards; several profiles may be asked of one import."""
    with tempfile.TemporaryDirectory(prefix="memento-eval-") as folder:
        trial = Trial(data, Path(folder), configured, progress or (lambda stage, done, total: None))
        try:
            trial.imports(consolidate)
            yield trial
        finally:
            trial.close()


def evaluate(
    folder: Path,
    *,
    profile: str | None = None,
    limit: int | None = None,
    exclude_types: Collection[str] = (),
    consolidate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
) -> Report:
    """
    Import a folder's corpus into a temporary memory, ask its questions, and report.

    Args:
        profile: retrieval settings by name.
        limit: the first so many questions only.
        consolidate: let the rules split, skip and retire; by default each row is kept as one memory of its own text.
        configured: all settings; default the environment's.
        progress: see `bar`.

    Raises:
        InputError: the folder is no evaluation set; names file and line.
        SettingsError: an unknown profile.
    """
    data = sets.read(folder, limit=limit, exclude_types=exclude_types)
    with prepared(data, consolidate=consolidate, configured=configured, progress=progress) as trial:
        return trial.asked(profile)


@contextmanager
def bar() -> Iterator[Stage]:
    """A progress bar on stderr for each stage, to hand to `evaluate`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def _namespace(scope: str | None) -> str:
    # The prefix keeps a scope from meaning `main` or `project`.
    return "main" if scope is None else f"scope-{scope}"


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


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of equally wide columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
