"""Fusion against the worked numbers, and the laws it keeps."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.model import Scored
from memento.plugins.published.fusion import align, coverage, fuse, minmax
from memento.plugins.published.settings import PublishedSettings

KNOBS = PublishedSettings()
V = {"A": 0.92, "B": 0.88, "C": 0.80, "D": 0.70, "E": 0.60}

scores = st.lists(st.integers(-1000, 1000).map(lambda i: i / 7), min_size=1, max_size=20)
ranked = st.dictionaries(st.integers(0, 12), st.integers(0, 40).map(lambda i: i / 4), max_size=10)


def near(hits: dict[str, float]) -> list[Scored[str]]:
    return [Scored(item, score, "vector") for item, score in hits.items()]


def named(hits: dict[str, float]) -> list[Scored[str]]:
    return [Scored(item, score, "fulltext") for item, score in hits.items()]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([0.89, 0.85, 0.82], [0.7557, 0.4768, 0.2675]),
        ([52.3, 18.7, 3.2], [0.7690, 0.4411, 0.2899]),
        ([0.7], [0.5]),
        ([0.1, 0.1, 0.1], [0.5, 0.5, 0.5]),
        ([], []),
    ],
)
def test_alignment_gives_every_list_the_same_mean_and_spread(raw: list[float], expected: list[float]) -> None:
    assert align(raw) == pytest.approx(expected, abs=5e-5)


def test_minmax_is_the_same_for_raw_and_aligned_scores() -> None:
    raw = [0.89, 0.85, 0.82]

    assert minmax(raw) == pytest.approx([1, 0.428571, 0], abs=5e-7)
    assert minmax(align(raw)) == pytest.approx([1, 0.428571, 0], abs=5e-7)


@given(scores, st.floats(0.01, 100), st.floats(-100, 100))
def test_minmax_does_not_see_a_positive_affine_map(raw: list[float], stretch: float, shift: float) -> None:
    assert minmax([stretch * x + shift for x in raw]) == pytest.approx(minmax(raw), abs=1e-6)
    assert minmax(align(raw)) == pytest.approx(minmax(raw), abs=1e-9)


@pytest.mark.parametrize(
    ("lengths", "weights"),
    [
        ((50, 2), (0.8537, 0.1463)),
        ((2, 50), (0.4828, 0.5172)),
        ((5, 5), (0.7, 0.3)),
        ((1, 1), (0.7, 0.3)),
        ((50, 1), (0.9211, 0.0789)),
    ],
)
def test_a_short_list_weighs_less(lengths: tuple[int, int], weights: tuple[float, float]) -> None:
    assert coverage(*lengths, vector_weight=0.7, full=5) == pytest.approx(weights, abs=5e-5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            {"B": 12, "F": 9, "A": 3, "C": 2, "G": 1},
            {"B": 0.9125, "A": 0.7, "C": 0.4375, "D": 0.2187, "F": 0.2182, "E": 0},
        ),
        ({"B": 12, "F": 9}, {"B": 0.8933, "A": 0.8537, "C": 0.5335, "D": 0.2668, "E": 0}),
    ],
)
def test_fusion_gives_the_worked_scores_best_first(text: dict[str, float], expected: dict[str, float]) -> None:
    fused = fuse(near(V), named(text), KNOBS)

    assert [hit.item for hit in fused] == list(expected)
    assert [hit.score for hit in fused] == pytest.approx(list(expected.values()), abs=1e-4)


def test_sources_say_where_a_hit_came_from() -> None:
    fused = fuse(near(V), named({"B": 12, "F": 9, "A": 3, "C": 2, "G": 1}), KNOBS, both="two ways")

    assert {hit.item: hit.source for hit in fused} == {
        "A": "vector",
        "B": "two ways",
        "C": "vector",
        "D": "vector",
        "E": "vector",
        "F": "fulltext",
    }


def test_the_other_list_comes_back_untouched_when_one_is_empty() -> None:
    alone = named({"x": 3.0, "y": 7.0})

    assert fuse([], alone, KNOBS) == alone
    assert fuse(alone, [], KNOBS) == alone
    assert fuse([], [], KNOBS) == []


def test_of_equal_scores_the_first_seen_wins() -> None:
    fused = fuse(near({"b": 1, "a": 1}), named({"d": 1, "c": 1}), PublishedSettings(vector_weight=0.5))

    assert [hit.item for hit in fused] == ["b", "a", "d", "c"]


@given(ranked, ranked, st.integers(0, 999))
def test_the_order_of_the_input_does_not_change_a_score(
    first: dict[int, float], second: dict[int, float], seed: int
) -> None:
    a = [Scored(item, score, "vector") for item, score in first.items()]
    b = [Scored(item, score, "fulltext") for item, score in second.items()]
    before = {hit.item: (hit.score, hit.source) for hit in fuse(a, b, KNOBS)}
    shuffle = random.Random(seed).shuffle
    shuffle(a)
    shuffle(b)

    after = fuse(a, b, KNOBS)

    assert {hit.item: hit.source for hit in after} == {item: source for item, (_, source) in before.items()}
    assert all(hit.score == pytest.approx(before[hit.item][0], abs=1e-9) for hit in after)
    if a and b:
        assert all(0 <= hit.score <= 1 + 1e-9 for hit in after)
