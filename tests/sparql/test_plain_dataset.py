"""Queries, updates and whole graphs of a plain dataset over HTTP: any graph, the default graph too, blank nodes and all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from dataset import create_dataset_app, open_dataset
from memento.settings import Settings

HERE = "http://localhost/sparql"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with (
        open_dataset(tmp_path_factory.mktemp("dataset"), Settings()) as opened,
        create_dataset_app(opened).test_client() as web,
    ):
        yield web


@pytest.fixture
def web(dataset: Any) -> Any:
    update(dataset, "DROP ALL")
    return dataset


def update(web: Any, sparql: str, **more: Any) -> Any:
    return web.post("/sparql/update", data=sparql, content_type="application/sparql-update", **more)


def everything(web: Any) -> set[str]:
    """The quads of the dataset, whatever their blank nodes are called."""
    asked = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    found = web.get("/sparql", query_string={"query": asked}, headers={"Accept": "application/n-quads"}).data
    dataset = ox.Dataset(ox.parse(found, ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def rows(web: Any, sparql: str, **dataset: str) -> list[str]:
    answer = web.get("/sparql", query_string={"query": sparql, **dataset}, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    return str(answer.text).split("\r\n")[1:-1]


def test_a_query_chooses_its_dataset_as_the_standard_has_it(web: Any) -> None:
    update(web, "INSERT DATA { GRAPH <urn:a> { <urn:s> <urn:p> 'in a graph of any name' } }")
    select = "SELECT ?g ?o {} {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"

    assert rows(web, select.format("")) == ["urn:a,in a graph of any name"]
    assert rows(web, select.format("FROM <urn:a>")) == [",in a graph of any name"]
    assert rows(web, select.format("FROM NAMED <urn:b>")) == []
    assert rows(web, select.format("FROM <urn:b>"), **{"default-graph-uri": "urn:a"}) == [",in a graph of any name"]


def test_the_guard_stands_before_it_too(web: Any) -> None:
    reached = web.get("/sparql", query_string={"query": "ASK { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"})
    written = web.post("/sparql", data={"query": "CLEAR ALL"})

    assert (reached.status_code, written.status_code) == (403, 403)


def test_nobody_else_gets_in(web: Any) -> None:
    elsewhere = web.get("/sparql?query=ASK{}", environ_base={"REMOTE_ADDR": "10.0.0.7"})
    rebound = web.get("/sparql?query=ASK{}", headers={"Host": "rebound.example"})
    page = web.post("/sparql", data={"query": "ASK {}"}, headers={"Origin": "https://evil.example"})
    namespace = web.get("/sparql?query=ASK{}&namespace=work")

    assert (elsewhere.status_code, rebound.status_code, page.status_code, namespace.status_code) == (401, 403, 403, 400)


def test_the_default_graph_and_any_other_are_written(web: Any) -> None:
    changed = update(web, "INSERT DATA { <s> <p> _:b . _:b <p> 'x'@en GRAPH <http://e/g> { <s> <p> _:b } }").json

    assert (changed["added"], changed["graphs"]) == (3, ["http://e/g"])
    assert len(everything(web)) == 2
    assert update(web, "DELETE WHERE { ?s ?p ?o }").json["removed"] == 2
    assert update(web, "MOVE <http://e/g> TO DEFAULT").json == {
        "added": 1,
        "removed": 1,
        "graphs": ["http://e/g"],
        "is_new": False,
    }
    assert len(everything(web)) == 1


def test_an_operation_sees_what_those_before_it_did(web: Any) -> None:
    update(
        web,
        "PREFIX : <urn:> CLEAR ALL ; INSERT DATA { GRAPH :a { :x :p 1 } GRAPH :b { :y :p 2 } } ; PREFIX : <urn:other:> "
        "INSERT { ?s :seen ?o } WHERE { GRAPH ?g { ?s <urn:p> ?o } }",
    )

    assert everything(web) == {
        f'<urn:{name}> <urn:other:seen> "{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        for name, number in (("x", 1), ("y", 2))
    }


def test_a_load_that_is_silent_fails_without_a_word_and_fetches_nothing(web: Any) -> None:
    silent = update(web, "LOAD SILENT <http://127.0.0.1:1/> INTO GRAPH <urn:g> ; INSERT DATA { <urn:a> <urn:b> 1 }")

    assert (silent.status_code, silent.json["added"]) == (200, 1)
    assert update(web, "LOAD <http://127.0.0.1:1/>").status_code == 403


def test_an_empty_graph_is_a_graph(web: Any) -> None:
    made = web.put("/sparql/graphs", query_string={"graph": "urn:g"}, data=b"", content_type="text/turtle")

    assert (made.status_code, update(web, "CREATE GRAPH <urn:g>").status_code) == (201, 409)
    assert web.get("/sparql/graphs", query_string={"graph": "urn:g"}).status_code == 200
    assert update(web, "DROP GRAPH <urn:g>").status_code == 200
    assert update(web, "DROP GRAPH <urn:g>").status_code == 404


def test_a_graph_is_its_address_and_a_new_one_gets_one(web: Any) -> None:
    sent = {"data": b"<> <urn:p> [ <urn:q> 1 ] .", "content_type": "text/turtle"}
    web.put("/sparql/graphs/person/1.ttl", **sent)
    made = web.post("/sparql/graphs", **sent)
    named = f"{HERE}/graphs/person/1.ttl"

    assert web.get("/sparql/graphs", query_string={"graph": named}).text.startswith(f"<{named}> <urn:p> _:")
    assert f"<{made.headers['Location']}> <urn:p> _:" in web.get(made.headers["Location"]).text
    assert web.put("/sparql/graphs?default", **sent).json["added"] == 2
    assert len(everything(web)) == 2
    assert web.delete("/sparql/graphs?default").json["removed"] == 2
    assert everything(web) == set()


def test_what_is_not_a_namespace_is_refused_and_what_is_written_is_there_after_a_restart(tmp_path: Path) -> None:
    for expected in (0, 1):
        with open_dataset(tmp_path, Settings()) as opened, create_dataset_app(opened).test_client() as web:
            assert len(everything(web)) == expected
            assert update(web, "INSERT DATA { <urn:a> <urn:b> 1 }", query_string={"namespace": "x"}).status_code == 400
            assert update(web, "INSERT DATA { <urn:a> <urn:b> 1 }").json["added"] == 1 - expected


def test_it_describes_itself_as_a_plain_dataset_that_may_be_written(web: Any) -> None:
    update(web, "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> 1 } }")
    text = web.get("/sparql", headers={"Accept": "text/turtle"}).text

    assert "sd:EmptyGraphs" in text
    assert "sd:SPARQL11Update" in text
    assert "sd:name <urn:g>" in text
