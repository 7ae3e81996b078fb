"""What `/health` tells, and to whom; and that it says yes only when a question would be answered at full speed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memento import __version__, telemetry
from memento.interfaces.web import openapi
from memento.interfaces.web.app import create_app
from memento.python import Memento
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
    }


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
