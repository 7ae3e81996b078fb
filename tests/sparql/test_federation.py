"""SERVICE to endpoints that the settings allow, against an endpoint on a real socket."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from conftest import OFFLINE
from memento.errors import Forbidden, GraphError, InputError, MementoError, TimedOut, TooMuch
from memento.network import resolve_host
from memento.python import Memento, open_memento
from memento.settings import LimitsSettings, SparqlSettings
from memento.sparql.federation import Endpoints

CITIES = {
    "head": {"vars": ["city", "name", "size"]},
    "results": {
        "bindings": [
            {
                "city": {"type": "uri", "value": "http://example.org/lisbon"},
                "name": {"type": "literal", "value": "Lis\"bon }\n'", "xml:lang": "pt"},
                "size": {"type": "literal", "value": "2", "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
            },
            {"city": {"type": "bnode", "value": "b0"}, "name": {"type": "literal", "value": "Oslo"}},
        ]
    },
}


@dataclass
class Elsewhere:
    """An endpoint, what it answers and what it was asked."""

    url: str = ""
    status: int = 200
    body: bytes = json.dumps(CITIES).encode()
    wait_s: float = 0.0
    queries: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    endpoint = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            endpoint.queries += form["query"]
            endpoint.headers.append(dict(self.headers.items()))
            time.sleep(endpoint.wait_s)
            self.send_response(endpoint.status)
            if endpoint.status == 302:
                self.send_header("Location", endpoint.url)
            self.end_headers()
            self.wfile.write(endpoint.body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        endpoint.url = f"http://127.0.0.1:{server.server_port}/sparql"
        yield endpoint
        server.shutdown()
        thread.join()


@pytest.fixture
def allowing(elsewhere: Elsewhere, tmp_path: Path) -> Iterator[Memento]:
    """A memory whose settings allow the endpoint, and one where nobody is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{probe.getsockname()[1]}/"
        settings = SparqlSettings(services=f"{elsewhere.url}, {nobody}", service_bytes=4_096, query_s=4)
        memento = open_memento(tmp_path / "home", configured=replace(OFFLINE, sparql=settings))
        assert isinstance(memento, Memento)
        with memento:
            yield memento


def rows(memento: Memento, sparql: str) -> list[str]:
    return memento.graphs.query_bytes(sparql, accept="text/csv")[0].decode().split("\r\n")[1:-1]


def test_what_an_endpoint_answers_is_joined_with_what_is_here(allowing: Memento, elsewhere: Elsewhere) -> None:
    allowing.note("I live in Lisbon.")
    sparql = (
        "PREFIX ex: <http://example.org/> PREFIX mem: <http://purl.org/memento/>\n"
        "SELECT ?content ?size {\n"
        f"  SERVICE <{elsewhere.url}> {{ ?city a ex:City ; ex:name ?name OPTIONAL {{ ?city ex:size ?size }} }}\n"
        "  ?memory a mem:Memory ; mem:content ?content FILTER(CONTAINS(?content, SUBSTR(STR(?name), 1, 3)))\n"
        "}"
    )

    assert rows(allowing, sparql) == ["I live in Lisbon.,2"]
    [sent] = elsewhere.queries
    assert "PREFIX ex: <http://example.org/>" in sent
    assert "SELECT * WHERE { ?city a ex:City" in sent
    assert "Lisbon" not in sent  # nothing of what is here goes there


def test_every_kind_of_term_comes_through(allowing: Memento, elsewhere: Elsewhere) -> None:
    found = rows(
        allowing,
        f"SELECT (LANG(?name) AS ?l) ?size (ISIRI(?city) AS ?i) {{ SERVICE <{elsewhere.url}> {{ ?city ?p ?name }} }}",
    )

    assert sorted(found) == [",,true", "pt,2,true"]


@pytest.mark.parametrize(
    "sparql",
    [
        "ASK {{ SERVICE <{0}x> {{ ?s ?p ?o }} }}",
        "ASK {{ SERVICE <{0}/> {{ ?s ?p ?o }} }}",
        "ASK {{ SERVICE <http://example.org/sparql> {{ ?s ?p ?o }} }}",
        "ASK {{ VALUES ?e {{ <{0}> }} SERVICE ?e {{ ?s ?p ?o }} }}",
        "ASK {{ SERVICE <{0}> {{ SERVICE <http://169.254.169.254/> {{ ?s ?p ?o }} }} }}",
    ],
)
def test_what_is_not_listed_letter_by_letter_is_forbidden(allowing: Memento, elsewhere: Elsewhere, sparql: str) -> None:
    with pytest.raises(Forbidden):
        allowing.graphs.query_bytes(sparql.format(elsewhere.url))
    assert elsewhere.queries == []


def test_none_is_allowed_by_default(memento: Memento, elsewhere: Elsewhere) -> None:
    with pytest.raises(Forbidden):
        memento.graphs.query_bytes(f"ASK {{ SERVICE <{elsewhere.url}> {{ ?s ?p ?o }} }}")
    assert elsewhere.queries == []


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"status": 500}, GraphError),
        ({"status": 302}, GraphError),
        ({"body": b"<html>"}, GraphError),
        ({"body": b'{"head":{},"boolean":true}'}, GraphError),
        ({"body": b" " * 10_000}, TooMuch),
        ({"wait_s": 60}, TimedOut),
    ],
    ids=["fails", "redirects", "is no SPARQL", "answers a truth", "sends too much", "is slow"],
)
def test_an_endpoint_that_misbehaves_is_an_error_or_with_silent_one_empty_row(
    allowing: Memento, elsewhere: Elsewhere, changed: dict[str, object], error: type[MementoError]
) -> None:
    for name, value in changed.items():
        setattr(elsewhere, name, value)

    with pytest.raises(error, match="endpoint"):
        allowing.graphs.query_bytes(f"ASK {{ SERVICE <{elsewhere.url}> {{ ?s ?p ?o }} }}")
    assert len(elsewhere.queries) == 1
    if "wait_s" not in changed:
        assert rows(
            allowing, f"SELECT ?here {{ BIND(1 AS ?here) SERVICE SILENT <{elsewhere.url}> {{ ?s ?p ?o }} }}"
        ) == ["1"]


def test_an_endpoint_where_nobody_is_is_an_error(allowing: Memento) -> None:
    nobody = allowing.settings.sparql.services.split(", ")[1]

    with pytest.raises(GraphError, match="cannot be reached"):
        allowing.graphs.query_bytes(f"ASK {{ SERVICE <{nobody}> {{ ?s ?p ?o }} }}")


def test_a_service_within_another_and_too_many_are_refused(elsewhere: Elsewhere) -> None:
    endpoints = Endpoints.from_settings(SparqlSettings(services=elsewhere.url))
    block = f"SERVICE <{elsewhere.url}> {{ {{}} ?s ?p ?o }}"

    with pytest.raises(InputError, match="within another"):
        endpoints.answer_services(f"ASK {{ SERVICE <{elsewhere.url}> {{ {block} }} }}", LimitsSettings())
    with pytest.raises(InputError, match="4 endpoints"):
        endpoints.answer_services(f"ASK {{ {block * 5} }}", LimitsSettings())
    assert elsewhere.queries == []


def test_a_query_keeps_its_lines_and_may_grow_beyond_the_limit(elsewhere: Elsewhere) -> None:
    elsewhere.body = json.dumps({"head": {"vars": []}, "results": {"bindings": [{}]}}).encode()
    limits = LimitsSettings()
    text, wider = Endpoints.from_settings(SparqlSettings(services=elsewhere.url)).answer_services(
        f"ASK {{\n SERVICE <{elsewhere.url}>\n {{\n }}\n}}", limits
    )

    assert text.count("\n") == 4
    assert "VALUES () { () }" in text
    assert wider.query_bytes > limits.query_bytes


def test_a_name_must_stand_for_public_addresses_alone() -> None:
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, 80)
    except OSError:
        pytest.skip("this machine does not know its own name")

    with pytest.raises(GraphError, match="not public"):
        resolve_host(name, 80)
    assert resolve_host("127.0.0.1", 80)
    assert resolve_host("localhost", 80)
