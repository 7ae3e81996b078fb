"""
Memories in a notebook: `%load_ext memento` adds the cell magic `%%sparql`; `memento.query` does the same from Python.

A cell → `Memory.query` → `Rows` (→ a pandas DataFrame with typed columns), a boolean, or `Triples` (→ a drawing). A small graph is
drawn as SVG from left to right: a box for each node with its texts inside, an arrow for each link. `attach` adds HTML tables to the
classes of `model` and to `Rows`, which know nothing of HTML; a table shows what was said, when it was true, where it came from and
what it replaced. `memento` calls `attach` wherever IPython runs.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs. No colours are set, so the output is readable on light and
dark backgrounds. The same triples give the same drawing.

*Source:* layers by the longest way, order within a layer by the mean place of the neighbours: Sugiyama, Tagawa & Toda 1981,
IEEE Transactions on Systems, Man, and Cybernetics 11(2).
"""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

from memento.errors import InputError, MementoError
from memento.interfaces.picture import draw_manifest, draw_timeline
from memento.iris import IRI, MEM, RDFS, SKOS, TYPE, shorten
from memento.model import (
    NEAREST,
    Believed,
    Described,
    Ended,
    Listed,
    Manifest,
    Noted,
    NoteRef,
    Recalled,
    Recollection,
    Retired,
    Source,
    Timeline,
    Value,
)
from memento.python.rows import Rows, Triples, describe_length, show_cell
from memento.retrieval.sentence import split_at

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memento.python import Client, Memento
    from memento.python.memory import Memory


_CELL = "text-align:left;vertical-align:top;padding:.25em .75em;white-space:normal"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_PALE = "opacity:.65"
_LATEST = 5  # how many memories a `Memento` shows

Row = Sequence[str]


def show_recollection(found: Recollection) -> str:
    """Show the memories of a recall, best first."""
    head = f"{_bold(found.query)} in {escape(found.namespace)}"
    if found.degraded:
        head = f"{head} ({escape(found.degraded)})"
    cut = _table_html(
        ("cut", "relevance", "why"),
        [(escape(one.text) or _code(one.iri), f"{one.relevance:.2f}", escape(one.reason)) for one in found.cut],
    )
    rest = cut if found.cut else ""
    if found.nearest:
        rows = [_recalled_row(one) for one in found.nearest]
        return _table_html(_RECALL_COLUMNS, rows, f"{head}. {escape(NEAREST)}") + rest
    if not found.memories:
        return f"<p>{head}: {'nothing is relevant' if found.gated else 'nothing comes to mind'}</p>{rest}"
    left = f", {found.left_out} left out of the budget" if found.left_out else ""
    count = f"{head}, {len(found.memories)} {'memory' if len(found.memories) == 1 else 'memories'}{left}"
    return _table_html(_RECALL_COLUMNS, [_recalled_row(one) for one in found.memories], count) + rest


def show_recalled(one: Recalled) -> str:
    """Show one memory of a recall."""
    return _table_html(_RECALL_COLUMNS, [_recalled_row(one)])


def show_manifest(found: Manifest) -> str:
    """Draw the map, with its text below."""
    return f"{draw_manifest(found)}<pre style='white-space:pre-wrap'>{escape(found.text)}</pre>"


def show_timeline(found: Timeline) -> str:
    """Draw when the memories were true, ordered by when they became true, and show them as a table."""
    earlier = f", {found.earlier:,} earlier ones left out" if found.earlier else ""
    rows = [_believed_row(one) for one in found.memories]
    table = _table_html(_TIMELINE_COLUMNS, rows, f"{_bold(found.subject)} in {escape(found.namespace)}{earlier}")
    return draw_timeline(found) + table


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
    """Show who said a memory, and what extracted it from the note."""
    by = ", ".join([one.agent or "kept as it was said", *one.rules])
    return _table_html(
        ("memory", "said by", "note", "made by"),
        [(_bold(one.content), escape(one.said_by), _note_html(one.note), escape(by))],
    )


def show_described(found: Described) -> str:
    """Show all properties of a node, and what points at it."""
    rows = [(_code(shorten(name)), escape(shorten(value))) for name, value in found.properties]
    rows += [(f"{_code(shorten(name))} of", _code(shorten(one))) for one, name in found.pointed_at_by]
    rows += [("did not end", f"{_bold(one.words)}: {escape(one.reason)}") for one in found.spared]
    return _table_html(("", ""), rows, f"{_bold(found.type)} {_code(shorten(found.iri))} in {escape(found.namespace)}")


def show_noted(found: Noted) -> str:
    """Show the result of a note: the memories from it, those that it ended, and those that it contradicts."""
    parts = {"remembered": found.memories, "ended": found.invalidated, "contradicted": found.contradicts}
    rows = [
        (what, _bold(found.contents.get(iri, "")), _code(shorten(iri))) for what, iris in parts.items() for iri in iris
    ]
    rows += [("ended", _bold(one.words), _code(shorten(one.iri)) if one.iri else "") for one in found.ended]
    state = "kept, and still to be understood" if found.pending else ""
    state = f"nothing was kept: {escape(found.skipped)}" if found.skipped else state
    remarks = "".join(f"<p>{escape(remark)}</p>" for remark in found.remarks)
    head = f"<p>{state}</p>" if state else ""
    return head + (_table_html(("", "memory", "IRI"), rows) if rows else "") + remarks


def show_memento(memento: Memory) -> str:
    """Show where a memory is stored, its counts, and its latest memories."""
    try:
        status, latest = memento.status(), memento.list(limit=_LATEST)
    except MementoError as error:
        return f"<p>{escape(str(error))}</p>"
    held = f"{status.memories:,} memories of {status.notes:,} notes, {status.current:,} current, {status.entities:,} entities"
    head = f"{_bold(status.namespace)} at {_code(status.address or status.home)}: {held}"
    if status.pending:
        head = f"{head}, {status.pending:,} notes to be understood"
    rows = [(_bold(one.content), _day(one.valid_at), _day(one.invalid_at)) for one in latest]
    return _table_html(("latest memories", "since", "until"), rows, head) if rows else f"<p>{head}</p>"


_MOST_ROWS = 50  # the most rows of a table in a notebook
_MOST_NODES = 40
"""The most nodes that are drawn: a larger graph would not be readable."""


def show_rows(rows: Rows) -> str:
    """Show the answer to a query as a table, or to an ASK as its truth."""
    if rows.truth is not None:
        return f"<p>{rows.truth}</p>"
    cells = [[show_cell(cell, True) for cell in row] for row in rows.values[:_MOST_ROWS]]
    return show_table(rows.columns, cells, describe_length(len(rows), len(cells), "row"))


def show_triples(triples: Triples) -> str:
    """Draw a small graph; show a large one as a table."""
    if _is_small(triples):
        return draw_triples(triples.values)
    cells = [[show_cell(cell, True) for cell in row] for row in triples.values[:_MOST_ROWS]]
    return show_table(triples.columns, cells, describe_length(len(triples), len(cells), "triple"))


def _draw_alone(triples: Triples) -> str | None:
    """Draw a small graph for a viewer that does not show SVG inside HTML."""
    return draw_triples(triples.values, alone=True) if _is_small(triples) else None


def _is_small(triples: Triples) -> bool:
    nodes = {one for subject, _, value in triples.values for one in (subject, value) if isinstance(one, IRI)}
    return 0 < len(nodes) <= _MOST_NODES


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Show any rows as a table; a value of None is an empty cell."""
    shown = [["" if one is None else escape(_cell_text(one)) for one in row] for row in rows]
    return _table_html([escape(name) for name in columns], shown, escape(caption))


_RECALL_COLUMNS = ("", "memory", "score", "since", "until", "about", "note", "replaced")
_TIMELINE_COLUMNS = ("memory", "since", "until", "state", "why it ended")


def _recalled_row(one: Recalled) -> Row:
    return (
        str(one.rank),
        _marked_html(one),
        f"{one.score:.2f}",
        _day(one.valid_at),
        _day(one.invalid_at),
        escape(", ".join(one.about)),
        _note_html(one.note),
        f'<div style="{_PALE}">{"".join([*map(_ended_html, one.ended), *map(_retired_html, one.invalidates)])}</div>',
    )


def _marked_html(one: Recalled) -> str:
    before, answering, after = split_at(one.content, one.sentence)
    marked = f"<mark>{escape(answering)}</mark>" if answering else ""
    return f"<b>{escape(before)}{marked}{escape(after)}</b>"


def _believed_row(one: Believed) -> Row:
    content = _bold(one.content) if one.state == "holds" else f'<span style="{_PALE}">{escape(one.content)}</span>'
    return (content, _day(one.valid_at), _day(one.invalid_at), escape(one.state), escape(one.reason or ""))


def _ended_html(over: Ended) -> str:
    return f"<div><s>{escape(over.words)}</s> (until {_day(over.at)}; {escape(over.reason)})</div>"


def _retired_html(old: Retired) -> str:
    dates = f"{_day(old.valid_at)} to {_day(old.invalid_at)}"
    older = "".join(map(_retired_html, old.invalidates))
    return f"<div>{escape(old.content)} ({dates}; {escape(old.reason)})</div>{older}"


def _note_html(note: NoteRef | None) -> str:
    return f"{_day(note.at)}: “{escape(note.content)}”" if note else ""


def _table_html(columns: Sequence[str], rows: Iterable[Row], caption: str = "") -> str:
    """Write a table from columns and cells that are already HTML."""
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
    Noted: show_noted,
    Rows: show_rows,
    Triples: show_triples,
}


def attach() -> None:
    """Add `_repr_html_` to the classes of `model`, which notebooks call; harmless when called again."""
    for noun, show in _DISPLAYS.items():
        noun._repr_html_ = show  # type: ignore[attr-defined]
    Triples._repr_svg_ = _draw_alone  # type: ignore[attr-defined]
    # The class `Memento` exists only once a memory was opened, because that imports the store and its libraries.
    if (shell := _find_shell()) is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name(
            "memento.python.memory", "Memory", show_memento
        )


def _find_shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def answer(memento: Memory, sparql: str) -> Rows:
    """Answer a query; the former name of `memento.query`."""
    warnings.warn("`answer` is `memento.query` now, and goes in the next version", DeprecationWarning, stacklevel=2)
    return memento.query(sparql)


_CHAR, _BOLD, _LINE_H, _PAD, _GAP_X, _GAP_Y = 6.7, 7.6, 16, 8, 140, 24  # pixels, at 12 px
_CHARS = 34  # the most characters of a line of text
_LINES = 6  # the most lines of a box, besides its head
_TIP = 200  # the most characters of a line in the tooltip of a box
_SWEEPS = 6
_ALONE = 'xmlns="http://www.w3.org/2000/svg" color="#777" '
_TITLES = (MEM.name, RDFS.label, SKOS.prefLabel, MEM.content)
"""The properties that name a node; the first that it has is used."""


@dataclass(slots=True)
class _Box:
    iri: IRI
    head: str
    kind: str
    lines: list[str]
    is_over: bool
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    tip: str = field(default="")

    @property
    def width(self) -> float:
        return max(len(self.head) * _BOLD, max(map(len, (self.kind, *self.lines))) * _CHAR) + 2 * _PAD

    @property
    def height(self) -> float:
        return (1 + bool(self.kind) + len(self.lines)) * _LINE_H + 2 * _PAD

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


Link = tuple[IRI, str, IRI]


def draw_triples(triples: Iterable[tuple[Any, ...]], *, alone: bool = False) -> str:
    """
    Draw some triples as SVG, with types and texts inside the boxes.

    Args:
        alone: draw a separate image, which inherits no colour: in a grey that is visible on light and dark backgrounds.
    """
    found = list(triples)
    links = [(s, _cut(shorten(p), 24), o) for s, p, o in found if isinstance(o, IRI) and p != TYPE]
    boxes = _make_boxes(found, links)
    _layer(boxes, links)
    _order(boxes, links)
    width = max((box.x + box.width for box in boxes.values()), default=0) + _PAD
    height = max((box.y + box.height for box in boxes.values()), default=0) + _PAD
    arrows = "".join(_arrow(boxes[s], label, boxes[o]) for s, label, o in links)
    shapes = "".join(_shape(box) for box in boxes.values())
    return (
        f'<svg {_ALONE if alone else ""}viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        'style="max-width:100%;height:auto;font:12px sans-serif" fill="currentColor" role="img">'
        f"<title>A graph of {len(boxes)} nodes</title>{arrows}{shapes}</svg>"
    )


def _make_boxes(triples: Sequence[tuple[IRI, IRI, Value]], links: Sequence[Link]) -> dict[IRI, _Box]:
    described: dict[IRI, list[tuple[IRI, Value]]] = defaultdict(list)
    for subject, predicate, value in triples:
        described[subject].append((predicate, value))
    for _, _, to in links:
        described.setdefault(to, [])
    return {iri: _make_box(iri, found) for iri, found in sorted(described.items())}


def _make_box(iri: IRI, said: Sequence[tuple[IRI, Value]]) -> _Box:
    texts = {predicate: str(value) for predicate, value in reversed(said) if not isinstance(value, IRI)}
    title = next((predicate for predicate in _TITLES if predicate in texts), None)
    kinds = [shorten(value) for predicate, value in said if predicate == TYPE and isinstance(value, IRI)]
    lines = [
        _cut(f"{shorten(predicate).rsplit(':', 1)[-1]}: {_show_value(value)}", _CHARS)
        for predicate, value in said
        if not isinstance(value, IRI) and predicate != title
    ]
    return _Box(
        iri=iri,
        head=_cut(texts[title] if title else shorten(iri), _CHARS),
        kind=_cut(", ".join(kinds), _CHARS),
        lines=lines[:_LINES] + ["…"] * (len(lines) > _LINES),
        is_over=MEM.invalidAt in texts or MEM.expiredAt in texts,
        tip="\n".join([iri, *(_cut(f"{shorten(predicate)} {_show_value(value)}", _TIP) for predicate, value in said)]),
    )


def _layer(boxes: Mapping[IRI, _Box], links: Sequence[Link]) -> None:
    """Place a node to the right of those that point at it; in a cycle, one link points back."""
    for _ in range(len(boxes)):
        is_settled = True
        for start, _, to in links:
            wanted = boxes[start].layer + 1
            if start != to and boxes[to].layer < wanted < len(boxes):
                boxes[to].layer, is_settled = wanted, False
        if is_settled:
            return
    # A cycle: use the breadth-first distance from the first node instead.
    reached = dict.fromkeys(list(boxes)[:1], 0)
    for iri in boxes:
        reached.setdefault(iri, 0)
        for start, _, to in links:
            if start == iri:
                reached.setdefault(to, reached[iri] + 1)
    for iri, box in boxes.items():
        box.layer = reached[iri]


def _order(boxes: Mapping[IRI, _Box], links: Sequence[Link]) -> None:
    layers: dict[int, list[_Box]] = defaultdict(list)
    for box in boxes.values():
        layers[box.layer].append(box)
    near: dict[IRI, list[_Box]] = defaultdict(list)
    for start, _, to in links:
        near[start].append(boxes[to])
        near[to].append(boxes[start])
    x = float(_PAD)
    for number in sorted(layers):
        for box in layers[number]:
            box.x = x
        x += max(box.width for box in layers[number]) + _GAP_X
    for sweep in range(_SWEEPS):
        for number in sorted(layers, reverse=bool(sweep % 2)):
            layer = layers[number]
            if sweep:
                layer.sort(key=lambda box: _mean([one.middle for one in near[box.iri]] or [box.middle]))
            y = float(_PAD)
            for box in layer:
                box.y, y = y, y + box.height + _GAP_Y


def _arrow(start: _Box, label: str, to: _Box) -> str:
    if start is to:
        return ""
    forward = start.x < to.x
    x1, y1 = (start.x + start.width if forward else start.x), start.middle
    x2, y2 = (to.x if forward else to.x + to.width), to.middle
    bend = max(abs(x2 - x1) / 2, 30.0) * (1 if forward else -1)
    tip = -7 if forward else 7
    path = f"M{x1:.0f},{y1:.0f} C{x1 + bend:.0f},{y1:.0f} {x2 - bend:.0f},{y2:.0f} {x2 + tip:.0f},{y2:.0f}"
    head = f"M{x2:.0f},{y2:.0f} l{tip},-4 v8 z"
    # Put the label beside the arrow head, where the curve is level, on the side away from the curve.
    beside = y2 + (13 if y2 > y1 + 1 else -6)
    anchor = "end" if forward else "start"
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".45"/><path d="{head}" fill-opacity=".6"/>'
        f'<text x="{x2 + 2 * tip:.0f}" y="{beside:.0f}" text-anchor="{anchor}" font-size="10" '
        f'fill-opacity=".75">{escape(label)}</text>'
    )


def _shape(box: _Box) -> str:
    dashed = ' stroke-dasharray="4 3"' if box.is_over else ""
    faint = ' opacity=".6"' if box.is_over else ""
    y, texts = box.y + _PAD + 11, []
    for line, weight in ((box.kind, 'font-style="italic" fill-opacity=".7"'), (box.head, 'font-weight="bold"')):
        if line:
            texts.append(f'<text x="{box.x + _PAD:.0f}" y="{y:.0f}" {weight}>{escape(line)}</text>')
            y += _LINE_H
    for line in box.lines:
        texts.append(f'<text x="{box.x + _PAD:.0f}" y="{y:.0f}">{escape(line)}</text>')
        y += _LINE_H
    return (
        f"<g{faint}><title>{escape(box.tip)}</title>"
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="5" fill-opacity=".05" '
        f'stroke="currentColor" stroke-opacity=".5"{dashed}/>{"".join(texts)}</g>'
    )


def _show_value(value: Value) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else str(value)


def _cut(text: str, most: int) -> str:
    """
    Cut a text to one line of at most `most` characters.

    >>> _cut("one\\ntwo three", 8)
    'one two…'
    """
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())  # XML allows no control characters
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"%%sparql: {message}; it takes {self.format_usage().split('%%sparql', 1)[-1].strip()}")


def load_extension(shell: InteractiveShell) -> None:
    """Add the magic to a shell, and HTML tables to the classes of `model`: what `%load_ext memento` does."""
    attach()
    from IPython.core.error import UsageError

    def sparql(line: str, cell: str) -> object:
        """Answer the SPARQL query of the cell: a DataFrame, a boolean, or a drawing of triples."""
        try:
            return _run_cell(line, cell, shell.user_ns)
        except MementoError as error:
            raise UsageError(str(error)) from error

    register: Any = shell.register_magic_function  # it is typed as a decorator
    register(sparql, magic_kind="cell", magic_name="sparql")


def _run_cell(line: str, cell: str, names: dict[str, Any]) -> object:
    chosen = _build_options().parse_args(shlex.split(line))
    with _open_memory(chosen, names) as memento:
        result = memento.query(cell, namespace=chosen.namespace)
    display = (
        result
        if isinstance(result, Triples)
        else result.to_frame(short=chosen.short)
        if result.truth is None
        else result.truth
    )
    if chosen.into:
        names[chosen.into] = display
        return None
    return display


def _build_options() -> _Options:
    options = _Options(prog="%%sparql", add_help=False, allow_abbrev=False)
    where = options.add_mutually_exclusive_group()
    where.add_argument("--memory", metavar="VARIABLE", default="memento")
    where.add_argument("--home", metavar="DIR")
    where.add_argument("--url", metavar="ADDRESS")
    options.add_argument("--namespace", metavar="NAME")
    options.add_argument("--into", metavar="VARIABLE")
    options.add_argument("--short", action="store_true")
    return options


def _open_memory(chosen: argparse.Namespace, names: dict[str, Any]) -> AbstractContextManager[Memento | Client]:
    """Return the memory that a cell queries; one that the notebook opened itself stays open."""
    from memento.python import Client, Memento, open_memento

    if chosen.url:
        return Client(chosen.url)
    if chosen.home:
        return open_memento(chosen.home, resume=False)
    own = names.get(chosen.memory)
    if isinstance(own, Memento | Client):
        return nullcontext(own)
    if chosen.memory != "memento":
        raise InputError(f"%%sparql: there is no memory in the variable {chosen.memory!r}: open one with open_memento")
    known = {name: one for name, one in names.items() if isinstance(one, Memento | Client) and not name.startswith("_")}
    if len({id(one) for one in known.values()}) == 1:
        return nullcontext(next(iter(known.values())))
    if known:
        variables = ", ".join(sorted(known))
        raise InputError(f"%%sparql: which memory? Say --memory with one of {variables}, --home DIR or --url ADDRESS")
    usual = open_memento(resume=False)
    where = usual.address if isinstance(usual, Client) else usual.datadir.path
    sys.stderr.write(f"Asked the usual memory, {where}: no variable has one.\n")
    return usual
