"""A verdict as one number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import InputError
from memento.model import Outcome
from memento.plugins.cases.credit import check_reward, compute_reward, reconcile_reward
from memento.plugins.cases.nouns import OUTCOMES
from memento.plugins.cases.operations import LEAST_REWARD, MOST_REWARD
from memento.plugins.cases.settings import CasesSettings

KNOBS = CasesSettings()
SHARES = st.none() | st.floats(0, 1)


@pytest.mark.parametrize(
    ("outcome", "efficiency", "score", "reward"),
    [
        ("success", None, None, 1.0),
        ("partial", None, None, 0.5),
        ("failure", None, None, -0.2),
        ("success", 1.0, None, 1.0),
        ("success", 0.5, None, 1.05 / 1.1),
        ("success", 0.0, None, 1 / 1.1),  # the bonus is part of the highest reward
        ("partial", 0.0, None, 0.5),
        ("partial", 1.0, None, 0.6),
        ("failure", 1.0, None, -0.2),  # failing fast earns nothing
        ("success", None, 0.0, 1 / 1.5),
        ("success", 1.0, 1.0, 1.0),
        (None, None, 0.7, 0.7),
    ],
)
def test_the_table_of_rewards(
    outcome: Outcome | None, efficiency: float | None, score: float | None, reward: float
) -> None:
    assert compute_reward(outcome, KNOBS, efficiency=efficiency, score=score) == pytest.approx(reward)


@given(st.sampled_from(OUTCOMES), SHARES, SHARES, st.floats(0, 10), st.floats(0, 10))
def test_a_reward_is_in_range_whatever_the_settings(
    outcome: Outcome, efficiency: float | None, score: float | None, bonus: float, judge: float
) -> None:
    knobs = CasesSettings(efficiency_bonus=bonus, judge_weight=judge)

    assert (
        LEAST_REWARD - 1e-9 <= compute_reward(outcome, knobs, efficiency=efficiency, score=score) <= MOST_REWARD + 1e-9
    )


@given(SHARES, SHARES, st.floats(0, 10))
def test_a_better_outcome_never_earns_less(efficiency: float | None, score: float | None, bonus: float) -> None:
    knobs = CasesSettings(efficiency_bonus=bonus)
    earned = [compute_reward(outcome, knobs, efficiency=efficiency, score=score) for outcome in OUTCOMES]

    assert earned == sorted(earned, reverse=True)


def test_a_verdict_that_says_nothing_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"an outcome \(success, partial, failure\), a reward or a judge's score: give outcome, reward"
    ):
        compute_reward(None, KNOBS)
    with pytest.raises(
        InputError, match=r"an outcome \(success, partial, failure\), a reward or a judge's score: give outcome, reward"
    ):
        compute_reward(None, KNOBS, efficiency=0.5)
    with pytest.raises(InputError, match="score must be from 0 to 1, not 2"):
        compute_reward("success", KNOBS, score=2)
    with pytest.raises(InputError, match="success, partial, failure"):
        compute_reward("fine", KNOBS)  # type: ignore[arg-type]


@pytest.mark.parametrize(("reward", "outcome"), [(1, "failure"), (0.1, "failure"), (-0.2, "success"), (0, "partial")])
def test_a_reward_that_contradicts_its_outcome_is_refused(reward: float, outcome: Outcome) -> None:
    with pytest.raises(InputError, match=f"contradicts the outcome '{outcome}'"):
        reconcile_reward(reward, outcome)


@pytest.mark.parametrize("reward", [-0.3, 1.1, float("nan"), float("inf")])
def test_a_reward_out_of_range_is_refused(reward: float) -> None:
    with pytest.raises(InputError, match=r"from -0\.2 to 1"):
        check_reward(reward)
