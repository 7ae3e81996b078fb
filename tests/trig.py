"""Quads of our own from TriG and Turtle documents, for tests."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as ox

from memento.errors import InputError
from memento.graph.terms import to_value
from memento.iris import IRI
from memento.model import Quad


def parse_trig(document: bytes, graph: IRI | None = None) -> Iterable[Quad]:
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
