"""The REST door over a real memory: every method by its address, and every way to ask wrongly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from conftest import OFFLINE
from memento.codec import decode
from memento.errors import GraphError
from memento.interfaces.web.app import create_app
from memento.model import Noted, Recollection
from memento.operations.recall import Recall
from memento.python import Memento, open_memento
from memento.service import HANDLERS


@pytest.fixture
def web(memento: Memento) -> Iterator[FlaskClient]:
    with create_app(memento.service).test_client() as client:
        yield client


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """An empty memory for requests that change nothing."""
    opened = open_memento(tmp_path_factory.mktemp("empty"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened, create_app(opened.service).test_client() as client:
        yield client


def noted(web: FlaskClient, content: str, **fields: Any) -> Noted:
    answer = web.post("/memory/notes", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    return decode(Noted, answer.data)


def told(answer: TestResponse) -> Any:
    return json.loads(answer.data)


def error_of(answer: TestResponse, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/json"
    assert set(told(answer)["error"]) == {"code", "message"}
    return str(told(answer)["error"]["message"])


def test_the_history_of_a_subject_has_an_address(web: FlaskClient) -> None:
    noted(web, "I work at Google.", at="2024-01-08")
    noted(web, "I work at Microsoft.", at="2025-03-03")
    answer = web.get("/memory/timeline", query_string={"subject": "me", "as_of": "2024-06-01"})

    assert [memory["content"] for memory in told(answer)["memories"]] == ["I work at Google."]
    assert "subject is missing" in error_of(web.get("/memory/timeline"), 400)


def test_a_note_is_recalled_with_its_history(web: FlaskClient) -> None:
    noted(web, "I work at Google.", at="2024-01-08")
    noted(web, "I work at Microsoft.", at="2025-03-03T09:00:00+01:00")
    answer = web.get("/memory/recall", query_string={"query": "Where do I work?", "k": 1})

    [memory] = told(answer)["memories"]
    assert {"query", "namespace", "memories", "entities", "total_candidates", "timings_ms", "gated"} <= set(
        told(answer)
    )
    assert "Microsoft" in memory["content"]
    assert memory["note"]["at"] == "2025-03-03T08:00:00Z"
    assert "Google" in memory["invalidates"][0]["content"]


def test_recall_is_explained_and_gated_on_demand(web: FlaskClient) -> None:
    noted(web, "I work at Google.", at="2024-01-08")
    explained = told(web.get("/memory/recall?q=Where+do+I+work&explain=true&gate=false"))
    plain = told(web.get("/memory/recall?q=Where+do+I+work&gate=true"))

    [memory] = explained["memories"]
    rows = web.get("/sparql", query_string={"query": explained["sparql"]}, headers={"Accept": "text/csv"}).text
    assert memory["iri"] in rows
    assert sum(memory["why"].values()) == pytest.approx(memory["score"], abs=2e-5)
    assert (plain["sparql"], plain["memories"][0]["why"], plain["gated"]) == (None, {}, False)
    assert "gate must be true or false" in error_of(web.get("/memory/recall?q=x&gate=maybe"), 400)


def test_recall_answers_for_then_as_well_as_for_now(web: FlaskClient) -> None:
    noted(web, "I work at Google.", at="2024-01-08")
    noted(web, "I work at Microsoft.", at="2025-03-03")
    answer = web.get("/memory/recall?q=Where+do+I+work&as_of=2024-06-01")

    assert [one.content for one in decode(Recollection, answer.data).memories] == ["I work at Google."]


def test_recall_ranks_by_the_engine_that_is_asked_for(web: FlaskClient) -> None:
    noted(web, "I live in Lisbon.")
    [memory] = told(web.get("/memory/recall?q=Where+do+I+live&engine=ppr&explain=true&gate=false"))["memories"]

    assert list(memory["why"]) == ["walk"]
    assert ("entity", "Lisbon") in [(step["by"], step["name"]) for step in memory["path"]]
    assert "choose one of signals, ppr, spread, hops, published" in error_of(
        web.get("/memory/recall?q=x&engine=steam"), 400
    )


def test_recall_ranks_by_the_mode_that_is_asked_for(web: FlaskClient) -> None:
    noted(web, "I live in Lisbon.")
    [memory] = told(web.get("/memory/recall?q=Where+do+I+live+in+Lisbon&mode=hybrid&explain=true"))["memories"]

    assert list(memory["why"]) == ["multiple"]
    assert "choose one of vector, keyword, hybrid" in error_of(web.get("/memory/recall?q=x&mode=steam"), 400)


def test_recall_renders_for_models_and_for_people(web: FlaskClient) -> None:
    noted(web, "I live in Lisbon.")

    xml = web.get("/memory/recall?query=Where+do+I+live&format=xml")
    text = web.get("/memory/recall?query=Where+do+I+live&format=text")

    assert (xml.mimetype, xml.text.startswith("<memento>")) == ("application/xml", True)
    assert (text.mimetype, "Lisbon" in text.text) == ("text/plain", True)


def test_what_is_noted_twice_is_skipped_with_a_reason(web: FlaskClient) -> None:
    noted(web, "I live in Lisbon.")
    answer = web.post("/memory/notes", json={"content": "I live in Lisbon."})

    assert answer.status_code == 200
    assert told(answer)["skipped"]


def test_a_retry_with_the_same_key_is_the_same_note(web: FlaskClient) -> None:
    body, header = {"content": "I live in Lisbon."}, {"Idempotency-Key": "one"}
    first = web.post("/memory/notes", json=body, headers=header)
    second = web.post("/memory/notes", json=body, headers=header)

    assert told(first)["note"] == told(second)["note"]
    assert "one" in error_of(web.post("/memory/notes", json={"content": "Else."}, headers=header), 409)


def test_a_memory_is_described_forgotten_and_erased_by_its_iri(web: FlaskClient) -> None:
    [iri] = noted(web, "I live in Lisbon.").memories
    address = f"/memory/{quote(iri, safe='')}"

    assert told(web.get(address))["type"] == "Memory"
    assert told(web.delete(address))["memories"] == [iri]
    assert told(web.get("/memory")) == []
    assert [one["iri"] for one in told(web.get("/memory/list?past=true"))] == [iri]
    assert told(web.delete(f"{address}?erase=true"))["erased"] is True
    assert "nothing" in error_of(web.get(address), 404)


def test_an_iri_with_two_slashes_reaches_the_service(web: FlaskClient) -> None:
    assert told(web.get(f"/memory/{quote('http://purl.org/memento/Memory', safe='')}"))["iri"].startswith("http://purl")


def test_namespaces_are_chosen_by_parameter_header_or_field(web: FlaskClient) -> None:
    noted(web, "I collect stamps.", namespace="hobby")

    assert told(web.get("/memory?namespace=hobby"))
    assert told(web.get("/memory", headers={"Memento-Namespace": "hobby"}))
    assert told(web.get("/memory")) == []


def test_many_notes_come_as_json_lines_or_as_rows(web: FlaskClient) -> None:
    lines = b'{"text": "Ada lives in Lisbon.", "timestamp": "2024-01-01"}\n\n{"content": "Bob lives in Porto."}\n'
    first = web.post("/memory/import?consolidate=false", data=lines, content_type="application/jsonl")
    second = web.post("/memory/import", json={"rows": [{"content": "Carol lives in Faro."}]})

    assert told(first)["memories"] == 2
    assert len(told(second)["notes"]) == 1


def test_care_is_taken_over_http(web: FlaskClient) -> None:
    noted(web, "I live in Lisbon.")

    assert told(web.get("/memory/status"))["memories"] == 1
    assert told(web.get("/memory/check")) == []
    assert told(web.post("/memory/rebuild")) > 0


def test_health_says_starting_until_the_embedder_is_loaded(web: FlaskClient, memento: Memento) -> None:
    before = web.get("/health")
    memento.warm_up()
    after = web.get("/health")

    assert (before.status_code, told(before)["status"]) == (503, "starting")
    assert (after.status_code, told(after)["status"]) == (200, "ok")


def test_metrics_and_the_page_of_addresses_are_there(web: FlaskClient) -> None:
    web.get("/memory/recall?query=anything")

    assert "memento_seconds_total" in web.get("/metrics").text
    assert "/memory/recall" in web.get("/docs").text


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ("[" * 100_000, "not"),
        ("{}", "content"),
        ('{"content": ""}', "content"),
        ('{"content": 3}', "content"),
        ('{"content": "x", "at": "tomorrow"}', "at"),
        ('{"content": "x", "position": -1}', "position"),
        ('{"content": "x", "position": true}', "position"),
        ('{"content": "x", "speaker": ["Ada"]}', "speaker"),
        ('{"content": "x", "namespace": "a\\u0000b"}', "namespace"),
        ('{"content": "x", "colour": "red"}', "colour"),
    ],
)
def test_a_wrong_note_is_refused_by_name(empty: FlaskClient, body: str, named: str) -> None:
    assert named in error_of(empty.post("/memory/notes", data=body, content_type="application/json"), 400)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", "query"),
        ("query=", "query"),
        ("query=x&query=y", "query"),
        ("query=x&k=ten", "k"),
        ("query=x&k=0", "k"),
        ("query=x&as_of=now", "as_of"),
        ("query=x&profile=none", "profile"),
        ("query=x&format=pdf", "format"),
        ("query=x&limit=3", "limit"),
    ],
)
def test_a_wrong_question_is_refused_by_name(empty: FlaskClient, query: str, named: str) -> None:
    assert named in error_of(empty.get(f"/memory/recall?{query}"), 400)


def test_a_note_over_the_limit_is_too_long(empty: FlaskClient) -> None:
    error_of(empty.post("/memory/notes", json={"content": "x" * 1_048_577}), 413)
    error_of(empty.post("/memory/notes", data=b"x" * 3_000_000, content_type="application/json"), 413)


def test_rows_that_are_no_notes_are_refused_by_number_and_keep_no_other_out(empty: FlaskClient) -> None:
    done = empty.post(
        "/memory/import", data=b'{"content": "I row."}\n{"content": 3}\n{broken\n{"content": "I swim."}'
    ).json
    assert done and done["memories"] == 2
    assert [line.split(":")[0] for line in done["refused"]] == ["the body line 2", "the body line 3"]
    rows = {"rows": [{"content": "I ski.", "tags": ["snow"]}, {"text": " "}]}
    done = empty.post("/memory/import", json=rows).json
    assert done and (done["memories"], done["refused"]) == (1, ["row 2: content or text is missing or empty"])
    listed = empty.get("/memory/list?tags=snow").json
    assert listed and len(listed) == 1
    assert "row 1" in error_of(empty.post("/memory/import", json={"rows": [{}]}), 400)
    error_of(empty.post("/memory/import", json={"rows": "x"}), 400)


@pytest.mark.parametrize(
    ("verb", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/memory/urn:memento:memory:none", 404),
        ("GET", "/memory/%3Cx%3E", 400),
        ("GET", "/memory/list?limit=0", 400),
        ("GET", "/memory/list?past=perhaps", 400),
        ("DELETE", "/memory/notes", 400),
        ("PUT", "/memory/recall", 405),
        ("POST", "/memory/notes", 415),
    ],
)
def test_other_mistakes_are_told_as_json(empty: FlaskClient, verb: str, path: str, status: int) -> None:
    error_of(empty.open(path, method=verb), status)


def test_a_form_is_no_note(empty: FlaskClient) -> None:
    assert "application/json" in error_of(empty.post("/memory/notes", data={"content": "x"}), 415)


def test_names_other_than_this_machine_are_refused(empty: FlaskClient) -> None:
    assert "evil.example" in error_of(empty.get("/memory", headers={"Host": "evil.example"}), 403)
    assert empty.get("/memory", headers={"Host": "[::1]:6366"}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost.evil.example", "http://[", "http://localhost:3000"],
)
def test_pages_of_other_origins_may_not_write(web: FlaskClient, origin: str) -> None:
    error_of(web.post("/memory/notes", json={"content": "I like tea."}, headers={"Origin": origin}), 403)
    own = {"Origin": "http://localhost"}
    assert web.post("/memory/notes", json={"content": "I like tea."}, headers=own).status_code == 201


def test_a_failing_store_is_503_and_a_bug_is_500_without_its_inside(
    web: FlaskClient, memento: Memento, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(error: Exception) -> Any:
        def recall(*_: object, **__: object) -> None:
            raise error

        return recall

    with monkeypatch.context() as patch:
        patch.setitem(cast("dict[Any, Any]", HANDLERS), Recall, failing(GraphError("the store is full")))
        assert "full" in error_of(web.get("/memory/recall?query=x"), 503)
        caplog.clear()
        patch.setitem(cast("dict[Any, Any]", HANDLERS), Recall, failing(ValueError("secret")))
        assert "secret" not in error_of(web.get("/memory/recall?query=x"), 500)
    assert [record.message for record in caplog.records] == ["web.broken"]


def test_unicode_survives_the_way_in_and_out(web: FlaskClient) -> None:
    content = "Zoë wrote “</memento>” – 私は東京に住んでいます 🙂"
    noted(web, content)
    answer = web.get("/memory/recall", query_string={"query": "東京"})

    assert content in {memory["note"]["content"] for memory in json.loads(answer.data)["memories"]}


def test_an_item_of_a_batch_that_cannot_be_read_hinders_no_other(web: FlaskClient) -> None:
    items = [
        {"content": "The pier is long.", "keys": ["pier"]},
        {"content": 5},
        {"keys": ["pier"]},
        {"content": "The pier is old.", "keyz": ["pier"]},
        {"content": "The pier is new.", "keys": ["pier"], "types": {"pier": "verb"}},
        "The pier is wet.",
        {"content": "The pier is dry.", "ttl_s": -1},
        {"content": "The pier is high.", "keys": ["pier"]},
    ]
    answer = web.post("/memory/remember/batch", json={"items": items})

    assert answer.status_code == 200, answer.text
    rows = told(answer)
    errors = [row["error"] for row in rows]
    assert [row["remembered"] is not None for row in rows] == [True, *[False] * 6, True]
    words = ("content must be", "content", "unknown field `keyz`", "types", "an object with content", "ttl")
    assert all(word in error for word, error in zip(words, errors[1:-1], strict=True)), errors
    assert "items must be a list" in error_of(web.post("/memory/remember/batch", json={"items": {"content": "x"}}), 400)
    assert "items is missing" in error_of(web.post("/memory/remember/batch", json={}), 400)


def test_an_unknown_parameter_is_told_each_known_one_once(empty: FlaskClient) -> None:
    answer = empty.get("/memory/profile?x=1")
    assert answer.status_code == 400 and answer.text.count("namespace") == 1
