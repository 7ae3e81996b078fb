"""A clock that is put back: what came later stays later, and one that was wrong is followed and logged once."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest

from memento.time import HELD_BACK, Clock

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_a_clock_that_is_put_right_does_not_run_backwards(caplog: pytest.LogCaptureFixture) -> None:
    said = [NOON, NOON - timedelta(minutes=5), NOON - timedelta(minutes=1), NOON + timedelta(seconds=1)]
    clock = Clock(iter(said).__next__)

    assert [clock.now() for _ in said] == [NOON, NOON, NOON, said[-1]]
    assert not caplog.records


def test_a_clock_that_was_wrong_is_followed_and_that_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    back = NOON - HELD_BACK - timedelta(days=400)
    clock = Clock(iter([NOON, back, back + timedelta(seconds=1), back]).__next__)

    assert [clock.now() for _ in range(4)] == [NOON, back, *[back + timedelta(seconds=1)] * 2]
    assert [record.msg for record in caplog.records] == ["clock.put-back"]
