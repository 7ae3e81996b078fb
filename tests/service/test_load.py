"""What becomes of more than can be done: it is refused with what is full and when to ask again, and what was taken is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from conftest import OFFLINE
from doors import serving
from endpoints import Server, free_port
from memento.errors import Overloaded
from memento.interfaces.web.app import create_app
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.settings import LimitsSettings, ProxySettings, ServerSettings, Settings
from scripted import Reset, ScriptedModel
from understanding import Understanding, opened

NOTES = 24


@contextmanager
def slow_node(server: Server, home: Path, settings: Settings, on_update: Callable[[str], None]) -> Iterator[Memento]:
    """A node over an endpoint, which calls something before each update."""
    server.empty()
    store = StoreSettings("sparql", server.query_url, server.update_url)
    index = IndexSettings(kind="lance", uri=str(home / "engine"))
    configured = replace(settings, store=store, index=index)
    memento = open_memento(home, configured=configured)
    assert isinstance(memento, Memento)
    assert server.front is not None
    with memento:
        memento.warm_up()
        server.front.on_update = on_update
        try:
            yield memento
        finally:
            server.front.on_update = lambda text: None


def test_of_many_notes_at_once_to_a_slow_store_some_are_refused_and_all_that_were_taken_are_there(
    server: Server, tmp_path: Path
) -> None:
    settings = replace(OFFLINE, limits=LimitsSettings(writers=4))

    def give(number: int) -> httpx2.Response:
        content = {"content": f"The crate {number} stands in hall {number}."}
        return httpx2.post(f"{address}/memory/notes", json=content, timeout=60)

    with slow_node(server, tmp_path, settings, lambda text: time.sleep(0.05)) as memento, serving(memento) as address:
        with ThreadPoolExecutor(NOTES) as pool:
            answers = list(pool.map(give, range(NOTES)))
        refused = [one for one in answers if one.status_code != 201]
        taken = [number for number, one in enumerate(answers) if one.status_code == 201]
        again = give(NOTES)
        texts = [one.content for one in memento.list(limit=100)]
    assert {one.status_code for one in refused} == {503}
    assert {one.headers["retry-after"] for one in refused} == {"1"}
    assert {one.json()["error"]["code"] for one in refused} == {"overloaded"}
    assert all("limits.writers" in one.text for one in refused)
    assert again.status_code == 201
    assert len(taken) >= 4
    assert sorted(texts) == sorted(f"The crate {number} stands in hall {number}." for number in [*taken, NOTES])


def test_a_provider_and_health_are_reached_while_every_thread_waits_for_the_store(
    server: Server, tmp_path: Path
) -> None:
    away = ProxySettings(openai_base_url=f"http://127.0.0.1:{free_port()}")
    settings = replace(OFFLINE, server=ServerSettings(threads=2, waiting=1), proxy=away)
    go_on = threading.Event()

    def hold(text: str) -> None:
        go_on.wait(60)

    with slow_node(server, tmp_path, settings, hold) as memento, serving(memento) as address:

        def give(number: int) -> int:
            return httpx2.post(
                f"{address}/memory/notes", json={"content": f"Crate {number} is red."}, timeout=60
            ).status_code

        with ThreadPoolExecutor(6) as pool:
            giving = [pool.submit(give, number) for number in range(6)]
            while sum(one.done() for one in giving) < 3:  # refused, as two are under way and one waits
                time.sleep(0.01)
            alive, ready = httpx2.get(f"{address}/health"), httpx2.get(f"{address}/health/ready")
            metrics = httpx2.get(f"{address}/metrics").text
            # No provider is there: that it is looked for says that the turn was passed on.
            proxied = httpx2.post(
                f"{address}/v1/chat/completions", json={"messages": [{"role": "user", "content": "Hi"}]}
            )
            is_held = not go_on.is_set() and sum(one.done() for one in giving) == 3
            go_on.set()
            statuses = sorted(one.result() for one in giving)
    assert (alive.status_code, ready.status_code) == (200, 200)
    assert proxied.headers["x-memento-status"] == "error" and proxied.status_code == 502
    assert is_held
    assert "memento_requests 2" in metrics
    assert 'memento_refused_total{what="requests"} 3' in metrics
    assert statuses == [201, 201, 201, 503, 503, 503]


def test_a_note_that_would_wait_is_refused_where_as_many_wait_as_may(tmp_path: Path) -> None:
    script = Understanding(extract_memories=lambda given: Reset())
    with ScriptedModel(script) as model, opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento:
        service = memento.service
        service.settings = replace(service.settings, limits=LimitsSettings(pending=1))
        service.watch = type(service.watch)(service.stores, service.settings, lambda: 0.0)
        memento.warm_up()
        assert memento.note("I live in Lisbon.", wait=False).pending
        time.sleep(2.1)  # for which a count is good
        with create_app(service).test_client() as client:
            refused = client.post("/memory/notes", json={"content": "I live in Porto.", "wait": False})
            ready = client.get("/health/ready")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "30")
    assert "limits.pending" in refused.text
    [notes] = [one for one in (ready.json or {})["parts"] if one["part"] == "notes"]
    assert (ready.status_code, notes["state"], notes["figures"]["pending"]) == (200, "full", 1)


def test_what_a_change_begins_itself_counts_as_one_with_it(memento: Memento) -> None:
    writers = type(memento.service.writers)(1)
    is_refused = threading.Event()

    def begin() -> None:
        with pytest.raises(Overloaded), writers.admit():
            pass
        is_refused.set()

    with writers.admit(), writers.admit():
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join(60)
    with writers.admit():
        pass
    assert is_refused.is_set()
