"""What `/health` tells, and to whom; and that it says yes only when a question would be answered at full speed."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from endpoints import BINARY, Server, free_port
from memento import __version__, telemetry
from memento.archive import check
from memento.errors import StoreAway
from memento.interfaces.web import app, openapi
from memento.interfaces.web.app import create_app
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.time import now
from scripted import Reset, ScriptedModel
from understanding import Understanding, opened

STRANGER = {"REMOTE_ADDR": "10.0.0.7"}


def test_strangers_learn_whether_it_is_up_and_no_more(memento: Memento) -> None:
    with create_app(memento.service).test_client() as client:
        ways: list[dict[str, Any]] = [
            {"environ_base": STRANGER},
            {"headers": {"X-Memento-Token": "mem_wrong"}},
            {"headers": {"Host": "evil.example"}},
        ]
        before = [client.get("/health", **how) for how in ways]
        memento.warm_up()
        after = [client.get("/health", **how) for how in ways]

    assert [(one.status_code, one.json) for one in before] == [(503, {"status": "starting"})] * 3
    assert [(one.status_code, one.json) for one in after] == [(200, {"status": "ok"})] * 3


def test_those_who_are_let_in_learn_of_the_parts(memento: Memento) -> None:
    memento.note("I live in Lisbon.", namespace="work")
    token = memento.tokens.create("reader", tenant="local", namespaces=["work"], right="read", at=now())
    with create_app(memento.service).test_client() as client:
        here = client.get("/health").json
        there = client.get("/health", environ_base=STRANGER, headers={"Authorization": f"Bearer {token}"}).json
    status = memento.status()

    assert here and there
    here.pop("proxied")  # what this process has relayed, for the owner alone
    assert there.pop("proxied") is None
    assert here == there
    assert here == {
        "status": "starting",
        "version": __version__,
        "embedder": status.embedder,
        "runtime": status.runtime,
        "store": "ok",
        "indexes": status.vectors,
        "pending": 0,
        "failed": 0,
        "upstreams": {
            "openai": "https://api.openai.com:443",
            "anthropic": "https://api.anthropic.com:443",
            "ollama": "http://localhost:11434",
        },
        "degraded": None,
        "set_aside": None,
        "differences": [],
        "plugins": {},  # those that cannot be loaded
    }


def test_a_balancer_is_told_when_to_send_requests_and_those_who_are_let_in_how_each_part_stands(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "LOOK_S", 60.0)  # every part answers
    monkeypatch.setattr(app, "_FRESH_S", 0.0)
    with create_app(memento.service).test_client() as client:
        early = client.get("/health/ready", environ_base=STRANGER)
        memento.note("I live in Lisbon.")
        memento.warm_up()
        ready, stranger = client.get("/health/ready"), client.get("/health/ready", environ_base=STRANGER)
    told = json.loads(ready.data)
    parts = {one["part"]: one for one in told["parts"]}

    assert (early.status_code, early.json) == (503, {"status": "starting", "away": [], "parts": []})
    assert (stranger.status_code, stranger.json) == (200, {"status": "ready", "away": [], "parts": []})
    assert (ready.status_code, told["status"], told["away"]) == (200, "ready", [])
    assert [*parts] == ["store", "index", "embedder", "model", "notes", "disk"]
    assert {one["state"] for one in parts.values()} == {"ok"}
    assert parts["store"]["figures"]["kind"] == "embedded"
    assert parts["index"]["figures"]["nodes"] == memento.status().vectors
    assert parts["notes"]["figures"] == {"pending": 0, "failed": 0, "oldest_s": 0.0}


def test_a_store_that_stops_to_answer_takes_the_node_out_of_service_and_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_FRESH_S", 0.0)
    if BINARY is None:
        pytest.skip("oxigraph, the server, is not installed")
    server = Server(tmp_path / "endpoint", free_port())
    server.start()
    assert server.process is not None
    store = StoreSettings("sparql", server.query_url, server.update_url, timeout_s=600)
    index = IndexSettings(kind="lance", uri=str(tmp_path / "engine"))
    configured = replace(OFFLINE, store=store, index=index)
    try:
        opened = open_memento(tmp_path / "home", configured=configured)
        assert isinstance(opened, Memento)
        with opened, create_app(opened.service).test_client() as client:
            opened.warm_up()
            opened.note("I live in Lisbon.")
            until = time.monotonic() + 60
            while (well := client.get("/health/ready")).status_code != 200:
                assert time.monotonic() < until
            server.process.send_signal(signal.SIGSTOP)
            try:
                stopped = [client.get(path) for path in ("/health/ready", "/health", "/metrics")]
                with pytest.raises(StoreAway, match="the store is away"):
                    opened.status()
            finally:
                server.process.send_signal(signal.SIGCONT)
            until = time.monotonic() + 60
            while client.get("/health/ready").status_code != 200:
                assert time.monotonic() < until
                time.sleep(0.1)
            back = client.get("/health/ready").json or {}
    finally:
        server.kill()
    ready, health, metrics = stopped
    [told] = [one for one in (ready.json or {})["parts"] if one["part"] == "store"]

    assert (well.status_code, (well.json or {})["parts"][0]["figures"]["kind"]) == (200, "sparql")
    assert (ready.status_code, (ready.json or {})["away"], told["state"]) == (503, ["store"], "away")
    assert (health.status_code, (health.json or {})["store"]) == (200, "failing")
    assert 'memento_part_up{part="store"} 0' in metrics.text
    assert back["parts"][0]["state"] == "ok"


def test_a_part_that_hangs_is_away_and_is_looked_at_by_one_thread_however_often_somebody_asks(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    memento.warm_up()
    monkeypatch.setattr(app, "_FRESH_S", 0.0)
    freed, looked = threading.Event(), list[threading.Thread]()

    def hang() -> int:
        looked.append(threading.current_thread())
        freed.wait()
        return 7

    with create_app(memento.service).test_client() as client:
        monkeypatch.setattr(memento.service.stores.indexes, "count_nodes", hang)
        answers = [client.get("/health/ready") for _ in range(3)]
        freed.set()
        looked[0].join()
        monkeypatch.setattr(check, "LOOK_S", 60.0)
        back = client.get("/health/ready")
    [index] = [one for one in (answers[-1].json or {})["parts"] if one["part"] == "index"]

    # Another part may be away too, on a machine that does not let its thread run within a second.
    assert [(one.status_code, "index" in (one.json or {})["away"]) for one in answers] == [(503, True)] * 3
    assert (index["state"], index["is_needed"]) == ("away", True)
    assert "has not answered for" in index["detail"]
    assert [one.name for one in looked] == ["look-index"] * 2
    assert (back.status_code, (back.json or {})["parts"][1]["figures"]["nodes"]) == (200, 7)


def test_what_waits_is_counted_in_every_namespace_and_a_store_that_fails_changes_no_status(tmp_path: Path) -> None:
    script = Understanding(extract_memories=lambda given: Reset())
    with (
        ScriptedModel(script) as model,
        opened(tmp_path, model, retries=1000, retry_wait_s=60.0) as memento,
        create_app(memento.service).test_client() as client,
    ):
        memento.note("I live in Lisbon.", namespace="work")
        memento.warm_up()
        well = client.get("/health")
        memento.service.stores.graph.close()
        broken = client.get("/health")

    assert (well.status_code, json.loads(well.data)["pending"]) == (200, 1)
    assert (broken.status_code, json.loads(broken.data)["store"]) == (200, "failing")


def test_it_is_as_openapi_says(memento: Memento) -> None:
    page = json.loads(openapi.page())
    answers = page["paths"]["/health"]["get"]["responses"]
    schema = page["components"]["schemas"]["Health"]
    with create_app(memento.service).test_client() as client:
        here, there = client.get("/health").json, client.get("/health", environ_base=STRANGER).json

    assert set(answers) == {"200", "503"}
    assert {one["content"]["application/json"]["schema"]["$ref"] for one in answers.values()} == {
        "#/components/schemas/Health"
    }
    assert set(here or ()) == set(schema["properties"])
    assert set(there or ()) == set(schema["required"])


def test_warming_up_goes_the_whole_way_of_a_question(memento: Memento) -> None:
    def traced() -> str:
        return next(
            (line for line in telemetry.exposition().splitlines() if '_total{event="recall.trace"}' in line), ""
        )

    memento.note("I live in Lisbon.")
    before = traced()
    memento.warm_up()

    assert traced() != before
