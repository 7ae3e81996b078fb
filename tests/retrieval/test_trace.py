"""What a description says is made from the memories that hold, for the reader who asks, and follows them at once."""

from __future__ import annotations

from pathlib import Path

from memento.access import Access
from memento.iris import MEM, graph_iri
from memento.model import RecalledEntity
from memento.python import Memento
from scripted import ScriptedModel
from understanding import Understanding, opened


def entity(memento: Memento, name: str, question: str = "Where do I live, and who is who?") -> RecalledEntity:
    found = memento.recall(question, gate=False, k=20).entities
    return next(one for one in found if one.name == name)


def of_user(memento: Memento, namespace: str | None = None) -> str:
    found = memento.recall("Where do I live and work?", gate=False, k=20, namespace=namespace).entities
    return next((one.description for one in found if one.is_user), "")


def test_who_the_user_is_follows_a_change_an_end_and_a_correction_at_once(memento: Memento) -> None:
    memento.note("I live in Paris.")
    memento.note("I work at Acme.")
    assert of_user(memento) == "I live in Paris. I work at Acme."

    memento.note("I no longer live in Paris.")
    assert of_user(memento) == "I work at Acme."
    memento.note("I now work at Initech.")
    assert of_user(memento) == "I now work at Initech."


def test_who_the_user_is_follows_forgetting_erasing_and_an_update_by_sparql(memento: Memento) -> None:
    home, work, origin = (
        memento.note(text).memories[0]
        for text in ("I live in Paris.", "I work at Acme.", "My native language is Danish.")
    )
    memento.forget(home)
    assert of_user(memento) == "I work at Acme. My native language is Danish."
    memento.forget(work, erase=True)
    assert of_user(memento) == "My native language is Danish."
    graph = graph_iri("local", "main")
    memento.graphs.update(
        f"DELETE WHERE {{ GRAPH <{graph}> {{ ?said <{MEM.statedBy}> <{origin}> ; ?of ?what . <{origin}> ?p ?o }} }}"
    )
    assert of_user(memento) == ""


def test_who_somebody_is_to_the_user_ends_with_the_memory_that_says_it(memento: Memento) -> None:
    memento.note("My manager Ana sings in a choir.")
    assert entity(memento, "Ana").description == "USER's manager"

    memento.note("Ana is no longer my manager.")
    assert entity(memento, "Ana").description == ""


def test_a_namespace_is_described_by_its_own_memories_alone(memento: Memento) -> None:
    memento.note("I live in Paris.")
    memento.note("I work at Acme.", namespace="private")
    narrow = memento.with_access(Access(namespaces=("main",), right="read", name="narrow"))

    assert of_user(memento) == "I live in Paris."
    assert of_user(memento, "private") == "I live in Paris. I work at Acme."
    assert of_user(narrow) == "I live in Paris."


def test_what_a_model_says_of_the_user_is_cut_to_what_still_holds(tmp_path: Path) -> None:
    told = "Danny is an engineer at Acme. He settled near the river in Lisbon, which he loves."
    update = {"shouldUpdate": True, "newDescription": told, "reason": "new"}
    script = Understanding(
        extract_entities=lambda given: {"entities": [], "userBiographicalFacts": told},
        resolve_entities=lambda given: {"entities": [], "userDescriptionUpdate": update},
    )
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I work as an engineer at Acme.")
        home = memento.note("I live in Lisbon.")
        assert of_user(memento) == told

        stored = memento.forget(home.memories[0])
        assert stored and of_user(memento) == "Danny is an engineer at Acme."
        assert dict(memento.get("urn:memento:user:local").properties)[str(MEM.description)] == of_user(memento)
