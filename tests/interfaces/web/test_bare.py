"""A plain dataset behind the SPARQL protocol, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from memento.datadir import DataFolder
from memento.errors import FolderInUse
from memento.interfaces.cli import main
from memento.interfaces.web.app import create_bare_app
from memento.iris import IRI
from memento.service.bare import Bare
from memento.service.graphs import GraphCall
from memento.service.handlers.graphs import read_whole
from memento.settings import Settings
from memento.sparql.prepare import QueryRequest

TURTLE = b'<urn:s> <urn:p> "in a graph of any name" .'
ALL = "SELECT ?g ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Bare]:
    with Bare(DataFolder(tmp_path), Settings()) as bare:
        yield bare


@pytest.fixture
def web(bare: Bare) -> Iterator[FlaskClient]:
    with create_bare_app(bare).test_client() as client:
        yield client


def rows(web: FlaskClient, sparql: str, **dataset: str) -> list[str]:
    answer = web.get("/sparql", query_string={"query": sparql, **dataset}, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    return answer.text.split("\r\n")[1:-1]


def test_it_is_empty_the_first_time_and_keeps_what_it_is_given(bare: Bare, tmp_path: Path) -> None:
    assert (
        read_whole(bare.answer_query(QueryRequest(sparql=ALL, accept="text/csv"), GraphCall(namespace=None)))[0]
        == b"g,o\r\n"
    )
    bare._graph.load(TURTLE, IRI("http://example.org/any"))
    bare.close()

    with Bare(DataFolder(tmp_path), Settings()) as again:
        assert (
            b"any name"
            in read_whole(again.answer_query(QueryRequest(sparql=ALL, accept="text/csv"), GraphCall(namespace=None)))[0]
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare"]


def test_a_query_chooses_its_dataset_as_the_standard_has_it(bare: Bare, web: FlaskClient) -> None:
    bare._graph.load(TURTLE, IRI("urn:a"))
    select = "SELECT ?g ?o {} {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"

    assert rows(web, select.format("")) == ["urn:a,in a graph of any name"]
    assert rows(web, select.format("FROM <urn:a>")) == [",in a graph of any name"]
    assert rows(web, select.format("FROM NAMED <urn:b>")) == []
    assert rows(web, select.format("FROM <urn:b>"), **{"default-graph-uri": "urn:a"}) == [",in a graph of any name"]


def test_the_guard_stands_before_it_too(web: FlaskClient) -> None:
    reached = web.get("/sparql", query_string={"query": "ASK { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"})
    update = web.post("/sparql", data={"query": "CLEAR ALL"})

    assert (reached.status_code, update.status_code) == (403, 403)


def test_nobody_else_gets_in(bare: Bare, web: FlaskClient) -> None:
    elsewhere = web.get("/sparql?query=ASK{}", environ_base={"REMOTE_ADDR": "10.0.0.7"})
    rebound = web.get("/sparql?query=ASK{}", headers={"Host": "rebound.example"})
    page = web.post("/sparql", data={"query": "ASK {}"}, headers={"Origin": "https://evil.example"})
    namespace = web.get("/sparql?query=ASK{}&namespace=work")

    assert (elsewhere.status_code, rebound.status_code, page.status_code, namespace.status_code) == (401, 403, 403, 400)
    assert web.get("/memory/recall").status_code == 404
    with pytest.raises(FolderInUse, match="serve --bare"):
        Bare(DataFolder(bare.datadir.path.parent), Settings())


def test_the_command_serves_it_and_leaves_the_memories_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memento", "--home", str(tmp_path), "serve", "--bare", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().split()[-1]
            answer = httpx2.get(f"{address}/sparql", params={"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"})
        finally:
            process.terminate()
            process.communicate(timeout=60)

    assert answer.json()["results"]["bindings"][0]["n"]["value"] == "0"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare"]
    assert not (tmp_path / "bare" / "snapshots").exists()


def test_it_is_served_to_this_machine_alone(tmp_path: Path) -> None:
    words = ["--home", str(tmp_path), "serve", "--bare", "--port", "0", "--host", "0.0.0.0"]
    refused = CliRunner().invoke(main, words, prog_name="memento")

    assert refused.exit_code == 2
    assert "loopback" in refused.output
