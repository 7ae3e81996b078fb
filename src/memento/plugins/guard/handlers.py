"""Answers the operation that synchronises machines."""

from __future__ import annotations

from contextlib import closing

from memento.errors import InputError
from memento.plugins.guard.exchange import Exchange
from memento.plugins.guard.ledger import Ledger
from memento.plugins.guard.nouns import Synced
from memento.plugins.guard.operations import Sync
from memento.service import Context
from memento.service.context import handles
from memento.service.handlers.care import find_folder


@handles(Sync)
def sync(operation: Sync, context: Context) -> Synced:
    """Write a patch of local changes for other machines, and read theirs."""
    folder = find_folder(operation.folder, context)
    if folder is None or not folder.is_dir():
        raise InputError(f"{str(operation.folder)[:200]} is not a folder: create it where every machine can reach it")
    if folder.resolve().is_relative_to(context.service.datadir.path.resolve()):
        raise InputError(
            f"{str(folder)[:200]} is in the data folder: give a folder outside of it that every machine can reach"
        )
    scope, service = context.scope(None, "write"), context.service
    if service.datadir.vault is not None:
        raise InputError(
            "patches are in plain text, and this data folder is encrypted: use `memento export` to a place that you "
            "trust, or decrypt the folder first"
        )
    path = service.datadir.path / "sync.sqlite"
    place = None if operation.dry_run and not path.is_file() else path
    with service.importing, closing(Ledger(place, scope.tenant)) as ledger:
        return Exchange(ledger, folder, scope, context, is_trial=operation.dry_run).take_turn()
