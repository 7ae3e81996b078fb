"""
How long things took and how often they happened: one process-wide tally that `/metrics` prints and recalls report.

Log lines are constant event names with fields, never note text.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_counts: dict[str, int] = defaultdict(int)
_seconds: dict[str, float] = defaultdict(float)


class Stopwatch:
    """
    Milliseconds by phase of one piece of work.

    >>> watch = Stopwatch("retrieval")
    >>> with watch.phase("land"):
    ...     pass
    >>> list(watch.ms)
    ['land']
    """

    def __init__(self, work: str) -> None:
        self.work = work
        self.ms: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time one phase; also added to the process's tally, as `{work}.{name}`."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begin
            self.ms[name] = round(self.ms.get(name, 0.0) + spent * 1000, 3)
            with _lock:
                _counts[f"{self.work}.{name}"] += 1
                _seconds[f"{self.work}.{name}"] += spent


def count(event: str, by: int = 1) -> None:
    """Add to the tally of an event."""
    with _lock:
        _counts[event] += by


def exposition() -> str:
    """The tally in the Prometheus text format."""
    with _lock:
        counts, seconds = dict(_counts), dict(_seconds)
    lines = ["# TYPE memento_events_total counter"]
    lines += [f'memento_events_total{{event="{name}"}} {n}' for name, n in sorted(counts.items())]
    lines.append("# TYPE memento_seconds_total counter")
    lines += [f'memento_seconds_total{{event="{name}"}} {s:.6f}' for name, s in sorted(seconds.items())]
    return "\n".join(lines) + "\n"


def configure_logging(level: str = "WARNING") -> None:
    """Log to stderr in one line each; only the command line calls this."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True)
