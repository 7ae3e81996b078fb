"""What keeps the memory in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from shutil import rmtree

from memento.access import OWNER
from memento.archive import check
from memento.archive.backup import BackupSource, make_backup
from memento.backends import Keeper, reopen
from memento.errors import Damaged, Forbidden, InputError, MementoError
from memento.graph.backups import begin_restore, list_backups, parse_backup_time, prepare_restore
from memento.graph.exact import Exact
from memento.iris import IRI
from memento.model import BackedUp, Difference, Restored
from memento.ports import Progress
from memento.service.exchanging import Exchanging
from memento.time import now

logger = logging.getLogger(__name__)

_FIRST_S = 60.0
"""A command or a short script ends before its first checkpoint."""
_AGAIN_S = 60.0
_APART_BYTES = 256 * 1024 * 1024
"""Up to here a checkpoint shares no file with the store."""


class Care(Exchanging):
    """Checks, rebuilds, backups."""

    def check(self) -> tuple[Difference, ...]:
        """
        What is damaged in the store's files, every difference between the graph and its indexes, and every violated shape; empty
        when all is well.
        """
        self._as_owner()
        harm = check.read_store_files(self._parts)  # before the lock: it takes long
        with self._writing:
            return (*check.find_differences(self._parts), *(() if harm else self._domains.differences()))

    def rebuild(self, progress: Progress | None = None) -> int:
        """Make every index anew from the graph alone; returns how many texts were embedded or taken from the cache."""
        self._as_owner()
        self._writable()
        with self._writing:
            return check.rebuild_indexes(self._parts, progress) + self._domains.rebuild()

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
            Damaged: the store's files cannot be read to their end; older backups stay.
            Forbidden: the caller may not care for the whole data folder, or not name a folder.
        """
        if keep is not None and keep < 1:
            raise InputError(f"keep must be at least 1, not {keep}")
        place = self._backups(folder) or self.datadir.backups
        self._writable()
        with self._importing:
            return self._kept(place, keep)

    def restore(self, folder: str | Path | None = None) -> Restored:
        """
        Let a backup be the memory from now on; what was here is moved aside and stays. Tokens stay as they are, settings too
        where there are some.

        Args:
            folder: a backup, or a folder of backups, of which the latest is taken; default as `backup`, or the one that stands in
                for a store that cannot be opened.

        Raises:
            NotFound: there is no backup.
            InputError: it is damaged, or newer than this version; the memory is as it was.
            Forbidden: as `backup`.
        """
        usual = Path(self._parts.degraded.backup) if self._parts.degraded else self.datadir.backups
        place = self._backups(folder) or usual
        with self._importing:
            restored = prepare_restore(place, self.datadir, now())
            with self._understanding, self._writing:
                reopen(self._parts, self.settings, lambda: begin_restore(self.datadir, restored))
                self._put_off_here.clear()
        self.resume()
        return restored

    def _kept(self, folder: Path, keep: int | None, *, apart_bytes: int = 0) -> BackedUp:
        """`make_backup`, and what it finds of the store is known from then on."""
        try:
            made = make_backup(folder, self._taken(), now(), keep, apart_bytes=apart_bytes)
        except Damaged as damage:
            self._parts.harm = str(damage).partition("the store is damaged: ")[2]
            raise
        self._parts.harm = None
        return made

    def _taken(self) -> BackupSource:
        return BackupSource(
            datadir=self.datadir,
            store=Exact(self._parts.graph),
            vectors=self._parts.indexes.file,
            fingerprint=self._parts.embedder.fingerprint,
            still=self._writing,
        )

    def _checkpoint(self) -> float | None:
        """
        Make a checkpoint when one is due and anything was written since the last; seconds until the next may be, None for never.

        What is erased meanwhile is in the one that is being made: it goes.
        """
        knobs, folder = self.settings.checkpoints, self.datadir.checkpoints
        if not knobs.hours or self._parts.degraded:
            return None
        wait_s = self._due_s()
        if wait_s > 0:
            return wait_s
        if self._parts.graph.writes == self._checkpointed or not len(self._parts.indexes.nodes):
            return knobs.hours * 3600
        if not self._importing.acquire(blocking=False):
            return _AGAIN_S
        try:
            writes, erasures = self._parts.graph.writes, self._parts.erasures
            made = self._kept(folder, knobs.keep, apart_bytes=_APART_BYTES)
            if self._parts.erasures != erasures:
                rmtree(made.folder)
                return _AGAIN_S
            self._checkpointed = writes
        except Damaged as damage:
            logger.error("checkpoint.damaged", extra={"folder": str(folder), "reason": str(damage)})
        except MementoError as error:  # a full disk is no reason to end the thread, nor to try at once again
            logger.warning("checkpoint.failed", extra={"folder": str(folder), "error": type(error).__name__})
        finally:
            self._importing.release()
        return knobs.hours * 3600

    def _due_s(self) -> float:
        """Seconds until a checkpoint may be made: not in the first minute of a process, nor sooner than the setting says."""
        beginning = self._since + timedelta(seconds=_FIRST_S)
        latest = list_backups(self.datadir.checkpoints)[-1:]
        after = [parse_backup_time(one) + timedelta(hours=self.settings.checkpoints.hours) for one in latest]
        return (max([beginning, *after]) - now()).total_seconds()

    def _backups(self, folder: str | Path | None) -> Path | None:
        self._as_owner()
        if folder is None:
            return None
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
