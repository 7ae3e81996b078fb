"""Work in threads: a worker that sleeps until there is something to do, and a call that is waited for with a timeout."""

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
    Calls `work` until it says that there is no more to do: it returns the seconds until it wants to be called again, or None.

    *But:* a call that is under way is not interrupted. `stop` waits for it, and no longer than it is told.
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
        """Whether it was ever woken and not stopped since."""
        return self._thread is not None and not self.stopping.is_set()

    def wake(self) -> None:
        """Say that there is something to do; start the thread when it does not run yet. Harmless after `stop`."""
        with self._starting:
            if self._thread is None and not self.stopping.is_set():
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        self._something.set()

    def stop(self, wait_s: float) -> None:
        """Begin nothing more; waits for what is under way, at most so many seconds."""
        self.stopping.set()
        self._something.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _run(self) -> None:
        while not self.stopping.is_set():
            self._something.clear()
            try:
                wait_s = self._work()
            except Exception as error:  # the thread must outlive any fault of one note
                logger.error("worker.failed", extra={"worker": self._name, "error": type(error).__name__})
                wait_s = 60.0
            self._something.wait(wait_s)


class Look(Generic[T]):
    """
    Looks at something in a thread: once at a time, however long it takes, and what it found last is kept.

    May be used from many threads.
    """

    def __init__(self, look: Callable[[], T], name: str) -> None:
        self._look, self._name = look, name
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._begun_at: float | None = None  # of the look that is under way
        self._latest: T | None = None
        self._at = float("-inf")

    @property
    def waited_s(self) -> float:
        """For how many seconds the look that is under way has been; 0 where none is."""
        begun_at = self._begun_at
        return 0.0 if begun_at is None else time.monotonic() - begun_at

    def begin(self, fresh_s: float) -> None:
        """Begin a look, unless one is under way or the latest is not older than so many seconds."""
        with self._lock:
            if self._begun_at is not None or time.monotonic() - self._at < fresh_s:
                return
            self._begun_at, self._done = time.monotonic(), threading.Event()
            threading.Thread(target=self._run, name=f"look-{self._name}", daemon=True).start()

    def wait(self, until: float) -> T | None:
        """Return what was found, waiting for a look that is under way until then, by `time.monotonic`; None where it goes on."""
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
