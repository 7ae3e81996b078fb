"""Each phase on the sample world and on hand-made graphs."""

from __future__ import annotations

import math

import pytest

from memento.retrieval.published.anchor import weigh
from memento.settings import AnchorSettings


def test_entity_weights_are_those_of_the_worked_example() -> None:
    weights = weigh([0.8, 0.4], [0.6, 0.5], [10, 3], AnchorSettings())

    raw = [0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 1, 0.5 * 0.4 + 0.3 * 0.5 + 0.2 * math.log(4) / math.log(11)]
    assert raw == pytest.approx([0.78, 0.46563], abs=1e-5)
    assert weights == pytest.approx([0.62619, 0.37381], abs=1e-5)


def test_entity_weights_sum_to_one_and_a_worthless_set_weighs_nothing() -> None:
    assert sum(weigh([0.1, 0.5, 0.9], [0.2] * 3, [1, 2, 3], AnchorSettings())) == pytest.approx(1)
    assert weigh([-0.9, -0.9], [-0.9, -0.9], [1, 1], AnchorSettings()) == [0.0, 0.0]
