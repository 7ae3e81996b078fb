"""What keeps the memory in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memento import upkeep
from memento.backends import Keeper
from memento.model import Difference
from memento.ports import Progress
from memento.service.held import Held
from memento.vocabulary import IRI


class Care(Held):
    """Checks and rebuilds."""

    def check(self) -> tuple[Difference, ...]:
        """Every difference between the graph and its indexes, and every violated shape; empty when all is well."""
        self._as_owner()
        with self._writing:
            return (*upkeep.check(self._parts), *self._domains.differences())

    def rebuild(self, progress: Progress | None = None) -> int:
        """Make every index anew from the graph alone; returns how many texts were embedded or taken from the cache."""
        self._as_owner()
        with self._writing:
            return upkeep.rebuild(self._parts, progress) + self._domains.rebuild()

    def add_keeper(self, forget: Callable[[Sequence[IRI]], None], close: Callable[[], None]) -> None:
        """
        Tell somebody who keeps copies of what memories say what becomes of them.

        Args:
            forget: called with the memories and notes that are about to be forgotten or erased.
            close: called when the memory is closed.
        """
        self._parts.keepers.append(Keeper(forget, close))
