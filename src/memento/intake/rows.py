"""
Parse rows from elsewhere: JSON lines, a JSON array, CSV or plain text become `NoteRow`s before any is noted.

Keys of an object: `content` or `text`; `at` or `timestamp`; `title`; `speaker`; `session`; `turn` or `position`; `idempotency_key`;
`tags`, a list or words separated by commas; `container`; `priority`; `source`; `ttl_s`, seconds. Unknown keys are ignored. In CSV
these are the columns; without a `content` column the last column is the content. In text and Markdown each paragraph is a note.

*Guarantees:* an unusable row is named with its file, line and field, and keeps no other from coming in (`sift_rows`), or is an
error (`parse_rows`).

*But:* a time without an offset is returned without one; the service reads it in the user's time zone.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar, get_args

from memento.errors import InputError
from memento.intake.redaction import find_secrets, raise_if_secret_file, replace_secrets
from memento.model import NoteRow, Priority
from memento.time import utc

T = TypeVar("T")

Kind = Literal["json", "text", "csv"]

KINDS: Mapping[str, Kind] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".markdown": "text",
    ".md": "text",
    ".text": "text",
    ".txt": "text",
}
"""What a file contains, by its suffix; for any other file the first character decides."""


LINE_CHARS = 4_000_000
"""The longest line that is split, in characters: more than a novel, and less than would stop everything else for a second."""


@dataclass(frozen=True, slots=True)
class Record:
    """
    One JSON object of a file; `where` gives its position in every error.

    The methods read the first of `names` that is present and not null.
    """

    where: str
    fields: Mapping[str, object]

    def read_text(self, *names: str) -> str | None:
        """Return the text of a field, or None if it is absent or blank."""
        name, value = self._first(names)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "text", value)
        return value if value and value.strip() else None

    def require_text(self, *names: str) -> str:
        """Return the text of a required field that must not be blank."""
        text = self.read_text(*names)
        if text is None:
            raise InputError(f"{self.where}: {' or '.join(names)} is missing or empty")
        return text

    def label(self, *names: str) -> str | None:
        """Return a name that may be given as text or as a whole number: `3` and `"3"` are the same."""
        name, value = self._first(names)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise self.wrong(name, "text or a whole number", value)
        return str(value) if value is not None and str(value).strip() else None

    def read_count(self, *names: str) -> int | None:
        """Return a whole number, 0 or more."""
        name, value = self._first(names)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(name, "a whole number from 0 on", value)
        return value

    def read_seconds(self, name: str) -> float | None:
        """Return a positive number of seconds."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise self.wrong(name, "a number of seconds above 0", value)
        return float(value)

    def read_words(self, name: str) -> tuple[str, ...]:
        """Return a list of words, given as a list or as text separated by commas."""
        value = self.fields.get(name)
        words = value.split(",") if isinstance(value, str) else [] if value is None else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise self.wrong(name, 'a list of texts, or a text such as "work, urgent"', value)
        return tuple(word.strip() for word in words if word.strip())

    def read_choice(self, name: str, choices: tuple[T, ...]) -> T | None:
        """Return one of the permitted words."""
        value = self.fields.get(name)
        if value is not None and value not in choices:
            raise self.wrong(name, "one of " + ", ".join(map(str, choices)), value)
        return next((one for one in choices if one == value), None)

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false", value)
        return value

    def read_instant(self, *names: str) -> datetime | None:
        """Return an ISO 8601 date or time; one without an offset stays naive."""
        name, value = self._first(names)
        if value is None:
            return None
        try:
            at = datetime.fromisoformat(str(value).strip()) if isinstance(value, str) else None
            if at is not None and utc(at):  # it must also be in the range of UTC
                return at
        except (ValueError, OverflowError):
            pass
        raise self.wrong(name, "an ISO 8601 time such as 2025-01-31T09:00:00Z", value)

    def wrong(self, name: str, wanted: str, value: object) -> InputError:
        """Build the error for a field with a wrong value."""
        # A list or an object may contain a note.
        shown = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else repr(value)
        shown = replace_secrets(shown, find_secrets(shown))
        return InputError(
            f"{self.where}: {name} must be {wanted}, not {shown if len(shown) < 60 else shown[:60] + '…'}"
        )

    def _first(self, names: tuple[str, ...]) -> tuple[str, object]:
        return next(((name, value) for name in names if (value := self.fields.get(name)) is not None), (names[0], None))


@dataclass(frozen=True, slots=True)
class Sifted:
    """The usable rows of a text, in order, and for each other row a line that names its place and what is wrong with it."""

    rows: tuple[NoteRow, ...]
    refused: tuple[str, ...] = ()


def read_rows(path: Path) -> list[NoteRow]:
    """
    Read the notes of a file, in order.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or has a row that is not a note; names file, line and field.
    """
    return parse_rows(read_file(path), path.name, KINDS.get(path.suffix.lower()))


def parse_rows(data: bytes, name: str = "body", kind: Kind | None = None) -> list[NoteRow]:
    """
    Parse the notes in the bytes of a file or a request, in order; the first unusable row is an error.

    Args:
        name: how errors call the input.
        kind: its format; without it, `{` or `[` as the first character means JSON.

    Raises:
        InputError: as for `read_rows`.

    >>> [row.content for row in parse_rows(b"I moved to Berlin.\\n\\nI work at Google.")]
    ['I moved to Berlin.', 'I work at Google.']
    >>> parse_rows(b'{"text": "Hi", "turn": 3}')[0].position
    3
    """
    sifted = sift_rows(data, name, kind)
    if sifted.refused:
        raise InputError(sifted.refused[0])
    return list(sifted.rows)


def sift_rows(data: bytes, name: str = "body", kind: Kind | None = None) -> Sifted:
    """
    Parse the notes in the bytes of a file or a request as `parse_rows` does, but keep the usable rows and name the others.

    Raises:
        InputError: none is usable, or the text is not UTF-8; names the first place.

    >>> sift_rows(b'{"text": "Hi"}\\n{"text": ""}').refused
    ('body line 2: content or text is missing or empty',)
    """
    text = decode_text(data, name)
    chosen = kind or ("json" if text.lstrip()[:1] in ("{", "[") else "text")
    if chosen == "text":
        return Sifted(tuple(NoteRow(content=paragraph) for paragraph in split_paragraphs(text)))
    return sift_records(split_csv(text, name) if chosen == "csv" else _split_leniently(text, name))


def sift_records(records: Iterable[Record | InputError]) -> Sifted:
    """Make rows of records; raises `InputError`, the first one, if no record is usable."""
    rows: list[NoteRow] = []
    refused: list[str] = []
    for record in records:
        try:
            if isinstance(record, InputError):
                raise record
            rows.append(parse_note_row(record))
        except InputError as error:
            refused.append(str(error))
    if refused and not rows:
        raise InputError(refused[0])
    return Sifted(tuple(rows), tuple(refused))


def parse_note_row(record: Record) -> NoteRow:
    """Parse one object as a row; raises `InputError` if it has no content or a field of the wrong type."""
    return NoteRow(
        content=record.require_text("content", "text"),
        at=record.read_instant("at", "timestamp"),
        title=record.read_text("title"),
        speaker=record.read_text("speaker"),
        session=record.label("session"),
        position=record.read_count("position", "turn"),
        idempotency_key=record.label("idempotency_key"),
        tags=record.read_words("tags"),
        container=record.read_text("container"),
        priority=record.read_choice("priority", get_args(Priority)),
        source=record.read_text("source"),
        ttl_s=record.read_seconds("ttl_s"),
    )


def split_records(text: str, name: str) -> Iterator[Record]:
    """
    Yield the objects of a JSON array or of JSON lines; blank lines are skipped.

    Raises:
        InputError: something is not JSON, or not an object.

    >>> [record.where for record in split_records('{"id": 1}\\n\\n{"id": 2}', "corpus.jsonl")]
    ['corpus.jsonl line 1', 'corpus.jsonl line 3']
    """
    if text.lstrip().startswith("["):
        values = parse_json(text, name)
        assert isinstance(values, list)
        yield from (_to_record(value, f"{name} item {place}") for place, value in enumerate(values, 1))
        return
    # splitlines() would not do: U+2028 and similar characters may occur in a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{name} line {number}"
            yield _to_record(_parse_line(line, where), where)


def _split_leniently(text: str, name: str) -> Iterator[Record | InputError]:
    """Yield the objects of a JSON array or of JSON lines, and an error for each line or item that is none."""
    if text.lstrip().startswith("["):
        values = parse_json(text, name)
        assert isinstance(values, list)
        for place, value in enumerate(values, 1):
            yield _to_record_or_error(value, f"{name} item {place}")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{name} line {number}"
            try:
                yield _to_record(_parse_line(line, where), where)
            except InputError as error:
                yield error


def _parse_line(line: str, where: str) -> object:
    """Parse a line of JSON lines, which is short enough to be parsed in a moment."""
    if len(line) > LINE_CHARS:
        raise InputError(f"{where}: has {len(line):,} characters, and a line may have {LINE_CHARS:,}")
    return parse_json(line, where)


def _to_record_or_error(value: object, where: str) -> Record | InputError:
    try:
        return _to_record(value, where)
    except InputError as error:
        return error


def split_csv(text: str, name: str) -> Iterator[Record | InputError]:
    """
    Yield the rows of a CSV file below its header, and an error for each row that cannot be read; blank rows are skipped.

    A quotation mark that is never closed would swallow every row behind it: reading goes on at the next line.

    >>> [record.fields for record in split_csv("at,said\\n2024-01-08,I like tea.\\n", "a.csv")]
    [{'at': '2024-01-08', 'said': 'I like tea.', 'content': 'I like tea.'}]
    >>> [str(one) if isinstance(one, InputError) else one.where for one in split_csv('content\\n"open\\nshut\\n', "a.csv")]
    ['a.csv line 2: not usable CSV: unexpected end of data', 'a.csv line 3']
    """
    lines = text.splitlines(keepends=True)
    header: list[str] = []
    begin = 0
    while begin < len(lines):
        reader = csv.reader(lines[begin:], strict=True)
        first = begin
        try:
            for cells in reader:
                if not header:
                    header = [cell.strip().lower() for cell in cells]
                elif any(cell.strip() for cell in cells):
                    yield _make_csv_record(header, cells, f"{name} line {first + 1}")
                first = begin + reader.line_num
            return
        except csv.Error as error:
            yield InputError(f"{name} line {first + 1}: not usable CSV: {error}")
            begin = first + 1


def _make_csv_record(header: list[str], cells: list[str], where: str) -> Record:
    fields: dict[str, object] = {
        name: _read_number(name, cell) for name, cell in zip(header, cells, strict=False) if name and cell.strip()
    }
    if not {"content", "text"} & set(header):  # a table of our own making has one; else the last column is the content
        fields["content"] = fields.get(header[-1], "")
    return Record(where, fields)


def _read_number(column: str, text: str) -> object:
    """Return the number in a cell of a numeric column; other text is returned as it is, and the row then refuses it."""
    if column in ("position", "turn") and text.isdecimal():
        return int(text)
    return float(text) if column == "ttl_s" and _NUMBER.fullmatch(text.strip()) else text


_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


def split_paragraphs(text: str) -> list[str]:
    """
    Split a text into its paragraphs, without the blank lines between them.

    >>> split_paragraphs("one\\ntwo\\n \\n\\nthree\\n")
    ['one\\ntwo', 'three']
    """
    return [part.strip() for part in re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n")) if part.strip()]


def read_file(path: Path) -> bytes:
    """Read the bytes of a file; raises `InputError` if it cannot be read or is, by its name, a file of secrets."""
    raise_if_secret_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def decode_text(data: bytes, name: str) -> str:
    """Decode UTF-8 with or without a byte order mark; raises `InputError` with the line of the first invalid byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} line {line}: not UTF-8 text") from error


def parse_json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f" line {error.lineno}" if "\n" in text.strip() else ""
        raise InputError(f"{where}{place}: not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not usable JSON: {error}") from error


def _to_record(value: object, where: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(f'{where}: must be an object such as {{"content": "…"}}')
    return Record(where, value)
