"""
A small graph as SVG: a box for each node with its texts inside, an arrow for each link, left to right along the links.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs; drawn in the colour of the text around it, so that it is
seen on light and dark. The same triples give the same drawing.

*Source:* layers by the longest way, order within a layer by the mean place of the neighbours: Sugiyama, Tagawa & Toda 1981, IEEE
Transactions on Systems, Man, and Cybernetics 11(2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape

from memento.iris import IRI, MEM, RDFS, SKOS, TYPE, shorten
from memento.model import Value

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


def drawn(triples: Iterable[tuple[IRI, IRI, Value]], *, alone: bool = False) -> str:
    """
    The SVG of some triples; types and texts stand in the boxes.

    Args:
        alone: not inside of a page but as an image, which has no colour around it: in a grey that is seen on light and dark.
    """
    found = list(triples)
    links = [(s, _cut(shorten(p), 24), o) for s, p, o in found if isinstance(o, IRI) and p != TYPE]
    boxes = _boxes(found, links)
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


def _boxes(triples: Sequence[tuple[IRI, IRI, Value]], links: Sequence[Link]) -> dict[IRI, _Box]:
    said: dict[IRI, list[tuple[IRI, Value]]] = defaultdict(list)
    for subject, predicate, value in triples:
        said[subject].append((predicate, value))
    for _, _, to in links:
        said.setdefault(to, [])
    return {iri: _box(iri, found) for iri, found in sorted(said.items())}


def _box(iri: IRI, said: Sequence[tuple[IRI, Value]]) -> _Box:
    texts = {predicate: str(value) for predicate, value in reversed(said) if not isinstance(value, IRI)}
    title = next((predicate for predicate in _TITLES if predicate in texts), None)
    kinds = [shorten(value) for predicate, value in said if predicate == TYPE and isinstance(value, IRI)]
    lines = [
        _cut(f"{shorten(predicate).rsplit(':', 1)[-1]}: {_text(value)}", _CHARS)
        for predicate, value in said
        if not isinstance(value, IRI) and predicate != title
    ]
    return _Box(
        iri=iri,
        head=_cut(texts[title] if title else shorten(iri), _CHARS),
        kind=_cut(", ".join(kinds), _CHARS),
        lines=lines[:_LINES] + ["…"] * (len(lines) > _LINES),
        is_over=MEM.invalidAt in texts or MEM.expiredAt in texts,
        tip="\n".join([iri, *(_cut(f"{shorten(predicate)} {_text(value)}", _TIP) for predicate, value in said)]),
    )


def _layer(boxes: Mapping[IRI, _Box], links: Sequence[Link]) -> None:
    """A node is right of those that point at it; of a circle one link goes back."""
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


def _text(value: Value) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else str(value)


def _cut(text: str, most: int) -> str:
    """
    One line of at most so many characters.

    >>> _cut("one\\ntwo three", 8)
    'one two…'
    """
    line = "".join(c for c in " ".join(text.split()) if c.isprintable())  # XML has no control characters
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
