"""
Backups of a service in use: those that are asked for, and the checkpoints that it makes by itself.

*Guarantees:* what is erased while a checkpoint is being made is in none.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from shutil import rmtree

from memento.archive.backup import BackupSource, make_backup
from memento.errors import Damaged, MementoError
from memento.graph.backups import list_backups, parse_backup_time
from memento.model import BackedUp
from memento.service.context import Service
from memento.time import now

logger = logging.getLogger(__name__)

_FIRST_S = 60.0
"""A command or a short script ends before its first checkpoint."""
_AGAIN_S = 60.0
_APART_BYTES = 256 * 1024 * 1024
"""Up to here a checkpoint shares no file with the store."""


def back_up(folder: Path, keep: int | None, service: Service, *, apart_bytes: int = 0) -> BackedUp:
    """
    Make a backup below a folder; what it finds of the store is known from then on. `service.importing` must be held.

    Raises:
        Damaged: the store's files cannot be read to their end; older backups stay.
    """
    source = BackupSource(
        datadir=service.datadir,
        store=service.stores.graph,
        vectors=service.stores.indexes.file,
        fingerprint=service.stores.embedder.fingerprint,
        still=service.writing,
    )
    try:
        made = make_backup(folder, source, now(), keep, apart_bytes=apart_bytes)
    except Damaged as damage:
        service.stores.harm = str(damage).partition("the store is damaged: ")[2]
        raise
    service.stores.harm = None
    return made


def work(service: Service) -> float | None:
    """Make a checkpoint when one is due and anything was written since the last; return the seconds until the next may be."""
    options, folder = service.settings.checkpoints, service.datadir.checkpoints
    if not options.hours or service.degraded:
        return None
    wait_s = _due_s(service)
    if wait_s > 0:
        return wait_s
    if service.stores.graph.writes == service.checkpointed_writes or not len(service.stores.indexes.nodes):
        return options.hours * 3600
    if not service.importing.acquire(blocking=False):
        return _AGAIN_S
    try:
        writes, erasures = service.stores.graph.writes, service.stores.erasures
        made = back_up(folder, options.keep, service, apart_bytes=_APART_BYTES)
        if service.stores.erasures != erasures:
            rmtree(made.folder)
            return _AGAIN_S
        service.checkpointed_writes = writes
    except Damaged as damage:
        logger.error("checkpoint.damaged", extra={"folder": str(folder), "reason": str(damage)})
    except MementoError as error:  # a full disk is no reason to end the thread, nor to try at once again
        logger.warning("checkpoint.failed", extra={"folder": str(folder), "error": type(error).__name__})
    finally:
        service.importing.release()
    return options.hours * 3600


def _due_s(service: Service) -> float:
    """Return the seconds until a checkpoint may be made: not in the first minute of a process, nor sooner than the setting says."""
    beginning = service.opened_at + timedelta(seconds=_FIRST_S)
    latest = list_backups(service.datadir.checkpoints)[-1:]
    after = [parse_backup_time(one) + timedelta(hours=service.settings.checkpoints.hours) for one in latest]
    return (max([beginning, *after]) - now()).total_seconds()
