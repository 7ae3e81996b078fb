"""One thread that works whenever there is something to do, and sleeps until then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)


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
