"""Who may use a worker when: decided without one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from memento.errors import Busy
from memento.settings import SparqlSettings
from memento.sparql import lanes
from memento.sparql.lanes import Lanes, Place
from memento.sparql.weight import LIGHT, UNKNOWN

LIMITS = SparqlSettings(workers=4, share=2, queue=8, wait_s=0)


def place(caller: str = "a", weight: int = UNKNOWN) -> Place:
    return Place(caller, weight, lambda: None)


def entered(lanes: Lanes, *places: Place) -> None:
    for one in places:
        lanes.enter(one, lambda: False)


def waiting(lanes: Lanes, one: Place, is_gone: Callable[[], bool] = lambda: False) -> threading.Thread:
    """Lets a query wait; returns when it is in the queue, or has a place."""
    known = len(lanes._waiting)

    def enter() -> None:
        with suppress(Busy):
            lanes.enter(one, is_gone)

    thread = threading.Thread(target=enter)
    thread.start()
    while one.lane is None and len(lanes._waiting) == known:
        time.sleep(0.001)
    return thread


def test_a_caller_has_their_share_of_the_open_lane_and_one_goes_into_the_kept_one() -> None:
    lanes = Lanes(LIMITS)
    first, second, third, other = place(), place(), place(), place("b")
    entered(lanes, first, second, third, other)

    assert [one.lane for one in (first, second, third, other)] == ["open", "open", "kept", "open"]
    with pytest.raises(Busy, match=r"sparql\.wait_s"):
        lanes.enter(place(), lambda: False)


def test_a_light_query_takes_the_kept_lane_from_a_heavier_one_at_once() -> None:
    lanes = Lanes(LIMITS)
    stopped: list[str] = []
    heavy = place()
    heavy.stop = lambda: stopped.append("heavy")
    entered(lanes, place(), place(), heavy)
    light = place(weight=LIGHT)
    entered(lanes, light)

    assert (stopped, heavy.is_stopped, light.lane) == (["heavy"], True, "kept")
    with pytest.raises(Busy):  # one light query does not take it from another
        entered(lanes, place(weight=LIGHT))


def test_one_that_was_stopped_waits_for_the_open_lane_in_its_old_turn() -> None:
    lanes = Lanes(replace(LIMITS, wait_s=10))
    first, second, stopped, light = place(), place(), place(), place(weight=LIGHT)
    entered(lanes, first, second, stopped, light)
    lanes.leave(stopped)
    stopped.is_long = True
    again = waiting(lanes, stopped)
    later = place()
    other = waiting(lanes, later)

    assert (stopped.lane, later.lane) == (None, None)
    lanes.leave(light)  # the kept lane is free: for one that has not been tried, not for the long one
    other.join()
    assert (stopped.lane, later.lane) == (None, "kept")
    lanes.leave(first)
    again.join()
    assert stopped.lane == "open"


def test_one_that_overruns_goes_on_in_the_open_lane_when_there_is_a_place() -> None:
    lanes = Lanes(LIMITS)
    first, second, third = place(), place(), place()
    entered(lanes, first, second, third)

    assert not lanes.overran(third)
    assert lanes.overran(first)
    lanes.leave(first)
    assert lanes.overran(third)
    assert third.lane == "open"
    entered(lanes, place())  # the kept lane is free again


def test_after_its_slice_a_query_leaves_the_kept_lane_to_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "SLICES_S", (0.0, 0.0, 0.0))
    some = Lanes(LIMITS)
    first, second, third, fourth = place(), place(), place(), place()
    entered(some, first, second, third)
    entered(some, fourth)

    assert third.is_stopped
    assert fourth.lane == "kept"


def test_an_unsure_query_is_tried_only_while_a_worker_is_left_for_a_sure_one() -> None:
    lanes = Lanes(LIMITS, may_try=lambda: False)
    entered(lanes, place(), place())

    with pytest.raises(Busy):
        entered(lanes, place())
    light = place(weight=LIGHT)
    entered(lanes, light)
    assert light.lane == "kept"


def test_whoever_uses_fewer_workers_is_next() -> None:
    lanes = Lanes(replace(LIMITS, share=3, wait_s=10), may_try=lambda: False)
    busy = [place(), place(), place()]
    entered(lanes, *busy)
    mine, theirs = place(), place("b")
    threads = [waiting(lanes, mine), waiting(lanes, theirs)]
    lanes.leave(busy[0])
    threads[1].join()

    assert (mine.lane, theirs.lane) == (None, "open")
    lanes.leave(busy[1])
    threads[0].join()
    assert mine.lane == "open"


def test_a_full_queue_refuses_at_once_and_one_caller_fills_half_of_it() -> None:
    lanes = Lanes(replace(LIMITS, queue=4, wait_s=10), may_try=lambda: False)
    busy = [place(), place()]
    entered(lanes, *busy)
    gone = threading.Event()
    threads = [waiting(lanes, place(), gone.is_set) for _ in range(2)]
    try:
        with pytest.raises(Busy, match="half of it") as raised:
            lanes.enter(place(), lambda: False)
        assert raised.value.retry_after_s == 5
        entered(lanes, place("b"))
    finally:
        gone.set()
        for thread in threads:
            thread.join()
    assert lanes._waiting == []
