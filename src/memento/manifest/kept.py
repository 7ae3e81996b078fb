"""
Maps that are kept and drawn anew in the background, so that nobody waits for one but the first who asks.

*Guarantees:* one map is drawn at a time. A map is given as it was drawn for `manifest.cache_s`; after that it is drawn anew as soon
as somebody asks and something was written, or unasked after `manifest.updates` changes. None outlives what was forgotten.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memento.backends import Backends
from memento.errors import MementoError
from memento.iris import IRI
from memento.manifest.drawn import drawn
from memento.model import Manifest, Scope
from memento.settings import ManifestSettings
from memento.time import now
from memento.worker import Worker

logger = logging.getLogger(__name__)

MOST = 64
"""Maps that are kept, of as many readers' shares of the memory."""


@dataclass(frozen=True, slots=True)
class _Kept:
    manifest: Manifest
    writes: int
    at: datetime


class Maps:
    """The maps of one memory, by what their readers see. May be used from many threads."""

    def __init__(self, parts: Backends, knobs: ManifestSettings) -> None:
        self._parts, self._knobs = parts, knobs
        self._kept: dict[Scope, _Kept] = {}
        self._wanted: dict[Scope, None] = {}
        self._updates: dict[IRI, int] = {}
        self._forgettings = 0
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._worker = Worker(self._work, "manifest")
        self.redrawn: list[Callable[[], None]] = []
        """Called, on a thread of its own, when a map was drawn anew in the background."""
        parts.forgotten.append(self.clear)

    def get(self, scope: Scope) -> Manifest:
        """The map as it is kept, or drawn now where none is."""
        return self.kept(scope) or self.draw(scope)

    def kept(self, scope: Scope, *, want: bool = False) -> Manifest | None:
        """
        The map as it is kept, without waiting.

        Args:
            want: have it drawn in the background where there is none.
        """
        with self._lock:
            found = self._kept.get(scope)
        if found is None:
            if want:
                self._want([scope])
            return None
        is_old = (now() - found.at).total_seconds() >= self._knobs.cache_s
        if is_old and found.writes != self._parts.graph.writes:
            self._want([scope])
        return found.manifest

    def draw(self, scope: Scope) -> Manifest:
        """Draw the map now, after the one that is being drawn."""
        with self._drawing:
            writes, forgettings = self._parts.graph.writes, self._forgettings
            made = drawn(scope, now(), self._parts)
            with self._lock:
                if forgettings == self._forgettings:
                    self._kept.pop(scope, None)
                    self._kept[scope] = _Kept(made, writes, now())
                    while len(self._kept) > MOST:
                        del self._kept[next(iter(self._kept))]
        return made

    def written(self, scope: Scope) -> None:
        """A change of the scope's own graph was asked for; the maps that show it are drawn anew after enough of them."""
        with self._lock:
            showing = [one for one in self._kept if scope.graph in one.readable]
            if not showing:
                return
            count = self._updates[scope.graph] = self._updates.get(scope.graph, 0) + 1
            if count < self._knobs.updates:
                return
            self._updates[scope.graph] = 0
        self._want(showing)

    def clear(self) -> None:
        """Keep none: they may name what is forgotten."""
        with self._lock:
            self._forgettings += 1
            self._kept.clear()

    def close(self, wait_s: float) -> None:
        """Draw nothing more."""
        self._worker.stop(wait_s)

    def _want(self, scopes: list[Scope]) -> None:
        with self._lock:
            self._wanted |= dict.fromkeys(scopes)
        self._worker.wake()

    def _work(self) -> float | None:
        while not self._worker.stopping.is_set():
            with self._lock:
                if not self._wanted:
                    return None
                scope = next(iter(self._wanted))
                del self._wanted[scope]
            try:
                self.draw(scope)
            except MementoError as error:
                logger.warning("manifest.failed", extra={"error": type(error).__name__})
                continue
            for told in self.redrawn:
                told()
        return None
