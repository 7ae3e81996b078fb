"""A note is kept before any model is asked, whatever the model does; it is understood once, and one can see how far it has come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.errors import Conflict, NotFound
from memento.iris import MEM
from memento.model import NoteRow, NoteStatus
from memento.python import Memento, open_memento
from scripted import Declined, Raw, Reset, ScriptedModel, Slow, Status, Truncated
from understanding import Understanding, contents, opened, settings_for


def until(true: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do; raises when it does not within ten seconds."""
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def settled(memento: Memento, iri: str) -> NoteStatus:
    """The status of a note that waits no more."""
    until(lambda: memento.review.note_status(iri).state != "pending")
    return memento.review.note_status(iri)


def test_a_note_that_nobody_waits_for_is_kept_at_once_and_understood_later(tmp_path: Path) -> None:
    may_answer = threading.Event()

    def extract(given: dict[str, Any]) -> Any:
        assert may_answer.wait(60)
        return Understanding.extract_entities(given)

    with ScriptedModel(Understanding(extract_entities=extract)) as model, opened(tmp_path, model) as memento:
        noted = memento.note("I use Zed.", wait=False)
        assert noted.pending
        assert noted.note
        assert memento.review.note_status(noted.note).state == "pending"
        assert memento.status().pending == 1
        assert contents(memento) == set()
        may_answer.set()
        state = settled(memento, noted.note)

        assert (state.state, state.agent, state.attempts) == ("consolidated", "scripted:small", 0)
        assert [memento.get(iri).properties for iri in state.memories]
        assert contents(memento) == {"USER uses Zed."}
        assert memento.status().pending == 0
        assert memento.admin.check() == ()


def test_rules_too_can_be_left_to_work_by_themselves(memento: Memento) -> None:
    noted = memento.note("I work at Google.", wait=False)
    assert noted.note

    assert settled(memento, noted.note).agent == "rules"
    assert contents(memento) == {"I work at Google."}


def test_a_note_in_which_nothing_is_new_says_so_when_asked(memento: Memento) -> None:
    memento.note("I work at Google.")
    noted = memento.note("I work at Google.", wait=False)
    assert noted.note
    state = settled(memento, noted.note)

    assert (state.state, state.memories) == ("skipped", ())
    assert state.reason == "it is already known"
    assert memento.get(noted.note).type == "Note"
    assert memento.admin.check() == ()


@pytest.mark.parametrize(
    "answer",
    [
        Slow(0.2, {"memories": "too late"}),
        {"entities": "none"},
        "I would rather talk about the weather.",
        Truncated(),
        Declined(),
        Status(429, "slow down", {"Retry-After": "0"}),
        Status(500),
        Raw(b"<html>", status=200),
        Reset(),
    ],
    ids=["slow", "wrong shape", "no JSON", "truncated", "declined", "429", "500", "garbage", "reset"],
)
def test_whatever_the_model_does_the_note_is_safe(answer: Any, tmp_path: Path) -> None:
    script = Understanding(extract_memories=lambda given: answer)
    with ScriptedModel(script) as model, opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento:
        noted = memento.note("I work at Google.")

        assert noted.pending
        assert noted.note
        state = memento.review.note_status(noted.note)
        assert (state.state, state.attempts, state.error) == ("pending", 1, "ModelError")
        assert state.retry_at is not None
        assert memento.status().pending == 1
        assert contents(memento) == set()
        assert [one.what for one in memento.admin.check()] == ["pending-note"]
        script.otherwise.clear()
        [again] = memento.review.retry()
        assert (again.state, again.error) == ("consolidated", "ModelError")
        assert contents(memento) == {"USER works at Google."}


def test_an_answer_with_wrong_ids_costs_no_more_than_its_own_decision(tmp_path: Path) -> None:
    def nonsense(given: dict[str, Any]) -> Any:
        return {
            "memories": [
                {"id": "n1", "action": "INVALIDATE", "invalidates": [{"existingMemoryId": "m99", "reason": "?"}]},
                {"id": "n9", "action": "SKIP", "duplicateOf": "m1"},
            ]
        }

    script = Understanding(resolve_memories=nonsense)
    with ScriptedModel(script) as model, opened(tmp_path, model) as memento:
        memento.note("I like tea.")
        noted = memento.note("I like coffee. I like cake.")

        assert len(noted.memories) == 2
        assert contents(memento) == {"USER likes tea.", "USER likes coffee.", "USER likes cake."}


def test_after_the_last_retry_the_rules_have_their_turn_and_the_graph_says_why(tmp_path: Path) -> None:
    with ScriptedModel(lambda asked: Status(500, "out of order")) as model, opened(tmp_path, model) as memento:
        noted = memento.note("I work at Google.")
        assert noted.note
        state = settled(memento, noted.note)
        [source] = memento.review.sources(state.memories[0])

        assert (state.state, state.agent, state.attempts, state.error) == ("consolidated", "rules", 2, "ModelError")
        assert (source.agent, source.kind) == ("rules", "rules")
        assert contents(memento) == {"I work at Google."}
        assert memento.admin.check() == ()


def test_without_that_it_stays_pending(tmp_path: Path) -> None:
    with ScriptedModel(lambda asked: Status(500)) as model:
        chosen = settings_for(model, retries=0, retry_wait_s=60.0)
        chosen = replace(chosen, model=replace(chosen.model, fallback_to_rules=False))
        with open_memento(tmp_path, configured=chosen) as memento:
            assert isinstance(memento, Memento)
            noted = memento.note("I work at Google.")
            assert noted.note

            assert memento.review.note_status(noted.note).state == "pending"
            assert contents(memento) == set()


def test_a_new_process_goes_on_where_the_old_one_ended(tmp_path: Path) -> None:
    script = Understanding(extract_entities=lambda given: Status(500))
    with ScriptedModel(script) as model:
        with opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento:
            kept = [
                memento.note(
                    "I like tea.", wait=False, speaker="Ada", title="Drinks", session="s", position=3, at="2024-05-01"
                ),
                memento.note("I work at Google.", wait=False, namespace="work"),
            ]
            places = list(zip(kept, (None, "work"), strict=True))
            until(
                lambda: all(memento.review.note_status(str(one.note), namespace=name).attempts for one, name in places)
            )
        script.otherwise.clear()
        with opened(tmp_path, model) as memento:
            assert kept[0].note
            assert kept[1].note
            until(lambda: memento.status().pending == 0 and memento.status(namespace="work").pending == 0)
            [memory] = memento.review.note_status(kept[0].note).memories
            said = dict(memento.get(memory).properties)

            assert said[MEM.title] == "Drinks"
            assert memento.review.sources(memory)[0].said_by == "Ada"
            assert memento.get(kept[0].note).properties
            assert MEM.speaker not in dict(memento.get(kept[0].note).properties)
            assert memento.review.note_status(kept[1].note, namespace="work").state == "consolidated"
            assert memento.admin.check() == ()


def test_the_same_key_is_the_same_note_while_it_waits(tmp_path: Path) -> None:
    script = Understanding(extract_entities=lambda given: Status(500))
    with ScriptedModel(script) as model, opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento:
        first = memento.note("I like tea.", wait=False, idempotency_key="k")
        again = memento.note("I like tea.", wait=False, idempotency_key="k")

        assert again.note == first.note
        assert again.pending
        assert memento.status().notes == 1
        with pytest.raises(Conflict):
            memento.note("I like coffee.", wait=False, idempotency_key="k")


@pytest.mark.parametrize("erase", [False, True])
def test_a_note_that_is_forgotten_while_it_waits_is_never_understood(tmp_path: Path, erase: bool) -> None:
    begun, may_answer = threading.Event(), threading.Event()

    def extract(given: dict[str, Any]) -> Any:
        begun.set()
        assert may_answer.wait(60)
        return Understanding.extract_entities(given)

    with ScriptedModel(Understanding(extract_entities=extract)) as model, opened(tmp_path, model) as memento:
        noted = memento.note("My safe opens with zebra4711.", wait=False)
        assert noted.note
        assert begun.wait(60)
        forgotten = memento.forget(noted.note, erase=erase)
        may_answer.set()
        memento.note("I like tea.")

        assert (forgotten.notes, forgotten.erased) == ((noted.note,), erase)
        assert contents(memento) == {"USER likes tea."}
        if erase:
            with pytest.raises(NotFound):
                memento.review.note_status(noted.note)
            assert b"zebra4711" not in memento.graphs.query_bytes("SELECT * { ?s ?p ?o }", accept="text/csv")[0]
        else:
            assert memento.review.note_status(noted.note).state == "skipped"
        assert memento.admin.check() == ()


def test_a_note_that_was_forgotten_while_it_waited_waits_again_when_it_is_brought_back(tmp_path: Path) -> None:
    answers: list[Any] = [Status(500)]
    script = Understanding(
        extract_entities=lambda given: answers.pop() if answers else Understanding.extract_entities(given)
    )
    with ScriptedModel(script) as model, opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento:
        noted = memento.note("I like tea.")
        assert noted.pending
        assert noted.note
        [waiting] = memento.admin.check()
        assert (waiting.what, waiting.iri) == ("pending-note", noted.note)
        assert "after 1 attempts" in waiting.detail
        memento.forget(noted.note)
        assert memento.admin.check() == ()

        back = memento.review.unforget(noted.note)

        assert (back.memories, back.notes, back.contents) == ((), (noted.note,), {noted.note: "I like tea."})
        assert settled(memento, noted.note).state == "consolidated"
        assert contents(memento) == {"USER likes tea."}
        with pytest.raises(NotFound, match="nothing of it is forgotten"):
            memento.review.unforget(noted.note)


def test_an_import_for_a_model_is_kept_and_understood_in_the_background(tmp_path: Path) -> None:
    with ScriptedModel(Understanding()) as model, opened(tmp_path, model) as memento:
        done = memento.intake.import_notes([NoteRow(content=f"I like tea number {n}.") for n in range(3)])

        assert (done.pending, done.memories, done.skipped) == (3, 0, 0)
        assert all(settled(memento, str(note)).state == "consolidated" for note in done.notes)
        assert len(contents(memento)) == 3


def test_a_budget_of_tokens_puts_a_note_off_instead_of_spending_more(tmp_path: Path) -> None:
    script = Understanding()
    with ScriptedModel(script) as model:
        chosen = settings_for(model, retries=1000, retry_wait_s=60.0)
        chosen = replace(chosen, model=replace(chosen.model, tokens_per_note=300))
        with open_memento(tmp_path, configured=chosen) as memento:
            assert isinstance(memento, Memento)
            noted = memento.note("I like tea.")
            assert noted.note

            assert "300 tokens" in (memento.review.note_status(noted.note).reason or "")


def test_who_may_not_read_main_is_compared_with_their_own_namespace_alone(tmp_path: Path) -> None:
    seen: list[str] = []

    def decide(given: dict[str, Any]) -> Any:
        seen.extend(one["content"] for one in given["existing"])
        return Understanding.resolve_memories(given)

    with ScriptedModel(Understanding(resolve_memories=decide)) as model, opened(tmp_path, model) as memento:
        memento.note("I work at Google.")
        guest = memento.with_access(Access(namespaces=("guests",), right="write"))
        guest.note("I live in Rome.")
        noted = guest.note("I live in Paris.", wait=False)
        assert noted.note
        until(lambda: guest.review.note_status(str(noted.note)).state == "consolidated")

    assert seen == ["USER lives in Rome."]


def test_a_note_of_another_namespace_is_not_found(memento: Memento) -> None:
    noted = memento.note("I like tea.", namespace="mine")

    with pytest.raises(NotFound):
        memento.review.note_status(str(noted.note))
    with pytest.raises(NotFound):
        memento.review.note_status("tea")
    with pytest.raises(NotFound):
        memento.review.note_status(noted.memories[0], namespace="mine")


def test_nothing_waits_where_nothing_was_noted(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert memento.review.retry() == ()
