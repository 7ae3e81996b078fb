"""Which media type an answer has: what Accept likes best among those that the form of the query can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memento.errors import NotAcceptable
from memento.graph.snapshot import GRAPH_FORMATS, ROW_FORMATS
from memento.graph.upload import FORMATS
from memento.sparql.guard import Form

ROWS: tuple[str, ...] = tuple(ROW_FORMATS)
"""Of SELECT and ASK, the usual one first."""
GRAPHS: tuple[str, ...] = tuple(GRAPH_FORMATS)
"""Of CONSTRUCT and DESCRIBE, the usual one first."""


DOCUMENTS: tuple[str, ...] = tuple(FORMATS)
"""Of a document that is read, the usual one first."""
SUFFIXES = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".rdf": "application/rdf+xml",
    ".xml": "application/rdf+xml",
    ".jsonld": "application/ld+json",
    ".trig": "application/trig",
    ".nq": "application/n-quads",
    ".n3": "text/n3",
}
"""How the names of such documents end."""


class _Range(NamedTuple):
    kind: str
    subtype: str
    quality: float

    def fits(self, media: str) -> int:
        """How closely: 0 not at all, 1 as any, 2 by its kind, 3 by its name."""
        kind, _, subtype = media.partition("/")
        if self.kind == "*":
            return 1
        if self.kind != kind:
            return 0
        return 2 if self.subtype == "*" else 3 * (self.subtype == subtype)


def chosen(accept: str, form: Form) -> str:
    """
    The media type for the answer to a query of this form; see `preferred`.

    >>> chosen("text/csv;q=0.5, application/n-quads", "select"), chosen("", "describe")
    ('text/csv', 'text/turtle')
    """
    return preferred(accept, GRAPHS if form in ("construct", "describe") else ROWS)


def preferred(accept: str, offered: Sequence[str]) -> str:
    """
    The offered media type that an Accept header likes best: the range that names one most closely decides how much it is liked.

    Of those liked alike it is the one that the header names first, and without a header the first of all.

    Raises:
        NotAcceptable: none of them; lists them.

    >>> preferred("text/*;q=0.9, text/csv;q=0, */*;q=0.1", ["text/csv", "image/png", "text/turtle"])
    'text/turtle'
    """
    ranges = _ranges(accept) if accept.strip() else [_Range("*", "*", 1.0)]
    best, liking = "", (0.0, 0)
    for media in offered:
        place, close = max(enumerate(one.fits(media) for one in ranges), key=lambda fit: (fit[1], -fit[0]))
        found = (ranges[place].quality if close else 0.0, len(ranges) - place)
        if found[0] > 0 and found > liking:
            best, liking = media, found
    if not best:
        raise NotAcceptable(f"none of the media types in {accept!r} can be had here: {', '.join(offered)}")
    return best


def _ranges(accept: str) -> list[_Range]:
    found = []
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.lower().split(";"))
        kind, _, subtype = name.partition("/")
        quality = next((_quality(one[2:]) for one in parameters if one.startswith("q=")), 1.0)
        found.append(_Range(kind, subtype, quality))
    return found


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
