"""The laws of the four numbers: worked numbers, and what must hold for every number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento import rank
from memento.rank import Decay, Season, decay_energy, find_seasons

THEN = datetime(2026, 3, 1, tzinfo=UTC)
SHARE = st.floats(0, 1)
DAYS = st.floats(0, 4000)


def later(days: float) -> datetime:
    return THEN + timedelta(days=days)


@pytest.mark.parametrize(
    ("days", "depth", "factor"),
    [(30, 0, 0.68394), (30, 0.5, 0.76102), (30, 1, 0.87041), (90, 0, 0.52489), (90, 1, 0.70328)],
)
def test_age_counts_less_for_what_is_deep(days: float, depth: float, factor: float) -> None:
    assert rank.time_factor(days, depth) == pytest.approx(factor, abs=5e-6)


@pytest.mark.parametrize(("links", "concept", "name"), [(0, 1, 1), (1, 1, 1), (2, 0.5, 0.25), (3, 0.3333, 0.1667)])
def test_a_key_says_less_the_more_hangs_on_it(links: int, concept: float, name: float) -> None:
    assert rank.key_rarity(links, named=False) == pytest.approx(concept, abs=5e-5)
    assert rank.key_rarity(links, named=True) == pytest.approx(name, abs=5e-5)


@pytest.mark.parametrize(("before", "after"), [(0.4, 0.12), (0.69, 0.207), (0.7, 0.56), (0.85, 0.68)])
def test_a_deep_memory_resists_correction(before: float, after: float) -> None:
    assert rank.correct_depth(before) == pytest.approx(after)


@pytest.mark.parametrize(
    ("source", "tag", "priority", "value"),
    [
        ("explicit", "decision", "high", 1.0),
        ("hook:post_tool_use", "conversation", "normal", 0.14),
        ("import", "error", "normal", 0.504),
    ],
)
def test_importance_is_what_its_origin_its_tag_and_its_priority_give(
    source: str, tag: str, priority: str, value: float
) -> None:
    assert rank.rate_importance(source, [tag], priority) == pytest.approx(value)


def test_importance_halves_in_346_days() -> None:
    assert rank.age_importance(1.0, 346.2) == pytest.approx(0.5, abs=1e-4)


def test_standing_gives_the_worked_ranks() -> None:
    assert 0.8 * rank.rerank_factor(30, "explicit", ["decision"], 5, "high") == pytest.approx(1.355495, abs=5e-7)
    assert 0.8 * rank.rerank_factor(0, "hook:post_tool_use", ["conversation"], 0, "low") == pytest.approx(0.2688)


def test_activation_recency_and_importance_make_a_rank() -> None:
    assert rank.score_activation(0.5, 7, 0.9) == pytest.approx(0.56)


def test_energy_fades_as_far_as_decay_was_asked_for() -> None:
    asked = Decay().until(later(3), 7)

    assert decay_energy(0.8, THEN, asked) == pytest.approx(0.594398, abs=5e-7)
    assert decay_energy(0.8, THEN, Decay()) == 0.8  # nobody asked
    assert decay_energy(0.8, later(4), asked) == 0.8  # roused after it


def test_asking_again_for_the_same_span_changes_nothing() -> None:
    asked = Decay().until(later(3), 7)

    assert asked.until(later(3), 7) == asked
    assert asked.until(later(2), 1) == asked
    assert len(asked.until(later(5), 7).marks) == 1


def test_each_span_fades_by_its_own_half_life() -> None:
    asked = Decay().until(later(7), 7).until(later(8), 1)

    assert decay_energy(1.0, THEN, asked) == pytest.approx(0.25)
    assert decay_energy(1.0, later(7), asked) == pytest.approx(0.5)


def test_a_half_life_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0 days, not 0"):
        Decay().until(THEN, 0)


@given(SHARE, st.lists(st.floats(0, 400), min_size=1, max_size=6), st.floats(0.1, 400))
def test_decay_in_steps_is_decay_at_once(value: float, steps: list[float], half_life: float) -> None:
    in_steps, now = Decay(), 0.0
    for step in steps:
        now += step
        in_steps = in_steps.until(later(now), half_life)

    at_once = decay_energy(value, THEN, Decay().until(later(now), half_life))
    assert decay_energy(value, THEN, in_steps) == pytest.approx(at_once, abs=1e-9)


@given(SHARE, DAYS, DAYS, st.floats(0.1, 400))
def test_energy_that_is_read_and_kept_goes_on_to_fade_alike(
    value: float, first: float, second: float, half_life: float
) -> None:
    halfway = decay_energy(value, THEN, Decay().until(later(first), half_life))
    end = Decay().until(later(first), half_life).until(later(first + second), half_life)

    assert decay_energy(halfway, later(first), end) == pytest.approx(decay_energy(value, THEN, end), abs=1e-6)


@given(SHARE, st.lists(st.sampled_from([rank.deepen, rank.correct_depth]), max_size=60))
def test_depth_stays_in_its_range(depth: float, moves: list) -> None:  # type: ignore[type-arg]
    for move in moves:
        depth = move(depth)
        assert 0 <= depth <= 1


@given(SHARE, SHARE, st.lists(st.booleans(), max_size=60))
def test_energy_and_importance_stay_in_their_ranges(energy: float, importance: float, feedback: list[bool]) -> None:
    for helped in feedback:
        energy, importance = rank.adjust_energy(energy, helped), rank.adjust_importance(importance, helped)
        assert 0 <= energy <= 1
        assert 0 <= importance <= 1


@given(st.floats(0.1, 3), st.lists(st.booleans(), max_size=60))
def test_a_link_stays_in_its_range(weight: float, taken: list[bool]) -> None:
    for took in taken:
        weight = rank.reinforce_link(weight) if took else rank.weaken_link(weight)
        assert rank.LIGHTEST <= weight <= rank.HEAVIEST


@given(SHARE, st.lists(SHARE, max_size=60))
def test_an_association_stays_in_its_range(weight: float, again: list[float]) -> None:
    for drawn in again:
        weight = rank.strengthen_association(weight, drawn)
        assert 0 <= weight <= 1
        assert 0 <= rank.decay_association(weight, THEN.timestamp(), Decay().until(later(100 * drawn), 7)) <= weight


@pytest.mark.parametrize(
    ("created", "used", "changed", "energy", "accesses", "expected"),
    [
        (0.5, 0.5, 0.5, 1.0, 9, Season.EMERGING),
        (2, 2, 2, 0.0, 0, Season.ACTIVE),
        (60, 8, 31, 0.2, 0, Season.STABLE),
        (60, 60, 60, 0.05, 2, Season.DECAYING),
        (60, 60, 60, 0.05, 3, Season.OTHER),
        (20, 8, 20, 0.5, 0, Season.OTHER),
    ],
)
def test_a_memory_has_its_season(
    created: float, used: float, changed: float, energy: float, accesses: int, expected: Season
) -> None:
    [found] = find_seasons(*(np.array([value]) for value in (created, used, changed, energy, accesses)))

    assert list(Season)[found] is expected


def test_what_has_energy_or_is_used_is_not_let_go() -> None:
    energy, accesses = np.array([0.06, 0.0, 0.05]), np.array([0, 6, 5])
    assert rank.outlives(energy, accesses).tolist() == [True, True, False]


def test_a_depth_has_a_name() -> None:
    assert [rank.depth_band(depth) for depth in (0.29, 0.3, 0.7, 0.71)] == ["shallow", "medium", "medium", "deep"]


def test_usefulness_is_how_often_it_helped() -> None:
    assert rank.usefulness(0, 0) is None
    assert rank.usefulness(3, 1) == 0.75
