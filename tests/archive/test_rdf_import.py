"""What goes out comes in again: the same statements, searched for as before, all or nothing, and only where they belong."""

from __future__ import annotations

import gzip
import io
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import OFFLINE
from memento import assets
from memento.access import OWNER, Access
from memento.archive.exchange import ImportDocument, export_document, prepare_import, write_import
from memento.backends import Backends
from memento.datadir import DataFolder
from memento.errors import EmbeddingError, Forbidden, InputError, NotAcceptable, ShapeViolation, TooLong
from memento.graph import mapping
from memento.graph.documents import form_called, rewrite
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph
from memento.graph.ranges import Aside
from memento.graph.snapshot import Snapshots
from memento.iris import IRI, MEM, mint
from memento.model import Agent, Change, Consolidation, Entity, Memory, Merged, Note, NoteRow, Quad, Scope, User
from memento.ports import Vectors
from memento.python import Memento, open_memento
from memento.search.embedders import Cached, Trigram
from memento.search.indexes import Indexes
from memento.search.nodes import content_hash
from memento.search.vectors import VectorFile

FORMS = ["trig", "nquads", "jsonld"]
SCOPE = Scope()
DATA = ox.NamedNode("urn:memento:data:local:company")


def parts_in_memory(folder: Path) -> Backends:
    graph, embedder = Oxigraph(), Cached(Trigram(), None)
    home = DataFolder(folder / "unused")
    indexes = Indexes(graph, embedder, VectorFile(None, embedder.fingerprint))
    return Backends(graph, embedder, indexes, home, Snapshots(graph, home.snapshots), Inferences(graph), Aside(graph))


def everything(parts: Backends) -> set[ox.Quad]:
    """Every quad but those of the ontology and of the audit."""
    names = [
        name for name in parts.graph.graphs() if not name.startswith(("urn:memento:ontology", "urn:memento:audit"))
    ]
    return {quad for name in names for quad in parts.graph.match(graph=name)}


def exported(parts: Backends, form: str, *, vectors: bool = False, only: str | None = None) -> bytes:
    found = export_document(form_called(form), SCOPE, OWNER, parts, only=only, vectors=vectors, audit=False)
    return b"".join(found.pieces)


def as_lines(data: bytes, form: str) -> bytes:
    """A document as a worker rewrites it."""
    with TemporaryDirectory() as folder:
        path, target = Path(folder) / "it", Path(folder) / "lines"
        path.write_bytes(data)
        rewrite(path, form_called(form), "it", target, 10_000_000)
        return target.read_bytes()


def taken(
    data: bytes, form: str, parts: Backends, scope: Scope = SCOPE, *, check: bool = True, only: str | None = None
) -> Merged:
    arriving = ImportDocument(lines=io.BytesIO(as_lines(data, form)), name="it", check=check, only=only)
    return write_import(prepare_import(arriving, scope, OWNER, parts, None), scope, parts, "owner")


nasty = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)
instants = st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1)).map(
    lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000, tzinfo=UTC)
)
tags = st.sampled_from(["en", "de-ch", "zh-hans"])


@st.composite
def worlds(draw: st.DrawFn) -> list[ox.Quad]:
    """Some notes with what came of them, who they are about, who made it, and RDF of the user's own."""
    graph, found = SCOPE.graph, list[Quad]()
    agent = Agent(iri=IRI("urn:memento:agent:rules"), name="rules", kind="rules")
    user = User(iri=SCOPE.user, name=draw(st.none() | nasty), description=draw(st.just("") | nasty))
    found += [*mapping.quads(user, SCOPE.self_graph), *mapping.quads(agent, SCOPE.provenance)]
    for _ in range(draw(st.integers(1, 3))):
        entity = Entity(iri=mint("entity"), name=draw(nasty), kind="Concept", aliases=(draw(nasty),))
        note = Note(iri=mint("note"), content=draw(nasty), at=draw(instants), mentions=(entity.iri,))
        at, content = draw(instants), draw(nasty)
        memory = Memory(
            iri=mint("memory"),
            content=content,
            about=(entity.iri, user.iri),
            extracted_from=note.iri,
            valid_at=at,
            invalid_at=draw(st.none() | st.just(at) | st.just(at + timedelta(days=366))),
            created_at=draw(instants),
            content_hash=content_hash(content),
        )
        run = Consolidation(
            iri=mint("consolidation"), note=note.iri, at=note.at, state="done", agent=agent.iri, generated=(memory.iri,)
        )
        for node in (entity, note, memory):
            found += mapping.quads(node, graph)
        found += [*mapping.quads(run, SCOPE.provenance), mapping.attribute_note(note.iri, user.iri, graph)]
    store = Oxigraph()
    store.apply(Change(tuple(found)))
    quads = [quad for name in store.graphs() for quad in store.match(graph=name)]
    label = ox.Quad(
        ox.NamedNode(entity.iri),
        ox.NamedNode("http://www.w3.org/2004/02/skos/core#altLabel"),
        ox.Literal(draw(nasty), language=draw(tags)),
        ox.NamedNode(graph),
    )
    blank = ox.BlankNode("b1")
    about = ox.Quad(ox.NamedNode(entity.iri), ox.NamedNode("urn:own:at"), blank, DATA)
    own = ox.Quad(blank, ox.NamedNode("urn:own:says"), ox.Literal(draw(nasty), language=draw(tags)), DATA)
    return [*quads, label, about, own]


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(world=worlds(), form=st.sampled_from(FORMS))
def test_an_export_is_imported_into_an_empty_store_and_exported_the_same(
    world: list[ox.Quad], form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("round")
    here, there, again = (parts_in_memory(folder / name) for name in ("here", "there", "again"))
    here.graph.extend(world, [])
    first = exported(here, form)
    merged = taken(first, form, there)
    taken(exported(there, form), form, again, check=False)

    assert everything(there) == everything(again) == set(world)
    assert merged.added == merged.statements == len(set(world))
    assert len(there.indexes.nodes) == merged.embedded > 0
    assert taken(first, form, there).added == 0
    assert everything(there) == set(world)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a history, in two namespaces."""
    made = tmp_path_factory.mktemp("told") / "home"
    with open_memento(made, configured=OFFLINE) as opened:
        opened.note("My name is Danny. I work at Google.", at="2024-01-08")  # of which one claim is over
        opened.note("I like tea.", at="2024-02-08")
        opened.note("I work at Microsoft.", at="2025-03-03")
        turn = NoteRow(content="I paint.", speaker="Mel", session="talk", position=0, title="Tuesday")
        opened.intake.import_notes([turn], consolidate=False)
        opened.note("My boss at Microsoft is Ana Silva.", namespace="work")
    return made


@pytest.fixture
def told(folder: Path, tmp_path: Path) -> Iterator[Memento]:
    """A copy of it, opened."""
    shutil.copytree(folder, tmp_path / "told")
    opened = open_memento(tmp_path / "told", configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        yield opened


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Memento]:
    opened = open_memento(tmp_path / "empty", configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        yield opened


@pytest.mark.parametrize("name", ["all.trig", "all.nq", "all.jsonld", "all.nq.gz", "all.ttl", "all.nt"])
def test_a_file_brings_a_memory_into_another_folder_whole(
    name: str, told: Memento, empty: Memento, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    sent = told.export(tmp_path / name, progress=lambda done, total: seen.append((done, total)))
    merged = empty.intake.import_rdf(tmp_path / name)

    assert seen[-1] == (sent.statements, sent.statements)
    assert merged.added == merged.statements == sent.statements
    assert everything(empty.service.stores) == everything(told.service.stores)
    assert empty.admin.check() == ()
    assert empty.recall("Where do I work?").memories[0] == told.recall("Where do I work?").memories[0]
    assert empty.timeline("me") == told.timeline("me")
    assert empty.review.sources(empty.list()[0].iri) == told.review.sources(empty.list()[0].iri)
    assert not list(tmp_path.glob("*.part"))


def test_vectors_of_the_same_embedder_are_taken_and_others_made_anew(
    told: Memento, empty: Memento, tmp_path: Path
) -> None:
    told.export(tmp_path / "all.trig", vectors=True)
    text = (tmp_path / "all.trig").read_text(encoding="utf-8")
    merged = empty.intake.import_rdf(tmp_path / "all.trig")

    nodes = len(told.service.stores.indexes.nodes)
    assert (merged.vectors, merged.embedded) == (nodes, 0)
    assert everything(empty.service.stores) == everything(told.service.stores), "vectors stay out of the graph"
    assert empty.recall("Where do I work?").memories == told.recall("Where do I work?").memories

    other = text.replace(told.status().embedder, "another-embedder-768")
    assert other != text
    with open_memento(tmp_path / "other", configured=OFFLINE) as fresh:
        (tmp_path / "other.trig").write_text(other, encoding="utf-8")
        merged = fresh.intake.import_rdf(tmp_path / "other.trig")
        assert (merged.vectors, merged.embedded) == (0, nodes)
        assert fresh.recall("Where do I work?").memories == told.recall("Where do I work?").memories


def test_a_vector_of_another_text_or_of_no_numbers_is_not_taken(told: Memento, empty: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "all.nq", vectors=True)
    lines = (tmp_path / "all.nq").read_text(encoding="utf-8").splitlines(keepends=True)
    hashes = [line for line in lines if str(MEM.embeddedHash) in line]
    vectors = [line for line in lines if str(MEM.embedding) in line]
    mended = {hashes[0]: hashes[0].replace('"', '"00', 1), vectors[1]: vectors[1].replace('"', '"!', 1)}
    (tmp_path / "all.nq").write_text("".join(mended.get(line, line) for line in lines), encoding="utf-8")
    merged = empty.intake.import_rdf(tmp_path / "all.nq")

    assert merged.vectors in (len(hashes) - 2, len(hashes) - 1)
    assert merged.vectors + merged.embedded == len(hashes)
    assert empty.admin.check() == ()


def test_one_namespace_goes_out_with_what_it_needs_and_in_elsewhere(
    told: Memento, empty: Memento, tmp_path: Path
) -> None:
    told.export(tmp_path / "work.trig", namespace="work")
    text = (tmp_path / "work.trig").read_text(encoding="utf-8")
    merged = empty.intake.import_rdf(tmp_path / "work.trig", namespace="hobby")

    assert "Ana Silva" in text and "Mel" not in text and "urn:memento:run" not in text
    assert {str(graph).rsplit(":", 2)[-2] for graph in merged.graphs} == {"local", "self", "provenance"}
    assert [one.content for one in empty.list(namespace="hobby")] == [
        one.content for one in told.list(namespace="work")
    ][:1]
    assert empty.list() == ()
    assert empty.admin.check() == ()


def test_a_copy_within_a_store_has_names_of_its_own(told: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "main.trig", namespace="main")
    before = told.list()
    first = told.intake.import_rdf(tmp_path / "main.trig", namespace="copy")
    again = told.intake.import_rdf(tmp_path / "main.trig", namespace="copy")

    copies = [one for one in told.list(namespace="copy") if one not in before]
    assert told.list() == before
    assert [one.content for one in copies] == [one.content for one in before], "in the order of their age"
    assert not {one.iri for one in copies} & {one.iri for one in before}
    assert (first.memories, again.added) == (len(told.list(past=True)), 0)
    assert told.admin.check() == ()


def test_a_document_cannot_speak_for_the_user_of_another_tenant(told: Memento, tmp_path: Path) -> None:
    told.with_access(Access(tenant="rival", right="write")).note("My name is Maria.")
    line = '<urn:memento:user:rival> a <http://purl.org/memento/User> ; <http://purl.org/memento/name> "Mallory" .'
    (tmp_path / "it.trig").write_text(f"GRAPH <{SCOPE.graph}> {{ {line} }}")
    told.intake.import_rdf(tmp_path / "it.trig", check=False)

    rival = told.with_access(Access(tenant="rival", right="read"))
    assert dict(rival.get("urn:memento:user:rival").properties)[MEM.name] == "Maria"
    assert rival.timeline("me").memories
    assert told.service.stores.indexes.name(IRI("urn:memento:user:rival")) == "Maria"


def test_another_tenant_gets_the_memories_about_its_own_user(told: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "all.trig")
    before = told.timeline("me")
    rival = told.with_access(Access(tenant="rival", right="write", name="rival"))
    rival.intake.import_rdf(tmp_path / "all.trig")

    for memento in (rival, told):
        assert [one.content for one in memento.timeline("me").memories] == [one.content for one in before.memories]
        assert memento.recall("Where do I work?").memories[0].content == "I work at Microsoft."
    assert told.timeline("me") == before
    assert rival.intake.import_rdf(tmp_path / "all.trig").added == 0
    assert told.admin.check() == ()
    theirs = [quad for quad in everything(told.service.stores) if "rival" in str(quad.graph_name)]
    assert {str(quad.graph_name)[1:-1] for quad in theirs} == {name.replace("local", "rival") for name in _graphs(told)}
    assert not [quad for quad in theirs if "local" in str(quad)]


def _graphs(memento: Memento) -> set[str]:
    return {name for name in memento.service.stores.graph.graphs() if ":local" in name}


def test_what_is_here_already_stays_and_the_rest_is_added(told: Memento, empty: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "all.trig")
    empty.note("My name is Anna.", at="2023-01-01")
    before = everything(empty.service.stores)
    merged = empty.intake.import_rdf(tmp_path / "all.trig")

    described = dict(empty.get("urn:memento:user:local").properties)
    assert described[MEM.name] == "Anna"
    assert merged.kept > 0
    assert before < everything(empty.service.stores)
    assert merged.added == len(everything(empty.service.stores)) - len(before)
    assert "My name is Anna." in {one.content for one in empty.list()}
    assert empty.admin.check() == ()


@pytest.mark.parametrize("name", ["all.trig", "all.nq", "all.jsonld"])
def test_an_export_goes_back_into_a_memory_that_was_used_since(name: str, told: Memento, tmp_path: Path) -> None:
    known = {one.content: one.iri for one in told.list()}
    first, second = known["I work at Microsoft."], known["I like tea."]
    told.living.feedback(first, helped=True)
    told.living.associate(first, second)
    told.living.evaluate('(decay! 7) (remember "The harbour lies to the south.") (recall "works") (recall "tea")')
    told.service.reinforcement.write_effects()
    told.export(tmp_path / name)
    told.living.evaluate('(decay! 7) (recall "works") (recall "harbour") (recall "tea")')
    told.service.reinforcement.write_effects()
    told.living.feedback(first, helped=False)
    told.review.mark(second, importance=0.9)
    told.living.associate(first, second)
    before = everything(told.service.stores)
    merged = told.intake.import_rdf(tmp_path / name)

    assert (merged.added, merged.memories) == (0, 0)
    assert merged.kept > 8
    assert everything(told.service.stores) == before
    assert (told.living.strength(first).access_count, told.living.strength(first).failure_count) == (2, 1)
    assert told.admin.check() == ()


def test_an_export_brings_the_numbers_of_what_was_never_used_here(
    told: Memento, empty: Memento, tmp_path: Path
) -> None:
    [first, *_] = told.list()
    told.export(tmp_path / "before.trig")
    told.living.feedback(first.iri, helped=True)
    told.export(tmp_path / "after.trig")
    empty.intake.import_rdf(tmp_path / "before.trig")
    empty.intake.import_rdf(tmp_path / "after.trig")

    assert empty.living.strength(first.iri).success_count == 1
    assert empty.admin.check() == ()


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('<urn:a> <urn:p> "x" .', "outside of any graph"),
        ('GRAPH <http://example.org/g> { <urn:a> <urn:p> "x" }', "http://example.org/g"),
        (
            "GRAPH <urn:memento:graph:a:main> { <urn:a> <urn:p> 1 } GRAPH <urn:memento:self:b> { <urn:a> <urn:p> 2 }",
            "two tenants",
        ),
        ("GRAPH <urn:memento:graph:local:main> { [] <urn:p> 2 }", "memories have IRIs"),
        ("", "has no statements"),
        ("GRAPH <urn:memento:graph:local:main> { <urn:a> a <urn:b> ", "line 1, column"),
    ],
)
def test_a_document_that_is_no_memory_is_refused_and_nothing_is_written(
    document: str, said: str, told: Memento, tmp_path: Path
) -> None:
    before = everything(told.service.stores)
    (tmp_path / "it.trig").write_text(document, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        told.intake.import_rdf(tmp_path / "it.trig")

    assert everything(told.service.stores) == before
    assert not list(told.datadir.path.glob("import-*"))


def test_what_breaks_a_shape_is_refused_whole_unless_an_admin_says_so(
    told: Memento, empty: Memento, tmp_path: Path
) -> None:
    told.export(tmp_path / "all.nq")
    text = (tmp_path / "all.nq").read_text(encoding="utf-8")
    less = "".join(line for line in text.splitlines(keepends=True) if str(MEM.validAt) not in line)
    (tmp_path / "less.nq").write_text(less, encoding="utf-8")
    with pytest.raises(ShapeViolation, match=r"less\.nq was not taken: .*exactly one mem:validAt") as refused:
        empty.intake.import_rdf(tmp_path / "less.nq")

    assert refused.value.report.count("\n") > 3
    assert everything(empty.service.stores) == set()
    assert empty.service.stores.indexes.file.read_digests() == {}
    with pytest.raises(Forbidden):
        empty.with_access(Access(right="write")).intake.import_rdf(tmp_path / "less.nq", check=False)
    assert empty.intake.import_rdf(tmp_path / "less.nq", check=False).added == less.count("\n") - 2


def test_a_changed_value_of_a_known_memory_breaks_a_shape(told: Memento, tmp_path: Path) -> None:
    [first, *_] = told.list()
    other = f'<{first.iri}> <{MEM.content}> "USER is somebody else." <{SCOPE.graph}> .\n'
    (tmp_path / "it.nq").write_text(other, encoding="utf-8")
    with pytest.raises(ShapeViolation, match="exactly one mem:content"):
        told.intake.import_rdf(tmp_path / "it.nq")


def test_an_embedder_that_fails_leaves_everything_as_it_was(
    told: Memento, empty: Memento, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.export(tmp_path / "all.trig")

    def failing(texts: object) -> Vectors:
        raise EmbeddingError("no model")

    monkeypatch.setattr(empty.service.stores.embedder, "embed", failing)
    with pytest.raises(EmbeddingError):
        empty.intake.import_rdf(tmp_path / "all.trig")

    assert everything(empty.service.stores) == set()
    assert empty.service.stores.indexes.file.read_digests() == {}


def test_what_is_of_no_memory_is_passed_over(told: Memento, tmp_path: Path) -> None:
    over = ("audit:local", "inferred:local:main", "inferred:local:work:alone", "ontology")
    lines = "".join(f'<urn:a> <urn:p> "x" <urn:memento:{name}> .\n' for name in over)
    (tmp_path / "it.nq").write_text(lines, encoding="utf-8")
    before = everything(told.service.stores)
    merged = told.intake.import_rdf(tmp_path / "it.nq")

    assert (merged.added, merged.passed_over) == (0, 4)
    assert everything(told.service.stores) == before


def test_an_audit_goes_out_for_reading_and_is_not_taken_in(told: Memento, empty: Memento, tmp_path: Path) -> None:
    audit = ox.Quad(
        ox.NamedNode("urn:x"), ox.NamedNode("urn:p"), ox.Literal("done"), ox.NamedNode("urn:memento:audit:local")
    )
    told.service.stores.graph.extend([audit], [])
    told.export(tmp_path / "without.nq")
    told.export(tmp_path / "with.nq", audit=True)

    assert b"audit" not in (tmp_path / "without.nq").read_bytes()
    assert b"audit" in (tmp_path / "with.nq").read_bytes()
    assert empty.intake.import_rdf(tmp_path / "with.nq").passed_over == 1
    with pytest.raises(Forbidden):
        told.with_access(Access(right="write")).export(tmp_path / "mine.nq", audit=True)


def test_an_import_leaves_a_line_in_the_audit_that_says_who_and_how_much(told: Memento, tmp_path: Path) -> None:
    (tmp_path / "company.ttl").write_text("<urn:a> <urn:b> 3 , 4 .")
    bringer = told.with_access(Access(right="write", name="phone"))
    for _ in range(2):
        bringer.intake.import_rdf(tmp_path / "company.ttl", data="company")
    rows, _ = told.graphs.query_bytes(
        "PREFIX mem: <http://purl.org/memento/> SELECT ?who ?added ?graph "
        "{ GRAPH <urn:memento:audit:local> { ?update a mem:Update ; mem:token ?who ; mem:added ?added ; mem:graph ?graph } }",
        accept="text/csv",
    )

    assert rows.decode().split() == ["who,added,graph", "phone,2,urn:memento:data:local:company"]
    assert told.admin.check() == ()


def test_somebodys_own_rdf_goes_into_a_graph_of_its_own(told: Memento, tmp_path: Path) -> None:
    (tmp_path / "company.ttl").write_text('<urn:c:1> <urn:c:name> "Google" ; <urn:c:at> [ <urn:c:city> "Zürich"@de ] .')
    first = told.intake.import_rdf(tmp_path / "company.ttl", data="company")
    again = told.intake.import_rdf(tmp_path / "company.ttl", data="company")
    told.export(tmp_path / "all.jsonld")

    assert (first.added, again.added) == (3, 0)
    assert first.graphs == ("urn:memento:data:local:company",)
    assert b"Z\xc3\xbcrich" in (tmp_path / "all.jsonld").read_bytes()


def test_a_token_for_some_namespaces_neither_takes_nor_gives_more(told: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "all.trig")
    (tmp_path / "company.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    told.intake.import_rdf(tmp_path / "company.ttl", data="company")
    narrow = told.with_access(Access(namespaces=("work",), right="write", name="narrow"))
    narrow.export(tmp_path / "narrow.trig")
    text = (tmp_path / "narrow.trig").read_text(encoding="utf-8")

    assert "Ana Silva" in text
    assert "urn:memento:graph:local:main" not in text and "urn:memento:data" not in text and "Mel" not in text
    with pytest.raises(Forbidden, match="for work"):
        narrow.intake.import_rdf(tmp_path / "all.trig")
    with pytest.raises(Forbidden):
        narrow.intake.import_rdf(tmp_path / "company.ttl", data="company")
    with pytest.raises(Forbidden):
        narrow.export(tmp_path / "main.trig", namespace="main")
    with pytest.raises(Forbidden):
        told.with_access(Access(right="read")).intake.import_rdf(tmp_path / "all.trig")


def test_pending_notes_are_understood_where_they_arrive(told: Memento, empty: Memento, tmp_path: Path) -> None:
    told.service.consolidator.stop(1)  # nobody understands it here
    kept = told.note("I live in Lisbon.", wait=False)
    told.export(tmp_path / "all.trig")
    empty.intake.import_rdf(tmp_path / "all.trig")
    empty.review.retry()

    assert empty.review.note_status(str(kept.note)).state == "consolidated"
    assert "I live in Lisbon." in {one.content for one in empty.list()}


def test_a_long_document_is_staged_on_disk(
    told: Memento, empty: Memento, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento.service.handlers.care._IN_MEMORY", 10)
    (empty.datadir.path / "import-left").mkdir()
    told.export(tmp_path / "all.trig")
    empty.intake.import_rdf(tmp_path / "all.trig")

    assert everything(empty.service.stores) == everything(told.service.stores)
    assert not list(empty.datadir.path.glob("import-*"))


def test_a_damaged_or_endless_packed_file_is_refused(told: Memento, tmp_path: Path) -> None:
    told.export(tmp_path / "all.nq.gz")
    data = (tmp_path / "all.nq.gz").read_bytes()
    (tmp_path / "half.nq.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"half\.nq\.gz cannot be unpacked"):
        told.intake.import_rdf(tmp_path / "half.nq.gz")

    from memento.archive.files import spool

    bomb = io.BytesIO(gzip.compress(bytes(1 << 22)))
    with pytest.raises(TooLong, match="document_bytes"), spool(bomb, "it", tmp_path, is_packed=True, most=1 << 20):
        pass


def test_a_format_that_holds_no_graphs_is_refused(told: Memento, tmp_path: Path) -> None:
    with pytest.raises(NotAcceptable):
        told.export(tmp_path / "new.rdf")
    with pytest.raises(InputError, match="cannot be written"):
        told.export(tmp_path / "nowhere" / "all.trig")

    assert list(tmp_path.glob("*.rdf")) == []


def test_an_export_replaces_a_file_only_if_it_is_told_to(told: Memento, tmp_path: Path) -> None:
    file = tmp_path / "all.nq"
    file.write_text("mine")
    with pytest.raises(InputError, match=r"overwrite is needed to replace .*all\.nq, which exists already"):
        told.export(file)
    assert file.read_text() == "mine"

    told.export(file, overwrite=True)
    assert "mem" in file.read_text() and "mine" not in file.read_text()
    assert [one.name for one in tmp_path.glob("all*")] == ["all.nq"]


def test_turtle_brings_one_namespace_with_what_it_needs_and_leaves_own_rdf_out(
    told: Memento, empty: Memento, tmp_path: Path
) -> None:
    told.graphs.update("INSERT DATA { GRAPH <urn:memento:data:local:mine> { <urn:a> <urn:b> 1 } }")
    told.export(tmp_path / "work.ttl", namespace="work")
    told.export(tmp_path / "work.trig", namespace="work")
    told.export(tmp_path / "all.ttl")

    empty.intake.import_rdf(tmp_path / "work.ttl")
    there = everything(empty.service.stores)
    assert empty.intake.import_rdf(tmp_path / "work.trig").added == 0
    assert everything(empty.service.stores) == there

    empty.intake.import_rdf(tmp_path / "all.ttl")
    missing = everything(told.service.stores) - everything(empty.service.stores)
    assert {str(quad.subject) for quad in missing} == {"<urn:a>"}
    assert empty.admin.check() == ()


def test_the_sample_world_is_imported_as_it_stands(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "world.trig").write_bytes(assets.read("ontology/world.trig"))
    merged = memento.intake.import_rdf(tmp_path / "world.trig")

    assert merged.added == merged.statements
    assert memento.admin.check() == ()
    assert "Microsoft" in memento.recall("Where do I work?").memories[0].content
