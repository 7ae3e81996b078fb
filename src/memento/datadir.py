"""
The data folder and who owns it.

    {home}/store/         Oxigraph, the only copy of the data
    {home}/snapshots/     of the store, for the workers that answer SPARQL; hard links, deleted at the end and at the next start
    {home}/vectors.sqlite derived, may be deleted
    {home}/vectors-next.sqlite  new vectors that `memento store migrate` builds to replace it; derived, may be deleted
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
    {home}/memento.lock   held by the owner while its process runs
    {home}/owner.json     who the owner is, and the address of its service

A folder that a plug-in protects has sealed files instead (`Vault`): the store, the snapshots and everything else in plain text are
in an in-memory folder, `work`; tokens and backups are sealed.

If the store is behind an endpoint (`store.kind = "sparql"`), there is no `store/` (docs/scale.md).

*Guarantees:* there is one owner at a time; the lock is released with the process that holds it, however that process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import disk_usage, rmtree
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from memento import plugin
from memento.errors import DiskFull, FolderInUse, SettingsError

if TYPE_CHECKING:  # a command that finds a running service must start quickly
    from filelock import FileLock


class Journal(Protocol):
    """Every write since the last archive of a protected folder, in order. One thread writes at a time."""

    sequence: int
    """The number of the last record."""
    is_read: bool
    """Whether all its writes were applied again since the archive was read."""
    on_long: Callable[[], None]
    """Called when an archive is due."""

    def segments(self) -> list[Path]:
        """List its files, oldest first."""

    def read_entries(self) -> Iterator[bytes]:
        """Yield every complete entry that the archive does not contain; raise `Damaged` if one was changed or is missing."""

    def recording(self, entry: bytes | None = None) -> AbstractContextManager[Callable[[bytes], None]]:
        """Write an entry before the block, and remove it if the block raises; without an entry, write what the block passes."""

    def end_segment(self) -> int:
        """Start a new file for later writes; return the number of the last record before it."""

    def skip(self) -> int:
        """Number later writes after everything on disk, readable or not; return the last number before them."""


class Vault(Protocol):
    """What a plug-in protects a data folder with: it seals the plain files, which are in memory while the folder is open."""

    sequence: int
    """The number of the last write in the archive."""

    @property
    def journal(self) -> Journal: ...

    def fill_folder(self, again: bool = False) -> None:
        """Fill the folder in memory from the archive, once; with `again` after its files were lost or fell behind the journal."""

    def seal(self, paths: Iterable[Path], sequence: int) -> None:
        """Seal the memory as it was after a given write, and delete the journal up to it."""

    def is_sound(self) -> bool:
        """Tell whether the archive can be read to its end."""

    def copy_to(self, folder: Path) -> None:
        """Copy the sealed memory on disk to another folder, which the same key opens."""

    def seal_file(self, path: Path, data: bytes, purpose: str) -> None:
        """Write a sealed file, replacing an existing one."""

    def open_file(self, path: Path, purpose: str) -> bytes:
        """Read a sealed file; raise `Damaged` if it was not sealed for that purpose or was changed, and `OSError`."""

    def seal_backup(self, plain: Path, backup: Path) -> None:
        """Seal the files of a plain backup into an existing folder, with what is needed to open them elsewhere."""

    def open_backup(self, backup: Path, folder: Path) -> None:
        """Write the files of a sealed backup into a new folder; raise `InputError` if its key is another one, or it is damaged."""

    def close(self) -> None:
        """Delete the folder in memory. You may call this twice."""


def find_protector(folder: Path) -> str:
    """Return the plug-in that protects a data folder or a backup, by the file that it has there; empty for a plain one."""
    return next((of for name, of in plugin.name_owners("protects").items() if (folder / name).is_file()), "")


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


def replace_file(path: Path, text: str, *, mode: int = 0o600, sync: bool = True) -> None:
    """
    Replace a file atomically; at no moment may more users read it than `mode` allows.

    Args:
        sync: it is on disk when this returns, and survives a power cut.

    Raises:
        OSError: it cannot be written; the file is as before.
    """
    fresh = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        fresh.chmod(mode)  # whatever an earlier process left here
        file.write(text.encode("utf-8", "replace"))
        if sync:
            file.flush()
            os.fsync(file.fileno())
    fresh.replace(path)


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that has a data folder open; `address` is set while it serves, and `token` gives every right."""

    pid: int
    command: str
    address: str | None = None
    token: str | None = field(default=None, repr=False)


class DataFolder:
    """One data folder. As a context manager it owns the folder from entry to exit."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            SettingsError: the path cannot be a folder, or is not writable.
        """
        self.path = path.expanduser().absolute()
        self.work = self.path
        """The folder of the plain-text files: the folder itself, or an in-memory folder if it is encrypted."""
        self.vault: Vault | None = None
        """The vault of a protected folder, once it is unlocked."""
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
        return bool(find_protector(self.path))

    def work_in(self, folder: Path) -> None:
        """Work in a folder in memory from now on, which has the plain files of a protected one."""
        self.work = self._data = folder

    def has_plain_files(self) -> bool:
        """Tell whether the folder contains a memory in plain text."""
        return any(any(place.iterdir()) for place in (self.path / "store", self.path / "bare") if place.is_dir())

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
        return self.work / "blocks.sqlite"

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
        return self.work / "captures.jsonl"

    @property
    def tokens(self) -> Path:
        return self.path / "tokens.json"

    def drop_outdated(self) -> None:
        """
        Delete what earlier versions kept here beside the store, and which may contain erased texts: copies of an engine's files,
        and the folders of worker processes. An erasure that one of these noted is noted for the folder.
        """
        if any(self.path.glob(f"workers/*/{self.erasure_mark.name}")):
            self.erasure_mark.touch()
        for name in ("workers", "index-copy"):
            rmtree(self.path / name, ignore_errors=True)

    @property
    def settings_file(self) -> Path:
        return self.path / "memento.toml"

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
        replace_file(self.path / "owner.json", json.dumps(asdict(owner)), sync=False)

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
