"""Who is about what, as memories come and go."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.search.adjacency import Adjacency

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
