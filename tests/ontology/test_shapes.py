"""Data that conforms, and one document for each rule that can be broken."""

from pathlib import Path

import pytest
import rdflib
from rdflib.namespace import RDF, SH

from memento.assets import folder
from memento.errors import GraphError
from memento.graph.shapes import Violation, violations
from memento.iris import IRI, MEM, TYPE
from memento.model import Quad
from trig import parse_trig

HERE = Path(__file__).parent
VALID = sorted((HERE / "valid").glob("*.ttl"))
INVALID = sorted((HERE / "invalid").glob("*.ttl"))
CLAIM = "# violates "
TARGETS = (SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf)
WHOLE = (SH.closed, SH["not"], SH["or"])


def quads_of(path: Path) -> list[Quad]:
    return list(parse_trig(path.read_bytes()))


def iri(written: str) -> str:
    return written.strip("<>").replace("mem:", MEM.base)


def has_target(shape: rdflib.term.Node, shapes: rdflib.Graph) -> bool:
    return any(shapes.value(shape, target) for target in TARGETS)


def claimed(path: Path) -> set[tuple[str, str]]:
    """The (shape, path) pairs that the first lines name: `# violates mem:MemoryShape at mem:about`."""
    claims = [line.removeprefix(CLAIM) for line in path.read_text().splitlines() if line.startswith(CLAIM)]
    return {(iri(shape), iri(at)) for shape, _, at in (claim.partition(" at ") for claim in claims)}


@pytest.fixture(scope="module")
def shapes() -> rdflib.Graph:
    return rdflib.Graph().parse(folder("ontology") / "shapes.ttl")


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_data_conforms(path: Path) -> None:
    assert violations(quads_of(path)) == []


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_invalid_data_breaks_the_shape_it_names_and_no_other(path: Path) -> None:
    assert {(found.shape, found.path) for found in violations(quads_of(path))} == claimed(path)


def test_every_shape_with_a_target_is_broken_by_a_document(shapes: rdflib.Graph) -> None:
    targeted = {str(shape) for shape in shapes.subjects(RDF.type, SH.NodeShape) if has_target(shape, shapes)}

    assert targeted == {shape for path in INVALID for shape, _ in claimed(path)}


def test_every_constraint_says_how_to_mend_the_data(shapes: rdflib.Graph) -> None:
    whole = {s for kind in WHOLE for s in shapes.subjects(kind) if has_target(s, shapes)}
    constraints = whole | set(shapes.objects(None, SH.property))

    assert [node for node in constraints if not str(shapes.value(node, SH.message) or "").endswith(".")] == []


def test_every_shape_has_a_stable_name(shapes: rdflib.Graph) -> None:
    assert all(str(shape).startswith(MEM.base) for shape in shapes.subjects(RDF.type, SH.NodeShape))


def test_a_memory_without_provenance_is_refused() -> None:
    (found,) = violations(quads_of(HERE / "invalid" / "memory-without-provenance.ttl"))

    assert found == Violation(
        shape=MEM.MemoryShape,
        focus=IRI("urn:x:memory"),
        path=MEM.extractedFrom,
        message="Name the memory's provenance: exactly one mem:extractedFrom that points at a mem:Note in the data.",
    )


def test_a_fault_is_found_across_named_graphs() -> None:
    least = quads_of(HERE / "valid" / "least.ttl")
    scattered = [(s, p, o, IRI(f"urn:memento:graph:local:{i}")) for i, (s, p, o, _) in enumerate(least)]

    assert violations(scattered) == []


def test_several_faults_come_sorted_and_once() -> None:
    documents = ("note-without-time", "session-without-name", "entity-without-name", "tag-without-name")
    quads = [quad for name in documents for quad in quads_of(HERE / "invalid" / f"{name}.ttl")]

    found = violations(quads)

    assert [one.shape for one in found] == [MEM.EntityShape, MEM.NoteShape, MEM.SessionShape, MEM.TagShape]
    assert found == violations(reversed(quads + quads))


def test_nothing_at_all_conforms() -> None:
    assert violations([]) == []


def test_a_subclass_of_ones_own_is_held_to_the_same_shape() -> None:
    own = IRI("urn:x:Belief")
    subclass = (own, IRI("http://www.w3.org/2000/01/rdf-schema#subClassOf"), MEM.Memory, IRI("urn:x:graph"))

    found = violations([subclass, (IRI("urn:x:memory"), TYPE, own, IRI("urn:x:graph"))])

    assert {one.shape for one in found} == {MEM.MemoryShape}


def test_a_failing_validator_is_an_error_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("loop")

    monkeypatch.setattr("pyshacl.validate", failing)

    with pytest.raises(GraphError, match="loop"):
        violations([])


def test_a_validation_that_gives_up_is_an_error_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyshacl.validate", lambda *_, **__: (False, RuntimeError(), "too deep"))

    with pytest.raises(GraphError, match="too deep"):
        violations([])
