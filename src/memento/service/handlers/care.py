"""Answers the operations that keep the memory in order."""

from __future__ import annotations

from pathlib import Path

from memento.access import OWNER
from memento.archive.check import find_differences, read_store_files, rebuild_indexes, report_status
from memento.backends import reopen
from memento.errors import Forbidden, InputError
from memento.graph.backups import begin_restore, prepare_restore
from memento.model import BackedUp, Difference, Restored
from memento.model import Status as Report
from memento.operations import care as operations
from memento.service.checkpoints import back_up
from memento.service.context import Context
from memento.service.dispatch import handles
from memento.service.understanding import resume
from memento.time import now


@handles(operations.Status)
def status(operation: operations.Status, context: Context) -> Report:
    """Say how the memory stands."""
    return report_status(
        context.scope(operation.namespace),
        context.access,
        context.service.datadir,
        now(),
        context.stores,
        context.settings,
    )


@handles(operations.Check)
def check(operation: operations.Check, context: Context) -> tuple[Difference, ...]:
    """Compare files, indexes and shapes with the graph."""
    context.require_owner()
    harm = read_store_files(context.stores)  # before the lock: it takes long
    with context.service.writing:
        return (*find_differences(context.stores), *(() if harm else context.service.domains.differences()))


@handles(operations.Rebuild)
def rebuild(operation: operations.Rebuild, context: Context) -> int:
    """Fill every index from the graph."""
    context.require_owner()
    context.require_writable()
    with context.service.writing:
        return rebuild_indexes(context.stores, context.progress) + context.service.domains.embed_again()


@handles(operations.Backup)
def backup(operation: operations.Backup, context: Context) -> BackedUp:
    """Make a backup of a memory in use."""
    folder = _folder_of(operation.folder, context) or context.service.datadir.backups
    context.require_writable()
    with context.service.importing:
        return back_up(folder, operation.keep, context.service)


@handles(operations.Restore)
def restore(operation: operations.Restore, context: Context) -> Restored:
    """Put a backup in the place of the memory, while it is open."""
    service, degraded = context.service, context.stores.degraded
    usual = Path(degraded.backup) if degraded else service.datadir.backups
    folder = _folder_of(operation.folder, context) or usual
    with service.importing:
        restored = prepare_restore(folder, service.datadir, now())
        with service.understanding, service.writing:
            reopen(context.stores, service.settings, lambda: begin_restore(service.datadir, restored))
            service.put_off.clear()
    resume(service)
    return restored


def _folder_of(folder: Path | str | None, context: Context) -> Path | None:
    """Return the folder that the caller named, who must own the whole memory, and sit at the machine to name one."""
    context.require_owner()
    if folder is None:
        return None
    if context.access != OWNER:
        raise Forbidden("only who sits at the machine may name a folder of it: leave it out for the usual one")
    place = Path(folder).expanduser()
    if not place.is_absolute():
        raise InputError(f"the folder must be given from the root, as /mnt/backups, not {str(folder)[:80]!r}")
    return place
