"""Links and types of keys, as they come and go, and as they are kept between two starts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memento.iris import IRI, MEM
from memento.search.attributes import Numbers
from memento.search.keygraph import KeyGraph
from memento.search.labels import Labels

GRAPH = IRI("urn:memento:graph:local:main")
LINKS = st.dictionaries(st.integers(100, 120), st.dictionaries(st.integers(0, 9), st.integers(1000, 30000)), max_size=8)


@given(LINKS)
def test_links_one_by_one_are_those_filled_at_once_and_those_that_were_kept(links: dict[int, dict[int, int]]) -> None:
    exact = {memory: {key: weight / 10_000 for key, weight in of.items()} for memory, of in links.items() if of}
    slow, fast = KeyGraph(), KeyGraph()
    for memory, of in exact.items():
        slow.link(memory, of)
    fast.fill_links(exact)
    kept = KeyGraph()
    kept.restore(fast.arrays())
    for graph in (slow, fast, kept):
        assert {memory: graph.links(memory) for memory in exact} == exact
        for key in range(10):
            nodes, weights = graph.led_to(key)
            assert dict(zip(nodes.tolist(), weights.tolist(), strict=True)) == {
                memory: of[key] for memory, of in exact.items() if key in of
            }


def test_a_key_that_goes_takes_its_links_along() -> None:
    keys = KeyGraph()
    keys.put(1, GRAPH, ["apple"], "concept")
    keys.link(7, {1: 1.0, 2: 0.5})
    keys.drop(1)

    assert keys.links(7) == {2: 0.5}
    assert keys.type(1) is None
    assert keys.find_exact("apple", [GRAPH], Labels()) == []


def test_a_concept_goes_by_its_words_without_their_endings_and_a_name_does_not() -> None:
    keys = KeyGraph()
    keys.put(1, GRAPH, ["strawberries"], "concept")
    keys.put(2, GRAPH, ["Rivers"], "name")

    assert keys.find_by_stems("strawberry", [GRAPH]) == [1]
    assert keys.find_by_stems("river", [GRAPH]) == []
    again = KeyGraph()
    again.restore(keys.arrays())
    assert (again.find_by_stems("strawberry", [GRAPH]), again.type(2)) == ([1], "name")


def test_entities_are_found_by_their_labels_and_follow_them() -> None:
    keys, labels = KeyGraph(), Labels()
    labels.put(3, GRAPH, ["Isaac Newton"])
    keys.put_anchor(3, GRAPH, ["Isaac Newton"], "Person")

    assert keys.find_in_text("What did Isaac Newton say?", [GRAPH], labels) == {3: "isaac newton"}
    keys.put_anchor(3, GRAPH, ["Sir Isaac"], "Person")
    assert keys.find_in_text("Isaac Newton?", [GRAPH], labels) == {}
    assert (keys.type(3), keys.concepts(4).tolist()) == ("name", [False] * 4)


@given(st.dictionaries(st.integers(0, 50), st.floats(0, 1), max_size=10))
def test_numbers_are_those_that_were_put_and_those_that_were_kept(depths: dict[int, float]) -> None:
    numbers = Numbers()
    for node, depth in depths.items():
        numbers.put(node, {MEM.depth: [depth], MEM.accessCount: [node]})
    kept = Numbers()
    kept.restore(numbers.arrays())
    for one in (numbers, kept):
        assert {node: one.strength(node).depth for node in depths} == depths
        assert all(one.strength(node).access_count == node for node in depths)
    for node in depths:
        numbers.drop(node)
    assert np.isnan(numbers.column(MEM.depth, np.array(list(depths), dtype=np.int32))).all()
