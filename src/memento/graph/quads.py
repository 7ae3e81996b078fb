"""Our quads as the store takes them: its own objects, and the operations of an update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyoxigraph as ox

from memento.graph.terms import to_term
from memento.iris import IRI
from memento.model import Change, Quad


def to_quads(found: Iterable[Quad]) -> list[ox.Quad]:
    """Our quads as the store's, in their order."""
    made: dict[str, ox.NamedNode] = {}

    def name(iri: IRI) -> ox.NamedNode:
        known = made.get(iri)
        if known is None:
            known = made[iri] = ox.NamedNode(iri)
        return known

    return [
        ox.Quad(name(subject), name(predicate), name(value) if isinstance(value, IRI) else to_term(value), name(graph))
        for subject, predicate, value, graph in found
    ]


def operations(change: Change) -> Iterator[str]:
    """What a change is in an update: the operation that removes, then the one that adds; none for what is empty."""
    for verb, found in (("DELETE", change.removes), ("INSERT", change.adds)):
        if found:
            yield f"{verb} DATA {{ {' '.join(_written(quad) for quad in found)} }}"


def _written(quad: Quad) -> str:
    subject, predicate, value, graph = quad
    return f"GRAPH {to_term(graph)} {{ {to_term(subject)} {to_term(predicate)} {to_term(value)} }}"
