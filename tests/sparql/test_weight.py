"""What the shape of a query promises."""

from __future__ import annotations

import pytest

from memento.settings import LimitsSettings
from memento.sparql.query.guard import read_sparql
from memento.sparql.query.prepare import cost_class
from memento.sparql.worker.jobs import CHEAP, LIKELY, UNKNOWN


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
def test_only_what_must_be_short_is_light(sparql: str, promised: int) -> None:
    assert cost_class(read_sparql(sparql, LimitsSettings())) == promised
