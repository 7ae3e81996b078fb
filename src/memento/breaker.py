"""A circuit breaker: it decides whether a service that keeps failing is called again."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

WINDOW = 10
"""Requests that are looked back on."""
LONGEST_S = 300.0
"""The longest rest of a service that keeps failing."""

State = Literal["closed", "open", "half-open"]


class Breaker:
    """
    Closed until `failures` of the latest ten requests; then open for `rest_s` seconds; then half-open: one request tries.

    Where that one fails, the rest is twice as long as before, up to five minutes; where it succeeds, all is forgotten.

    May be shared by threads. Source: Nygard, Release It! (2007), "Circuit Breaker".

    >>> now = 0.0
    >>> breaker = Breaker(failures=2, rest_s=30, clock=lambda: now)
    >>> breaker.record_failure(), breaker.record_failure(), breaker.allows()
    (None, None, False)
    >>> now = 30.0
    >>> breaker.state, breaker.allows(), breaker.allows()
    ('half-open', True, False)
    >>> breaker.record_success(), breaker.state
    (None, 'closed')
    """

    def __init__(self, failures: int, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            clock: seconds that never run backwards.
        """
        self.failures = failures
        self._rest_s = rest_s
        self._clock = clock
        self._latest: deque[bool] = deque(maxlen=max(WINDOW, failures))  # whether each failed
        self._rest, self._tries = rest_s, False
        self._until: float | None = None  # None while closed
        self._lock = threading.Lock()

    @property
    def state(self) -> State:
        """As it is now; asking changes nothing."""
        with self._lock:
            if self._until is None:
                return "closed"
            return "open" if self._clock() < self._until else "half-open"

    @property
    def rest_s(self) -> float:
        """Seconds until the next request may try; 0 when one may now."""
        with self._lock:
            return 0.0 if self._until is None else max(self._until - self._clock(), 0.0)

    def allows(self) -> bool:
        """Tell whether a request may go out now; whoever is told yes reports how it went."""
        with self._lock:
            if self._until is None:
                return True
            now = self._clock()
            if now < self._until:
                return False
            # The others wait while this one tries; should it never report, another may try after the same rest.
            self._until, self._tries = now + self._rest, True
            return True

    def record_success(self) -> None:
        """Record that the service answered: closed, whatever it was."""
        with self._lock:
            if self._until is not None:
                self._latest.clear()
            self._latest.append(False)
            self._until, self._rest, self._tries = None, self._rest_s, False

    def record_failure(self) -> None:
        """Record that the service did not answer; open at the last of `failures`, and at once when it was being tried."""
        with self._lock:
            self._latest.append(True)
            now = self._clock()
            if self._until is not None:
                if self._tries:  # a request that was under way when it opened says nothing new
                    self._tries = False
                    self._rest = min(2 * self._rest, max(LONGEST_S, self._rest_s))
                self._until = now + self._rest
            elif sum(self._latest) >= self.failures:
                self._until = now + self._rest
