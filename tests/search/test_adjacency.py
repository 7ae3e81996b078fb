"""Who is about what, as memories come and go."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.iris import IRI, MEM, TYPE
from memento.model import Value
from memento.search.adjacency import Adjacency, Successions
from memento.search.index import Context, Update
from memento.search.nodes import Record

about = st.lists(st.integers(20, 24), unique=True, max_size=3)
steps = st.lists(st.tuples(st.integers(0, 5), about), max_size=10)


@settings(max_examples=60)
@given(st.dictionaries(st.integers(0, 5), about.filter(bool)), steps)
def test_edges_are_those_put_last_however_they_came(
    first: dict[int, list[int]], later: list[tuple[int, list[int]]]
) -> None:
    adjacency = Adjacency()
    adjacency.fill_edges(first)
    kept = restore_from(adjacency)
    expected = dict(first)
    for memory, anchors in later:
        expected[memory] = anchors
        adjacency.matrix(np.ones(25, dtype=np.bool_))  # to be patched by what follows
        for one in (adjacency, kept):
            one.put(memory, anchors) if anchors else one.drop(memory)
    inside = np.zeros(25, dtype=np.bool_)
    inside[[0, 1, 3]] = True

    for one in (adjacency, kept, restore_from(kept)):
        for memory in range(6):
            assert one.about(memory) == tuple(expected.get(memory, ()))
        for anchor in range(20, 25):
            having = sorted(memory for memory, anchors in expected.items() if anchor in anchors)
            assert sorted(one.memories(anchor).tolist()) == having
            assert one.degree(anchor) == len(having)
            seen = [memory for memory in having if inside[memory]]
            assert one.matrix(inside).neighbours(anchor).tolist() == seen


def restore_from(adjacency: Adjacency) -> Adjacency:
    again = Adjacency()
    again.restore(adjacency.arrays())
    return again


def test_the_matrix_grows_with_the_ids() -> None:
    adjacency = Adjacency()
    adjacency.fill_edges({0: [2]})
    few = np.array([True, False, False])
    assert adjacency.matrix(few).neighbours(2).tolist() == [0]

    adjacency.put(4, [2, 3])
    more = np.array([True, False, False, False, True])

    assert adjacency.matrix(more).neighbours(2).tolist() == [0, 4]
    assert adjacency.matrix(more) is adjacency.matrix(more)
    assert len(adjacency.matrix(more)) == 5


def test_pairs_of_successions_follow_every_write_whichever_end_came_first() -> None:
    graph = IRI("urn:g")

    def record(name: str, *ended: str) -> Record:
        said: dict[IRI, list[Value]] = {TYPE: [MEM.Memory], MEM.invalidates: [IRI(f"urn:{one}") for one in ended]}
        return Record(IRI(f"urn:{name}"), graph, said)

    context = Context(8)
    successions = context[Successions]
    every = np.arange(4, dtype=np.int32)

    def write(node: int, one: Record) -> list[tuple[int, int]]:
        context.nodes.put(node, one.iri, "memory", graph, one.lifetime(None))
        successions.apply(Update([(node, one)]))
        return successions.pairs(every)

    assert write(0, record("new", "old")) == []  # what it ended is not there yet
    assert write(3, record("old")) == [(0, 3)]
    assert write(2, record("newest", "new", "old")) == [(0, 2), (0, 3), (2, 3)]
    assert successions.pairs(np.array([1], dtype=np.int32)) == []
    assert write(2, record("newest")) == [(0, 3)]
    successions.drop(0)
    assert successions.pairs(every) == []
