"""An answer is kept for the same question of the same caller: fresh while nothing is written, stale where a setting says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import OFFLINE
from kept import keep
from memento.access import Access
from memento.model import Recollection
from memento.operations.recall import Recall
from memento.python import Memento, open_memento
from memento.service import handle
from memento.settings import AnswersSettings, EmbeddingSettings, GateSettings, Settings
from memento.time import now


def settings(**answers: object) -> Settings:
    return replace(
        OFFLINE,
        embedding=EmbeddingSettings(model="trigram"),
        gate=GateSettings(on=False),
        answers=AnswersSettings(**answers),  # type: ignore[arg-type]
    )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Memento]]:
    memories: list[Memento] = []

    def opener(**answers: object) -> Memento:
        memory = open_memento(tmp_path, namespace="main", configured=settings(**answers))
        assert isinstance(memory, Memento)
        keep(memory, "The code word is marigold.")
        memories.append(memory)
        return memory

    yield opener
    for memory in memories:
        memory.close()


def ask(memento: Memento, question: str = "What is the code word?") -> tuple[str | None, list[str]]:
    found = memento.recall(question)
    return found.cached, [one.content for one in found.memories]


def test_without_the_setting_nothing_is_kept(opened: Callable[..., Memento]) -> None:
    memento = opened()

    assert [ask(memento)[0] for _ in range(2)] == [None, None]


def test_an_answer_is_given_again_until_something_is_written_and_the_oldest_goes_first(
    opened: Callable[..., Memento],
) -> None:
    memento = opened(cached=2)

    assert [ask(memento)[0] for _ in range(2)] == [None, "fresh"]
    assert ask(memento)[1] == ["The code word is marigold."]
    keep(memento, "The bakery opens at seven.")
    assert ask(memento) == (None, ask(memento)[1])
    assert len(ask(memento)[1]) == 2
    assert [ask(memento, one)[0] for one in ("a?", "b?", "a?")] == [None, None, "fresh"]
    assert ask(memento)[0] is None


def test_a_stale_answer_is_given_once_and_made_again_in_the_background(opened: Callable[..., Memento]) -> None:
    memento = opened(cached=10, stale_s=60)
    ask(memento)
    keep(memento, "The bakery opens at seven.")
    answers = memento.service.answers

    assert ask(memento) == ("stale", ["The code word is marigold."])
    answers.worker.stop(10)
    answers._make_again() if answers._waiting else None
    assert ask(memento)[0] in ("fresh", "stale")


@pytest.mark.parametrize("erase", [False, True])
def test_what_was_forgotten_is_never_given_again(opened: Callable[..., Memento], erase: bool) -> None:
    memento = opened(cached=10, stale_s=1000)
    [one] = memento.recall("What is the code word?").memories

    memento.forget(one.iri, erase=erase)

    assert ask(memento) == (None, [])


def test_what_is_forgotten_while_it_is_answered_is_not_kept(opened: Callable[..., Memento]) -> None:
    memento = opened(cached=10, stale_s=1000)
    [one] = memento.recall("word").memories
    answers, scope = memento.service.answers, memento.service.default_scope

    def make() -> Recollection:
        found = memento.recall("code word")
        memento.forget(one.iri)
        return found

    question = Recall("slow")
    assert answers.get_answer(question, Access(), scope, make).memories
    empty = answers.get_answer(question, Access(), scope, lambda: replace(memento.recall("code word"), cached=None))
    assert (empty.cached, empty.memories) == (None, ())


def test_an_answer_is_of_its_caller_alone(opened: Callable[..., Memento]) -> None:
    memento = opened(cached=10, stale_s=1000)
    keep(memento, "The safe is behind the painting.", namespace="work")
    asked = Recall("Where is the safe?", namespace="work")

    def found(access: Access) -> tuple[str | None, list[str]]:
        answer = handle(asked, memento.service.context(access))
        return answer.cached, [one.content for one in answer.memories]

    whole, work = Access(), Access(namespaces=("work",))
    assert found(whole) == (None, found(whole)[1])
    assert found(work) == (None, ["The safe is behind the painting."])
    assert found(Access(tenant="other")) == (None, [])
    assert found(whole)[0] == "fresh"
    assert len(found(whole)[1]) == 2


def test_what_ends_by_itself_ends_in_a_kept_answer_too(opened: Callable[..., Memento]) -> None:
    memento = opened(cached=10, stale_s=10_000, fresh_s=10_000)
    keep(memento, "The parcel comes today.", ttl_s=600)
    assert len(ask(memento)[1]) == 2
    assert ask(memento)[0] == "fresh"

    memento.service.stores.clock = lambda: now() + timedelta(seconds=700)

    assert ask(memento) == (None, ["The code word is marigold."])
