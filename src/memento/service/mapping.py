"""What shows the memory as a whole: its map."""

from __future__ import annotations

from collections.abc import Callable

from memento.model import Manifest
from memento.service.held import Held


class Mapping(Held):
    """The map of a namespace."""

    def manifest(self, *, fresh: bool = False, namespace: str | None = None) -> Manifest:
        """
        The map of what the namespace reads: what hangs together, what it turns on, what is new and what fades.

        `text` is the same in 500 tokens. It may be `manifest.cache_s` old, or of before the last `manifest.updates` changes.

        Args:
            fresh: draw it now, however long that takes.
        """
        scope = self._in(namespace)
        return self._maps.draw(scope) if fresh else self._maps.get(scope)

    def manifest_text(self, *, namespace: str | None = None) -> str:
        """The text of the map as it is kept, without waiting for one; empty where none is drawn yet, which is then begun."""
        found = self._maps.peek(self._in(namespace), want=True)
        return found.text if found else ""

    def on_redrawn(self, told: Callable[[], None]) -> None:
        """Tell somebody whenever a map was drawn anew in the background."""
        self._maps.redrawn.append(told)

    def _redraw(self, namespace: str | None) -> None:
        self._maps.draw(self._in(namespace))
