"""The ranges of our properties: every property has one or is excused by name, and they judge as pyshacl judges by the same file."""

from __future__ import annotations

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib

from memento.assets import folder
from memento.graph.documents import document
from memento.graph.ranges import broken_range, drop_unreadable, ranges
from memento.graph.terms import to_value
from memento.iris import IRI, MEM, OWL, TYPE, XSD
from memento.model import Value

VECTORS_AND_REASONS = {"embedding", "hasStateEmbedding", "embeddedBy", "embeddedHash"}
"""A literal of a datatype of ours, triple terms, and texts that nobody reads."""
ASKED = {"asOf", "believedAt", "believedOn", "validOn", "gate", "matches", "engine", "profile", "limit"}
"""Written in a query to the query service and never in a graph."""
NUMBERS = ["0", "1", "0.5", "-1", "1.5", "INF", "NaN", "1e999", "9007199254740992", "x", "", "0.5 "]
TIMES = [
    "2026-03-01T09:00:00Z", "2026-03-01T09:00:00.5+00:00", "2026-03-01T09:00:00+05:00", "2026-03-01T09:00:00", "2026-03-01",
    "2026-13-01T00:00:00Z", "12026-03-01T09:00:00Z", "soon",
]  # fmt: skip
TERMS: list[ox.NamedNode | ox.Literal] = [
    *(ox.Literal(text, datatype=ox.NamedNode(type_)) for text in NUMBERS for type_ in (XSD.integer, XSD.double, XSD.decimal)),
    *(ox.Literal(text, datatype=ox.NamedNode(XSD.dateTime)) for text in TIMES),
    *(ox.Literal(text, datatype=ox.NamedNode(XSD.boolean)) for text in ("true", "0", "yes")),
    *(ox.Literal(text) for text in ("soon", "employer", "proper_noun", "fact", "", "2026-03-01T09:00:00Z")),
    ox.Literal("employer", language="en"),
    ox.NamedNode("urn:x:ana"), ox.NamedNode(MEM.Person),
]  # fmt: skip


def test_every_property_has_a_range_or_is_excused() -> None:
    found = document("ontology/memento.ttl")
    kinds = (OWL.ObjectProperty, OWL.DatatypeProperty)
    declared = {subject for subject, predicate, what in found.triples() if predicate == TYPE and what in kinds}
    ours = {name for name in declared if name.startswith(MEM.base)}  # others are declared for reasoners alone
    lacking = {name.removeprefix(MEM.base) for name in ours - set(ranges())}

    assert lacking == VECTORS_AND_REASONS | ASKED


def test_no_range_is_of_a_property_that_does_not_exist() -> None:
    known = {subject for subject, _, _ in document("ontology/memento.ttl").triples()}

    assert {name for name in ranges() if name.startswith(MEM.base)} <= known


def test_every_range_says_how_a_value_is_mended() -> None:
    assert [name for name, one in ranges().items() if not one.message.endswith(".")] == []


def test_ranges_judge_as_pyshacl_does() -> None:
    """A number that is none in Python is one to pyshacl; here it is out of the range of every number."""
    said = {
        f"urn:x:{number}:{predicate}": (predicate, term)
        for predicate in ranges()
        for number, term in enumerate(TERMS)
        if not (isinstance(term, ox.Literal) and term.value in ("NaN", "1e999"))
    }
    data = rdflib.Graph()
    for subject, (predicate, term) in said.items():
        data.add((rdflib.URIRef(subject), rdflib.URIRef(predicate), _of_rdflib(term)))
    _, report, _ = pyshacl.validate(data, shacl_graph=rdflib.Graph().parse(folder("ontology") / "values.ttl"))
    assert isinstance(report, rdflib.Graph)

    theirs = {str(focus) for focus in report.objects(None, rdflib.SH.focusNode)}
    ours = {subject for subject, (predicate, term) in said.items() if broken_range(predicate, term) is not None}
    assert ours == theirs
    assert 1_000 < len(ours) < len(said) - 300


def _of_rdflib(term: ox.NamedNode | ox.Literal) -> rdflib.term.Node:
    if isinstance(term, ox.NamedNode):
        return rdflib.URIRef(term.value)
    if term.language or term.datatype.value == XSD.string:
        return rdflib.Literal(term.value, lang=term.language)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


@pytest.mark.parametrize("predicate", [MEM.position, MEM.validAt, MEM.about, MEM.isWellKnown])
def test_a_reader_is_given_what_it_can_take_and_the_rest(predicate: IRI) -> None:
    values = {term: to_value(term) for term in TERMS}
    sound = [value for term, value in values.items() if ranges()[predicate].fits(value)]
    said: dict[IRI, list[Value]] = {TYPE: [MEM.Memory], predicate: list(values.values()), MEM.content: [7, "It is."]}

    assert 0 < len(sound) < len(values)
    assert drop_unreadable(said) == {**said, predicate: sound}
    assert drop_unreadable({**said, predicate: ["soon"]}).keys() == {TYPE, MEM.content}
    whole: dict[IRI, list[Value]] = {TYPE: [MEM.Memory], predicate: sound}
    assert drop_unreadable(whole) is whole
