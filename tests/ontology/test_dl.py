"""What is imported stays within OWL 2 DL: each rule of it that our kind of axioms can break, and axioms that break it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

import pytest
from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from memento.assets import folder
from memento.iris import MEM

DOCUMENTS = ("memento.ttl", "alignment.ttl", "labels.ttl")
RESERVED = tuple(str(base) for base in (OWL, RDF, RDFS, XSD))
OBJECT, DATA, ANNOTATION = OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty
KINDS = {OBJECT: "object", DATA: "data", ANNOTATION: "annotation"}

# Section 5.8 and 5.9 of the structural specification: what needs no declaration.
ANNOTATIONS = {
    *(RDFS.label, RDFS.comment, RDFS.seeAlso, RDFS.isDefinedBy),
    *(OWL.deprecated, OWL.versionInfo, OWL.priorVersion, OWL.backwardCompatibleWith, OWL.incompatibleWith),
}
OBJECTS, DATAS = {OWL.topObjectProperty, OWL.bottomObjectProperty}, {OWL.topDataProperty, OWL.bottomDataProperty}
CLASSES = {OWL.Thing, OWL.Nothing}
# fmt: off
DATATYPES = {  # section 4
    RDFS.Literal, RDF.PlainLiteral, RDF.XMLLiteral, RDF.langString, OWL.real, OWL.rational,
    *(XSD[name] for name in (
        "decimal", "integer", "nonNegativeInteger", "nonPositiveInteger", "positiveInteger", "negativeInteger", "long", "int",
        "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte", "double", "float", "string", "token",
        "normalizedString", "language", "Name", "NCName", "NMTOKEN", "boolean", "hexBinary", "base64Binary", "anyURI", "dateTime",
        "dateTimeStamp",
    )),
}
# fmt: on
OF_SIMPLE = {  # section 11.2: a property that is transitive, or above a chain, has none of these
    *(OWL.FunctionalProperty, OWL.InverseFunctionalProperty, OWL.AsymmetricProperty, OWL.IrreflexiveProperty),
}
CARDINALITIES = (
    *(OWL.minCardinality, OWL.maxCardinality, OWL.cardinality),
    *(OWL.minQualifiedCardinality, OWL.maxQualifiedCardinality, OWL.qualifiedCardinality, OWL.hasSelf),
)
OF_OBJECTS = {
    *(OWL.SymmetricProperty, OWL.AsymmetricProperty, OWL.TransitiveProperty, OWL.ReflexiveProperty),
    *(OWL.IrreflexiveProperty, OWL.InverseFunctionalProperty),
}
SYNTAX = {  # what the mapping to RDF uses, between nodes that are no individuals
    *(
        OWL.unionOf,
        OWL.intersectionOf,
        OWL.complementOf,
        OWL.oneOf,
        OWL.onProperty,
        OWL.someValuesFrom,
        OWL.allValuesFrom,
    ),
    *(OWL.hasValue, OWL.onClass, OWL.onDataRange, OWL.members, OWL.distinctMembers, OWL.imports, OWL.versionIRI),
    *(OWL.inverseOf, OWL.equivalentClass, OWL.equivalentProperty, OWL.disjointWith, OWL.propertyDisjointWith),
    *(OWL.propertyChainAxiom, OWL.hasKey, OWL.sameAs, OWL.differentFrom, OWL.disjointUnionOf, *CARDINALITIES),
    *(RDF.first, RDF.rest, RDF.type, RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range),
}
MEM_NAME = URIRef(MEM.name)
BUILT_IN = {
    *(
        OWL.Class,
        OWL.Ontology,
        OWL.Restriction,
        OWL.AllDisjointClasses,
        OWL.AllDifferent,
        OWL.NamedIndividual,
        RDFS.Datatype,
    ),
    *(OWL.FunctionalProperty, OWL.AllDisjointProperties, RDF.List, *KINDS, *OF_OBJECTS),
}
"""What a node may be declared to be."""


def list_faults(graph: Graph) -> list[str]:
    """List what in a graph with everything that it imports is outside OWL 2 DL, sorted."""
    return sorted({*_find_undeclared(graph), *_find_puns(graph), *_find_misused(graph), *_find_irregular(graph)})


def show(node: Node) -> str:
    return node.n3() if isinstance(node, Literal) else str(node).rpartition("/")[2].rpartition("#")[2]


def kinds_of(graph: Graph, node: Node) -> set[str]:
    """What kinds of property a node is: `object`, `data`, `annotation`."""
    found = {KINDS[one] for one in graph.objects(node, RDF.type) if isinstance(one, URIRef) and one in KINDS}
    built_in = {"annotation": ANNOTATIONS, "object": OBJECTS, "data": DATAS}
    return found | {kind for kind, known in built_in.items() if node in known}


def is_class(graph: Graph, node: Node) -> bool:
    types = set(graph.objects(node, RDF.type))
    return node in CLASSES or OWL.Class in types or OWL.Restriction in types


def is_data_range(graph: Graph, node: Node) -> bool:
    return node in DATATYPES or (node, RDF.type, RDFS.Datatype) in graph


def _find_undeclared(graph: Graph) -> Iterator[str]:
    """Section 5.8.1: what stands in the place of a class, property or datatype is declared, and by no reserved name."""
    for of, to in graph.subject_objects(RDF.type):
        if to not in BUILT_IN and not is_class(graph, to):
            yield f"{show(of)} is of the class {show(to)}, which is not declared"
        if isinstance(of, URIRef) and str(of).startswith(RESERVED):
            yield f"{show(of)} is a reserved name, and declared anew"
    for predicate in (RDFS.subClassOf, OWL.equivalentClass, OWL.disjointWith):
        for pair in graph.subject_objects(predicate):
            yield from (f"{show(one)} is not declared as a class" for one in pair if not is_class(graph, one))
    lists = [*graph.subject_objects(OWL.unionOf), *graph.subject_objects(OWL.intersectionOf)]
    lists += [
        (one, head)
        for one in graph.subjects(RDF.type, OWL.AllDisjointClasses)
        for head in graph.objects(one, OWL.members)
    ]
    for _, head in lists:
        members = list(Collection(graph, head))
        yield from (f"{show(one)} is not declared as a class" for one in members if not is_class(graph, one))
    for name in set(graph.predicates()):
        if name in SYNTAX or name in ANNOTATIONS:
            continue
        if not kinds_of(graph, name):
            yield f"{show(name)} is not declared as a property"
    for node in graph.all_nodes():
        if isinstance(node, Literal) and node.datatype is not None and not is_data_range(graph, node.datatype):
            yield f"{show(node)} has a datatype outside the map of OWL 2"


def _find_puns(graph: Graph) -> Iterator[str]:
    """Section 5.8.1: no name is two kinds of property, nor a class and a datatype."""
    for node in set(graph.subjects(RDF.type)):
        if len(kinds := kinds_of(graph, node)) > 1:
            yield f"{show(node)} is a property of several kinds: {', '.join(sorted(kinds))}"
        if is_class(graph, node) and is_data_range(graph, node):
            yield f"{show(node)} is a class and a datatype"


def _find_misused(graph: Graph) -> Iterator[str]:
    """Section 9: axioms hold between properties of one kind, and ends of properties are what the kind asks for."""
    for predicate in (RDFS.subPropertyOf, OWL.equivalentProperty, OWL.propertyDisjointWith):
        for below, above in graph.subject_objects(predicate):
            if not kinds_of(graph, below) & kinds_of(graph, above):
                yield f"{show(below)} {show(predicate)} {show(above)}: the two are not of one kind"
    for node in set(graph.subjects(RDF.type)):
        kinds, types = kinds_of(graph, node), set(graph.objects(node, RDF.type))
        if types & OF_OBJECTS and "object" not in kinds:
            yield f"{show(node)} is {show(min(types & OF_OBJECTS, key=str))}, but no object property"
        if "annotation" in kinds and (OWL.FunctionalProperty in types):
            yield f"{show(node)} is functional, but an annotation"
        for of in graph.objects(node, RDFS.domain) if kinds & {"object", "data"} else ():
            if not is_class(graph, of):
                yield f"{show(node)} has the domain {show(of)}, which is no class"
        for to in graph.objects(node, RDFS.range):
            if "object" in kinds and not is_class(graph, to):
                yield f"{show(node)} has the range {show(to)}, which is no class"
            if "data" in kinds and not is_data_range(graph, to):
                yield f"{show(node)} has the range {show(to)}, which is no datatype of OWL 2"
    for subject, how, value in graph:
        kinds = kinds_of(graph, how)
        if "object" in kinds and isinstance(value, Literal):
            yield f"{show(subject)} {show(how)} {value.n3()}: an object property leads to a literal"
        if "data" in kinds and not isinstance(value, Literal):
            yield f"{show(subject)} {show(how)} {show(value)}: a data property leads to a node"
    for node, on in graph.subject_objects(OWL.onProperty):
        for to in graph.objects(node, OWL.someValuesFrom | OWL.allValuesFrom):
            fits = is_class(graph, to) if "object" in kinds_of(graph, on) else is_data_range(graph, to)
            if not fits:
                yield f"a restriction on {show(on)} leads to {show(to)}"


def _find_irregular(graph: Graph) -> Iterator[str]:
    """Section 11.2: properties that are not simple have no restriction that counts, and chains have an order."""
    inverse = {*graph.subject_objects(OWL.inverseOf), *((b, a) for a, b in graph.subject_objects(OWL.inverseOf))}
    below = {*graph.subject_objects(RDFS.subPropertyOf), *graph.subject_objects(OWL.equivalentProperty)}
    below |= {(b, a) for a, b in graph.subject_objects(OWL.equivalentProperty)}
    chains = [(to, list(Collection(graph, head))) for to, head in graph.subject_objects(OWL.propertyChainAxiom)]
    composite = {*graph.subjects(RDF.type, OWL.TransitiveProperty), *(to for to, _ in chains)}
    reached = _close(composite, {*below, *inverse})
    counted = {
        on
        for node, on in graph.subject_objects(OWL.onProperty)
        if any((node, one, None) in graph for one in CARDINALITIES)
    }
    counted |= {one for pair in graph.subject_objects(OWL.propertyDisjointWith) for one in pair}
    counted |= {one for kind in OF_SIMPLE for one in graph.subjects(RDF.type, kind)}
    for node in sorted(counted & reached, key=str):
        yield f"{show(node)} is not simple, as a transitive property or a chain leads to it, and may not be counted"
    # Of each chain the parts come before what it makes, but for itself at one end: then the order has no circle.
    order = set(below)
    for to, parts in chains:
        inner = (
            parts
            if parts == [to, to]
            else [one for at, one in enumerate(parts) if one != to or 0 < at < len(parts) - 1]
        )
        order |= {(one, to) for one in inner if parts != [to, to]}
        if to in inner and parts != [to, to]:
            yield f"the chain of {show(to)} has itself in the middle"
    hierarchy = order - {(a, b) for a, b in order if (b, a) in below and (a, b) in below}
    for node in {one for pair in hierarchy for one in pair}:
        strict = {(a, b) for a, b in hierarchy}
        if chains and node in _close({b for a, b in strict if a == node}, strict):
            yield f"{show(node)} comes before itself in the order of the chains"


def _close(nodes: Iterable[Node], pairs: set[tuple[Node, Node]]) -> set[Node]:
    """Return the nodes with all that pairs lead to from them."""
    follow = defaultdict(set)
    for start, end in pairs:
        follow[start].add(end)
    found, waiting = set(nodes), list(nodes)
    while waiting:
        waiting += (new := follow[waiting.pop()] - found)
        found |= new
    return found


def load_closure(*names: str) -> Graph:
    """Load documents of the folder with all that they import: which must all be there."""
    known = {str(one): name for name in DOCUMENTS for one in load(name).subjects(RDF.type, OWL.Ontology)}
    graph, waiting, read = Graph(), list(names), set[str]()
    while waiting:
        if (name := waiting.pop()) not in read:
            read.add(name)
            graph += load(name)
            waiting += [known[str(iri)] for iri in load(name).objects(None, OWL.imports)]
    return graph


@cache
def load(name: str) -> Graph:
    return Graph().parse(folder("ontology") / name)


@pytest.mark.parametrize("name", ["memento.ttl", "alignment.ttl"])
def test_what_is_imported_is_within_owl_2_dl(name: str) -> None:
    graph = load_closure(name)

    assert list_faults(graph) == []
    assert len(list(graph.subjects(RDF.type, OWL.Ontology))) >= 2


def test_labels_alone_are_outside_and_nothing_imports_them() -> None:
    assert list_faults(load_closure("memento.ttl", "labels.ttl")) == [
        "alias subPropertyOf altLabel: the two are not of one kind",
        "name subPropertyOf label: the two are not of one kind",
    ]
    assert (MEM_NAME, RDFS.subPropertyOf, RDFS.label) not in load_closure("memento.ttl")


PREFIXES = "@prefix : <urn:x:> . @prefix owl: <%s> . @prefix rdf: <%s> . @prefix rdfs: <%s> . @prefix xsd: <%s> .\n" % (  # noqa: UP031
    OWL,
    RDF,
    RDFS,
    XSD,
)
SOUND = """
:A a owl:Class . :B a owl:Class ; rdfs:subClassOf :A , [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :A ] .
:p a owl:ObjectProperty ; rdfs:domain :A ; rdfs:range [ a owl:Class ; owl:unionOf ( :A :B ) ] .
:q a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:subPropertyOf :r . :r a owl:ObjectProperty .
:r owl:propertyChainAxiom ( :r :p ) . :d a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:range xsd:dateTime .
:note a owl:AnnotationProperty . :one a :A , :B ; :p :two ; :d "2026-01-01T00:00:00Z"^^xsd:dateTime ; :note "x" . :two a :A .
:p a :A .
"""


def test_sound_axioms_have_no_fault() -> None:
    assert list_faults(Graph().parse(data=PREFIXES + SOUND)) == []


@pytest.mark.parametrize(
    ("axioms", "fault"),
    [
        (":one a :Unknown .", "one is of the class urn:x:Unknown, which is not declared"),
        (":A rdfs:subClassOf :Unknown .", "urn:x:Unknown is not declared as a class"),
        (":A owl:disjointWith [ a owl:Class ; owl:unionOf ( :A :Unknown ) ] .", "Unknown is not declared as a class"),
        ("[] a owl:AllDisjointClasses ; owl:members ( :A :Unknown ) .", "Unknown is not declared as a class"),
        (":one :unknown :two .", "unknown is not declared as a property"),
        (":one rdf:value :two .", "value is not declared as a property"),
        (":d rdfs:range xsd:duration .", "d has the range duration, which is no datatype of OWL 2"),
        (':one :d "2026-01-01"^^xsd:date .', "has a datatype outside the map of OWL 2"),
        (":p rdfs:range rdfs:Resource .", "p has the range Resource, which is no class"),
        (":p rdfs:domain rdf:Statement .", "p has the domain Statement, which is no class"),
        ("rdf:Statement a owl:Class .", "Statement is a reserved name, and declared anew"),
        (":p a owl:DatatypeProperty .", "is a property of several kinds: data, object"),
        (":note a owl:ObjectProperty .", "is a property of several kinds: annotation, object"),
        (":A a rdfs:Datatype .", "A is a class and a datatype"),
        (":d rdfs:subPropertyOf rdfs:label .", "d subPropertyOf label: the two are not of one kind"),
        (":d a owl:SymmetricProperty .", "d is SymmetricProperty, but no object property"),
        (":note a owl:FunctionalProperty .", "note is functional, but an annotation"),
        (':one :p "text" .', "an object property leads to a literal"),
        (":one :d :two .", "a data property leads to a node"),
        (":B rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom :A ] .", "a restriction on"),
        (":q a owl:FunctionalProperty .", "q is not simple"),
        (":r a owl:AsymmetricProperty .", "r is not simple"),
        (":i a owl:ObjectProperty , owl:FunctionalProperty ; owl:inverseOf :q .", "i is not simple"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :q ; owl:maxCardinality 1 ] .", "q is not simple"),
        (":p owl:propertyChainAxiom ( :r :r ) .", "comes before itself in the order of the chains"),
        (":r owl:propertyChainAxiom ( :p :r :p ) .", "the chain of urn:x:r has itself in the middle"),
    ],
)
def test_each_rule_of_the_profile_is_seen_broken(axioms: str, fault: str) -> None:
    faults = list_faults(Graph().parse(data=PREFIXES + SOUND + axioms))

    assert any(fault.replace("urn:x:", "") in one.replace("urn:x:", "") for one in faults), faults


def test_a_blank_node_is_no_individual_of_the_ontology() -> None:
    graph = load_closure("memento.ttl")
    loose = [
        node
        for node in set(graph.subjects(RDF.type))
        if isinstance(node, BNode)
        and not {OWL.Class, OWL.Restriction, OWL.AllDisjointClasses} & set(graph.objects(node, RDF.type))
    ]

    assert loose == []
