"""
Encrypts a plain data folder, decrypts an encrypted one, and changes its key; no process may have the folder open.

*Guarantees:* each of these takes effect at one instant, when a file gets or loses its name: a kill before that leaves the folder as
it was, and after that the next start finishes the rest: `unlock_folder` deletes remaining plain files, and seals with the new key
what is sealed with the old one.

*But:* a disk may keep the content of deleted files. Backups in other folders stay as they are.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memento.access import TOKENS
from memento.backends import bring_into_memory
from memento.datadir import DataFolder
from memento.errors import Damaged, InputError, MementoError, SettingsError
from memento.graph.backups import (
    KEPT,
    MANIFEST,
    checksum_files,
    copy_backup,
    discard_unfinished,
    encode_manifest,
    finish_restore,
    list_backups,
    remove_path,
    seal_closed,
    sync_to_disk,
    verify_backup,
)
from memento.graph.oxigraph import Oxigraph, finish_rewriting, rewrite, wait_until_released
from memento.plugins.guard.nouns import Converted
from memento.plugins.guard.settings import EncryptionSettings
from memento.plugins.guard.vault import BACKUP, HEADER, SEALED, Vault, is_encrypted, is_sealed, read_key
from memento.settings import Settings

logger = logging.getLogger(__name__)

_PASSING = (
    "snapshots",
    "standing-in",
    "restore.new",
    "restore.json",
    "store.new",
    "store.old",
    "index-copy",
    "workers",
    "erased",
)
_OPEN = frozenset([HEADER, MANIFEST, "memento.toml", "memento.lock", "owner.json", "erased", "sync.sqlite"])
"""The files that stay plain because they hold nothing that was noted: keys that the key opens, settings, the owner, digests."""
_WAIT_S = 30.0


def open_folder(datadir: DataFolder, settings: Settings, opens: bool) -> None:
    """Unlock a data folder as the settings say, and open it too if that is asked for."""
    options = settings.of(EncryptionSettings)
    if opens:
        unlock_folder(datadir, options)
    else:
        unlock(datadir, read_key(options.key, options.key_file))


def unlock(datadir: DataFolder, key: str, *, required: bool = False) -> Vault | None:
    """
    Unlock an encrypted folder, or encrypt an empty one; does nothing if there is no key and none is needed.

    Args:
        required: whether the folder must be encrypted.

    Raises:
        SettingsError: the folder is encrypted and the key is missing or wrong, or the folder is not encrypted and there is a
        key.
    """
    if not key:
        if is_encrypted(datadir.path):
            raise SettingsError(
                f"{datadir.path} is encrypted: give its key in MEMENTO_ENCRYPTION_KEY or with --key-file FILE; "
                "`memento store decrypt` makes it a plain folder"
            )
        if required:
            raise SettingsError("--encrypted takes a key, in MEMENTO_ENCRYPTION_KEY or with --key-file FILE")
        if (datadir.path / SEALED).is_file() and not datadir.has_plain_files():
            raise Damaged(
                f"{datadir.path} has a sealed memory, and the file encryption.json with its keys is missing: "
                "put the copy in its place that every backup has"
            )
        return None
    if not is_encrypted(datadir.path):
        if datadir.has_plain_files():
            raise SettingsError(
                f"{datadir.path} is not encrypted, and a key was given: `memento store encrypt` converts the folder; "
                "without MEMENTO_ENCRYPTION_KEY and --key-file it is opened as it is"
            )
        vault = Vault.create(datadir.path, key)
    else:
        vault = Vault(datadir.path, key)
    datadir.vault = vault
    return vault


def unlock_folder(datadir: DataFolder, options: EncryptionSettings) -> None:
    """
    Unlock an encrypted folder that this process has acquired, or encrypt an empty one if there is a key, and start to work in
    memory; do nothing for a plain folder without a key.

    Raises:
        SettingsError: the key is missing, wrong, or given for a plain folder, or there is no in-memory file system.
        Damaged: the file with the keys cannot be read.
    """
    vault = unlock(datadir, read_key(options.key, options.key_file), required=options.on)
    if vault is not None:
        _finish(datadir, vault)
        datadir.work_in(vault.open_work(options.memory))


def encrypt_folder(path: Path, options: EncryptionSettings) -> Converted:
    """
    Encrypt a plain folder and its backups; `left` names every file below it that is not sealed.

    Raises:
        SettingsError: there is no key, or it is too short.
        InputError: the folder is encrypted already, has a plain dataset beside the memory, or has a damaged backup.
        FolderInUse: a process has it open.
    """
    with _acquire(path, "memento store encrypt") as datadir:
        key = read_key(options.key, options.key_file)
        if datadir.is_encrypted:
            unlock(datadir, key, required=True)
            raise InputError(f"{datadir.path} is encrypted already: `memento store reencrypt` changes its key")
        if not key:
            unlock(datadir, key, required=True)
        if (bare := datadir.path / "bare").is_dir() and any(bare.iterdir()):
            raise InputError(f"{bare} has a plain dataset, which cannot be encrypted: move it away first")
        for backup in _backups(datadir):
            verify_backup(backup)
        _finish_plain(datadir)
        for left in datadir.path.glob("journal-*.sealed"):
            left.unlink()
        staging = datadir.path / "encrypting"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(mode=0o700)
        sealing = Vault.create(staging, key)
        sealing.seal([one for name in KEPT if (one := datadir.path / name).exists()], 0)
        (staging / SEALED).replace(datadir.path / SEALED)
        (staging / HEADER).replace(datadir.path / HEADER)  # the conversion takes effect here
        sync_to_disk(datadir.path, deep=False)
        staging.rmdir()
        vault = Vault(datadir.path, key)
        _finish(datadir, vault)
        unsealed = tuple(_list_unsealed(datadir.path))
        return Converted(folder=str(datadir.path), encrypted=True, backups=len(_backups(datadir)), left=unsealed)


def decrypt_folder(path: Path, options: EncryptionSettings) -> Converted:
    """
    Decrypt an encrypted folder and its backups.

    Raises:
        SettingsError: the key is missing or wrong.
        InputError: the folder is not encrypted.
        Damaged: the sealed data cannot be read.
        FolderInUse: a process has it open.
    """
    with _load_vault(path, "memento store decrypt", options) as (datadir, vault):
        staging = datadir.path / "decrypting"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(mode=0o700)
        for name in KEPT:
            if (found := datadir.work / name).is_dir():
                shutil.copytree(found, staging / name)
            elif found.is_file():
                shutil.copyfile(found, staging / name)
        if is_sealed(datadir.tokens):
            (staging / "tokens.json").write_bytes(vault.open_file(datadir.tokens, TOKENS))
        sync_to_disk(staging)
        for backup in _backups(datadir):
            replace_backup(backup, vault, seal=False)
        for found in staging.iterdir():
            remove_path(datadir.path / found.name)
            found.rename(datadir.path / found.name)
        staging.rmdir()
        segments = vault.journal.segments()
        (datadir.path / HEADER).unlink()  # the conversion takes effect here
        sync_to_disk(datadir.path, deep=False)
        for sealed in (datadir.path / SEALED, *segments):
            sealed.unlink(missing_ok=True)
        return Converted(folder=str(datadir.path), encrypted=False, backups=len(_backups(datadir)))


def reencrypt_folder(path: Path, options: EncryptionSettings, new_key: str) -> Converted:
    """
    Change the key of a folder, and seal everything in it again, including backups, so that the old key opens nothing there.

    Raises:
        SettingsError: the old key is missing or wrong, or the new one is too short or equal to the old one.
        InputError: the folder is not encrypted.
        FolderInUse: a process has it open.
    """
    with _load_vault(path, "memento store reencrypt", options) as (datadir, vault):
        if vault.journal.sequence != vault.sequence:
            seal_closed(datadir)
        vault.start_rotation(read_key(new_key, ""))
        left = _finish(datadir, vault)
        return Converted(folder=str(datadir.path), encrypted=True, backups=len(_backups(datadir)), left=left)


@contextmanager
def _acquire(path: Path, command: str) -> Iterator[DataFolder]:
    datadir = DataFolder(path)
    datadir.acquire(command)
    with datadir:
        yield datadir


@contextmanager
def _load_vault(path: Path, command: str, options: EncryptionSettings) -> Iterator[tuple[DataFolder, Vault]]:
    """Open an encrypted folder in memory, with every write of its journal and without erased data."""
    with _acquire(path, command) as datadir:
        if not datadir.is_encrypted:
            raise InputError(f"{datadir.path} is not encrypted: `memento store encrypt` converts it")
        unlock_folder(datadir, replace(options, on=True))
        bring_into_memory(datadir)
        if datadir.erasure_mark.exists():
            rewrite(datadir.store)
            seal_closed(datadir)
            datadir.erasure_mark.unlink()
        assert isinstance(datadir.vault, Vault)
        yield datadir, datadir.vault


def _finish_plain(datadir: DataFolder) -> None:
    """Bring the files of a plain folder into their state between two starts, without erased data."""
    for place in (datadir.backups, datadir.checkpoints):
        discard_unfinished(place)
    finish_restore(datadir)
    finish_rewriting(datadir.store)
    if datadir.store.is_dir():
        Oxigraph(datadir.store).close()
        wait_until_released(datadir.store, wait_s=_WAIT_S)
        if datadir.erasure_mark.exists():
            rewrite(datadir.store)
    datadir.erasure_mark.unlink(missing_ok=True)


def _finish(datadir: DataFolder, vault: Vault) -> tuple[str, ...]:
    """Delete or seal remaining plain files, and seal again what an old key has sealed; return what failed."""
    home, left = datadir.path, []
    for name in (*KEPT, *(one for one in _PASSING if one != "erased")):
        remove_path(home / name)
    for passing in (*home.glob("export-*"), *home.glob("import-*"), home / "encrypting", home / "decrypting"):
        remove_path(passing)
    if datadir.tokens.is_file():
        if not is_sealed(datadir.tokens):
            vault.seal_file(datadir.tokens, datadir.tokens.read_bytes(), TOKENS)
        vault.seal_again(datadir.tokens, TOKENS)
    for place in (datadir.backups, datadir.checkpoints):
        discard_unfinished(place)
        _finish_swaps(place)
    for aside in home.glob("before-restore-*"):
        _seal_aside(aside, vault)
    for backup in _backups(datadir):
        try:
            replace_backup(backup, vault, seal=True)
        except MementoError as error:
            left.append(str(backup))
            logger.warning("backup.not-sealed", extra={"folder": str(backup), "error": str(error)})
    if not vault.is_rotating:
        return tuple(left)
    if (home / SEALED).is_file():
        vault.seal_again(home / SEALED, SEALED)
    sealed = [(backup, BACKUP) for backup in _backups(datadir)]
    sealed += [(aside, SEALED) for aside in home.glob("before-restore-*")]
    for folder, purpose in sealed:
        if any(folder.glob("journal-*.sealed")) or not _seal_copy_again(folder, purpose, vault):
            left.append(str(folder))
    vault.finish_rotation()
    return tuple(left)


def replace_backup(backup: Path, vault: Vault, *, seal: bool) -> None:
    """Seal a plain backup, or unseal an encrypted one, in its place; do nothing if it already is. A kill leaves one of the two."""
    if is_encrypted(backup) == seal:
        return
    manifest = verify_backup(backup)
    part, old = (backup.with_name(f"{backup.name}.{end}") for end in ("convert", "old"))
    shutil.rmtree(part, ignore_errors=True)
    if seal:
        part.mkdir(mode=0o700)
        vault.seal_backup(backup, part)
    else:
        copy_backup(backup, part, vault)
    files = checksum_files(part)
    (part / MANIFEST).touch(mode=0o600)
    (part / MANIFEST).write_text(encode_manifest(replace(manifest, files=files)), encoding="utf-8")
    sync_to_disk(part)
    backup.rename(old)
    part.rename(backup)
    shutil.rmtree(old)


def _list_unsealed(home: Path) -> list[str]:
    """List the files below an encrypted folder that may hold plain text: all that are not sealed and not known to hold none."""
    return sorted(
        str(path)
        for path in home.rglob("*")
        if (path.is_symlink() or path.is_file()) and path.name not in _OPEN and not is_sealed(path)
    )


def _seal_copy_again(folder: Path, purpose: str, vault: Vault) -> bool:
    """Seal a backup, or files that a restore moved aside, with the current key; tell whether that succeeded."""
    part, old = (folder.with_name(f"{folder.name}.{end}") for end in ("convert", "old"))
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(folder, part)
    try:
        vault.seal_again(part / SEALED, purpose)
    except (MementoError, OSError) as error:
        shutil.rmtree(part)
        logger.warning("backup.not-sealed", extra={"folder": str(folder), "error": str(error)})
        return False
    shutil.copy(vault.home / HEADER, part / HEADER)
    if (part / MANIFEST).is_file():
        fields = json.loads((part / MANIFEST).read_text(encoding="utf-8"))
        (part / MANIFEST).write_text("")
        files = {name: entry for name, entry in checksum_files(part).items() if name != MANIFEST}
        (part / MANIFEST).write_text(json.dumps({**fields, "files": files}, indent=1), encoding="utf-8")
    sync_to_disk(part)
    folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old)
    return True


def _seal_aside(aside: Path, vault: Vault) -> None:
    """Seal the files that a restore moved aside before the folder was encrypted."""
    if is_encrypted(aside) or not aside.is_dir():
        return
    plain = sorted(aside.iterdir())
    vault.seal_folder(plain, aside / SEALED, SEALED)
    shutil.copy(vault.home / HEADER, aside / HEADER)
    for path in plain:
        remove_path(path)


def _finish_swaps(place: Path) -> None:
    """Put a backup back in place that a kill left between two names."""
    for old in place.glob("*.old"):
        if (old.with_suffix("")).exists():
            shutil.rmtree(old)
        else:
            old.rename(old.with_suffix(""))
    for part in place.glob("*.convert"):
        shutil.rmtree(part)


def _backups(datadir: DataFolder) -> list[Path]:
    return [*list_backups(datadir.backups), *list_backups(datadir.checkpoints)]
