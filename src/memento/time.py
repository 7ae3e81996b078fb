"""Times as Memento stores them: timezone-aware, in UTC, to the millisecond."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, tzinfo

from memento.errors import InputError

logger = logging.getLogger(__name__)

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
"""An instant before all others."""
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""An instant after all others: for queries that need an instant where there is none."""


_simulated: ContextVar[datetime | None] = ContextVar("simulated", default=None)


class Clock:
    """
    The clock of this process, which does not go backwards when the machine's clock is corrected.

    If the machine's clock goes back by more than `HELD_BACK`, it was wrong before, and is followed.
    """

    def __init__(self, read: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._read = read
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Return the current time: never earlier than one returned before, unless the clock was wrong."""
        at = self._read()
        if at >= self._latest:
            self._latest = at
        elif self._latest - at > HELD_BACK:
            logger.warning("clock.put-back", extra={"seconds": round((self._latest - at).total_seconds())})
            self._latest = at
        return self._latest


HELD_BACK = timedelta(hours=1)
_clock = Clock()


def now() -> datetime:
    """Return the current time."""
    return utc(_simulated.get() or _clock.now())


@contextmanager
def simulate_time(at: datetime) -> Iterator[None]:
    """
    Simulate another time for the calls of this thread on an open memory, until the end of the block: to study how memories age.

    *But:* background work and services use the real time.

    >>> with simulate_time(datetime(2030, 1, 2, tzinfo=UTC)):
    ...     now().isoformat()
    '2030-01-02T00:00:00+00:00'
    """
    token = _simulated.set(at)
    try:
        yield
    finally:
        _simulated.reset(token)


def utc(at: datetime, zone: tzinfo = UTC) -> datetime:
    """
    Return `at` in UTC, truncated to the millisecond; a naive time is read in `zone`.

    >>> utc(datetime(2025, 1, 2, 3, 4, 5, 678912))
    datetime.datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc)
    """
    aware = at if at.tzinfo else at.replace(tzinfo=zone)
    aware = aware.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)


def parse_time(text: str, name: str, zone: tzinfo = UTC) -> datetime:
    """
    Parse an ISO 8601 date or time, such as `2025-01-31` or `2025-01-31T09:00+01:00`, in UTC.

    Args:
        name: the caller's name for it, for the error.
        zone: the zone of a time without an offset.

    Raises:
        InputError: the text is not an ISO 8601 time.
    """
    try:
        return utc(datetime.fromisoformat(text.strip()), zone)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name} must be an ISO 8601 time such as 2025-01-31T09:00:00Z, not {text!r}") from error


def instant(at: datetime | str, name: str, zone: tzinfo = UTC) -> datetime:
    """
    Return a time that a caller passed, in UTC.

    Raises:
        InputError: neither a time nor ISO 8601 text.

    >>> instant("2025-01-02", "at")
    datetime.datetime(2025, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if isinstance(at, datetime):
        try:
            return utc(at, zone)
        except OverflowError as error:
            raise InputError(f"{name} is no time between the years 1 and 9999 in UTC: {at.isoformat()}") from error
    if isinstance(at, str):
        return parse_time(at, name, zone)
    raise InputError(f"{name} must be a datetime or ISO 8601 text, not {type(at).__name__}")


def iso(at: datetime) -> str:
    """
    Return a time as ISO 8601 text in UTC, with a Z.

    >>> iso(datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2025-01-02T03:04:05Z'
    """
    return utc(at).isoformat().replace("+00:00", "Z")
