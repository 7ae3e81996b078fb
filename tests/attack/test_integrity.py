"""What was said stays as it was said, and who may see some of it sees nothing else: at SPARQL, the graph store and imports."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.errors import Conflict, Forbidden, InputError, NotFound
from memento.iris import IRI, MEM, PROV, graph_iri, self_iri
from memento.model import Merged, NoteRow, Quad
from memento.operations.care import Export
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento, open_memento
from memento.service.handlers.care import export_pieces, take_in

MAIN, WORK = graph_iri("local", "main"), graph_iri("local", "work")
PROVENANCE = "urn:memento:provenance:local"
P = f"PREFIX mem: <{MEM.base}> PREFIX prov: <{PROV.base}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
SECRET = "Kumquat"


def quads(memento: Memento, *, audit: bool = False) -> set[Quad]:
    graph = memento.service.stores.graph
    names = [name for name in graph.graphs() if audit or not name.startswith("urn:memento:audit:")]
    return {quad for name in names for quad in graph.quads(name)}


def take(memento: Memento, document: str, **options: Any) -> Merged:
    prefixes = P.replace("PREFIX", "@prefix").replace("> ", "> . ")
    source = io.BytesIO(f"{prefixes}{document}".encode())
    return take_in(source, "it", "trig", memento.context, **{"namespace": None, **options})


def exported(memento: Memento, **options: Any) -> bytes:
    return b"".join(export_pieces(Export("-", "nquads", **options), memento.context).pieces)


@pytest.fixture
def noted(memento: Memento) -> Memento:
    memento.intake.import_notes([NoteRow(content="I paint.", speaker="Mel", session="talk", position=0)])
    memento.note("I work at Google.")
    memento.note("I work at Microsoft now.")
    return memento


def change(predicate: str, other: str) -> str:
    return (
        f"DELETE {{ ?n {predicate} ?old }} INSERT {{ ?n {predicate} {other} }} "
        f"WHERE {{ ?n a ?type ; {predicate} ?old . FILTER (?type IN (mem:Note, mem:Turn, mem:Memory, mem:Entity)) }}"
    )


REWRITES = {
    "the words of a note": change("mem:content", "'I never said so.'").replace(", mem:Memory", ""),
    "when it was said": change("mem:at", "'2001-01-01T00:00:00Z'^^xsd:dateTime"),
    "who said it": "INSERT { ?n mem:saidBy ?e } WHERE { ?n a mem:Note . ?e a mem:Entity ; mem:name 'Google' "
    "FILTER NOT EXISTS { ?n mem:saidBy ?s } FILTER EXISTS { ?n mem:mentions ?e } }",
    "where in a talk": change("mem:position", "7"),
    "whom it is attributed to": change("prov:wasAttributedTo", "<urn:x:somebody>"),
    "that it came from a talk": "DELETE { ?n mem:follows ?f ; mem:session ?s ; mem:position ?p ; a mem:Turn } "
    "INSERT { ?n a mem:Note } "
    "WHERE { ?n mem:session ?s ; mem:position ?p OPTIONAL { ?n mem:follows ?f } }",
    "what a memory came of": "DELETE { ?m mem:extractedFrom ?n } INSERT { ?m mem:extractedFrom ?o } "
    "WHERE { ?m a mem:Memory ; mem:extractedFrom ?n . ?o a mem:Note FILTER (?n != ?o) "
    "FILTER NOT EXISTS { ?x a mem:Note FILTER (STR(?x) < STR(?o) && ?x != ?n) } }",
    "when it was believed": "DELETE { ?m mem:createdAt ?t } INSERT { ?m mem:createdAt '2001-01-01T00:00:00Z'^^xsd:dateTime } "
    "WHERE { ?m a mem:Memory ; mem:createdAt ?t }",
    "that everybody knows it": change("mem:isWellKnown", "?flip").replace(
        "?old . FILTER", "?old . BIND (!?old AS ?flip) FILTER"
    ),
    "a note with all that came of it": "DELETE { ?s ?p ?o } WHERE { ?n mem:content 'I work at Microsoft now.' ; a mem:Note . "
    "?s ?p ?o ; (mem:extractedFrom|mem:statedBy|mem:to|mem:invalidator|mem:follows)* ?n }",
    "who understood it": "INSERT { <urn:x:run> a mem:Consolidation ; mem:at ?t ; mem:state 'done' ; prov:used ?n ; "
    "prov:generated ?m ; prov:wasAssociatedWith <urn:x:me> . <urn:x:me> a mem:Agent ; mem:name 'me' ; mem:agentKind 'model' } "
    "WHERE { ?m a mem:Memory ; mem:createdAt ?t ; mem:extractedFrom ?n . ?n mem:content 'I work at Google.' }",
}


@pytest.mark.parametrize("name", REWRITES)
def test_an_update_that_would_change_what_was_said_is_refused_whole(name: str, noted: Memento) -> None:
    before = quads(noted, audit=True)
    with pytest.raises(InputError) as refused:
        noted.graphs.update(
            f"{P} {REWRITES[name]} ; INSERT DATA {{ GRAPH <urn:memento:data:local:x> {{ <urn:a> <urn:b> 1 }} }}"
        )

    assert 400 <= refused.value.status < 500
    assert quads(noted, audit=True) == before


def test_a_graph_that_is_put_again_with_other_words_is_refused(noted: Memento) -> None:
    body, _ = noted.graphs.get(MAIN, accept="application/n-triples")
    before = quads(noted, audit=True)
    for other in (
        body.replace(b'"I paint."', b'"I sing."'),
        b"\n".join(line for line in body.splitlines() if b"I paint" not in line),
    ):
        with pytest.raises(InputError):
            noted.graphs.put(other, MAIN, media="application/n-triples")
    with pytest.raises(Forbidden, match="alone"):
        noted.graphs.post(f"<urn:x:run> <{PROV.generated}> <urn:x:m> .".encode(), MAIN)
    assert noted.graphs.put(body, MAIN, media="application/n-triples").added == 0
    assert quads(noted, audit=True) == before


def test_annotations_a_graph_that_goes_whole_and_notes_of_ones_own_are_taken(noted: Memento) -> None:
    noted.graphs.update(f"{P} INSERT {{ ?n <urn:x:mood> 'glad' }} WHERE {{ ?n a mem:Note }}")
    noted.graphs.update(
        f"{P} DELETE {{ ?n <urn:x:mood> ?m }} INSERT {{ ?n <urn:x:mood> 'sad' }} WHERE {{ ?n <urn:x:mood> ?m }}"
    )
    noted.graphs.update(
        f"{P} DELETE {{ ?m mem:importance ?i }} INSERT {{ ?m mem:importance .9 }} "
        "WHERE { ?m a mem:Memory OPTIONAL { ?m mem:importance ?i } }"
    )
    noted.graphs.update(f"DROP GRAPH <{MAIN}>")

    assert not any(quad[3] == MAIN for quad in quads(noted))
    assert noted.admin.check() == ()


def facts(memento: Memento) -> tuple[IRI, IRI, IRI, IRI]:
    """A note, its memory, the run, the agent."""
    said = {(quad[1], quad[0]): quad[2] for quad in quads(memento)}
    said_so = {quad[0] for quad in quads(memento) if quad[2] == "I work at Google." and quad[1] == MEM.content}
    (note,) = (iri for iri in said_so if ":note:" in iri)
    (run,) = (quad[0] for quad in quads(memento) if quad[1] == PROV.used and quad[2] == note)
    return note, IRI(str(said[PROV.generated, run])), run, IRI(str(said[PROV.wasAssociatedWith, run]))


def forged(memento: Memento) -> dict[str, str]:
    note, memory, run, agent = facts(memento)
    made = (
        f"<urn:x:run> a mem:Consolidation ; mem:at '2026-01-01T00:00:00Z'^^xsd:dateTime ; mem:state 'done' ; "
        f"prov:used <{note}> ; prov:generated <{memory}> ; prov:wasAssociatedWith <urn:x:me> . "
        "<urn:x:me> a mem:Agent ; mem:name 'me' ; mem:agentKind 'model' ."
    )
    return {
        "a note's words": f"<{MAIN}> {{ <{note}> mem:content 'I never said so.' }}",
        "a note's speaker": f"<{MAIN}> {{ <{note}> mem:saidBy <urn:x:ada> . <urn:x:ada> a mem:Entity ; mem:name 'Ada' ; "
        "mem:entityType mem:Person ; mem:isWellKnown false }",
        "what a memory came of": f"<{MAIN}> {{ <{memory}> prov:wasDerivedFrom <urn:x:n> }}",
        "a run of somebody's": f"<{PROVENANCE}> {{ <{run}> prov:wasAssociatedWith <urn:x:me> . "
        "<urn:x:me> a mem:Agent ; mem:name 'me' ; mem:agentKind 'model' }",
        "an agent's name": f"<{PROVENANCE}> {{ <{agent}> <urn:x:really> 'me' }}",
        "another run that made it": f"<{PROVENANCE}> {{ {made} }}",
        "a run among memories": f"<{MAIN}> {{ {made} }}",
    }


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("name", range(7))
def test_an_import_that_would_change_what_was_said_is_refused_whole(name: int, check: bool, noted: Memento) -> None:
    document = list(forged(noted).values())[name]
    before = quads(noted, audit=True)
    with pytest.raises(InputError) as refused:
        take(noted, document, check=check)

    assert 400 <= refused.value.status < 500
    assert quads(noted, audit=True) == before


def test_what_a_memory_exports_comes_back_without_a_change(noted: Memento, tmp_path: Path) -> None:
    document, before = exported(noted), quads(noted)
    again = take_in(io.BytesIO(document), "it", "nquads", noted.context, namespace=None)
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        assert isinstance(other, Memento)
        there = take_in(io.BytesIO(document), "it", "nquads", other.context, namespace=None)

    assert again.added == 0 and quads(noted) == before
    assert there.added == again.statements


@pytest.fixture
def narrow(noted: Memento) -> Memento:
    """Who may write the namespace `work`, and `main`, of a memory with a secret in another."""
    noted.note("I live in Lisbon.", namespace="work")
    noted.note(f"I work as a surgeon at {SECRET} Clinic.", namespace="private")
    noted.graphs.infer()
    return noted.with_access(Access(namespaces=("work", "main"), right="write", name="narrow"))


EVERYTHING = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
LOOKS: dict[str, Callable[[Memento], object]] = {
    "describe": lambda narrow: narrow.get("urn:memento:user:local"),
    "query": lambda narrow: narrow.graphs.query_bytes(EVERYTHING),
    "inferred": lambda narrow: (
        narrow.graphs.infer(),
        narrow.graphs.query_bytes(EVERYTHING),
        narrow.graphs.query_bytes(EVERYTHING, namespace="work"),
    ),
    "graph": lambda narrow: narrow.graphs.get(self_iri("local")),
    "recall": lambda narrow: narrow.recall("Where do I work as a surgeon?", gate=False, explain=True),
    "timeline": lambda narrow: narrow.timeline("me"),
    "entities": lambda narrow: narrow.graphs.entities(),
    "manifest": lambda narrow: narrow.graphs.manifest(fresh=True),
    "export": lambda narrow: exported(narrow, vectors=True),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_narrow_token_reads_nothing_of_another_namespace_by_the_user(
    name: str, narrow: Memento, noted: Memento
) -> None:
    assert SECRET in str(noted.get("urn:memento:user:local", namespace="private"))
    try:
        seen = str(LOOKS[name](narrow))
    except (Forbidden, NotFound):
        return
    assert SECRET not in seen and "surgeon at" not in seen


def test_a_narrow_export_names_the_user_and_has_no_vector_of_it(narrow: Memento, tmp_path: Path) -> None:
    document = exported(narrow, vectors=True)
    of_user = [line for line in document.splitlines() if line.startswith(b"<urn:memento:user:local>")]

    assert len(of_user) == 1 and b"/User>" in of_user[0]
    with open_memento(tmp_path / "other", configured=OFFLINE) as other:
        assert isinstance(other, Memento)
        there = other.with_access(narrow.context.access)
        take_in(io.BytesIO(document), "it", "nquads", there.context, namespace=None)
        assert there.recall("Where do I live?", namespace="work").memories


def test_a_narrow_import_describes_no_user(narrow: Memento, noted: Memento) -> None:
    before = {quad for quad in quads(noted) if quad[3] == self_iri("local")}
    document = f"<{self_iri('local')}> {{ <urn:memento:user:local> a mem:User ; mem:name 'Eve' ; mem:description 'USER is Eve.' }}"

    assert take(narrow, document).passed_over == 3
    assert {quad for quad in quads(noted) if quad[3] == self_iri("local")} == before


def test_a_narrow_import_writes_no_provenance_of_another_namespace(narrow: Memento, noted: Memento) -> None:
    (theirs,) = (
        quad[0] for quad in quads(noted) if f"at {SECRET}" in str(quad[2]) and quad[0].startswith("urn:memento:note:")
    )
    agent = "<urn:x:me> a mem:Agent ; mem:name 'me' ; mem:agentKind 'model' ."
    before = quads(noted, audit=True)
    for about in (theirs, "urn:x:nothing"):
        run = (
            "<urn:x:run> a mem:Reversal ; mem:at '2026-01-01T00:00:00Z'^^xsd:dateTime ; "
            f"mem:restored <{about}> ; mem:reason 'so' ; prov:used <{about}> ."
        )
        with pytest.raises((Forbidden, Conflict)):
            take(narrow, f"<{PROVENANCE}> {{ {run} {agent} }}")

    assert quads(noted, audit=True) == before


def test_what_is_erased_leaves_no_name_of_anything_behind(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    memento.intake.import_notes(
        [
            NoteRow(
                content="Zelda Kumquat works at Kumquat Clinic.",
                speaker="Kumquat Joe",
                session="Kumquat talk",
                position=0,
            )
        ]
    )
    tea = memento.keys.remember("Zelda Kumquat steeps tea.", ["Kumquat herb", "tea"], session="Kumquat kitchen")
    coffee = memento.keys.remember("Coffee is brewed at 93 degrees.", ["coffee", "tea"])
    memento.living.evaluate('(remember "A kumquat is a fruit." "fact" 0.5 nil (list "Kumquat tag"))')
    memento.living.associate(tea.saved, coffee.saved, relation="leads to Kumquat", weight=0.5)
    memento.cases.add([CaseRow(task="Ask a doctor.", plan="1. Call.", outcome="success")])
    memento.cases.retrieve("Ask Zelda Kumquat for tea?")
    memento.cases.retrieve("Ask a doctor for tea?")
    memento.graphs.infer()
    for one in memento.list(limit=20):
        if "umquat" in one.content:
            memento.forget(one.note, erase=True)

    assert not [quad for quad in quads(memento, audit=True) if "kumquat" in str(quad).casefold()]
    assert not [name for name in memento.service.stores.indexes.names.values() if "umquat" in name]
    assert {"tea", "coffee"} <= {quad[2] for quad in quads(memento) if quad[1] == MEM.name}
    assert [quad for quad in quads(memento) if quad[2] == "Ask a doctor for tea?"]
    assert memento.recall("Where do I live?").memories and memento.keys.find("coffee").keys
    assert memento.admin.check() == ()


def test_an_erased_case_leaves_no_look_up_that_asked_for_it(memento: Memento) -> None:
    [case] = memento.cases.add([CaseRow(task="Ask Zelda Kumquat.", plan="1. Call.", outcome="success")])
    memento.cases.retrieve("Ask Zelda Kumquat.")
    memento.cases.retrieve("Ask the baker.")
    memento.cases.forget(case, erase=True)

    assert not [quad for quad in quads(memento, audit=True) if "Kumquat" in str(quad)]
    assert [quad for quad in quads(memento) if quad[2] == "Ask the baker."]
    assert memento.cases.status() and memento.admin.check() == ()


@pytest.mark.parametrize(
    "number", ["0.5", "'0.5'^^xsd:decimal", "'.50'^^xsd:decimal", "'0.5'^^xsd:float", "'1'^^xsd:integer"]
)
def test_an_importance_of_any_number_type_stops_no_reader(number: str, noted: Memento, tmp_path: Path) -> None:
    noted.graphs.update(
        f"{P} DELETE {{ ?m mem:importance ?old }} INSERT {{ ?m mem:importance {number} }} "
        "WHERE { ?m a mem:Memory OPTIONAL { ?m mem:importance ?old } }"
    )
    noted.living.evaluate("(snapshot) (stats)")

    assert noted.recall("Where do I work?").memories
    assert (
        noted.keys.remember("Tea is hot.", ["tea"]).saved
        and noted.living.decay()
        and noted.living.archive(dry_run=True)
    )
    noted.export(tmp_path / "all.trig")
    noted.admin.backup(tmp_path / "backups")
    assert noted.admin.check() == ()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_is_written_is_for_its_owner_alone_also_where_it_was_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = os.umask(0o022)
    try:
        with open_memento(home, configured=OFFLINE) as memento:
            memento.note("I live in Lisbon.")
        home.chmod(0o755)
        (home / "memento.toml").write_text("")
        for kept in home.rglob("*"):
            kept.chmod(0o755 if kept.is_dir() else 0o644)
        (tmp_path / "old.trig").write_text("")
        (tmp_path / "old.trig").chmod(0o644)
        with open_memento(home, configured=OFFLINE) as memento:
            for name in ("all.trig", "all.nq.gz", "old.trig"):
                memento.export(tmp_path / name, overwrite=name == "old.trig")
            memento.note("I work at Google.")
            memento.admin.backup(tmp_path / "backups")
            backup = next((tmp_path / "backups").iterdir())
            assert stat.S_IMODE(home.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o700
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir() if path.is_file()}
            assert modes == {"all.trig": 0o600, "all.nq.gz": 0o600, "old.trig": 0o600}
            assert not [
                path for path in (home / "store", home / "memento.toml") if stat.S_IMODE(path.stat().st_mode) & 0o077
            ]
    finally:
        os.umask(before)
