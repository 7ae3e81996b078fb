"""Turns are read with their neighbours, in whatever order they come."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.iris import IRI
from memento.search.arrays import Arrays
from memento.search.passages import Passages, Row, Turn
from memento.search.postings import Postings, Vocabulary, tokens
from memento.search.words import bm25

ONE, TWO = IRI("urn:session:1"), IRI("urn:session:2")
SAID = ["Did you see the whale?", "Yes, near Lisbon, last week.", "It was huge!", "We counted seven of them."]


def turn(node: int, session: IRI = ONE, content: str = "") -> Turn:
    return Turn(
        node=node, session=session, position=node, speaker=["Ana", "Ben"][node % 2], content=content or SAID[node % 4]
    )


def filled(order: list[int]) -> Passages:
    passages = Passages()
    for node in order:
        passages.put(node, turn(node).content, "", turn(node, ONE if node < 4 else TWO))
    return passages


def contents(postings: Postings, nodes: list[int]) -> dict[int, tuple[str, ...]]:
    return {node: tuple(sorted(postings.terms(node))) for node in nodes if node in postings}


@given(st.permutations(list(range(7))), st.sets(st.integers(0, 6), max_size=3))
def test_what_is_in_does_not_depend_on_how_it_came(order: list[int], gone: set[int]) -> None:
    passages = filled(order)
    for node in gone:
        passages.drop(node)
    expected = filled([node for node in range(7) if node not in gone])
    left = [node for node in range(7) if node not in gone]

    assert passages.nodes().tolist() == left
    for ours, theirs in ((passages.context, expected.context), (passages.pairs, expected.pairs)):
        assert contents(ours, left) == contents(theirs, left)
        assert ours.word_count == theirs.word_count
    assert passages.sessions.word_count == expected.sessions.word_count
    assert np.array_equal(
        passages.neighbours(np.array(left, dtype=np.int32)), expected.neighbours(np.array(left, dtype=np.int32))
    )


def test_a_turn_is_found_by_the_words_of_the_turn_before_it() -> None:
    nodes, scores = bm25("whale", [filled([0, 1, 2, 3]).context], 1.5, 0.75)

    assert nodes.tolist() == [0, 1]
    assert scores[0] > scores[1]


def test_a_pair_of_words_is_found_across_the_three_turns_of_a_window() -> None:
    passages = filled([0, 1, 2, 3])

    assert "last week" in passages.pairs.terms(2)
    assert "last week" not in passages.pairs.terms(3)


def test_a_short_turn_beside_a_page_is_not_lost_in_its_words() -> None:
    page = " ".join(f"word{number}" for number in range(500))
    said = ["I planned the trip to the whale park.", page, "So I go in May.", "All is well."]
    turns = [turn(node, content=content) for node, content in enumerate(said)]
    passages, at_once = Passages(), Passages()
    for told in turns:
        passages.put(told.node, told.content, "", told)
    at_once.fill([Row(t.node, t.content, at_once.vocabulary.numbers(tokens(t.content)), t) for t in turns])

    for read in (passages, at_once):
        assert set(read.context.terms(2)) == {"go", "may", *(f"word{number}" for number in range(480, 500))}
        assert {"word499 go", "may all"} <= set(read.pairs.terms(2))
        assert "word479 word480" not in read.pairs.terms(2)
        assert {"park word0", "word0 word1", "word499 go"} <= set(read.pairs.terms(1))


def test_a_memory_of_no_conversation_is_read_with_its_title() -> None:
    passages = Passages()
    passages.put(5, "It has seven hills.", "Lisbon", None)

    assert bm25("Lisbon hills", [passages.context], 1.5, 0.75)[0].tolist() == [5]
    assert passages.neighbours(np.array([5], dtype=np.int32)).tolist() == [[-1, -1]]
    assert passages.session_of(np.array([5], dtype=np.int32)).tolist() == [-1]
    assert passages.turn_nodes().size == 0


def test_the_shape_of_a_sentence_is_seen() -> None:
    shapes = filled([0, 1, 2, 3]).shapes(np.arange(4, dtype=np.int32))

    assert shapes[:, 0].tolist() == [np.float32(5 / 40), np.float32(5 / 40), np.float32(3 / 40), np.float32(5 / 40)]
    assert shapes[:, 1].tolist() == [1, 0, 0, 0]
    assert shapes[:, 2].tolist() == [0, 1, 0, 0]
    assert shapes[:, 3].tolist() == [0, 0, 0, 1]


def test_who_speaks_is_counted_until_they_are_gone() -> None:
    passages = filled([0, 1, 2])
    assert passages.turns.speakers == {"Ana": 2, "Ben": 1}

    passages.drop(1)
    assert passages.turns.speakers == {"Ana": 2}


def copied(arrays: Arrays) -> Arrays:
    """As a file would give them back."""
    return {name: array.copy() for name, array in arrays.items()}


def rows_of(passages: Passages, nodes: list[int], sessions: dict[int, IRI]) -> list[Row]:
    texts = {node: turn(node).content for node in nodes}
    return [
        Row(
            node,
            texts[node],
            passages.vocabulary.numbers(tokens(texts[node])),
            turn(node, sessions[node]) if node in sessions else None,
        )
        for node in nodes
    ]


@settings(max_examples=40)
@given(st.permutations(list(range(9))), st.lists(st.integers(0, 9), max_size=4))
def test_many_at_once_are_what_they_are_one_by_one(order: list[int], changed: list[int]) -> None:
    sessions = {node: (ONE if node < 4 else TWO) for node in range(7)}
    one_by_one, filled_ = Passages(), Passages()
    for node in order:
        one_by_one.put(node, turn(node).content, "", turn(node, sessions[node]) if node in sessions else None)
    filled_.fill(rows_of(filled_, order, sessions))
    kept = Passages.from_arrays(copied(filled_.arrays()), Vocabulary(filled_.vocabulary.word_list()))
    for node in changed:
        for passages in (one_by_one, filled_, kept):
            if node % 2:
                passages.drop(node)
            else:
                passages.put(node, "A whale, again!", "", turn(node, ONE, "A whale, again!"))
    everyone = list(range(10))

    for passages in (filled_, kept, Passages.from_arrays(copied(kept.arrays()), kept.vocabulary)):
        assert passages.nodes().tolist() == one_by_one.nodes().tolist()
        for name in ("context", "pairs", "sessions"):
            ours, theirs = getattr(passages, name), getattr(one_by_one, name)
            assert contents(ours, everyone) == contents(theirs, everyone)
            assert (len(ours), ours.word_count) == (len(theirs), theirs.word_count)
        nodes = one_by_one.nodes()
        assert np.array_equal(passages.neighbours(nodes), one_by_one.neighbours(nodes))
        assert np.array_equal(passages.shapes(nodes), one_by_one.shapes(nodes))
        assert passages.turns.speakers == one_by_one.turns.speakers
