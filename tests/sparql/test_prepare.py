"""Which media type an answer has, and what the shape of a query promises of its cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import NotAcceptable
from memento.settings import LimitsSettings
from memento.sparql.guard import Form, read_sparql
from memento.sparql.jobs import CHEAP, LIKELY, UNKNOWN
from memento.sparql.prepare import GRAPH_MEDIA, ROW_MEDIA, choose_media_type, cost_class


@pytest.mark.parametrize(
    ("accept", "form", "media"),
    [
        ("", "select", "application/sparql-results+json"),
        ("*/*", "ask", "application/sparql-results+json"),
        ("text/csv;q=0.5, application/sparql-results+xml", "select", "application/sparql-results+xml"),
        ("text/*", "select", "text/csv"),
        ("text/csv, text/tab-separated-values", "select", "text/csv"),
        ("text/tab-separated-values, text/csv", "select", "text/tab-separated-values"),
        ("text/csv, text/turtle;q=0.9, */*;q=0.1", "describe", "text/turtle"),
        ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", "construct", "text/turtle"),
        ("Application/N-Quads ; charset=utf-8 ; q=1.0", "construct", "application/n-quads"),
        ("text/*;q=0.9, text/csv;q=0", "select", "text/tab-separated-values"),
        ("*/*;q=0.1, text/csv;q=0.2", "select", "text/csv"),
    ],
)
def test_the_best_offered_media_type_is_taken(accept: str, form: Form, media: str) -> None:
    assert choose_media_type(accept, form) == media


@pytest.mark.parametrize("accept", ["image/png", "text/csv;q=0", "*/*;q=0", ",", "text/turtle"])
def test_a_media_type_that_cannot_be_had_is_an_error_that_lists_those_that_can(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="text/csv"):
        choose_media_type(accept, "select")


@given(st.text(max_size=40))
def test_no_header_raises_anything_else(accept: str) -> None:
    try:
        assert choose_media_type(accept, "construct") in GRAPH_MEDIA
        assert choose_media_type(accept, "select") in ROW_MEDIA
    except NotAcceptable:
        pass


@pytest.mark.parametrize(
    ("sparql", "promised"),
    [
        ("ASK {}", CHEAP),
        ("ASK { ?s ?p ?o }", CHEAP),
        ("SELECT * WHERE { ?s ?p ?o } LIMIT 10", CHEAP),
        ("SELECT ?p ?o { <urn:s> ?p ?o }", CHEAP),
        ("PREFIX : <urn:x> SELECT * { GRAPH ?g { ?s :p 'x' } } LIMIT 1000", CHEAP),
        ("ASK { ?s ?p ?s }", LIKELY),
        ("SELECT * { <urn:s> ?p ?o . ?o ?q ?r }", LIKELY),
        ("SELECT * { ?s a <urn:t> ; ?p ?o FILTER(?o > 3) } LIMIT 5", LIKELY),
        ("DESCRIBE <urn:s>", LIKELY),
        ("SELECT * { ?s ?p ?o }", UNKNOWN),
        ("SELECT * { ?s ?p ?o } LIMIT 100000", UNKNOWN),
        ("SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 1", UNKNOWN),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } LIMIT 1", UNKNOWN),
        ("SELECT DISTINCT ?p { ?s ?p ?o } LIMIT 1", UNKNOWN),
        ("ASK { ?s <urn:p>* ?o }", UNKNOWN),
        ("ASK { ?s <urn:p>/<urn:q> ?o }", UNKNOWN),
        ("ASK { ?s ?p ?o FILTER(REGEX(?o, 'x')) }", UNKNOWN),
        ("SELECT * { { SELECT * { ?s ?p ?o } } } LIMIT 1", UNKNOWN),
        ("ASK { " + "?s ?p ?o . " * 30 + "}", UNKNOWN),
        ("CLEAR ALL", UNKNOWN),
    ],
)
def test_only_what_must_be_short_is_cheap(sparql: str, promised: int) -> None:
    assert cost_class(read_sparql(sparql, LimitsSettings())) == promised
