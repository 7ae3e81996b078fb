"""
What a task has earned, as one number: 1 for success, 0.5 for part of it, −0.2 for failure, with a bonus for what it did not cost
and a judge's score, normalised.

*Guarantees:* always in −0.2…1; what is not known counts neither for nor against.
"""

from __future__ import annotations

from collections.abc import Mapping

from memento.errors import InputError
from memento.model import OUTCOMES, Outcome
from memento.settings import CasesSettings

EARNED: Mapping[Outcome, float] = {"success": 1.0, "partial": 0.5, "failure": -0.2}
"""What an outcome alone is worth."""
LEAST, MOST = -0.2, 1.0


def reward_of(
    outcome: Outcome | None,
    knobs: CasesSettings,
    *,
    efficiency: float | None = None,
    score: float | None = None,
) -> float:
    """
    The reward of a verdict: the mean of its parts, weighted: the outcome by 1, efficiency and judge by their settings.

    Args:
        outcome: how it ended; without it the judge's score alone decides.
        efficiency: the share of what it might have cost that it did not cost, in 0..1; a failure earns no bonus.
        score: how good a judge found it, in 0..1.

    Raises:
        InputError: an outcome that is none, a share out of range, or nothing to go by.

    >>> knobs = CasesSettings()
    >>> [reward_of(outcome, knobs) for outcome in OUTCOMES]
    [1.0, 0.5, -0.2]
    >>> round(reward_of("success", knobs, efficiency=0.5), 3), round(reward_of("partial", knobs, score=1.0), 3)
    (0.955, 0.667)
    """
    for name, share in (("efficiency", efficiency), ("score", score)):
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{name} must be from 0 to 1, not {share}")
    _known(outcome)
    parts: list[tuple[float, float]] = []
    if outcome is not None:
        parts.append((1.0, EARNED[outcome]))
        if efficiency is not None and outcome != "failure":
            parts.append((knobs.efficiency_bonus, efficiency))
    if score is not None:
        parts.append((knobs.judge_weight if outcome is not None else 1.0, score))
    if not parts or not sum(weight for weight, _ in parts):
        raise InputError(
            f"a verdict needs an outcome ({', '.join(OUTCOMES)}), a reward or a judge's score: give outcome, reward or score "
            "(--outcome, --reward or --score of the command)"
        )
    return sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)


def checked(reward: float) -> float:
    """A reward that a caller gives as a number; raises `InputError` when it is out of range."""
    if not LEAST <= reward <= MOST:
        raise InputError(f"reward must be from {LEAST} to {MOST:g}, not {reward}")
    return float(reward)


def agreed(reward: float, outcome: Outcome | None) -> float:
    """
    A reward that is given, where an outcome may stand beside it: it counts, and must say the same.

    Raises:
        InputError: out of range, an outcome that is none, or a failure that earns something, or anything else that does not.

    >>> agreed(0.7, "success"), agreed(-0.2, "failure"), agreed(0, None)
    (0.7, -0.2, 0.0)
    """
    _known(outcome)
    if outcome is not None and (outcome == "failure") != (checked(reward) <= 0):
        rule = "at most 0" if outcome == "failure" else "above 0"
        raise InputError(
            f"reward {reward:g} contradicts the outcome {outcome!r}, whose reward is {rule}: give one of them"
        )
    return checked(reward)


def _known(outcome: Outcome | None) -> None:
    if outcome is not None and outcome not in OUTCOMES:
        raise InputError(f"outcome must be one of {', '.join(OUTCOMES)}, not {outcome!r}")
