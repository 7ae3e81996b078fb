"""A note is understood by a model in six questions at most, two branches side by side; and by rules in one thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import at
from memento.consolidation import pipeline
from memento.graph.store import Row
from memento.iris import IRI
from memento.ports import Embedder, Vectors
from memento.python import Memento, open_memento
from memento.settings import AgentSettings
from scripted import ScriptedModel
from understanding import Understanding, contents, opened, settings_for


@pytest.fixture
def script() -> Understanding:
    return Understanding()


def test_an_empty_memory_is_asked_about_nothing(tmp_path: Path, script: Understanding) -> None:
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        noted = memento.note("I use Zed.")

        assert sorted(script.questions) == ["extract_entities", "extract_memories"]
        assert noted.memories
        assert contents(memento) == {"USER uses Zed."}


def test_a_note_takes_five_questions(tmp_path: Path, script: Understanding) -> None:
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I work at Google.")
        script.questions.clear()
        noted = memento.note("I work at Microsoft.")

        assert len(script.questions) == len(set(script.questions)) == 5
        assert len(noted.invalidated) == 1
        assert contents(memento) == {"USER works at Microsoft."}
        assert memento.admin.check() == ()


def test_the_branches_run_side_by_side(tmp_path: Path) -> None:
    """Each of two questions waits for the other: in one thread neither would ever be answered."""
    meeting, deciding = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)
    plain = Understanding()

    def together(barrier: threading.Barrier, name: str) -> Any:
        def answer(given: dict[str, Any]) -> Any:
            barrier.wait()
            return getattr(plain, name)(given)

        return answer

    with ScriptedModel(plain) as model, opened(tmp_path, model) as memento:
        memento.note("I work at Google.")
        plain.otherwise.update(
            hypothesise=together(meeting, "hypothesise"),
            extract_entities=together(meeting, "extract_entities"),
            resolve_entities=together(deciding, "resolve_entities"),
            extract_memories=together(deciding, "extract_memories"),
        )
        assert memento.note("I work at Google in Lisbon.").memories


def test_guesses_find_what_the_note_alone_would_not_bring_back(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def decide(given: dict[str, Any]) -> Any:
        seen.append([one["content"] for one in given["existing"]])
        return Understanding.resolve_memories(given)

    script = Understanding(
        resolve_memories=decide,
        hypothesise=lambda given: {"semantic": ["Quarterly xylophone lessons."], "stateChange": []},
    )
    with ScriptedModel(script) as model, opened(tmp_path, model, recalled_memories=1) as memento:
        memento.note("I work at Google.")
        memento.note("Quarterly xylophone lessons were fun.")
        for number in range(4):
            memento.note(f"I work at Company{number}.")
        memento.note("My work at Acme began.")

    assert any("xylophone" in content for content in seen[-1])


def test_all_that_is_known_and_all_that_is_new_are_judged_in_one_question(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def decide(given: dict[str, Any]) -> Any:
        seen.append(given)
        return Understanding.resolve_memories(given)

    with ScriptedModel(Understanding(resolve_memories=decide)) as model, opened(tmp_path, model) as memento:
        memento.note("I work at Google.")
        memento.note("I live in Paris. I work at Microsoft. I like tea.")

    assert len(seen) == 1
    assert [one["id"] for one in seen[0]["new"]] == ["n1", "n2", "n3"]
    assert [one["id"] for one in seen[0]["existing"]] == ["m1"]


def test_rules_start_no_thread(memento: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pool(*args: Any, **named: Any) -> Any:
        raise AssertionError("a thread was started")

    monkeypatch.setattr(pipeline, "ThreadPoolExecutor", no_pool)
    memento.note("I work at Google.")

    assert memento.note("I work at Microsoft.").invalidated


def test_a_note_that_states_nothing_is_skipped(tmp_path: Path) -> None:
    script = Understanding(extract_memories=lambda given: {"memories": []})
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        noted = memento.note("Hello there!")

        assert noted.note is None
        assert noted.skipped == "no memory could be extracted"
        assert memento.status().notes == 0


def test_what_all_duplicates_tell_of_the_user_still_reaches_the_description(tmp_path: Path) -> None:
    script = Understanding()
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I like tea.")
        script.otherwise["extract_entities"] = lambda given: {
            "entities": [],
            "userBiographicalFacts": "USER is a botanist.",
        }
        noted = memento.note("I like tea.", at=at("2020-01-01"))
        user = memento.get("urn:memento:user:local")

        assert noted.skipped or noted.memories
        assert any("botanist" in value for _, value in user.properties)


def test_by_rules_too_the_user_is_described_by_a_note_in_which_nothing_else_is_new(memento: Memento) -> None:
    memento.note("I work at Google.")
    memento.forget(memento.note("My name is Danny.").memories[0])
    noted = memento.note("I work at Google as of now.")

    assert noted.note is None or noted.memories
    assert "Google" in str(memento.get("urn:memento:user:local").properties)


def test_the_user_is_never_somebody_else(tmp_path: Path) -> None:
    script = Understanding(
        extract_entities=lambda given: {
            "entities": [
                {"name": "Danny", "type": "Person", "description": "the author"},
                {"name": "USER", "type": "Person"},
                {"name": "Danny Rose", "type": "Person"},
            ]
        },
        extract_memories=lambda given: {
            "memories": [
                {"content": "USER's name is Danny.", "aboutEntities": ["Danny"]},
                {"content": "USER met Danny Rose.", "aboutEntities": ["USER", "Danny Rose"]},
            ]
        },
    )
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("My name is Danny. I met Danny Rose.")
        found = memento.recall("Whom did I meet?", gate=False)

        assert memento.status().entities == 1
        assert found.entities[0].is_user
        assert found.entities[0].name == "Danny"
        assert {entity.name for entity in found.entities} == {"Danny", "Danny Rose"}


def test_the_description_of_the_user_is_bounded_and_the_newest_stays(tmp_path: Path) -> None:
    def described(given: dict[str, Any]) -> Any:
        fresh = f"{given['userDescription']} {given['userFacts']}".strip()
        return {
            "entities": [],
            "userDescriptionUpdate": {"newDescription": fresh, "shouldUpdate": True, "reason": ""},
        }

    script = Understanding(resolve_entities=described)
    with ScriptedModel(script) as model, opened(tmp_path, model, description_chars=100) as memento:
        for number in range(12):
            memento.note(f"I work at Company{number}.")
        [description] = [
            value for name, value in memento.get("urn:memento:user:local").properties if name.endswith("description")
        ]

        assert len(description) <= 100
        assert "Company11" in description
        assert "Company0." not in description


def test_a_better_description_of_a_known_entity_is_written(tmp_path: Path) -> None:
    script = Understanding(resolve_entities=_describe_again)
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("My brother joined Initech.")
        memento.note("Initech sells turbines.")

        [initech] = [one for one in memento.recall("What does Initech sell?", gate=False).entities if not one.is_user]
        assert initech.description == "Initech sells turbines."


def test_a_better_description_goes_with_the_note_that_it_came_from(tmp_path: Path) -> None:
    script = Understanding(resolve_entities=_describe_again)
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("My brother joined Initech.")
        note = memento.note("Initech sells turbines.").note
        assert note
        memento.forget(note, erase=True)

        [initech] = [one for one in memento.recall("Who joined Initech?", gate=False).entities if not one.is_user]
        assert "turbines" not in str(memento.get(initech.iri))


def _describe_again(given: dict[str, Any]) -> Any:
    answer = Understanding.resolve_entities(given)
    for one in answer["entities"]:
        if one["action"] == "MATCH":
            one["updateDescription"] = "Initech sells turbines."
    return answer


class Counting:
    """The embedder of these tests, with how often it was asked."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.calls = embedder, 0
        self.fingerprint, self.dimensions = embedder.fingerprint, embedder.dimensions

    def windows(self, text: str) -> list[str]:
        return self.embedder.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return self.embedder.embed(texts)


@pytest.mark.parametrize(
    "said",
    [
        {"content": "I work at Google with Ana in Zurich."},
        {"content": "I was born in Rome. My sister Kim lives in Oslo."},
        {"content": "My name is Daniel."},
        {"content": "I use Zed.", "speaker": "Bea"},
        {"content": "We ship on Friday.", "title": "Plan of the release"},
        {"content": "I moved to Berlin.", "session": "s1"},
    ],
    ids=lambda said: said["content"],
)
def test_a_note_is_embedded_in_one_call(memento: Memento, said: dict[str, Any]) -> None:
    memento.note("I work at Microsoft with Ana.")
    counting = Counting(memento.service.stores.embedder.embedder)
    memento.service.stores.embedder.embedder = counting

    assert memento.note(**said).memories
    assert counting.calls == 1


def test_the_first_note_of_a_memory_is_embedded_in_one_call(memento: Memento) -> None:
    counting = Counting(memento.service.stores.embedder.embedder)
    memento.service.stores.embedder.embedder = counting

    memento.note("I work at Google with Ana in Zurich.")

    assert counting.calls == 1


def test_answers_carry_the_texts_of_the_memories_they_name(memento: Memento) -> None:
    first = memento.note("I work at Google.", idempotency_key="a")
    second = memento.note("I work at Microsoft.", idempotency_key="b")
    old, new = "I work at Google.", "I work at Microsoft."
    texts = {second.memories[0]: new, first.memories[0]: old}

    assert first.contents == {first.memories[0]: old}
    assert second.contents == texts
    assert memento.note("I work at Microsoft.", idempotency_key="b").contents == texts
    assert second.note is not None
    assert memento.review.note_status(second.note).contents == texts
    assert memento.undo(first.memories[0]).contents == texts


def test_nothing_that_a_note_has_written_is_read_back(memento: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    memento.note("I work at Google.")
    graph = memento.service.stores.graph
    asked: list[str] = []
    select = graph.select

    def spy(name: str, graphs: Sequence[IRI], **slots: Any) -> Sequence[Row]:
        asked.extend(str(value) for slot in slots.values() for value in (slot if isinstance(slot, list) else [slot]))
        return select(name, graphs, **slots)

    monkeypatch.setattr(type(graph), "select", lambda _, name, graphs, **slots: spy(name, graphs, **slots))
    noted = memento.note("I work at Microsoft with Ana.")

    assert noted.invalidated
    assert set(noted.invalidated) & set(asked)
    assert not {noted.note, *noted.memories} & set(asked)
    monkeypatch.undo()
    assert memento.admin.check() == ()


def test_each_question_of_a_note_has_its_own_settings(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model:
        chosen = settings_for(model)
        own = replace(
            chosen.model,
            temperature=0.4,
            resolve_memories=AgentSettings(model="large", temperature=0.1, max_tokens=321),
        )
        memento = open_memento(tmp_path / "home", configured=replace(chosen, model=own))
        with memento:
            memento.note("I work at Google.")
            memento.note("I work at Microsoft.")
        asked = {
            (request.form, request.body["model"], request.body["temperature"], request.body.get("max_tokens") == 321)
            for request in model.requests
        }

    assert ("MemoryChoices", "large", 0.1, True) in asked
    assert ("Entities", "small", 0.4, False) in asked
    assert {one[1] for one in asked if one[0] != "MemoryChoices"} == {"small"}


def test_a_model_that_answers_unfitly_twice_is_asked_again_and_the_note_is_understood(tmp_path: Path) -> None:
    answers: list[Any] = ["I would rather talk about the weather.", {"memories": "none"}]
    script = Understanding(
        extract_memories=lambda given: answers.pop(0) if answers else Understanding.extract_memories(given)
    )
    with ScriptedModel(script) as model:
        chosen = settings_for(model)
        with open_memento(
            tmp_path / "home", configured=replace(chosen, model=replace(chosen.model, max_retries=2))
        ) as memento:
            noted = memento.note("I use Zed.")
            known = [one.content for one in memento.list()]

    assert not noted.pending
    assert known == ["USER uses Zed."]
    assert script.questions.count("extract_memories") == 3
