"""
Copy the files of a LanceDB table from an object store into a folder, so that questions are answered from the local disk.

*Flow:* a commit adds files, and a manifest that names all files of the table → `bring_up` lists the objects, copies the new ones,
the newest manifest last, and deletes local files that are gone there → the folder opens as the table right after that commit.

*Guarantees:* LanceDB never changes a file after writing it, so that a file of the same name and size is the same; a partial copy
has another name. A manifest is identified by its tag too, because a table that was dropped and created again counts versions from
1. The manifest is copied after all files that it names, and the folder has no other one. Files deleted in the object store are
deleted here at the next check, even if there is no room for the new ones.

*But:* a question may miss what another node has committed in the last fifth of a second.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from shutil import disk_usage
from threading import Lock
from typing import Any, NamedTuple

from memento.assets import install_line
from memento.errors import EngineError, MissingPart
from memento.worker import Worker

logger = logging.getLogger(__name__)

_FRESH_S = 0.2  # how long a check for commits of others stays valid
_LOOK_S = 10.0  # between two background checks, which also delete files that are gone
_AT_ONCE = (
    32 * 2**20
)  # bytes that a question waits for; more are copied in the background, while questions go to the object store
_PATIENCE = timedelta(seconds=3)  # timeout of a check while a question waits for it
_SPARE = 2**30  # bytes of free disk space that a copy leaves
_READERS, _PART = 16, 8 * 2**20  # files copied at once, and bytes of each held in memory
_VERSIONS, _TRANSACTIONS, _MANIFEST, _PARTIAL = "_versions/", "_transactions/", ".manifest", ".part"
_NAMED = re.compile(
    rf"{_VERSIONS}\d{{20}}{_MANIFEST}"
)  # excludes LanceDB's earlier naming scheme, and manifests without a version
_LAST = 2**64 - 1  # a manifest's name is this number less its version, so that the newest is listed first
_ROUNDS = 5  # attempts to copy while files are being deleted


class _Here(NamedTuple):
    """Hold what was copied: the manifest, by its name and its tag in the object store, and the table that it describes."""

    manifest: str
    tag: str | None
    table: Any


class LocalCopy:
    """Keep a copy of the files of one table; may be used from many threads."""

    def __init__(self, uri: str, folder: Path, most: int, opened: Callable[[Path], Any]) -> None:
        """
        Args:
            uri: of the table, as `s3://bucket/path/name.lance`; keys come from the environment.
            folder: used for the copy only; created when needed.
            most: bytes up to which a table is copied.
            opened: opens the table whose files are in a folder.

        Raises:
            MissingPart: the package that reads object stores is not installed.
            EngineError: the address is not one of an object store.
        """
        try:
            import obstore
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError as error:
            raise MissingPart(f"index.replica_mb needs obstore: {install_line('lance')}") from error
        self._objects, self._caught = obstore, (BaseError, OSError, ValueError, RuntimeError)
        patience: Any = {"max_retries": 2, "retry_timeout": timedelta(seconds=30)}
        try:
            self._there = from_url(uri, retry_config=patience)
            # The environment says whether http is allowed; explicit options would replace that, but the other client reads it.
            short: Any = {"timeout": _PATIENCE, "allow_http": True}
            self._glance = from_url(uri, retry_config={"max_retries": 0}, client_options=short)
        except self._caught as error:
            raise EngineError(f"index.uri, {uri}: {str(error).splitlines()[0]}") from error
        self._folder, self._most, self._opened = folder, most, opened
        self._here: _Here | None = None
        self._commit = object()  # replaced after each commit of this process
        self._looked = float("-inf"), self._commit  # when, and after which of these commits
        self._looking, self._copying = Lock(), Lock()
        self._has_room = True
        self._worker = Worker(self._look, "index-copy")
        with suppress(EngineError):
            self.bring_up(_AT_ONCE)
        self._worker.wake()

    def find_table(self) -> Any:
        """Return the copied table, at most a moment old; None while there is no copy, because it is being made or too large."""
        with self._looking:
            here, looked, commit = self._here, time.monotonic(), self._commit
            if here is None or (looked - self._looked[0] < _FRESH_S and self._looked[1] is commit):
                return here and here.table
            try:
                if self._is_behind(here) and (self._copying.locked() or not self.bring_up(_AT_ONCE)):
                    self._worker.wake()
                    return None
            except (EngineError, *self._caught):  # a query to the object store will report what is wrong
                return None
            self._looked = looked, commit
            here = self._here
            return here and here.table

    def expire(self) -> None:
        """Make the next question check for commits, even if a check is in progress."""
        self._commit = object()

    def drop_table(self) -> None:
        """Stop using the copy, because one of its files is damaged or missing, until its files were checked again."""
        self._here = None
        self.expire()
        self._worker.wake()

    def bring_up(self, most: float = float("inf")) -> bool:
        """
        Make the local files equal to those in the object store; return False if more than `most` bytes would have to be copied.

        Raises:
            EngineError: the object store or the disk failed. The folder still has the state of some commit.
        """
        with self._copying:
            for _ in range(_ROUNDS):
                try:
                    return self._copy_files(most)
                except FileNotFoundError:  # deleted since it was listed
                    continue
                except self._caught as error:
                    said = (str(error).splitlines() or [type(error).__name__])[0][:300]
                    raise EngineError(f"LanceDB's files could not be copied to {self._folder}: {said}") from error
            return False

    def close(self) -> None:
        self._worker.stop(5)

    def _look(self) -> float:
        try:
            self.bring_up()
        except EngineError as error:
            if not self._worker.stopping.is_set():
                logger.warning("index.not-copied", extra={"error": str(error)})
        return _LOOK_S

    def _is_behind(self, here: _Here) -> bool:
        """Tell whether there is a next version, or the manifest of this one was deleted (the next one's may be too) or replaced."""
        version = _LAST - int(here.manifest.removeprefix(_VERSIONS).removesuffix(_MANIFEST))
        return self._find_tag(_name_manifest(version + 1)) is not None or self._find_tag(here.manifest) != here.tag

    def _find_tag(self, name: str) -> str | None:
        """Return the tag of an object, which changes when the object is rewritten; None if there is no object."""
        try:
            return str(self._objects.head(self._glance, name)["e_tag"])
        except FileNotFoundError:
            return None

    def _copy_files(self, most: float) -> bool:
        # List the manifest before the files: all files that it names exist by then.
        manifests = [name for name in self._list_objects(_VERSIONS) if _NAMED.fullmatch(name)]
        if not manifests:
            raise EngineError(
                "LanceDB's files cannot be copied: the table has no manifest, or one with a name of the old format"
            )
        newest = min(manifests)
        tag = self._find_tag(newest)
        is_new = self._here is None or self._here[:2] != (newest, tag)
        wanted = {
            name: size
            for name, size in self._list_objects("").items()
            if not name.startswith((_VERSIONS, _TRANSACTIONS))
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        here = {
            path.relative_to(self._folder).as_posix(): path.stat().st_size
            for path in self._folder.rglob("*")
            if path.is_file()
        }
        missing = [name for name, size in wanted.items() if here.get(name) != size]
        new = sum(wanted[name] for name in missing)
        whole = sum(wanted.values())
        if not self._find_room(whole, new):
            self._here = None
            self._delete(here if whole > self._most else here.keys() - wanted.keys())
            return False
        if new > most:
            return False
        begun = time.monotonic()
        with ThreadPoolExecutor(_READERS, thread_name_prefix="index-copy") as readers:
            list(readers.map(self._copy, missing))
        if is_new:
            self._copy(newest)
            # A folder opens as its latest version, but a recreated table may have an earlier one: delete the other manifests.
            self._delete(name for name in here if name.startswith(_VERSIONS) and name != newest)
            self._here = _Here(newest, tag, self._opened(self._folder))
        self._delete(here.keys() - wanted.keys() - {newest})
        if new > _AT_ONCE:
            logger.info("index.copied", extra={"bytes": new, "seconds": round(time.monotonic() - begun, 1)})
        return True

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)
        for path in sorted(self._folder.rglob("*"), reverse=True):
            if path.is_dir():
                with suppress(OSError):  # the folder is not empty
                    path.rmdir()

    def _find_room(self, whole: int, new: int) -> bool:
        """Tell whether the copy may grow to this size; log once if it may not."""
        had, self._has_room = self._has_room, whole <= self._most and new <= disk_usage(self._folder).free - _SPARE
        if had and not self._has_room:
            logger.warning("index.too-large-to-copy", extra={"bytes": whole, "most": self._most, "new": new})
        return self._has_room

    def _list_objects(self, under: str) -> dict[str, int]:
        """Return the sizes of the objects with some prefix, by name."""
        found = self._objects.list(self._there, prefix=under or None, chunk_size=1000)
        return {one["path"]: one["size"] for some in found for one in some}

    def _copy(self, name: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + _PARTIAL)
        with partial.open("wb") as file:
            for part in self._objects.get(self._there, name).stream(min_chunk_size=_PART):
                if self._worker.stopping.is_set():  # else the process could not end before the whole table is copied
                    raise EngineError("the copy was closed")
                file.write(part)
        partial.replace(path)


def _name_manifest(version: int) -> str:
    return f"{_VERSIONS}{_LAST - version:020}{_MANIFEST}"
