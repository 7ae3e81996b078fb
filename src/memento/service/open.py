"""Open and close the service of a data folder."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack, closing, nullcontext, suppress
from pathlib import Path

from memento.access import unlock_folder
from memento.archive.backup import BackupSource, make_backup
from memento.archive.cases import embed_all_tasks
from memento.archive.upgrade import write_missing_edges
from memento.backends import open_backends
from memento.datadir import DataFolder, Owner
from memento.errors import (
    BackendError,
    Damaged,
    GraphError,
    InputError,
    LostTurn,
    NotFound,
    StoreAway,
    Unanswered,
)
from memento.graph import backups
from memento.graph.store import Store
from memento.intake import redaction
from memento.model import Restored, Scope
from memento.operations.recall import Recall
from memento.ports import Progress
from memento.search.vectors import CLAIMED, VectorFile
from memento.service import understanding
from memento.service.context import Context, Service
from memento.service.handlers.capture import take_captured
from memento.service.handlers.care import back_up, make_due_checkpoint, reopen_store
from memento.service.handlers.recall import peek
from memento.settings import Settings
from memento.text.parse import load_pipeline
from memento.time import now

logger = logging.getLogger(__name__)

_STOP_S = 2.0
"""Seconds that closing waits for a note that is being understood; the note stays pending and the next process takes it up."""
_FIRST_QUESTION = "What is known of me?"


def open_service(
    datadir: DataFolder,
    scope: Scope,
    settings: Settings,
    *,
    mends: bool = True,
    progress: Progress | None = None,
) -> Service:
    """
    Open the stores of a data folder that this process has acquired.

    Args:
        mends, progress: see `python.open_memento`.

    Raises:
        MementoError: the folder cannot be opened; it is released.
    """
    changed: list[str] = []

    def keep(graph: Store, made_by: str) -> None:
        changed.append(made_by)
        _keep_vectors(graph, made_by, datadir)

    try:
        for place in (datadir.backups, datadir.checkpoints):
            backups.discard_unfinished(place)
        unlock_folder(datadir, settings)
        service = Service(
            datadir,
            open_backends(datadir, settings, mends=mends, keep=keep, progress=progress),
            scope,
            settings,
            consolidate=understanding.work,
            read=understanding.read_waiting,
            checkpoint=make_due_checkpoint,
            mend=reopen_store,
            capture=take_captured,
        )
        if changed:
            embed_all_tasks(service.stores)
        if mends:
            _upgrade(service, progress)
            service.stores.wake_grains()
    except BaseException:
        datadir.release()
        raise
    return service


def _keep_vectors(graph: Store, made_by: str, datadir: DataFolder) -> None:
    """Make a backup with the vectors of the previous model; if none can be made, re-embed all the same."""
    logger.warning("embedding.changed", extra={"before": made_by})
    try:
        with closing(VectorFile(datadir.vectors, made_by)) as vectors:
            if not vectors.read_digests():
                return
            source = BackupSource(
                datadir=datadir, store=graph, vectors=vectors, fingerprint=made_by, still=nullcontext()
            )
            made = make_backup(datadir.backups, source, now(), None)
        logger.warning("embedding.kept-before", extra={"backup": made.folder})
    except (InputError, GraphError) as error:
        logger.warning("embedding.not-kept-before", extra={"error": str(error)})


def _upgrade(service: Service, progress: Progress | None) -> None:
    """Write what a folder of an earlier version lacks, after a backup; if no backup can be made, leave the folder as it is."""
    if service.degraded or not service.stores.graph.is_on_disk:
        return

    def prepare(memories: int) -> None:
        made = back_up(service.datadir.backups, None, service)
        logger.warning("folder.upgrade", extra={"memories": memories, "backup": made.folder})

    def show(done: int, total: int) -> None:
        if progress:
            progress(done, total)
        logger.warning("folder.upgraded", extra={"memories": done, "of": total})

    if not service.stores.indexes.count_nodes():
        service.stores.indexes.file.set_mark(CLAIMED, "written")
    try:
        write_missing_edges(service.stores.graph, service.stores.indexes, prepare, show)
    except (InputError, Damaged) as error:
        logger.warning("folder.not-upgraded", extra={"error": str(error)})


def warm_up(service: Service) -> None:
    """
    Load the embedder and answer a question, so that the first request is as fast as the next; sets `stores.warm`.

    Raises:
        BackendError: the embedder cannot be loaded, or the store cannot be read.
    """
    service.stores.load_embedder()
    redaction.load_detectors()
    context = Context(service)
    # Far from every memory on purpose: it only runs the pipeline to its end once.
    peek(Recall(_FIRST_QUESTION, gate=False), context)
    if readers := context.list_inferring():
        service.stores.inferences.refresh(context.scope(None), now(), readers)  # takes longest after a start
    service.stores.warm = True


def serve_at(service: Service, address: str) -> None:
    """Tell other processes the address of this one, and start the workers for their queries."""
    service.workers.start()
    with suppress(BackendError):  # the first note reports it
        load_pipeline()
    token = service.tokens.for_owner()
    service.datadir.publish(Owner(pid=os.getpid(), command="memento serve", address=address, token=token))


def close_service(service: Service) -> None:
    """Release the data folder. You may call this twice."""
    if service.closing.is_set():
        return
    service.closing.set()
    service.consolidator.stop(_STOP_S)
    service.reader.stop(_STOP_S)
    service.checkpointer.stop(_STOP_S)
    service.capturer.stop(_STOP_S)
    service.mender.stop(_STOP_S)
    service.answers.worker.stop(_STOP_S)
    if service.models:
        service.models.close()
    service.maps.close(_STOP_S)
    for close in (service.reinforcement.close, service.case_reads.close):
        try:
            close(_STOP_S)
        except (
            StoreAway,
            Unanswered,
            LostTurn,
        ) as error:  # what is left to write is lost; release the folder all the same
            logger.warning("close.not-written", extra={"error": str(error)})
    service.workers.close()
    with ExitStack() as closing_writes:
        with suppress(GraphError):  # a shared store is unavailable: nothing can be written to it from here
            closing_writes.enter_context(service.writing)  # never between the two halves of a write
        service.close_kept()
        service.stores.close()
    service.datadir.release()


def restore_folder(
    path: str | Path,
    folder: str | Path | None = None,
    *,
    wait_s: float = 0.0,
    progress: Progress | None = None,
    configured: Settings | None = None,
) -> Restored:
    """
    Replace the memory of a data folder that no process has open by a backup, whatever state its store is in; the old memory is
    moved aside.

    Args:
        folder: a backup, or a folder of backups, of which the latest is used; default `backups` in the data folder, or the latest
            that the folder itself has if its store cannot be opened.
        wait_s: seconds to wait while another process owns the folder.
        progress: called with (verified files, all files) of the backup.
        configured: all settings, of which those of encryption open the data folder if it is encrypted; by default the usual ones.

    Raises:
        NotFound: there is no backup.
        SettingsError: the folder is encrypted, and the key is missing or wrong.
        InputError: the backup is damaged, or newer than this version; nothing was changed.
        FolderInUse: another process has the folder open: use the operation `restore` of the service.
    """
    datadir = DataFolder(Path(path))
    datadir.acquire("memento restore", wait_s)
    with datadir:
        unlock_folder(datadir, configured or Settings())
        backups.finish_restore(datadir)  # of an earlier restore that was killed
        try:
            found = backups.prepare_restore(
                Path(folder) if folder else backups.choose_usual_backup(datadir), datadir, now(), progress
            )
        except NotFound as error:
            if not datadir.store.is_dir() or backups.is_store_sound(datadir):
                raise
            place = folder or datadir.path
            reason = f"{place} has no backup in it, and the store {datadir.store} cannot be opened to make one"
            raise NotFound(f"{reason}. {backups.explain_way_out(datadir)}") from error
        backups.begin_restore(datadir, found)
    return found
