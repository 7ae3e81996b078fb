"""
Memories as rows for people and other programs, and back: JSON lines, JSON, CSV and Markdown, one row for each memory.

A row has the text of a memory, its start and end, what it is about, and its note. `about`, `kinds` and `about_ids` correspond item
by item. Missing values are left out, in CSV as empty cells; lists are JSON in CSV and Markdown.

*Guarantees:* rows that are read back say the same, to the letter; the quads of a row are among those that its memory had, so
importing a file into the memory that it comes from changes nothing.

An anonymised export also has a row for each case (`archive/case_rows.py`). Its `id` tells it from a memory.

*But:* notes without memories, keys, links, claims and runs have no rows, nor have cases unless the export is anonymised: an
export as RDF has them.
"""

from __future__ import annotations

import csv
import hmac
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

import msgspec

from memento.archive.case_rows import CaseRecord, build_case_quads, list_texts, map_strings, record_case
from memento.archive.cases import list_case_iris, read_cases
from memento.codec import decode, encode, plain
from memento.errors import GraphError, InputError
from memento.graph import mapping
from memento.graph.documents import FORMS, Form, form_called
from memento.graph.store import Store, serialise_quads
from memento.graph.terms import to_own_quad, to_quads, to_value
from memento.intake.rows import decode_text, split_records
from memento.iris import (
    IRI,
    MEM,
    SKOS,
    TYPE,
    cases_iri,
    check_namespace,
    graph_iri,
    is_tag,
    name_iri,
    namespace_of,
    parse_graph_name,
    session_iri,
    tag_name,
)
from memento.model import (
    KINDS,
    Entity,
    EntityKind,
    Invalidation,
    Marks,
    Memory,
    Mode,
    Note,
    Quad,
    Scope,
    Session,
    User,
    Value,
)
from memento.search.nodes import content_hash
from memento.text.names import mentions
from memento.time import utc

USER = "USER"
"""The name of the user in memories."""
MARK = "<!-- Memento export -->"
"""The first line of Markdown."""
Dates = Literal["keep", "month", "year"]
"""The precision of dates in an anonymised export."""
_AT_ONCE = 500
HEAD = 1 << 16
"""Bytes at the beginning of a file that show whether it is an export."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """A format of rows: its name here, its media type, and its file suffix."""

    name: str
    media: str
    suffixes: tuple[str, ...]


TABLE_FORMS: tuple[TableForm, ...] = (
    TableForm("jsonl", "application/jsonl", (".jsonl", ".ndjson")),
    TableForm("json", "application/json", (".json",)),
    TableForm("csv", "text/csv", (".csv",)),
    TableForm("markdown", "text/markdown", (".md", ".markdown")),
)


OKF = TableForm("okf", "application/x-tar", (".okf.tar",))
"""A bundle of the Open Knowledge Format, as an archive; see `archive/okf.py`."""


class Ending(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a memory has ended, and by which other one."""

    id: str
    by: str
    at: datetime
    reason: str
    mode: Mode
    rule: str | None = None


class MemoryRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory and its note. `kinds` are kinds of entities, `User` or `Name`; `follows` is the note of the previous turn."""

    id: str
    content: str
    namespace: str = "main"
    about: tuple[str, ...] = ()
    valid_at: datetime
    invalid_at: datetime | None = None
    created: datetime
    expired: datetime | None = None
    expires: datetime | None = None
    event_at: datetime | None = None
    title: str | None = None
    mood: str | None = None
    subject: str | None = None
    verbatim: bool | None = None
    note: str
    at: datetime
    speaker: str | None = None
    session: str | None = None
    position: int | None = None
    key: str | None = None
    kinds: tuple[str, ...] = ()
    about_ids: tuple[str, ...] = ()
    note_id: str
    tags: tuple[str, ...] = ()
    container: str | None = None
    importance: float | None = None
    source: str | None = None
    follows: str | None = None
    ended: tuple[Ending, ...] = ()


Row = MemoryRow | CaseRecord

_COLUMNS = MemoryRow.__struct_fields__
_CASE_COLUMNS = tuple(name for name in CaseRecord.__struct_fields__ if name not in _COLUMNS)
_JSON = frozenset({"about", "kinds", "about_ids", "ended", "tags", "importance", "position", "verbatim"}) | {
    *("derived_from", "verdicts", "steps", "reward")
}
"""The columns that are JSON in CSV and Markdown."""
_OF_MEMORY = {
    "content": "content",
    "valid_at": "valid_at",
    "invalid_at": "invalid_at",
    "created": "created_at",
    "expired": "expired_at",
    "expires": "expires_at",
    "event_at": "event_at",
    "title": "title",
    "mood": "mood",
    "verbatim": "is_verbatim",
}
"""The columns that are fields of a memory."""
_OF_NOTE = {"note": "content", "at": "at", "position": "position", "key": "idempotency_key", "source": "source"}
"""The columns that are fields of its note."""


def find_form(name: str) -> Form | TableForm:
    """
    Find a format of rows or of RDF by its name, media type, or file name, compressed or not.

    Raises:
        InputError: there is no such format; lists those there are.

    >>> find_form("memories.md.gz").name, find_form("all.trig").name
    ('markdown', 'trig')
    """
    wanted = name.strip().lower().removesuffix(".gz")
    for form in (*TABLE_FORMS, OKF):
        if wanted in (form.name, form.media) or wanted.endswith(form.suffixes):
            return form
    try:
        return form_called(name)
    except InputError as error:
        named = [(form.name, form.suffixes[0]) for form in FORMS if form.name != "rdfxml"]
        named += [*((form.name, form.suffixes[0]) for form in TABLE_FORMS), ("okf", "a folder")]
        known = ", ".join(f"{of} ({suffix})" for of, suffix in named)
        said = PurePath(name).name if PurePath(name).is_absolute() else name
        raise InputError(f"{said[:80]!r} is no format of an export: choose one of {known}") from error


_ID = re.compile(rb'"id"\s*:\s*"urn:memento:(?:memory|case):')
_BESIDE_ID = re.compile(rb'"(?:note_id|plan)"\s*:')
_CASE = "urn:memento:case:"


def is_table(head: bytes) -> bool:
    """
    Tell from the beginning of a file whether it is an export as rows.

    >>> is_table(b'{"id": "urn:memento:memory:1", "note_id": "urn:memento:note:1"}'), is_table(b'{"content": "Hi"}')
    (True, False)
    """
    text = head[:HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"{", b"["):
        return _ID.search(text) is not None and _BESIDE_ID.search(text) is not None
    return text.startswith((MARK.encode(), ",".join(_COLUMNS[:4]).encode()))


def list_rows(memories: Iterable[IRI], graphs: Sequence[IRI], store: Store) -> Iterator[MemoryRow]:
    """List the rows of some memories, in order; `graphs` are the readable ones."""
    waiting = iter(memories)
    while portion := [iri for _, iri in zip(range(_AT_ONCE), waiting, strict=False)]:
        said = _load(portion, graphs, store)
        beside = {
            value
            for found in said.values()
            for predicate in (MEM.about, MEM.subject, MEM.extractedFrom, MEM.saidBy)
            for value in found[1].get(predicate, ())
        }
        said |= _load(beside, graphs, store)
        said |= _load({one for _, found in said.values() for one in found.get(MEM.session, ())}, graphs, store)
        for iri in portion:
            if iri in said and (row := _to_row(iri, said)):
                over = (
                    [to_value(one.subject) for one in store.match(None, MEM.invalidated, iri)] if row.invalid_at else []
                )
                ended = [_to_ending(one, found) for one, (_, found) in sorted(_load(over, graphs, store).items())]
                yield msgspec.structs.replace(row, ended=tuple(filter(None, ended)))


def list_case_rows(graphs: Sequence[IRI], readable: Sequence[IRI], past: bool, store: Store) -> Iterator[CaseRecord]:
    """
    List the rows of the cases in some graphs of cases.

    Args:
        readable: the graphs in which the names of what they are about are looked up.
        past: with the forgotten ones.
    """
    for graph in graphs:
        domain = parse_graph_name(graph)
        waiting = iter(list_case_iris(graph, past, store))
        while portion := [iri for _, iri in zip(range(_AT_ONCE), waiting, strict=False)]:
            cases = read_cases(portion, graph, domain.name if domain else "main", store, steps=True)
            said = _load({one for case in cases for one in case.about}, readable, store)
            for case in cases:
                topics = [(name, one, kind) for one in case.about for name, kind in _name(one, said)]
                yield record_case(case, sorted(topics, key=lambda one: (one[2] != "User", one)))


_Said = dict[IRI, tuple[IRI, dict[IRI, list[Value]]]]
"""The graph of each node, and the statements about it."""


def _load(nodes: Iterable[Value], graphs: Sequence[IRI], store: Store) -> _Said:
    found: _Said = {}
    if wanted := [one for one in nodes if isinstance(one, IRI)]:
        for row in store.select("search/statements", graphs, node=wanted):
            _, said = found.setdefault(row["node"], (row["graph"], {}))
            said.setdefault(row["predicate"], []).append(row["value"])
    return found


def _to_ending(iri: IRI, statements: dict[IRI, list[Value]]) -> Ending | None:
    found = mapping.node_or_none(Invalidation, iri, statements)
    if found is None:
        return None
    return Ending(id=iri, by=found.invalidator, at=found.at, reason=found.reason, mode=found.mode, rule=found.rule)


def _to_row(iri: IRI, said: _Said) -> MemoryRow | None:
    graph, statements = said[iri]
    memory = mapping.node_or_none(Memory, iri, statements)
    of_note = said.get(memory.extracted_from) if memory else None
    note = mapping.node_or_none(Note, memory.extracted_from, of_note[1]) if memory and of_note else None
    if memory is None or of_note is None or note is None:
        return None
    # A reference to a node without a name is dangling.
    topics = sorted((kind != "User", name, one, kind) for one in memory.about for name, kind in _name(one, said))
    names = {one: name for _, name, one, _ in topics}
    speaker = note.said_by or memory.said_by
    session = said.get(note.session) if note.session else None
    subject = names.get(memory.subject) if memory.subject else None
    columns = {
        **{column: getattr(memory, field) for column, field in _OF_MEMORY.items()},
        **{column: getattr(note, field) for column, field in _OF_NOTE.items()},
    }
    return MemoryRow(
        id=iri,
        namespace=namespace_of(graph),
        about=tuple(name for _, name, _, _ in topics),
        kinds=tuple(kind for *_, kind in topics),
        about_ids=tuple(one for _, _, one, _ in topics),
        subject=subject,
        speaker=next((name for name, _ in _name(speaker, said)), None) if speaker else None,
        session=str(session[1].get(MEM.name, [""])[0]) or None if session else None,
        note_id=note.iri,
        tags=tuple(sorted(tag_name(IRI(str(tag))) for tag in statements.get(MEM.tagged, ()) if is_tag(IRI(str(tag))))),
        container=next((str(one) for one in statements.get(MEM.container, ())), None),
        importance=next((float(one) for one in statements.get(MEM.importance, ()) if isinstance(one, float)), None),
        follows=cast("str | None", next(iter(of_note[1].get(MEM.follows, ())), None)),
        **columns,
    )


def _name(iri: IRI, said: _Said) -> Iterator[tuple[str, str]]:
    """Yield the name and the kind of a topic, if it has them."""
    if iri.startswith("urn:memento:user:"):
        yield USER, "User"
        return
    _, found = said.get(iri, (None, dict[IRI, list[Value]]()))
    kind = next((str(one).rsplit("/", 1)[-1] for one in found.get(MEM.entityType, ())), "Name")
    if found.get(MEM.name):
        yield str(min(found[MEM.name], key=str)), kind


@dataclass(frozen=True, slots=True)
class Anonymity:
    """How an export is anonymised: the key of its pseudonyms, and the remaining precision of dates."""

    key: bytes
    dates: Dates = "keep"


NOT_GUARANTEED = (
    "pseudonyms replace names that Memento knows or finds in texts, addresses, telephone numbers and IRIs; not guaranteed: that "
    "names written as everyday words and dates in words are found, and that nobody can be identified by what is said about them"
)

_TELLING = re.compile(
    r"(?P<Date>\b\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?)|(?P<Iri>urn:memento:[\w:.%-]+)|(?P<Url>\bhttps?://[^\s<>\"']+)"
    r"|(?P<Email>(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++)|(?P<Handle>(?<!\w)@\w{2,})|(?P<Number>\+?\d(?:[ ()/.-]{0,2}\d){6,})"
)
"""Identifying data other than names, and our IRIs, within texts."""
_PART = 3
"""Minimum letters of a part of a person's name that counts as the person."""
_ANY_CASE = 4
"""Minimum letters of a name that is found in any spelling."""
_NOBODY = frozenset({USER, "user", "assistant", "system"})


_RENAMED = {"container": "Container", "namespace": "Namespace", "domain": "Namespace", "session": "Session"}
"""The columns whose values get a pseudonym as a whole, and its kind: a domain has the name of a namespace."""
_CODES = frozenset({"kinds", "mode", "outcome", "state"})
"""Columns and fields with a word of a fixed list, which may be spelt as a name."""
_OF_TOOLS = frozenset({"arguments", "result"})
"""Fields that may be JSON."""

R = TypeVar("R", bound=MemoryRow | CaseRecord)


class Anonymiser:
    """
    Replaces identifying data in rows by pseudonyms: the same one for the same name, within an export and with the same key.

    *But:* see `NOT_GUARANTEED`.
    """

    def __init__(self, anonymity: Anonymity) -> None:
        self._key, self._dates = anonymity.key, anonymity.dates
        self._known: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def add_names(self, names: Sequence[str], kind: str) -> None:
        """Add the names of one thing: its main name, then others."""
        found = [name for name in names if name.strip() and name not in _NOBODY]
        if kind != "Person":
            found = [name for name in found if not name.islower()]
        if not found:
            return
        stands = self._make(kind, found[0])
        parts = [part for name in found for part in name.split() if len(part) >= _PART and part[:1].isupper()]
        for name in (*found, *(parts if kind == "Person" else ())):
            self._known.setdefault(name.casefold(), stands)
        self._pattern = None

    def anonymise(self, row: R) -> R:
        """Return a row without identifying data; sources such as files or addresses are left out."""
        cells = plain(row)
        for column in ("source", "key"):
            cells.pop(column, None)
        for column, kind in _RENAMED.items():
            if (value := cells.get(column)) and value != "main":
                cells[column] = self._make(kind, value).lower()
        if (speaker := cells.get("speaker")) and speaker not in _NOBODY:
            self.add_names([speaker], "Person")
        return decode(type(row), {column: self._replace(value, column) for column, value in cells.items()})

    def _replace(self, value: Any, column: str) -> Any:
        if column in _CODES:
            return value
        if isinstance(value, str):
            return map_strings(value, self._replace_text) if column in _OF_TOOLS else self._replace_text(value)
        if isinstance(value, list | tuple):
            return [self._replace(one, column) for one in value]
        if isinstance(value, dict):
            return {name: self._replace(one, name) for name, one in value.items()}
        return value

    def _replace_text(self, text: str) -> str:
        pieces, at = [], 0
        for found in _TELLING.finditer(text):
            pieces += [self._replace_names(text[at : found.start()]), self._replace_sign(found)]
            at = found.end()
        return "".join((*pieces, self._replace_names(text[at:])))

    def _replace_sign(self, found: re.Match[str]) -> str:
        kind, said = str(found.lastgroup), found[0]
        if kind == "Date":
            return self._coarsen(said)
        if kind == "Iri":
            head, _, end = said.rpartition(":")
            if head == "urn:memento:user":
                return f"{head}:local"
            return f"{head}:{UUID(bytes=self._hash_text(end)[:16], version=4)}" if said.count(":") == 3 else said
        return self._make(kind, said)

    def _replace_names(self, text: str) -> str:
        if not self._known or not text:
            return text
        if self._pattern is None:
            escaped = (
                f"(?i:{re.escape(name)})"
                if len(name) >= _ANY_CASE
                else f"{re.escape(name.title())}|{re.escape(name.upper())}"
                for name in sorted(self._known, key=len, reverse=True)
            )
            self._pattern = re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)")
        return self._pattern.sub(lambda found: self._known[found[0].casefold()], text)

    def _coarsen(self, said: str) -> str:
        if self._dates == "keep":
            return said
        day = f"{said[:4]}-01-01" if self._dates == "year" else f"{said[:7]}-01"
        return f"{day}T00:00:00Z" if len(said) > 10 else day

    def _make(self, kind: str, name: str) -> str:
        return f"{kind}-{self._hash_text(name.casefold()).hex()[:8]}"

    def _hash_text(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode(errors="surrogatepass"), "sha256")


def anonymise_rows(rows: Iterable[Row], graphs: Sequence[IRI], store: Store, anonymity: Anonymity) -> Iterator[Row]:
    """
    Yield rows with pseudonyms instead of names: those of the graphs, and those found in the texts.

    Args:
        graphs: where names are looked up.
    """
    anonymiser, found = Anonymiser(anonymity), list(rows)
    named: list[tuple[bool, str, list[str]]] = []
    for graph in graphs:
        quads = map(to_own_quad, store.match(None, MEM.entityType, None, graph))
        kinds = {subject: str(kind).rsplit("/", 1)[-1] for subject, _, kind, _ in quads}
        names: dict[IRI, list[str]] = {}
        for predicate in (MEM.name, SKOS.altLabel):
            for subject, _, name, _ in map(to_own_quad, store.match(None, predicate, None, graph)):
                names.setdefault(subject, []).append(str(name))
        for subject, some in names.items():
            if not is_tag(subject):
                kind = "Person" if ":user:" in subject else kinds.get(subject, "Name")
                named.append((kind == "Name", kind, some))
    for _, kind, some in sorted(named, key=lambda one: one[0]):  # a part of a person's name is not a name of its own
        anonymiser.add_names(some, kind)
    user = User(iri=IRI("urn:memento:user:nobody"))
    for text in dict.fromkeys(text for row in found for text in _list_texts(row)):
        for mention in mentions(text, user):
            anonymiser.add_names([mention.name, *mention.aliases], mention.kind)
    for row in found:
        yield anonymiser.anonymise(row)


def _list_texts(row: Row) -> Sequence[str]:
    return list_texts(row) if isinstance(row, CaseRecord) else (row.content, row.note)


def write_table(rows: Iterable[Row], form: TableForm, *, has_cases: bool = False) -> Iterator[bytes]:
    """
    Write rows as a document of a format, piece by piece; lines end with LF.

    Args:
        has_cases: a table with one heading needs the columns of cases too.
    """
    yield from _WRITERS[form.name](rows, (*_COLUMNS, *_CASE_COLUMNS) if has_cases else _COLUMNS)


def _write_lines(rows: Iterable[Row], _: Sequence[str]) -> Iterator[bytes]:
    yield from (encode(row) + b"\n" for row in rows)


def _write_array(rows: Iterable[Row], _: Sequence[str]) -> Iterator[bytes]:
    before = b"["
    for row in rows:
        yield before + b"\n" + encode(row)
        before = b","
    yield b"[]\n" if before == b"[" else b"\n]\n"


def _write_csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    yield ",".join(columns).encode() + b"\n"
    for row in rows:
        cells = plain(row)
        yield ",".join(_to_cell(cells.get(column)) for column in columns).encode() + b"\n"


def _write_markdown(rows: Iterable[Row], _: Sequence[str]) -> Iterator[bytes]:
    yield f"{MARK}\n# Memories\n".encode()
    for row in rows:
        cells = plain(row)
        first, second = ("task", "plan") if isinstance(row, CaseRecord) else ("content", "note")
        content, note = cells.pop(first), cells.pop(second)
        told = "".join(f"- {column}: {_to_item(value)}\n" for column, value in cells.items())
        heading = " ".join(content.split())
        heading = heading if len(heading) <= 80 else heading[:79] + "…"
        yield f"\n## {heading}\n\n{_quote(content)}\n{told}\n{second.capitalize()}:\n\n{_quote(note)}".encode()


def _to_cell(value: Any) -> str:
    """Write a CSV cell; quote a lone carriage return, which `csv.writer` does not and readers take for a line end."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return '"{}"'.format(text.replace('"', '""')) if re.search('[",\r\n]', text) else text


def _to_item(value: Any) -> str:
    """Write a value of Markdown: a text as it is if it is one line and not JSON."""
    written = json.dumps(value, ensure_ascii=False)
    is_bare = isinstance(value, str) and written == f'"{value}"' and value == value.strip() and value[0] != "["
    return value if is_bare else written


def _quote(text: str) -> str:
    return "".join(f"> {line}\n" if line else ">\n" for line in text.split("\n"))


_WRITERS: Mapping[str, Callable[[Iterable[Row], Sequence[str]], Iterator[bytes]]] = {
    "jsonl": _write_lines,
    "json": _write_array,
    "csv": _write_csv,
    "markdown": _write_markdown,
}


def read_table(data: bytes, form: TableForm, name: str) -> Iterator[tuple[str, Row]]:
    """
    Read the rows of a document, each with its place.

    Args:
        name: what errors call the document.

    Raises:
        InputError: a row is invalid, or lacks a required field; names the place and the field.
    """
    text = decode_text(data, name)
    for where, cells in _READERS[form.name](text, name):
        try:
            is_case = str(cells.get("id", "")).startswith(_CASE)
            yield where, decode(CaseRecord, cells) if is_case else decode(MemoryRow, cells)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error


_Cells = Iterator[tuple[str, dict[str, Any]]]


def _read_json(text: str, name: str) -> _Cells:
    for record in split_records(text, name):
        yield record.where, dict(record.fields)


def _read_csv(text: str, name: str) -> _Cells:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        for cells in lines:
            where = f"{name} line {lines.line_num}"
            if len(cells) > len(header):
                raise InputError(f"{where}: {len(cells)} cells under {len(header)} headings")
            yield (
                where,
                {column: _parse_cell(column, cell, where) for column, cell in zip(header, cells, strict=False) if cell},
            )
    except csv.Error as error:
        raise InputError(f"{name} line {lines.line_num}: not valid CSV: {error}") from error


_ITEM = re.compile(r"- (\w+): (.*)", re.DOTALL)


def _read_markdown(text: str, name: str) -> _Cells:
    where, cells, quoted = "", dict[str, Any](), "content"
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            if cells:
                yield where, cells
            where, cells, quoted = f"{name} line {number}", {}, "content"
        elif not where:
            continue
        elif line.startswith(">"):
            said = line[2:] if line.startswith("> ") else line[1:]
            cells[quoted] = f"{cells[quoted]}\n{said}" if quoted in cells else said
        elif line.rstrip() == "Note:":
            quoted = "note"
        elif line.rstrip() == "Plan:":
            cells["task"], quoted = cells.pop("content", ""), "plan"
        elif item := _ITEM.fullmatch(line.removesuffix("\r")):
            column, value = item.groups()
            cells[column] = _parse_cell(column, value, f"{name} line {number}", is_quoted=value[:1] == '"')
        elif line.strip():
            raise InputError(f"{name} line {number}: text must follow `> `, and its fields `- `")
    if where:
        yield where, cells


def _parse_cell(column: str, cell: str, where: str, *, is_quoted: bool = False) -> Any:
    if not is_quoted and column not in _JSON:
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {column} must be JSON, as it was exported") from error


_READERS: Mapping[str, Callable[[str, str], _Cells]] = {
    "jsonl": _read_json,
    "json": _read_json,
    "csv": _read_csv,
    "markdown": _read_markdown,
}


def write_statements(
    source: Path, form: TableForm, name: str, target: Path, scope: Scope, only: str | None, store: Store
) -> int:
    """
    Write the content of the rows of a file as N-Quads lines to another file; return their number.

    Args:
        name: what errors call the file.
        only: the namespace for all memories, whatever theirs was.
        store: the target: an entity that it has already is not changed.

    Raises:
        InputError: as for `read_table`; or a row has an invalid IRI of a memory, note or topic.
    """
    table = _Table(list(read_table(source.read_bytes(), form, name)), scope, only, store)
    count = 0
    with target.open("wb") as lines:
        for where, row in table.rows:
            try:
                built = table.build_case(row, where) if isinstance(row, CaseRecord) else table.build_quads(row, where)
                quads = to_quads(built)
                lines.write(serialise_quads(quads))
            except GraphError as error:
                raise InputError(f"{where}: {error}") from error
            count += len(quads)
    return count


class _Table:
    """The rows of a file, and their relations: the graph of each entity, and the nodes that can be referred to."""

    def __init__(self, rows: Sequence[tuple[str, Row]], scope: Scope, only: str | None, store: Store) -> None:
        self.rows, self._scope, self._only, self._store = rows, scope, only, store
        self._present = {row.id for _, row in rows}
        self._present |= {row.note_id for _, row in rows if isinstance(row, MemoryRow)}
        self._homes: dict[IRI, set[str]] = {}
        for where, row in rows:
            for iri, _, _ in self._list_topics(row, where):
                self._homes.setdefault(iri, set()).add(only or row.namespace)

    def build_quads(self, row: MemoryRow, where: str) -> Iterator[Quad]:
        """Build the quads of a row: its memory, its note, its session, and its topics."""
        graph = self._graph(only_one={self._only or row.namespace})
        topics = self._list_topics(row, where)
        by_name = {name: iri for iri, name, _ in reversed(topics)}
        for iri, name, kind in topics:
            yield from self._build_topic(iri, name, kind)
        speaker = by_name.get(row.speaker) if row.speaker else None
        if row.speaker and speaker is None:
            speaker = self._scope.user if row.speaker == USER else _derive(graph, row.speaker)
            yield from self._build_topic(speaker, row.speaker, "User" if row.speaker == USER else "Person")
        if not speaker:
            yield from self._build_topic(self._scope.user, USER, "User")
        subject = by_name.get(row.subject) if row.subject else None
        session = Session(iri=session_iri(graph, row.session), name=row.session) if row.session else None
        memory = Memory(
            iri=_check(row.id, "memory", where),
            about=tuple(iri for iri, _, _ in topics),
            extracted_from=_check(row.note_id, "note", where),
            said_by=speaker,
            subject=subject,
            content_hash=content_hash(row.content),
            **_pick(row, _OF_MEMORY),
        )
        note = Note(
            iri=memory.extracted_from, session=session.iri if session else None, said_by=speaker, **_pick(row, _OF_NOTE)
        )
        yield from mapping.quads(memory, graph)
        beside = Marks(tags=row.tags, container=row.container, importance=row.importance)
        yield from mapping.mark_quads(memory.iri, beside, graph)
        yield from mapping.quads(note, graph)
        yield mapping.attribute_note(note.iri, speaker or self._scope.user, graph)
        for end in row.ended:
            if end.by in self._present:
                over = Invalidation(
                    iri=_check(end.id, "invalidation", where),
                    invalidator=_check(end.by, "memory", where),
                    invalidated=memory.iri,
                    reason=end.reason,
                    at=utc(end.at),
                    mode=end.mode,
                    rule=end.rule,
                )
                yield from mapping.quads(over, graph)
                yield mapping.invalidates(over.invalidator, memory.iri, graph)
        if session:
            yield from mapping.quads(session, graph)
            yield (note.iri, TYPE, MEM.Turn, graph)
            if row.follows in self._present:
                yield (note.iri, MEM.follows, _check(row.follows or "", "note", where), graph)

    def build_case(self, row: CaseRecord, where: str) -> Iterator[Quad]:
        """Build the quads of a case and of its topics; what it was derived from is kept if it is a row too."""
        topics = self._list_topics(row, where)
        for iri, name, kind in topics:
            yield from self._build_topic(iri, name, kind)
        known = msgspec.structs.replace(
            row, derived_from=tuple(one for one in row.derived_from if one in self._present)
        )
        graph = cases_iri(self._scope.tenant, self._only or check_namespace(row.domain))
        yield from build_case_quads(known, _check(row.id, "case", where), [iri for iri, _, _ in topics], graph)

    def _list_topics(self, row: Row, where: str) -> list[tuple[IRI, str, str]]:
        """List the topics of a row: IRI, name and kind of each."""
        graph, found = self._graph(only_one={self._only or check_namespace(row.namespace)}), []
        for place, name in enumerate(row.about):
            kind = row.kinds[place] if place < len(row.kinds) else "User" if name == USER else "Concept"
            if kind not in (*KINDS, "User", "Name"):
                raise InputError(
                    f"{where}: kinds must be among {', '.join((*KINDS, 'User', 'Name'))}, not {kind[:40]!r}"
                )
            if not name.strip():
                raise InputError(f"{where}: about has a name that is empty")
            if kind == "User":
                iri = self._scope.user
            elif place < len(row.about_ids):
                iri = _check(row.about_ids[place], "name" if kind == "Name" else "entity", where)
            else:
                iri = name_iri(graph, name) if kind == "Name" else _derive(graph, name)
            found.append((iri, name, kind))
        return found

    def _build_topic(self, iri: IRI, name: str, kind: str) -> Iterator[Quad]:
        if kind == "User":
            yield (iri, TYPE, MEM.User, self._scope.self_graph)
            return
        graph = self._graph(only_one=self._homes.get(iri, {self._only or "main"}))
        seen = dict.fromkeys((graph, graph_iri(self._scope.tenant, "main")))
        if any(True for one in seen for _ in self._store.match(iri, TYPE, graph=one)):
            return
        if kind == "Name":
            yield from ((iri, TYPE, MEM.Name, graph), (iri, MEM.name, name, graph))
        else:
            yield from mapping.quads(Entity(iri=iri, name=name, kind=cast(EntityKind, kind)), graph)

    def _graph(self, only_one: set[str]) -> IRI:
        """Return the graph of the namespace, or that of `main` if several namespaces need the node."""
        return graph_iri(self._scope.tenant, next(iter(only_one)) if len(only_one) == 1 else "main")


def _derive(graph: IRI, name: str) -> IRI:
    """Return the IRI of an entity of which only the name is known: always the same."""
    return IRI(name_iri(graph, name).replace(":name:", ":entity:"))


def _check(iri: str, kind: str, where: str) -> IRI:
    if not re.fullmatch(rf"urn:memento:{kind}:[\w.%-]+", iri, re.ASCII):
        raise InputError(f"{where}: a {kind} has an IRI such as urn:memento:{kind}:0192d5a0-…, not {iri[:60]!r}")
    return IRI(iri)


def _pick(row: MemoryRow, columns: Mapping[str, str]) -> dict[str, Any]:
    values = ((field, getattr(row, column)) for column, field in columns.items())
    return {field: utc(value) if isinstance(value, datetime) else value for field, value in values}
