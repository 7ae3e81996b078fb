"""The terms of `ontology/memento.ttl` as nouns, in the order and under the headings of the file; the shapes beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memento.graph.document import Document, document
from memento.iris import IRI, MEM, OWL, RDFS, SH, TYPE

Kind = Literal["class", "object property", "datatype property", "individual"]

_HEADING = re.compile(r"^# (?P<heading>\S.*)$|^mem:(?P<name>\w+) a ", flags=re.M)
_CARDINALITIES = {(1, 1): "exactly one", (0, 1): "at most one", (1, None): "at least one", (0, None): "any number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """
    One term. `domain` and `range` list the members where the ontology names a union; `traits` are functional, symmetric …

    `type` is the class of an individual. `parents` are what a class or property is a kind of.
    """

    iri: IRI
    name: str
    label: str
    comment: str
    heading: str
    kind: Kind
    parents: tuple[IRI, ...] = ()
    domain: tuple[IRI, ...] = ()
    range: tuple[IRI, ...] = ()
    traits: tuple[str, ...] = ()
    type: IRI | None = None
    members: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a shape asks of one property, or of the node itself where there is no `path`; `message` says how to mend it."""

    path: str
    count: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A node shape: what it looks at, in words, and what it asks."""

    iri: IRI
    label: str
    targets: tuple[str, ...]
    rules: tuple[Rule, ...]


@cache
def terms() -> tuple[Term, ...]:
    """Every term, in the order of the file."""
    found = document("ontology/memento.ttl")
    return tuple(_term(name, heading, found) for name, heading in _headings(found.text).items())


@cache
def shapes() -> tuple[Shape, ...]:
    """Every shape that has a target, in the order of the file."""
    found = document("ontology/shapes.ttl")
    return tuple(
        shape for name in _headings(found.text) if name.endswith("Shape") and (shape := _shape(name, found)).targets
    )


@cache
def alignments() -> Mapping[IRI, tuple[tuple[IRI, IRI], ...]]:
    """Term → (how, to what) for all that relates it to another vocabulary."""
    found: dict[IRI, set[tuple[IRI, IRI]]] = {}
    for subject, how, to in document("ontology/alignment.ttl").triples():
        if subject.startswith(MEM.base) and isinstance(subject, IRI) and isinstance(to, IRI) and how.startswith(_SAYS):
            found.setdefault(subject, set()).add((how, to))
    return {subject: tuple(sorted(said, key=lambda one: (one[1], one[0]))) for subject, said in found.items()}


def description(predicate: IRI) -> str:
    """What the ontology says of itself under a predicate."""
    return document("ontology/memento.ttl").one(IRI(MEM.base), predicate)


def _headings(text: str) -> dict[str, str]:
    """Name of each term → the heading above it, in the order of the file."""
    found, heading = {}, ""
    for match in _HEADING.finditer(text):
        if match["heading"]:
            heading = match["heading"]
        else:
            found[match["name"]] = heading
    return found


def _term(name: str, heading: str, of: Document) -> Term:
    iri = MEM[name]
    types = of.objects(iri, TYPE)
    kind = next((kind for kind, type_ in _KINDS.items() if type_ in types), None)
    ours = [IRI(type_) for type_ in types if type_ not in (*_KINDS.values(), *_TRAITS)]
    return Term(
        iri=iri,
        name=name,
        label=of.one(iri, RDFS.label),
        comment=of.one(iri, RDFS.comment),
        heading=heading,
        kind=kind or "individual",
        parents=_named(of, iri, RDFS.subClassOf) + _named(of, iri, RDFS.subPropertyOf),
        domain=_named(of, iri, RDFS.domain),
        range=_named(of, iri, RDFS.range),
        traits=tuple(word for type_, word in _TRAITS.items() if type_ in types),
        type=ours[0] if ours and not kind else None,
        members=tuple(IRI(one) for head in of.objects(iri, OWL.oneOf) for one in of.items(head)),
    )


def _named(of: Document, subject: IRI, predicate: IRI) -> tuple[IRI, ...]:
    """The classes that a term names, the members of a union one by one."""
    found: list[IRI] = []
    for value in of.objects(subject, predicate):
        union = [one for head in of.objects(value, OWL.unionOf) for one in of.items(head)]
        found += [IRI(one) for one in union] if union else [IRI(value)]
    return tuple(found)


def _shape(name: str, of: Document) -> Shape:
    iri = MEM[name]
    targets = [f"every {short(one)}" for one in of.objects(iri, SH.targetClass)]
    targets += [f"what has {short(one)}" for one in of.objects(iri, SH.targetSubjectsOf)]
    targets += [f"what {short(one)} points at" for one in of.objects(iri, SH.targetObjectsOf)]
    rules = [_rule(one, of) for one in of.objects(iri, SH.property)]
    rules += [Rule(path="", count="", message=message) for message in of.objects(iri, SH.message)]
    return Shape(
        iri=iri,
        label=of.one(iri, RDFS.label),
        targets=tuple(targets),
        rules=tuple(sorted(rules, key=lambda rule: (rule.path, rule.message))),
    )


def _rule(node: str, of: Document) -> Rule:
    path = of.one(node, SH.path)
    least, most = of.one(node, SH.minCount), of.one(node, SH.maxCount)
    counted = (int(least or 0), int(most) if most else None)
    return Rule(
        path=_path(path, of),
        count=_CARDINALITIES.get(counted, f"from {counted[0]} to {counted[1]}"),
        message=of.one(node, SH.message),
    )


def _path(node: str, of: Document) -> str:
    """A path as SPARQL writes it."""
    if isinstance(node, IRI):
        return short(node)
    if inverse := of.one(node, SH.inversePath):
        return f"^{_path(inverse, of)}"
    if either := of.one(node, SH.alternativePath):
        return f"({'|'.join(_path(one, of) for one in of.items(either))})"
    return "/".join(_path(one, of) for one in of.items(node))


def short(iri: str) -> str:
    """
    An IRI with a prefix where it has one.

    >>> short("http://www.w3.org/ns/prov#Entity"), short("urn:x")
    ('prov:Entity', '<urn:x>')
    """
    for prefix, base in PREFIXES.items():
        if iri.startswith(base):
            return f"{prefix}:{iri[len(base) :]}"
    return f"<{iri}>"


PREFIXES: Mapping[str, str] = {
    "mem": MEM.base,
    "prov": "http://www.w3.org/ns/prov#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "https://schema.org/",
    "time": "http://www.w3.org/2006/time#",
    "ragno": "http://purl.org/stuff/ragno/",
}
_SAYS = (RDFS.base, "http://www.w3.org/2004/02/skos/core#")
_KINDS: Mapping[Kind, IRI] = {
    "class": OWL.Class,
    "object property": OWL.ObjectProperty,
    "datatype property": OWL.DatatypeProperty,
}
_TRAITS = {OWL.FunctionalProperty: "functional", OWL.SymmetricProperty: "symmetric"}
