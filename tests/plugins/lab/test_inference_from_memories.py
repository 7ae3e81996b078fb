"""What memories claim is a premise as long as they hold: notes come and go, and with them what follows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.errors import Forbidden, NotFound
from memento.graph.binding import bind_query
from memento.iris import IRI, data_iri
from memento.model import Scope
from memento.plugins.lab.settings import InferenceSettings
from memento.python import Memento, open_memento
from memento.testing import memory

COMPANY = data_iri("local", "company")
AXIOMS = """
@prefix ex: <http://example.org/> . @prefix mem: <http://purl.org/memento/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:worksFor mem:ofSlot "work at" ; rdfs:subPropertyOf ex:affiliatedWith .
"""
WHO = """PREFIX ex: <http://example.org/> PREFIX mem: <http://purl.org/memento/>
SELECT ?name { <urn:memento:user:local> ex:affiliatedWith ?who . ?who mem:name ?name } ORDER BY ?name"""


def declare(memento: Memento, turtle: str = AXIOMS) -> None:
    """Put a document into the free graph of the company."""
    memento.service.stores.graph.load(turtle.encode(), COMPANY)


def rows(memento: Memento, sparql: str, namespace: str | None = None) -> list[list[str]]:
    body, _ = memento.graphs.query_bytes(sparql, accept="text/csv", namespace=namespace)
    return list(csv.reader(io.StringIO(body.decode())))[1:]


def test_a_claim_is_a_relation_to_the_entity_that_it_names_and_what_follows_from_it(memento: Memento) -> None:
    declare(memento)
    memento.note("I work at Google.")

    assert rows(memento, WHO) == [["Google"]]
    assert (memento.status().inferred, memento.status().contradictions) == (2, 0)


def test_a_note_that_ends_a_belief_takes_what_followed_from_it_along(memento: Memento) -> None:
    declare(memento)
    memento.note("I work at Google.")
    rows(memento, WHO)
    memento.note("I work at Microsoft now.")

    assert rows(memento, WHO) == [["Microsoft"]]


@pytest.mark.parametrize("erase", [False, True])
def test_what_is_forgotten_or_erased_carries_nothing_any_more(memento: Memento, erase: bool) -> None:
    declare(memento)
    [memory] = memento.note("I work at Google.").memories
    assert rows(memento, WHO)
    memento.forget(memory, erase=erase)
    if erase:  # at once, and not when somebody asks
        assert list(memento.service.stores.graph.match(graph=Scope().inferred)) == []

    assert rows(memento, WHO) == []
    assert list(memento.service.stores.graph.match(graph=Scope().inferred)) == []


def test_what_an_invalidation_took_comes_back_with_what_is_undone(memento: Memento) -> None:
    declare(memento)
    memento.note("I work at Google.")
    [ended] = memento.note("I work at Microsoft now.").invalidated
    rows(memento, WHO)
    memento.undo(ended)

    assert rows(memento, WHO) == [["Google"], ["Microsoft"]]


def test_a_proof_leads_to_the_memory(memento: Memento) -> None:
    declare(memento)
    [memory] = memento.note("I work at Google.").memories
    why = bind_query(
        "library/why",
        {"wantedPredicate": IRI("http://example.org/worksFor"), "wantedSubject": IRI("urn:memento:user:local")},
    )
    proof = [row for row in rows(memento, why) if row[6]]

    assert {(row[1], row[6], row[7]) for row in proof} == {("slot", memory, "I work at Google.")}


def test_a_memory_of_another_namespace_is_no_premise_in_main(memento: Memento) -> None:
    declare(memento)
    memento.note("I work at Google.", namespace="work")

    assert rows(memento, WHO, "work") == [["Google"]]
    assert rows(memento, WHO) == []


def test_switched_off_nothing_is_inferred(tmp_path: Path) -> None:
    opened = open_memento(tmp_path / "off", configured=OFFLINE.having(InferenceSettings(on=False)))
    assert isinstance(opened, Memento)
    with opened as memento:
        declare(memento, f"{AXIOMS} ex:born a owl:FunctionalProperty . ex:ada ex:born ex:london , ex:paris .")
        memento.note("I work at Google.")

        assert rows(memento, WHO) == []
        assert (memento.status().inferred, memento.status().contradictions) == (0, 0)
        with pytest.raises(Forbidden, match=r"inference\.on"):
            memento.graphs.infer()


def test_without_the_plugin_nothing_is_inferred_or_read_and_erased_texts_are_in_no_inference(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    with memory(plugins=["lab"], folder=folder) as with_it:
        declare(with_it)
        [google] = with_it.note("I work at Google.").memories
        assert rows(with_it, WHO) == [["Google"]]
    with memory(folder=folder) as without:
        inferred = Scope().inferred
        assert rows(without, WHO) == []
        assert without.status().inferred == 0
        assert rows(without, f"SELECT ?s {{ GRAPH <{inferred}> {{ ?s ?p ?o }} }}") == []
        with pytest.raises(NotFound, match="there is no operation infer: the plug-in lab is switched off"):
            without.graphs.infer()
        assert list(without.service.stores.graph.match(graph=inferred)) != []
        without.forget(google, erase=True)
        assert list(without.service.stores.graph.match(graph=inferred)) == []
