"""What a note becomes in the graph when a model understands it, as SPARQL and recall show it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE, at
from memento.errors import MementoError
from memento.python import Memento, open_memento
from memento.retrieval.render import as_xml
from scripted import ScriptedModel
from understanding import Understanding, opened

NAMED = re.compile(
    r"urn:memento:(note|memory|entity):[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)


def rows(memento: Memento, where: str, *columns: str) -> list[tuple[str, ...]]:
    """The rows of a query, sorted."""
    asked = (
        f"PREFIX mem: <http://purl.org/memento/> SELECT {' '.join(f'?{one}' for one in columns)} WHERE {{ {where} }}"
    )
    body, _ = memento.graphs.query_bytes(asked, accept="text/csv")
    return sorted(tuple(row[one] for one in columns) for row in csv.DictReader(io.StringIO(body.decode())))


def test_a_memory_leads_to_what_it_is_about_and_to_its_note_and_a_note_never_to_the_user(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:
        noted = memento.note("I use Zed with Ana.")
        [memory] = noted.memories
        about = rows(memento, "?memory mem:about ?thing . OPTIONAL { ?thing mem:name ?name }", "memory", "name")

        assert about == [(memory, ""), (memory, "Ana"), (memory, "Zed")]
        assert rows(memento, "?memory mem:extractedFrom ?note", "memory", "note") == [(memory, noted.note)]
        assert rows(memento, "?note a mem:Note ; mem:mentions/mem:name ?name", "name") == [("Ana",), ("Zed",)]
        assert rows(memento, "?note a mem:Note ; mem:mentions ?user . ?user a mem:User", "note") == []


def test_a_belief_ends_when_its_successor_begins(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:
        memento.note("I work at Google.", at=at("2020-01-01"))
        memento.note("I work at Microsoft.", at=at("2024-01-01"))
        where = """?new mem:invalidates ?old ; mem:validAt ?begins . ?old mem:invalidAt ?ends .
          ?why mem:invalidated ?old ; mem:invalidator ?new ; mem:reason ?reason"""
        [(begins, ends, reason)] = rows(memento, where, "begins", "ends", "reason")

    assert begins == ends == "2024-01-01T00:00:00Z"
    assert reason == "now: USER works at Microsoft."


def test_every_iri_has_a_uuid_of_version_seven_and_later_ones_sort_behind(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:
        told = [memento.note(f"I use Tool{number}.") for number in range(5)]
        entities = [iri for (iri,) in rows(memento, "?iri a mem:Entity", "iri")]
    notes, memories = [one.note for one in told if one.note], [one.memories[0] for one in told]

    assert len(entities) == 5
    assert [iri for iri in (*notes, *memories, *entities) if not NAMED.fullmatch(iri)] == []
    assert notes == sorted(notes)
    assert memories == sorted(memories)


def test_an_entity_keeps_being_well_known_or_not_and_its_kind_is_one_of_the_list(tmp_path: Path) -> None:
    def named(known: bool) -> Any:
        entity = {"name": "Zed", "type": "Technology", "description": "an editor", "isWellKnown": known}
        return lambda _: {"entities": [entity], "userBiographicalFacts": None}

    script = Understanding(extract_entities=named(False))
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I use Zed.")
        script.otherwise["extract_entities"] = named(True)
        memento.note("I like Zed.")
        where = "?e a mem:Entity ; mem:entityType ?kind ; mem:description ?told ; mem:isWellKnown ?known"

        assert rows(memento, where, "kind", "told", "known") == [
            ("http://purl.org/memento/Technology", "an editor", "false")
        ]
        with pytest.raises(MementoError, match=r"entityType|kind"):
            memento.graphs.update(
                'PREFIX mem: <http://purl.org/memento/> INSERT DATA { <urn:memento:entity:x> a mem:Entity ; mem:name "Rex" ; '
                "mem:entityType mem:Animal }"
            )


def test_the_words_of_a_note_cannot_be_changed(memento: Memento) -> None:
    said = memento.note("I prefer tea.").note
    with pytest.raises(MementoError):
        memento.graphs.update(
            "PREFIX mem: <http://purl.org/memento/> "
            f'DELETE {{ <{said}> mem:content ?said }} INSERT {{ <{said}> mem:content "I prefer gin." }} '
            f"WHERE {{ <{said}> mem:content ?said }}"
        )

    assert rows(memento, f"<{said}> mem:content ?said", "said") == [("I prefer tea.",)]


def test_names_are_spelt_alike_and_shown_to_the_model_with_what_is_known(tmp_path: Path) -> None:
    shown: list[dict[str, Any]] = []

    def resolve(given: dict[str, Any]) -> Any:
        shown.extend(given["entities"])
        return Understanding.resolve_entities(given)

    def extract(given: dict[str, Any]) -> Any:
        names = [name for name in ("machine learning", "AWS", "TypeScript") if name in given["note"]]
        return {"entities": [{"name": name, "type": "Technology"} for name in names], "userBiographicalFacts": None}

    script = Understanding(extract_entities=extract, resolve_entities=resolve)
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I like machine learning on AWS in TypeScript.")
        shown.clear()
        memento.note("I use machine learning daily.")
        names = rows(memento, "?e a mem:Entity ; mem:name ?name", "name")

    assert names == [("AWS",), ("Machine Learning",), ("TypeScript",)]
    assert [one["name"] for one in shown] == ["Machine Learning"]
    # The first by vector and by words: 1 / (0 + 1) from each.
    assert shown[0]["candidates"][0]["similarity"] == 2
    assert [one["similarity"] for one in shown[0]["candidates"]] == sorted(
        (one["similarity"] for one in shown[0]["candidates"]), reverse=True
    )


def test_another_spelling_that_the_model_matches_is_the_same_thing(tmp_path: Path) -> None:
    def match(given: dict[str, Any]) -> Any:
        choices = [
            {
                "id": one["id"],
                "action": "MATCH",
                "matchedEntityId": one["candidates"][0]["id"],
                "reason": "the same firm",
            }
            if one["candidates"]
            else {"id": one["id"], "action": "CREATE", "reason": "new"}
            for one in given["entities"]
        ]
        return {"entities": choices, "userDescriptionUpdate": None}

    with ScriptedModel(Understanding(resolve_entities=match)) as model, opened(tmp_path, model) as memento:
        memento.note("I like Microsoft Corporation.")
        memento.note("I use Microsoft.")

        assert rows(memento, "?e a mem:Entity ; mem:name ?name", "name") == [("Microsoft Corporation",)]
        assert len(rows(memento, "?m mem:about ?e . ?e a mem:Entity", "m")) == 2


def test_a_fact_is_in_the_third_person_and_holds_from_the_day_that_the_note_tells(tmp_path: Path) -> None:
    def facts(given: dict[str, Any]) -> Any:
        return {
            "memories": [
                {"content": "USER uses Zed.", "aboutEntities": ["USER", "Zed"], "validAt": "2024-05-13T00:00:00Z"}
            ]
        }

    with ScriptedModel(Understanding(extract_memories=facts)) as model, opened(tmp_path, model) as memento:
        memento.note("I use Zed since last week.", at=at("2024-05-20"))
        [one] = memento.list()

    assert one.content == "USER uses Zed."
    assert one.valid_at == at("2024-05-13")


def test_what_is_known_comes_to_the_model_once_the_best_first_and_never_all_of_it(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def decide(given: dict[str, Any]) -> Any:
        seen.append([one["content"] for one in given["existing"]])
        return Understanding.resolve_memories(given)

    with ScriptedModel(Understanding(resolve_memories=decide)) as model, opened(tmp_path, model) as memento:
        for number in range(40):
            memento.note(f"I like job {number} at Place{number}.")
        memento.note("I like a new job at Acme.")

    assert 10 <= len(seen[-1]) <= 40 // 2
    assert len(set(seen[-1])) == len(seen[-1])


def test_the_block_has_date_question_entities_notes_and_memories_in_this_order(memento: Memento) -> None:
    memento.note("My name is Danny. I like Ana Silva.", at=at("2020-01-01"))
    memento.note("I work at Siemens.", at=at("2020-01-01"))
    memento.note("I left Siemens and joined Acme Tools with Ana Silva.", at=at("2024-01-01"))
    found = memento.recall("Where do I work with Ana Silva?", gate=False)
    block = as_xml(found, today=at("2025-01-01").date())
    places = [
        block.find(f"<{name}") for name in ("current-date>2025-01-01", "query>", "entities>", "notes>", "memories>")
    ]

    assert places == sorted(places)
    assert -1 not in places
    assert 'name="Ana Silva"' in block
    assert 'name="Siemens"' not in block  # everybody knows it
    assert re.findall(r'<note id="(note-\d\d)"', block) == [
        f"note-{n:02}" for n in range(1, 1 + len({one.note.iri for one in found.memories if one.note}))
    ]
    assert re.search(r'valid_since="2020-01-01" valid_until="2024-01-01"', block)
    assert found.entities[0].is_user
    counts = [one.memory_count for one in found.entities[1:]]
    assert counts == sorted(counts, reverse=True)


def test_the_ontology_is_there_once_however_often_a_memory_is_opened(tmp_path: Path) -> None:
    counts = []
    for _ in range(2):
        with open_memento(tmp_path, configured=OFFLINE) as memento:
            body, _ = memento.graphs.query_bytes(
                "SELECT (COUNT(*) AS ?n) WHERE { GRAPH <urn:memento:ontology> { ?s ?p ?o } }", accept="text/csv"
            )
            counts.append(int(body.split()[1]))

    assert counts[0] == counts[1] > 500


def test_a_rare_word_finds_its_memory_alone(memento: Memento) -> None:
    memento.note("I collect marimbas.")
    memento.note("I prefer tea.")

    assert [one.content for one in memento.recall("marimbas", mode="keyword").memories] == ["I collect marimbas."]
