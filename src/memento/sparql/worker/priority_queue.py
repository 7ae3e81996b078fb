"""
Who may use a worker when: places in two lanes, and the queue before them. No process is started or killed here.

*Guarantees:* no caller takes every worker, and nobody's long queries keep a short one waiting, not even their own.

*Because:* that a query is short cannot be known before it has run; that it is likely to be can. So of N workers N - 1 are the
*open* lane, of which a caller has at most a share. One is *reserved*, and a query leaves it within a slice of time: what has ended
by then was short, and what has not goes over to a free place of the open lane, or is stopped and begun again there later. Nothing
of it was sent by then, so its caller sees nothing but the wait. Queries that find no place in the open lane use it like this:

1. Those whose shape promises an answer at once, by their cost class: the lighter ones come first, and a heavier one that is
   in the reserved lane gives way to them at once.
2. Any other, once: most queries are answered within the slice although their shape does not say so. As one that is not takes its
   worker with it, it is let in only while another worker is ready to take over.
3. A query that was stopped is known to be long, and waits for the open lane.

In either lane the caller who uses the fewest workers is next, then whoever waits longest. In the queue a caller has at most half of
the places, so that another one still finds some.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memento.errors import Busy
from memento.settings import SparqlSettings
from memento.sparql.worker.jobs import CHEAP

SLICES_S = (1.0, 0.25, 0.1)
"""How long a query may use the reserved worker when others wait for it, by its weight: the lighter, the surer is its end."""
LOOK_S = 0.05
"""How often one who waits looks whether its caller has left, and whether a slice has ended."""

Lane = Literal["open", "reserved"]


@dataclass(eq=False, slots=True)
class Ticket:
    """A query's place in a lane, or its wait for one. `stop` is called, by another thread, when it has to give way."""

    caller: str
    cost: int
    stop: Callable[[], None]
    order: int = 0
    lane: Lane | None = None
    is_long: bool = False  # it was stopped once
    is_stopped: bool = False
    since: float = 0.0  # when its slice began
    called: threading.Event | None = None  # set once it has a place; there when it had to wait for one

    @property
    def slice_s(self) -> float:
        """How long it may use the reserved worker when others wait."""
        return SLICES_S[self.cost]


class PriorityQueue:
    """The places of one pool. May be used from many threads."""

    def __init__(self, limits: SparqlSettings, may_try: Callable[[], bool] = lambda: True) -> None:
        """
        Args:
            may_try: whether a worker is left for a sure query when an unsure one gets the reserved lane, from where it may have
                to be killed with its worker.
        """
        self._limits = limits
        self._may_try = may_try
        self._lock = threading.Lock()
        self._open: list[Ticket] = []
        self._reserved: Ticket | None = None
        self._waiting: list[Ticket] = []
        self._order = 0

    def enter(self, ticket: Ticket, is_gone: Callable[[], bool]) -> None:
        """
        Wait for a place in a lane.

        Args:
            is_gone: whether whoever asked has left; ends the wait.

        Raises:
            Busy: the queue is full, or the wait took longer than `sparql.wait_s`.
        """
        limits = self._limits
        with self._lock:
            if not ticket.is_long:
                self._order += 1
                ticket.order = self._order
            ticket.is_stopped = False
            if not self._waiting and self._has_open(ticket.caller):  # as nearly always
                ticket.lane = "open"
                self._open.append(ticket)
                return
            ticket.called = threading.Event()
            self._waiting.append(ticket)
            self._assign()
            if ticket.lane:
                return
            own = sum(one.caller == ticket.caller for one in self._waiting)
            if not ticket.is_long and (len(self._waiting) > limits.queue or own > max(limits.queue // 2, 1)):
                self._waiting.remove(ticket)
                raise Busy(
                    f"{len(self._waiting)} queries wait for a worker already (sparql.queue is {limits.queue}, and half of it "
                    "for one caller): ask again later",
                    self._retry_after_s,
                )
        self._wait(ticket, ticket.called, is_gone)

    def may_continue(self, ticket: Ticket) -> bool:
        """
        Tell whether a query in the reserved lane that has used its slice, or has more to say than can be held back, may go on.

        It goes on in the open lane when there is a place for it.
        """
        with self._lock:
            if ticket.lane == "reserved" and not ticket.is_stopped and self._has_open(ticket.caller):
                self._reserved = None
                ticket.lane = "open"
                self._open.append(ticket)
                self._assign()
            return ticket.lane == "open"

    def leave(self, ticket: Ticket) -> None:
        """Give the place to whoever is next; harmless for one who has none."""
        with self._lock:
            if self._reserved is ticket:
                self._reserved = None
            elif ticket in self._open:
                self._open.remove(ticket)
            ticket.lane = None
            if self._waiting:
                self._assign()

    def _wait(self, ticket: Ticket, called: threading.Event, is_gone: Callable[[], bool]) -> None:
        until = time.monotonic() + self._limits.wait_s
        while not called.wait(LOOK_S):
            with self._lock:
                self._assign()
                if ticket.lane:
                    return
                if is_gone() or time.monotonic() > until:
                    self._waiting.remove(ticket)
                    raise Busy(
                        f"no worker was free within {self._limits.wait_s:g} s (sparql.wait_s): ask again later",
                        self._retry_after_s,
                    )

    def _assign(self) -> None:
        """Give every free place to whoever is next for it."""
        while ticket := self._next(lambda one: self._has_open(one.caller)):
            self._open.append(ticket)
            self._assign_lane(ticket, "open")
        if self._reserved is not None and self._must_yield(self._reserved):
            self._reserved.is_stopped = True
            self._reserved.stop()
            self._reserved = None
        ticket = None if self._reserved else self._next(lambda one: not one.is_long, by_cost=True)
        if ticket and (ticket.cost == CHEAP or self._may_try()):
            self._reserved = ticket
            self._assign_lane(ticket, "reserved")

    def _next(self, may: Callable[[Ticket], bool], *, by_cost: bool = False) -> Ticket | None:
        known = [one for one in self._waiting if may(one)]
        if not known:
            return None
        return min(known, key=lambda one: (by_cost and one.cost, self._count_used(one.caller), one.order))

    def _assign_lane(self, ticket: Ticket, lane: Lane) -> None:
        self._waiting.remove(ticket)
        ticket.lane = lane
        ticket.since = time.monotonic()
        if ticket.called:
            ticket.called.set()

    def _must_yield(self, reserved: Ticket) -> bool:
        """Tell whether the one in the reserved lane must go: to a lighter one, or because its slice is over and others wait."""
        others = [one.cost for one in self._waiting if not one.is_long]
        return bool(others) and (min(others) < reserved.cost or time.monotonic() - reserved.since > reserved.slice_s)

    def _has_open(self, caller: str) -> bool:
        own = sum(one.caller == caller for one in self._open)
        return len(self._open) < self._limits.workers - 1 and own < min(self._limits.share, self._limits.workers - 1)

    def _count_used(self, caller: str) -> int:
        return sum(one.caller == caller for one in self._open) + (
            self._reserved is not None and self._reserved.caller == caller
        )

    @property
    def _retry_after_s(self) -> int:
        return max(1, round(self._limits.query_s / 2))
