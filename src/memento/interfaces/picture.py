"""
Pictures as SVG. The map of a memory: a circle for each region, with its best known places as dots. A timeline: a bar for each
memory, from when it became true to when it ended.

*Guarantees:* every text is escaped; nothing is fetched and nothing runs. Pictures use the colour of the text around them, so that
they are visible on light and dark backgrounds. The same map gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from memento.iris import IRI
from memento.model import Believed, Crossing, Manifest, Place, Region, Timeline
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


def count_noun(number: int, one: str, many: str = "") -> str:
    """
    Return a number with the noun that goes with it; without `many`, the plural adds an s.

    >>> count_noun(1, "memory", "memories"), count_noun(1200, "link")
    ('1 memory', '1,200 links')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
