"""
An evaluation set from a folder: documents, questions, and which documents answer which question.

    corpus.jsonl   {"id", "text", optional "title", "speaker", "timestamp", "session", "turn", "scope"}
    queries.jsonl  {"id", "text", optional "scope", "type"}
    qrels.jsonl    {"query", "doc", optional "rel": above 0 is relevant, default 1}

A question with a scope is asked of the documents of that scope and of those without one. Unknown fields are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from memento import intake
from memento.errors import InputError
from memento.intake import Record, parse_note_row
from memento.model import NoteRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One row of the corpus."""

    id: str
    scope: str | None
    row: NoteRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; `grades` are the documents that answer it, each with how well, above 0."""

    id: str
    text: str
    scope: str | None = None
    type: str | None = None
    grades: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSet:
    """What a folder holds; `skipped` questions were taken but have no document that answers them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    skipped: int = 0

    @property
    def scopes(self) -> tuple[str | None, ...]:
        """Return every scope that has documents, in order of appearance; None for those without one."""
        return tuple(dict.fromkeys(document.scope for document in self.documents))


def read_set(folder: Path, *, limit: int | None = None, exclude_types: Collection[str] = ()) -> EvaluationSet:
    """
    Return the evaluation set in a folder.

    Args:
        limit: take only the first so many questions, after those of `exclude_types` are left out.

    Raises:
        InputError: a file is missing or has an unusable line, an id stands twice, a relevant document does not exist or
            cannot be seen from its question's scope, or no question is left; names file and line.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, not {limit}")
    folder = folder.absolute()
    documents = {document.id: document for document in _read_documents(folder)}
    questions = {question.id: question for question in _read_questions(folder)}
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
    )


def _read_documents(folder: Path) -> Iterator[Document]:
    for id, record in _check_unique(folder / "corpus.jsonl"):
        row = replace(parse_note_row(record), idempotency_key=None)  # ids are unique already
        yield Document(id=id, scope=record.label("scope"), row=row)


def _read_questions(folder: Path) -> Iterator[Question]:
    for id, record in _check_unique(folder / "queries.jsonl"):
        yield Question(id=id, text=record.required("text"), scope=record.label("scope"), type=record.label("type"))


def _read_grades(
    folder: Path, questions: Mapping[str, Question], documents: Mapping[str, Document]
) -> dict[str, dict[str, float]]:
    """Question id → document id → grade; judgements of questions that are not in the folder are passed over."""
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
