"""BM25 against worked numbers and an independent implementation, as nodes come and go."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.search.postings import Postings, Segment, StemNumbers, Vocabulary, tokens
from memento.search.words import bm25

VOCABULARY = [f"{consonant}{vowel}x{digit}" for consonant in "bcdf" for vowel in "aou" for digit in range(3)]


def postings_of(texts: dict[int, str]) -> Postings:
    postings = Postings()
    for node, text in texts.items():
        postings.add(node, text)
    return postings


def scored(question: str, *collections: Postings, k1: float = 1.2, b: float = 0.75) -> dict[int, float]:
    nodes, scores = bm25(question, collections, k1, b)
    assert nodes.dtype == np.int32
    assert scores.dtype == np.float32
    assert nodes.tolist() == sorted(set(nodes.tolist()))
    return dict(zip(nodes.tolist(), scores.tolist(), strict=True))


def by_bm25s(question: str, texts: dict[int, str], k1: float, b: float) -> dict[int, float]:
    """The same by bm25s, whose "lucene" leaves out the constant factor k1 + 1."""
    corpus = [tokens(text) for text in texts.values()]
    if not any(corpus):
        return {}
    other = bm25s.BM25(method="lucene", k1=k1, b=b)
    other.index(corpus, show_progress=False)
    asked = [word for word in tokens(question) if word in other.vocab_dict]
    if not asked:
        return {}
    scores = other.get_scores(asked) * (k1 + 1)
    return {node: float(score) for node, score in zip(texts, scores, strict=True) if score > 0}


def test_the_worked_example_has_its_scores() -> None:
    # The example counts "the" and "and" among the words; these stand in for them.
    postings = postings_of({0: "one cat sat", 1: "one dog sat down", 2: "cat plus dog"})

    assert scored("cat sat", postings) == pytest.approx({0: 0.98010, 1: 0.43446, 2: 0.49005}, abs=5e-6)


def test_words_are_lower_cased_stemmed_and_freed_of_stop_words() -> None:
    assert tokens("What are Anna's running_shoes?") == ["anna", "run", "shoe"]
    assert tokens("") == []
    assert tokens("… !!!") == []
    assert tokens("cafe\u0301 ﬁle") == tokens("café file")


def test_a_replaced_text_leaves_no_trace() -> None:
    postings = postings_of({1: "green tea tea", 2: "black coffee"})

    postings.add(1, "white wine")

    assert len(postings) == 2
    assert postings.frequency("tea") == 0
    assert scored("tea", postings) == {}
    assert scored("wine", postings) == pytest.approx(scored("wine", postings_of({1: "white wine", 2: "black coffee"})))


def test_removing_what_is_not_there_is_harmless() -> None:
    postings = postings_of({1: "green tea"})

    postings.remove(5)
    postings.remove(1)
    postings.remove(1)

    assert (len(postings), postings.word_count, 1 in postings) == (0, 0, False)
    assert scored("tea", postings) == {}


def test_a_node_without_words_still_counts_as_a_node() -> None:
    postings = postings_of({1: "green tea", 2: "!"})

    assert len(postings) == 2
    assert scored("tea", postings) == pytest.approx(by_bm25s("tea", {1: "green tea", 2: "!"}, 1.2, 0.75), rel=1e-5)


def test_statistics_are_those_of_the_collections_asked() -> None:
    mine, shared, foreign = postings_of({1: "green tea"}), postings_of({9: "black tea", 4: "wine"}), Postings()
    foreign.add(2, "tea tea tea")

    both = scored("tea", mine, shared)

    assert both == pytest.approx(scored("tea", postings_of({1: "green tea", 9: "black tea", 4: "wine"})))
    assert set(both) == {1, 9}


def test_a_question_without_telling_words_finds_nothing() -> None:
    assert scored("what is it?", postings_of({1: "what is it?"})) == {}
    assert scored("tea") == {}


def test_scattered_ids_score_as_dense_ones_do() -> None:
    texts = ["green tea", "tea with milk", "milk"]
    dense = scored("tea milk", postings_of(dict(enumerate(texts))))
    scattered = scored("tea milk", postings_of({node * 1_000_000: text for node, text in enumerate(texts)}))

    assert {node // 1_000_000: score for node, score in scattered.items()} == pytest.approx(dense)


texts = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)
steps = st.lists(st.tuples(st.integers(0, 9), st.none() | texts), max_size=40)


@given(steps, texts.filter(bool), st.sampled_from([0.0, 0.9, 1.5]), st.sampled_from([0.0, 0.75, 1.0]))
def test_scores_depend_only_on_what_is_there_now(
    steps: list[tuple[int, str | None]], question: str, k1: float, b: float
) -> None:
    postings, there = Postings(), dict[int, str]()
    for node, text in steps:
        there.pop(node, None)
        if text is None:
            postings.remove(node)
        else:
            postings.add(node, text)
            there[node] = text

    assert len(postings) == len(there)
    assert postings.word_count == sum(len(tokens(text)) for text in there.values())
    assert scored(question, postings, k1=k1, b=b) == pytest.approx(by_bm25s(question, there, k1, b), rel=1e-4)


def test_a_large_collection_scores_as_bm25s_does_after_adds_and_removes() -> None:
    chance = random.Random(11)
    words = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnp"]
    there = {node: " ".join(chance.choices(words, k=chance.randint(1, 20))) for node in range(0, 4000, 2)}
    postings = postings_of(there)
    for node in chance.sample(sorted(there), 700):
        postings.remove(node)
        del there[node]

    for _ in range(10):
        question = " ".join(chance.choices(words, k=4))
        assert scored(question, postings, k1=1.5) == pytest.approx(by_bm25s(question, there, 1.5, 0.75), rel=1e-4)


def test_threads_may_stem_at_once() -> None:
    texts = [f"running jumping {word}ing" for word in VOCABULARY] * 20
    expected = [tokens(text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tokens, texts)) == expected


@given(steps, steps, texts.filter(bool))
def test_settled_postings_go_on_as_if_they_were_not(
    before: list[tuple[int, str | None]], after: list[tuple[int, str | None]], question: str
) -> None:
    plain, settled = Postings(), Postings()
    for postings in (plain, settled):
        for node, text in before:
            postings.remove(node) if text is None else postings.add(node, text)
    settled.merge_all()
    for postings in (plain, settled):
        for node, text in after:
            postings.remove(node) if text is None else postings.add(node, text)
    again = Postings(settled.vocabulary, Segment.from_arrays(settled.merge_all()))

    for postings in (settled, again):
        assert (len(postings), postings.word_count) == (len(plain), plain.word_count)
        assert scored(question, postings) == pytest.approx(scored(question, plain))
        assert all(set(postings.terms(node)) == set(plain.terms(node)) for node in range(10))
        assert all(postings.frequency(word) == plain.frequency(word) for word in VOCABULARY)


def test_words_that_are_stemmed_once_have_the_numbers_of_the_texts_stems() -> None:
    texts = ["The teas of São Paulo", "a TEA, and the ﬁrst tea_pot!", "", "running runs ran"]
    one, other = Vocabulary(), Vocabulary()
    numbers = StemNumbers(one)

    assert [numbers.number_stems(text) for text in texts] == [other.numbers(tokens(text)) for text in texts]
    assert one.word_list() == other.word_list()
