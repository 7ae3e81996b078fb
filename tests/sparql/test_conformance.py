"""The W3C's suites over HTTP: all of them where `RDF_TESTS` is a checkout of w3c/rdf-tests; by default a few cases of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyoxigraph import Dataset, RdfFormat, parse

import conformance
from w3c.answers import Solutions, difference, read_answer
from w3c.cases import Checkout
from w3c.reports import apart, earl, table, worse
from w3c.trials import Mark

OURS, THEIRS = "memento dataset", "oxigraph serve"
SUITE = Path(__file__).with_name("suite")


@pytest.fixture(scope="module")
def told() -> conformance.Told:
    """What becomes of our own cases at both services."""
    return conformance.run(Checkout(SUITE))


def test_the_service_passes_every_case_of_ours(told: conformance.Told) -> None:
    assert [(o.case.name, o.why) for o in told[OURS] if o.mark is not Mark.PASSED] == []


def test_a_service_that_answers_otherwise_fails(told: conformance.Told) -> None:
    failed = [outcome.case.name for outcome in told[THEIRS] if outcome.mark is Mark.FAILED]

    assert failed == ["an unknown function is an error of its expression"]
    assert "ours/unknown-function.rq" in "\n".join(apart(told))
    assert worse(told, OURS, THEIRS) == []
    assert worse(told, THEIRS, OURS) == ["ours/unknown-function.rq"]


def test_the_table_counts_every_case_once(told: conformance.Told) -> None:
    rows = [line.split("|")[2].strip() for line in list(table(told))[2:]]

    assert sum(int(cell) for cell in rows[:-1]) == len(told[OURS]) == int(rows[-1])


def test_a_report_in_earl_has_an_assertion_for_each_case(told: conformance.Told) -> None:
    report = Dataset(parse(earl(THEIRS, "1", told[THEIRS]), RdfFormat.TURTLE, base_iri="urn:report"))
    said = [q.object.value.rpartition("#")[2] for q in report if q.predicate.value.endswith("#outcome")]

    assert len(said) == len(told[THEIRS])
    assert said.count("failed") == 1


def test_every_file_of_the_suite_is_used() -> None:
    checkout = Checkout(SUITE)
    cases = list(checkout.cases())
    used = {file for case in cases for file in (case.text, case.result, *case.data.default, *case.after.default)}
    used |= {file for case in cases for data in (case.data, case.after) for _, file in data.named}
    there = {checkout.address(path) for path in SUITE.rglob("*.*") if path.name != "manifest.ttl"}

    assert there - used == set()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("?x\n_:a\n", "?x\n_:b\n", True),
        ("?x\t?y\n_:a\t_:a\n", "?x\t?y\n_:b\t_:c\n", False),
        ("?x\n1\n1\n", "?x\n1\n", False),
        ("?x\n1\n2\n", "?x\n2\n1\n", True),
        ("?x\n1\n", "?y\n1\n", False),
        ("?x\t?y\n1\t\n", "?x\t?y\n\t1\n", False),
        ("?x\n1.50\n", "?x\n1.5\n", True),
        ("?x\n1.5\n", "?x\n1.5e0\n", False),
        ('?x\n"a"\n', '?x\n"a"@en\n', False),
    ],
)
def test_solutions_are_compared_as_a_bag_up_to_blank_nodes(one: str, other: str, same: bool) -> None:
    wanted, given = (read_answer(text.encode(), "text/tab-separated-values") for text in (one, other))

    assert (difference(wanted, given) == "") is same


def test_the_order_counts_where_solutions_are_numbered() -> None:
    def numbered(text: str) -> Solutions:
        found = read_answer(text.encode(), "text/tab-separated-values")
        assert isinstance(found, Solutions)
        return Solutions(found.variables, found.rows, is_ordered=True)

    assert difference(numbered("?x\n1\n2\n"), numbered("?x\n1\n2\n")) == ""
    assert difference(numbered("?x\n1\n2\n"), numbered("?x\n2\n1\n")) != ""


def test_a_lax_case_takes_each_solution_once_or_as_often_as_it_is_there() -> None:
    wanted, once, often, missing = (
        read_answer(text.encode(), "text/tab-separated-values")
        for text in ("?x\n1\n1\n2\n", "?x\n1\n2\n", "?x\n1\n2\n2\n", "?x\n1\n")
    )

    assert difference(wanted, once, is_lax=True) == ""
    assert difference(wanted, often, is_lax=True) != ""
    assert difference(wanted, missing, is_lax=True) != ""


def test_no_case_that_the_engines_own_server_passes_fails_here() -> None:
    if "RDF_TESTS" not in os.environ:
        pytest.skip("no suites: set RDF_TESTS to a checkout of https://github.com/w3c/rdf-tests")
    told = conformance.run(Checkout(Path(os.environ["RDF_TESTS"])))
    marks = {
        suite: [o.mark for o in told[OURS] if o.case.suite == f"SPARQL 1.1 {suite}"]
        for suite in ("protocol", "graph store protocol, indirect", "service description")
    }

    assert worse(told, OURS, THEIRS) == []
    assert {suite: (len(found), set(found)) for suite, found in marks.items()} == {
        "protocol": (34, {Mark.PASSED}),
        "graph store protocol, indirect": (9, {Mark.PASSED}),
        "service description": (3, {Mark.PASSED}),
    }
