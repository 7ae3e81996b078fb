"""Which cases are shown, and how well values tell good from bad."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from memento.plugins.cases.learner import auc
from memento.plugins.cases.retrieve import draw_order, order_best_first


def test_the_best_come_first_and_of_equal_ones_the_earlier() -> None:
    assert order_best_first(np.array([0.1, 0.9, 0.9, 0.2])).tolist() == [1, 2, 3, 0]


def test_a_draw_takes_each_once_and_follows_the_softmax_policy_of_the_paper() -> None:
    values, first = np.array([0.9, 0.5, 0.1]), []
    for seed in range(400):
        order = draw_order(values, 1.0, np.random.default_rng(seed)).tolist()
        assert sorted(order) == [0, 1, 2]
        first.append(order[0])

    assert np.bincount(first) / 400 == pytest.approx([0.4718, 0.3162, 0.2120], abs=0.08)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.9]), st.booleans()), min_size=2, max_size=60))
def test_the_auc_is_that_of_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    values, good = np.array([value for value, _ in pairs]), np.array([right for _, right in pairs])
    if good.all() or not good.any():
        return

    assert auc(values, good) == pytest.approx(roc_auc_score(good, values))
