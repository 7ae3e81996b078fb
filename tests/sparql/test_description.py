"""The ready queries find in the sample world what their titles say."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest

from conftest import OFFLINE
from memento import assets
from memento.graph.binding import bind_query
from memento.iris import IRI, data_iri
from memento.model import Change
from memento.python import Memento, open_memento
from memento.settings import GateSettings
from memento.sparql.description import EXAMPLES, load_examples
from trig import parse_trig

EDITOR = IRI("urn:memento:memory:01934b06-3fb0-7fca-900b-e0d2bebe2b43")
COMPANY = """
@prefix ex: <http://example.org/> . @prefix mem: <http://purl.org/memento/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <https://schema.org/> .
ex:google rdfs:label "Google"@en ; ex:seat "Mountain View" . ex:microsoft rdfs:label "Microsoft" ; ex:seat "Redmond" .
schema:worksFor mem:ofSlot "work at" ; rdfs:subPropertyOf schema:affiliation ; a owl:FunctionalProperty .
<urn:memento:user:local> schema:worksFor ex:contoso .
"""


@pytest.fixture(scope="module")
def danny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """The sample world in a memory of its own, and a free graph that knows the same companies."""
    opened = open_memento(tmp_path_factory.mktemp("danny"), configured=replace(OFFLINE, gate=GateSettings(on=False)))
    assert isinstance(opened, Memento)
    with opened:
        opened.service.stores.graph.apply(Change(tuple(parse_trig(assets.read("ontology/world.trig")))))
        opened.service.stores.graph.load(COMPANY.encode(), data_iri("local", "company"))
        opened.admin.rebuild()
        yield opened


def rows(memento: Memento, query: str, /, **slots: object) -> list[dict[str, str]]:
    body, _ = memento.graphs.query_bytes(bind_query(f"library/{query}", slots), accept="text/csv")  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(body.decode())))


def test_each_runs_as_it_is_shown(danny: Memento) -> None:
    shown = load_examples()

    assert len(shown) == len(EXAMPLES) == 17
    for one in shown:
        assert one.title.endswith((".", ":"))
        assert one.sparql.startswith("PREFIX")
        danny.graphs.query_bytes(one.sparql)


def test_a_search_at_a_time_finds_what_was_true_then(danny: Memento) -> None:
    best = rows(danny, "search_then")[0]

    assert best["content"] == "USER works at Google."
    assert (best["rank"], best["validAt"][:10], best["invalidAt"][:10]) == ("1", "2024-01-15", "2025-09-01")


def test_a_search_tells_how_it_is_known(danny: Memento) -> None:
    found = {one["content"]: one["said"] for one in rows(danny, "search_sources")}

    assert found["USER switched from VS Code to Zed."] == "I switched from VS Code to Zed."


def test_a_search_is_joined_with_a_free_graph_by_name(danny: Memento) -> None:
    found = {(row["name"], row["value"]) for row in rows(danny, "search_joined") if row["property"].endswith("seat")}

    assert ("Microsoft", "Redmond") in found


def test_memories_like_one_are_found_in_order(danny: Memento) -> None:
    found = rows(danny, "alike", memory=EDITOR)

    # Vectors are kept in half precision: the first two are equally near.
    assert {one["content"] for one in found[:2]} == {"USER's editor is VS Code.", "USER moved from Paris to Lisbon."}
    assert [float(row["similarity"]) for row in found] == sorted(
        (float(row["similarity"]) for row in found), reverse=True
    )


def test_successions_contradictions_histories_tellers_and_changes(danny: Memento) -> None:
    latest, *_ = rows(danny, "successions")
    assert latest["new"] == "USER has worked at Microsoft since 1 September 2025."
    values = {row["value"] for row in rows(danny, "contradictions")}
    assert values == {"http://example.org/contoso", "urn:memento:entity:01994c71-08d6-7aa8-acf1-4663daab9be5"}
    [google] = rows(danny, "entity_history", name="Google")
    assert google["successor"] == "USER has worked at Microsoft since 1 September 2025."
    [teller] = rows(danny, "who_told")
    assert (teller["teller"], teller["notes"], teller["memories"], teller["holding"]) == ("Danny", "9", "13", "9")
    assert [row["what"] for row in rows(danny, "changed_since")][:4] == ["new", "new", "new", "over"]


def test_a_proof_names_every_statement_it_rests_on(danny: Memento) -> None:
    steps = [row for row in rows(danny, "why") if row["of"].endswith("4663daab9be5")]
    assert [(row["rule"], row["predicate"].rpartition("/")[2]) for row in steps] == [
        ("prp-spo1", "rdf-schema#subPropertyOf"),
        ("prp-spo1", "worksFor"),
    ]
    works = rows(danny, "why", wantedPredicate=IRI("https://schema.org/worksFor"))
    proof = [row for row in works if row["of"].endswith("4663daab9be5")]

    assert [(row["rule"], row["predicate"].rpartition("/")[2]) for row in proof] == [
        ("slot", "ofSlot"),
        ("slot", "value"),
        ("slot", "owner"),
    ]
    assert proof[0]["graph"] == "urn:memento:data:local:company"
    assert {row["content"] for row in proof[1:]} == {"USER has worked at Microsoft since 1 September 2025."}
