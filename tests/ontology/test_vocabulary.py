"""The ontology says of every term what it is, and has every term that the code uses."""

import ast
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from rdflib import OWL, RDF, RDFS, SH, SKOS, URIRef

import memento
from memento.assets import folder
from memento.iris import MEM
from memento.model import KINDS

DOCUMENTS = ("memento.ttl", "alignment.ttl", "labels.ttl", "shapes.ttl", "values.ttl", "world.trig")
# fmt: off
CLASSES = [
    "Note", "Turn", "Session", "Memory", "Claim", "Invalidation", "Consolidation", "Agent", "Reversal", "Update", "Anchor",
    "Entity", "User",
    "Key", "Tag", "CodeEntity", "Document", "Import",
    "Association", "KeyLink", "Relation", "Case", "Trajectory", "State", "Action", "Reward", "SubtaskRecord", "ToolRecord",
    "CaseRetrieval", "CaseUse", "Access", "Policy", "Profile", "QueryService",
]
# fmt: on

DIGESTS = {"0.1.0": "eb899b8a12de201347f63b64722bb6ea35a7e5e62e5f8a67f1253c77ab154cf6"}
"""The SHA-256 of all documents but the sample world, one after the other by name, for each version that was ever in use."""


def read(name: str) -> rdflib.Graph:
    """The union of the document's graphs."""
    triples = (quad.triple for quad in pyoxigraph.parse(path=folder("ontology") / name))
    lines = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
    return rdflib.Graph().parse(data=lines or b"", format="nt")


@pytest.fixture(scope="module")
def ontology() -> rdflib.Graph:
    return read("memento.ttl")


@pytest.fixture(scope="module")
def shapes() -> rdflib.Graph:
    return read("shapes.ttl")


def terms(graph: rdflib.Graph) -> set[URIRef]:
    """Every node of our namespace that is described here, without the ontology itself."""
    described = {s for s in graph.subjects(RDF.type) if isinstance(s, URIRef) and s.startswith(MEM.base)}
    return described - {URIRef(MEM.base)}


def properties(graph: rdflib.Graph) -> set[URIRef]:
    return {t for t in terms(graph) if {OWL.ObjectProperty, OWL.DatatypeProperty} & set(graph.objects(t, RDF.type))}


def named(graph: rdflib.Graph) -> set[URIRef]:
    """Every IRI of our namespace that occurs anywhere."""
    return {n for triple in graph for n in triple if isinstance(n, URIRef) and n.startswith(MEM.base)}


def used_in(source: str) -> set[str]:
    """The `x` of every `MEM.x` and `MEM["x"]`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="MEM"), attr=name):
                found.add(name)
            case ast.Subscript(value=ast.Name(id="MEM"), slice=ast.Constant(value=str(name))):
                found.add(name)
    return found - {"base"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_parses(name: str) -> None:
    assert len(read(name)) > 0


def test_the_ontology_says_its_title_version_and_licence(ontology: rdflib.Graph) -> None:
    said = set(ontology.predicates(URIRef(MEM.base)))
    terms = rdflib.DCTERMS

    assert {terms.title, terms.description, terms.license, terms.creator, terms.created, terms.modified} <= said
    assert {OWL.versionInfo, OWL.versionIRI, OWL.imports, rdflib.VANN.preferredNamespaceUri} <= said


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "world.trig"])
def test_every_document_has_the_version_of_the_ontology(name: str, ontology: rdflib.Graph) -> None:
    version = ontology.value(URIRef(MEM.base), OWL.versionInfo)
    [iri] = read(name).subjects(RDF.type, OWL.Ontology)
    rest = str(iri).removeprefix(MEM.base)

    assert read(name).value(iri, OWL.versionInfo) == version
    assert str(read(name).value(iri, OWL.versionIRI)) == f"{MEM.base}{version}" + (f"/{rest}" if rest else "")


def test_nobody_changes_the_ontology_without_its_version(ontology: rdflib.Graph) -> None:
    """Nodes of one store go by the version alone: which of them may write, and whose ontology is there."""
    version = str(ontology.value(URIRef(MEM.base), OWL.versionInfo))
    files = sorted(folder("ontology").glob("*.ttl"))
    digest = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()

    assert DIGESTS.get(version) == digest, (
        f"ontology/*.ttl has changed: raise owl:versionInfo and owl:versionIRI in all of them (the second number where terms were "
        f"only added, the first where older programs cannot read what is written), and record {digest} for it. A version that was "
        "never released may keep its number"
    )


def test_no_property_is_described_twice() -> None:
    """Two domains of one property would mean that all that has it is both."""
    names = re.findall(r"^(mem:\w+) a ", (folder("ontology") / "memento.ttl").read_text(encoding="utf-8"), flags=re.M)

    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_every_class_of_the_design_is_there(ontology: rdflib.Graph) -> None:
    assert [name for name in CLASSES if (URIRef(MEM[name]), RDF.type, OWL.Class) not in ontology] == []


def test_the_kinds_of_the_scheme_are_the_kinds_of_the_model(ontology: rdflib.Graph) -> None:
    scheme = URIRef(MEM.EntityKinds)

    assert set(ontology.subjects(SKOS.inScheme, scheme)) == {URIRef(MEM[kind]) for kind in KINDS}
    assert set(ontology.objects(scheme, SKOS.hasTopConcept)) == {URIRef(MEM[kind]) for kind in KINDS}


def test_every_term_has_a_label_and_says_where_it_is_defined(ontology: rdflib.Graph) -> None:
    for term in terms(ontology):
        assert len(list(ontology.objects(term, RDFS.label))) == 1, term
        assert ontology.value(term, RDFS.isDefinedBy) == URIRef(MEM.base), term


def test_every_term_is_explained_by_a_sentence_of_its_own(ontology: rdflib.Graph) -> None:
    comments = [str(ontology.value(term, RDFS.comment) or term) for term in terms(ontology)]

    assert [text for text in comments if not (text.endswith((".", '"')) and len(text.split()) >= 5)] == []
    assert len(set(comments)) == len(comments)


def test_every_property_has_a_domain_and_a_range_or_a_shape(ontology: rdflib.Graph, shapes: rdflib.Graph) -> None:
    shaped = set(shapes.objects(None, SH.path))
    bare = {
        term
        for term in properties(ontology) - shaped
        if not (ontology.value(term, RDFS.domain) and ontology.value(term, RDFS.range))
    }

    assert bare == set()


def test_every_class_is_used_by_a_property_a_shape_or_another_class(
    ontology: rdflib.Graph, shapes: rdflib.Graph
) -> None:
    used = set(ontology.objects(None, None)) | set(shapes.objects())

    assert [name for name in CLASSES if URIRef(MEM[name]) not in used] == []


@pytest.mark.parametrize("name", ["alignment.ttl", "labels.ttl", "shapes.ttl", "values.ttl", "world.trig"])
def test_no_document_uses_a_term_that_does_not_exist(name: str, ontology: rdflib.Graph) -> None:
    document = read(name)
    documents = tuple(f"/{one.partition('.')[0]}" for one in DOCUMENTS)
    own = {term for term in named(document) if term.endswith(("Shape", *documents))}

    assert named(document) - own - {URIRef(MEM.base)} <= terms(ontology)


def test_code_uses_only_terms_that_exist(ontology: rdflib.Graph) -> None:
    known = {str(term) for term in terms(ontology)}
    sources = Path(memento.__file__).parent.rglob("*.py")

    unknown = {path.name: {name for name in used_in(path.read_text()) if MEM[name] not in known} for path in sources}

    assert {name: missing for name, missing in unknown.items() if missing} == {}


def test_a_term_in_code_is_found_however_it_is_written() -> None:
    assert used_in('MEM.about, MEM["subject"], MEM[kind], PROV.used, MEM.base') == {"about", "subject"}
