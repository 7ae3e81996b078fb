"""
Validates quads against the SHACL shapes: what is wrong with them, and how to fix each violation.

*Guarantees:* the quads are not changed, and nothing is fetched; no exception of rdflib or pyshacl leaves this module.

*But:* references are resolved within the given quads: a memory without its note among them counts as having no provenance, so pass
the described nodes too. Graph names are ignored: the union of the graphs is validated. There is no inference beyond subclasses.
`ranges` validates the values of properties, statement by statement.

*Source:* SHACL, W3C Recommendation, https://www.w3.org/TR/shacl/
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING

import pyoxigraph as ox

from memento.assets import read
from memento.errors import GraphError, InputError
from memento.graph.ranges import Term, broken_range, quote_value, ranges
from memento.graph.terms import is_ill_typed, to_term, to_value
from memento.iris import IRI, shorten
from memento.model import Quad, Value

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Literal, Node, URIRef

# While it runs, pyshacl patches rdflib's literals for all threads and modifies the shapes graph.
_ALONE = Lock()

# rdflib and pyshacl share no base exception
_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, SyntaxError)


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """
    One violation.

    `shape` is the violated node shape, `focus` the node that violates it, `path` the predicate ("" if there are several), `message`
    how to fix it. `value` is the wrong value as far as it may be shown, or "".
    """

    shape: IRI
    focus: IRI
    path: str
    message: str
    value: str = ""

    @property
    def target(self) -> str:
        """
        The node or the triple to fix.

        >>> Violation(IRI("urn:shape"), IRI("urn:x:note"), "http://purl.org/memento/position", "", '"abc"').target
        '<urn:x:note> mem:position "abc"'
        """
        if not self.value:
            return f"<{self.focus}>"
        return f"<{self.focus}> {shorten(self.path)} {self.value}"

    @property
    def line(self) -> str:
        """What is violated and how to fix it, without the value, which may be somebody's words."""
        of = f"{shorten(self.path)}: " if self.value else ""
        return f"{self.shape.rsplit('/', 1)[-1]}: {of}{self.message}"


def violations(quads: Iterable[Quad]) -> list[Violation]:
    """
    Return every violation of the quads, sorted by shape and focus; empty if they conform.

    Raises:
        GraphError: the quads could not be validated.
        MissingPart: the shapes are not part of this installation.
    """
    found = [(subject, predicate, value) for subject, predicate, value, _ in quads]
    ranged = [(s, p, to_term(value)) for s, p, value in found if p in ranges()]
    sound = ((s, p, value) for s, p, value in found if not isinstance(value, float) or isfinite(value))
    return _check_triples([(_name(s), _name(p), _term(value)) for s, p, value in sound], _out_of_range(ranged))


def violations_of(statements: Iterable[ox.Quad]) -> list[Violation]:
    """Validate quads to the letter: a language-tagged text is not a plain string, an ill-typed number not a number."""
    found = list(statements)
    wrong = _out_of_range((_iri(one.subject), IRI(one.predicate.value), one.object) for one in found)
    sound = (one for one in found if not (isinstance(one.object, ox.Literal) and _is_odd(one.object)))
    return _check_triples([(_exact(one.subject), _exact(one.predicate), _exact(one.object)) for one in sound], wrong)


@cache
def looked_back() -> frozenset[IRI]:
    """Return the predicates that shapes follow from an object to its subjects; pass those subjects with it for validation."""
    from rdflib.namespace import SH

    shapes = _parse_graph("ontology/shapes.ttl")
    return frozenset(IRI(str(one)) for how in (SH.inversePath, SH.targetObjectsOf) for one in shapes.objects(None, how))


def _check_triples(triples: Sequence[tuple[Node, Node, Node]], wrong: Iterable[Violation]) -> list[Violation]:
    """Return the violations of some triples, plus those of single statements that no class shape covers."""
    with _ALONE:
        report, shapes = _run_shapes(triples)
        found = _read_report(report, shapes)
    values = {(one.focus, one.path): one for one in wrong}
    named = {
        replace(one, value=one.value or values[place].value) if (place := (one.focus, one.path)) in values else one
        for one in found
    }
    alone = values.keys() - {(one.focus, one.path) for one in found}
    return sorted(named | {values[place] for place in alone})


def _is_odd(term: ox.Literal) -> bool:
    """Tell whether rdflib would log the text of a literal because it is ill-typed, or pyshacl cannot compare it."""
    value = to_value(term)
    return is_ill_typed(term) or (isinstance(value, float) and not isfinite(value))


def _out_of_range(statements: Iterable[tuple[IRI, IRI, Term]]) -> list[Violation]:
    found = ((subject, predicate, term, broken_range(predicate, term)) for subject, predicate, term in statements)
    return [
        Violation(broken.shape, subject, predicate, broken.message, quote_value(term, broken))
        for subject, predicate, term, broken in found
        if broken is not None
    ]


def _run_shapes(triples: Iterable[tuple[Node, Node, Node]]) -> tuple[Graph, Graph]:
    import pyshacl
    import pyshacl.errors
    import rdflib

    logging.getLogger("rdflib.term").disabled = True  # it quotes the text of ill-typed literals
    shapes, ontology = _parse_graph("ontology/shapes.ttl"), _parse_graph("ontology/memento.ttl")
    try:
        data = rdflib.Graph()
        data += ontology  # not `ont_graph`, which copies classes but not individuals such as mem:Similar
        for triple in triples:
            data.add(triple)
        _, report, text = pyshacl.validate(data, shacl_graph=shapes, inplace=True)
    except pyshacl.errors.ReportableRuntimeError as error:  # a blank node where a date belongs
        raise InputError(f"the quads break a shape of the ontology: {error}; give a literal there") from error
    except _FAILURES as error:
        raise GraphError(f"the quads could not be held against the shapes: {error}") from error
    if not isinstance(report, rdflib.Graph):  # how pyshacl returns a ValidationFailure
        raise GraphError(f"the quads could not be held against the shapes: {text}")
    return report, shapes


@cache
def _parse_graph(name: str) -> Graph:
    import rdflib

    try:
        return rdflib.Graph().parse(data=read(name), format="turtle")
    except (SyntaxError, ValueError) as error:
        raise GraphError(f"{name} is no Turtle: {error}") from error


def _read_report(report: Graph, shapes: Graph) -> set[Violation]:
    # Only top-level results: those below sh:detail repeat them without our messages.
    from rdflib.namespace import SH

    return {
        Violation(
            shape=IRI(_node_shape(report.value(result, SH.sourceShape), shapes)),
            focus=IRI(str(report.value(result, SH.focusNode))),
            path=_predicate(report.value(result, SH.resultPath)),
            message=str(report.value(result, SH.resultMessage)),
            value=_value(report.value(result, SH.resultPath), report.value(result, SH.value)),
        )
        for result in report.objects(report.value(predicate=SH.conforms, any=False), SH.result)
    }


def _node_shape(source: Node | None, shapes: Graph) -> str:
    """Return the named shape: property shapes are blank nodes of the shape that has them."""
    from rdflib.namespace import SH

    return str(next(shapes.subjects(SH.property, source), source))


def _predicate(path: Node | None) -> str:
    from rdflib import URIRef

    return str(path) if isinstance(path, URIRef) else ""


def _value(path: Node | None, value: Node | None) -> str:
    """Return a wrong value as far as it may be shown: only if its range shows that it is not free text."""
    from rdflib import URIRef

    of = ranges().get(IRI(str(path))) if isinstance(path, URIRef) else None
    if of is None or of.is_text or value is None:
        return ""
    return quote_value(to_term(IRI(value) if isinstance(value, URIRef) else str(value)), of)


def _iri(term: ox.NamedNode | ox.BlankNode | ox.Triple) -> IRI:
    return IRI(term.value if isinstance(term, ox.NamedNode) else str(term))


def _name(iri: str) -> URIRef:
    from rdflib import URIRef

    return URIRef(iri)


def _exact(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Node:
    from rdflib import XSD, BNode, Literal, URIRef

    if isinstance(term, ox.Literal):
        datatype = URIRef(term.datatype.value)
        # rdflib distinguishes "x" from "x"^^xsd:string
        typed = None if term.language or datatype == XSD.string else datatype
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
