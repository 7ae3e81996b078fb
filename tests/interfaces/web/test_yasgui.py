"""The page at /sparql over HTTP: who gets it, what its browser may do with it, and that all of it comes from here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from conftest import OFFLINE
from memento import assets
from memento.interfaces.web import yasgui
from memento.interfaces.web.app import create_app
from memento.python import Memento, open_memento
from memento.sparql.description import EXAMPLES as OF_MEMORY

ROOT = Path(__file__).parents[3]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
ELSEWHERE = {"REMOTE_ADDR": "10.0.0.7"}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    memento = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento, create_app(memento.service).test_client() as client:
        memento.note("I live in Tlaloc.")
        yield client


def page_of(web: FlaskClient) -> str:
    return web.get("/sparql", headers={"Accept": BROWSER}).text


@pytest.mark.parametrize(
    ("accept", "is_page"),
    [
        (BROWSER, True),
        ("text/html", True),
        ("application/xhtml+xml, text/html;q=0.9", True),
        ("*/*", False),
        ("text/turtle", False),
        ("text/turtle, text/html;q=0.5", False),
        ("application/rdf+xml, */*;q=0.1", False),
        ("", False),
    ],
)
def test_what_would_rather_show_html_gets_the_page(web: FlaskClient, accept: str, is_page: bool) -> None:
    answer = web.get("/sparql", headers={"Accept": accept} if accept else {})

    assert answer.status_code == 200
    assert (answer.mimetype == "text/html") == is_page


def test_a_query_is_answered_to_a_browser_too(web: FlaskClient) -> None:
    answer = web.get("/sparql", query_string={"query": "ASK {}"}, headers={"Accept": BROWSER})

    assert "true" in answer.text and "<html" not in answer.text


def test_a_stranger_gets_the_page_and_its_files_and_nothing_of_a_memory(web: FlaskClient) -> None:
    answer = web.get("/sparql", headers={"Accept": BROWSER}, environ_base=ELSEWHERE)
    addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text)
    files = [web.get(address, environ_base=ELSEWHERE) for address in addresses]

    assert len(set(addresses)) == 11
    assert [file.status_code for file in (answer, *files)] == [200] * (1 + len(files))
    assert not any("Tlaloc" in file.text for file in (answer, *files))
    assert web.get("/sparql", query_string={"query": "ASK {}"}, environ_base=ELSEWHERE).status_code == 401


def test_everything_on_the_page_comes_from_here(web: FlaskClient) -> None:
    answer = web.get("/sparql", headers={"Accept": BROWSER})

    assert [link for link in re.findall(r'(?:src|href)="([^"]+)"', answer.text) if not link.startswith("/")] == []
    assert "<style" not in answer.text and "style=" not in answer.text
    assert re.findall(r"<script[^>]*>(.)", answer.text) == ["<"] * 2
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; connect-src 'self'")
    assert "unsafe-inline" not in policy and "http" not in policy


def test_the_files_may_be_kept_for_ever_and_have_their_types(web: FlaskClient) -> None:
    types = {}
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page_of(web)):
        answer = web.get(address)
        types[address.rpartition(".")[2]] = answer.mimetype
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    assert types == {
        "css": "text/css",
        "js": "text/javascript",
        "svg": "image/svg+xml",
        "ttl": "text/turtle",
        "txt": "text/plain",
    }


def test_the_page_itself_is_asked_for_again_and_told_to_be_the_same(web: FlaskClient) -> None:
    first = web.get("/sparql", headers={"Accept": BROWSER})
    again = web.get("/sparql", headers={"Accept": BROWSER, "If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == "no-cache"
    assert "Accept" in first.headers["Vary"]
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(
    "address",
    [
        "/static/",
        "/static/sparql/",
        f"/static/sparql/{yasgui.BUNDLE.digest}/",
        f"/static/sparql/{yasgui.BUNDLE.digest}/nothing.js",
        f"/static/sparql/{yasgui.BUNDLE.digest}/..%2F..%2Fyasgui.py",
        f"/static/sparql/{yasgui.BUNDLE.digest}/../../yasgui.py",
        "/static/sparql/0000000000000000/page.js",
    ],
)
def test_there_is_nothing_else_to_be_had(web: FlaskClient, address: str) -> None:
    assert web.get(address).status_code == 404


def test_the_examples_are_the_files_under_their_first_sentence(web: FlaskClient) -> None:
    offered = re.findall(r'data-query="([^"]+)">([^<]+)</button>', page_of(web))

    assert len(offered) == len(yasgui.EXAMPLES)
    for query, title in offered:
        files = [
            one for one in yasgui.EXAMPLES if f"# {unescape(title)}\n" in assets.read(f"queries/{one}.rq").decode()
        ]
        assert len(files) == 1
        assert "used by" not in unescape(query)


@pytest.mark.parametrize("example", yasgui.examples(), ids=lambda example: example.name)
def test_an_example_that_needs_no_iri_finds_something(web: FlaskClient, example: yasgui.Example) -> None:
    web.post("/memory/notes", json={"content": "I work at Google."})
    web.post("/memory/notes", json={"content": "I work at Microsoft."})
    answer = web.post("/sparql", data={"query": example.text}, headers={"Accept": "text/csv, application/n-triples"})

    assert answer.status_code == 200, answer.text
    # One asks about a time before these notes; the others have a world of their own in tests/sparql/test_description.py.
    apart = {"as_of", *(name.partition("/")[2] for name in OF_MEMORY)}
    if not example.sample and example.name not in apart:
        assert answer.text.count("\n") > 1


def test_the_prefixes_are_those_of_the_projects_own_files() -> None:
    assert yasgui.prefixes()["mem"] == "http://purl.org/memento/"
    assert yasgui.prefixes()["memory"] == "urn:memento:memory:"
    assert {"owl", "prov", "rdf", "rdfs", "schema", "sh", "skos", "time", "xsd"} < set(yasgui.prefixes())


@pytest.mark.parametrize("name", ["yasgui.min.js", "yasgui.min.css"])
def test_the_bundle_is_the_one_that_is_recorded(name: str) -> None:
    bundle = (Path(yasgui.__file__).parent / "static" / "sparql" / name).read_bytes()

    assert f"{sha256(bundle).hexdigest()}  {name}" in (ROOT / "NOTICE").read_text(encoding="utf-8"), "run `make yasgui`"
