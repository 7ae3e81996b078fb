"""Values become terms and come back the same; text stays text."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Store

from memento.errors import GraphError
from memento.graph.terms import to_term, to_value
from memento.iris import IRI
from memento.model import Value

values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**62), 2**62),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9998, 1, 1)).map(
        lambda at: at.replace(tzinfo=UTC, microsecond=at.microsecond // 1000 * 1000)
    ),
)


@given(values)
def test_a_value_survives_the_store(value: Value) -> None:
    store = Store()
    store.update(f"INSERT DATA {{ <urn:s> <urn:p> {to_term(value)} }}")

    (quad,) = store.quads_for_pattern(None, None, None)
    found = to_value(quad.object)

    assert found == value
    assert type(found) is type(value)


def test_an_iri_stays_a_name_and_text_that_looks_like_one_stays_text() -> None:
    assert str(to_term(IRI("urn:x"))) == "<urn:x>"
    assert str(to_term("urn:x")) == '"urn:x"'


def test_an_iri_that_would_break_out_of_its_brackets_is_refused() -> None:
    with pytest.raises(GraphError, match="cannot be an RDF term"):
        to_term(IRI("urn:x> . } DROP ALL #"))


def test_a_literal_of_a_foreign_type_is_its_text() -> None:
    assert to_value(Literal("P1D", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#duration"))) == "P1D"
