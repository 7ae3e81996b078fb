"""The vocabulary at its address: what each kind of client gets, that all formats say the same, and that anybody may ask."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from flask import Flask
from flask.testing import FlaskClient
from rdflib import Graph, URIRef
from rdflib.compare import to_canonical_graph
from werkzeug.test import TestResponse

from conftest import OFFLINE
from memento.assets import folder
from memento.interfaces.web.app import create_app
from memento.iris import MEM
from memento.ontology import load_terms, short, write_example_query
from memento.python import Memento, open_memento

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ELSEWHERE = {"REMOTE_ADDR": "10.0.0.7"}
FORMATS = ("text/turtle", "application/ld+json", "application/rdf+xml", "application/n-triples")
VERSION = "0.1.0"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("I live in Lisbon.")
        yield create_app(opened.service)


@pytest.fixture
def web(app: Flask) -> Iterator[FlaskClient]:
    """A client on another machine, without a token."""
    with app.test_client() as client:
        client.environ_base = {**client.environ_base, **ELSEWHERE}
        yield client


def parse(body: bytes, media: str) -> Graph:
    form = ox.RdfFormat.from_media_type(media)
    assert form is not None
    lines = ox.serialize((quad.triple for quad in ox.parse(body, form)), format=ox.RdfFormat.N_TRIPLES)
    return Graph().parse(data=lines or b"", format="nt")


def message_of(answer: TestResponse) -> str:
    assert answer.json is not None
    return str(answer.json["error"]["message"])


@pytest.mark.parametrize("name", ["", "alignment", "labels", "shapes", "values"])
@pytest.mark.parametrize("media", FORMATS)
def test_each_document_says_the_same_in_every_format(name: str, media: str, web: FlaskClient) -> None:
    answer = web.get(f"/ontology/{name}".rstrip("/"), headers={"Accept": media})

    assert (answer.status_code, answer.mimetype, answer.headers["Vary"]) == (200, media, "Accept")
    found, wanted = parse(answer.data, media), Graph().parse(folder("ontology") / f"{name or 'memento'}.ttl")
    assert len(found) == len(wanted)
    if name in ("alignment", "labels"):  # where there are many lists, to compare takes seconds
        assert set(to_canonical_graph(found)) == set(to_canonical_graph(wanted))


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, "text/turtle"),
        ("*/*", "text/turtle"),
        (BROWSER["Accept"], "text/html"),
        ("application/rdf+xml;q=0.4, application/n-triples;q=0.7, text/html;q=0.5", "application/n-triples"),
        ("text/turtle;q=0, */*;q=0.1", "application/ld+json"),
        ("application/*", "application/ld+json"),
        ("text/html;q=0.2, text/*;q=0.9", "text/turtle"),
    ],
)
def test_what_is_liked_best_is_sent(accept: str | None, media: str, web: FlaskClient) -> None:
    answer = web.get("/ontology", headers={"Accept": accept} if accept else {})

    assert (answer.status_code, answer.mimetype) == (200, media)
    assert "Accept" in answer.headers["Vary"]


@pytest.mark.parametrize("path", ["/ontology", "/ontology/Memory", "/ontology/shapes", f"/ontology/{VERSION}"])
def test_what_fits_nothing_is_told_what_there_is(path: str, web: FlaskClient) -> None:
    answer = web.get(path, headers={"Accept": "image/png, text/turtle;q=0"})

    assert (answer.status_code, answer.headers["Vary"]) == (406, "Accept")
    assert all(media in message_of(answer) for media in (*FORMATS, "text/html"))


def test_a_format_in_the_address_comes_before_the_header(web: FlaskClient) -> None:
    names = ("ttl", "jsonld", "rdf", "nt", "html")
    found = [web.get(f"/ontology?format={name}", headers={"Accept": "image/png"}).mimetype for name in names]

    assert found == [*FORMATS, "text/html"]
    refused = web.get("/ontology?format=owl")
    assert refused.status_code == 400
    assert "ttl, jsonld, rdf, nt, html" in message_of(refused)


def test_the_versions_address_works_and_another_one_says_which_is_here(web: FlaskClient) -> None:
    assert web.get(f"/ontology/{VERSION}").data == web.get("/ontology").data
    assert web.get(f"/ontology/{VERSION}/alignment").data == web.get("/ontology/alignment").data
    assert web.get(f"/ontology/{VERSION}/validAt").headers["Location"] == "/ontology/validAt?format=ttl"
    missing = web.get("/ontology/0.0.9")
    assert missing.status_code == 404
    assert f"/ontology/{VERSION}" in message_of(missing)
    page = web.get("/ontology/0.0.9", headers=BROWSER)
    assert (page.status_code, page.mimetype) == (404, "text/html")


def test_a_term_leads_a_browser_to_its_place_and_a_program_to_what_is_said_of_it(web: FlaskClient) -> None:
    page = web.get("/ontology", headers=BROWSER).text

    for name in ("Memory", "State", "state", "Person", "asOf"):
        sent = web.get(f"/ontology/{name}", headers=BROWSER)
        assert (sent.status_code, sent.headers["Location"]) == (303, f"/ontology#{name}")
        assert page.count(f'id="{name}"') == 1
    for media, format in zip(FORMATS, ("ttl", "jsonld", "rdf", "nt"), strict=True):
        sent = web.get("/ontology/Memory", headers={"Accept": media})
        assert (sent.status_code, sent.headers["Location"]) == (303, f"/ontology/Memory?format={format}")
        found = parse(web.get(sent.headers["Location"]).data, media)
        assert {str(one) for one in found.subjects() if isinstance(one, URIRef)} == {MEM.Memory}
        assert len(found) > 8


def test_what_there_is_not_is_answered_with_what_is_near(web: FlaskClient) -> None:
    answer = web.get("/ontology/validat")

    assert answer.status_code == 404
    assert "/ontology/validAt" in message_of(answer)


@pytest.mark.parametrize("headers", [BROWSER, {}, {"Accept": "application/ld+json"}])
def test_what_is_known_already_is_not_sent_again(headers: dict[str, str], web: FlaskClient) -> None:
    first = web.get("/ontology", headers=headers)
    again = web.get("/ontology", headers={**headers, "If-None-Match": first.headers["ETag"]})

    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")
    other = {"Accept": "application/n-triples", "If-None-Match": first.headers["ETag"]}
    assert web.get("/ontology", headers=other).status_code == 200


def test_the_page_describes_every_term_at_its_anchor_and_every_link_within_it_leads_somewhere(web: FlaskClient) -> None:
    page = web.get("/ontology", headers=BROWSER).text
    anchors = re.findall(r'\bid="([^"]+)"', page)

    assert {term.name for term in load_terms()} < set(anchors)
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(anchors)
    assert "style=" not in page and "<script>" not in page
    for kind in ("?format=ttl", "?format=jsonld", "?format=rdf", "?format=nt"):
        assert f'href="/ontology{kind}"' in page
    assert "http://purl.org/memento/0.1.0" in page and "owl:unionOf" in page


def test_the_hierarchy_has_every_class_below_each_of_its_superclasses(web: FlaskClient) -> None:
    page = web.get("/ontology", headers=BROWSER).text
    tree = page[page.index('<ul class="tree">') : page.index('<div id="terms">')]
    pairs, above = set[tuple[str, str]](), list[str]()
    for opens, name in re.findall(r"(<ul>|</ul>)|<code>([^<]+)</code>", tree):
        if name:
            last = name
            pairs.add((above[-1] if above else "", name))
        elif opens == "<ul>":
            above.append(last)
        elif above:
            above.pop()
    classes = [term for term in load_terms() if term.kind == "class"]

    assert {(short(up), short(one.iri)) for one in classes for up in one.parents} <= pairs
    assert {("", short(one.iri)) for one in classes if not one.parents} <= pairs
    assert tree.count("<ul") == tree.count("</ul>")


def test_a_stranger_reads_the_page_and_nothing_of_the_memory(web: FlaskClient) -> None:
    page = web.get("/ontology", headers=BROWSER)

    assert page.status_code == 200
    assert "you may" not in page.text and "Lisbon" not in page.text.partition("<main")[0]
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert web.get("/memory").status_code == 401


def test_every_example_query_runs(web: FlaskClient) -> None:
    store = ox.Store()
    store.load((folder("ontology") / "world.trig").read_bytes(), ox.RdfFormat.TRIG)
    rows = {
        term.name: len(list(store.query(write_example_query(term), use_default_graph_as_union=True)))  # type: ignore[arg-type]
        for term in load_terms()
    }

    assert rows["Memory"] > 5 and rows["validAt"] > 5 and rows["Person"] > 0
