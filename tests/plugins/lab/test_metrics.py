import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.plugins.lab import evaluation as metrics

RANKED = ["a", "b", "c", "d", "e"]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_recall_is_the_share_of_gold_found() -> None:
    assert metrics.recall_at(RANKED, {"b", "e", "x", "y"}, k=5) == 0.5
    assert metrics.recall_at(RANKED, {"b", "e", "x", "y"}, k=4) == 0.25


def test_all_found_wants_every_gold_document() -> None:
    assert metrics.all_found(RANKED, {"a", "c"}, k=3) == 1.0
    assert metrics.all_found(RANKED, {"a", "d"}, k=3) == 0.0
    assert metrics.all_found(RANKED, {"a", "b", "c"}, k=2) == 0.0


def test_reciprocal_rank_counts_the_first_gold_document_within_k() -> None:
    assert metrics.reciprocal_rank(["x", "y", "g", "z"], {"g"}, k=4) == pytest.approx(0.33333, abs=5e-6)  # G13
    assert metrics.reciprocal_rank(["x", "y", "g", "z"], {"g"}, k=2) == 0.0
    assert metrics.reciprocal_rank([], {"g"}, k=10) == 0.0


def test_ndcg_agrees_with_hand_worked_numbers() -> None:
    assert metrics.ndcg(["x", "g", "y", "h"], {"g": 1, "h": 1}, k=4) == pytest.approx(0.65092, abs=5e-6)  # G13
    # Grades 3, 2 found in the wrong order: (2/1 + 3/1.58496) / (3/1 + 2/1.58496)
    assert metrics.ndcg(["b", "a"], {"a": 3, "b": 2}, k=2) == pytest.approx(0.91340, abs=5e-6)
    assert metrics.ndcg(["x"], {}, k=2) == 0.0


def test_ndcg_compares_with_the_best_that_fits_into_k() -> None:
    assert metrics.ndcg(["a"], {"a": 1, "b": 1}, k=1) == 1.0


@given(st.permutations(RANKED), st.sets(st.sampled_from([*RANKED, "x", "y"]), min_size=1), st.integers(1, 7))
def test_every_metric_stays_between_nothing_and_all(ranked: list[str], gold: set[str], k: int) -> None:
    values = (
        metrics.recall_at(ranked, gold, k),
        metrics.all_found(ranked, gold, k),
        metrics.reciprocal_rank(ranked, gold, k),
        metrics.ndcg(ranked, dict.fromkeys(gold, 1.0), k),
    )

    assert all(0.0 <= value <= 1.0 + 1e-12 for value in values)
    assert metrics.all_found(ranked, gold, k) <= metrics.recall_at(ranked, gold, k)


def test_the_interval_of_a_proportion_is_that_of_the_normal_approximation() -> None:
    values = [1.0] * 300 + [0.0] * 700

    mean, low, high = metrics.estimate(values, rng())

    margin = 1.96 * (0.3 * 0.7 / 1000) ** 0.5
    assert (mean, low, high) == pytest.approx((0.3, 0.3 - margin, 0.3 + margin), abs=0.003)


def test_the_same_seed_gives_the_same_interval() -> None:
    assert metrics.estimate([0.0, 0.3, 1.0], rng()) == metrics.estimate([0.0, 0.3, 1.0], rng())


def test_one_question_has_an_interval_without_width() -> None:
    assert metrics.estimate([0.4], rng()) == pytest.approx((0.4, 0.4, 0.4))


def test_what_both_systems_find_hard_does_not_widen_a_paired_interval() -> None:
    hard = np.random.default_rng(1).uniform(size=200)
    better = hard + 0.02

    mean, low, high = metrics.estimate_difference(hard, better, rng())

    assert (mean, low, high) == pytest.approx((0.02, 0.02, 0.02))
    assert metrics.estimate(hard, rng()).high - metrics.estimate(hard, rng()).low > 0.05
