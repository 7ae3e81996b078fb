"""What keeps the memory in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from memento import upkeep
from memento.access import OWNER
from memento.backends import Keeper, reopen
from memento.backup.putting import put, readied
from memento.backup.taking import Taken, take
from memento.errors import Forbidden, InputError
from memento.graph.exact import Exact
from memento.instants import now
from memento.model import BackedUp, Difference, Restored
from memento.ports import Progress
from memento.service.exchanging import Exchanging
from memento.vocabulary import IRI


class Care(Exchanging):
    """Checks, rebuilds, backups."""

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

    def backup(self, folder: str | Path | None = None, *, keep: int | None = None) -> BackedUp:
        """
        Make a backup while the memory is in use: store and vectors as they are at one instant, and the settings. Tokens are not
        in it.

        Args:
            folder: where backups lie, each under its time; default `backups` in the data folder. Only who sits at the machine
                may name one.
            keep: how many of the latest to leave there; default all.

        Raises:
            InputError: other things are in the folder, or it cannot be written.
            Forbidden: the caller may not care for the whole data folder, or not name a folder.
        """
        if keep is not None and keep < 1:
            raise InputError(f"keep must be at least 1, not {keep}")
        place = self._backups(folder)
        what = Taken(
            home=self.home,
            store=Exact(self._parts.graph),
            vectors=self._parts.indexes.file,
            fingerprint=self._parts.embedder.fingerprint,
            still=self._writing,
        )
        with self._importing:
            return take(place, what, now(), keep)

    def restore(self, folder: str | Path | None = None) -> Restored:
        """
        Let a backup be the memory from now on; what was here is moved aside and stays. Tokens stay as they are, settings too
        where there are some.

        Args:
            folder: a backup, or a folder of backups, of which the latest is taken; default as `backup`.

        Raises:
            NotFound: there is no backup.
            InputError: it is damaged, or newer than this version; the memory is as it was.
            Forbidden: as `backup`.
        """
        place = self._backups(folder)
        with self._importing:
            restored = readied(place, self.home, now())
            with self._understanding, self._writing:
                reopen(self._parts, self.settings, lambda: put(self.home, restored))
                self._put_off_here.clear()
        self.resume()
        return restored

    def _backups(self, folder: str | Path | None) -> Path:
        self._as_owner()
        if folder is None:
            return self.home.backups
        if self._access != OWNER:
            raise Forbidden("only who sits at the machine may name a folder of it: leave it out for the usual one")
        place = Path(folder).expanduser()
        if not place.is_absolute():
            raise InputError(f"the folder must be given from the root, as /mnt/backups, not {str(folder)[:80]!r}")
        return place

    def add_keeper(
        self, forget: Callable[[Sequence[IRI]], None], close: Callable[[], None], clear: Callable[[], None]
    ) -> None:
        """
        Tell somebody who keeps copies of what memories say what becomes of them.

        Args:
            forget: called with the memories and notes that are about to be forgotten or erased.
            close: called when the memory is closed.
            clear: called when none of them may be there any more, as a backup takes their place.
        """
        self._parts.keepers.append(Keeper(forget, close, clear))
