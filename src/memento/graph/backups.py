"""
Backups as folders on disk: their manifests, restoring one, and reading one as a fallback while the store is damaged.

A backup is FOLDER/TIME/{manifest.json, store/, vectors.sqlite, memento.toml}; `archive/backup.py` makes it. The backup of an
encrypted folder keeps these files in one sealed archive: FOLDER/TIME/{manifest.json, memory.sealed, encryption.json}.

*Guarantees:* a backup is verified before any file is touched. A kill at any point of a restore leaves either the old memory or the
restored one: once the new files are ready beside the old ones, a mark says so, and the next process that opens the folder finishes
the restore. A fallback reads a copy of a backup: neither the damaged store nor the backup is written to.

*Flow:* `prepare_restore` (verify, copy) → `begin_restore` (mark) → `finish_restore` (move old files aside and new ones in, delete
the mark). `use_fallback` (the newest intact backup → {home}/standing-in) → `drop_fallback` (back to the folder itself).

*Because:* a backup has no tokens: it may be stored where it is less protected, and restoring it must not make revoked tokens valid
again. Nor has it the proxy's blocks, which can be rebuilt: an erased text would survive in them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any

from memento.datadir import DataFolder, Vault, find_protector, replace_file
from memento.errors import Damaged, GraphError, InputError, NotFound
from memento.graph.oxigraph import Oxigraph
from memento.model import Degraded, Restored
from memento.ports import Progress

logger = logging.getLogger(__name__)

FORMAT = 1
"""Increase it when the content of a backup changes."""
MANIFEST = "manifest.json"

PART = ".part"
"""The end of the name of a backup that is being made or removed."""
_TIME = re.compile(r"\d{8}T\d{6}\.\d{3}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    `memento` is the version that made it, `at` the time. `statements` counts the statements of the store, and `vectors` the nodes
    that have vectors, made by the embedder with this `fingerprint`. `files` maps paths within the backup to length and SHA-256.
    """

    format: int
    memento: str
    at: str
    statements: int
    vectors: int
    fingerprint: str
    files: Mapping[str, tuple[int, str]]

    @property
    def bytes(self) -> int:
        """The bytes that it takes if it shares no files."""
        return sum(length for length, _ in self.files.values())


def parse_backup_time(backup: Path) -> datetime:
    """
    Parse the time of a backup from its name.

    >>> parse_backup_time(Path("/mnt/20260301T090000.250Z")).isoformat()
    '2026-03-01T09:00:00.250000+00:00'
    """
    return datetime.strptime(backup.name, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)


def list_backups(folder: Path) -> list[Path]:
    """List the complete backups in a folder, oldest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if _TIME.fullmatch(path.name) and (path / MANIFEST).is_file())


def discard_unfinished(folder: Path) -> None:
    """
    Delete what a killed process left of backups that it made or removed; their text may have been erased since.

    Raises:
        GraphError: one could not be deleted.
    """
    try:
        for path in folder.glob(f"*{PART}"):
            remove_path(path)
    except OSError as error:
        raise GraphError(f"{folder} has an unfinished backup that cannot be deleted: {error.strerror}") from error


def choose_backup(folder: Path) -> Path:
    """
    Choose the backup that a folder is, or the latest one in it.

    Raises:
        NotFound: the folder is no backup and has none.
    """
    if (folder / MANIFEST).is_file():
        return folder
    found = list_backups(folder)
    if not found:
        raise NotFound(f"{folder} has no backup in it: `memento backup {folder}` makes one")
    return found[-1]


def checksum_files(files: Path, progress: Progress | None = None) -> dict[str, tuple[int, str]]:
    """Return length and checksum of every file below a folder, by its relative path; progress counts files."""
    found = {}
    paths = [path for path in sorted(files.rglob("*")) if path.is_file()]
    for number, path in enumerate(paths, start=1):
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        found[path.relative_to(files).as_posix()] = (path.stat().st_size, digest)
        if progress:
            progress(number, len(paths))
    return found


def encode_manifest(manifest: Manifest) -> str:
    """Encode `manifest.json`."""
    return json.dumps(asdict(manifest), indent=1)


def verify_backup(backup: Path, progress: Progress | None = None) -> Manifest:
    """
    Read the manifest of a backup and verify every file in it.

    Raises:
        InputError: it is damaged, or was made by a newer version than this one; the message names the file.
    """
    try:
        fields = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        made_by, newest = fields.get("format"), fields.get("memento")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"the backup {backup} is damaged: {MANIFEST} cannot be read") from error
    if not isinstance(made_by, int) or made_by > FORMAT:
        raise InputError(
            f"the backup {backup} was made by Memento {newest}, which is newer: install that version first"
        )
    try:
        files = {str(name): (int(length), str(digest)) for name, (length, digest) in fields.pop("files").items()}
        manifest = Manifest(**fields, files=files)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"the backup {backup} is damaged: {MANIFEST} does not say what it should") from error
    found = checksum_files(backup, progress)
    found.pop(MANIFEST, None)
    if wrong := sorted({name for name in found.keys() | files.keys() if found.get(name) != files.get(name)}):
        raise InputError(
            f"the backup {backup} is damaged: {wrong[0]} is not as it was ({len(wrong)} of {len(files)} files)"
        )
    return manifest


MADE = (
    "store",
    "indexes",
    *(f"{name}.sqlite{end}" for name in ("vectors", "vectors-next", "blocks") for end in ("", "-wal", "-shm")),
)
"""The files of a memory in a folder, and those derived from it."""
KEPT = (*MADE, "cases", "redactions.json", "captures.jsonl")
"""The files in the archive of a protected folder."""
_OLD = (*MADE, "erased")
"""The files that a restore moves aside; settings and tokens stay."""
_NEW = ("store", "vectors.sqlite", "memento.toml")
_READY, _MARK = "restore.new", "restore.json"


def prepare_restore(folder: Path, datadir: DataFolder, at: datetime, progress: Progress | None = None) -> Restored:
    """
    Verify a backup, or the latest in a folder, and copy its files for `begin_restore`; existing files stay untouched.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged or newer than this version, or there is no room.
    """
    backup = choose_backup(folder)
    manifest = verify_backup(backup, progress)
    ready, aside = datadir.work / _READY, datadir.path / f"before-restore-{at.strftime('%Y%m%dT%H%M%S.%f')[:-3]}Z"
    try:
        copy_backup(backup, ready, datadir.vault)
        if datadir.settings_file.is_file():
            (ready / "memento.toml").unlink(missing_ok=True)
        sync_to_disk(ready)
    except OSError as error:
        shutil.rmtree(ready, ignore_errors=True)
        raise InputError(f"{datadir.path} has no room for the backup: {error.strerror}") from error
    return Restored(folder=str(backup), statements=manifest.statements, vectors=manifest.vectors, aside=str(aside))


def copy_backup(backup: Path, folder: Path, vault: Vault | None) -> None:
    """
    Copy the store, vectors and settings of a backup into a folder; everything else in the folder is deleted.

    Args:
        vault: of the data folder; its key opens an encrypted backup.

    Raises:
        OSError: there is no room.
        InputError: the backup is encrypted, but the folder is not, or has another key.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if not find_protector(backup):
        shutil.copytree(backup / "store", folder / "store", copy_function=_link_or_copy)
        for name in ("vectors.sqlite", "memento.toml"):
            if (backup / name).is_file():
                shutil.copyfile(backup / name, folder / name)
        return
    if vault is None:
        raise InputError(
            f"the backup {backup} is encrypted: restore it into an encrypted folder, which a new one becomes with a key in "
            "MEMENTO_ENCRYPTION_KEY or --key-file; `memento store decrypt` makes that a plain one"
        )
    folder.mkdir(mode=0o700)
    vault.open_backup(backup, folder)


def begin_restore(datadir: DataFolder, restored: Restored) -> None:
    """Put the prepared files in the place of the current ones; no process may have the store open."""
    if datadir.vault is not None:
        _replace_sealed(datadir, datadir.vault, Path(str(restored.aside)))
        return
    write_mark(datadir, {"aside": Path(str(restored.aside)).name, "is_aside": False})
    finish_restore(datadir)


def _replace_sealed(datadir: DataFolder, vault: Vault, aside: Path) -> None:
    """Make the prepared memory the current one; the switch happens when its archive gets its final name."""
    aside.mkdir(mode=0o700, exist_ok=True)
    vault.copy_to(aside)
    for name in _OLD:
        remove_path(datadir.work / name)
    for name in _NEW:
        if (datadir.work / _READY / name).exists():
            (datadir.work / _READY / name).rename(datadir.work / name)
    shutil.rmtree(datadir.work / _READY)
    if (settings := datadir.work / "memento.toml").is_file():
        shutil.move(settings, datadir.settings_file)
    datadir.erasure_mark.unlink(missing_ok=True)
    vault.journal.skip()
    seal_closed(datadir)


def seal_closed(datadir: DataFolder) -> None:
    """Seal the memory of an encrypted folder that no process has open; do nothing for a plain one."""
    if datadir.vault is not None:
        found = [path for name in KEPT if (path := datadir.work / name).exists()]
        datadir.vault.seal(found, datadir.vault.journal.end_segment())


def remove_path(path: Path) -> None:
    """Remove a file or a folder; do nothing if it does not exist."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def finish_restore(datadir: DataFolder) -> None:
    """
    Finish a restore if a mark says that one has begun. No process may have the store open.

    Raises:
        GraphError: a file could not be moved; the next process that opens the folder tries again.
    """
    try:
        mark = json.loads((datadir.path / _MARK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    try:
        _move_files(datadir, mark)
    except OSError as error:
        raise GraphError(f"{datadir.path}: the backup is not in its place yet: {error}") from error


def _move_files(datadir: DataFolder, mark: dict[str, Any]) -> None:
    ready, aside = datadir.path / _READY, datadir.path / mark["aside"]
    if not mark["is_aside"]:
        aside.mkdir(mode=0o700, exist_ok=True)
        for name in _OLD:
            if (datadir.path / name).exists():
                (datadir.path / name).rename(aside / name)
        write_mark(datadir, {**mark, "is_aside": True})
    for name in _NEW:
        if (ready / name).exists():
            (ready / name).rename(datadir.path / name)
    shutil.rmtree(ready, ignore_errors=True)
    (datadir.path / _MARK).unlink()
    sync_to_disk(datadir.path, deep=False)


def write_mark(datadir: DataFolder, mark: dict[str, object]) -> None:
    """Record how far a restore has come; it is on disk when this returns."""
    replace_file(datadir.path / _MARK, json.dumps(mark))
    sync_to_disk(datadir.path, deep=False)


def _link_or_copy(source: str, target: str) -> None:
    """Link a table of the store, which is never changed after it is written; copy other files, which are appended to."""
    try:
        if not source.endswith(".sst"):
            raise OSError
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def use_fallback(datadir: DataFolder, damage: Damaged) -> Degraded:
    """
    Read the newest complete backup of the folder instead of the store.

    Raises:
        Damaged: there is no such backup.
    """
    unfit = []
    for backup in list_all_backups(datadir):
        try:
            manifest = verify_backup(backup)
            copy_backup(backup, datadir.fallback, datadir.vault)
        except (InputError, OSError) as error:
            logger.warning("backup.unfit", extra={"folder": str(backup), "error": type(error).__name__})
            unfit.append(str(error))
            continue
        datadir.use_fallback(on=True)
        logger.error("store.damaged", extra={"stands-in": str(backup)})
        return Degraded(reason=str(damage), backup=str(backup), at=manifest.at)
    none = f"no backup of it is in {datadir.path}"
    why = f"none of the {len(unfit)} in {datadir.path} fits: {'; '.join(unfit)}" if unfit else none
    raise Damaged(f"{damage}, and {why}. {explain_way_out(datadir)}") from damage


def explain_way_out(datadir: DataFolder) -> str:
    """Explain what to do when neither the store nor a backup in the folder can be read."""
    return (
        "Put a backup of another disk or machine in its place with `memento restore FOLDER`; or move "
        f"{datadir.path} away to begin with an empty memory, into which `memento import` brings an export"
    )


def drop_fallback(datadir: DataFolder) -> None:
    """Go back to the folder itself and delete the copy; no process may have it open. Do nothing if there is no copy."""
    datadir.use_fallback(on=False)
    shutil.rmtree(datadir.fallback, ignore_errors=True)


def choose_usual_backup(datadir: DataFolder) -> Path:
    """
    Choose the backup to use if none is named: the fallback of a store that cannot be opened; otherwise the latest one that a user
    made, or the latest checkpoint.
    """
    found = list_all_backups(datadir)
    if not found or (is_store_sound(datadir) and list_backups(datadir.backups)):
        return datadir.backups
    return found[0]


def is_store_sound(datadir: DataFolder) -> bool:
    """Tell whether a store can be opened; no process may have its folder open."""
    if datadir.vault is not None:
        return datadir.vault.is_sound()
    try:
        Oxigraph.read_only(datadir.path / "store")
    except GraphError:
        return False
    return True


def list_all_backups(datadir: DataFolder) -> list[Path]:
    """List all backups in a data folder, newest first: checkpoints and those that users made."""
    found = [*list_backups(datadir.backups), *list_backups(datadir.checkpoints)]
    return sorted(found, key=lambda path: path.name, reverse=True)


def sync_to_disk(folder: Path, *, deep: bool = True) -> None:
    """Flush a folder and its contents to disk, so that they survive a power cut."""
    for path in [*(folder.rglob("*") if deep else ()), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def discard_backups(folder: Path) -> None:
    """
    Delete every complete backup in a folder.

    Raises:
        GraphError: one could not be deleted.
    """
    try:
        for path in list_backups(folder):
            shutil.rmtree(path)
    except OSError as error:
        raise GraphError(f"{folder} still holds what was to be erased: delete it") from error
