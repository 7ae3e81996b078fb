"""
Makes a backup during use: store and vectors as of one instant.

*Guarantees:* a backup is complete or does not exist: it is made under a temporary name, read completely, flushed to disk, and then
renamed; only then is an older one deleted. Writers wait only while the store links its files, which takes milliseconds on the same
disk.

*But:* on the same disk a backup shares its files with the running store until either changes them: to be safe from a broken disk,
back up to another one.
"""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memento.assets import VERSION
from memento.datadir import DataFolder
from memento.errors import Damaged, InputError
from memento.graph.backups import (
    FORMAT,
    MANIFEST,
    PART,
    Manifest,
    checksum_files,
    encode_manifest,
    list_backups,
    sync_to_disk,
)
from memento.graph.oxigraph import count_quads, find_damage
from memento.graph.store import Store
from memento.model import BackedUp
from memento.ports import Progress
from memento.search.vectors import VectorFile


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSource:
    """What to back up: the data folder, its store and its vectors; no one writes while `still` is held."""

    datadir: DataFolder
    store: Store
    vectors: VectorFile
    fingerprint: str
    still: AbstractContextManager[object]


def make_backup(
    folder: Path,
    source: BackupSource,
    at: datetime,
    keep: int | None,
    *,
    apart_bytes: int = 0,
    progress: Progress | None = None,
) -> BackedUp:
    """
    Make a backup in a folder, beside earlier ones.

    Args:
        keep: how many of the latest to keep, including this one; None keeps all.
        apart_bytes: up to this size the store's files are copied, not shared, so that damage to one does not affect the other.
        progress: called with (checksummed files, all files) after everything is copied and read.

    Raises:
        InputError: the folder contains something else, or is not writable.
        Damaged: the store's files cannot be read completely; existing backups stay.
        GraphError: the store cannot be backed up.
    """
    final, vault = _prepare_place(folder, at), source.datadir.vault
    sealed = final.with_name(final.name + PART)
    part = source.datadir.work / sealed.name if vault else sealed
    try:
        part.mkdir(mode=0o700)  # a memory is private to its owner
        _copy_sound_files(part, source, apart_bytes)
        made = Manifest(
            format=FORMAT,
            memento=VERSION,
            at=at.isoformat(),
            statements=count_quads(part / "store"),
            vectors=VectorFile.count_nodes(part / "vectors.sqlite"),
            fingerprint=source.fingerprint,
            files={},
        )
        if vault:
            sealed.mkdir(mode=0o700)
            vault.seal_backup(part, sealed)
        made = replace(made, files=checksum_files(sealed, progress))
        _write_manifest(made, sealed)
        sealed.rename(final)
        sync_to_disk(folder, deep=False)
        removed = _remove_old(folder, keep)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        for left in {part, sealed}:
            shutil.rmtree(left, ignore_errors=True)
    return BackedUp(
        folder=str(final),
        bytes=made.bytes,
        statements=made.statements,
        vectors=made.vectors,
        removed=tuple(str(path) for path in removed),
    )


def _copy_sound_files(part: Path, source: BackupSource, apart_bytes: int) -> None:
    """Copy store and vectors; raise `Damaged` if the store's files cannot be read completely."""
    _copy_files(part, source)
    if sum(path.stat().st_size for path in (part / "store").iterdir()) <= apart_bytes:
        _unshare_files(part / "store")
    if damage := find_damage(part / "store"):
        raise Damaged(f"no backup was made, and none was removed: the store is damaged: {damage}")


def _write_manifest(made: Manifest, sealed: Path) -> None:
    """Write the manifest, and flush the backup so that it survives a power cut."""
    (sealed / MANIFEST).touch(mode=0o600)
    (sealed / MANIFEST).write_text(encode_manifest(made), encoding="utf-8")
    sync_to_disk(sealed)


def _prepare_place(folder: Path, at: datetime) -> Path:
    """Create the folder for a new backup; delete what a killed process left."""
    try:
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        for left in folder.glob(f"*{PART}"):
            shutil.rmtree(left)
        others = set(folder.iterdir()) - set(list_backups(folder))
    except OSError as error:
        raise InputError(f"{folder} cannot hold backups: {error.strerror}") from error
    if others:
        raise InputError(
            f"{folder} contains other files, such as {min(others).name!r}: choose a new folder, or one that contains only backups"
        )
    return folder / f"{at.strftime('%Y%m%dT%H%M%S.%f')[:-3]}Z"


def _copy_files(part: Path, source: BackupSource) -> None:
    with source.vectors.pin() as pinned:
        with source.still:
            pinned.hold()
            is_erased = source.datadir.erasure_mark.exists()
            if not is_erased:
                source.store.backup(part / "store")
        if is_erased:  # the files still contain erased text: rewrite them with only the quads
            source.store.copy_files(part / "store")
        pinned.copy(part / "vectors.sqlite")
    if source.datadir.settings_file.is_file():
        shutil.copyfile(source.datadir.settings_file, part / "memento.toml")


def _unshare_files(store: Path) -> None:
    """Replace the files that a store shares by copies."""
    for path in store.iterdir():
        if path.stat().st_nlink > 1:
            own = path.with_name(f"{path.name}{PART}")
            shutil.copyfile(path, own)
            own.replace(path)


def _remove_old(folder: Path, keep: int | None) -> list[Path]:
    """Remove all but the latest backups; each is renamed first, so that no incomplete one is ever visible."""
    gone = [] if keep is None else list_backups(folder)[: -max(keep, 1)]
    for path in gone:
        shutil.rmtree(path.rename(path.with_name(path.name + PART)))
    return gone
