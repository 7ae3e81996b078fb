"""The SPARQL door: the query operation of the protocol in its three forms, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from conftest import OFFLINE
from memento.service import Memento, open_memento
from memento.web.app import create_app

CONTENTS = "PREFIX mem: <http://purl.org/memento/> SELECT ?content WHERE { ?m a mem:Memory ; mem:content ?content }"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    memento = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, create_app(memento).test_client() as client:
        memento.note("I live in Lisbon.")
        memento.note("I collect stamps.", namespace="hobby")
        yield client


def told(answer: TestResponse) -> Any:
    return json.loads(answer.data)


def test_a_query_comes_by_url_by_form_and_by_itself(web: FlaskClient) -> None:
    answers = [
        web.get("/sparql", query_string={"query": CONTENTS}),
        web.post("/sparql", data={"query": CONTENTS}),
        web.post("/sparql", data=CONTENTS, content_type="application/sparql-query"),
    ]

    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert answer.mimetype == "application/sparql-results+json"
        assert [row["content"]["value"] for row in told(answer)["results"]["bindings"]] == ["USER lives in Lisbon."]


@pytest.mark.parametrize(
    ("query", "media"),
    [
        (CONTENTS, "application/sparql-results+xml"),
        (CONTENTS, "text/csv"),
        (CONTENTS, "text/tab-separated-values"),
        ("ASK { ?s ?p ?o }", "application/sparql-results+json"),
        ("CONSTRUCT { ?s a ?t } WHERE { ?s a ?t }", "text/turtle"),
        ("DESCRIBE <urn:memento:user:local>", "application/n-triples"),
    ],
)
def test_the_answer_is_in_the_media_type_asked_for(web: FlaskClient, query: str, media: str) -> None:
    answer = web.get("/sparql", query_string={"query": query}, headers={"Accept": f"{media}, */*;q=0.1"})

    assert (answer.status_code, answer.mimetype) == (200, media)
    assert answer.data


def test_the_namespace_decides_which_graphs_are_read(web: FlaskClient) -> None:
    main = web.get("/sparql", query_string={"query": CONTENTS}, headers={"Accept": "text/csv"})
    hobby = web.get("/sparql", query_string={"query": CONTENTS, "namespace": "hobby"}, headers={"Accept": "text/csv"})

    assert "stamps" not in main.text
    assert "stamps" in hobby.text


def test_without_a_query_it_says_what_it_is(web: FlaskClient) -> None:
    assert "SPARQL" in web.get("/sparql").text


@pytest.mark.parametrize(
    ("sent", "status", "named"),
    [
        (
            {"data": "INSERT DATA { <a:a> <a:b> <a:c> }", "content_type": "application/sparql-update"},
            403,
            "/sparql/update",
        ),
        ({"data": {"update": "CLEAR ALL"}}, 403, "/sparql/update"),
        ({"data": {"query": "CLEAR ALL"}}, 403, "update"),
        ({"data": {"query": "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"}}, 403, "SERVICE"),
        ({"data": {"query": CONTENTS, "using-graph-uri": "urn:g"}}, 400, "using-graph-uri"),
        ({"data": {"query": "SELECT * {"}}, 400, "SPARQL"),
        ({"data": {"nothing": ""}}, 400, "query"),
        ({"data": {"query": ""}}, 400, "query"),
        ({"data": b"\xff", "content_type": "application/sparql-query"}, 400, "UTF-8"),
        ({"data": "{}", "content_type": "application/json"}, 415, "application/sparql-query"),
        ({"data": {"query": "ASK {} #" + "x" * 300_000}}, 413, "bytes"),
        ({"data": {"query": "ASK " + "{" * 300 + "}" * 300}}, 400, "nested"),
    ],
)
def test_what_it_does_not_do_is_refused_and_named(
    web: FlaskClient, sent: dict[str, object], status: int, named: str
) -> None:
    answer = web.post("/sparql", **sent)

    assert answer.status_code == status, answer.text
    assert named in told(answer)["error"]["message"]


def test_parameters_in_the_url_are_refused_alike(web: FlaskClient) -> None:
    assert web.get("/sparql?update=CLEAR+ALL").status_code == 403
    assert web.get("/sparql?query=ASK+{}&query=ASK+{}").status_code == 400
    assert web.get("/sparql?query=ASK+{}&named-graph-uri=x").status_code == 400
    assert web.put("/sparql").status_code == 405
