"""Nouns become quads and come back equal."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import GraphError
from memento.graph.mapping import node, node_or_none, quads, statements
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, MEM, TYPE
from memento.model import KINDS, Change, Entity, Invalidation, Memory, Node, Note, Session, User, Value

G = IRI("urn:memento:graph:local:main")
AT = datetime(2026, 3, 1, tzinfo=UTC)
text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
instants = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(
    lambda at: at.replace(tzinfo=UTC, microsecond=at.microsecond // 1000 * 1000)
)
iris = st.integers(0, 10**9).map(lambda n: IRI(f"urn:memento:x:{n}"))
several = st.lists(iris, unique=True, max_size=4).map(lambda found: tuple(sorted(found)))

nodes: st.SearchStrategy[Node] = st.one_of(
    st.builds(Session, iri=iris, name=text),
    st.builds(
        Note,
        iri=iris,
        content=text,
        at=instants,
        mentions=several,
        session=st.none() | iris,
        position=st.none() | st.integers(0, 10**6),
        said_by=st.none() | iris,
        idempotency_key=st.none() | text,
    ),
    st.builds(
        Entity,
        iri=iris,
        name=text,
        kind=st.sampled_from(KINDS),
        description=st.just("") | text,
        is_well_known=st.booleans(),
        aliases=st.lists(text, unique=True, max_size=3).map(lambda found: tuple(sorted(found))),
    ),
    st.builds(User, iri=iris, name=st.none() | text, description=st.just("") | text),
    st.builds(
        Memory,
        iri=iris,
        content=text,
        about=several,
        extracted_from=iris,
        valid_at=instants,
        created_at=instants,
        invalid_at=st.none() | instants,
        expired_at=st.none() | instants,
        event_at=st.none() | instants,
        subject=st.none() | iris,
        content_hash=st.just("") | text,
    ),
    st.builds(
        Invalidation,
        iri=iris,
        invalidator=iris,
        invalidated=iris,
        reason=text,
        at=instants,
        mode=st.sampled_from(["state-change", "correction", "heuristic"]),
        rule=st.none() | text,
    ),
)


@given(nodes)
def test_a_noun_survives_the_store(noun: Node) -> None:
    store = Oxigraph()
    store.apply(Change(tuple(quads(noun, G))))

    said = statements(store.quads(G))[noun.iri]
    said = {predicate: sorted(values, key=str) for predicate, values in said.items()}

    assert node(type(noun), noun.iri, said) == noun


def test_the_type_comes_first_and_a_kind_is_a_concept() -> None:
    found = quads(Entity(iri=IRI("urn:e"), name="Zed", kind="Technology"), G)

    assert found[0] == ("urn:e", TYPE, MEM.Entity, G)
    assert ("urn:e", MEM.entityType, MEM.Technology, G) in found


def test_a_noun_without_a_needed_field_is_an_error_that_names_it() -> None:
    with pytest.raises(GraphError, match=r"urn:n is no Note.*at"):
        node(Note, IRI("urn:n"), {MEM.content: ["hi"]})


def test_of_two_values_where_one_is_allowed_the_first_is_taken() -> None:
    assert node(Session, IRI("urn:s"), {MEM.name: ["b", "a"]}) == Session(iri=IRI("urn:s"), name="a")


def test_a_value_out_of_range_is_no_value_of_a_field() -> None:
    said: dict[IRI, list[Value]] = {
        MEM.content: ["hi"],
        MEM.at: ["!", AT],
        MEM.position: ["abc"],
        MEM.session: ["a talk"],
    }

    assert node(Note, IRI("urn:n"), said) == Note(iri=IRI("urn:n"), content="hi", at=AT)
    assert node_or_none(Note, IRI("urn:n"), {**said, MEM.at: ["!"]}) is None
