"""
Pictures as SVG. The map of a memory: a circle for each region, with its best known places as dots. A timeline: a bar for each
memory, from when it became true to when it ended. The classes of a vocabulary as trees, and each class with its properties.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs. Pictures use the colour of the text around them, so that
they are visible on light and dark backgrounds. The same map gives the same picture. The floors of the code are drawn on white,
because that picture is a separate file.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from memento.iris import IRI
from memento.model import Believed, Crossing, Manifest, Place, Region, Timeline
from memento.ontology import Term, short
from memento.text.sentences import shorten_line
from memento.time import now

MOST = 14
"""The number of regions that are drawn, largest first."""

_LEAST, _MORE, _GAP, _EDGE = 34.0, 62.0, 20.0, 14.0  # pixels
_CHARS = 26
_HUES = (205, 28, 140, 275, 350, 95, 180, 50, 310, 235, 15, 160, 255, 75)


@dataclass(frozen=True, slots=True)
class _Circle:
    region: Region
    x: float
    y: float
    r: float


@dataclass(frozen=True, slots=True)
class _Leads:
    region: Callable[[Region], str] | None
    place: Callable[[str], str] | None


def draw_manifest(
    manifest: Manifest,
    locate_region: Callable[[Region], str] | None = None,
    locate_place: Callable[[str], str] | None = None,
) -> str:
    """
    Draw a map as an `<svg>` element.

    Each region has a colour, which is stronger the more of the region changed in the last week. A ring marks a central place.

    Args:
        locate_region, locate_place: return the address that a region, or the IRI of a place, links to. With these the element has
            no inline style, because pages allow none.
    """
    leads = _Leads(locate_region, locate_place)
    circles = _place_regions(manifest.regions[:MOST])
    if not circles:
        return _frame(0.0, 0.0, 320.0, 40.0, ['<text x="12" y="24">Nothing belongs together yet.</text>'], manifest)
    points = {place.iri: at for one in circles for place, at in _place_dots(one)}
    turning = {place.iri for place in manifest.keys}
    parts = [
        *(line for crossing in manifest.crossings if (line := _draw_crossing(crossing, circles, points))),
        *(_draw_region(one, number, turning, leads) for number, one in enumerate(circles)),
    ]
    left, top = min(one.x - one.r for one in circles) - _EDGE, min(one.y - one.r for one in circles) - _EDGE
    right, bottom = max(one.x + one.r for one in circles) + _EDGE, max(one.y + one.r for one in circles) + _EDGE
    return _frame(left, top, right - left, bottom - top, parts, manifest, has_style=locate_region is None)


def _place_regions(regions: tuple[Region, ...]) -> list[_Circle]:
    """Place each region on a spiral from the middle, at the first position where it touches no other."""
    most = max((one.size for one in regions), default=1) or 1
    found: list[_Circle] = []
    for region in regions:
        r = _LEAST + _MORE * math.sqrt(region.size / most)
        for step in range(4_000):
            angle, far = step * 0.35, 1.6 * step
            x, y = 1.5 * far * math.cos(angle), far * math.sin(angle)  # wider than high, like pages
            if all(math.hypot(x - one.x, y - one.y) >= r + one.r + _GAP for one in found):
                break
        found.append(_Circle(region, round(x, 1), round(y, 1), round(r, 1)))
    return found


def _place_dots(circle: _Circle) -> Iterator[tuple[Place, tuple[float, float]]]:
    count = len(circle.region.places)
    for number, place in enumerate(circle.region.places):
        angle = 2 * math.pi * number / count - math.pi / 2
        far = 0.78 * circle.r
        yield place, (round(circle.x + far * math.cos(angle), 1), round(circle.y + far * math.sin(angle), 1))


def _draw_region(circle: _Circle, number: int, turning: set[IRI], leads: _Leads) -> str:
    region, hue = circle.region, _HUES[number % len(_HUES)]
    lately = f"{region.volatility:.0%} touched in a week"
    said = f"{region.label}: {count_noun(region.size, 'memory', 'memories')}, {region.importance:.0%} of all rank, {lately}"
    fill = 0.10 + 0.30 * region.volatility
    dots = []
    parts = [
        f'<circle cx="{circle.x}" cy="{circle.y}" r="{circle.r}" fill="hsl({hue} 60% 50%)" fill-opacity="{fill:.2f}" '
        f'stroke="hsl({hue} 60% 50%)"><title>{escape(said)}</title></circle>'
    ]
    for place, (x, y) in _place_dots(circle):
        ring = f'<circle cx="{x}" cy="{y}" r="8" fill="none" stroke="currentColor"/>' if place.iri in turning else ""
        words = shorten_line(place.text, 400)
        dot = (
            f'<g><circle cx="{x}" cy="{y}" r="{2.5 + 3 * place.score:.1f}" fill="hsl({hue} 65% 45%)"/>{ring}'
            f"<title>{escape(words)}</title></g>"
        )
        dots.append(_wrap_link(dot, leads.place(place.iri) if leads.place else "", words))
    for line, name in enumerate(_label_lines(region.label)):
        parts.append(
            f'<text x="{circle.x}" y="{circle.y + 14 * line - 3:.1f}" text-anchor="middle">{escape(name)}</text>'
        )
    under = circle.y + 14 * len(_label_lines(region.label)) - 3
    parts.append(
        f'<text x="{circle.x}" y="{under:.1f}" text-anchor="middle" font-size="10" opacity=".7">{region.size:,}</text>'
    )
    drawn = _wrap_link("".join(parts), leads.region(region) if leads.region else "")
    return f"<g>{drawn}{''.join(dots)}</g>"


def _wrap_link(drawn: str, address: str, said: str = "") -> str:
    """Wrap a drawing in a link; `said` is its label if the drawing has no text."""
    label = f' aria-label="{escape(said)}"' if said else ""
    return f'<a href="{escape(address)}"{label}>{drawn}</a>' if address else drawn


def _draw_crossing(crossing: Crossing, circles: list[_Circle], points: dict[IRI, tuple[float, float]]) -> str:
    """Draw a line from dot to dot, or to the edge of the region if a dot is not drawn; nothing if a region is not drawn."""
    if not all(0 <= region < len(circles) for region in crossing.regions):
        return ""
    first, second = (circles[region] for region in crossing.regions)
    begin, end = (points.get(place.iri) for place in crossing.ends)
    x1, y1 = begin or _edge_point(first, end or (second.x, second.y))
    x2, y2 = end or _edge_point(second, begin or (first.x, first.y))
    said = f"{crossing.ends[0].text} ↔ {crossing.ends[1].text} ({crossing.weight:.2f})"
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" opacity=".45" '
        f'stroke-width="{min(1 + crossing.weight, 5):.1f}"><title>{escape(said)}</title></line>'
    )


def _edge_point(circle: _Circle, towards: tuple[float, float]) -> tuple[float, float]:
    """Return the point of a circle that is nearest to a point outside."""
    far = math.hypot(towards[0] - circle.x, towards[1] - circle.y) or 1.0
    return (
        round(circle.x + circle.r * (towards[0] - circle.x) / far, 1),
        round(circle.y + circle.r * (towards[1] - circle.y) / far, 1),
    )


def _label_lines(label: str) -> list[str]:
    """Split a label into at most two lines, each short enough for its circle."""
    return [name if len(name) <= _CHARS else f"{name[: _CHARS - 1]}…" for name in label.split("/")[:2]]


def _frame(
    left: float,
    top: float,
    width: float,
    height: float,
    parts: list[str],
    manifest: Manifest,
    *,
    has_style: bool = True,
) -> str:
    layout = manifest.layout
    said = (
        f"Map of {manifest.namespace}: {count_noun(layout.memories, 'memory', 'memories')}, "
        f"{count_noun(layout.anchors, 'anchor')}, {count_noun(layout.links, 'link')}, {count_noun(len(manifest.regions), 'region')}"
    )
    shape = (
        f'role="img" style="max-width:100%;width:{width:.0f}px;color:inherit"'
        if has_style
        else 'role="group" class="map"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" '
        f'{shape} font-family="system-ui,sans-serif" font-size="11" '
        f'fill="currentColor"><title>{escape(said)}</title>{"".join(parts)}</svg>'
    )


_WIDE, _ROW, _BAR, _AXIS = 760.0, 34.0, 7.0, 26.0  # pixels
_ROOM_WIDTH, _ROOM_HEIGHT, _ROOMS_IN_ROW, _FLOOR_EDGE = 226, 58, 4, 8  # pixels, except for the number of rooms
_FLOOR_LEFT = 44


def draw_floors(floors: Sequence[Mapping[str, str]]) -> str:
    """
    Draw the floors of the code, the highest at the top, as an SVG document.

    Args:
        floors: the floors from the bottom: for each room, by its name, what it is.
    """
    pieces, y = list[str](), _FLOOR_EDGE
    width = _FLOOR_LEFT + _ROOMS_IN_ROW * _ROOM_WIDTH + _FLOOR_EDGE
    for number, rooms in reversed(list(enumerate(floors))):
        rows = -(-len(rooms) // _ROOMS_IN_ROW)
        height = rows * _ROOM_HEIGHT + _FLOOR_EDGE
        colour = f"hsl({_HUES[number % len(_HUES)]}, 45%, 93%)"
        pieces.append(f'<rect x="4" y="{y}" width="{width - 8}" height="{height - 3}" rx="6" fill="{colour}"/>')
        pieces.append(f'<text x="24" y="{y + height / 2 + 4:g}" font-size="16" text-anchor="middle">{number}</text>')
        for at, (room, what) in enumerate(rooms.items()):
            in_row = min(_ROOMS_IN_ROW, len(rooms) - at // _ROOMS_IN_ROW * _ROOMS_IN_ROW)
            wide = _ROOMS_IN_ROW * _ROOM_WIDTH / in_row
            left = _FLOOR_LEFT + at % _ROOMS_IN_ROW * wide
            top = y + at // _ROOMS_IN_ROW * _ROOM_HEIGHT + 4
            pieces.append(_draw_room(room, what, left, top, wide - 6))
        y += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 4}" font-family="sans-serif" fill="#1f2430">\n'
        "<title>The rooms of the code by floor; a file imports from its own room or from a lower floor</title>\n"
        f'<rect width="{width}" height="{y + 4}" fill="#ffffff"/>\n' + "\n".join(pieces) + "\n</svg>\n"
    )


def _draw_room(room: str, what: str, left: float, top: float, width: float) -> str:
    lines = textwrap.wrap(what.replace("`", ""), max(20, int(width / 6.1)))
    said = "".join(
        f'<text x="{left + 8:g}" y="{top + 31 + 12 * at:g}" font-size="10.5">{escape(line)}</text>'
        for at, line in enumerate(lines[:2])
    )
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{_ROOM_HEIGHT - 6}" rx="4" fill="#ffffff" stroke="#8a93a6"/>'
        f'<text x="{left + 8:g}" y="{top + 17:g}" font-size="13" font-weight="bold">{escape(room)}</text>{said}'
    )


_TICKS = 8
_CHARS_OF_ROW = 110
_DAY_S = 86_400.0
_STEPS_DAYS = (1, 7, 30.44, 91.31, 365.25, 1826.25, 3652.5, 36525)


def draw_timeline(timeline: Timeline, until: datetime | None = None) -> str:
    """
    Draw when the memories of a timeline were true, in order, with a bar for each: pale if it ended, dashed if it was corrected,
    because it was never true. The bar of a memory that is still true reaches the right edge.

    Args:
        until: the end of the time axis; default now, or the latest end of a memory if that is later.
    """
    rows = timeline.memories
    if not rows:
        return ""
    ends = [one.invalid_at for one in rows if one.invalid_at]
    first = min(one.valid_at for one in rows).timestamp()
    last = max([(until or now()).timestamp(), first + _DAY_S, *(end.timestamp() for end in ends)])
    scale = (_WIDE - 2 * _EDGE) / (last - first)
    height = len(rows) * _ROW + _AXIS
    parts = [_draw_tick(at, label, _EDGE + (at - first) * scale, height) for at, label in _find_ticks(first, last)]
    parts += [_draw_span(one, number, first, last, scale) for number, one in enumerate(rows)]
    said = escape(f"{timeline.subject}: when {count_noun(len(rows), 'memory was', 'memories were')} true")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDE:.0f} {height:.0f}" '
        f'style="max-width:100%;width:{_WIDE:.0f}px" font-family="system-ui,sans-serif" font-size="12" '
        f'fill="currentColor"><title>{said}</title>{"".join(parts)}</svg>'
    )


def _draw_span(one: Believed, number: int, first: float, last: float, scale: float) -> str:
    begin = one.valid_at.timestamp()
    end = one.invalid_at.timestamp() if one.invalid_at else last
    x, width = _EDGE + (begin - first) * scale, max((end - begin) * scale, 3.0)
    text = one.content if len(one.content) <= _CHARS_OF_ROW else f"{one.content[: _CHARS_OF_ROW - 1].rstrip()}…"
    # The text of a bar far to the right ends at the bar instead.
    is_late = x > _WIDE / 2
    place = f'x="{x + width:.1f}" text-anchor="end"' if is_late else f'x="{x:.1f}"'
    look = {
        "holds": 'fill-opacity=".75"',
        "ended": 'fill-opacity=".3"',
        "corrected": 'fill="none" stroke="currentColor" stroke-opacity=".6" stroke-dasharray="3 2"',
    }[one.state]
    until = f" to {one.invalid_at:%Y-%m-%d}" if one.invalid_at else " until now"
    why = f": {one.reason}" if one.reason else ""
    tip = escape(f"{one.content} ({one.valid_at:%Y-%m-%d}{until}, {one.state}{why})")
    pale = "" if one.state == "holds" else ' fill-opacity=".65"'
    top = number * _ROW
    return (
        f'<g><title>{tip}</title><text {place} y="{top + 14:.1f}"{pale}>{escape(text)}</text>'
        f'<rect x="{x:.1f}" y="{top + 19:.1f}" width="{width:.1f}" height="{_BAR}" rx="2" {look}/></g>'
    )


def _draw_tick(at: float, label: str, x: float, height: float) -> str:
    return (
        f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - _AXIS + 4:.1f}" stroke="currentColor" stroke-opacity=".12"/>'
        f'<text x="{x:.1f}" y="{height - 6:.1f}" text-anchor="middle" font-size="10" fill-opacity=".7">{escape(label)}</text>'
    )


def _find_ticks(first: float, last: float) -> Iterator[tuple[float, str]]:
    """Yield the starts of years, quarters, months, weeks or days, whichever are few enough, each with its label."""
    step = next((days for days in _STEPS_DAYS if (last - first) / (days * _DAY_S) <= _TICKS), _STEPS_DAYS[-1])
    form = "%Y" if step > 300 else "%b %Y" if step > 25 else "%d %b"
    at = datetime.fromtimestamp(first, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if step > 25:
        at = at.replace(day=1)
    if step > 300:
        at = at.replace(month=1)
    known = ""
    for _ in range(50 * _TICKS):
        stamp = at.timestamp()
        if stamp > last:
            return
        if stamp >= first and (label := f"{at:{form}}") != known:
            yield stamp, label
            known = label
        at = _go_on(at, step)


def _go_on(at: datetime, step_days: float) -> datetime:
    """Return the start of the next step, in days or in calendar months and years."""
    if step_days < 25:
        return datetime.fromtimestamp(at.timestamp() + step_days * _DAY_S, UTC)
    months = at.year * 12 + at.month - 1 + round(step_days / 30.44)
    return at.replace(year=months // 12, month=months % 12 + 1)


_LINE, _INDENT, _PAD = 28.0, 26.0, 10.0  # pixels
_CHAR, _BOLD = 7.9, 10.6  # pixels per character at 13 px, on average, more than usual fonts need
_MOST_ALONE = 9


def draw_hierarchy(terms: Sequence[Term], locate: Callable[[str], str]) -> list[str]:
    """
    Draw the classes of a vocabulary as trees, an `<svg>` element for each, and classes without a tree in columns.

    A class with two parents is drawn below both. Every class has its own line, so that labels do not overlap.

    Args:
        locate: returns the address where an IRI is described, or an empty string.
    """
    classes = [one for one in terms if one.kind == "class"]
    children = {one.iri: [below for below in classes if one.iri in below.parents] for one in classes}
    own = {one.iri for one in classes}
    strange = dict.fromkeys(parent for one in classes for parent in one.parents if parent not in own)
    trees = [
        [(0, parent), *(row for one in classes if parent in one.parents for row in _list_tree(one.iri, children, 1))]
        for parent in strange
    ]
    roots = [one.iri for one in classes if not one.parents]
    trees += [list(_list_tree(root, children, 0)) for root in roots if children[root]]
    alone = [(0, root) for root in roots if not children[root]]
    columns = [alone[at : at + _MOST_ALONE] for at in range(0, len(alone), _MOST_ALONE)]
    return [_draw_tree(rows, locate) for rows in [*trees, *columns]]


def _list_tree(iri: IRI, children: dict[IRI, list[Term]], depth: int) -> Iterator[tuple[int, IRI]]:
    yield depth, iri
    for one in children[iri]:
        yield from _list_tree(one.iri, children, depth + 1)


def _draw_tree(rows: list[tuple[int, IRI]], locate: Callable[[str], str]) -> str:
    parts, trunks = list[str](), dict[int, float]()  # by depth: how far down the line from the class above is drawn
    for number, (depth, iri) in enumerate(rows):
        x, y = 1 + depth * _INDENT, 1 + number * _LINE
        trunks[depth] = y + 22
        if depth:
            line = f"M{x - _INDENT / 2:.1f} {trunks[depth - 1]:.1f}V{y + 11:.1f}H{x:.1f}"
            parts.append(f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity=".45"/>')
            trunks[depth - 1] = y + 11
        parts.append(_draw_box(iri, x, y, locate))
    width = max(1 + depth * _INDENT + _measure(iri) for depth, iri in rows) + 2
    return _frame_terms(
        width, len(rows) * _LINE - 4, f"Classes below {short(rows[0][1])}" if len(rows) > 1 else "A class", parts
    )


def _measure(iri: IRI) -> float:
    return len(_name_class(iri)) * _CHAR + 2 * _PAD


def _name_class(iri: IRI) -> str:
    return short(iri).removeprefix("mem:")


def _draw_box(iri: IRI, x: float, y: float, locate: Callable[[str], str]) -> str:
    """Draw a class by its name; dashed if it is from another vocabulary."""
    address = locate(iri)
    dash = "" if address else ' stroke-dasharray="4 3"'
    drawn = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_measure(iri):.1f}" height="22" rx="5" fill="currentColor" fill-opacity=".06" '
        f'stroke="currentColor" stroke-opacity=".6"{dash}/>'
        f'<text x="{x + _PAD:.1f}" y="{y + 15.5:.1f}">{escape(_name_class(iri))}</text>'
    )
    return _wrap_link(drawn, address)


def draw_class(term: Term, terms: Sequence[Term], locate: Callable[[str], str]) -> str:
    """
    Draw a class: a box with its data properties, and a line for each object property to the classes that it leads to.

    Returns an empty string for a term that is not a class, and for a class without properties. Each label has its own line, so that
    labels do not overlap.
    """
    held = [one for one in terms if term.kind == "class" and term.iri in one.domain]
    data = [
        (one, f"{one.name} : {' | '.join(short(to).removeprefix('xsd:') for to in one.range)}")
        for one in held
        if one.kind == "datatype property"
    ]
    leads = [one for one in held if one.kind == "object property"]
    if not held:
        return ""
    wide = max([len(term.name) * _BOLD + 2 * _PAD, *(len(text) * _CHAR + 2 * _PAD for _, text in data)])
    rows = max(len(data), len(leads) - 1, 0)
    height = 26 + rows * 22 + 6
    parts = [
        f'<rect x="1" y="1" width="{wide:.1f}" height="{height:.1f}" rx="5" fill="currentColor" fill-opacity=".04" '
        'stroke="currentColor" stroke-opacity=".6"/>',
        f'<path d="M1 26H{wide + 1:.1f}" stroke="currentColor" stroke-opacity=".6"/>',
        _wrap_link(f'<text x="{1 + _PAD:.1f}" y="18.5" font-weight="600">{escape(term.name)}</text>', locate(term.iri)),
    ]
    for number, (one, text) in enumerate(data):
        parts.append(
            _wrap_link(f'<text x="{1 + _PAD:.1f}" y="{43 + number * 22:.1f}">{escape(text)}</text>', locate(one.iri))
        )
    reach = max((len(one.name) * _CHAR for one in leads), default=0.0) + 34
    right = wide
    for number, one in enumerate(leads):
        y, x = 14 + number * 22.0, 1 + wide
        end = x + reach
        to = " | ".join(_name_class(iri) for iri in one.range)
        line = f"M{x:.1f} {y:.1f}h10M{end - 12:.1f} {y:.1f}h10m-5 -4l5 4l-5 4"
        parts.append(f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity=".6"/>')
        parts.append(_wrap_link(f'<text x="{x + 15:.1f}" y="{y + 4.5:.1f}">{escape(one.name)}</text>', locate(one.iri)))
        address = locate(one.range[0]) if len(one.range) == 1 else ""
        parts.append(
            _wrap_link(f'<text x="{end + 6:.1f}" y="{y + 4.5:.1f}" font-weight="600">{escape(to)}</text>', address)
        )
        right = max(right, end + 6 + len(to) * _BOLD)
    return _frame_terms(right + 3, height + 2, f"{term.name}: {len(held)} properties", parts)


def _frame_terms(width: float, height: float, said: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="group" class="terms" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui,sans-serif" font-size="13" fill="currentColor">'
        f"<title>{escape(said)}</title>{''.join(parts)}</svg>"
    )


def count_noun(number: int, one: str, many: str = "") -> str:
    """
    Return a number with the noun that goes with it; without `many`, the plural adds an s.

    >>> count_noun(1, "memory", "memories"), count_noun(1200, "link")
    ('1 memory', '1,200 links')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
