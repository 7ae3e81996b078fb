"""A service that is busy is waited for, one that is away is left alone, and none is waited for too long."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from memento.breaker import Breaker
from memento.errors import EmbeddingError, ModelError
from memento.llm import Endpoint, Limits
from scripted import Asked, Raw, Reset, ScriptedModel, Slow, Status

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
PATH = "/chat/completions"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as scripted:
        yield scripted


def endpoint(
    base_url: str, *, breaker: Breaker | None = None, silence_s: float = 60.0, wait_s: float = 0.001
) -> Endpoint:
    return Endpoint(
        base_url,
        headers={"authorization": "Bearer k"},
        secret="k",
        called="box",
        error=ModelError,
        limits=Limits(connect_s=60.0, silence_s=silence_s, retry_wait_s=wait_s),
        breaker=breaker or Breaker(100, 30.0),
    )


def soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def failing(times: int, how: Any) -> Callable[[Asked], Any]:
    left = [how] * times
    return lambda asked: left.pop() if left else {}


@pytest.mark.parametrize("how", [*(Status(n) for n in (408, 409, 425, 429, 500, 502, 503, 529)), Reset()], ids=repr)
def test_what_may_pass_is_tried_again(model: ScriptedModel, how: Any) -> None:
    model.answer = failing(2, how)
    answer = endpoint(model.openai).post(PATH, BODY, retries=2, until=soon())

    assert (answer.status, answer.attempts) == (200, 3)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (Status(401), "box at http://127.0.0.1:.*/v1 answered 401: scripted; check its api_key"),
        (Status(404), "answered 404: scripted; check its base_url and model"),
        (Status(429, "no money", code="insufficient_quota"), "answered 429: no money"),
        (Raw(b"<html>a gateway</html>"), "answered no JSON object; check its base_url"),
        (Raw(b"moved", status=302), "answered 302: moved"),
    ],
    ids=repr,
)
def test_what_will_not_pass_is_not_tried_again(model: ScriptedModel, how: Any, message: str) -> None:
    model.answer = lambda asked: how
    with pytest.raises(ModelError, match=message):
        endpoint(model.openai).post(PATH, BODY, retries=3, until=soon())

    assert len(model.requests) == 1


def test_after_the_last_retry_the_services_own_words_are_given(model: ScriptedModel) -> None:
    model.answer = lambda asked: Status(503, "we are\n full")
    with pytest.raises(ModelError, match="answered 503: we are full"):
        endpoint(model.openai).post(PATH, BODY, retries=1, until=soon())

    assert len(model.requests) == 2


def waited(model: ScriptedModel) -> float:
    first, second = model.requests
    return second.at - first.at


@pytest.mark.parametrize("headers", [{"retry-after": "0.2"}, {"retry-after-ms": "200"}], ids=str)
def test_retry_after_is_waited_for(model: ScriptedModel, headers: dict[str, str]) -> None:
    model.answer = failing(1, Status(429, headers=headers))
    endpoint(model.openai).post(PATH, BODY, retries=1, until=soon())

    assert waited(model) >= 0.2


def test_retry_after_may_be_a_date(model: ScriptedModel) -> None:
    at = datetime.now(UTC) + timedelta(seconds=2)
    model.answer = failing(1, Status(503, headers={"retry-after": format_datetime(at, usegmt=True)}))
    endpoint(model.openai).post(PATH, BODY, retries=1, until=soon())

    assert waited(model) >= 0.5, "a date has whole seconds"


@pytest.mark.parametrize("seconds", ["61", "40"])
def test_a_service_that_asks_for_too_long_a_wait_is_not_waited_for(model: ScriptedModel, seconds: str) -> None:
    model.answer = lambda asked: Status(429, headers={"retry-after": seconds})
    with pytest.raises(ModelError, match="answered 429"):
        endpoint(model.openai).post(PATH, BODY, retries=3, until=soon(30.0))

    assert len(model.requests) == 1


def test_waits_grow_and_are_left_to_chance(model: ScriptedModel) -> None:
    box = endpoint(model.openai, wait_s=1.0)
    waits = [[box._pause(attempt) for _ in range(50)] for attempt in (1, 2, 3, 20)]

    assert all(
        0.5 * longest <= wait <= longest for some, longest in zip(waits, (1, 2, 4, 60), strict=True) for wait in some
    )
    assert len(set(waits[0])) > 1


def test_silence_is_ended(model: ScriptedModel) -> None:
    model.answer = lambda asked: Slow(60, {})
    with pytest.raises(ModelError, match="did not answer: ReadTimeout"):
        endpoint(model.openai, silence_s=0.05).post(PATH, BODY, retries=0, until=soon())


def test_an_answer_that_drips_is_ended_too(model: ScriptedModel) -> None:
    model.answer = lambda asked: Raw(b" " * 4_000, pieces=4_000, pause_s=0.03)
    begin = time.monotonic()
    with pytest.raises(ModelError, match="did not answer: ReadTimeout"):
        endpoint(model.openai).post(PATH, BODY, retries=5, until=soon(0.2))

    assert len(model.requests) == 1
    assert time.monotonic() - begin < 4_000 * 0.03, "it would have taken that long"


def test_nobody_at_home_is_an_error_of_the_class_that_was_asked_for() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    box = Endpoint(
        f"http://user:pass@127.0.0.1:{port}/v1",
        headers={},
        secret="",
        called="the embedder box",
        error=EmbeddingError,
        limits=Limits(retry_wait_s=0.001),
        breaker=Breaker(5, 30.0),
    )
    with pytest.raises(
        EmbeddingError, match=rf"the embedder box at http://127.0.0.1:{port}/v1 did not answer"
    ) as failed:
        box.post(PATH, BODY, retries=1, until=soon())

    assert "pass@" not in str(failed.value)


def test_a_service_that_keeps_failing_is_left_alone_and_then_tried_once(model: ScriptedModel) -> None:
    now = 0.0
    box = endpoint(model.openai, breaker=Breaker(2, 30.0, lambda: now))
    model.answer = lambda asked: Status(500)
    for _ in range(2):
        with pytest.raises(ModelError, match="answered 500"):
            box.post(PATH, BODY, retries=0, until=soon())
    with pytest.raises(ModelError, match="failed 2 times in a row; it is left alone for another 30 s"):
        box.post(PATH, BODY, retries=0, until=soon())
    assert len(model.requests) == 2

    now, model.answer = 30.0, lambda asked: {}
    assert box.post(PATH, BODY, retries=0, until=soon()).status == 200
    assert box.breaker.state == "closed"


def test_a_refusal_or_a_busy_answer_does_not_open_the_circuit(model: ScriptedModel) -> None:
    box = endpoint(model.openai, breaker=Breaker(1, 30.0))
    for status in (400, 401, 404, 429):
        model.answer = failing(1, Status(status))
        if status == 400:
            assert box.post(PATH, BODY, retries=0, until=soon()).status == 400
        else:
            with pytest.raises(ModelError, match=f"answered {status}"):
                box.post(PATH, BODY, retries=0, until=soon())

    assert box.breaker.state == "closed"


def test_after_it_is_closed_the_next_request_connects_anew(model: ScriptedModel) -> None:
    box = endpoint(model.openai)
    for _ in range(2):
        assert box.post(PATH, BODY, retries=0, until=soon()).status == 200
        box.close()
    box.close()
