"""Direct recall over keys: its rankings, its hops, its gates, and what it leaves behind."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from memento.errors import Forbidden, InputError
from memento.plugins.keys.direct import expand_word, rank_fuzzily, robust_z, stands_out
from memento.plugins.keys.nouns import DirectMemory
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento
from memento.rank import rrf
from memento.search.postings import Postings
from memento.settings import WordsSettings


@pytest.fixture
def direct(memento: Memento) -> Memento:
    memento.service.settings = memento.settings.having(replace(memento.settings.of(KeysSettings), direct=True))
    return memento


def found(memento: Memento, query: str, **how: object) -> dict[str, DirectMemory]:
    return {one.content: one for one in memento.keys.recall_memories(query, **how).memories}  # type: ignore[arg-type]


def test_ranks_of_two_lists_are_fused_as_published() -> None:
    assert rrf([["a"]], 61.0)[0].score == pytest.approx(0.016393, abs=1e-6)
    assert rrf([["b", "a"], ["a"]], 61.0)[0].score == pytest.approx(0.032522, abs=1e-6)


def test_it_is_off_until_it_is_asked_for(memento: Memento) -> None:
    with pytest.raises(Forbidden, match="MEMENTO_KEYS_DIRECT"):
        memento.keys.recall_memories("tea")


def test_a_chain_of_four_is_reached_in_four_hops(direct: Memento) -> None:
    texts = ["Alpha sings.", "Beta dances nightly.", "Gamma cooks pasta.", "Delta repairs clocks."]
    for text, keys in zip(texts, (["k1"], ["k1", "k2"], ["k2", "k3"], ["k3", "k9"]), strict=True):
        direct.keys.remember(text, keys)
    for hops in range(1, 5):
        reached = found(direct, "Alpha sings", hops=hops, k=10)
        assert {text: one.hop for text, one in reached.items()} == dict(zip(texts, range(1, hops + 1), strict=False))
    scores = [found(direct, "Alpha sings", hops=4)[text].score for text in texts]
    assert all(later < earlier for earlier, later in pairwise(scores))
    # Each hop brings .3 · idf · weight of what the one before had.
    assert scores[1] == pytest.approx(scores[0] * 0.3 * 0.5, rel=0.05)
    assert found(direct, "Alpha sings", hops=4)[texts[3]].via == ("k3",)


def test_links_by_hand_lead_on_in_both_directions(direct: Memento) -> None:
    one = direct.keys.remember("Alpha sings.", ["k1"]).saved
    direct.keys.remember("Beta dances nightly.", ["k2"], related_to=[one])

    assert found(direct, "Alpha sings")["Beta dances nightly."].hop == 2
    assert found(direct, "Beta dances nightly")["Alpha sings."].hop == 2


def test_what_only_hops_found_counts_less_when_one_looks_farther(direct: Memento) -> None:
    direct.keys.remember("Alpha sings.", ["k1"])
    direct.keys.remember("Beta dances nightly.", ["k1"])
    near, far = (found(direct, "Alpha sings", expand=expand)["Beta dances nightly."].score for expand in (False, True))

    assert far == pytest.approx(0.7 * near, rel=0.01)
    for number, letter in enumerate("abcdefghijkl"):
        direct.keys.remember(f"Gamma cooks {letter * 9} with {number} spoons.", ["k1"])
    assert [len(found(direct, "Gamma cooks", k=5, expand=expand)) for expand in (False, True)] == [5, 10]


def test_a_slip_of_the_pen_is_forgiven(direct: Memento) -> None:
    direct.keys.remember("The strawberry harvest is over.", ["harvest"])

    assert list(found(direct, "strawbery", min_score=0.0)) == ["The strawberry harvest is over."]


@pytest.mark.parametrize("slip", ["granit", "graniet", "barometr"])
def test_a_slip_in_the_only_word_of_a_question_is_forgiven_without_a_lower_gate(direct: Memento, slip: str) -> None:
    direct.keys.remember("The steps of the quay are granite slabs.", ["quay"])
    direct.keys.remember("A barometer hangs beside the door.", ["door"])

    word = "baro" if slip.startswith("baro") else "granite"
    assert [word in text for text in found(direct, slip)] == [True]


def test_a_word_that_is_none_of_the_memories_finds_nothing_by_likeness_of_letters(direct: Memento) -> None:
    direct.keys.remember("The teacher went to sea.", ["school"])

    assert found(direct, "tea") == {}
    assert found(direct, "zeppelin") == {}
    assert found(direct, "teachers", min_score=0.99) == {}


def test_an_unknown_word_is_read_as_what_begins_with_it_and_what_is_spelt_like_it() -> None:
    postings = Postings()
    postings.add(1, "the strawberry")
    postings.add(2, "straw")
    nodes, scores = rank_fuzzily("strawbery", [postings], WordsSettings())

    assert nodes.tolist() == [1]
    assert scores[0] > 0
    assert expand_word("straw", ["strawberri", "strew", "hay"])[0][0] == "strew"
    assert rank_fuzzily("tea", [postings], WordsSettings())[0].tolist() == []


def test_nothing_comes_back_when_nothing_anchors_the_question(direct: Memento) -> None:
    direct.keys.remember("Tea is served at four.", ["tea", "Anna"], types={"Anna": "name"})

    assert found(direct, "qqq zzz") == {}
    assert found(direct, "completely unrelated quantum physics") == {}
    assert list(found(direct, "What does Anna think of quantum physics?")) == ["Tea is served at four."]
    assert list(found(direct, "tea at four")) == ["Tea is served at four."]
    assert found(direct, "tea at four", min_score=0.99) == {}
    assert list(found(direct, "tea", min_score=0.99)) == ["Tea is served at four."]
    assert list(found(direct, "tea at four", min_score=0.99, key_gate=0.4)) == ["Tea is served at four."]


def test_the_best_must_stand_out_where_enough_is_known_to_say_so(direct: Memento) -> None:
    query, kept = "Tea is served at four.", {"gate_z": 1e9, "min_score": 0.0}
    for number, what in enumerate(["Tea", "Coffee", "Milk", "The soup of the day", "Bread", "Dinner", "Nothing"]):
        direct.keys.remember(f"{what} is {'never ' * (number % 3)}served.", [f"key{number}x"])
    assert len(found(direct, query, **kept)) > 0
    direct.keys.remember("Bees make honey.", ["key8x"])

    assert found(direct, query, **kept) == {}
    assert len(found(direct, query, gate_z=0.1, min_score=0.0)) > 0


def test_the_robust_z_of_a_spike_is_that_of_the_golden_number() -> None:
    cosines = np.array([0.2, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.9])

    assert robust_z(cosines) == pytest.approx(22.4268, abs=1e-4)
    assert robust_z(cosines[:7]) is None
    assert robust_z(np.full(8, 0.5)) is None
    assert stands_out(cosines, 22.4) and not stands_out(cosines, 22.5) and stands_out(cosines[:7], 22.5)


def test_floors_on_score_and_depth_leave_out_what_is_below(direct: Memento) -> None:
    one = direct.keys.remember("Tea is served at four.", ["tea"]).saved
    direct.keys.remember("Nobody likes biscuits.", ["tea"])
    assert len(found(direct, "Tea is served at four")) == 2
    assert list(found(direct, "Tea is served at four", least_share=0.9)) == ["Tea is served at four."]
    for _ in range(10):
        direct.keys.read_memory(one)

    assert list(found(direct, "Tea is served at four", least_depth=0.4)) == ["Tea is served at four."]


def test_the_best_ones_links_grow_and_those_passed_by_fade(direct: Memento) -> None:
    one = direct.keys.remember("Tea is served at four.", ["tea"]).saved
    other = direct.keys.remember("A long story of many things, in the end of tea too.", ["tea"]).saved
    [best] = direct.keys.recall_memories("tea is served at four", k=1, hops=1).memories
    key = direct.keys.find("tea").keys[0].key
    weights = {row.memory: row.weight for row in direct.keys.read(key).memories}

    assert best.memory == one
    assert weights == {one: 1.1, other: 0.995}
    assert [direct.service.reinforcement.read_numbers(iri).depth for iri in (one, other)] == [0.05, 0.0]
    direct.service.reinforcement.write_effects()
    assert {row.memory: row.weight for row in direct.keys.read(key).memories} == weights


def test_superseded_and_forgotten_memories_do_not_come_back(direct: Memento) -> None:
    old = direct.keys.remember("Tea is served at four.", ["tea"]).saved
    direct.correct(old, "Tea is served at five.")
    direct.forget(direct.keys.remember("Tea grows on hills.", ["tea"]).saved)

    assert list(found(direct, "tea")) == ["Tea is served at five."]


def test_numbers_out_of_range_are_refused(direct: Memento) -> None:
    for how in ({"k": 0}, {"hops": 6}, {"least_share": 0.95}, {"least_depth": -1}):
        with pytest.raises(InputError):
            direct.keys.recall_memories("tea", **how)
