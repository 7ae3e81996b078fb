"""
Measure how well Memento recalls, on any set of documents, questions and judgements: read the set from a folder into a temporary
memory, ask its questions once or several times, and report.

    corpus.jsonl   {"id", "text", optional "title", "speaker", "timestamp", "session", "turn", "scope"}
    queries.jsonl  {"id", "text", optional "scope", "type", "as_of"}
    qrels.jsonl    {"query", "doc", optional "rel": above 0 is relevant, default 1}
    unanswerable.jsonl (optional): questions as in queries.jsonl that no document answers

A question with a scope searches the documents of that scope and those without one. Unknown fields are ignored.

A ranking is a sequence of ids without repetitions, best first. Every metric of one question is a fraction in 0..1; ranks count from
1 in the formulas. Rankings are measured with the gate off. The same questions are asked again with the gate on, as a user asks
them: separate figures report how much is cut, how often nothing is returned, and how often an unanswerable question gets an answer.

*Flow:* `read_set` → `Trial` imports the corpus, a namespace for each scope → `Trial.ask_all` recalls every question → `Report`.

*Guarantees:* the same rankings always give the same figures; the keys of the JSON are stable.

*But:* it only calls the public methods, so that the figures are those of the product. Each row is stored as one memory unless
`consolidate` is set; a document with several memories counts once, at its best rank.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memento import settings
from memento.errors import InputError
from memento.intake import rows as intake
from memento.intake.rows import Record, parse_note_row
from memento.iris import IRI
from memento.model import NoteRow, Recollection
from memento.ports import Progress
from memento.python import Memento, open_memento
from memento.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One row of the corpus."""

    id: str
    scope: str | None
    row: NoteRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; `grades` maps each document that answers it to a grade above 0."""

    id: str
    text: str
    scope: str | None = None
    type: str | None = None
    as_of: str | None = None
    grades: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSet:
    """
    The content of a folder. `skipped` counts questions that were read but have no relevant document; `unanswerable` holds those
    that are declared to have none.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    skipped: int = 0
    unanswerable: tuple[Question, ...] = ()

    @property
    def scopes(self) -> tuple[str | None, ...]:
        """Return every scope that has documents, in order of appearance; None for those without one."""
        return tuple(dict.fromkeys(document.scope for document in self.documents))


def read_set(folder: Path, *, limit: int | None = None, exclude_types: Collection[str] = ()) -> EvaluationSet:
    """
    Read the evaluation set in a folder.

    Args:
        limit: keep only this many questions, after removing those of `exclude_types`.

    Raises:
        InputError: a file is missing or has an unusable line, an id occurs twice, a relevant document does not exist or cannot be
        seen from its question's scope, or no question is left; the message names file and line.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, not {limit}")
    folder = folder.absolute()
    documents = {document.id: document for document in _read_documents(folder)}
    questions = {question.id: question for question in _read_questions(folder / "queries.jsonl")}
    grades = _read_grades(folder, questions, documents)
    wanted = [question for question in questions.values() if question.type not in exclude_types][:limit]
    judged = tuple(replace(question, grades=grades[question.id]) for question in wanted if grades.get(question.id))
    if not judged:
        raise InputError(f"{folder}: no question with a relevant document among the {len(wanted)} taken")
    return EvaluationSet(
        name=folder.name,
        documents=tuple(documents.values()),
        questions=judged,
        skipped=len(wanted) - len(judged),
        unanswerable=tuple(_read_questions(unsaid))[:limit]
        if (unsaid := folder / "unanswerable.jsonl").exists()
        else (),
    )


def _read_documents(folder: Path) -> Iterator[Document]:
    for id, record in _check_unique(folder / "corpus.jsonl"):
        row = replace(parse_note_row(record), idempotency_key=None)  # ids are unique already
        yield Document(id=id, scope=record.label("scope"), row=row)


def _read_questions(file: Path) -> Iterator[Question]:
    for id, record in _check_unique(file):
        yield Question(
            id=id,
            text=record.require_text("text"),
            scope=record.label("scope"),
            type=record.label("type"),
            as_of=record.label("as_of"),
        )


def _read_grades(
    folder: Path, questions: Mapping[str, Question], documents: Mapping[str, Document]
) -> dict[str, dict[str, float]]:
    """Return question id → document id → grade, ignoring judgements of questions that are not in the folder."""
    grades: dict[str, dict[str, float]] = {}
    for record in _read_records(folder / "qrels.jsonl"):
        query, doc, grade = _require_label(record, "query"), _require_label(record, "doc"), _parse_grade(record)
        if query not in questions or grade <= 0:
            continue
        if doc not in documents:
            raise InputError(f"{record.where}: document {doc!r} is not in corpus.jsonl")
        if documents[doc].scope not in (None, questions[query].scope):
            raise InputError(f"{record.where}: document {doc!r} is outside the scope of query {query!r}")
        grades.setdefault(query, {})[doc] = grade
    return grades


def _check_unique(file: Path) -> Iterator[tuple[str, Record]]:
    seen: set[str] = set()
    for record in _read_records(file):
        id = _require_label(record, "id")
        if id in seen:
            raise InputError(f"{record.where}: id {id!r} stands twice")
        seen.add(id)
        yield id, record


def _read_records(file: Path) -> Iterator[Record]:
    name = f"{file.parent.name}/{file.name}"
    return intake.split_records(intake.decode_text(intake.read_file(file), name), name)


def _require_label(record: Record, name: str) -> str:
    label = record.label(name)
    if label is None:
        raise InputError(f"{record.where}: {name} is missing or empty")
    return label


def _parse_grade(record: Record) -> float:
    value = record.fields.get("rel", 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise record.wrong("rel", "a number", value)
    return float(value)


Values = NDArray[np.float64]
"""(n,) one metric, with a value for each question."""


class Estimate(NamedTuple):
    """A mean and its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return the share of the gold among the first `k`; `gold` must not be empty.

    >>> recall_at(["a", "b", "c"], {"a", "c", "d"}, k=3)
    0.6666666666666666
    """
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def all_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return 1.0 if the first `k` contain all of the gold, else 0.0; suits questions that need two documents.

    >>> all_found(["a", "b"], {"a", "b"}, k=2), all_found(["a", "b"], {"a", "b"}, k=1)
    (1.0, 0.0)
    """
    return float(set(gold) <= set(ranked[:k]))


def any_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return 1.0 if the first `k` contain any of the gold, else 0.0.

    >>> any_found(["a", "b"], {"b", "c"}, k=2), any_found(["a", "b"], {"b", "c"}, k=1)
    (1.0, 0.0)
    """
    return float(not set(ranked[:k]).isdisjoint(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """
    Return 1 / the rank of the first gold id among the first `k`, or 0.0.

    Source: Voorhees 1999, TREC-8 question answering track.

    >>> round(reciprocal_rank(["a", "b", "c", "d"], {"c"}, k=4), 5)
    0.33333
    """
    return next((1 / rank for rank, item in enumerate(ranked[:k], 1) if item in gold), 0.0)


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """
    Return Σ grade / log2(rank + 1) over the first `k`, divided by that of the best possible order; 0.0 without any grade.

    Args:
        grades: id → relevance, above 0; ids not in it count 0.

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
        values: (n,), n at least 1; questions are sampled with replacement.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 13.

    >>> estimate([1.0, 0.0, 1.0, 1.0], np.random.default_rng(0))
    Estimate(mean=0.75, low=0.25, high=1.0)
    """
    x = np.asarray(values, dtype=np.float64)
    means = x[rng.integers(0, x.size, (resamples, x.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(x.mean()), float(low), float(high))


def estimate_difference(
    first: Sequence[float] | Values, second: Sequence[float] | Values, rng: np.random.Generator
) -> Estimate:
    """
    Return how much better `second` is than `first` on the same questions: the mean difference, −1..1, with its interval.

    Each question is resampled with its difference, so questions that are hard for both do not widen the interval.

    Source: Efron and Tibshirani 1993, ch. 16; Sakai 2006, SIGIR.

    >>> estimate_difference([0.0, 0.5, 1.0], [0.5, 1.0, 1.5], np.random.default_rng(0))
    Estimate(mean=0.5, low=0.5, high=0.5)
    """
    return estimate(np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64), rng)


def _discount(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


SEED = 20_240_229
"""The seed of the bootstrap, so that the same rankings always give the same intervals."""

METRICS: Mapping[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {
    "recall@5": lambda ranked, gold: recall_at(ranked, gold, 5),
    "recall@10": lambda ranked, gold: recall_at(ranked, gold, 10),
    "all@5": lambda ranked, gold: all_found(ranked, gold, 5),
    "all@10": lambda ranked, gold: all_found(ranked, gold, 10),
    "mrr@10": lambda ranked, gold: reciprocal_rank(ranked, gold, 10),
    "ndcg@10": lambda ranked, gold: ndcg(ranked, gold, 10),
    "any@5": lambda ranked, gold: any_found(ranked, gold, 5),
    "any@10": lambda ranked, gold: any_found(ranked, gold, 10),
}

BY_SESSION = {"session@5": 5, "session@10": 10}
"""Number of documents over which the share of sessions with gold is measured: the figure usually published for conversations."""

FIGURES = (*METRICS, *BY_SESSION)

COMPARED = ("recall@5", "recall@10")
"""Metrics for which the difference to another profile is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """
    The result of one question: its documents, best first, and its time in milliseconds, in total and by phase.

    `sessions` maps each document in a session to it; any other document counts as a session.
    """

    question: Question
    ranked: tuple[str, ...]
    latency_ms: float
    phases_ms: Mapping[str, float]
    sessions: Mapping[str, str] = field(default_factory=dict)

    def measure(self, metric: str) -> float:
        """Return one of `FIGURES`, 0..1."""
        if metric in METRICS:
            return METRICS[metric](self.ranked, self.question.grades)
        gold = {self.sessions.get(document, document) for document in self.question.grades}
        found = [self.sessions.get(document, document) for document in self.ranked[: BY_SESSION[metric]]]
        return len(gold & set(found)) / len(gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    The results for a set, with its figures; `others` are the results of other profiles for the same questions.

    `answered` is the same as a user gets it, with the gate on; `unanswered` has what was returned for questions without an answer.
    """

    dataset: str
    profile: str | None
    documents: int
    memories: int
    import_s: float
    skipped: int
    answers: tuple[AnsweredQuestion, ...]
    others: tuple[Report, ...] = ()
    answered: Report | None = None
    unanswered: tuple[AnsweredQuestion, ...] = ()

    @property
    def false_silences(self) -> float:
        """Return the share of the answerable questions that got no answer, 0..1."""
        return float(np.mean([not answer.ranked for answer in self.answers]))

    @property
    def false_answers(self) -> float | None:
        """Return the share of the unanswerable questions that got an answer, 0..1; None if the set has none."""
        return float(np.mean([bool(one.ranked) for one in self.unanswered])) if self.unanswered else None

    @property
    def shown(self) -> float:
        """Return the mean number of documents that an answer shows."""
        return float(np.mean([len(answer.ranked) for answer in self.answers]))

    @property
    def profile_name(self) -> str:
        """Return the name of the profile as users know it."""
        return self.profile or "default"

    def list_values(self, metric: str) -> Values:
        """Return (n,) a metric for each question, in order: the input of `estimate_difference`."""
        return np.array([answer.measure(metric) for answer in self.answers])

    def estimate(self, metric: str) -> Estimate:
        """Return the mean of a metric with its interval."""
        return _estimate_seeded(self.list_values(metric))

    def compare_with(self, other: Report, metric: str) -> Estimate:
        """Return how much better this report is than another on the same questions, with the paired interval."""
        return estimate_difference(other.list_values(metric), self.list_values(metric), np.random.default_rng(SEED))

    def as_json(self) -> dict[str, object]:
        """
        Return the figures with stable keys; quality as fractions in 0..1, latencies in milliseconds.

        `answered` has the figures as a user gets them, the numbers of false silences and false answers, and how much is shown. With
        `others` there is one more key, `compare`: for each of them its own values, and how much better this report is.
        """
        return {
            "dataset": self.dataset,
            "queries": len(self.answers),
            **{metric: round(float(self.list_values(metric).mean()), 6) for metric in FIGURES},
            "latency_ms": _quantiles([answer.latency_ms for answer in self.answers]),
            "phases_ms": {phase: _quantiles(spent) for phase, spent in self._phases().items()},
            **({"answered": self.answered._as_answered()} if self.answered else {}),
            **({"compare": {other.profile_name: self._compare(other) for other in self.others}} if self.others else {}),
        }

    def _as_answered(self) -> dict[str, object]:
        return {
            **{metric: round(float(self.list_values(metric).mean()), 6) for metric in FIGURES},
            "shown": round(self.shown, 3),
            "false_silences": round(self.false_silences, 6),
            "false_answers": self.false_answers,
        }

    def as_table(self, per_type: bool = False) -> str:
        """Format the figures for people: percent with 95 % bootstrap intervals, a row for each type if requested, then times."""
        by_type: dict[str, list[AnsweredQuestion]] = defaultdict(list)
        for answer in self.answers if per_type else ():
            by_type[answer.question.type or "(no type)"].append(answer)
        rows = [("", "n", *FIGURES), _row("all", self.answers)]
        rows += [_row(f"  {name}", by_type[name]) for name in sorted(by_type)]
        for other in self.others:
            rows += [_row(other.profile_name, other.answers), self._comparison_row(other)]
        rows += [_row("as answered", self.answered.answers)] if self.answered else []
        times = [("ms", "p50", "p95"), _times("recall", [answer.latency_ms for answer in self.answers])]
        times += [_times(f"  {phase}", spent) for phase, spent in self._phases().items()]
        return "\n".join([self._head(), "", *align_columns(rows), *self._silences(), "", *align_columns(times)])

    def _head(self) -> str:
        return (
            f"{self.dataset} · profile {self.profile_name} · {self.documents:,} documents, {self.memories:,} memories"
            f" · {len(self.answers):,} queries, {self.skipped:,} skipped without qrels · import {self.import_s:.1f} s\n"
            "percent [95 % bootstrap interval]"
        )

    def _silences(self) -> list[str]:
        """Return the lines about the answers as a user gets them."""
        if not self.answered:
            return []
        wrong = self.answered.false_answers
        said = "" if wrong is None else f", false answers {100 * wrong:.1f} % of {len(self.answered.unanswered):,}"
        return [
            "",
            f"as answered: {self.answered.shown:.1f} shown, false silences {100 * self.answered.false_silences:.1f} %{said}",
        ]

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
            format_difference(self.compare_with(other, metric)) if metric in COMPARED else "" for metric in FIGURES
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
    Format a difference in percentage points with its interval.

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
    estimates = (_estimate_seeded(np.array([answer.measure(metric) for answer in answers])) for metric in FIGURES)
    figures = (f"{100 * mean:5.1f} [{100 * low:.1f}, {100 * high:.1f}]" for mean, low, high in estimates)
    return (name, f"{len(answers):,}", *figures)


def _times(name: str, ms: Sequence[float]) -> tuple[str, ...]:
    quantiles = _quantiles(ms)
    return (name, f"{quantiles['p50']:.1f}", f"{quantiles['p95']:.1f}")


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows in columns, the first column to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


K = 10
"""Number of memories requested for every question; the metrics look at the first 5 and the first 10."""

DEFAULT = "default"
"""The profile name for the unchanged settings."""

Stage = Callable[[str, int, int], None]
"""Called with (stage, done, total)."""


class Trial:
    """A set imported into a temporary memory; it can be asked with any profile. Created by `prepare_trial`."""

    def __init__(self, data: EvaluationSet, home: Path, configured: Settings | None, progress: Stage) -> None:
        self.data = data
        self.import_s = 0.0
        self.memories = 0
        self.gate = False  # a withheld answer would distort the ranking figures
        self._progress = progress
        opened = open_memento(home, namespace="main", configured=configured, command="memento care eval")
        assert isinstance(opened, Memento)  # no other process serves a folder that was created a moment ago
        self._memento = opened
        self._document: dict[IRI, str] = {}  # note → the document it was imported from
        self._sessions = {one.id: f"{one.scope}/{one.row.session}" for one in data.documents if one.row.session}

    @property
    def memento(self) -> Memento:
        """The memory that is asked, for callers who inspect it."""
        return self._memento

    def find_document(self, note: IRI) -> str | None:
        """Return the document from which a note was imported."""
        return self._document.get(note)

    def import_documents(self, consolidate: bool) -> None:
        """
        Import the corpus, scope by scope, and load what the first question would otherwise wait for. A kept folder imports only
        once.
        """
        kept = self._memento.datadir.path / "documents.json"
        if kept.exists():
            self._document, self.memories = json.loads(kept.read_text(encoding="utf-8"))
            self._memento.warm_up()
            return
        begin, done, total = time.perf_counter(), 0, len(self.data.documents)
        self._progress("import", 0, total)
        for scope in self.data.scopes:
            documents = [document for document in self.data.documents if document.scope == scope]
            imported = self._memento.intake.import_notes(
                [document.row for document in documents],
                consolidate=consolidate,
                namespace=namespace_of(scope),
                progress=self._count_from(done, total),
            )
            self._document |= {note: d.id for note, d in zip(imported.notes, documents, strict=True) if note}
            self.memories += imported.memories
            done += len(documents)
        self._memento.warm_up()
        self.import_s = time.perf_counter() - begin
        kept.write_text(json.dumps((self._document, self.memories)), encoding="utf-8")

    def ask_all(self, profile: str | None = None, *, configured: Settings | None = None) -> Report:
        """
        Ask every question once, in its scope; with the gate, ask the unanswerable ones too.

        Args:
            profile: name of retrieval settings that override the others; None or `default` overrides nothing.
            configured: use these settings instead of those with which the memory was opened.
        """
        answers, opened_with = [], self._memento.settings
        questions = (*self.data.questions, *(self.data.unanswerable if self.gate else ()))
        self._memento.service.settings = configured or opened_with
        try:
            for done, question in enumerate(questions):
                self._progress("questions", done, len(questions))
                answers.append(self._ask_question(question, _profile_of(profile)))
        finally:
            self._memento.service.settings = opened_with
        self._progress("questions", len(answers), len(answers))
        return Report(
            dataset=self.data.name,
            profile=profile,
            documents=len(self.data.documents),
            memories=self.memories,
            import_s=self.import_s,
            skipped=self.data.skipped,
            answers=tuple(answers[: len(self.data.questions)]),
            unanswered=tuple(answers[len(self.data.questions) :]),
        )

    def ask_as_user(self, profile: str | None = None) -> Report:
        """Ask every question with the gate on, as a user does: irrelevant memories are cut, and an empty answer is possible."""
        ranked, self.gate = self.gate, True
        try:
            return self.ask_all(profile)
        finally:
            self.gate = ranked

    def explain(
        self, question: Question, k: int, *, configured: Settings | None = None
    ) -> tuple[list[str | None], list[Mapping[str, float]]]:
        """
        Return the `k` best memories for a question, each with its document and the contribution of each signal.

        Args:
            configured: as for `ask_all`.
        """
        opened_with = self._memento.settings
        self._memento.service.settings = configured or opened_with
        try:
            found = self._memento.recall(
                question.text, k=k, gate=False, explain=True, namespace=namespace_of(question.scope)
            ).memories
        finally:
            self._memento.service.settings = opened_with
        documents = [self._document.get(one.note.parent or one.note.iri) if one.note else None for one in found]
        return documents, [one.why for one in found]

    def close(self) -> None:
        """Close the temporary memory."""
        self._memento.close()

    def _count_from(self, before: int, total: int) -> Progress:
        return lambda done, _: self._progress("import", before + done, total)

    def _ask_question(self, question: Question, profile: str | None) -> AnsweredQuestion:
        namespace = namespace_of(question.scope)
        begin = time.perf_counter()
        recollection = self._memento.recall(
            question.text, k=K, as_of=question.as_of, profile=profile, gate=self.gate, namespace=namespace
        )
        latency_ms = (time.perf_counter() - begin) * 1000
        return AnsweredQuestion(
            question=question,
            ranked=self._rank_documents(recollection),
            latency_ms=latency_ms,
            phases_ms=recollection.timings_ms,
            sessions=self._sessions,
        )

    def _rank_documents(self, recollection: Recollection) -> tuple[str, ...]:
        notes = [note for one in recollection.memories for note in (*([one.note] if one.note else ()), *one.notes)]
        return tuple(dict.fromkeys(self._document[note.parent or note.iri] for note in notes))


@contextmanager
def prepare_trial(
    data: EvaluationSet,
    *,
    consolidate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
    keep: Path | None = None,
) -> Iterator[Trial]:
    """
    Import a set into a temporary memory, which is deleted afterwards; several profiles may be asked of one import.

    Args:
        keep: a folder that keeps the memory, for the next trial of a set with this name.
    """
    with tempfile.TemporaryDirectory(prefix="memento-eval-") as temporary:
        home = keep / (f"{data.name}-consolidated" if consolidate else data.name) if keep else Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        trial = Trial(data, home, configured, progress or (lambda stage, done, total: None))
        try:
            trial.import_documents(consolidate)
            yield trial
        finally:
            trial.close()


def evaluate(
    folder: Path,
    *,
    profile: str | None = None,
    compare: Sequence[str] = (),
    limit: int | None = None,
    exclude_types: Collection[str] = (),
    consolidate: bool = False,
    gate: bool = False,
    configured: Settings | None = None,
    progress: Stage | None = None,
) -> Report:
    """
    Import a folder's corpus into a temporary memory, ask its questions, and report.

    Args:
        profile: name of retrieval settings.
        compare: further profiles to ask the same questions of the same memory; `default` for no profile.
        limit: ask only this many questions.
        consolidate: let the rules split, skip and retire memories; by default each row is stored as one memory, word for word.
        gate: rank what a user gets, with irrelevant memories cut; otherwise that is reported separately.
        configured: all settings; by default from the environment.
        progress: see `show_progress`.

    Raises:
        InputError: the folder is not an evaluation set; the message names file and line.
        SettingsError: an unknown profile.
    """
    for name in (profile, *compare):
        if wanted := _profile_of(name):
            settings.with_profile(Settings(), wanted)  # an import may take minutes: reject a wrong name before it
    data = read_set(folder, limit=limit, exclude_types=exclude_types)
    with prepare_trial(data, consolidate=consolidate, configured=configured, progress=progress) as trial:
        trial.gate = gate
        report = trial.ask_all(profile)
        others = tuple(trial.ask_all(other) for other in dict.fromkeys(compare))
        return replace(report, others=others, answered=report if gate else trial.ask_as_user(profile))


@contextmanager
def show_progress() -> Iterator[Stage]:
    """Show a progress bar on stderr for each stage; pass the result to `evaluate`."""
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


def _profile_of(profile: str | None) -> str | None:
    return None if profile == DEFAULT else profile


def namespace_of(scope: str | None) -> str:
    """Return the namespace that a scope of a set is imported into."""
    # The prefix prevents a scope from being taken for `main` or `project`.
    return "main" if scope is None else f"scope-{scope}"
