"""
Makes a backup while the memory is in use: store and vectors as they were at one instant.

*Guarantees:* a backup is whole or not there: it is made under another name, read to its end, put on disk, and then renamed; only
then does an older one go. Nobody who writes waits longer than the store takes to link its files, which is milliseconds on the
same disk.

*But:* on the same disk the store's files are shared with the running one until either changes them: against a broken disk, back
up to another.
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
    Manifest,
    checksum_files,
    encode_manifest,
    list_backups,
    seal_backup,
    sync_to_disk,
)
from memento.graph.oxigraph import count_quads, find_damage
from memento.graph.store import Store
from memento.model import BackedUp
from memento.ports import Progress
from memento.search.vectors import VectorFile

_PART = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSource:
    """What is backed up: the data folder, its store and its vectors; no one writes while `still` is held."""

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
    Make a backup in a folder, beside those that are there.

    Args:
        keep: how many of the latest to leave there, this one included; None leaves all.
        apart_bytes: up to which size the store's files are copied rather than shared, so that damage to one is no damage to both.
        progress: called with (files summed up, all of them), after everything is copied and read.

    Raises:
        InputError: something else is in the folder, or it cannot be written.
        Damaged: the store's files cannot be read to their end; what is in the folder stays.
        GraphError: the store cannot be backed up.
    """
    final, vault = _prepare_place(folder, at), source.datadir.vault
    sealed = final.with_name(final.name + _PART)
    part = source.datadir.work / sealed.name if vault else sealed
    try:
        part.mkdir(mode=0o700)  # what somebody remembers is nobody else's
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
            seal_backup(part, sealed, vault)
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
    """Copy store and vectors; raises `Damaged` where the store's files cannot be read to their end."""
    _copy_files(part, source)
    if sum(path.stat().st_size for path in (part / "store").iterdir()) <= apart_bytes:
        _unshare_files(part / "store")
    if damage := find_damage(part / "store"):
        raise Damaged(f"no backup was made, and none was removed: the store is damaged: {damage}")


def _write_manifest(made: Manifest, sealed: Path) -> None:
    """Write what a backup holds into it, so that all of it would survive a power cut."""
    (sealed / MANIFEST).touch(mode=0o600)
    (sealed / MANIFEST).write_text(encode_manifest(made), encoding="utf-8")
    sync_to_disk(sealed)


def _prepare_place(folder: Path, at: datetime) -> Path:
    """Make room for the new one; what a killed process left there goes away."""
    try:
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        for left in folder.glob(f"*{_PART}"):
            shutil.rmtree(left)
        others = set(folder.iterdir()) - set(list_backups(folder))
    except OSError as error:
        raise InputError(f"{folder} cannot hold backups: {error.strerror}") from error
    if others:
        raise InputError(
            f"{folder} holds other things, such as {min(others).name!r}: choose a new folder, or one with backups alone"
        )
    return folder / f"{at.strftime('%Y%m%dT%H%M%S.%f')[:-3]}Z"


def _copy_files(part: Path, source: BackupSource) -> None:
    with source.vectors.pin() as pinned:
        with source.still:
            pinned.hold()
            is_erased = source.datadir.erasure_mark.exists()
            if not is_erased:
                source.store.backup(part / "store")
        if is_erased:  # the files still hold text that was erased: only what is stated is taken
            source.store.copy_files(part / "store")
        pinned.copy(part / "vectors.sqlite")
    if source.datadir.settings_file.is_file():
        shutil.copyfile(source.datadir.settings_file, part / "memento.toml")


def _unshare_files(store: Path) -> None:
    """Replace the files that a store shares by copies."""
    for path in store.iterdir():
        if path.stat().st_nlink > 1:
            own = path.with_name(f"{path.name}{_PART}")
            shutil.copyfile(path, own)
            own.replace(path)


def _remove_old(folder: Path, keep: int | None) -> list[Path]:
    """Remove all but the latest: under another name first, so that none is ever half there."""
    gone = [] if keep is None else list_backups(folder)[: -max(keep, 1)]
    for path in gone:
        shutil.rmtree(path.rename(path.with_name(path.name + _PART)))
    return gone
