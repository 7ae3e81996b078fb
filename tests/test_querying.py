"""Queries as the service answers them: which graphs they read, and what is left of them afterwards."""

from __future__ import annotations

from pathlib import Path

from conftest import OFFLINE
from memento.access import Access
from memento.iris import IRI, MEM, data_iri, provenance_iri
from memento.model import Change
from memento.python import Memento, open_memento

GRAPHS = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"
DEFAULT = "SELECT ?o { <urn:acme> ?p ?o }"


def rows(memento: Memento, sparql: str, namespace: str | None = None) -> list[str]:
    return sorted(
        memento.graphs.query_bytes(sparql, accept="text/csv", namespace=namespace)[0].decode().split("\r\n")[1:-1]
    )


def test_free_graphs_stand_beside_the_memories_and_provenance_on_its_own(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    free = data_iri("local", "company")
    memento.service.stores.graph.apply(
        Change(
            (
                (IRI("urn:acme"), MEM.name, "Acme", free),
                (IRI("urn:acme"), MEM.name, "told elsewhere", provenance_iri("local")),
                (IRI("urn:acme"), MEM.name, "of somebody else", data_iri("rival", "company")),
            )
        )
    )
    narrow = memento.with_access(Access(namespaces=("work",)))

    assert rows(memento, DEFAULT) == ["Acme"]
    assert {free, provenance_iri("local")} <= set(rows(memento, GRAPHS))
    assert provenance_iri("local") not in rows(narrow, GRAPHS)
    assert free not in rows(narrow, GRAPHS)
    named = memento.with_access(Access(namespaces=("work",), graphs=("company",)))
    assert free in rows(named, GRAPHS)


def test_an_embedded_memory_starts_a_worker_when_it_is_first_queried(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    assert memento.service.workers.processes == []

    assert rows(memento, "SELECT ?n { VALUES ?n { 1 } }") == ["1"]
    assert len(memento.service.workers.processes) == 1


def test_what_is_erased_is_in_no_snapshot_and_no_snapshot_outlives_the_memory(tmp_path: Path) -> None:
    memento = open_memento(tmp_path, configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento:
        [iri] = memento.note("My dog is called Snollygoster.").memories
        asked = f"ASK {{ <{iri}> ?p ?o }}"
        assert memento.graphs.query_bytes(asked, accept="text/csv")[0] == b"true"
        held = list((tmp_path / "snapshots").iterdir())
        memento.forget(iri, erase=True)

        assert held and not any(one.exists() for one in held)
        assert memento.graphs.query_bytes(asked, accept="text/csv")[0] == b"false"
    assert not (tmp_path / "snapshots").exists()
    with open_memento(tmp_path, configured=OFFLINE):
        left = [path for path in tmp_path.rglob("*") if path.is_file() and b"dog is called" in path.read_bytes()]
    assert left == []
