"""
Quads held against the SHACL shapes: what is wrong with them, and how each fault is mended.

*Guarantees:* the quads are not changed and nothing is fetched; no exception of rdflib or pyshacl leaves this module.

*But:* references are judged within the quads that are given. A memory whose note is not among them has no provenance here, so
give the described nodes too. Graph names do not matter: the union of the graphs is one set of statements. No inference beyond
subclasses.

*Source:* SHACL, W3C Recommendation, https://www.w3.org/TR/shacl/
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import pyoxigraph as ox

from memento.assets import read
from memento.errors import GraphError
from memento.iris import IRI
from memento.model import Quad, Value

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Literal, Node, URIRef

# While it runs, pyshacl patches rdflib's literals for every thread and writes into the shapes it is given.
_ALONE = Lock()

# rdflib and pyshacl have no root of their own
_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, SyntaxError)


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """
    One fault.

    `shape` is the node shape that is broken, `focus` the node that breaks it, `path` the predicate concerned ("" when it is
    more than one), `message` what to do about it.
    """

    shape: IRI
    focus: IRI
    path: str
    message: str


def violations(quads: Iterable[Quad]) -> list[Violation]:
    """
    Every fault of the quads, sorted by shape and focus; empty when they conform.

    Raises:
        GraphError: the quads could not be validated at all.
        MissingPart: the shapes are not part of this installation.
    """
    return _held((_name(subject), _name(predicate), _term(value)) for subject, predicate, value, _ in quads)


def violations_of(statements: Iterable[ox.Quad]) -> list[Violation]:
    """The same of quads to the letter: a text in a language, or a number that is none, is not what a string or a number is."""
    return _held((_exact(one.subject), _exact(one.predicate), _exact(one.object)) for one in statements)


@cache
def looked_back() -> frozenset[IRI]:
    """The predicates along which the shapes go from an object to its subjects: those must be given with it to be judged."""
    from rdflib.namespace import SH

    shapes = _parsed("ontology/shapes.ttl")
    return frozenset(IRI(str(one)) for how in (SH.inversePath, SH.targetObjectsOf) for one in shapes.objects(None, how))


def _held(triples: Iterable[tuple[Node, Node, Node]]) -> list[Violation]:
    with _ALONE:
        report, shapes = _validated(triples)
        return sorted(_found(report, shapes))


def _validated(triples: Iterable[tuple[Node, Node, Node]]) -> tuple[Graph, Graph]:
    import pyshacl
    import rdflib

    shapes, ontology = _parsed("ontology/shapes.ttl"), _parsed("ontology/memento.ttl")
    try:
        data = rdflib.Graph()
        data += ontology  # not `ont_graph`, which carries classes over but not individuals such as mem:Similar
        for triple in triples:
            data.add(triple)
        _, report, text = pyshacl.validate(data, shacl_graph=shapes, inplace=True)
    except _FAILURES as error:
        raise GraphError(f"the quads could not be held against the shapes: {error}") from error
    if not isinstance(report, rdflib.Graph):  # how pyshacl hands over a ValidationFailure
        raise GraphError(f"the quads could not be held against the shapes: {text}")
    return report, shapes


@cache
def _parsed(name: str) -> Graph:
    import rdflib

    try:
        return rdflib.Graph().parse(data=read(name), format="turtle")
    except (SyntaxError, ValueError) as error:
        raise GraphError(f"{name} is no Turtle: {error}") from error


def _found(report: Graph, shapes: Graph) -> set[Violation]:
    # Only the report's own results: those below sh:detail say the same once more, without a message of ours.
    from rdflib.namespace import SH

    return {
        Violation(
            shape=IRI(_node_shape(report.value(result, SH.sourceShape), shapes)),
            focus=IRI(str(report.value(result, SH.focusNode))),
            path=_predicate(report.value(result, SH.resultPath)),
            message=str(report.value(result, SH.resultMessage)),
        )
        for result in report.objects(report.value(predicate=SH.conforms, any=False), SH.result)
    }


def _node_shape(source: Node | None, shapes: Graph) -> str:
    """The shape that has a name: property shapes are blank nodes of the shape they belong to."""
    from rdflib.namespace import SH

    return str(next(shapes.subjects(SH.property, source), source))


def _predicate(path: Node | None) -> str:
    from rdflib import URIRef

    return str(path) if isinstance(path, URIRef) else ""


def _name(iri: str) -> URIRef:
    from rdflib import URIRef

    return URIRef(iri)


def _exact(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Node:
    from rdflib import XSD, BNode, Literal, URIRef

    if isinstance(term, ox.Literal):
        datatype = URIRef(term.datatype.value)
        typed = None if term.language or datatype == XSD.string else datatype  # rdflib tells "x" from "x"^^xsd:string
        return Literal(term.value, lang=term.language, datatype=typed, normalize=False)
    return URIRef(term.value) if isinstance(term, ox.NamedNode) else BNode(str(term))


def _term(value: Value) -> URIRef | Literal:
    from rdflib import XSD, Literal, URIRef

    match value:
        case IRI():
            return URIRef(value)
        case datetime():
            return Literal(value.isoformat(), datatype=XSD.dateTime)
        case _:
            return Literal(value)
