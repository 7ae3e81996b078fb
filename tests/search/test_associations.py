"""Associations by dense id: their columns follow every put and every drop, and come back as they were kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memento.iris import IRI, MEM, TYPE, association_iri, graph_iri
from memento.model import Value
from memento.search.adjacency import Associations
from memento.search.attributes import Fadings
from memento.search.index import Context, Update
from memento.search.nodes import Lifetime, Record

GRAPH = graph_iri("local", "main")
SIMILAR = MEM.Similar
AT = datetime(2026, 1, 1, tzinfo=UTC)
LIFE = Lifetime(valid_at=AT, invalid_at=None, created_at=AT, expired_at=None, retired_at=None)


def context_of(count: int) -> Context:
    context = Context()
    for node in range(count):
        context.nodes.put(node, memory(node), "memory", GRAPH, LIFE)
    return context


def memory(node: int) -> IRI:
    return IRI(f"urn:memento:memory:{node}")


def link(source: int, target: int, weight: float) -> Record:
    said: dict[IRI, list[Value]] = {
        TYPE: [MEM.Association],
        MEM["from"]: [memory(source)],
        MEM.to: [memory(target)],
        MEM.relation: [SIMILAR],
        MEM.weight: [weight],
        MEM.lastReinforcedAt: [AT],
    }
    return Record(association_iri(memory(source), SIMILAR, memory(target)), GRAPH, said)


def told(associations: Associations, inside: set[int]) -> set[tuple[int, int, float]]:
    mask = np.array([node in inside for node in range(8)])
    found = associations.among(mask)
    return set(zip(found.source.tolist(), found.target.tolist(), found.weight.tolist(), strict=True))


_END = st.integers(0, 6)


@given(st.lists(st.tuples(_END, _END, st.sampled_from([0.25, 0.5, 1.0]), st.booleans()), max_size=120), st.sets(_END))
def test_columns_are_what_was_put_and_not_dropped(moves: list[tuple[int, int, float, bool]], inside: set[int]) -> None:
    associations = Associations(context_of(7))
    expected: dict[tuple[int, int], float] = {}
    for source, target, weight, is_put in moves:
        if is_put:
            associations.apply(Update(nodes=(), others=[link(source, target, weight)]))
            expected[source, target] = weight
        else:
            associations.drop(source)
            expected = {ends: weight for ends, weight in expected.items() if source not in ends}

    wanted = {(*ends, weight) for ends, weight in expected.items() if inside.issuperset(ends)}
    assert len(associations) == len(expected)
    assert told(associations, inside) == wanted
    kept = Associations()
    kept.restore(associations.arrays())
    assert told(kept, inside) == wanted


def test_a_link_without_an_end_is_none() -> None:
    associations = Associations(context_of(2))
    associations.apply(Update(nodes=(), others=[link(0, 9, 0.5)]))

    assert len(associations) == 0


def test_fadings_come_back_as_they_were_kept() -> None:
    fadings = Fadings()
    for place, days in enumerate((7, 14)):
        said: dict[IRI, list[Value]] = {
            TYPE: [MEM.Fading],
            MEM.fades: [GRAPH],
            MEM.at: [AT + timedelta(days=place)],
            MEM.halfLife: [float(days)],
        }
        fadings.apply(Update(nodes=(), others=[Record(IRI(f"urn:fading:{place}"), GRAPH, said)]))
    kept = Fadings()
    kept.restore(fadings.arrays())

    assert kept.decay_of(GRAPH) == fadings.decay_of(GRAPH)
    assert kept.decay_of(GRAPH).marks == ((AT, 7.0), (AT + timedelta(days=1), 14.0))
    kept.forget(IRI("urn:fading:1"))
    assert kept.decay_of(GRAPH).marks == ((AT, 7.0),)
