"""
The answer to a SPARQL query as Python values: rows (→ a pandas DataFrame with typed columns), a truth, or triples (→ a drawing).

Draw a small graph as SVG: a box for each node with its texts inside, an arrow for each link, left to right along the links.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs; drawn in the colour of the text around it, so that it is
seen on light and dark. The same triples give the same drawing.

*Source:* layers by the longest way, order within a layer by the mean place of the neighbours: Sugiyama, Tagawa & Toda 1981, IEEE
Transactions on Systems, Man, and Cybernetics 11(2).
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from html import escape
from typing import TYPE_CHECKING, Any, cast, overload

from memento.errors import MissingPart, NotAcceptable
from memento.graph.documents import read_lines
from memento.graph.terms import to_value
from memento.interfaces.notebook.display import show_table
from memento.iris import IRI, MEM, RDFS, SKOS, TYPE, XSD, shorten
from memento.model import Value

if TYPE_CHECKING:
    import pandas as pd

    from memento.python import Client, Memento

_ROWS, _TRIPLES = "application/sparql-results+json", "application/n-triples"


ACCEPTED = f"{_ROWS}, {_TRIPLES}"
"""The media types that can be shown."""


def answer(memento: Memento | Client, sparql: str) -> Rows | bool | Triples:
    """
    Answer a query: rows for a SELECT, a truth for an ASK, triples for a CONSTRUCT or a DESCRIBE.

    Raises:
        MementoError: as `Memento.query`.
    """
    return parse_answer(*memento.query(sparql, accept=ACCEPTED))


def parse_answer(body: bytes, media: str) -> Rows | bool | Triples:
    """Return what an answer says; raise `NotAcceptable` where it cannot be shown."""
    if media == _ROWS:
        return parse_rows(body)
    if media == _TRIPLES:
        return parse_triples(body)
    raise NotAcceptable(f"an answer came as {media}, which cannot be shown here")


Cell = IRI | str | int | float | bool | datetime | date | None
"""A value of a row; None where the variable is unbound."""

_MOST_ROWS = 50  # rows of a table in a notebook


@dataclass(frozen=True, slots=True, repr=False)
class Rows(Sequence[Mapping[str, Cell]]):
    """What a SELECT found: its variables, and for each row the values in their order."""

    columns: tuple[str, ...]
    values: tuple[tuple[Cell, ...], ...]

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Rows({len(self):,} of {', '.join(self.columns)})"

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Cell]: ...
    @overload
    def __getitem__(self, at: slice) -> Rows: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Cell] | Rows:
        if isinstance(at, slice):
            return Rows(self.columns, self.values[at])
        return dict(zip(self.columns, self.values[at], strict=True))

    def __iter__(self) -> Iterator[Mapping[str, Cell]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)

    def to_frame(self, *, short: bool = False) -> pd.DataFrame:
        """
        Return the same as a DataFrame whose columns are typed.

        Args:
            short: shorten IRIs by the usual prefixes, as `mem:about`.

        Raises:
            MissingPart: pandas is not installed.
        """
        pandas = _import_pandas()
        rows = [tuple(_show_cell(cell, short) for cell in row) for row in self.values]
        columns = zip(*rows, strict=True) if rows else ((),) * len(self.columns)
        series = {name: _to_series(list(column), pandas) for name, column in zip(self.columns, columns, strict=True)}
        return cast("pd.DataFrame", pandas.DataFrame(series, columns=list(self.columns)))

    def _repr_html_(self) -> str:
        more = (
            f"{len(self):,} rows, the first {_MOST_ROWS} of them" if len(self) > _MOST_ROWS else f"{len(self):,} rows"
        )
        return show_table(
            self.columns, [[_show_cell(cell, True) for cell in row] for row in self.values[:_MOST_ROWS]], more
        )


def parse_rows(body: bytes) -> Rows | bool:
    """
    Parse the answer to a SELECT, or to an ASK, from SPARQL 1.1 Query Results JSON.

    >>> parse_rows(b'{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "x"}}, {}]}}').values
    (('x',), (None,))
    """
    results = json.loads(body)
    if "boolean" in results:
        return bool(results["boolean"])
    columns = tuple(results["head"]["vars"])
    bindings = results["results"]["bindings"]
    return Rows(columns, tuple(tuple(_parse_cell(row.get(name)) for name in columns) for row in bindings))


def _parse_cell(told: Mapping[str, Any] | None) -> Cell:
    if told is None:
        return None
    value = told["value"]
    match told["type"]:
        case "uri":
            return IRI(value)
        case "literal" | "typed-literal":
            read = _PARSERS.get(told.get("datatype", ""))
            try:
                return read(value) if read else str(value)
            except ValueError:  # any text may call itself a number
                return str(value)
        case "bnode":
            return f"_:{value}"
        case _:
            return json.dumps(value)


def _parse_time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _parse_truth(text: str) -> bool:
    return text in ("true", "1")


_PARSERS: Mapping[str, Callable[[str], Cell]] = {
    **dict.fromkeys(
        (XSD.integer, XSD.int, XSD.long, XSD.short, XSD.byte, XSD.nonNegativeInteger, XSD.positiveInteger), int
    ),
    **dict.fromkeys((XSD.decimal, XSD.double, XSD.float), float),
    XSD.boolean: _parse_truth,
    XSD.dateTime: _parse_time,
    XSD.date: date.fromisoformat,
}


def _show_cell(cell: Cell, short: bool) -> Cell:
    return shorten(cell) if short and isinstance(cell, IRI) else str(cell) if isinstance(cell, IRI) else cell


def _to_series(column: list[Cell], pandas: Any) -> Any:
    """Make a column of one type where its values are of one; as they are where not, or where pandas cannot hold them."""
    kinds = {type(cell) for cell in column if cell is not None}
    try:
        if kinds == {int}:
            return pandas.Series(column, dtype="Int64")
        if kinds == {bool}:
            return pandas.Series(column, dtype="boolean")
        if kinds and kinds <= {int, float}:
            return pandas.Series(column, dtype="float64")
        if kinds == {datetime}:
            return pandas.to_datetime(pandas.Series(column, dtype="object"), utc=True)
    except (OverflowError, ValueError):  # a number of more than 64 bits, a time before the calendar
        pass
    return pandas.Series(column, dtype="object")


def _import_pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise MissingPart("a DataFrame takes pandas: pip install 'memento-rdf[notebook]'") from error
    return pandas


Triple = tuple[IRI, IRI, Value]

_MOST_TRIPLES = 50
_MOST_NODES = 40
"""More than these are not drawn: nobody could read it."""


@dataclass(frozen=True, slots=True, repr=False)
class Triples(Sequence[Triple]):
    """What a query built, as (subject, predicate, object); `data` is the same as N-Triples."""

    values: tuple[Triple, ...]
    data: bytes

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Triple: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Triple]: ...
    def __getitem__(self, at: int | slice) -> Triple | Sequence[Triple]:
        return self.values[at]

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.values)

    def to_frame(self, *, short: bool = False) -> pd.DataFrame:
        """Return the same as a DataFrame whose columns are typed."""
        return Rows(("subject", "predicate", "object"), self.values).to_frame(short=short)

    def svg(self) -> str:
        """Draw the graph: a box for each node, with its texts and dates inside, and an arrow for each link."""
        return draw_triples(self.values, alone=True)

    def __repr__(self) -> str:
        return f"Triples({len(self):,})"

    @property
    def _is_small(self) -> bool:
        nodes = {one for subject, _, value in self.values for one in (subject, value) if isinstance(one, IRI)}
        return 0 < len(nodes) <= _MOST_NODES

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._is_small else None  # for viewers that take no drawing inside of HTML

    def _repr_html_(self) -> str:
        if self._is_small:
            return draw_triples(self.values)
        cells = [
            [shorten(one) if isinstance(one, IRI) else one for one in triple] for triple in self.values[:_MOST_TRIPLES]
        ]
        more = f", the first {_MOST_TRIPLES} of them" if len(self) > _MOST_TRIPLES else ""
        return show_table(("subject", "predicate", "object"), cells, f"{len(self):,} triples{more}")


def parse_triples(data: bytes) -> Triples:
    """Parse the triples of an N-Triples document, subject by subject."""
    triples = []
    for quad in read_lines(io.BytesIO(data)):
        subject = to_value(quad.subject)
        triples.append((IRI(str(subject)), IRI(quad.predicate.value), to_value(quad.object)))
    return Triples(tuple(sorted(triples, key=lambda one: (one[0], one[1], str(one[2])))), data)


_CHAR, _BOLD, _LINE_H, _PAD, _GAP_X, _GAP_Y = 6.7, 7.6, 16, 8, 110, 22  # pixels, at 12 px
_CHARS = 34  # of a line of text
_LINES = 6  # of a box, beside its head
_TIP = 200  # characters of a line of what is told when one points at a box
_SWEEPS = 6
_ALONE = 'xmlns="http://www.w3.org/2000/svg" color="#777" '
_TITLES = (MEM.name, RDFS.label, SKOS.prefLabel, MEM.content)
"""What a node is called by, the first that it has."""


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


def draw_triples(triples: Iterable[tuple[IRI, IRI, Value]], *, alone: bool = False) -> str:
    """
    Draw some triples as SVG; types and texts stand in the boxes.

    Args:
        alone: not inside of a page but as an image, which has no colour around it: in a grey that is seen on light and dark.
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
    """Place a node right of those that point at it; of a circle one link goes back."""
    for _ in range(len(boxes)):
        is_settled = True
        for start, _, to in links:
            wanted = boxes[start].layer + 1
            if start != to and boxes[to].layer < wanted < len(boxes):
                boxes[to].layer, is_settled = wanted, False
        if is_settled:
            return
    # A circle: the breadth from the first node instead.
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
    return (
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".45"/><path d="{head}" fill-opacity=".6"/>'
        f'<text x="{(x1 + x2) / 2:.0f}" y="{(y1 + y2) / 2 - 4:.0f}" text-anchor="middle" font-size="10" '
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
    Cut a text to one line of at most so many characters.

    >>> _cut("one\\ntwo three", 8)
    'one two…'
    """
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())  # XML has no control characters
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
