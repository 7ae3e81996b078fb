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
from memento.sparql import pool as priority_queue
from memento.sparql.jobs import CHEAP, UNKNOWN
from memento.sparql.pool import PriorityQueue, Ticket

LIMITS = SparqlSettings(workers=4, share=2, queue=8, wait_s=0)


def ticket(caller: str = "a", cost: int = UNKNOWN) -> Ticket:
    return Ticket(caller, cost, lambda: None)


def entered(queue: PriorityQueue, *places: Ticket) -> None:
    for one in places:
        queue.enter(one, lambda: False)


def waiting(queue: PriorityQueue, one: Ticket, is_gone: Callable[[], bool] = lambda: False) -> threading.Thread:
    """Lets a query wait; returns when it is in the queue, or has a place."""
    known = len(queue._waiting)

    def enter() -> None:
        with suppress(Busy):
            queue.enter(one, is_gone)

    thread = threading.Thread(target=enter)
    thread.start()
    while one.lane is None and len(queue._waiting) == known:
        time.sleep(0.001)
    return thread


def test_a_caller_has_their_share_of_the_open_lane_and_one_goes_into_the_kept_one() -> None:
    queue = PriorityQueue(LIMITS)
    first, second, third, other = ticket(), ticket(), ticket(), ticket("b")
    entered(queue, first, second, third, other)

    assert [one.lane for one in (first, second, third, other)] == ["open", "open", "reserved", "open"]
    with pytest.raises(Busy, match=r"sparql\.wait_s"):
        queue.enter(ticket(), lambda: False)


def test_a_light_query_takes_the_kept_lane_from_a_heavier_one_at_once() -> None:
    queue = PriorityQueue(LIMITS)
    stopped: list[str] = []
    heavy = ticket()
    heavy.stop = lambda: stopped.append("heavy")
    entered(queue, ticket(), ticket(), heavy)
    light = ticket(cost=CHEAP)
    entered(queue, light)

    assert (stopped, heavy.is_stopped, light.lane) == (["heavy"], True, "reserved")
    with pytest.raises(Busy):  # one light query does not take it from another
        entered(queue, ticket(cost=CHEAP))


def test_one_that_was_stopped_waits_for_the_open_lane_in_its_old_turn() -> None:
    queue = PriorityQueue(replace(LIMITS, wait_s=10))
    first, second, stopped, light = ticket(), ticket(), ticket(), ticket(cost=CHEAP)
    entered(queue, first, second, stopped, light)
    queue.leave(stopped)
    stopped.is_long = True
    again = waiting(queue, stopped)
    later = ticket()
    other = waiting(queue, later)

    assert (stopped.lane, later.lane) == (None, None)
    queue.leave(light)  # the kept lane is free: for one that has not been tried, not for the long one
    other.join()
    assert (stopped.lane, later.lane) == (None, "reserved")
    queue.leave(first)
    again.join()
    assert stopped.lane == "open"


def test_one_that_overruns_goes_on_in_the_open_lane_when_there_is_a_place() -> None:
    queue = PriorityQueue(LIMITS)
    first, second, third = ticket(), ticket(), ticket()
    entered(queue, first, second, third)

    assert not queue.may_continue(third)
    assert queue.may_continue(first)
    queue.leave(first)
    assert queue.may_continue(third)
    assert third.lane == "open"
    entered(queue, ticket())  # the kept lane is free again


def test_after_its_slice_a_query_leaves_the_kept_lane_to_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priority_queue, "SLICES_S", (0.0, 0.0, 0.0))
    some = PriorityQueue(LIMITS)
    first, second, third, fourth = ticket(), ticket(), ticket(), ticket()
    entered(some, first, second, third)
    entered(some, fourth)

    assert third.is_stopped
    assert fourth.lane == "reserved"


def test_an_unsure_query_is_tried_only_while_a_worker_is_left_for_a_sure_one() -> None:
    queue = PriorityQueue(LIMITS, may_try=lambda: False)
    entered(queue, ticket(), ticket())

    with pytest.raises(Busy):
        entered(queue, ticket())
    light = ticket(cost=CHEAP)
    entered(queue, light)
    assert light.lane == "reserved"


def test_whoever_uses_fewer_workers_is_next() -> None:
    queue = PriorityQueue(replace(LIMITS, share=3, wait_s=10), may_try=lambda: False)
    busy = [ticket(), ticket(), ticket()]
    entered(queue, *busy)
    mine, theirs = ticket(), ticket("b")
    threads = [waiting(queue, mine), waiting(queue, theirs)]
    queue.leave(busy[0])
    threads[1].join()

    assert (mine.lane, theirs.lane) == (None, "open")
    queue.leave(busy[1])
    threads[0].join()
    assert mine.lane == "open"


def test_a_full_queue_refuses_at_once_and_one_caller_fills_half_of_it() -> None:
    queue = PriorityQueue(replace(LIMITS, queue=4, wait_s=10), may_try=lambda: False)
    busy = [ticket(), ticket()]
    entered(queue, *busy)
    gone = threading.Event()
    threads = [waiting(queue, ticket(), gone.is_set) for _ in range(2)]
    try:
        with pytest.raises(Busy, match="half of it") as raised:
            queue.enter(ticket(), lambda: False)
        assert raised.value.retry_after_s == 5
        entered(queue, ticket("b"))
    finally:
        gone.set()
        for thread in threads:
            thread.join()
    assert queue._waiting == []
