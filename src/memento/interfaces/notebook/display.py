"""
Nouns as HTML for notebooks: tables with what was said, when it held, where it came from and what it replaced.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs; without colours set here it is read on light and dark.

*But:* nouns know nothing of HTML. `attach` gives them `_repr_html_`; `memento` calls it wherever IPython runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from memento.interfaces.picture import draw_manifest
from memento.iris import shorten
from memento.model import (
    Believed,
    Described,
    Listed,
    Manifest,
    NoteRef,
    Recalled,
    Recollection,
    Retired,
    Source,
    Timeline,
)

_CELL = "text-align:left;vertical-align:top;padding:.25em .75em;white-space:normal"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_PALE = "opacity:.65"

Row = Sequence[str]


def show_recollection(found: Recollection) -> str:
    """Show the memories of a recall, best first."""
    head = f"{_bold(found.query)} in {escape(found.namespace)}"
    if found.degraded:
        head = f"{head} ({escape(found.degraded)})"
    cut = _table_html(
        ("cut", "relevance", "why"),
        [(_code(one.iri), f"{one.relevance:.2f}", escape(one.reason)) for one in found.cut],
    )
    rest = cut if found.cut else ""
    if not found.memories:
        return f"<p>{head}: {'nothing is relevant' if found.gated else 'nothing comes to mind'}</p>{rest}"
    left = f", {found.left_out} left out of the budget" if found.left_out else ""
    count = f"{head}, {len(found.memories)} memories{left}"
    return _table_html(_RECALL_COLUMNS, [_recalled_row(one) for one in found.memories], count) + rest


def show_recalled(one: Recalled) -> str:
    """Show one memory of a recall."""
    return _table_html(_RECALL_COLUMNS, [_recalled_row(one)])


def show_manifest(found: Manifest) -> str:
    """Draw the picture, and the text below it."""
    return f"{draw_manifest(found)}<pre style='white-space:pre-wrap'>{escape(found.text)}</pre>"


def show_timeline(found: Timeline) -> str:
    """Show the memories in the order they became true."""
    earlier = f", {found.earlier:,} earlier ones left out" if found.earlier else ""
    rows = [_believed_row(one) for one in found.memories]
    return _table_html(_TIMELINE_COLUMNS, rows, f"{_bold(found.subject)} in {escape(found.namespace)}{earlier}")


def show_believed(one: Believed) -> str:
    """Show one memory of a timeline."""
    return _table_html(_TIMELINE_COLUMNS, [_believed_row(one)])


def show_listed(one: Listed) -> str:
    """Show a memory of a listing."""
    until = f"forgotten {_day(one.expired_at)}" if one.expired_at else _day(one.invalid_at)
    return _table_html(
        ("memory", "since", "until", "IRI"), [(_bold(one.content), _day(one.valid_at), until, _code(one.iri))]
    )


def show_source(one: Source) -> str:
    """Show who told a memory, and what made it of the note."""
    by = ", ".join([one.agent or "kept as it was said", *one.rules])
    return _table_html(
        ("memory", "said by", "note", "made by"),
        [(_bold(one.content), escape(one.said_by), _note_html(one.note), escape(by))],
    )


def show_described(found: Described) -> str:
    """Show everything that is said of a node, and who points at it."""
    rows = [(_code(shorten(name)), escape(shorten(value))) for name, value in found.properties]
    rows += [(f"{_code(shorten(name))} of", _code(shorten(one))) for one, name in found.pointed_at_by]
    return _table_html(("", ""), rows, f"{_bold(found.type)} {_code(shorten(found.iri))} in {escape(found.namespace)}")


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Show any rows as a table; what is None is empty."""
    shown = [["" if one is None else escape(_cell_text(one)) for one in row] for row in rows]
    return _table_html([escape(name) for name in columns], shown, escape(caption))


_RECALL_COLUMNS = ("", "memory", "score", "since", "until", "about", "note", "replaced")
_TIMELINE_COLUMNS = ("memory", "since", "until", "state", "why it ended")


def _recalled_row(one: Recalled) -> Row:
    return (
        str(one.rank),
        _bold(one.content),
        f"{one.score:.2f}",
        _day(one.valid_at),
        _day(one.invalid_at),
        escape(", ".join(one.about)),
        _note_html(one.note),
        f'<div style="{_PALE}">{"".join(map(_retired_html, one.invalidates))}</div>',
    )


def _believed_row(one: Believed) -> Row:
    content = _bold(one.content) if one.state == "holds" else f'<span style="{_PALE}">{escape(one.content)}</span>'
    return (content, _day(one.valid_at), _day(one.invalid_at), escape(one.state), escape(one.reason or ""))


def _retired_html(old: Retired) -> str:
    dates = f"{_day(old.valid_at)} to {_day(old.invalid_at)}"
    older = "".join(map(_retired_html, old.invalidates))
    return f"<div>{escape(old.content)} ({dates}; {escape(old.reason)})</div>{older}"


def _note_html(note: NoteRef | None) -> str:
    return f"{_day(note.at)}: “{escape(note.content)}”" if note else ""


def _table_html(columns: Sequence[str], rows: Iterable[Row], caption: str = "") -> str:
    """Write a table of columns and cells that are HTML already."""
    title = f'<caption style="text-align:left">{caption}</caption>' if caption else ""
    head = "".join(f'<th style="{_CELL};{_LINE}">{name}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _bold(text: str) -> str:
    return f"<b>{escape(text)}</b>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _day(at: datetime | None) -> str:
    return f'<span style="white-space:nowrap">{at:%Y-%m-%d}</span>' if at else ""


def _cell_text(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)


_DISPLAYS: dict[type, Any] = {
    Recollection: show_recollection,
    Recalled: show_recalled,
    Manifest: show_manifest,
    Timeline: show_timeline,
    Believed: show_believed,
    Listed: show_listed,
    Source: show_source,
    Described: show_described,
}


def attach() -> None:
    """Let nouns show themselves as HTML, as notebooks ask them to; harmless when called again."""
    for noun, show in _DISPLAYS.items():
        noun._repr_html_ = show  # type: ignore[attr-defined]
