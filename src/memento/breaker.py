"""A circuit breaker: it decides whether a failing service is called again."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

WINDOW = 10
"""Number of latest requests that are counted."""
LONGEST_S = 300.0
"""The longest pause of a service that keeps failing, in seconds."""

State = Literal["closed", "open", "half-open"]


class Breaker:
    """
    Closed until `failures` of the latest ten requests failed; then open for `rest_s` seconds; then half-open: one request tries.

    If that request fails, the pause doubles, up to five minutes; if it succeeds, the breaker closes and starts over.

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
            clock: returns monotonic seconds.
        """
        self.failures = failures
        self._rest_s = rest_s
        self._clock = clock
        self._latest: deque[bool] = deque(maxlen=max(WINDOW, failures))  # whether each request failed
        self._rest, self._tries = rest_s, False
        self._until: float | None = None  # None while closed
        self._lock = threading.Lock()

    @property
    def state(self) -> State:
        """The current state; reading it changes nothing."""
        with self._lock:
            if self._until is None:
                return "closed"
            return "open" if self._clock() < self._until else "half-open"

    @property
    def rest_s(self) -> float:
        """Seconds until the next request may be sent; 0 if one may be sent now."""
        with self._lock:
            return 0.0 if self._until is None else max(self._until - self._clock(), 0.0)

    def allows(self) -> bool:
        """Tell whether a request may be sent now; a caller that gets True must report the result."""
        with self._lock:
            if self._until is None:
                return True
            now = self._clock()
            if now < self._until:
                return False
            # The others wait while this request tries; if it never reports, another may try after the same pause.
            self._until, self._tries = now + self._rest, True
            return True

    def record_success(self) -> None:
        """Record that the service answered, which closes the breaker in any state."""
        with self._lock:
            if self._until is not None:
                self._latest.clear()
            self._latest.append(False)
            self._until, self._rest, self._tries = None, self._rest_s, False

    def record_failure(self) -> None:
        """Record that the service did not answer; opens the breaker at the last of `failures`, and at once if it was half-open."""
        with self._lock:
            self._latest.append(True)
            now = self._clock()
            if self._until is not None:
                if self._tries:  # a request from before the breaker opened says nothing new
                    self._tries = False
                    self._rest = min(2 * self._rest, max(LONGEST_S, self._rest_s))
                self._until = now + self._rest
            elif sum(self._latest) >= self.failures:
                self._until = now + self._rest
