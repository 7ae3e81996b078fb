"""What is answered on a snapshot: from its dataset alone, in every format, row by row; and what is told of what cannot be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memento.errors import InputError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.iris import IRI, MEM
from memento.model import Change
from memento.sparql.evaluate import (
    GRAPH_FORMATS,
    ROW_FORMATS,
    QuerySyntaxError,
    open_snapshot,
    row_counter,
    write_answer,
)
from memento.sparql.trial import copy_snapshot

A, B = IRI("urn:memento:graph:local:a"), IRI("urn:memento:graph:local:b")
TWO_GRAPHS = f"<{A}> {{ <urn:x> <{MEM.name}> 'one' }} <{B}> {{ <urn:x> <{MEM.name}> 'two' }}"
NAMES = "SELECT ?v WHERE { { ?s ?p ?v } UNION { GRAPH ?g { ?s ?p ?v } } }"
texts = st.text(st.sampled_from('},{"\r\n\t<result>\\ x'), max_size=12)


def said(
    store: ox.Store,
    sparql: str,
    readable: Sequence[str] | None = (A,),
    media: str = "text/csv",
    base: str | None = None,
) -> str:
    parts: list[bytes] = []
    write_answer(store, sparql, media, parts.append, default_graphs=readable, named_graphs=readable, base=base)
    return b"".join(parts).decode()


def test_an_answer_is_held_to_its_dataset() -> None:
    store = ox.Store()
    store.load(TWO_GRAPHS, ox.RdfFormat.TRIG)
    for sparql in (NAMES, f"SELECT * FROM <{B}> {{ ?s ?p ?o }}", f"SELECT * {{ GRAPH <{B}> {{ ?s ?p ?o }} }}"):
        assert "two" not in said(store, sparql)
        assert said(store, sparql, ()).count("\n") == 1
    assert "two" not in said(store, "DESCRIBE <urn:x>", media="text/turtle")
    assert "two" in said(store, f"SELECT * FROM <{B}> {{ ?s ?p ?o }}", None)


def test_a_copy_is_written_to_without_changing_the_store(tmp_path: Path) -> None:
    graph = Oxigraph(tmp_path / "store")
    graph.apply(Change(((IRI("urn:x"), MEM.name, "one", A),)))
    snapshots = Snapshots(graph, tmp_path / "snapshots")
    with snapshots.lease() as folder, snapshots.scratch() as scratch:
        copy_snapshot(open_snapshot(folder), scratch).update("CLEAR ALL")
        assert sum(1 for _ in open_snapshot(folder))
        assert graph.select("search/statements", [A], node=IRI("urn:x"))
    assert len(list((tmp_path / "snapshots").iterdir())) == 1
    snapshots.close()
    graph.close()


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
    with pytest.raises(QuerySyntaxError) as raised:
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
        write_answer(ox.Store(), "ASK {}", "text/csv", refuse, default_graphs=None, named_graphs=None)


@pytest.mark.parametrize("media", ROW_FORMATS)
@settings(max_examples=30)
@given(rows=st.lists(texts, max_size=6), cuts=st.integers(1, 40))
@example(rows=["a},{", "\\", '\\"},{"[{', ""], cuts=1)
@example(rows=["},{"] * 3, cuts=40)
def test_every_row_counts_once_however_an_answer_is_cut(media: str, rows: list[str], cuts: int) -> None:
    values = " ".join(str(ox.Literal(text)) for text in rows)
    parts: list[bytes] = []
    write_answer(
        ox.Store(),
        f"SELECT ?text ?n {{ VALUES ?text {{ {values} }} BIND(1 AS ?n) }}",
        media,
        parts.append,
        default_graphs=None,
        named_graphs=None,
    )
    body = b"".join(parts)
    count = row_counter(media)
    seen = [count(body[begin : begin + cuts]) for begin in range(0, len(body), cuts)]

    assert seen[-1] == len(rows)
