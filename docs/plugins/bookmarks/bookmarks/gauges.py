"""What `/metrics` tells of it, for Prometheus: how many bookmarks the caller may see."""

from __future__ import annotations

from collections.abc import Iterator

from bookmarks.operations import ListBookmarks
from memento.service import Context, handle
from memento.telemetry import Gauge


def count_bookmarks(context: Context) -> Iterator[Gauge]:
    """Yield the number of bookmarks; the metric is `memento_bookmarks`."""
    most = context.settings.limits.results
    yield Gauge(name="bookmarks", help="bookmarks kept", value=len(handle(ListBookmarks(limit=most), context)))
