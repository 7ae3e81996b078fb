"""
Nouns as HTML for notebooks: tables with what was said, when it held, where it came from and what it replaced.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs; without colours of its own it is read on light and dark.

*But:* each noun imports this when it is shown, so that a question on the command line does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from memento.iris import shortened

if TYPE_CHECKING:
    from memento.model.answers import Believed, Described, Listed, NoteRef, Recalled, Recollection, Retired, Timeline
    from memento.model.manifest import Manifest
    from memento.model.outcomes import Source

_CELL = "text-align:left;vertical-align:top;padding:.25em .75em;white-space:normal"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_PALE = "opacity:.65"

Row = Sequence[str]


def of_recollection(found: Recollection) -> str:
    """The memories, best first."""
    head = f"{_b(found.query)} in {escape(found.namespace)}"
    if found.degraded:
        head = f"{head} ({escape(found.degraded)})"
    if not found.memories:
        return f"<p>{head}: {'nothing is relevant' if found.gated else 'nothing comes to mind'}</p>"
    return _table(_RECALLED, [_recalled(one) for one in found.memories], f"{head}, {len(found.memories)} memories")


def of_recalled(one: Recalled) -> str:
    """One of them."""
    return _table(_RECALLED, [_recalled(one)])


def of_manifest(found: Manifest) -> str:
    """The picture, and the text below it."""
    from memento.model.picture import pictured

    return f"{pictured(found)}<pre style='white-space:pre-wrap'>{escape(found.text)}</pre>"


def of_timeline(found: Timeline) -> str:
    """The memories in the order they became true."""
    earlier = f", {found.earlier:,} earlier ones left out" if found.earlier else ""
    rows = [_believed(one) for one in found.memories]
    return _table(_BELIEVED, rows, f"{_b(found.subject)} in {escape(found.namespace)}{earlier}")


def of_believed(one: Believed) -> str:
    """One of them."""
    return _table(_BELIEVED, [_believed(one)])


def of_listed(one: Listed) -> str:
    """A memory of a listing."""
    until = f"forgotten {_day(one.expired_at)}" if one.expired_at else _day(one.invalid_at)
    return _table(("memory", "since", "until", "IRI"), [(_b(one.content), _day(one.valid_at), until, _code(one.iri))])


def of_source(one: Source) -> str:
    """Who told a memory, and what made it of the note."""
    by = ", ".join([one.agent or "kept as it was said", *one.rules])
    return _table(
        ("memory", "said by", "note", "made by"), [(_b(one.content), escape(one.said_by), _note(one.note), escape(by))]
    )


def of_described(found: Described) -> str:
    """Everything that is said of a node, and who points at it."""
    rows = [(_code(shortened(name)), escape(shortened(value))) for name, value in found.properties]
    rows += [(f"{_code(shortened(name))} of", _code(shortened(one))) for one, name in found.pointed_at_by]
    return _table(("", ""), rows, f"{_b(found.type)} {_code(shortened(found.iri))} in {escape(found.namespace)}")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Any rows as a table; what is None is empty."""
    shown = [["" if one is None else escape(_plain(one)) for one in row] for row in rows]
    return _table([escape(name) for name in columns], shown, escape(caption))


_RECALLED = ("", "memory", "score", "since", "until", "about", "note", "replaced")
_BELIEVED = ("memory", "since", "until", "state", "why it ended")


def _recalled(one: Recalled) -> Row:
    return (
        str(one.rank),
        _b(one.content),
        f"{one.score:.2f}",
        _day(one.valid_at),
        _day(one.invalid_at),
        escape(", ".join(one.about)),
        _note(one.note),
        f'<div style="{_PALE}">{"".join(map(_retired, one.invalidates))}</div>',
    )


def _believed(one: Believed) -> Row:
    content = _b(one.content) if one.state == "holds" else f'<span style="{_PALE}">{escape(one.content)}</span>'
    return (content, _day(one.valid_at), _day(one.invalid_at), escape(one.state), escape(one.reason or ""))


def _retired(old: Retired) -> str:
    dates = f"{_day(old.valid_at)} to {_day(old.invalid_at)}"
    older = "".join(map(_retired, old.invalidates))
    return f"<div>{escape(old.content)} ({dates}; {escape(old.reason)})</div>{older}"


def _note(note: NoteRef | None) -> str:
    return f"{_day(note.at)}: “{escape(note.content)}”" if note else ""


def _table(columns: Sequence[str], rows: Iterable[Row], caption: str = "") -> str:
    """A table of columns and cells that are HTML already."""
    title = f'<caption style="text-align:left">{caption}</caption>' if caption else ""
    head = "".join(f'<th style="{_CELL};{_LINE}">{name}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _b(text: str) -> str:
    return f"<b>{escape(text)}</b>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _day(at: datetime | None) -> str:
    return f'<span style="white-space:nowrap">{at:%Y-%m-%d}</span>' if at else ""


def _plain(value: object) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)
