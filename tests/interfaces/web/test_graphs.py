"""Updates, the graph store and what the endpoint says of itself, over HTTP: statuses, headers, media types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import pyoxigraph as ox
import pytest

from memento.interfaces.web.app import create_app
from memento.iris import data_iri, graph_iri
from memento.python import Memento
from memento.sparql.prepare import DOCUMENT_MEDIA, GRAPH_MEDIA
from memento.time import now

MAIN, COMPANY = graph_iri("local", "main"), data_iri("local", "company")
AT = {"query_string": {"graph": COMPANY}}
ONE = {"data": b"<urn:a> <urn:b> 1 .", "content_type": "text/turtle; charset=utf-8"}
BARE_MEMORY = f"INSERT DATA {{ GRAPH <{MAIN}> {{ <urn:a> a <http://purl.org/memento/Memory> }} }}"
SD, VOID = "http://www.w3.org/ns/sparql-service-description#", "http://rdfs.org/ns/void#"


@pytest.fixture
def web(memento: Memento) -> Iterator[Any]:
    with create_app(memento.service).test_client() as client:
        yield client


def update(web: Any, sparql: str, **more: Any) -> Any:
    return web.post("/sparql/update", data=sparql, content_type="application/sparql-update", **more)


def test_an_update_comes_as_a_form_or_by_itself_and_its_answer_counts(web: Any) -> None:
    inserted = f"INSERT DATA {{ GRAPH <{COMPANY}> {{ <urn:a> <urn:b> 1 }} }}"
    direct = update(web, inserted)
    form = web.post("/sparql/update", data={"update": f"CLEAR GRAPH <{COMPANY}>"})

    assert (direct.status_code, direct.json) == (200, {"added": 1, "removed": 0, "graphs": [COMPANY], "is_new": False})
    assert (form.status_code, form.json["removed"]) == (200, 1)
    assert update(web, "").status_code == 200


def test_relative_iris_are_relative_to_the_address(web: Any) -> None:
    update(web, f"INSERT DATA {{ GRAPH <{COMPANY}> {{ <x> <urn:b> <#y> }} }}")

    assert (
        web.get("/sparql/graphs", **AT).text
        == "<http://localhost/sparql/x> <urn:b> <http://localhost/sparql/update#y> .\n"
    )


def test_the_graphs_that_are_read_may_come_with_the_request(web: Any) -> None:
    web.put("/sparql/graphs", **AT, **ONE)
    copied = f"INSERT {{ GRAPH <{data_iri('local', 'copy')}> {{ ?s ?p ?o }} }} WHERE {{ ?s ?p ?o }}"
    own = {"using-graph-uri": [COMPANY, graph_iri("rival", "main")]}
    both = update(web, f"WITH <{COMPANY}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}", query_string=own)

    assert update(web, copied, query_string=own).json["added"] == 1
    assert web.post("/sparql/update", data={"update": copied, "using-named-graph-uri": COMPANY}).json["added"] == 0
    assert (both.status_code, "not by both" in both.json["error"]["message"]) == (400, True)


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        (
            {"data": "INSERT DATA { <urn:a> <urn:b> }\n", "content_type": "application/sparql-update"},
            400,
            "line 1, column 31",
        ),
        ({"data": "CLEAR ALL", "content_type": "text/plain"}, 415, "application/sparql-update"),
        ({"data": "CLEAR ALL"}, 415, "application/sparql-update"),
        (
            {"data": "CLEAR ALL".encode("utf-16"), "content_type": "application/sparql-update; charset=UTF-16"},
            415,
            "UTF-8",
        ),
        ({"data": b"\xff", "content_type": "application/sparql-update"}, 400, "not UTF-8"),
        ({"data": {"update": ["CLEAR ALL", "CLEAR ALL"]}}, 400, "2 times"),
        ({"data": {"query": "ASK {}"}}, 400, "/sparql"),
        ({"data": {"update": "CLEAR ALL"}}, 403, MAIN),
        ({"data": {"update": "LOAD <http://127.0.0.1:1/>"}}, 403, "LOAD"),
        ({"data": {"update": "DROP GRAPH <urn:memento:data:local:none>"}}, 404, "none"),
        ({"data": {"update": "x" * 1_100_000}}, 413, "limits.update_bytes"),
        (
            {"data": {"update": BARE_MEMORY}},
            422,
            "MemoryShape",
        ),
        ({"data": {"update": "CLEAR ALL"}, "query_string": {"timeout": "soon"}}, 400, "timeout"),
    ],
)
def test_what_is_wrong_with_an_update_is_told_by_status_and_by_name(
    web: Any, sent: dict[str, Any], status: int, words: str
) -> None:
    answer = web.post("/sparql/update", **sent)

    assert (answer.status_code, words in answer.json["error"]["message"]) == (status, True), answer.json


def test_an_update_cannot_be_a_get(web: Any) -> None:
    assert web.get("/sparql/update", query_string={"update": "CLEAR ALL"}).status_code == 405


def test_a_graph_is_made_replaced_read_and_taken_away(web: Any) -> None:
    made, replaced = web.put("/sparql/graphs", **AT, **ONE), web.put("/sparql/graphs", **AT, **ONE)
    head, got = web.head("/sparql/graphs", **AT), web.get("/sparql/graphs", **AT)

    assert (made.status_code, made.json["added"], replaced.status_code, replaced.json["added"]) == (201, 1, 200, 0)
    assert (got.status_code, got.text) == (200, "<urn:a> <urn:b> 1 .\n")
    assert got.headers["Content-Type"] == head.headers["Content-Type"] == "text/turtle; charset=utf-8"
    assert (head.status_code, head.data) == (200, b"")
    assert web.delete("/sparql/graphs", **AT).json["removed"] == 1
    assert {web.open("/sparql/graphs", method=method, **AT).status_code for method in ("GET", "HEAD", "DELETE")} == {
        404
    }


@pytest.mark.parametrize(
    "address", [f"/sparql/graphs/{name}" for name in ("company", COMPANY, COMPANY.replace(":", "%3A"))]
)
def test_a_graph_is_named_by_the_address_too(web: Any, address: str) -> None:
    assert web.put(address, **ONE).status_code == 201
    assert web.get("/sparql/graphs", **AT).text == web.get(address).text == "<urn:a> <urn:b> 1 .\n"
    assert web.get(address, **AT).status_code == 400


def test_a_graph_without_a_name_gets_one_and_says_where(web: Any) -> None:
    made = web.post("/sparql/graphs", **ONE)

    assert made.status_code == 201
    assert web.get(made.headers["Location"]).text == "<urn:a> <urn:b> 1 .\n"


def test_a_form_brings_several_documents(web: Any) -> None:
    parts = {
        "one": (BytesIO(b"<urn:a> <urn:b> 1 ."), "one.ttl", "text/turtle"),
        "two": (BytesIO(b"<urn:a> <urn:b> <urn:c> ."), "two.nt", "application/octet-stream"),
    }
    sent = web.post("/sparql/graphs/company", data=parts, content_type="multipart/form-data")

    assert (sent.status_code, sent.json["added"]) == (201, 2)
    assert web.put("/sparql/graphs/company", data={"a": "text"}, content_type="multipart/form-data").status_code == 400


@pytest.mark.parametrize("media", GRAPH_MEDIA)
def test_a_graph_comes_and_goes_in_every_media_type(web: Any, media: str) -> None:
    web.put("/sparql/graphs/company", data=b'<urn:a> <urn:b> "x"@en-GB , 1.5 , <urn:c> .', content_type="text/turtle")
    body = web.get("/sparql/graphs/company", headers={"Accept": media})
    again = web.put("/sparql/graphs/other", data=body.data, content_type=media)

    assert body.mimetype == media
    assert (again.status_code, again.json["added"]) == (201, 3)


def test_a_media_type_that_is_not_known_is_named_with_those_that_are(web: Any) -> None:
    for sent in ({"content_type": "text/foo"}, {"content_type": "text/turtle; charset=latin-1"}, {}):
        assert web.put("/sparql/graphs/company", data=b"<urn:a> <urn:b> 1 .", **sent).status_code == 415
    assert DOCUMENT_MEDIA[0] in web.put("/sparql/graphs/company", data=b"x").json["error"]["message"]
    web.put("/sparql/graphs/company", **ONE)
    assert web.get("/sparql/graphs/company", headers={"Accept": "image/png"}).status_code == 406


def test_a_graph_is_patched_by_an_update_and_nothing_else(web: Any) -> None:
    patch = {"data": "INSERT DATA { <> <urn:c> <#x> }", "content_type": "application/sparql-update"}
    absent = web.patch("/sparql/graphs/company", **patch)
    web.put("/sparql/graphs/company", **ONE)
    done = web.patch("/sparql/graphs/company", **patch)
    told = web.patch("/sparql/graphs", **AT, **patch, headers={"Prefer": "return=representation"})
    document, options = web.patch("/sparql/graphs/company", **ONE), web.options("/sparql/graphs/company")
    elsewhere = f"INSERT DATA {{ GRAPH <{MAIN}> {{ <urn:a> <urn:b> 1 }} }}"

    assert (absent.status_code, done.status_code, done.data) == (404, 204, b"")
    assert (told.status_code, told.json["added"], told.headers["Preference-Applied"]) == (
        200,
        0,
        "return=representation",
    )
    assert f"<{COMPANY}> <urn:c> <{COMPANY}#x> ." in web.get("/sparql/graphs/company").text
    assert (document.status_code, document.headers["Accept-Patch"]) == (415, "application/sparql-update")
    assert ("PATCH" in options.headers["Allow"], options.headers["Accept-Patch"]) == (True, "application/sparql-update")
    assert web.patch("/sparql/graphs/company", **{**patch, "data": elsewhere}).status_code == 422
    assert web.patch("/sparql/graphs/company?using-graph-uri=urn:x", **patch).status_code == 400
    assert web.patch("/sparql/graphs/company", **{**patch, "data": "x" * 4_000_000}).status_code == 413


def test_the_default_graph_is_that_of_the_namespace_and_is_only_added_to(web: Any) -> None:
    default = {"query_string": "default"}

    assert (web.get("/sparql/graphs", **default).status_code, web.get("/sparql/graphs", **default).text) == (200, "")
    assert web.post("/sparql/graphs", **default, **ONE).json["graphs"] == [MAIN]
    assert web.get("/sparql/graphs", **default).text == "<urn:a> <urn:b> 1 .\n"
    assert (
        web.put("/sparql/graphs", **default, **ONE).status_code
        == web.delete("/sparql/graphs", **default).status_code
        == 403
    )
    assert web.delete("/sparql/graphs", query_string={"graph": MAIN}).status_code == 200


@pytest.mark.parametrize(
    "parameters", ["", "default&graph=urn:x", "graph=urn:x&graph=urn:y", "graph=rel", "graph=urn:a%20b"]
)
def test_one_graph_is_named_and_by_an_iri(web: Any, parameters: str) -> None:
    assert web.get("/sparql/graphs", query_string=parameters).status_code == 400


def test_a_document_that_is_too_long_is_refused_before_it_is_read(web: Any, memento: Memento) -> None:
    memento.service.settings = replace(memento.settings, limits=replace(memento.settings.limits, graph_bytes=100))
    with create_app(memento.service).test_client() as few:
        assert few.put("/sparql/graphs/company", data=b" " * 200, content_type="text/turtle").status_code == 413
        assert few.put("/sparql/graphs/company", data=b" " * 100_000, content_type="text/turtle").status_code == 413


def said(body: bytes) -> set[tuple[str, str, str]]:
    return {
        (quad.subject.value, quad.predicate.value, getattr(quad.object, "value", ""))
        for quad in ox.parse(body, ox.RdfFormat.TURTLE)
    }


def test_the_endpoint_describes_itself_and_the_graphs_that_the_caller_sees(web: Any, memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    web.put("/sparql/graphs/company", **ONE)
    here = "http://localhost/sparql"
    found = said(web.get("/sparql", headers={"Accept": "text/turtle"}).data)
    graphs = {value for _, predicate, value in found if predicate == f"{SD}name"}

    assert {(here, f"{SD}endpoint", here), (f"{here}/update", f"{SD}endpoint", f"{here}/update")} <= found
    assert (here, f"{SD}supportedLanguage", f"{SD}SPARQL11Query") in found
    assert (here, f"{SD}extensionFunction", "http://purl.org/memento/similarity") in found
    assert (here, f"{SD}languageExtension", "http://purl.org/memento/search") in found
    assert {MAIN, COMPANY, "urn:memento:ontology"} <= graphs
    part = f"{here}#{COMPANY.replace(':', '%3A')}"
    assert {
        (part, f"{VOID}triples", "1"),
        (part, f"{VOID}distinctSubjects", "1"),
        (part, f"{VOID}properties", "1"),
    } <= found
    for media in GRAPH_MEDIA:
        assert web.get("/sparql", headers={"Accept": media}).mimetype == media
    assert web.get("/sparql", headers={"Accept": "image/png"}).status_code == 406


def test_a_reader_is_told_of_no_updates_and_void_of_the_same_counts(web: Any, memento: Memento) -> None:
    web.put("/sparql/graphs/company", **ONE)
    token = memento.tokens.create("r", tenant="local", namespaces=["main"], right="read", at=now())
    reader = {"Authorization": f"Bearer {token}", "Accept": "text/turtle"}
    described = said(web.get("/sparql", headers=reader).data)
    counted = said(web.get("/.well-known/void", headers=reader).data)

    assert not any("SPARQL11Update" in value for _, _, value in described)
    assert not any("provenance" in part for triple in described for part in triple)
    assert {one for one in counted if one[1].startswith(VOID)} <= described
    assert any(predicate == f"{VOID}triples" for _, predicate, _ in counted)
