"""
Present the vocabulary to people and programs: the page `docs/ontology.md`, the page at `/ontology`, and the JSON-LD context
`ontology/context.jsonld`.

*Flow:* `ontology/*.ttl` → `load_terms`, `load_shapes`, `load_alignments` → `write_page` and `write_context`; `make docs` writes
both files. The page at `/ontology` is generated from the same terms, `NOTES` and `find_uses`.

*Because:* the context has no prefixes. With prefixes, an IRI in the data that happens to begin like one would be expanded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal

from memento import assets
from memento.graph.documents import Document, document
from memento.iris import IRI, MEM, OWL, PROV, RDFS, SH, SKOS, TYPE, XSD, Namespace

Kind = Literal["class", "object property", "datatype property", "individual"]

_HEADING = re.compile(r"^# (?P<heading>\S.*)$|^mem:(?P<name>\w+) a ", flags=re.M)
_CARDINALITIES = {(1, 1): "exactly one", (0, 1): "at most one", (1, None): "at least one", (0, None): "any number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """
    One term. `domain` and `range` list the members if the ontology names a union; `traits` are functional, symmetric …

    `type` is the class of an individual. `parents` are the superclasses or superproperties, `inverses` the inverse properties.
    """

    iri: IRI
    name: str
    label: str
    comment: str
    heading: str
    kind: Kind
    parents: tuple[IRI, ...] = ()
    inverses: tuple[IRI, ...] = ()
    domain: tuple[IRI, ...] = ()
    range: tuple[IRI, ...] = ()
    traits: tuple[str, ...] = ()
    type: IRI | None = None
    members: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    A constraint of a shape on one property, or on the node itself if there is no `path`; `message` says how to fix a violation.
    """

    path: str
    count: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A node shape: its target, in words, and its constraints."""

    iri: IRI
    label: str
    targets: tuple[str, ...]
    rules: tuple[Rule, ...]


@cache
def load_terms() -> tuple[Term, ...]:
    """Load every term, in the order of the file."""
    file = document("ontology/memento.ttl")
    return tuple(_read_term(name, heading, file) for name, heading in _find_headings(file.text).items())


@cache
def load_shapes() -> tuple[Shape, ...]:
    """Load every shape that has a target, in the order of the file."""
    file = document("ontology/shapes.ttl")
    return tuple(
        shape
        for name in _find_headings(file.text)
        if name.endswith("Shape") and (shape := _read_shape(name, file)).targets
    )


@cache
def load_alignments() -> Mapping[IRI, tuple[tuple[IRI, IRI], ...]]:
    """Map each term to (relation, other term) for every relation to another vocabulary."""
    relations: dict[IRI, set[tuple[IRI, IRI]]] = {}
    for subject, how, to in chain(*(document(f"ontology/{name}.ttl").triples() for name in ("alignment", "labels"))):
        if subject.startswith(MEM.base) and isinstance(subject, IRI) and isinstance(to, IRI) and how.startswith(_SAYS):
            relations.setdefault(subject, set()).add((how, to))
    return {subject: tuple(sorted(said, key=lambda one: (one[1], one[0]))) for subject, said in relations.items()}


@cache
def find_uses(term: Term) -> Mapping[str, tuple[Term, ...]]:
    """Map each use of a term in the vocabulary to the terms with that use, in the order of the file; unused kinds are left out."""
    terms = load_terms()
    uses = {
        "subclasses" if term.kind == "class" else "subproperties": [one for one in terms if term.iri in one.parents],
        "in the domain of": [one for one in terms if term.iri in one.domain],
        "in the range of": [one for one in terms if term.iri in one.range],
        "instances": [one for one in terms if one.type == term.iri],
    }
    return {how: tuple(users) for how, users in uses.items() if users}


@cache
def find_example(term: Term) -> str:
    """Find the first statement of the sample world that contains a term, as Turtle; empty if there is none."""
    name = term.name
    use = re.compile(rf"\bmem:{name}\b")
    subject, lines = "", assets.read("ontology/world.trig").decode("utf-8").splitlines()
    for at, line in enumerate(lines):
        if re.match(r"  [a-z]+:\S+$", line):
            subject = line.strip()
        elif subject and use.search(line.partition('"')[0]):
            stated = line if line.endswith((";", ".")) else f"{line} {lines[at + 1].strip()}"
            return f"{subject} {stated.strip(' ;.,')} ."
    return ""


def write_example_query(term: Term) -> str:
    """
    Write a complete query that finds the statements of a memory with a term.

    >>> print(write_example_query(next(one for one in load_terms() if one.name == "eventAt")))
    PREFIX mem: <http://purl.org/memento/>
    SELECT ?memory ?eventAt WHERE { ?memory mem:eventAt ?eventAt } LIMIT 10
    """
    user = next((one for one in load_terms() if term.type in one.range), None)
    if term.kind == "class":
        name = term.name[0].lower() + term.name[1:]
        pattern = f"SELECT ?{name} WHERE {{ ?{name} a mem:{term.name} }}"
    elif term.kind != "individual":
        of = short(term.domain[0]).partition(":")[2] if term.domain else "Node"
        subject, value = of[0].lower() + of[1:], term.name if term.name != of.lower() else "value"
        pattern = f"SELECT ?{subject} ?{value} WHERE {{ ?{subject} mem:{term.name} ?{value} }}"
    elif user is not None:
        pattern = f"SELECT ?node WHERE {{ ?node mem:{user.name} mem:{term.name} }}"
    else:
        pattern = f"SELECT ?property ?value WHERE {{ mem:{term.name} ?property ?value }}"
    return f"PREFIX mem: <{MEM.base}>\n{pattern} LIMIT 10"


def describe_ontology(predicate: IRI) -> str:
    """Return what the ontology states about itself with a predicate."""
    return document("ontology/memento.ttl").one(IRI(MEM.base), predicate)


def _find_headings(text: str) -> dict[str, str]:
    """Map the name of each term to the heading above it, in the order of the file."""
    headings, heading = {}, ""
    for match in _HEADING.finditer(text):
        if match["heading"]:
            heading = match["heading"]
        else:
            headings[match["name"]] = heading
    return headings


def _read_term(name: str, heading: str, of: Document) -> Term:
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
        parents=_list_classes(of, iri, RDFS.subClassOf) + _list_classes(of, iri, RDFS.subPropertyOf),
        inverses=_list_classes(of, iri, OWL.inverseOf),
        domain=_list_classes(of, iri, RDFS.domain),
        range=_list_classes(of, iri, RDFS.range),
        traits=tuple(word for type_, word in _TRAITS.items() if type_ in types),
        type=ours[0] if ours and not kind else None,
        members=tuple(IRI(one) for head in of.objects(iri, OWL.oneOf) for one in of.items(head)),
    )


def _list_classes(of: Document, subject: IRI, predicate: IRI) -> tuple[IRI, ...]:
    """List the classes that a term names; for a union, its members."""
    classes: list[IRI] = []
    for value in of.objects(subject, predicate):
        union = [one for head in of.objects(value, OWL.unionOf) for one in of.items(head)]
        classes += [IRI(one) for one in union] if union else [IRI(value)]
    return tuple(classes)


def _read_shape(name: str, of: Document) -> Shape:
    iri = MEM[name]
    targets = [f"every {short(one)}" for one in of.objects(iri, SH.targetClass)]
    targets += [f"what has {short(one)}" for one in of.objects(iri, SH.targetSubjectsOf)]
    targets += [f"what {short(one)} points at" for one in of.objects(iri, SH.targetObjectsOf)]
    rules = [_read_rule(one, of) for one in of.objects(iri, SH.property)]
    rules += [Rule(path="", count="", message=message) for message in of.objects(iri, SH.message)]
    return Shape(
        iri=iri,
        label=of.one(iri, RDFS.label),
        targets=tuple(targets),
        rules=tuple(sorted(rules, key=lambda rule: (rule.path, rule.message))),
    )


def _read_rule(node: str, of: Document) -> Rule:
    path = of.one(node, SH.path)
    least, most = of.one(node, SH.minCount), of.one(node, SH.maxCount)
    counted = (int(least or 0), int(most) if most else None)
    return Rule(
        path=_write_path(path, of),
        count=_CARDINALITIES.get(counted, f"from {counted[0]} to {counted[1]}"),
        message=of.one(node, SH.message),
    )


def _write_path(node: str, of: Document) -> str:
    """Write a path as SPARQL does."""
    if isinstance(node, IRI):
        return short(node)
    if inverse := of.one(node, SH.inversePath):
        return f"^{_write_path(inverse, of)}"
    if either := of.one(node, SH.alternativePath):
        return f"({'|'.join(_write_path(one, of) for one in of.items(either))})"
    return "/".join(_write_path(one, of) for one in of.items(node))


def short(iri: str) -> str:
    """
    Shorten an IRI by its prefix, if it has one.

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


_DCTERMS = Namespace("http://purl.org/dc/terms/")

NOTES: Mapping[str, tuple[str, ...]] = {
    "Addresses": (
        "A running service serves the vocabulary at `/ontology`, without a token, to anyone who can reach the port: it is public "
        "text and contains nothing of a memory. `/ontology` stands for `http://purl.org/memento/`, and the rest of an IRI with "
        "that prefix follows it: `/ontology/validAt`, `/ontology/alignment`.",
        "The header `Accept`, with its quality values, selects the format: `text/html` is a page; `text/turtle` (the "
        "default), `application/ld+json`, `application/rdf+xml` and `application/n-triples` are the ontology. `?format=` with "
        "`html`, `ttl`, `jsonld`, `rdf` or `nt` overrides the header. For any other format the service answers 406 with this list. "
        "Every response has `Vary: Accept` and an `ETag`.",
        "A term such as `/ontology/Memory` redirects (303): a browser to its section of the page, a program to an RDF document "
        "with its description. The other documents are `/ontology/alignment`, `/ontology/labels`, "
        "`/ontology/shapes` and `/ontology/values`. `/ontology/{version}`, the target of the `owl:versionIRI`, is the version of "
        "the running service; for any other version the service answers 404 and names the version that it has.",
        "`curl localhost:6366/ontology > memento.ttl` saves the ontology; `memento show ontology context` prints the context of "
        "JSON-LD. "
        "`memento export memory.ttl` writes Turtle with those prefixes of this page that the memory uses.",
    ),
    "Within OWL 2 DL": (
        "`memento.ttl`, with `alignment.ttl`, which it imports, is within OWL 2 DL. `tests/ontology/test_dl.py` "
        "checks declarations, names used as two kinds of property, datatypes, reserved names, which properties may have "
        "cardinality restrictions, and the order of property chains. Terms of other vocabularies are declared, not imported, so "
        "that nothing is fetched. `ontology/catalog-v001.xml` tells an editor such as Protégé where to find the import.",
        "Two things are outside OWL 2 DL, each on purpose. `labels.ttl` states that `mem:name` is a subproperty of `rdfs:label`, "
        "and `mem:alias` of `skos:altLabel`. OWL separates data properties from annotations, but RDFS viewers need this to show "
        "names; no other document imports it. "
        "`shapes.ttl` and `values.ttl` are SHACL.",
        "`mem:asOf` is a property and, in a `SERVICE`, an individual. OWL 2 DL allows one name for both.",
    ),
    "Time": (
        "OWL-Time models a date with an interval or an instant, where Memento has one literal on the memory. The alignment states "
        "that a memory has a `time:hasTime` that is a `time:Interval`, and that everything with `mem:at` has one that is a "
        "`time:Instant`. OWL cannot express that the interval begins at `mem:validAt` and ends before `mem:invalidAt`, so the "
        "alignment only has SKOS matches for that. `queries/library/owl_time.rq` returns the intervals and instants of memories.",
    ),
}
"""Notes on the vocabulary as a whole: paragraphs, with code between backticks."""


def write_page() -> str:
    """Write the page `docs/ontology.md`."""
    headings = dict.fromkeys(term.heading for term in load_terms())
    lines = [
        "# The ontology",
        "",
        "Made by `make docs` from `ontology/memento.ttl`, `ontology/alignment.ttl` and `ontology/shapes.ttl`.",
        "",
        f"{describe_ontology(_DCTERMS.description)} Namespace `{MEM.base}`, version {describe_ontology(OWL.versionInfo)}, "
        f"{describe_ontology(_DCTERMS.license)}.",
        "",
        describe_ontology(RDFS.comment),
        "",
        "Memento writes to named graphs: `urn:memento:graph:{tenant}:{namespace}` has the memories of a namespace,",
        "`urn:memento:self:{tenant}` the user, `urn:memento:provenance:{tenant}` the runs that turned notes into memories, and",
        "`urn:memento:data:{tenant}:{name}` any RDF that the user adds. The vocabulary itself is in `urn:memento:ontology`.",
        "JSON-LD uses the local names of the terms: see `ontology/context.jsonld`, or `/context.jsonld`.",
        "",
        "| prefix | namespace |",
        "| --- | --- |",
        *(f"| `{prefix}:` | `{base}` |" for prefix, base in PREFIXES.items()),
        "",
        *(f"- [{heading}](#{_anchor_of(heading)})" for heading in (*NOTES, *headings, _SHAPES)),
        *(line for heading, texts in NOTES.items() for line in ("", f"## {heading}", *_separate(texts))),
        *(line for heading in headings for line in _write_section(heading)),
        "",
        f"## {_SHAPES}",
        "",
        "The shapes define in SHACL what valid data looks like. Everything that a model writes and everything that is imported is",
        "validated against all of them. `memento care check` validates the whole graph.",
        *(line for shape in load_shapes() for line in _write_shape(shape)),
    ]
    return "\n".join(lines) + "\n"


_SHAPES = "Shapes"


def _separate(texts: Sequence[str]) -> Iterator[str]:
    """Yield paragraphs, each after an empty line."""
    for text in texts:
        yield from ("", text)


def _write_section(heading: str) -> Iterator[str]:
    yield from ("", f"## {heading}")
    for term in load_terms():
        if term.heading == heading:
            yield from _write_term(term)


def _write_term(term: Term) -> Iterator[str]:
    yield from ("", f"### {_heading_of(term)}", "", f"*{_describe_kind(term)}.* {term.comment}")
    facts = []
    if term.domain:
        facts.append(f"of {_link_terms(term.domain)}")
    if term.range:
        facts.append(f"holds {_link_terms(term.range)}")
    if term.parents:
        facts.append(f"a kind of {_link_terms(term.parents)}")
    if term.inverses:
        facts.append(f"the other way round {_link_terms(term.inverses)}")
    if term.members:
        facts.append(f"one of {_link_terms(term.members)}")
    own = set(term.parents)
    facts += [f"{short(how)} `{short(to)}`" for how, to in load_alignments().get(term.iri, ()) if to not in own]
    if facts:
        yield from ("", *(f"- {fact}" for fact in facts))


def _describe_kind(term: Term) -> str:
    if term.type:
        return f"{_link_terms((term.type,))}"
    return ", ".join((f"{term.kind} `mem:{term.name}`", *term.traits))


def _write_shape(shape: Shape) -> Iterator[str]:
    yield from (
        "",
        f"### {shape.iri.removeprefix(MEM.base)}",
        "",
        f"*{shape.label}.* For {', '.join(shape.targets)}.",
        "",
    )
    for rule in shape.rules:
        head = f"`{rule.path}`, {rule.count}: " if rule.path else ""
        yield f"- {head}{rule.message}"


def _link_terms(iris: tuple[IRI, ...]) -> str:
    """Link terms of this vocabulary to their descriptions."""
    known = {term.iri: term for term in load_terms()}
    return ", ".join(
        f"[{known[iri].name}](#{_anchor_of(_heading_of(known[iri]))})" if iri in known else f"`{short(iri)}`"
        for iri in iris
    )


def _heading_of(term: Term) -> str:
    """Return the anchor text of a term: `mem:State` and `mem:state` must lead to different places."""
    return f"Class {term.name}" if term.kind == "class" else term.name


def _anchor_of(heading: str) -> str:
    """
    Return the anchor that Markdown viewers give a heading.

    >>> _anchor_of("Vectors, in exports")
    'vectors-in-exports'
    """
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c == "-")


_OTHERS: dict[str, IRI | dict[str, IRI | str]] = {
    "altLabel": SKOS.altLabel,
    "wasAttributedTo": {"@id": PROV.wasAttributedTo, "@type": "@id"},
    "used": {"@id": PROV.used, "@type": "@id"},
    "generated": {"@id": PROV.generated, "@type": "@id"},
    "wasAssociatedWith": {"@id": PROV.wasAssociatedWith, "@type": "@id"},
    "startedAtTime": {"@id": PROV.startedAtTime, "@type": XSD.dateTime},
    "endedAtTime": {"@id": PROV.endedAtTime, "@type": XSD.dateTime},
}
"""The terms of other vocabularies that Memento writes."""


def build_context() -> dict[str, Any]:
    """Map each term to its definition, in the order of the ontology, with other vocabularies last."""
    return {"@version": 1.1, **{term.name: _define_term(term) for term in load_terms()}, **_OTHERS}


def write_context() -> str:
    """Write the file `ontology/context.jsonld`."""
    lines = [f"    {json.dumps(name)}: {json.dumps(what)}" for name, what in build_context().items()]
    return '{\n  "@context": {\n' + ",\n".join(lines) + "\n  }\n}\n"


def _define_term(term: Term) -> IRI | dict[str, IRI | str]:
    match term.kind:
        case "object property":
            return {"@id": term.iri, "@type": "@id"}
        case "datatype property" if term.range and term.range != (XSD.string,):
            return {"@id": term.iri, "@type": term.range[0]}
        case _:
            return term.iri
