"""An update cut into its operations, and where it cannot be."""

from __future__ import annotations

import pytest

from memento.errors import InputError
from memento.sparql.guard import tokenise
from memento.sparql.update import WrittenOperation, parse_operations


def cut(sparql: str) -> list[WrittenOperation]:
    return parse_operations(sparql, tuple(tokenise(sparql)))


def test_each_operation_has_the_declarations_before_it_and_its_place() -> None:
    first, second = cut("PREFIX a: <urn:a:>\nINSERT DATA { a:s a:p 1 } ;\n BASE <http://b/> CLEAR SILENT GRAPH <g>;")

    assert (first.verb, first.prologue, first.line, first.column) == ("INSERT", "PREFIX a: <urn:a:>", 2, 1)
    assert first.text == "INSERT DATA { a:s a:p 1 }"
    assert (second.verb, second.line, second.column, second.is_silent) == ("CLEAR", 3, 19, True)
    assert second.prologue == "PREFIX a: <urn:a:>\nBASE <http://b/>"
    assert [token.text for token in second.graphs] == ["<g>"]


def test_templates_hold_iris_in_the_place_of_variables_and_the_pattern_stays_as_it_is() -> None:
    [found] = cut(
        "WITH <g> DELETE { ?s a $o } INSERT { GRAPH ?g { ?s a 'not ?this' } } USING <a> USING NAMED <b> WHERE { ?s ?p ?o }"
    )

    marker = found.marker
    assert found.deletes.split() == [f"<{marker}s>", "a", f"<{marker}o>"]
    assert found.inserts.split() == ["GRAPH", f"<{marker}g>", "{", f"<{marker}s>", "a", "'not", "?this'", "}"]
    assert found.where == "{ ?s ?p ?o }"
    assert set(found.variables) == {"s", "o", "g"}
    assert found.with_graph is not None
    assert found.with_graph.text == "<g>"
    assert [[t.text for t in some or ()] for some in (found.using, found.using_named)] == [["<a>"], ["<b>"]]


def test_no_two_updates_have_the_same_marker() -> None:
    [one], [other] = cut("DELETE WHERE { ?s ?p ?o }"), cut("DELETE WHERE { ?s ?p ?o }")

    assert one.marker != other.marker


def test_delete_where_deletes_its_own_pattern() -> None:
    [found] = cut("DELETE WHERE { GRAPH ?g { ?s ?p 1 } }")

    assert found.where == "{ GRAPH ?g { ?s ?p 1 } }"
    assert found.deletes.count(found.marker) == 3
    assert found.inserts == ""


@pytest.mark.parametrize(
    ("sparql", "graphs"),
    [
        ("CLEAR DEFAULT", ["DEFAULT"]),
        ("DROP SILENT ALL", ["ALL"]),
        ("CREATE GRAPH ex:g", ["ex:g"]),
        ("COPY DEFAULT TO <g>", ["DEFAULT", "<g>"]),
        ("move GRAPH <a> to graph <b>", ["<a>", "<b>"]),
        ("ADD SILENT <a> TO DEFAULT", ["<a>", "DEFAULT"]),
        ("LOAD SILENT <a> INTO GRAPH <b>", ["<a>", "<b>"]),
    ],
)
def test_operations_on_graphs_name_their_graphs(sparql: str, graphs: list[str]) -> None:
    [found] = cut(sparql)

    assert [token.text for token in found.graphs] == graphs
    assert found.is_silent == ("SILENT" in sparql)


@pytest.mark.parametrize("sparql", ["", "# nothing", "PREFIX a: <urn:a:>", "BASE <http://b/> # nothing"])
def test_an_update_may_do_nothing(sparql: str) -> None:
    assert cut(sparql) == []


@pytest.mark.parametrize(
    ("sparql", "told"),
    [
        ("CLEAR XYZ", "line 1, column 7 of the update: expected GRAPH, DEFAULT, NAMED or ALL, not 'XYZ'"),
        ("SELECT * { ?s ?p ?o }", "line 1, column 1 of the update: expected an operation such as INSERT or DELETE"),
        ("INSERT DATA { 1 }\nCLEAR ALL", "line 2, column 1 of the update: expected ; or the end of the update"),
        ("INSERT DATA { <a> <b> 1 } ; ; CLEAR ALL", "line 1, column 29 of the update: expected an operation"),
        ("DELETE { ?s ?p ?o }", "the update ends where USING or WHERE must follow"),
        ("WITH <g> CLEAR ALL", "line 1, column 10 of the update: expected DELETE or INSERT"),
        ("COPY <a> <b>", "line 1, column 10 of the update: expected TO"),
        ("INSERT DATA <a>", "line 1, column 13 of the update: expected {"),
        ("PREFIX <urn:a>", "line 1, column 8 of the update: expected a prefix"),
        ("CLEAR GRAPH ?g", "line 1, column 13 of the update: expected the IRI of a graph"),
        (
            "INSERT DATA { _:a <b> 1 } ; INSERT DATA { _:a <b> 2 }",
            "line 1, column 43 of the update: _:a stands for a blank node of an earlier INSERT DATA",
        ),
    ],
)
def test_what_cannot_be_cut_is_named_with_its_place(sparql: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        cut(sparql)

    assert told in str(caught.value)
