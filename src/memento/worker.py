"""Work in threads: a worker that sleeps until there is something to do, and a probe that callers wait for with a timeout."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

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
