"""The query operation of the SPARQL protocol: forms, formats, datasets, statuses, and what becomes of an answer on its way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from conftest import OFFLINE
from doors import serving
from memento.interfaces.web.app import create_app
from memento.python import Memento, open_memento
from memento.settings import SparqlSettings
from memento.time import now

CONTENTS = "PREFIX mem: <http://purl.org/memento/> SELECT ?content WHERE { ?m a mem:Memory ; mem:content ?content }"

MAIN = "urn:memento:graph:local:main"
WHERE = (
    "PREFIX mem: <http://purl.org/memento/> SELECT ?where WHERE "
    "{ { ?m a mem:Memory BIND('default' AS ?where) } UNION { GRAPH ?g { ?m a mem:Memory } BIND('named' AS ?where) } }"
)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    memento = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, create_app(memento.service).test_client() as client:
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
        assert [row["content"]["value"] for row in told(answer)["results"]["bindings"]] == ["I live in Lisbon."]


@pytest.mark.parametrize(
    ("query", "media"),
    [
        (CONTENTS, "application/sparql-results+xml"),
        (CONTENTS, "text/csv"),
        (CONTENTS, "text/tab-separated-values"),
        ("ASK { ?s ?p ?o }", "application/sparql-results+json"),
        ("CONSTRUCT { ?s a ?t } WHERE { ?s a ?t }", "text/turtle"),
        ("DESCRIBE <urn:memento:user:local>", "application/n-triples"),
        ("DESCRIBE <urn:memento:user:local>", "application/n-quads"),
        ("DESCRIBE <urn:memento:user:local>", "application/trig"),
        ("DESCRIBE <urn:memento:user:local>", "application/rdf+xml"),
        ("DESCRIBE <urn:memento:user:local>", "application/ld+json"),
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


@pytest.mark.parametrize("how", ["url", "form", "direct"])
def test_the_request_chooses_the_dataset_among_what_the_caller_sees(web: FlaskClient, how: str) -> None:
    def rows(default: list[str], named: list[str], sparql: str = WHERE) -> list[str]:
        dataset = {"default-graph-uri": default, "named-graph-uri": named}
        headers = {"Accept": "text/csv"}
        if how == "url":
            answer = web.get("/sparql", query_string={"query": sparql, **dataset}, headers=headers)
        elif how == "form":
            answer = web.post("/sparql", data={"query": sparql, **dataset}, headers=headers)
        else:
            media = "application/sparql-query"
            answer = web.post("/sparql", query_string=dataset, data=sparql, content_type=media, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text.split("\r\n")[1:-1]

    assert rows([MAIN], []) == ["default"]
    assert rows([], [MAIN]) == ["named"]
    assert sorted(rows([MAIN], [MAIN])) == ["default", "named"]
    assert rows([MAIN, "urn:memento:graph:rival:main"], ["urn:x"]) == ["default"]
    assert rows(["urn:x"], []) == []
    # What the request chooses wins.
    assert rows([], [MAIN], WHERE.replace("WHERE", f"FROM <{MAIN}> WHERE")) == ["named"]


def test_the_query_chooses_the_dataset_and_may_name_none_of_others(web: FlaskClient) -> None:
    own = web.get("/sparql", query_string={"query": WHERE.replace("WHERE", f"FROM <{MAIN}> WHERE")})
    other = web.get("/sparql", query_string={"query": "ASK FROM NAMED <urn:memento:graph:rival:main> {}"})
    hobby = web.get("/sparql", query_string={"query": "ASK FROM <urn:memento:graph:local:hobby> {}"})

    assert [row["where"]["value"] for row in told(own)["results"]["bindings"]] == ["default"]
    assert (other.status_code, hobby.status_code) == (403, 403)
    assert "graph:rival" in told(other)["error"]["message"]


def test_a_head_says_what_a_get_would(web: FlaskClient) -> None:
    answer = web.head("/sparql", query_string={"query": CONTENTS}, headers={"Accept": "text/csv"})

    assert (answer.status_code, answer.mimetype, answer.data) == (200, "text/csv", b"")
    assert web.head("/sparql?query=SELEC").status_code == 400


def test_an_answer_without_a_fitting_media_type_is_406_before_anything_runs(web: FlaskClient) -> None:
    answer = web.get("/sparql", query_string={"query": CONTENTS}, headers={"Accept": "text/turtle"})

    assert answer.status_code == 406
    assert "text/csv" in told(answer)["error"]["message"]


@pytest.mark.parametrize("timeout", ["soon", "0", "-1", "nan", "inf"])
def test_a_timeout_must_be_seconds(web: FlaskClient, timeout: str) -> None:
    assert web.get("/sparql", query_string={"query": "ASK {}", "timeout": timeout}).status_code == 400
    assert web.get("/sparql", query_string={"query": "ASK {}", "timeout": "0.5"}).status_code == 200


def test_a_mistake_is_told_with_line_and_column(web: FlaskClient) -> None:
    answer = web.post("/sparql", data="SELECT *\n{ ?s ?p }", content_type="application/sparql-query")

    assert answer.status_code == 400
    assert "line 2, column 3" in told(answer)["error"]["message"]


def test_a_query_in_another_encoding_is_refused(web: FlaskClient) -> None:
    utf16 = web.post("/sparql", data="ASK {}".encode("utf-16"), content_type="application/sparql-query")
    named = web.post("/sparql", data=b"ASK {}", content_type="application/sparql-query; charset=latin-1")

    assert (utf16.status_code, named.status_code) == (400, 415)


def test_a_relative_iri_is_read_against_the_address(web: FlaskClient) -> None:
    answer = web.get("/sparql", query_string={"query": "SELECT (<a> AS ?x) {}"}, headers={"Accept": "text/csv"})

    assert answer.text.split() == ["x", "http://localhost/a"]


def test_parameters_in_the_url_are_refused_alike(web: FlaskClient) -> None:
    assert web.get("/sparql?update=CLEAR+ALL").status_code == 403
    assert web.get("/sparql?query=ASK+{}&query=ASK+{}").status_code == 400
    assert web.get("/sparql?query=ASK+{}&named-graph-uri=x").status_code == 400
    refused = web.put("/sparql")
    assert refused.status_code == 405
    assert set(refused.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}


PAGE = "https://yasgui.example"


@pytest.fixture
def browsed(tmp_path: Path) -> Iterator[tuple[FlaskClient, dict[str, str]]]:
    """The application with one page let in, and the headers of that page with a token."""
    settings = replace(OFFLINE, sparql=SparqlSettings(origins=f"https://other.example, {PAGE}/"))
    memento = open_memento(tmp_path / "home", configured=settings)
    assert isinstance(memento, Memento)
    token = memento.tokens.create("page", tenant="local", namespaces=[], right="read", at=now())
    with memento, create_app(memento.service).test_client() as client:
        yield client, {"Origin": PAGE, "Authorization": f"Bearer {token}"}


def test_a_page_that_is_let_in_reads_with_a_token(browsed: tuple[FlaskClient, dict[str, str]]) -> None:
    client, headers = browsed
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    preflight = client.options("/sparql", headers={"Origin": PAGE, **asked}, environ_base={"REMOTE_ADDR": "10.0.0.7"})
    answer = client.post("/sparql", data={"query": "ASK {}"}, headers=headers)

    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
    assert "Origin" in answer.headers["Vary"]
    assert client.get("/sparql?query=SELEC", headers=headers).headers["Access-Control-Allow-Origin"] == PAGE


def test_no_page_reads_without_a_token_or_without_being_let_in(browsed: tuple[FlaskClient, dict[str, str]]) -> None:
    client, headers = browsed
    other = {**headers, "Origin": "https://evil.example"}
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}

    assert "Access-Control-Allow-Origin" not in client.get("/sparql?query=ASK{}", headers={"Origin": PAGE}).headers
    assert "Access-Control-Allow-Origin" not in client.get("/sparql?query=ASK{}", headers=other).headers
    assert "Access-Control-Allow-Origin" not in client.options("/sparql", headers=asked).headers
    assert "Access-Control-Allow-Origin" not in client.get("/memory/status", headers=headers).headers


def test_no_page_is_let_in_by_default(web: FlaskClient) -> None:
    asked = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "GET"}

    assert "Access-Control-Allow-Origin" not in web.options("/sparql", headers=asked).headers
    assert "Access-Control-Allow-Origin" not in web.get("/sparql?query=ASK{}", headers=asked).headers


HUNDRED = " ".join(map(str, range(100)))
FOREVER = f"SELECT (COUNT(*) AS ?n) {{ {' '.join(f'VALUES ?v{n} {{ {HUNDRED} }}' for n in range(7))} }}"
LONG = f"SELECT (CONCAT('{'x' * 500}', STR(?a)) AS ?text) {{ VALUES ?a {{ {HUNDRED} }} VALUES ?b {{ {HUNDRED} }} }}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A real service with tight limits."""
    limits = SparqlSettings(workers=2, share=1, query_s=60, bytes=3_000_000, queue=2, wait_s=60)
    memento = open_memento(tmp_path_factory.mktemp("home"), configured=replace(OFFLINE, sparql=limits))
    assert isinstance(memento, Memento)
    with memento, serving(memento) as address, httpx2.Client(base_url=address, timeout=60) as client:
        yield client


def test_a_long_answer_comes_in_pieces(served: httpx2.Client) -> None:
    with served.stream(
        "POST", "/sparql", data={"query": f"{LONG} LIMIT 2000"}, headers={"Accept": "text/csv"}
    ) as answer:
        pieces = list(answer.iter_raw())

    assert answer.headers["transfer-encoding"] == "chunked"
    assert len(pieces) > 1
    assert b"".join(pieces).count(b"\n") == 2_001


def test_an_answer_that_cannot_be_finished_breaks_off(served: httpx2.Client) -> None:
    with (
        pytest.raises(httpx2.RemoteProtocolError),
        served.stream("POST", "/sparql", data={"query": LONG}, headers={"Accept": "text/csv"}) as answer,
    ):
        assert answer.status_code == 200
        for _ in answer.iter_raw():
            pass
    assert served.get("/sparql?query=ASK{}").status_code == 200


def test_a_head_of_a_long_answer_frees_its_worker(served: httpx2.Client) -> None:
    for _ in range(3):
        assert served.head("/sparql", params={"query": LONG}, headers={"Accept": "text/csv"}).status_code == 200
    assert served.get("/sparql", params={"query": f"{LONG} LIMIT 10"}).status_code == 200


@pytest.mark.parametrize(
    ("sparql", "status", "code", "said"),
    [
        (FOREVER, 504, "timed_out", "sparql.query_s"),
        (f"{FOREVER.replace('(COUNT(*) AS ?n)', '*')} ORDER BY ?v1", 503, "too_much", "sparql.memory_mb"),
    ],
)
def test_a_query_that_takes_too_much_is_told_of_what(
    served: httpx2.Client, sparql: str, status: int, code: str, said: str
) -> None:
    seconds = 0.2 if status == 504 else 60
    answer = served.post("/sparql", data={"query": sparql, "timeout": seconds})

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert said in answer.json()["error"]["message"]


def test_a_client_that_leaves_frees_its_worker_and_too_many_are_told_to_come_again(served: httpx2.Client) -> None:
    with httpx2.Client(base_url=served.base_url, timeout=0.3) as impatient:
        for _ in range(2):  # there is one worker for such queries: the second would wait for the first
            with pytest.raises(httpx2.ReadTimeout):
                impatient.get("/sparql", params={"query": FOREVER})
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(served.get, "/sparql", params={"query": FOREVER, "timeout": 2}) for _ in range(6)]
        light = served.get("/sparql?query=ASK{}")
        answers = [one.result() for one in asked]

    assert light.status_code == 200
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {429, 504} and 429 in statuses
    assert all(int(one.headers["Retry-After"]) > 0 for one in answers if one.status_code == 429)


def test_a_query_sees_the_note_that_was_acknowledged_before_it(served: httpx2.Client) -> None:
    for n in range(3):
        assert served.post("/memory/notes", json={"content": f"I own {n + 2} boats."}).status_code == 201
        asked = f"ASK {{ ?note <http://purl.org/memento/content> 'I own {n + 2} boats.' }}"
        assert served.get("/sparql", params={"query": asked}).json()["boolean"] is True
