"""Converts our values and quads to terms and quads of the engine, and back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Self

import pyoxigraph as ox
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from memento.errors import GraphError, InputError
from memento.iris import IRI, XSD
from memento.model import Quad, Value
from memento.time import iso

Term = NamedNode | Literal

_DATE_TIME = NamedNode(XSD.dateTime)
_STRING = str(XSD.string)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_NUMBERS: dict[str, type[int] | type[float]] = {
    XSD.integer: int,
    XSD.int: int,
    XSD.long: int,
    XSD.nonNegativeInteger: int,
    XSD.double: float,
}
_OTHER_NUMBERS = frozenset({XSD.decimal, XSD.float})


class WrittenNumber(float):
    """
    A number that somebody wrote as a decimal or with single precision: it counts as a float, and is the same term when written.

    *Because:* a statement can be removed only by the term that it has, and `0.5` of SPARQL is a decimal.

    >>> WrittenNumber("0.50", XSD.decimal) == 0.5, str(to_term(WrittenNumber("0.50", XSD.decimal)))
    (True, '"0.50"^^<http://www.w3.org/2001/XMLSchema#decimal>')
    """

    def __new__(cls, text: str, datatype: str) -> Self:
        """Raise `ValueError` if the text is no number."""
        made = super().__new__(cls, text)
        made.text, made.datatype = text, datatype
        return made

    text: str
    datatype: str

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.text, self.datatype


def to_term(value: Value) -> Term:
    """
    Return the term for a value; text never becomes an IRI.

    Raises:
        GraphError: an invalid IRI, or text that RDF cannot hold.

    >>> str(to_term(IRI("urn:x")))
    '<urn:x>'
    >>> str(to_term('say "hi"'))
    '"say \\\\"hi\\\\""'
    """
    try:
        match value:
            case IRI():
                return NamedNode(value)
            case datetime():
                return Literal(iso(value), datatype=_DATE_TIME)
            case WrittenNumber():
                return Literal(value.text, datatype=NamedNode(value.datatype))
            case _:
                return Literal(value)
    except (ValueError, TypeError, UnicodeEncodeError) as error:
        raise GraphError(f"{value!r} cannot be an RDF term: {error}") from error


def to_value(term: NamedNode | Literal | BlankNode | Triple) -> Value:
    """
    Return the value of a term; for a literal with a datatype that we do not use, its text.

    >>> to_value(Literal(3)), to_value(NamedNode("urn:x")), to_value(Literal(True))
    (3, 'urn:x', True)
    """
    if isinstance(term, Literal):
        return _literal_value(term)
    return IRI(term.value) if isinstance(term, NamedNode) else str(term)


def _literal_value(term: Literal) -> Value:
    text, datatype = term.value, term.datatype.value
    if datatype == _STRING:  # most of them
        return text
    if datatype == XSD.dateTime:
        return _instant(text)
    if datatype == XSD.boolean:
        return _FLAGS.get(text, text)
    number = _NUMBERS.get(datatype)
    try:
        if datatype in _OTHER_NUMBERS:
            return WrittenNumber(text, datatype)
        return number(text) if number else text
    except ValueError:  # RDF of users may declare any text a number
        return text


def is_ill_typed(term: Literal) -> bool:
    """
    Tell whether the text of a literal is invalid for its datatype, among those that we use.

    >>> is_ill_typed(Literal("abc", datatype=NamedNode(XSD.integer))), is_ill_typed(Literal("abc"))
    (True, False)
    """
    datatype = term.datatype.value
    is_used = datatype in _NUMBERS or datatype in _OTHER_NUMBERS or datatype in (XSD.dateTime, XSD.boolean)
    return is_used and isinstance(_literal_value(term), str)


def _instant(text: str) -> Value:
    """Return a time; the text itself if it is not one, or is outside the years that UTC can count."""
    try:
        at = datetime.fromisoformat(text)
        if not at.tzinfo:
            return at.replace(tzinfo=UTC)
        if at.year in (MINYEAR, MAXYEAR):
            at.astimezone(UTC)
        return at
    except (ValueError, OverflowError):
        return text


def resolve_iri(prologue: str, name: str, base: str | None) -> str:
    """
    Resolve an IRI or a prefixed name after the declarations of a prologue, as the engine does.

    Raises:
        InputError: its prefix is not declared, or it is relative and there is no base.

    >>> resolve_iri("PREFIX ex: <http://ex.org/a/>", "<../b>", "http://ex.org/a/c")
    'http://ex.org/b'
    >>> resolve_iri("PREFIX ex: <urn:x:>", "ex:b", None)
    'urn:x:b'
    """
    try:
        [quad] = parse(f"{prologue}\n{name} a {name} .", RdfFormat.TURTLE, base_iri=base)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{name[:200]} is no IRI here: {error}") from error
    return str(getattr(quad.subject, "value", ""))


def to_node(name: str) -> ox.NamedNode | ox.BlankNode:
    """Return the node with a name; the name of a blank node begins with `_:`."""
    return ox.BlankNode(name[2:]) if name.startswith("_:") else ox.NamedNode(name)


def to_quads(quads: Iterable[Quad]) -> list[ox.Quad]:
    """Return our quads as the engine's, in order."""
    made: dict[str, ox.NamedNode] = {}

    def to_name(iri: IRI) -> ox.NamedNode:
        known = made.get(iri)
        if known is None:
            known = made[iri] = ox.NamedNode(iri)
        return known

    return [
        ox.Quad(
            to_name(subject),
            to_name(predicate),
            to_name(value) if isinstance(value, IRI) else to_term(value),
            to_name(graph),
        )
        for subject, predicate, value, graph in quads
    ]


def to_own_quad(quad: ox.Quad) -> Quad:
    """Return a quad of the engine as ours."""
    subject = quad.subject.value if isinstance(quad.subject, NamedNode) else str(quad.subject)
    graph = "" if isinstance(quad.graph_name, ox.DefaultGraph) else quad.graph_name.value
    return (IRI(subject), IRI(quad.predicate.value), to_value(quad.object), IRI(graph))
