"""Memories go out as rows in four formats, and come back as the same memories."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.archive.tables import TABLE_FORMS, MemoryRow, find_form, is_table, read_table, write_table
from memento.errors import InputError, NotAcceptable
from memento.python import Memento, open_memento

SUFFIXES = ["jsonl", "json", "csv", "md"]
ODD = 'Zoë said: "a, b";\n---\n```py\nx = {"ü": 1}\n```\n## No heading\n> quoted\n\n- id: nothing\n\tlast 🎉, \u2028 and \\n\n\nend'


def rows_of(memento: Any, folder: Path) -> set[str]:
    memento.export(folder / "rows.jsonl", past=True, overwrite=True)
    return set((folder / "rows.jsonl").read_text(encoding="utf-8").split("\n"))


@pytest.fixture
def lived(memento: Memento) -> Memento:
    """A memory with a changed fact, a conversation, another speaker, another namespace, and a text of every sign."""
    memento.note("I live in Berlin.", at="2024-01-01T10:00:00Z", session='s, "1"')
    memento.note("I moved to Rome.", at="2025-01-01T10:00:00Z", session='s, "1"', title="Moves")
    memento.note("Ana works at Google.", at="2025-02-01T10:00:00Z", speaker="Bo", idempotency_key="k-1")
    memento.intake.import_notes([{"content": ODD, "title": "[Odd]", "at": "2025-03-01T00:00:00Z"}], consolidate=False)
    memento.note("I like tea.", namespace="work")
    noted = memento.note("I collect stamps.")
    memento.forget(noted.memories[0])
    return memento


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_export_as_rows_makes_the_same_memories_elsewhere(suffix: str, lived: Memento, tmp_path: Path) -> None:
    before = rows_of(lived, tmp_path)
    there = lived.export(tmp_path / f"all.{suffix}", past=True)
    with open_memento(tmp_path / "copy", configured=OFFLINE) as copy:
        first = copy.intake.import_rdf(tmp_path / f"all.{suffix}")
        again = copy.intake.import_rdf(tmp_path / f"all.{suffix}")
        assert rows_of(copy, tmp_path) == before
        assert [one.content for one in copy.recall("Where do I live?").memories][:1] == ["I moved to Rome."]
        assert copy.recall("Where do I live?").memories[0].invalidates[0].content == "I live in Berlin."
        assert copy.admin.check() == ()
        assert copy.note("Ana works at Google.", speaker="Bo", idempotency_key="k-1").note is not None

    assert there.statements == first.memories == len(before) - 1 == 6
    assert (again.added, again.memories) == (0, 0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_change_nothing_where_they_come_from(suffix: str, lived: Memento, tmp_path: Path) -> None:
    lived.export(tmp_path / f"all.{suffix}.gz", past=True)

    assert lived.intake.import_rdf(tmp_path / f"all.{suffix}.gz").added == 0


def test_what_is_over_or_forgotten_goes_out_on_demand_alone(lived: Memento, tmp_path: Path) -> None:
    lived.export(tmp_path / "now.csv")
    lived.export(tmp_path / "all.csv", past=True)
    lived.export(tmp_path / "work.csv", namespace="work")
    now, every, work = (
        list(csv.DictReader(io.StringIO((tmp_path / f"{name}.csv").read_text("utf-8"))))
        for name in ("now", "all", "work")
    )

    assert {row["content"] for row in every} - {row["content"] for row in now} == {
        "I live in Berlin.",
        "I collect stamps.",
    }
    assert [row["content"] for row in work] == ["I like tea."]
    assert b"\r" not in (tmp_path / "all.csv").read_bytes()


def test_a_namespace_takes_rows_in_as_its_own(lived: Memento, tmp_path: Path) -> None:
    lived.export(tmp_path / "all.md", past=True)
    with open_memento(tmp_path / "copy", configured=OFFLINE) as copy:
        copy.intake.import_rdf(tmp_path / "all.md", namespace="old")
        copy.export(tmp_path / "old.jsonl", past=True)
    rows = [json.loads(line) for line in (tmp_path / "old.jsonl").read_bytes().splitlines()]

    assert {row["namespace"] for row in rows} == {"old"}
    assert len(rows) == 6


def test_secrets_are_taken_out_of_rows_that_come_in(memento: Memento, tmp_path: Path) -> None:
    memento.note("I like tea.")
    memento.export(tmp_path / "all.jsonl")
    text = (tmp_path / "all.jsonl").read_text("utf-8").replace("tea", "AKIAIOSFODNN7EXAMPLE")
    (tmp_path / "all.jsonl").write_text(text, encoding="utf-8")
    with open_memento(tmp_path / "copy", configured=OFFLINE) as copy:
        assert copy.intake.import_rdf(tmp_path / "all.jsonl").redacted == {"AWS_KEY": 2}  # memory, note
        assert "AKIA" not in "".join(rows_of(copy, tmp_path))


def test_rows_have_neither_vectors_nor_an_audit(memento: Memento, tmp_path: Path) -> None:
    with pytest.raises(NotAcceptable, match="neither vectors nor an audit"):
        memento.export(tmp_path / "all.csv", vectors=True)
    with pytest.raises(InputError, match=r"'all\.docx' is no format of an export.*jsonl"):
        memento.export(tmp_path / "all.docx")
    with pytest.raises(NotAcceptable, match="trig, nquads, jsonld or turtle"):
        memento.export(tmp_path / "all.rdf", namespace="work")


ROW = {
    "id": "urn:memento:memory:1",
    "content": "I like tea.",
    "valid_at": "2025-01-01T00:00:00Z",
    "created": "2025-01-01T00:00:00Z",
    "note": "I like tea.",
    "at": "2025-01-01T00:00:00Z",
    "note_id": "urn:memento:note:1",
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"valid_at": "soon"}, "line 1: .*valid_at"),
        ({"content": None}, "line 1: .*content"),
        ({"id": "urn:x"}, "line 1: a memory has an IRI"),
        ({"note_id": "urn:memento:memory:1"}, "line 1: a note has an IRI"),
        ({"about": ["Rome"], "kinds": ["Town"]}, "line 1: kinds must be among"),
        ({"about": [" "]}, "line 1: about has a name that is empty"),
        ({"namespace": " "}, "a namespace must have"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_place(
    changed: dict[str, Any], said: str, memento: Memento, tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_text(json.dumps({**ROW, **changed}), encoding="utf-8")

    with pytest.raises(InputError, match=said):
        memento.intake.import_rdf(tmp_path / "bad.jsonl")
    assert memento.list() == ()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.csv", 'id,content\n1,"open', "bad.csv line 2: not valid CSV"),
        ("bad.csv", "id,content\n1,2,3", "bad.csv line 2: 3 cells under 2"),
        ("bad.csv", "id,about\n1,Rome", "bad.csv line 2: about must be JSON"),
        ("bad.md", "# M\n\n## Tea\n\nplain", "bad.md line 5: text must follow"),
        ("bad.json", '[{"id": 1', "bad.json.*not JSON"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(name: str, text: str, said: str) -> None:
    form = find_form(name)
    assert form in TABLE_FORMS
    with pytest.raises(InputError, match=said):
        list(read_table(text.encode(), form, name))


def test_a_row_without_names_of_its_own_is_about_entities_of_these_names(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        json.dumps({**ROW, "about": ["USER", "Tea"], "speaker": "Bo"}), encoding="utf-8"
    )
    memento.intake.import_rdf(tmp_path / "own.jsonl")

    memento.export(tmp_path / "back.jsonl")
    (row,) = map(json.loads, (tmp_path / "back.jsonl").read_bytes().splitlines())
    assert (row["about"], row["kinds"], row["speaker"]) == (["USER", "Tea"], ["User", "Concept"], "Bo")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40).filter(str.strip)


@given(
    st.sampled_from(TABLE_FORMS),
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=3),
    st.one_of(st.none(), TEXTS),
    st.one_of(st.none(), st.integers(0, 99)),
)
def test_any_text_survives_every_format(
    form: Any, content: str, note: str, about: list[str], session: str | None, position: int | None
) -> None:
    moment = datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    row = MemoryRow(
        id="urn:memento:memory:1",
        content=content,
        about=tuple(about),
        valid_at=moment,
        created=moment,
        note=note,
        at=moment,
        session=session,
        position=position,
        note_id="urn:memento:note:1",
    )
    document = b"".join(write_table([row, row], form))

    assert [one for _, one in read_table(document, form, "x")] == [row, row]
    assert is_table(document)
