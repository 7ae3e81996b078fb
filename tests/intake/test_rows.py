import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.consolidation.task import Task
from memento.errors import GraphError, InputError
from memento.intake.rows import parse_rows, read_rows
from memento.model import Noted, NoteRow
from memento.python import Memento
from memento.service.handlers import imports
from memento.service.understanding import take_batches

FULL = {
    "text": "We met at the lake.",
    "timestamp": "2025-01-31T09:00:00Z",
    "title": "Lake",
    "speaker": "Mel",
    "session": 3,
    "turn": 0,
    "idempotency_key": "a1",
    "mood": "unknown fields are passed over",
}
FULL_ROW = NoteRow(
    content="We met at the lake.",
    at=datetime(2025, 1, 31, 9, tzinfo=UTC),
    title="Lake",
    speaker="Mel",
    session="3",
    position=0,
    idempotency_key="a1",
)


def test_json_lines_and_an_array_give_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text(f"{json.dumps(FULL)}\n\n{json.dumps(FULL)}\n", encoding="utf-8")
    (tmp_path / "notes.json").write_text(json.dumps([FULL, FULL], indent=2), encoding="utf-8")

    assert read_rows(tmp_path / "notes.jsonl") == read_rows(tmp_path / "notes.json") == [FULL_ROW, FULL_ROW]


def test_both_names_of_a_field_are_understood() -> None:
    other = {"content": FULL["text"], "at": FULL["timestamp"], "position": 0, "session": "3"}

    assert parse_rows(json.dumps(other).encode()) == [
        NoteRow(content=FULL_ROW.content, at=FULL_ROW.at, session="3", position=0)
    ]


def test_each_paragraph_of_markdown_is_one_note(tmp_path: Path) -> None:
    file = tmp_path / "diary.md"
    file.write_bytes(b"\xef\xbb\xbf[Berlin](x) is home\r\nsince May.\r\n \r\n\r\nI left Google.\r\n")

    assert [row.content for row in read_rows(file)] == ["[Berlin](x) is home\nsince May.", "I left Google."]


def test_a_time_without_an_offset_is_left_for_the_service_to_place() -> None:
    assert parse_rows(b'{"text": "x", "at": "2025-01-31"}')[0].at == datetime(2025, 1, 31)


def test_null_and_blank_fields_count_as_absent() -> None:
    assert parse_rows(b'{"content": null, "text": "x", "title": " ", "session": null}') == [NoteRow(content="x")]


def test_a_line_separator_inside_a_json_string_does_not_end_the_line() -> None:
    assert parse_rows('{"text": "one\u2028two"}\n{"text": "three"}'.encode())[0].content == "one\u2028two"


@pytest.mark.parametrize("data", [b"", b"\n \n", b"[]"])
def test_nothing_gives_no_rows(data: bytes) -> None:
    assert parse_rows(data) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"text": "x"}\n{"text": ""}', "body line 2: content or text is missing or empty"),
        (b'{"text": 5}', "body line 1: text must be text, not 5"),
        (b'{"text": "x", "at": "soon"}', "body line 1: at must be an ISO 8601 time"),
        (b'{"text": "x", "timestamp": 5}', "body line 1: timestamp must be an ISO 8601 time"),
        (b'{"text": "x", "at": "0001-01-01T00:00+14:00"}', "body line 1: at must be an ISO 8601 time"),
        (b'{"text": "x", "turn": -1}', "body line 1: turn must be a whole number from 0 on, not -1"),
        (b'{"text": "x", "turn": true}', "body line 1: turn must be a whole number"),
        (b'{"text": "x", "session": 1.5}', "body line 1: session must be text or a whole number"),
        (b'[{"text": "x"}, 3]', "body item 2: must be an object"),
        (b'[{"text": "x"},\n {"text": ]', "body line 2: not JSON"),
        (b'{"text": "x"}\n{"text"', "body line 2: not JSON"),
        (b'{"text": "x"}\n\n{"text": "\xff"}', "body line 3: not UTF-8 text"),
        (b"[" * 100_000, "body: not usable JSON"),
    ],
)
def test_an_unusable_row_is_refused_by_place_and_field(data: bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_rows(data)

    assert words in str(caught.value)


def test_a_long_wrong_value_is_shown_in_part() -> None:
    with pytest.raises(InputError) as caught:
        parse_rows(json.dumps({"text": ["long"] * 1000}).encode())

    assert len(str(caught.value)) < 150


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl cannot be read"):
        read_rows(tmp_path / "gone.jsonl")


@given(st.binary(max_size=200))
def test_any_bytes_are_either_rows_or_an_input_error(data: bytes) -> None:
    with contextlib.suppress(InputError):
        assert all(row.content.strip() for row in parse_rows(data))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])).filter(str.strip)))
def test_every_text_written_as_json_lines_comes_back_as_it_was(texts: list[str]) -> None:
    data = "\n".join(json.dumps({"content": text}, ensure_ascii=False) for text in texts)

    assert [row.content for row in parse_rows(data.encode(), kind="json")] == texts


def test_for_how_long_a_row_is_remembered_is_read_of_every_kind_of_row() -> None:
    rows = parse_rows(b'{"content": "Hi", "ttl_s": 60}') + parse_rows(b"content,ttl_s\nHi,60\nHo,\n", kind="csv")
    assert [row.ttl_s for row in rows] == [60.0, 60.0, None]
    for wrong in (b'{"content": "Hi", "ttl_s": "soon"}', b'{"content": "Hi", "ttl_s": -1}'):
        with pytest.raises(InputError, match="line 1: ttl_s must be a number of seconds above 0"):
            parse_rows(wrong)
    with pytest.raises(InputError, match="ttl_s"):
        parse_rows(b"content,ttl_s\nHi,soon\n", kind="csv")


def test_an_import_that_broke_off_and_is_sent_again_is_one_import(memento: Memento) -> None:
    rows = [NoteRow(content=f"Boat {number} is blue.", idempotency_key=f"boat {number}") for number in range(4)]

    def break_off(batches: Iterable[Sequence[Task]], *more: Any) -> Iterator[list[Noted]]:
        yield from islice(take_batches(batches, *more), 1)
        raise GraphError("the store is away")

    with (
        patch.object(imports, "_BATCH", 2),
        patch.object(imports, "take_batches", break_off),
        pytest.raises(GraphError),
    ):
        memento.intake.import_notes(rows)
    [begun] = memento.intake.imports()
    assert begun.notes == 2

    done = memento.intake.import_notes(rows)
    assert (done.iri, done.known) == (begun.iri, 2)
    [shown] = memento.intake.imports()
    assert (shown.iri, shown.at, shown.notes) == (begun.iri, begun.at, 4)

    more = [*rows, NoteRow(content="Boat 4 is red.", idempotency_key="boat 4")]
    assert memento.intake.import_notes(more).iri != begun.iri
    assert len(memento.intake.imports()) == 2
