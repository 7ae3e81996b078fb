"""Where recall infers, a question finds what the relations of a free graph lead to; elsewhere nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.iris import data_iri
from memento.python import Memento, open_memento
from memento.retrieval.signals import with_weights
from memento.settings import GateSettings, InferenceSettings, Settings

PLACES = """
@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:partOf a owl:TransitiveProperty .
ex:velnar rdfs:label "Velnar" ; ex:partOf ex:oskia . ex:oskia rdfs:label "Oskia" ; ex:partOf ex:morrowland .
ex:morrowland rdfs:label "Morrowland" . ex:tidra rdfs:label "Tidra" ; ex:partOf ex:southmark . ex:southmark rdfs:label "Southmark" .
"""
NOTES = (
    *("Anna Berg lives in Velnar.", "Ben Okafor works in Tidra.", "I like green tea.", "My cat is called Tom."),
    *("My favourite colour is blue.", "I drive a van.", "I play the cello.", "My team has 5 people.", "I use Zed."),
)
INFERRING = with_weights(OFFLINE, inferred=3.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory of people in places, and a free graph that says where the places are."""
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        for text in NOTES:
            memento.note(text)
        memento.service.stores.graph.load(PLACES.encode(), data_iri("local", "places"))
    return tmp_path / "home"


def opened(folder: Path, configured: Settings) -> Iterator[Memento]:
    found = open_memento(folder, configured=configured)
    assert isinstance(found, Memento)
    with found:
        yield found


def best(memento: Memento, question: str) -> str:
    return memento.recall(question, k=1, gate=False).memories[0].content


@pytest.mark.parametrize("question", ["Who is from Oskia?", "Who is from Morrowland?"])
def test_a_relation_leads_from_the_question_to_the_memory_however_many_steps_away(folder: Path, question: str) -> None:
    for memento in opened(folder, INFERRING):
        [found] = memento.recall(question, k=1, gate=False, explain=True).memories

        assert found.content == "Anna Berg lives in Velnar."
        assert found.why["inferred"] > 0
    for memento in opened(folder, OFFLINE):
        assert "inferred" not in memento.recall(question, k=1, gate=False, explain=True).memories[0].why


def test_it_is_gone_with_the_relation_and_back_with_it(folder: Path) -> None:
    for memento in opened(folder, INFERRING):
        assert best(memento, "Who is from Southmark?") == "Ben Okafor works in Tidra."
        without = PLACES.replace("ex:partOf ex:southmark", "ex:near ex:southmark")
        memento.service.stores.graph.load(without.encode(), data_iri("local", "places"))
        found = memento.recall("Who is from Southmark?", k=1, gate=False, explain=True).memories
        assert "inferred" not in found[0].why


def test_the_gate_stays_open_for_what_the_question_leads_to(folder: Path) -> None:
    strict = GateSettings(base=9.0)
    for memento in opened(folder, replace(INFERRING, gate=strict)):
        assert memento.recall("Who is from Oskia?", k=1).memories
        assert memento.recall("Who is from Atlantis?", k=1).gated
    for memento in opened(folder, replace(OFFLINE, gate=strict)):
        assert memento.recall("Who is from Oskia?", k=1).gated


def test_a_question_that_names_the_thing_itself_is_not_led_away(folder: Path) -> None:
    for memento in opened(folder, INFERRING):
        assert best(memento, "Who lives in Velnar?") == "Anna Berg lives in Velnar."


def test_where_inference_is_off_the_weight_means_nothing(folder: Path) -> None:
    for memento in opened(folder, replace(INFERRING, inference=InferenceSettings(on=False))):
        found = memento.recall("Who is from Oskia?", k=1, gate=False, explain=True).memories

        assert "inferred" not in found[0].why
