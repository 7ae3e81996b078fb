"""
The encrypted data folder: its keys, its sealed files, the journal of its writes, and the in-memory folder with the plain text.

    {home}/encryption.json  salt and wrapped keys; it is useless without the user's key, and the key is useless without it
    {home}/memory.sealed    store, vectors, indexes and the rest as they were at one instant, as one sealed archive
    {home}/journal-N.sealed every write since, from the N-th on

*Guarantees:* plain text is only in memory: in a folder of an in-memory file system that only this user can read, and that
disappears with the process, however the process ends. A write is in the journal before it is applied. A journal is deleted only
after an archive with its writes is on disk. A record that was removed, swapped or copied from elsewhere fails its check, and so
does a truncated archive. A kill at any point of a key change leaves a folder that either the old or the new key opens.

*But:* an attacker who can write to the folder can restore an older state of all of it, or remove the last records of the journal:
nothing outside the folder records its length. An in-memory file system may be swapped out: encrypt the swap, or have none. As in a
plain folder, the last writes may not survive a power cut.

*Source:* AES-256-GCM; keys of files by HKDF-SHA256 with a salt of each file; chunks with a counter and a mark of the last as nonce,
as STREAM has them (Hoang, Reyhanitabar, Rogaway, Vizár 2015); the user's key by scrypt.
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast
from zlib import crc32

from memento.errors import Damaged, GraphError, InputError, SettingsError
from memento.graph.backups import MANIFEST

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HEADER, SEALED = "encryption.json", "memory.sealed"
BACKUP = "backup"
"""The purpose for which the archive of a backup is sealed."""
SHORTEST_KEY = 16
"""Minimum number of characters of a key."""
LONG, LONG_SHARE = 32 * 1024 * 1024, 1.0
"""The journal's size in bytes from which on an archive is due; or this share of the archive's size, if that is more."""

_MAGIC = b"MEMENTO\x01"
_SALT, _ID, _NONCE, _TAG = 16, 8, 12, 16
_CHUNK = 1024 * 1024
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}
_BEGIN = len(_MAGIC) + _ID + _SALT  # the beginning of a sealed file
_HEAD = 16  # length, number and checksum of a record
_MORE, _LAST = b"+", b"."


def make_key() -> str:
    """Create a random key."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def read_key(key: str, key_file: str | Path) -> str:
    """
    Return the given key, or the text of the key file; empty if there is neither.

    Raises:
        SettingsError: the file cannot be read, other users may read it, or the key is too short.
    """
    if not key and str(key_file):
        path = Path(key_file).expanduser()
        try:
            if path.stat().st_mode & 0o077:
                raise SettingsError(f"the key file {path} can be read by others: `chmod 600 {path}`")
            key = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"the key file {path} cannot be read: {error}") from error
        if not key:
            raise SettingsError(f"the key file {path} is empty")
    if key and len(key) < SHORTEST_KEY:
        raise SettingsError(f"a key must have at least {SHORTEST_KEY} characters, not {len(key)}")
    return key


def is_encrypted(home: Path) -> bool:
    """Tell whether a folder, or a backup, is encrypted."""
    return (home / HEADER).is_file()


def is_sealed(path: Path) -> bool:
    """Tell whether a file was written by `Vault.seal_file`."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return False


@dataclass(frozen=True, slots=True)
class _Header:
    """The salt of the user's key, the wrapped keys by name, and the name of the current one; all others are to be replaced."""

    salt: str
    keys: dict[str, str]
    current: str
    format: int = 1


class Vault:
    """The keys of one encrypted folder, and its sealed files. Used by the one process that owns the folder."""

    def __init__(self, home: Path, key: str) -> None:
        """
        Unlock a folder, or a backup.

        Raises:
            SettingsError: the key is wrong.
            Damaged: the file with the keys cannot be read.
        """
        self.home, self.key = home, key
        try:
            header = _Header(**json.loads((home / HEADER).read_text(encoding="utf-8")))
            if header.format != 1:
                raise Damaged(f"{home / HEADER} was written by a newer version: install that one")
            wrapping = _stretch(key, base64.b64decode(header.salt))
            self._keys = {name: _unwrap(wrapping, name, wrapped) for name, wrapped in header.keys.items()}
            self._current = header.current
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise Damaged(f"{home / HEADER} is damaged: put the copy in its place that every backup has") from error
        except _WrongKey as error:
            raise SettingsError(f"the key does not open {home}: nothing was changed") from error
        self.work: Path | None = None
        """The in-memory folder of the plain files; None until `open_work`."""
        self.sequence = 0
        """The number of the last write in the archive."""
        self.journal = Journal(self)
        self._guard: subprocess.Popen[bytes] | None = None

    @classmethod
    def create(cls, home: Path, key: str) -> Vault:
        """Write the file with the keys to a folder that has none, and unlock it."""
        _write_header(home / HEADER, key, {}, _new_id())
        return cls(home, key)

    def start_rotation(self, key: str) -> None:
        """
        Change the key of the folder: only the new one opens it from now on. Call `seal_again` and `finish_rotation` afterwards.

        Raises:
            SettingsError: the new key is the old one.
        """
        if key == self.key:
            raise SettingsError("the new key is the old one: make another with `memento store encrypt --make-key FILE`")
        self._current = _new_id()
        self._keys[self._current] = secrets.token_bytes(32)
        _write_header(self.home / HEADER, key, self._keys, self._current)
        self.key = key

    @property
    def is_rotating(self) -> bool:
        """Whether a change of keys was begun and is not finished."""
        return len(self._keys) > 1

    def finish_rotation(self) -> None:
        """Delete the old keys; every file must have been sealed again."""
        self._keys = {self._current: self._keys[self._current]}
        _write_header(self.home / HEADER, self.key, self._keys, self._current)

    def seal_again(self, path: Path, purpose: str) -> None:
        """Seal a file with the current key if an earlier one sealed it."""
        with path.open("rb") as source:
            if source.read(len(_MAGIC) + _ID)[len(_MAGIC) :].hex() == self._current:
                return
        with self.reading(path, purpose) as plain, self._writing(path, purpose) as sealed:
            shutil.copyfileobj(plain, sealed, _CHUNK)

    def seal_file(self, path: Path, data: bytes, purpose: str) -> None:
        """Write a sealed file, replacing an existing one; readable by this user alone, and on disk when this returns."""
        with self._writing(path, purpose) as target:
            target.write(data)

    def open_file(self, path: Path, purpose: str) -> bytes:
        """Read a sealed file; raises `Damaged` if it was not sealed for that purpose or was changed, and `OSError`."""
        with self.reading(path, purpose) as source:
            return source.read()

    def seal_folder(self, paths: Iterable[Path], target: Path, purpose: str, sequence: int = 0) -> None:
        """Seal files and folders of one folder as one archive, replacing an existing one."""
        with self._writing(target, purpose) as sealed:
            sealed.write(sequence.to_bytes(8, "big"))
            with tarfile.open(fileobj=cast(IO[bytes], sealed), mode="w|", bufsize=_CHUNK) as archive:
                for path in paths:
                    archive.add(path, path.name)

    def unseal_folder(self, source: Path, folder: Path, purpose: str) -> int:
        """
        Write the content of an archive of `seal_folder` to a folder; return the number stored with it.

        Raises:
            Damaged: the archive was changed.
        """
        with self.reading(source, purpose) as plain:
            sequence = int.from_bytes(plain.read(8), "big")
            try:
                with tarfile.open(fileobj=cast(IO[bytes], plain), mode="r|", bufsize=_CHUNK) as archive:
                    archive.extractall(folder, filter="data")
                while plain.read(_CHUNK):  # read to the end, which proves that the archive is complete
                    pass
            except tarfile.TarError as error:
                raise Damaged(f"{source} is damaged: {error}") from error
        return sequence

    def is_sound(self) -> bool:
        """Tell whether the archive can be read to its end."""
        try:
            with self.reading(self.home / SEALED, SEALED) as plain:
                while plain.read(_CHUNK):
                    pass
            return True
        except (OSError, Damaged):
            return False

    # the folder in memory

    def open_work(self, memory: str) -> Path:
        """
        Create the folder in memory, empty; files of a killed process are deleted.

        Args:
            memory: a folder on an in-memory file system.

        Raises:
            SettingsError: there is no such folder, or it is on a disk.
        """
        base = Path(memory).expanduser()
        _raise_if_on_disk(base)
        stem = f"memento-{sha256(str(self.home).encode()).hexdigest()[:12]}"
        try:
            for left in base.glob(f"{stem}-*"):
                shutil.rmtree(left, ignore_errors=True)
            work = base / f"{stem}-{secrets.token_hex(6)}"
            work.mkdir(mode=0o700)
        except OSError as error:
            raise SettingsError(
                f"{base} cannot hold the memory while it is in use: {error.strerror}; name another memory file system "
                "in encryption.memory"
            ) from error
        self._guard = _guard_folder(work)
        self.work = work
        return work

    def fill_folder(self, again: bool = False) -> None:
        """
        Fill the folder in memory from the archive, once; with `again` after its files were lost or fell behind the journal.

        Raises:
            Damaged: the archive was changed.
        """
        if self.work is None or (self._is_loaded and not again):
            return
        for left in self.work.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if (self.home / SEALED).is_file():
            try:
                self.sequence = self.unseal_folder(self.home / SEALED, self.work, SEALED)
            except BaseException:
                for left in self.work.iterdir():
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
                raise
        self.journal.begin(self.sequence)
        self._is_loaded = True

    _is_loaded = False

    def seal(self, paths: Iterable[Path], sequence: int) -> None:
        """Seal the memory as it was after a given write, and delete the journal up to it."""
        self.seal_folder(paths, self.home / SEALED, SEALED, sequence)
        self.sequence = sequence
        self.journal.drop(sequence)

    def copy_to(self, folder: Path) -> None:
        """Copy the sealed memory on disk to another folder, which the same key opens."""
        for path in (self.home / HEADER, self.home / SEALED, *self.journal.segments()):
            if path.is_file():
                shutil.copyfile(path, folder / path.name)
                (folder / path.name).chmod(0o600)

    def seal_backup(self, plain: Path, backup: Path) -> None:
        """Seal the files of a plain backup into an existing folder, with the header needed to open them elsewhere."""
        self.seal_folder((path for path in sorted(plain.iterdir()) if path.name != MANIFEST), backup / SEALED, BACKUP)
        shutil.copy(self.home / HEADER, backup / HEADER)  # with its mode

    def open_backup(self, backup: Path, folder: Path) -> None:
        """Write the files of a sealed backup into a new folder; raise `InputError` if another key sealed it, or it is damaged."""
        try:
            Vault(backup, self.key).unseal_folder(backup / SEALED, folder, BACKUP)
        except (Damaged, SettingsError) as error:
            raise InputError(f"the backup {backup} cannot be opened: {error}") from error

    def close(self) -> None:
        """Delete the folder in memory. You may call this twice."""
        self.journal.close()
        if self.work is not None:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work = None
        if self._guard is not None:
            cast(IO[bytes], self._guard.stdin).close()
            self._guard.wait()
            self._guard = None
        self._is_loaded = False

    # the format of sealed files

    def cipher(self, head: bytes, purpose: str, path: Path) -> AESGCM:
        """
        Return the cipher for the rest of a file after its header.

        Raises:
            Damaged: it is not a sealed file, or was sealed with a key that this folder does not have.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        name, salt = head[len(_MAGIC) : len(_MAGIC) + _ID].hex(), head[len(_MAGIC) + _ID :]
        if not head.startswith(_MAGIC) or len(salt) != _SALT:
            raise Damaged(f"{path} is damaged: it does not begin as a sealed file")
        if name not in self._keys:
            raise Damaged(f"{path} is sealed with a key that {self.home} does not have")
        return AESGCM(HKDF(SHA256(), 32, salt, purpose.encode()).derive(self._keys[name]))

    def new_head(self) -> bytes:
        """Return the header of a new file."""
        return _MAGIC + bytes.fromhex(self._current) + secrets.token_bytes(_SALT)

    @contextmanager
    def reading(self, path: Path, purpose: str) -> Iterator[Unsealing]:
        """Yield the content of a sealed file; raises `Damaged` and `OSError`."""
        with path.open("rb") as source:
            head = source.read(_BEGIN)
            yield Unsealing(source, self.cipher(head, purpose, path), path)

    @contextmanager
    def _writing(self, path: Path, purpose: str) -> Iterator[Sealing]:
        fresh = path.with_name(f"{path.name}.new")
        head = self.new_head()
        try:
            with open(fresh, "wb", opener=_open_private) as target:
                target.write(head)
                sealing = Sealing(target, self.cipher(head, purpose, path))
                yield sealing
                sealing.finish()
                target.flush()
                os.fsync(target.fileno())
            fresh.replace(path)
            _sync_folder(path.parent)
        finally:
            fresh.unlink(missing_ok=True)


class Sealing:
    """Writes a sealed file, a chunk at a time."""

    def __init__(self, target: IO[bytes], cipher: AESGCM) -> None:
        self._target, self._cipher = target, cipher
        self._pending, self._count = bytearray(), 0

    def write(self, data: bytes) -> int:
        """Write some bytes."""
        self._pending += data
        while len(self._pending) > _CHUNK:  # never all: the last chunk is marked as the last
            self._seal(bytes(self._pending[:_CHUNK]), is_last=False)
            del self._pending[:_CHUNK]
        return len(data)

    def finish(self) -> None:
        """Finish the file."""
        self._seal(bytes(self._pending), is_last=True)

    def _seal(self, chunk: bytes, *, is_last: bool) -> None:
        self._target.write(self._cipher.encrypt(_chunk_nonce(self._count, is_last), chunk, None))
        self._count += 1


class Unsealing:
    """Reads a sealed file; raises `Damaged` before it returns a byte that was not sealed there, and if the end is missing."""

    def __init__(self, source: IO[bytes], cipher: AESGCM, path: Path) -> None:
        self._source, self._cipher, self._path = source, cipher, path
        self._ahead = source.read(_CHUNK + _TAG)
        self._plain, self._count = memoryview(b""), 0
        self._is_over = False

    def read(self, size: int = -1) -> bytes:
        """Return that many bytes, or all remaining ones; fewer at the end."""
        parts: list[bytes] = []
        while size and (self._plain or self._open_next()):
            part = self._plain if size < 0 else self._plain[:size]
            parts.append(bytes(part))
            self._plain = self._plain[len(part) :]
            size -= len(part) if size > 0 else 0
        return b"".join(parts)

    def _open_next(self) -> bool:
        from cryptography.exceptions import InvalidTag

        while not self._plain and not self._is_over:
            chunk, self._ahead = self._ahead, self._source.read(_CHUNK + _TAG)
            self._is_over = not self._ahead
            try:
                self._plain = memoryview(self._cipher.decrypt(_chunk_nonce(self._count, self._is_over), chunk, None))
            except (InvalidTag, ValueError) as error:
                raise Damaged(f"{self._path} is damaged: it is not as it was sealed") from error
            self._count += 1
        return bool(self._plain)


class Journal:
    """
    Every write since the last archive, in order. One thread writes at a time.

    An entry is one or more records: the last one marks the entry as complete. Each record has its own nonce, and its number and
    length are bound to it. An incomplete entry that a kill left at the end of the journal is cut off; it was not acknowledged.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.sequence = 0
        """The number of the last record."""
        self.bytes = 0
        """The size of the journal on disk in bytes."""
        self.is_read = False
        """Whether all its writes were applied again since the archive was read."""
        self.on_long: Callable[[], None] = lambda: None
        """Called when the journal has become long."""
        self._file: int | None = None
        self._cipher: AESGCM | None = None
        self._least: float = LONG

    def segments(self) -> list[Path]:
        """List the files, oldest first."""
        found = [path for path in self._vault.home.glob("journal-*.sealed") if re.fullmatch(r"journal-\d+", path.stem)]
        return sorted(found, key=_first_of)

    def begin(self, after: int) -> None:
        """Continue after the archive's last write; call `read` before anything is written."""
        self.close()
        self.sequence, self.bytes, self.is_read = after, 0, False
        self._set_bound()

    def read_entries(self) -> Iterator[bytes]:
        """
        Yield every complete entry that the archive does not contain, and cut off an incomplete one.

        Raises:
            Damaged: a record was changed or is missing.
        """
        self.drop(self._vault.sequence)
        files = self.segments()
        for number, path in enumerate(files):
            if _first_of(path) != self.sequence + 1:
                raise Damaged(
                    f"{path} is damaged: writes {self.sequence + 1} to {_first_of(path) - 1} before it are missing"
                )
            yield from self._read_segment(path, is_last=number == len(files) - 1)
        self.is_read = True

    def _read_segment(self, path: Path, *, is_last: bool) -> Iterator[bytes]:
        from cryptography.exceptions import InvalidTag

        data = path.read_bytes()
        at = _BEGIN
        if len(data) < at and is_last:
            path.unlink()
            return
        cipher = self._vault.cipher(data[:at], path.stem, path)
        whole, parts, sequence = at, [], self.sequence
        while at < len(data):
            head = data[at : at + _HEAD]
            end = at + _HEAD + _NONCE + int.from_bytes(head[:4], "big")
            if len(head) < _HEAD or not any(data[at:]):
                break  # cut off by a kill, or by a power cut before its bytes were on disk
            if (
                int.from_bytes(head[12:], "big") != crc32(head[:12])
                or int.from_bytes(head[4:12], "big") != sequence + 1
            ):
                raise Damaged(f"{path} is damaged: write {sequence + 1} is not where it was written")
            if end > len(data):
                break
            nonce, sealed = data[at + _HEAD : at + _HEAD + _NONCE], data[at + _HEAD + _NONCE : end]
            try:
                plain = cipher.decrypt(nonce, sealed, head)
            except InvalidTag as error:
                raise Damaged(f"{path} is damaged: write {sequence + 1} is not as it was written") from error
            at, sequence = end, sequence + 1
            parts.append(plain[1:])
            if plain[:1] == _LAST:
                self.sequence, whole = sequence, at
                yield b"".join(parts)
                parts = []
        if whole < len(data):
            if not is_last:
                raise Damaged(f"{path} is damaged: its end is missing")
            os.truncate(path, whole)
        self.bytes += whole
        if whole == _BEGIN:
            path.unlink()

    @contextmanager
    def recording(self, entry: bytes | None = None) -> Iterator[Callable[[bytes], None]]:
        """
        Write an entry before the block, and remove it if the block raises; without an entry, write the parts that the block passes.

        Raises:
            OSError: the entry could not be written; the journal is unchanged.
        """
        sequence = self.sequence
        file = self._file if self._file is not None else self._begin_segment()
        place = os.lseek(file, 0, os.SEEK_END)
        try:
            if entry is not None:
                self._append(_LAST + entry)
            yield lambda part: self._append(_MORE + part)
            if entry is None:
                self._append(_LAST)
        except BaseException:
            os.ftruncate(file, place)
            self.sequence, self.bytes = sequence, self.bytes - (self._size - place)
            self._size = place
            raise
        if self.bytes > self._least:
            self.on_long()

    def end_segment(self) -> int:
        """Start a new file for later writes; return the number of the last record before it."""
        self.close()
        return self.sequence

    def skip(self) -> int:
        """Number later writes after everything on disk, readable or not; return the last number before them."""
        firsts = [_first_of(path) for path in self.segments()]
        self.close()
        self.sequence = max([self.sequence, self._vault.sequence, *firsts]) + 1
        return self.sequence

    def drop(self, until: int) -> None:
        """Delete the files whose records are all in an archive."""
        for path in self.segments():
            if _first_of(path) <= until:
                self.bytes = max(0, self.bytes - path.stat().st_size)
                path.unlink()
        self._set_bound()

    def _set_bound(self) -> None:
        archive = self._vault.home / SEALED
        self._least = max(LONG, LONG_SHARE * archive.stat().st_size if archive.is_file() else 0)

    def close(self) -> None:
        """Close the file. You may call this twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            if self._size == _BEGIN:  # its only entry was removed
                self._path.unlink(missing_ok=True)
                self.bytes -= _BEGIN

    _size = 0
    _path = Path()

    def _begin_segment(self) -> int:
        path = self._vault.home / f"journal-{self.sequence + 1}.sealed"
        head = self._vault.new_head()
        # An existing file was not read to its end: it must not be overwritten.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try:
            _write_whole(file, head)
        except BaseException:
            os.close(file)
            path.unlink()
            raise
        self._file, self._path, self._size = file, path, len(head)
        self._cipher = self._vault.cipher(head, path.stem, path)
        self.bytes += len(head)
        return file

    def _append(self, plain: bytes) -> None:
        if self._file is None or self._cipher is None:
            raise GraphError("the journal is closed")
        head = (len(plain) + _TAG).to_bytes(4, "big") + (self.sequence + 1).to_bytes(8, "big")
        head += crc32(head).to_bytes(4, "big")
        nonce = secrets.token_bytes(_NONCE)
        record = head + nonce + self._cipher.encrypt(nonce, plain, head)
        self._size += len(record)
        self.bytes += len(record)
        try:
            _write_whole(self._file, record)
        except OSError as error:
            # Raise it with the engine's words, by which a full disk is recognised.
            raise OSError(f"IO error: the journal cannot be written: {error.strerror}") from error
        self.sequence += 1


class _WrongKey(Exception):
    pass


def _stretch(key: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt, 32, **_SCRYPT).derive(key.encode())


def _unwrap(wrapping: bytes, name: str, wrapped: str) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = base64.b64decode(wrapped)
    try:
        return AESGCM(wrapping).decrypt(data[:_NONCE], data[_NONCE:], name.encode())
    except InvalidTag as error:
        raise _WrongKey from error


def _new_id() -> str:
    return secrets.token_hex(_ID)


def _write_header(path: Path, key: str, keys: dict[str, bytes], current: str) -> None:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt = secrets.token_bytes(_SALT)
    wrapping = AESGCM(_stretch(key, salt))
    wrapped = {}
    for name, plain in (keys or {current: secrets.token_bytes(32)}).items():
        nonce = secrets.token_bytes(_NONCE)
        wrapped[name] = base64.b64encode(nonce + wrapping.encrypt(nonce, plain, name.encode())).decode()
    header = {"format": 1, "salt": base64.b64encode(salt).decode(), "keys": wrapped, "current": current}
    fresh = path.with_name(f"{path.name}.new")
    with open(fresh, "w", encoding="utf-8", opener=_open_private) as target:
        json.dump(header, target)
        target.flush()
        os.fsync(target.fileno())
    fresh.replace(path)
    _sync_folder(path.parent)


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_whole(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _chunk_nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(_NONCE - 1, "big") + bytes([is_last])


def _first_of(segment: Path) -> int:
    return int(segment.stem.partition("-")[2])


def _raise_if_on_disk(base: Path) -> None:
    """Raise `SettingsError` unless a folder is in memory, as far as the system can tell."""
    remedy = (
        "name a folder of a memory file system in encryption.memory (MEMENTO_ENCRYPTION_MEMORY), such as a RAM disk"
    )
    if not base.is_dir():
        raise SettingsError(f"there is no {base} to keep the plain files in while the memory is open: {remedy}")
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return  # this system cannot tell
    place = base.resolve()
    around = [(Path(one[1]), one[2]) for one in mounts if place.is_relative_to(one[1])]
    kind = max(around, key=lambda one: len(one[0].parts), default=(place, ""))[1]
    if kind not in ("tmpfs", "ramfs"):
        raise SettingsError(f"{base} is on a disk ({kind}), where plain text would stay: {remedy}")


def _guard_folder(folder: Path) -> subprocess.Popen[bytes] | None:
    """Start a child process that deletes the folder when this process ends, in any way; None if there is no shell."""
    words = ["/bin/sh", "-c", 'cat >/dev/null; rm -rf -- "$1"', "sh", str(folder)]
    try:
        return subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return None
