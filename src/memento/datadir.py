"""
The data folder and who owns it.

    {home}/store/         Oxigraph, the only copy of the data
    {home}/snapshots/     of the store, for the workers that answer SPARQL; hard links, deleted at the end and at the next start
    {home}/bare/          the plain dataset of `memento serve --bare`: store, snapshots, with a lock and an owner
    {home}/vectors.sqlite derived, may be deleted
    {home}/vectors-next.sqlite  new vectors that `memento store migrate` builds to replace it; derived, may be deleted
    {home}/index-copy/    copy of LanceDB's files in an object store (`index.replica_mb`); derived, may be deleted
    {home}/cases/         what the Q functions learned; derived, may be deleted
    {home}/blocks.sqlite  what the proxy inserted into conversations; may be deleted
    {home}/sync.sqlite    digests of what other machines know of the memory; without it this machine joins again as a new one
    {home}/redactions.json how many secrets of which kind were redacted, by namespace; may be deleted
    {home}/captures.jsonl captured turns of sessions that wait to be noted or approved; with a lock; not in backups
    {home}/memento.toml   settings, if any
    {home}/tokens.json    digests of the tokens, if any
    {home}/backups/       backups of the memory, unless another folder is named
    {home}/checkpoints/   backups that a running service makes automatically; the latest few
    {home}/standing-in/   a copy of a backup, read while the store cannot be opened; deleted at the end and at the next start
    {home}/before-restore-… the memory as it was before a backup was restored
    {home}/erased         exists if the store's files still contain text that was erased: they are rewritten at the next start
    {home}/workers/       what each worker of `memento serve --workers` derives from the store; may be deleted
    {home}/memento.lock   held by the owner while its process runs
    {home}/owner.json     who the owner is, and the address of its service

An encrypted folder has `encryption.json`, `memory.sealed` and `journal-N.sealed` instead (`memento.vault`): the store, the
snapshots and everything else in plain text are in an in-memory folder, `work`; tokens and backups are sealed.

If the store is behind an endpoint (`store.kind = "sparql"`), there is no `store/` (docs/scale.md).

*Guarantees:* there is one owner at a time; the lock is released with the process that holds it, however that process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import disk_usage, rmtree
from types import TracebackType
from typing import TYPE_CHECKING

from memento.errors import Damaged, DiskFull, FolderInUse, SettingsError

if TYPE_CHECKING:  # a command that finds a running service needs no vault, and must start quickly
    from filelock import FileLock

    from memento.vault import Journal, Vault


_ROOM_TRIED, _ROOM_LEFT = 1024 * 1024, 4 * 1024 * 1024
"""Bytes written to test whether there is room, and that must still be free afterwards."""


def default_home() -> Path:
    """Return the platform's user data folder for Memento."""
    from platformdirs import user_data_path

    return user_data_path("memento", appauthor=False)


def cache_folder() -> Path:
    """Return the platform's user cache folder for Memento; a caller that writes there creates it."""
    from platformdirs import user_cache_path

    return user_cache_path("memento", appauthor=False)


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that has a data folder open; `address` is set while it serves, and `token` gives every right."""

    pid: int
    command: str
    address: str | None = None
    token: str | None = field(default=None, repr=False)


class DataFolder:
    """One data folder. As a context manager it owns the folder from entry to exit."""

    def __init__(self, path: Path, shared: Path | None = None) -> None:
        """
        Args:
            shared: the folder whose settings, tokens, blocks and captures are used, if several processes serve together.

        Raises:
            SettingsError: the path cannot be a folder, or is not writable.
        """
        self.path = path.expanduser().absolute()
        self._shared = shared
        self.work = self.path
        """The folder of the plain-text files: the folder itself, or an in-memory folder if it is encrypted."""
        self.vault: Vault | None = None
        """The vault that encrypts the folder, once it is unlocked."""
        self._data = self.path
        try:
            self.path.mkdir(parents=True, mode=0o700, exist_ok=True)  # no other user may read a memory
        except OSError as error:
            raise SettingsError(
                f"{self.path} cannot be the data folder: {error.strerror}; choose another folder"
            ) from error

    @cached_property
    def _lock(self) -> FileLock:
        from filelock import FileLock  # imported late: a command that finds a running service never needs it

        return FileLock(self.path / "memento.lock", thread_local=False)

    @property
    def fallback(self) -> Path:
        return self.work / "standing-in"

    def use_fallback(self, *, on: bool) -> None:
        """Use the store, vectors and indexes of the folder `fallback` from now on, or those of the folder itself again."""
        self._data = self.fallback if on else self.work

    @property
    def is_encrypted(self) -> bool:
        from memento.vault import is_encrypted

        return is_encrypted(self.path)

    def unlock(self, key: str, *, required: bool = False) -> Vault | None:
        """
        Unlock an encrypted folder, or encrypt an empty one; does nothing if there is no key and none is needed.

        Args:
            required: whether the folder must be encrypted.

        Raises:
            SettingsError: the folder is encrypted and the key is missing or wrong, or the folder is not encrypted and there is a
            key.
        """
        from memento.vault import SEALED, Vault

        if not key:
            if self.is_encrypted:
                raise SettingsError(
                    f"{self.path} is encrypted: give its key in MEMENTO_ENCRYPTION_KEY or with --key-file FILE; "
                    "`memento store decrypt` makes it a plain folder"
                )
            if required:
                raise SettingsError("--encrypted takes a key, in MEMENTO_ENCRYPTION_KEY or with --key-file FILE")
            if (self.path / SEALED).is_file() and not self.has_plain_files():
                raise Damaged(
                    f"{self.path} has a sealed memory, and the file encryption.json with its keys is missing: "
                    "put the copy in its place that every backup has"
                )
            return None
        if not self.is_encrypted:
            if self.has_plain_files():
                raise SettingsError(
                    f"{self.path} is not encrypted, and a key was given: `memento store encrypt` converts the folder; "
                    "without MEMENTO_ENCRYPTION_KEY and --key-file it is opened as it is"
                )
            self.vault = Vault.create(self.path, key)
        else:
            self.vault = Vault(self.path, key)
        return self.vault

    def has_plain_files(self) -> bool:
        """Tell whether the folder contains a memory in plain text."""
        return any(any(place.iterdir()) for place in (self.path / "store", self.bare) if place.is_dir())

    def open_work(self, memory: str) -> None:
        """
        Work in a folder in memory from now on, if the folder was unlocked; raises `SettingsError` if `memory` cannot be used.

        Args:
            memory: a folder on an in-memory file system.
        """
        if self.vault is not None:
            self.work = self._data = self.vault.open_work(memory)

    @property
    def journal(self) -> Journal | None:
        """The journal of writes of an encrypted folder; None while another store is read in its place."""
        return self.vault.journal if self.vault is not None and self._data == self.work else None

    @property
    def store(self) -> Path:
        return self._data / "store"

    @property
    def snapshots(self) -> Path:
        return self.work / "snapshots"

    @property
    def index_copy(self) -> Path | None:
        """The folder for a copy of an engine's files in an object store; None in an encrypted folder."""
        return None if self.vault is not None else self.work / "index-copy"

    @property
    def bare(self) -> Path:
        return self.path / "bare"

    @property
    def vectors(self) -> Path:
        return self._data / "vectors.sqlite"

    @property
    def next_vectors(self) -> Path:
        return self._data / "vectors-next.sqlite"

    @property
    def indexes(self) -> Path:
        return self._data / "indexes"

    @property
    def weights(self) -> Path:
        return self.work / "cases"

    @property
    def blocks(self) -> Path:
        return (self._shared or self.work) / "blocks.sqlite"

    def delete_blocks(self) -> None:
        """Delete the proxy's cache of blocks; raises `OSError`."""
        for suffix in ("", "-wal", "-shm"):
            self.blocks.with_name(self.blocks.name + suffix).unlink(missing_ok=True)

    @property
    def erasure_mark(self) -> Path:
        return (self.path if self.vault else self._data) / "erased"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def redactions(self) -> Path:
        return self.work / "redactions.json"

    @property
    def captures(self) -> Path:
        return (self._shared or self.work) / "captures.jsonl"

    @property
    def tokens(self) -> Path:
        return (self._shared or self.path) / "tokens.json"

    @property
    def is_of_worker(self) -> bool:
        """Whether it is the folder of one of several processes that serve another one."""
        return self._shared is not None

    @property
    def workers(self) -> Path:
        """The folder that contains one folder for each worker process, named by its number."""
        return self.path / "workers"

    def adopt_erasures(self) -> None:
        """Record erasures by workers for the owner of the folder, who alone can rewrite its files."""
        for mark in self.workers.glob(f"*/{self.erasure_mark.name}"):
            self.erasure_mark.touch()
            rmtree(mark.with_name("replica"), ignore_errors=True)
            mark.unlink(missing_ok=True)
        for copy in self.workers.glob("*/index-copy"):
            rmtree(copy, ignore_errors=True)

    @property
    def settings_file(self) -> Path:
        return (self._shared or self.path) / "memento.toml"

    def acquire(self, command: str, wait_s: float = 0.0) -> None:
        """
        Become the owner of the folder.

        Args:
            command: the name of this process for others, such as `memento serve`.
            wait_s: seconds to wait for the current owner to finish.

        Raises:
            FolderInUse: another process owns the folder; names it.
            SettingsError: the folder cannot be written.
            DiskFull: its disk has no room left.
        """
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=wait_s)
        except Timeout as error:
            raise FolderInUse(f"{self.path} is in use by {self._describe_owner(self.read_owner())}") from error
        except OSError as error:
            if error.errno in DiskFull.errors:
                raise DiskFull(self.path) from error
            raise SettingsError(f"{self.path} cannot be written: {error.strerror}; choose another folder") from error
        self._close_to_others()
        self.publish(Owner(pid=os.getpid(), command=command))

    def _close_to_others(self) -> None:
        """Restrict the folder and its files to this user: an earlier version, a copy or a restore may have left them readable."""
        for path in (self.path, *self.path.iterdir()):
            with contextlib.suppress(OSError):  # a file of another user stays as it is
                mode = path.stat().st_mode
                if mode & 0o077 and not (mode & stat.S_ISVTX or path.is_symlink()):
                    path.chmod(mode & ~0o077)

    def has_room(self) -> bool:
        """Tell whether a few files can be written in the folder."""
        probe = self.path / "room.new"
        try:
            probe.write_bytes(bytes(_ROOM_TRIED))
            return disk_usage(self.path).free >= _ROOM_LEFT
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                probe.unlink(missing_ok=True)

    def publish(self, owner: Owner) -> None:
        """Publish who owns the folder and where the service answers; readable by this user alone."""
        fresh = self.path / "owner.json.new"
        fresh.touch(mode=0o600)
        fresh.chmod(0o600)  # before the token is written, whatever an earlier process left here
        fresh.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        fresh.replace(self.path / "owner.json")

    def read_owner(self) -> Owner | None:
        """Read the last writer of `owner.json`, or None if there is none or it cannot be read; the process may have ended."""
        try:
            return Owner(**json.loads((self.path / "owner.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def is_open(self) -> bool:
        """Tell whether a live process has the folder open."""
        return self._is_locked()

    def serving_owner(self) -> Owner | None:
        """Return the owner if it is another live process that serves."""
        owner = self.read_owner()
        return owner if owner and owner.address and self._is_locked() else None

    def _is_locked(self) -> bool:
        """
        Tell whether a live process holds the lock, without importing the lock library, which takes as long as the check itself.
        """
        try:
            import fcntl
        except ImportError:
            return not self._could_lock()
        try:
            with (self.path / "memento.lock").open("rb+") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _could_lock(self) -> bool:
        from filelock import Timeout

        try:
            with self._lock.acquire(timeout=0):
                return True
        except Timeout:
            return False

    def release(self) -> None:
        """Give up ownership; does nothing if this process is not the owner."""
        if self.vault is not None:
            self.vault.close()
            self.work = self._data = self.path
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                (self.path / "owner.json").unlink(missing_ok=True)
            self._lock.release()

    def __enter__(self) -> DataFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @staticmethod
    def _describe_owner(owner: Owner | None) -> str:
        if owner is None:
            return "another process"
        where = f" at {owner.address}" if owner.address else ""
        return f"`{owner.command}` (process {owner.pid}){where}"
