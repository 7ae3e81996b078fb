"""
What a query is answered with, and whether two answers are the same.

Blank nodes may have other labels; literals of one datatype are the same when their numbers or times are, as a store may normalise
them; the order of solutions counts where the suite numbers them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

if TYPE_CHECKING:
    import httpx2

RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
XSD = "http://www.w3.org/2001/XMLSchema#"
COUNTED, NUMBERED, VARIABLE = NamedNode("urn:count"), NamedNode("urn:number"), "urn:variable:"

SOLUTIONS = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "text/tab-separated-values": QueryResultsFormat.TSV,
}
CSV = "text/csv"
GRAPHS = {
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
    "application/rdf+xml": RdfFormat.RDF_XML,
    "application/ld+json": RdfFormat.JSON_LD,
}
BY_ENDING = {
    "srx": "application/sparql-results+xml",
    "srj": "application/sparql-results+json",
    "tsv": "text/tab-separated-values",
    "csv": CSV,
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "nq": "application/n-quads",
    "trig": "application/trig",
    "rdf": "application/rdf+xml",
}

Term = NamedNode | BlankNode | Literal | Triple
Row = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Solutions:
    """The variables, and for each solution what they are bound to."""

    variables: frozenset[str]
    rows: tuple[Row, ...]
    is_ordered: bool = False


Answer = bool | Solutions | Dataset


def media_type(answer: httpx2.Response) -> str:
    """The media type of a response, without its parameters."""
    return str(answer.headers.get("content-type", "")).partition(";")[0].strip()


def is_about_solutions(media: str) -> bool:
    """Whether answers to SELECT and ASK come in this media type."""
    return media in SOLUTIONS or media == CSV


def read_answer(body: bytes, media: str, base: str = "") -> Answer:
    """What a body says; raises ValueError or SyntaxError for one that is not of its media type."""
    if media == CSV:
        return _csv(body)
    if media in SOLUTIONS:
        found = parse_query_results(body, SOLUTIONS[media])
        if isinstance(found, QueryBoolean):
            return bool(found)
        names = [variable.value for variable in found.variables]
        rows = [{n: row[n] for n in names if row[n] is not None} for row in found]
        return Solutions(frozenset(names), tuple(rows))
    graph = graph_of(body, media, base)
    said = [quad.object for quad in graph.quads_for_predicate(NamedNode(RS + "boolean"))]
    if said:
        return said[0] == Literal("true", datatype=NamedNode(XSD + "boolean"))
    return _result_set(graph) if any(graph.quads_for_object(NamedNode(RS + "ResultSet"))) else graph


def graph_of(body: bytes, media: str, base: str = "") -> Dataset:
    """A body of RDF."""
    if media not in GRAPHS:
        raise ValueError(f"{media or 'nothing'} is no media type of RDF")
    return Dataset(parse(body, GRAPHS[media], base_iri=base or None))


def difference(wanted: Answer, given: Answer, *, is_lax: bool = False) -> str:
    """How they differ, in few words; nothing when they are the same."""
    if isinstance(wanted, Solutions) and isinstance(given, Solutions):
        if wanted.variables != given.variables:
            return f"the variables are {sorted(given.variables)}, not {sorted(wanted.variables)}"
        same = _lax(wanted, given) if is_lax else _same(_table(wanted, wanted), _table(given, wanted))
        return "" if same else f"{len(given.rows)} solutions that are not the {len(wanted.rows)} wanted"
    if isinstance(wanted, Dataset) and isinstance(given, Dataset):
        same = _same(_plain(wanted), _plain(given))
        return "" if same else f"{len(given)} quads that are not the {len(wanted)} wanted"
    if isinstance(wanted, bool) and isinstance(given, bool):
        return "" if wanted is given else f"{given}, not {wanted}"
    return f"a {type(given).__name__}, not a {type(wanted).__name__}"


def _csv(body: bytes) -> Solutions:
    names, *rows = csv.reader(io.StringIO(body.decode(), newline=""))

    def term(cell: str) -> Term:
        return BlankNode(cell[2:]) if cell.startswith("_:") else Literal(cell)

    return Solutions(
        frozenset(names), tuple({n: term(c) for n, c in zip(names, row, strict=True) if c} for row in rows)
    )


def _result_set(graph: Dataset) -> Solutions:
    def objects(node: object, name: str) -> list[Term]:
        return [q.object for q in graph.quads_for_subject(node) if q.predicate.value == RS + name]  # type: ignore[arg-type]

    def row(solution: Term) -> dict[str, Term]:
        bindings = objects(solution, "binding")
        return {str(objects(b, "variable")[0].value): objects(b, "value")[0] for b in bindings}  # type: ignore[union-attr]

    names = [quad.object.value for quad in graph.quads_for_predicate(NamedNode(RS + "resultVariable"))]  # type: ignore[union-attr]
    solutions = [quad.object for quad in graph.quads_for_predicate(NamedNode(RS + "solution"))]
    numbers = {solution: int(index.value) for solution in solutions for index in objects(solution, "index")}  # type: ignore[union-attr]
    solutions.sort(key=lambda solution: numbers.get(solution, 0))
    return Solutions(frozenset(names), tuple(row(solution) for solution in solutions), is_ordered=bool(numbers))


def _plain(quads: Iterable[Quad]) -> Dataset:
    return Dataset(Quad(q.subject, q.predicate, _value(q.object), q.graph_name) for q in quads)


def _table(solutions: Solutions, wanted: Solutions) -> Dataset:
    """Each solution as a blank node, so that one isomorphism holds for all of them."""
    rows = [tuple(sorted(((n, _value(t)) for n, t in row.items()), key=str)) for row in solutions.rows]
    counted: Iterable[tuple[object, NamedNode, int]]
    if wanted.is_ordered:
        counted = [(row, NUMBERED, number) for number, row in enumerate(rows)]
    else:
        counted = [(row, COUNTED, count) for row, count in Counter(rows).items()]
    quads = []
    for row, predicate, number in counted:
        node = BlankNode()
        quads.append(Quad(node, predicate, Literal(number), DefaultGraph()))
        quads += [Quad(node, NamedNode(VARIABLE + n), t, DefaultGraph()) for n, t in row]  # type: ignore[attr-defined]
    return Dataset(quads)


def _lax(wanted: Solutions, given: Solutions) -> bool:
    def counts(solutions: Solutions) -> Counter[frozenset[tuple[str, Term]]]:
        return Counter(frozenset((n, _value(t)) for n, t in row.items()) for row in solutions.rows)

    most, had = counts(wanted), counts(given)
    return set(had) == set(most) and all(1 <= had[row] <= most[row] for row in most)


def _same(one: Dataset, other: Dataset) -> bool:
    one.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    other.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return one == other


def _value(term: Term) -> Term:
    """The term with one spelling for each number."""
    if isinstance(term, Triple):
        return Triple(term.subject, term.predicate, _value(term.object))
    if not isinstance(term, Literal) or not term.datatype.value.startswith(XSD):
        return term
    kind = term.datatype.value.removeprefix(XSD)
    try:
        if kind in ("double", "float"):
            return Literal(repr(float(term.value)), datatype=term.datatype)
        if kind == "decimal":
            return Literal(f"{Decimal(term.value).normalize():f}", datatype=term.datatype)
        if kind in ("integer", "int", "long", "short", "byte") or kind.endswith(("Integer", "Int", "Long", "Short")):
            return Literal(str(int(term.value)), datatype=term.datatype)
        if kind == "boolean":
            return Literal("true" if term.value in ("true", "1") else "false", datatype=term.datatype)
        if kind in ("date", "time", "dateTime"):
            return Literal(term.value.replace("+00:00", "Z"), datatype=term.datatype)
    except (ValueError, ArithmeticError):
        return term
    return term
