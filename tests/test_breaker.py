"""A service that keeps failing is left alone, then tried once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memento.breaker import Breaker


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(3, 10.0, clock)
    for _ in range(3):
        assert breaker.allows()
        breaker.record_failure()
    return breaker


def test_it_opens_after_the_last_of_some_failures() -> None:
    breaker = opened(Clock())

    assert breaker.state == "open"
    assert not breaker.allows()
    assert breaker.rest_s == 10.0


def test_failures_count_among_the_latest_ten_requests_whatever_stands_between_them() -> None:
    breaker = Breaker(5, 10.0, Clock())
    for _ in range(4):
        breaker.record_failure()
        breaker.record_success()
    states = [breaker.state]
    breaker.record_failure()
    states.append(breaker.state)
    assert states == ["closed", "open"]

    seldom = Breaker(5, 10.0, Clock())
    for _ in range(20):
        seldom.record_failure()
        seldom.record_success()
        seldom.record_success()
    assert seldom.state == "closed"


def test_the_rest_doubles_up_to_five_minutes_while_it_keeps_failing_and_begins_again_after_a_success() -> None:
    clock = Clock()
    breaker = Breaker(1, 30.0, clock)
    breaker.record_failure()
    rests = []
    for _ in range(6):
        rests.append(breaker.rest_s)
        clock.now += breaker.rest_s
        assert breaker.allows()
        breaker.record_failure()
    clock.now += breaker.rest_s
    assert breaker.allows()
    breaker.record_success()
    breaker.record_failure()

    assert rests == [30.0, 60.0, 120.0, 240.0, 300.0, 300.0]
    assert breaker.rest_s == 30.0


def test_after_the_rest_one_request_tries_and_the_others_wait() -> None:
    breaker = opened(clock := Clock())
    clock.now = 10.0

    assert breaker.state == "half-open"
    assert [breaker.allows() for _ in range(3)] == [True, False, False]


def test_the_one_that_tries_decides() -> None:
    breaker = opened(clock := Clock())
    states = []
    for report in (breaker.record_failure, breaker.record_success):
        clock.now += breaker.rest_s
        breaker.allows()
        report()
        states.append((breaker.state, breaker.rest_s))

    assert states == [("open", 20.0), ("closed", 0.0)]


def test_one_that_tries_and_never_tells_does_not_close_the_way_for_good() -> None:
    breaker = opened(clock := Clock())
    clock.now = 10.0
    breaker.allows()
    clock.now = 20.0

    assert breaker.allows()


@given(st.lists(st.sampled_from(["ask", "fail", "succeed", "wait"])))
def test_within_one_rest_at_most_one_request_goes_out_once_it_has_opened(steps: list[str]) -> None:
    clock = Clock()
    breaker = Breaker(2, 10.0, clock)
    allowed_at: list[float] = []
    for step in steps:
        match step:
            case "ask":
                was_open = breaker.state != "closed"
                if breaker.allows() and was_open:
                    allowed_at.append(clock.now)
            case "fail":
                breaker.record_failure()
            case "succeed":
                breaker.record_success()
                allowed_at.clear()
            case "wait":
                clock.now += 5.0

    assert all(later - earlier >= 10.0 for earlier, later in pairwise(allowed_at))
