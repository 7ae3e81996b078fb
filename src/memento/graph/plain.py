"""Quads from a document, and triples as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyoxigraph as ox

from memento.errors import InputError
from memento.graph.snapshot import GRAPH_FORMATS
from memento.graph.terms import to_term, to_value
from memento.iris import IRI
from memento.model import Quad


def parsed_quads(document: bytes, graph: IRI | None = None) -> Iterable[Quad]:
    """
    The quads of a TriG document, or of a Turtle document put into `graph`.

    Raises:
        InputError: the document is not well formed.
    """
    try:
        for found in ox.parse(document, ox.RdfFormat.TRIG):
            name = graph or IRI(getattr(found.graph_name, "value", ""))
            yield (
                IRI(str(getattr(found.subject, "value", ""))),
                IRI(found.predicate.value),
                to_value(found.object),
                name,
            )
    except (SyntaxError, ValueError) as error:
        raise InputError(f"this is not TriG: {error}") from error


def serialised(quads: Iterable[Quad], media: str, prefixes: Mapping[str, str]) -> bytes:
    """The triples of some quads in a media type of `snapshot.GRAPH_FORMATS`, whatever their graph."""
    triples = (ox.Triple(ox.NamedNode(s), ox.NamedNode(p), to_term(value)) for s, p, value, _ in quads)
    return ox.serialize(triples, format=GRAPH_FORMATS[media], prefixes=dict(prefixes)) or b""
