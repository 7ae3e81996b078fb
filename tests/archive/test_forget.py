"""What is forgotten goes together with all that came of it; who told it, and what made a memory of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kept import keep
from memento.errors import InputError, NotFound
from memento.iris import MEM, PROV
from memento.model import NoteRow
from memento.python import Memento
from scripted import ScriptedModel, Status
from understanding import Understanding, contents, opened


def test_a_memory_says_who_told_it_and_what_understood_it(memento: Memento) -> None:
    memento.note("My name is Danny.")
    first = memento.note("I work at Google.", at="2024-01-08")
    second = memento.note("I work at Microsoft.", at="2025-01-08")
    [source] = memento.review.sources(second.memories[0])
    by_note = memento.review.sources(str(first.note))

    assert (source.said_by, source.agent, source.kind) == ("Danny", "rules", "rules")
    assert source.note.content == "I work at Microsoft."
    assert source.rules == ("claims",)
    assert source.prompts is None
    assert [one.memory for one in by_note] == list(first.memories)
    assert memento.admin.check() == ()


def test_the_graph_says_it_as_prov_o(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:
        noted = memento.note("I work at Google.")
        [source] = memento.review.sources(noted.memories[0])
        runs = {
            (predicate, str(value))
            for _, predicate, value, _ in memento.service.stores.graph.quads(memento.service.default_scope.provenance)
        }

        assert (source.agent, source.kind, source.agent_iri) == (
            "scripted:small",
            "model",
            "urn:memento:agent:scripted%3Asmall",
        )
        assert source.prompts is not None
        assert {
            (PROV.used, str(noted.note)),
            (PROV.generated, noted.memories[0]),
            (PROV.wasAssociatedWith, source.agent_iri),
            (MEM.promptHash, source.prompts),
            (MEM.state, "done"),
        } <= runs
        assert memento.admin.check() == ()


@pytest.mark.parametrize("erase", [False, True])
def test_all_that_came_of_one_model_is_forgotten_together(tmp_path: Path, erase: bool) -> None:
    script = Understanding()
    with ScriptedModel(script) as model, opened(tmp_path, model, retries=0) as memento:
        memento.note("I like tea.")
        memento.note("I like cake.", namespace="work")
        script.otherwise["extract_memories"] = lambda given: Status(500)
        kept = memento.note("I work at Google.")  # by the rules, as the model fails
        [iri] = {one.agent_iri for one in memento.review.sources(memento.list(limit=10)[-1].iri)}
        with pytest.raises(InputError, match="confirm"):
            memento.forget(str(iri), erase=erase)
        assert len(memento.list()) == 2
        forgotten = memento.forget(str(iri), erase=erase, confirm=True)

        assert len(forgotten.memories) == 1
        assert contents(memento) == {"I work at Google."}
        assert memento.review.note_status(str(kept.note)).agent == "rules"
        assert len(memento.list(namespace="work")) == 2
        assert memento.admin.check() == ()


def test_what_was_forgotten_comes_back_and_what_was_erased_does_not(memento: Memento) -> None:
    tea, work = memento.note("I like tea."), memento.note("I work at Google.")
    memento.forget(tea.memories[0])
    assert contents(memento) == {"I work at Google."}

    back = memento.review.unforget(str(tea.note))
    assert back.memories == tea.memories and back.contents == {tea.memories[0]: "I like tea."}
    assert contents(memento) == {"I like tea.", "I work at Google."}
    assert memento.recall("What do I like?", gate=False).memories[0].iri == tea.memories[0]
    with pytest.raises(NotFound, match="nothing of it is forgotten"):
        memento.review.unforget(tea.memories[0])

    memento.forget(work.memories[0], erase=True)
    with pytest.raises(NotFound, match="no such memory"):
        memento.review.unforget(work.memories[0])
    with pytest.raises(NotFound):
        memento.review.unforget("urn:memento:agent:rules")
    assert memento.admin.check() == ()


def test_what_is_archived_or_has_expired_is_not_brought_back_from_forgetting(memento: Memento) -> None:
    short = keep(memento, "The kettle is on.", ttl_s=0.01)
    time.sleep(0.05)
    memento.forget(short)

    with pytest.raises(NotFound, match="nothing of it is forgotten"):
        memento.review.unforget(short)


def test_what_is_erased_leaves_no_run_and_no_reason_behind(memento: Memento) -> None:
    old = memento.note("I work at Kumquat Labs.")
    memento.note("I work at Microsoft.")
    memento.undo(old.memories[0])
    memento.forget(str(old.note), erase=True)
    quads = [
        quad for graph in memento.service.stores.graph.graphs() for quad in memento.service.stores.graph.quads(graph)
    ]

    assert not [quad for quad in quads if "Kumquat Labs" in str(quad[2]) and quad[1] != MEM.name]
    assert not [quad for quad in quads if quad[2] == old.note]
    assert memento.admin.check() == ()


def test_what_was_kept_as_it_was_has_nobody_who_understood_it(memento: Memento) -> None:
    done = memento.intake.import_notes([NoteRow(content="Some text.", speaker="Ada")], consolidate=False)
    [source] = memento.review.sources(str(done.notes[0]))

    assert (source.agent, source.agent_iri, source.said_by) == ("", None, "Ada")


def test_a_thing_without_memories_has_no_sources_and_an_unknown_one_is_not_found(memento: Memento) -> None:
    memento.note("I work at Google.")

    assert memento.review.sources("urn:memento:user:local") == ()
    with pytest.raises(NotFound):
        memento.review.sources("urn:memento:memory:none")
    with pytest.raises(NotFound):
        memento.forget("urn:memento:agent:none")


def description(memento: Memento) -> str:
    return "".join(
        value for predicate, value in memento.get("urn:memento:user:local").properties if predicate == MEM.description
    )


@pytest.mark.parametrize("erase", [False, True])
def test_the_user_is_no_longer_described_by_what_went_and_still_by_what_stays(memento: Memento, erase: bool) -> None:
    memento.note("I work at Acme.")
    home = memento.note("I live in Lisbon.")
    assert description(memento) == "I work at Acme. I live in Lisbon."
    memento.forget(home.memories[0], erase=erase)

    assert description(memento) == "I work at Acme."
    memento.forget(memento.list()[0].iri, erase=erase)
    assert description(memento) == ""
    assert memento.admin.check() == ()


def test_what_another_memory_tells_too_stays_in_the_description(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    memento.note("My sister lives in Lisbon.")
    pet = memento.note("I have a dog in Lisbon.", namespace="work")
    memento.forget(pet.memories[0], erase=True, namespace="work")

    assert description(memento) == "I live in Lisbon."


def test_a_description_in_the_words_of_a_model_loses_the_sentence_too(tmp_path: Path) -> None:
    told = "Danny is an engineer at Acme. He settled near the river in Lisbon, which he loves."
    update = {"shouldUpdate": True, "newDescription": told, "reason": "new"}
    script = Understanding(
        extract_entities=lambda given: {"entities": [], "userBiographicalFacts": told},
        resolve_entities=lambda given: {"entities": [], "userDescriptionUpdate": update},
    )
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I work as an engineer at Acme.")
        home = memento.note("I live in Lisbon.")
        assert description(memento) == told
        memento.forget(home.memories[0], erase=True)

        assert description(memento) == "Danny is an engineer at Acme."


def test_all_that_a_note_ended_holds_again_when_it_is_taken_back(memento: Memento) -> None:
    [job] = memento.note("I work at Google.", at="2024-01-08").memories
    [both] = memento.note("My rent is 700 euros. My dentist is Dr. Costa.", at="2024-05-01").memories
    told = memento.note("I work at Microsoft now. My rent is 800 euros.", at="2025-03-03")
    assert told.note and job in told.invalidated
    assert [one.words for one in memento.timeline("me").memories[1].ended] == ["My rent is 700 euros"]

    gone = memento.forget(told.note, restore=True)

    assert gone.memories == told.memories
    assert gone.restored == {job: "I work at Google.", both: "My rent is 700 euros. My dentist is Dr. Costa."}
    assert {one.iri: one.state for one in memento.timeline("me").memories} == {job: "holds", both: "holds"}
    assert all(not one.ended for one in memento.timeline("me").memories)
    assert memento.admin.check() == ()


def test_a_correction_that_is_taken_back_leaves_what_was_said_before(memento: Memento) -> None:
    [wrong] = memento.note("I live in Lisbon.").memories
    right = memento.correct(wrong, "I live in Porto.")

    assert memento.forget(right.memories[0], restore=True).restored == {wrong: "I live in Lisbon."}
    assert [one.content for one in memento.list()] == ["I live in Lisbon."]
    assert memento.forget(wrong, restore=True).restored == {}
