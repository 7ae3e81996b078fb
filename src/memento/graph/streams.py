"""Streams of quads on their way out: the part of a dataset that one namespace needs, and vectors beside what they are of."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyoxigraph as ox

from memento.graph.exact import Exact
from memento.iris import CASES, IRI, MEM, PROV, XSD

Statements = Iterable[ox.Quad]
"""Quads to the letter, those of one subject together."""


@dataclass(frozen=True, slots=True)
class Vector:
    """The vectors of one node as float32 bytes, one window after the other; who made them, and of which text."""

    data: bytes
    fingerprint: str
    digest: bytes


def with_vectors(quads: Statements, vector_of: Callable[[IRI], Vector | None]) -> Iterator[ox.Quad]:
    """The quads, and after those of each subject what it has in vectors; those of one subject must stand together."""
    for subject, said in groupby(quads, key=lambda quad: quad.subject):
        graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph = ox.DefaultGraph()
        for quad in said:
            graph = quad.graph_name
            yield quad
        if isinstance(subject, ox.NamedNode) and (vector := vector_of(IRI(subject.value))):
            encoded = ox.Literal(b64encode(vector.data).decode(), datatype=ox.NamedNode(XSD.base64Binary))
            is_state = str(getattr(graph, "value", "")).startswith(CASES)
            predicate = MEM.hasStateEmbedding if is_state else MEM.embedding
            yield ox.Quad(subject, ox.NamedNode(predicate), encoded, graph)
            yield ox.Quad(subject, ox.NamedNode(MEM.embeddedBy), ox.Literal(vector.fingerprint), graph)
            yield ox.Quad(subject, ox.NamedNode(MEM.embeddedHash), ox.Literal(vector.digest.hex()), graph)


def excerpt(real: Exact, own: Sequence[IRI], provenance: IRI, beside: IRI | None) -> list[Statements]:
    """
    What some memory graphs need to be whole: themselves; the runs that made what is in them, and the agents of those; and of the
    graph `beside` them what they point at, as entities that all namespaces share, and what that points at.
    """
    known = {_iri(quad.subject) for graph in own for quad in real.statements(graph) if _is_name(quad.subject)}
    made, agents = _made(real, known, provenance)
    parts: list[Statements] = [real.statements(graph) for graph in own]
    if beside is not None and beside not in own:
        parts.append(_reached(real, known, own, beside))
    parts.append(quad for iri in sorted(made | agents) for quad in real.statements(provenance, iri))
    return parts


def _made(real: Exact, known: set[IRI], provenance: IRI) -> tuple[set[IRI], set[IRI]]:
    """The runs that are about something known, and who did them."""
    made, agents = set(), set()
    for run, said in groupby(real.statements(provenance), key=lambda quad: quad.subject):
        quads = [quad for quad in said if _is_name(quad.object)]
        if isinstance(run, ox.NamedNode) and any(_iri(quad.object) in known for quad in quads):
            made.add(IRI(run.value))
            agents |= {_iri(quad.object) for quad in quads if quad.predicate.value == PROV.wasAssociatedWith}
    return made, agents


def _reached(real: Exact, known: set[IRI], own: Sequence[IRI], beside: IRI) -> Iterator[ox.Quad]:
    asked: set[IRI] = set()
    wanted = {_iri(quad.object) for graph in own for quad in real.statements(graph) if _is_name(quad.object)} - known
    while wanted:
        asked |= wanted
        further: set[IRI] = set()
        for iri in sorted(wanted):
            for quad in real.statements(beside, iri):
                yield quad
                if _is_name(quad.object):
                    further.add(_iri(quad.object))
        wanted = further - known - asked


def _is_name(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> bool:
    return isinstance(term, ox.NamedNode)


def _iri(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> IRI:
    return IRI(str(getattr(term, "value", "")))
