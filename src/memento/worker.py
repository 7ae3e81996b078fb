"""
Work in threads: a worker that sleeps until there is something to do, a probe that callers wait for with a timeout, and turns that
many callers share.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from memento import telemetry
from memento.errors import Overloaded

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Worker:
    """
    Calls `work` until nothing is left to do: `work` returns the seconds until it wants to be called again, or None.

    *But:* a call in progress is not interrupted. `stop` waits for it, at most for the given time.
    """

    def __init__(self, work: Callable[[], float | None], name: str) -> None:
        self._work = work
        self._name = name
        self._something = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.stopping = threading.Event()

    @property
    def running(self) -> bool:
        """Whether it was woken and not stopped since."""
        return self._thread is not None and not self.stopping.is_set()

    def wake(self) -> None:
        """Report that there is something to do; start the thread if it does not run yet. Does nothing after `stop`."""
        with self._starting:
            if self._thread is None and not self.stopping.is_set():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        self._something.set()

    def stop(self, wait_s: float) -> None:
        """Start nothing more; wait for the call in progress, at most for some seconds."""
        self.stopping.set()
        self._something.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _run(self) -> None:
        while not self.stopping.is_set():
            self._something.clear()
            try:
                wait_s = self._work()
            except Exception as error:  # the thread must survive any failure of one note
                logger.error("worker.failed", extra={"worker": self._name, "error": type(error).__name__})
                wait_s = 60.0
            self._something.wait(wait_s)


class Look(Generic[T]):
    """
    Runs a check in a thread, one at a time, however long it takes, and stores the latest result.

    May be used from many threads.
    """

    def __init__(self, look: Callable[[], T], name: str) -> None:
        self._look, self._name = look, name
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._begun_at: float | None = None  # of the check in progress
        self._latest: T | None = None
        self._at = float("-inf")

    @property
    def waited_s(self) -> float:
        """Seconds since the check in progress began; 0 if none is in progress."""
        begun_at = self._begun_at
        return 0.0 if begun_at is None else time.monotonic() - begun_at

    def begin(self, fresh_s: float) -> None:
        """Start a check, unless one is in progress or the latest result is newer than some seconds."""
        with self._lock:
            if self._begun_at is not None or time.monotonic() - self._at < fresh_s:
                return
            self._begun_at, self._done = time.monotonic(), threading.Event()
            threading.Thread(target=self._run, name=f"look-{self._name}", daemon=True).start()

    def wait(self, until: float) -> T | None:
        """
        Return the latest result; wait for a check in progress until a time of `time.monotonic`; None if it is not finished by then.
        """
        done = self._done
        if self._begun_at is not None and not done.wait(max(until - time.monotonic(), 0.0)):
            return None
        return self._latest

    def _run(self) -> None:
        found: T | None = None
        try:
            found = self._look()
        except Exception as error:
            logger.error("look.failed", extra={"look": self._name, "error": type(error).__name__})
        with self._lock:
            self._latest, self._at, self._begun_at = found, time.monotonic(), None
        self._done.set()


CALLER: ContextVar[str] = ContextVar("caller", default="")
"""Whose request this thread answers, for sharing turns; empty for work in the background, which waits as long as it takes."""


@dataclass(eq=False, slots=True)
class _Ticket:
    caller: str
    is_short: bool
    order: int
    called: threading.Event = field(default_factory=threading.Event)


class Turns:
    """
    Gives a few places to many callers, so that none of them waits for everything that another one asks. Thread-safe.

    Short work goes before long work, up to `SHORT_FIRST` times in a row; among the same kind, the caller whose last turn is longest
    ago is next, and then the order of arrival counts.

    *Guarantees:* a caller of short work waits at most for the work that has a place, and for one turn of each other caller. Long
    work is not kept waiting for ever. A request that cannot have a place in time is refused before anything is done.

    *Because:* a plain lock has no order: a thread that takes it again at once, such as an import, keeps all others out.
    """

    SHORT_FIRST = 8
    """Turns of short work in a row while long work waits."""

    def __init__(
        self, what: str, places: int = 1, *, reserved: int = 0, most_long: int = 16, wait_s: float = 30.0
    ) -> None:
        """
        Args:
            what: what is shared, for errors.
            reserved: places that long work may not have.
            most_long: requests with long work that may wait; further ones are refused.
            wait_s: seconds that a request may wait.
        """
        self.places, self.most_long = places, most_long
        self._what, self._free, self._reserved, self._wait_s = what, places, reserved, wait_s
        self._lock = threading.Lock()
        self._waiting: list[_Ticket] = []
        self._latest: dict[str, int] = {}
        self._order = self._in_a_row = 0

    @contextmanager
    def take(self, *, is_short: bool = True) -> Iterator[None]:
        """
        Wait for a place and keep it for the block. A turn is not reentrant.

        Raises:
            Overloaded: too much long work waits already, or the wait was too long; nothing was done.
        """
        self._enter(is_short)
        try:
            yield
        finally:
            with self._lock:
                self._free += 1
                self._assign()

    def acquire(self) -> None:
        """Wait for a place for short work; as `take`."""
        self._enter(is_short=True)

    def release(self) -> None:
        """Give back the place of `acquire`."""
        with self._lock:
            self._free += 1
            self._assign()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting)

    @property
    def taken(self) -> int:
        """How many have a place."""
        return self.places - self._free

    def _enter(self, is_short: bool) -> None:
        caller = CALLER.get()
        with self._lock:
            long_ones = sum(not one.is_short for one in self._waiting)
            if caller and not is_short and long_ones >= self.most_long:
                self._refuse(f"{long_ones} long notes wait for {self._what} already")
            self._order += 1
            ticket = _Ticket(caller, is_short, self._order)
            self._waiting.append(ticket)
            self._assign()
        if ticket.called.wait(self._wait_s if caller else None):
            return
        with self._lock:
            if ticket.called.is_set():
                return
            self._waiting.remove(ticket)
            self._refuse(f"{self._what} was not free within {self._wait_s:g} s")

    def _refuse(self, why: str) -> None:
        telemetry.increment("refused_total", what="writers")
        raise Overloaded(f"{why}: nothing was stored, send it again later", _RETRY_S)

    def _assign(self) -> None:
        while self._free and (ticket := self._choose_next()):
            self._waiting.remove(ticket)
            self._free -= 1
            self._latest[ticket.caller] = self._order
            self._in_a_row = self._in_a_row + 1 if ticket.is_short else 0
            ticket.called.set()
        if not self._waiting and len(self._latest) > _REMEMBERED:
            self._latest.clear()

    def _choose_next(self) -> _Ticket | None:
        may = [one for one in self._waiting if one.is_short or self._free > self._reserved]
        long_ones = [one for one in may if not one.is_short]
        if long_ones and self._in_a_row >= self.SHORT_FIRST:
            may = long_ones
        return min(may, key=lambda one: (not one.is_short, self._latest.get(one.caller, 0), one.order), default=None)


_RETRY_S = 5
"""Seconds after which a refused request may be sent again."""
_REMEMBERED = 1_000
"""Callers whose last turn is remembered."""
