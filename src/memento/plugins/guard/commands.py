"""The commands that synchronise machines, and that encrypt and decrypt the data folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memento.errors import InputError
from memento.interfaces.cli.base import Chosen, bar, command, open_memory, print_answer
from memento.interfaces.cli.views import Json
from memento.operations import fields_of
from memento.plugins.guard.operations import Sync
from memento.plugins.guard.settings import EncryptionSettings

if TYPE_CHECKING:
    from memento.plugins.guard.nouns import Converted

BY_HAND: Mapping[str, str] = {"sync": "sync"}
OLD_NAMES: Mapping[str, str] = {old: f"store {old}" for old in ("encrypt", "decrypt", "reencrypt")}


def show_sync(answer: Json) -> str:
    """Show what was sent and what was received, and what a person should review."""
    verbs = ("would be sent", "would be received") if answer["dry_run"] else ("sent", "received")
    lines = [
        f"{answer['sent']:,} statements and {answer['withdrawn']:,} removals {verbs[0]}; {answer['patches']:,} patches of other "
        f"machines {verbs[1]}, with {answer['added']:,} statements and {answer['removed']:,} removals."
    ]
    if answer["rivals"]:
        lines.append(f"{answer['rivals']:,} memories probably contradict others: `memento care disputes` lists them.")
    if answer["overruled"]:
        lines.append(f"{answer['overruled']:,} values were replaced by later ones from other machines.")
    if answer["joined"]:
        lines.append(
            "This machine would join, and would get a name then."
            if answer["dry_run"]
            else f"This machine is {answer['machine']} from now on."
        )
    return "\n".join(lines)


@command("sync")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--dry-run", is_flag=True, help=f"{fields_of(Sync)['dry_run'].description}.")
def sync_with_others(chosen: Chosen, folder: Path, dry_run: bool) -> None:
    """Write local changes to FOLDER, which other machines share, and read their changes from it."""
    from memento.codec import plain

    with open_memory(chosen, "sync") as memento, bar("Taking in") as progress:
        answer = plain(memento.call(Sync(str(folder.expanduser().absolute()), dry_run), progress))
    print_answer(chosen, answer, lambda: show_sync(answer))


@command("encrypt")
@click.option(
    "--make-key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="First write a random key into this new file, and use it as the key file.",
)
def encrypt_home(chosen: Chosen, make_key: Path | None) -> None:
    """Encrypt the data folder and its backups; no process may have it open."""
    from memento.plugins.guard.folder import encrypt_folder

    if make_key is not None:
        _write_key(make_key)
        chosen.key_file = str(make_key)
    _print_converted(chosen, encrypt_folder(chosen.folder.path, chosen.settings().of(EncryptionSettings)))


@command("decrypt")
def decrypt_home(chosen: Chosen) -> None:
    """Decrypt an encrypted data folder and its backups; no process may have it open."""
    from memento.plugins.guard.folder import decrypt_folder

    _print_converted(chosen, decrypt_folder(chosen.folder.path, chosen.settings().of(EncryptionSettings)))


@command("reencrypt")
@click.option(
    "--new-key-file",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The file with the new key; a missing file is created with a random key.",
)
def reencrypt_home(chosen: Chosen, new_key_file: Path) -> None:
    """Encrypt an encrypted data folder again with a new key; no process may have it open."""
    from memento.plugins.guard.folder import reencrypt_folder
    from memento.plugins.guard.vault import read_key

    if not new_key_file.exists():
        _write_key(new_key_file)
    options = chosen.settings().of(EncryptionSettings)
    _print_converted(chosen, reencrypt_folder(chosen.folder.path, options, read_key("", new_key_file)))


def _write_key(file: Path) -> None:
    from memento.plugins.guard.vault import make_key

    try:
        with open(file, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as target:
            target.write(f"{make_key()}\n")
    except OSError as error:
        raise InputError(f"the key file {file} cannot be made: {error.strerror}") from error


def _print_converted(chosen: Chosen, done: Converted) -> None:
    from memento.codec import plain

    state = "encrypted" if done.encrypted else "in plain text"
    with_them = f", with {done.backups} backup{'s' * (done.backups != 1)}" if done.backups else ""
    lines = [f"{done.folder} is {state} now{with_them}."]
    if done.encrypted:
        lines.append("Keep the key outside of this folder: without it nobody can read the memory, including you.")
    what = "is not encrypted, or not with this key" if done.encrypted else "could not be converted"
    lines += [f"{one} {what}: delete it, or keep it elsewhere." for one in done.left]
    print_answer(chosen, plain(done), lambda: "\n".join(lines))
