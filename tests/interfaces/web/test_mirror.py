"""The addresses of a published design: what is ours below `/api`, and what goes on to the provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from memento.interfaces.web.app import create_app
from memento.iris import IRI
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, ProxySettings, Settings

RELAYED = 400  # no provider is set here: the answer says so


@pytest.fixture
def client(memento: Memento) -> Iterator[FlaskClient]:
    nowhere = ProxySettings(openai_base_url="", anthropic_base_url="", ollama_base_url="")
    memento.service.settings = replace(memento.settings, proxy=nowhere)
    yield create_app(memento.service).test_client()


def test_what_is_saved_is_found_listed_and_deleted(client: FlaskClient) -> None:
    saved = client.post("/api/save", json={"content": "The till opens at nine.", "tags": ["till"], "container": "shop"})
    assert saved.status_code == 201 and saved.json and saved.json["count"] == 1
    [iri] = saved.json["ids"]
    client.post("/api/save", json={"content": "The till is red.", "namespace": "other"})

    found = client.post("/api/recall", json={"query": "till", "searchMode": "keyword", "tags": ["till"]}).json
    assert found and [one["id"] for one in found["memories"]] == [iri]
    everywhere = client.post("/api/search", json={"query": "till red"}).json
    assert everywhere and {one["preview"] for one in everywhere["memories"]} == {
        "The till opens at nine.",
        "The till is red.",
    }
    listed = client.get("/api/list?tags=till&limit=1").json
    assert listed and [one["iri"] for one in listed["memories"]] == [iri]
    health = client.get("/api/health", headers={"Memento-Namespace": "other"}).json
    assert health and health["namespace"] == "other" and health["memories"] == 2  # it reads main too

    assert client.delete(f"/api/{iri}").json == {"hidden": True, "memories": [iri]}
    listed = client.get("/api/list").json
    assert listed and listed["memories"] == []


def test_a_memory_is_deleted_by_the_end_of_its_iri_or_its_whole_uuid(client: FlaskClient) -> None:
    for begin in (-6, len("urn:memento:memory:")):
        (iri,) = client.post("/api/save", json={"content": "The till opens at nine."}).json["ids"]  # type: ignore[index]
        deleted = client.delete(f"/api/{iri[begin:]}")
        assert (deleted.status_code, deleted.json) == (
            200,
            {"hidden": True, "memories": [iri]},
        )
        assert client.get("/api/list").json == {"memories": []}
    for unknown in ("fffff0", "0192d5a0-0000-7000-8000-000000abcdef", "urn:memento:memory:0192"):
        missed = client.delete(f"/api/{unknown}")
        assert missed.status_code == 404 and unknown in missed.text


def test_the_short_addresses_answer_as_the_long_ones(client: FlaskClient, memento: Memento) -> None:
    memento.note("I work at Google.", tags=["job"])
    listed = client.get("/list?tags=job").json
    assert listed and [one["content"] for one in listed] == ["I work at Google."]
    for form in ("jsonl", "json", "markdown", "csv"):
        assert "I work at Google." in client.get("/export", query_string={"format": form}).text
    asked = client.post("/ask", json={"question": "Where do I work?"}).json
    assert asked and asked["memories"]["memories"][0]["content"] == "I work at Google."
    assert asked["answer"] is None


def test_a_field_that_is_missing_or_unknown_is_named(client: FlaskClient) -> None:
    wrong = client.post("/api/recall", json={"query": "till", "colour": "red"})
    assert wrong.status_code == 400 and "no argument 'colour'" in wrong.text
    assert client.get("/api/list?limit=many").status_code == 400
    misspelt = client.get("/api/list?container=shop&tagz=till")
    assert misspelt.status_code == 400 and "no argument 'tagz'" in misspelt.text


@pytest.mark.parametrize(
    ("path", "needed"), [("/api/save", "content"), ("/api/recall", "query"), ("/api/search", "query")]
)
def test_what_lacks_its_field_is_refused_and_no_matter_of_a_provider(
    client: FlaskClient, path: str, needed: str
) -> None:
    for body, wrong in (({}, needed), ({f"{needed}s": "The till."}, f"{needed}s"), ({"model": "plain"}, "model")):
        missed = client.post(path, json=body)
        assert missed.status_code == 400 and wrong in missed.text and "upstream" not in missed.text
    for said in ("[1]", '"content"'):
        missed = client.post(path, data=said, content_type="application/json")
        assert missed.status_code == 400 and "JSON object" in missed.text
    assert client.post(path, data="", content_type="application/json").status_code == 400
    assert client.post(path, data="The till.", content_type="text/plain").status_code == 400


def test_what_is_meant_for_a_provider_goes_there(client: FlaskClient) -> None:
    for method, path, body in (
        ("GET", "/api/save", None),
        ("GET", "/api/tags", None),
        ("DELETE", "/api/delete", {"model": "plain"}),
        ("POST", "/api/list", {"query": "till"}),
    ):
        answer = client.open(path, method=method, json=body) if body else client.open(path, method=method)
        assert answer.status_code == RELAYED and "upstream" in answer.text, (method, path, answer.text)


def test_a_wrong_key_opens_none_of_them(client: FlaskClient) -> None:
    wrong = {"Authorization": "Bearer some-key"}
    for method, path, body in (
        ("POST", "/api/save", {"content": "Tea."}),
        ("POST", "/api/recall", {"query": "tea"}),
        ("POST", "/api/search", {"query": "tea"}),
        ("GET", "/api/list", None),
        ("GET", "/api/health", None),
        ("DELETE", "/api/urn:memento:memory:0192", None),
        ("POST", "/ask", {"question": "Tea?"}),
        ("GET", "/list", None),
        ("GET", "/export", None),
    ):
        assert client.open(path, method=method, json=body, headers=wrong).status_code == 401, path
    # A provider's key is the provider's matter.
    assert client.post("/api/chat", json={"model": "plain"}, headers=wrong).status_code == RELAYED


def test_what_is_linked_to_an_answer_comes_along_though_the_gate_leaves_it_out(tmp_path: Path) -> None:
    opened = open_memento(tmp_path, configured=Settings(embedding=EmbeddingSettings(runtime="torch", cache=False)))
    assert isinstance(opened, Memento)
    with opened as memento, create_app(memento.service).test_client() as client:

        def save(content: str, *tags: str) -> IRI:
            saved = client.post("/api/save", json={"content": content, "tags": tags}).json
            assert saved
            return IRI(saved["ids"][0])

        heating = save("Anna pays the heating bill.", "home")
        zoo = save("Berlin has a zoo with pandas.")
        over = save("Chess is played on Mondays.")
        memento.living.associate(heating, zoo, relation="references", weight=0.42)
        memento.living.associate(over, heating, relation="similar", weight=0.9)
        memento.forget(over)
        question = "Who pays the heating bill?"

        for path in ("/api/recall", "/api/search"):
            found = client.post(path, json={"query": question, "limit": 1}).json
            assert found and [one["id"] for one in found["memories"]] == [heating]
            [linked] = found["related"]
            assert (linked["id"], linked["of"], linked["relation"], linked["strength"]) == (
                zoo,
                heating,
                "references",
                0.42,
            )
            assert linked["preview"] == "Berlin has a zoo with pandas."

        def recall(**given: object) -> list[str]:
            answer = client.get("/memory/recall", query_string={"query": question, **given}).json
            assert answer and [one["iri"] for one in answer["memories"]] == [heating]
            return [one["memory"] for one in answer["related"]]

        assert recall() == []
        assert recall(related=3) == [zoo]
        assert recall(related=3, tags="home") == []
        shown = {
            form: client.get("/memory/recall", query_string={"query": question, "related": 3, "format": form}).text
            for form in ("text", "xml")
        }
        assert all("zoo with pandas" in text for text in shown.values())
        assert client.get("/memory/recall", query_string={"query": question, "related": 101}).status_code == 400
        nothing = client.get("/memory/recall", query_string={"query": "What is a quasar?", "related": 3}).json
        assert nothing and (nothing["memories"], nothing["related"]) == ([], [])


@pytest.mark.parametrize("path", ["/api/save", "/api/recall", "/api/search"])
def test_broken_json_is_refused_as_such(client: FlaskClient, path: str) -> None:
    answer = client.post(path, data='{"content": ', content_type="application/json")
    assert answer.status_code == 400 and "the body is not JSON" in answer.text


def test_ask_takes_its_question_under_the_name_of_its_neighbours(client: FlaskClient, memento: Memento) -> None:
    memento.note("I work at Google.")

    for body in ({"question": "Where do I work?"}, {"query": "Where do I work?"}):
        asked = client.post("/ask", json=body).json
        assert asked and asked["memories"]["memories"], (body, asked)
