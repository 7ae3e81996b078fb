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
"""Earlier than anything."""
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than anything: where a query wants an instant and there is none."""


_simulated: ContextVar[datetime | None] = ContextVar("simulated", default=None)


class Clock:
    """
    The time of this process, which does not run backwards where the machine's is put right.

    A clock that is put back by more than `HELD_BACK` was wrong, and is followed.
    """

    def __init__(self, read: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._read = read
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Return the present instant: never before one that was returned, unless the clock was wrong."""
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
    """Return the present instant."""
    return utc(_simulated.get() or _clock.now())


@contextmanager
def simulate_time(at: datetime) -> Iterator[None]:
    """
    Let it be another time for what this thread asks of an open memory until the end of the block: for studies of how memories age.

    *But:* what runs in the background, and what a service does, keeps its own time.

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
    Return `at` in UTC, cut to the millisecond; a naive time is read in `zone`.

    >>> utc(datetime(2025, 1, 2, 3, 4, 5, 678912))
    datetime.datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc)
    """
    aware = at if at.tzinfo else at.replace(tzinfo=zone)
    aware = aware.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)


def parse_time(text: str, name: str, zone: tzinfo = UTC) -> datetime:
    """
    Parse an ISO 8601 date or time, as `2025-01-31` or `2025-01-31T09:00+01:00`, in UTC.

    Args:
        name: what the caller called it, for the error.
        zone: where a time without an offset is meant.

    Raises:
        InputError: the text is no ISO 8601 time.
    """
    try:
        return utc(datetime.fromisoformat(text.strip()), zone)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name} must be an ISO 8601 time such as 2025-01-31T09:00:00Z, not {text!r}") from error


def instant(at: datetime | str, name: str, zone: tzinfo = UTC) -> datetime:
    """
    Return a time as a caller gives it, in UTC.

    Raises:
        InputError: it is neither a time nor ISO 8601 text.

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
