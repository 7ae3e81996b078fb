"""Snapshots: what they hold, when they go, and what is answered from one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest

from memento.errors import GraphError, InputError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import GRAPH_FORMATS, ROW_FORMATS, Misread, Snapshots, answered, opened
from memento.graph.trial import copied
from memento.iris import IRI, MEM
from memento.model import Change

A, B = IRI("urn:memento:graph:local:a"), IRI("urn:memento:graph:local:b")
ONE = (IRI("urn:x"), MEM.name, "one", A)
TWO = (IRI("urn:x"), MEM.name, "two", B)
NAMES = "SELECT ?v WHERE { { ?s ?p ?v } UNION { GRAPH ?g { ?s ?p ?v } } }"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Oxigraph]:
    graph = Oxigraph(tmp_path / "store")
    graph.apply(Change((ONE, TWO)))
    yield graph
    graph.close()


@pytest.fixture
def snapshots(graph: Oxigraph, tmp_path: Path) -> Iterator[Snapshots]:
    snapshots = Snapshots(graph, tmp_path / "snapshots")
    yield snapshots
    snapshots.close()


def said(
    store: ox.Store,
    sparql: str,
    readable: Sequence[str] | None = (A,),
    media: str = "text/csv",
    base: str | None = None,
) -> str:
    parts: list[bytes] = []
    answered(store, sparql, media, parts.append, default_graphs=readable, named_graphs=readable, base=base)
    return b"".join(parts).decode()


def folders(tmp_path: Path) -> int:
    folder = tmp_path / "snapshots"
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_a_snapshot_holds_what_was_written_before_and_stays_as_it_is(graph: Oxigraph, snapshots: Snapshots) -> None:
    with snapshots.lease() as before:
        graph.apply(Change(removes=(ONE,)))
        with snapshots.lease() as after:
            assert "one" in said(opened(before), NAMES)
            assert "one" not in said(opened(after), NAMES)


def test_it_is_taken_anew_only_when_something_was_written(graph: Oxigraph, snapshots: Snapshots) -> None:
    with snapshots.lease() as first, snapshots.lease() as second:
        assert first == second
    with snapshots.lease() as third:
        assert third == first
    graph.apply(Change())
    with snapshots.lease() as fourth:
        assert fourth != first


def test_an_old_one_is_deleted_when_nobody_reads_it_any_more(
    graph: Oxigraph, snapshots: Snapshots, tmp_path: Path
) -> None:
    with snapshots.lease() as first:
        graph.apply(Change())
        with snapshots.lease():
            assert first.exists()
    assert not first.exists()
    assert folders(tmp_path) == 1


def test_none_is_left_after_a_drop_nor_at_the_end_nor_by_a_process_that_was_killed(
    graph: Oxigraph, snapshots: Snapshots, tmp_path: Path
) -> None:
    with snapshots.lease() as read:
        snapshots.drop()
        snapshots.drop()
        assert read.exists()  # somebody reads it
    assert folders(tmp_path) == 0
    with snapshots.lease():
        pass
    assert folders(tmp_path) == 1
    Snapshots(graph, tmp_path / "snapshots")
    assert folders(tmp_path) == 0


def test_a_copy_is_written_to_without_changing_the_store(graph: Oxigraph, snapshots: Snapshots, tmp_path: Path) -> None:
    with snapshots.lease() as folder, snapshots.scratch() as scratch:
        copied(opened(folder), scratch).update("CLEAR ALL")
        assert sum(1 for _ in opened(folder))
        assert graph.select("search/statements", [A], node=IRI("urn:x"))
    assert folders(tmp_path) == 1


def test_a_store_in_memory_has_none_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="in memory"), Snapshots(Oxigraph(), tmp_path / "s").lease():
        pass


def test_an_answer_is_held_to_its_dataset(graph: Oxigraph, snapshots: Snapshots) -> None:
    with snapshots.lease() as folder:
        store = opened(folder)
        for sparql in (NAMES, f"SELECT * FROM <{B}> {{ ?s ?p ?o }}", f"SELECT * {{ GRAPH <{B}> {{ ?s ?p ?o }} }}"):
            assert "two" not in said(store, sparql)
            assert said(store, sparql, ()).count("\n") == 1
        assert "two" not in said(store, "DESCRIBE <urn:x>", media="text/turtle")
        assert "two" in said(store, f"SELECT * FROM <{B}> {{ ?s ?p ?o }}", None)


@pytest.mark.parametrize("media", ROW_FORMATS)
def test_rows_and_truths_come_in_every_format(media: str) -> None:
    store = ox.Store()
    assert "42" in said(store, "SELECT (42 AS ?x) {}", media=media)
    assert "true" in said(store, "ASK {}", media=media)


@pytest.mark.parametrize("media", GRAPH_FORMATS)
def test_graphs_come_in_every_format(media: str) -> None:
    sparql = "CONSTRUCT { <urn:s> <http://example.org/p> 'forty-two' , <<( <urn:a> <urn:b> 1 )>> } WHERE {}"

    if media in ("application/ld+json", "application/rdf+xml"):
        sparql = sparql.replace(", <<( <urn:a> <urn:b> 1 )>>", "")
    assert "forty-two" in said(ox.Store(), sparql, media=media)


@pytest.mark.parametrize(
    ("sparql", "rows"),
    [
        ("SELECT ?v { VALUES ?n { 1 2 } BIND(<urn:f>(?n) AS ?v) }", [{}, {}]),
        ("SELECT ?n { VALUES ?n { 1 2 } FILTER(<urn:f>(?n) || ?n = 2) }", [{"n": "2"}]),
        ("SELECT ?n { VALUES ?n { 1 } FILTER NOT EXISTS { FILTER(<urn:f>() > <urn:g>(?n, 2)) } }", [{"n": "1"}]),
        ("SELECT (COALESCE(<urn:f>(1), 'none') AS ?v) {}", [{"v": "none"}]),
        ("SELECT (<http://www.w3.org/2001/XMLSchema#integer>('7') AS ?v) {}", [{"v": "7"}]),
    ],
)
def test_a_function_that_nobody_knows_is_an_error_in_the_expression_alone(
    sparql: str, rows: list[dict[str, str]]
) -> None:
    found = json.loads(said(ox.Store(), sparql, media="application/sparql-results+json"))["results"]["bindings"]

    assert [{name: value["value"] for name, value in row.items()} for row in found] == rows


def test_a_cast_of_two_values_is_the_callers_fault() -> None:
    with pytest.raises(InputError, match="arguments"):
        said(ox.Store(), "SELECT (<http://www.w3.org/2001/XMLSchema#integer>(1, 2) AS ?v) {}")


@pytest.mark.parametrize(
    ("sparql", "line", "column"),
    [
        ("SELEC * {}", 1, 1),
        ("SELECT * { ?s ?p ?o } garbage", 1, 23),
        ("SELECT *\n{ ?s ?p ?o }\n garbage", 3, 2),
        ("ASK { ?s ?p 1\n\n?s ?p 2 }", 3, 1),
        ("SELECT * { ?s ?p ?o } LIMIT many", 1, 29),
        ("ASK {\n  ?s ex:p ?o }", 2, 3),
        ("ASK { ?s ?p 'é' , ö }", 1, 17),
        ("CLEAR ALL", 1, 1),
        ("ASK { ?s ?p ?o", 1, 15),
    ],
)
def test_what_cannot_be_read_is_told_by_its_place(sparql: str, line: int, column: int) -> None:
    with pytest.raises(Misread) as raised:
        said(ox.Store(), sparql)

    assert (raised.value.line, raised.value.column) == (line, column)


def test_a_relative_iri_is_read_against_the_base() -> None:
    assert "http://example.org/a" in said(ox.Store(), "SELECT (<a> AS ?x) {}", base="http://example.org/sparql")


def test_what_the_reader_of_an_answer_raises_ends_it_and_comes_out_again() -> None:
    class Enough(Exception):
        pass

    def refuse(data: bytes) -> None:
        raise Enough

    with pytest.raises(Enough):
        answered(ox.Store(), "ASK {}", "text/csv", refuse, default_graphs=None, named_graphs=None)
