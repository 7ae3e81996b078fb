import json
from datetime import datetime
from pathlib import Path

import pytest

from memento.errors import InputError
from memento.plugins.lab.evaluation import read_set

CORPUS: list[dict[str, object]] = [
    {"id": "d1", "text": "Mel paints.", "scope": "26", "speaker": "Mel", "timestamp": "2023-05-08T13:56:00"}
    | {"session": 1, "turn": 4, "date_text": "unknown fields are passed over"},
    {"id": "d2", "text": "Rush is a band.", "title": "Rush", "scope": 31},
    {"id": "d3", "text": "Everybody may see this."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "text": "Who paints?", "scope": "26", "type": "one"},
    {"id": "q2", "text": "What is Rush?", "scope": 31, "type": "two"},
    {"id": "q3", "text": "Who knows?", "type": "two"},
    {"id": "q4", "text": "What may everybody see?", "scope": "26", "type": "three"},
]
QRELS: list[dict[str, object]] = [
    {"query": "q1", "doc": "d1", "rel": 1},
    {"query": "q1", "doc": "d3", "rel": 0},
    {"query": "q2", "doc": "d2"},
    {"query": "q4", "doc": "d3", "rel": 2},
    {"query": "elsewhere", "doc": "elsewhere", "rel": 1},
]


def folder_of(tmp_path: Path, **changed: str) -> Path:
    files: dict[str, list[dict[str, object]]] = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}
    for name, rows in files.items():
        lines = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(changed.get(name, lines), encoding="utf-8")
    return tmp_path


def test_a_folder_becomes_documents_and_judged_questions(tmp_path: Path) -> None:
    data = read_set(folder_of(tmp_path))

    assert data.name == tmp_path.name
    assert data.scopes == ("26", "31", None)
    assert [question.id for question in data.questions] == ["q1", "q2", "q4"]
    assert [question.grades for question in data.questions] == [{"d1": 1}, {"d2": 1}, {"d3": 2}]
    assert data.skipped == 1


def test_a_document_keeps_who_said_it_when_and_where_in_the_conversation(tmp_path: Path) -> None:
    row = read_set(folder_of(tmp_path)).documents[0].row

    assert (row.speaker, row.session, row.position) == ("Mel", "1", 4)
    assert row.at == datetime(2023, 5, 8, 13, 56)


def test_limit_takes_the_first_questions_of_the_types_that_are_left(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)

    assert [q.id for q in read_set(folder, limit=1).questions] == ["q1"]
    assert [q.id for q in read_set(folder, limit=1, exclude_types=["one"]).questions] == ["q2"]
    assert read_set(folder, limit=3).skipped == 1
    assert read_set(folder, exclude_types=["two"]).skipped == 0


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("corpus", '{"id": "d1", "text": "x"}\n{"id": "d1", "text": "y"}', "corpus.jsonl line 2: id 'd1' stands twice"),
        ("corpus", '{"text": "x"}', "corpus.jsonl line 1: id is missing"),
        ("corpus", '{"id": "d1"}', "corpus.jsonl line 1: content or text is missing"),
        ("corpus", '{"id": "d1", "text": "x", "timestamp": "May"}', "corpus.jsonl line 1: timestamp must be"),
        ("corpus", "no JSON", "corpus.jsonl line 1: not JSON"),
        ("queries", '{"id": "q1"}', "queries.jsonl line 1: text is missing"),
        ("queries", '["q1"]', "queries.jsonl item 1: must be an object"),
        ("qrels", '{"query": "q1", "doc": "d9"}', "qrels.jsonl line 1: document 'd9' is not in corpus.jsonl"),
        ("qrels", '{"query": "q1", "doc": "d2"}', "line 1: document 'd2' is outside the scope of query 'q1'"),
        ("qrels", '{"query": "q1", "doc": "d1", "rel": "1"}', "qrels.jsonl line 1: rel must be a number, not '1'"),
        ("qrels", '{"query": "q1"}', "qrels.jsonl line 1: doc is missing"),
        ("qrels", "", "no question with a relevant document among the 4 taken"),
    ],
)
def test_an_unusable_line_is_refused_by_file_and_line(tmp_path: Path, file: str, line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_set(folder_of(tmp_path, **{file: line}))

    assert words in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"corpus\.jsonl cannot be read"):
        read_set(tmp_path)


def test_a_limit_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="limit must be at least 1, not 0"):
        read_set(folder_of(tmp_path), limit=0)
