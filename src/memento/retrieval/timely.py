"""
Among memories that cannot all hold, the one that holds at the asked time comes first.

*Because:* likeness does not tell last year's rent from this year's. Memories that fill one slot of one thing, or that consolidation
linked as rivals, keep the places that their scores gave them; who of them stands first is decided by time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Scored
from memento.text.dates import dates
from memento.text.sentences import is_readable

MARGIN = 15
"""Memories beyond those asked for among which rivals are looked for."""

LIKELY = 0.5
"""The least confidence of a rivalry that decides an order."""


_BACK = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|predecessors?|used\s+to|history|over\s+the\s+years|everyone\s+who|all\s+the"
    r"|(?:has|have)\s+(?:\S+\s+){1,4}?been|while|since)\b",
    re.IGNORECASE,
)
_POINT = re.compile(r"\b(?P<word>before|while|when|during)\s+(?P<rest>.+)$", re.IGNORECASE)

CLOSE = 0.65
"""The least share of a rival's score with which a memory may pass it."""


@dataclass(slots=True)
class _Place:
    """What time says of one memory."""

    at: int
    valid_at: datetime
    group: int
    until: datetime | None = None
    rivals: set[int] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    of: set[tuple[str, str]] = field(default_factory=set)
    is_said: bool = True  # only said, wished or planned, where something is stated


def asked_time(question: str, now: datetime) -> datetime | None:
    """
    The past date that a question names, or None: "Who was captain in May 2021?" → the middle of May 2021.

    >>> asked_time("Who was captain in May 2021?", datetime(2026, 1, 1, tzinfo=UTC)).isoformat()
    '2021-05-16T00:00:00+00:00'
    """
    if not is_readable(question):
        return None
    found = [one for one in dates(question, now) if one.value < now and one.role in ("at", "for")]
    if len(found) != 1:
        return None
    words = question[found[0].start : found[0].end]
    value = found[0].value
    numbers = sum(part.strip("stndrh,.?").isdigit() for part in words.split())
    if value.day == 1 and numbers == 1:
        month = any(letter.isalpha() for letter in words.split()[-1]) or len(words.split()) > 2
        return value + timedelta(days=15 if month else 182)
    return value


def looks_back(question: str) -> bool:
    """
    Whether a question asks of what was before or has been all along, so that what is over may answer it.

    >>> looks_back("Who was captain before Ana?"), looks_back("Who is captain?")
    (True, False)
    """
    return bool(_BACK.search(question))


def order_by_time(
    chosen: Sequence[Scored[IRI]], asked: datetime, graph: Store, readable: Sequence[IRI], question: str = ""
) -> list[Scored[IRI]]:
    """
    Return the memories with rivals in the order of time: what holds at `asked` first, then what was so last.

    Where the question names a holder ("before Ana", "while Ana was captain") it asks of the time when that one began.
    """
    if len(chosen) < 2:
        return list(chosen)
    places = _places([one.item for one in chosen], graph, readable)
    named = None
    if (point := _POINT.search(question)) and (named := _named(point["rest"], places)):
        asked = named.valid_at + (timedelta(days=1) if point["word"] != "before" else -timedelta(seconds=1))
    groups: dict[int, list[_Place]] = {}
    for place in places:
        groups.setdefault(_root(places, place.at), []).append(place)
    order = list(range(len(chosen)))
    for group in groups.values():
        if len(group) > 1:
            ranked = sorted(group, key=lambda place: (place.is_said, _distance(place, asked), place.at))
            for slot, place in zip(sorted(place.at for place in group), ranked, strict=True):
                order[slot] = place.at
    order = _past_rivals(order, places, chosen, asked)
    if named and point and point["word"].lower() != "before":
        order = _behind(order, places, named, question[: point.start()].casefold())
    return [Scored(chosen[at].item, chosen[to].score, chosen[at].source) for to, at in enumerate(order)]


def _named(text: str, places: Sequence[_Place]) -> _Place | None:
    """What the words behind "before" or "while" name: the latest statement whose value stands in them."""
    folded = text.casefold()
    found = [place for place in places if any(value and value in folded for value in place.values)]
    return max(found, key=lambda place: place.valid_at, default=None)


def _behind(order: list[int], places: list[_Place], named: _Place, asked: str) -> list[int]:
    """The order in which who is asked for stands before whom the question names: "who was captain while Ana was mayor"."""
    own = _root(places, named.at)
    others = [
        at
        for at in order
        if _root(places, at) != own and any(slot in asked and name in asked for name, slot in places[at].of)
    ]
    if not others:
        return order
    other = others[0]
    return [other, *(at for at in order if at != other)]


def _past_rivals(order: list[int], places: list[_Place], chosen: Sequence[Scored[IRI]], asked: datetime) -> list[int]:
    """The order in which no memory stands behind a likely rival that holds the asked time less and is hardly more relevant."""
    moved = list(order)
    for at in order:
        place = places[at]
        for other in moved[: moved.index(at)]:
            if (
                other in place.rivals
                and _is_timelier(place, places[other], asked)
                and chosen[at].score >= CLOSE * chosen[other].score
            ):
                moved.remove(at)
                moved.insert(moved.index(other), at)
                break
    return moved


def _is_timelier(one: _Place, other: _Place, asked: datetime) -> bool:
    return (one.is_said, _distance(one, asked)) < (other.is_said, _distance(other, asked))


def _distance(place: _Place, asked: datetime) -> tuple[int, timedelta]:
    """How far from the asked time a memory holds: what holds then, what ended before, what begins later."""
    if place.valid_at > asked:
        return 2, place.valid_at - asked
    # What a successor ended began before that successor; only an end that was announced leaves the place to what was before.
    return (0 if place.until is None or asked < place.until else 1), asked - place.valid_at


def _places(iris: list[IRI], graph: Store, readable: Sequence[IRI]) -> list[_Place]:
    rows = graph.select("retrieval/rivals", readable, memory=iris)
    at_of = {iri: at for at, iri in enumerate(iris)}
    epoch = datetime(1, 1, 1, tzinfo=UTC)
    stating = {row["memory"] for row in rows if "slot" in row}
    places = [_Place(at, epoch, at) for at in range(len(iris))]
    for place in places:
        place.is_said = iris[place.at] in stating
    slots: dict[tuple[object, object], int] = {}
    for row in rows:
        place = places[at_of[cast(IRI, row["memory"])]]
        if "rival" in row:
            other = at_of.get(cast(IRI, row["rival"]))
            if other is not None and cast(float, row["confidence"]) >= LIKELY:
                place.rivals.add(other)
            continue
        if "validAt" in row:
            place.valid_at = cast(datetime, row["validAt"])
            continue
        place.is_said = place.is_said and row["mood"] not in ("fact", "past")
        place.until = cast("datetime | None", row.get("until", place.until))
        place.values.add(str(row["value"]).casefold())
        place.of.add((str(row.get("name", "")).casefold(), str(row["slot"]).casefold()))
        first = slots.setdefault((row["subject"], row["slot"]), place.at)
        _join(places, first, place.at)
    return places


def _root(places: list[_Place], at: int) -> int:
    while places[at].group != at:
        at = places[at].group
    return at


def _join(places: list[_Place], one: int, other: int) -> None:
    first, second = sorted((_root(places, one), _root(places, other)))
    places[second].group = first
