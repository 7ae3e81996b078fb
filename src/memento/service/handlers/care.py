"""
Answers the operations on a memory as a whole: documents in files and as streams, status, checks, backups.

*Guarantees:* what is erased while a checkpoint is being made is in none.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from math import ceil
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory
from typing import IO

from memento.access import OWNER, Issued
from memento.archive.backup import BackupSource, make_backup
from memento.archive.check import find_differences, read_store_files, rebuild_indexes, report_status
from memento.archive.exchange import ExportDocument, ImportDocument, export_document, prepare_import, write_import
from memento.archive.files import open_document, save_document
from memento.archive.tables import TableForm, find_form, write_statements
from memento.backends import Backends, reopen
from memento.consolidation import queue
from memento.errors import BackendError, Damaged, Forbidden, InputError, MementoError, NotFound
from memento.graph.backups import begin_restore, list_backups, parse_backup_time, prepare_restore
from memento.graph.documents import Form
from memento.intake.redaction import Redaction
from memento.iris import check_namespace
from memento.model import BackedUp, Difference, Exported, Filter, Merged, Restored, TokenShown
from memento.model import Status as Report
from memento.operations import care as operations
from memento.ports import Progress
from memento.service.context import Context, Service, handles
from memento.service.understanding import resume
from memento.sparql.jobs import Rewrite, WaitingClient
from memento.time import now

_IN_MEMORY = 16 * 1024 * 1024
"""Bytes of a document up to which it is staged in memory."""
_LONGER = 16
"""Times as long as a document its statements may be, each written out."""


@handles(operations.Export)
def export(operation: operations.Export, context: Context) -> Exported:
    """Write the graphs into a file."""
    file = str(operation.file)
    document = export_pieces(
        operation.form or file,
        context,
        vectors=operation.vectors,
        audit=operation.audit,
        past=operation.past,
        namespace=operation.namespace,
        only=context.read_filter(operation),
    )
    return save_document(document.pieces, Path(file), document.form.name, document.statements, context.progress)


def export_pieces(
    form: str,
    context: Context,
    *,
    vectors: bool = False,
    audit: bool = False,
    past: bool = False,
    namespace: str | None,
    only: Filter | None = None,
) -> ExportDocument:
    """
    Return an export a piece at a time; what is written after this call is not in it.

    Args:
        form: the name of a format, or a file's.
        only: which memories; None for all.
    """
    scope = context.scope(namespace)
    if audit:
        context.access.needs("admin")
    with context.service.writing:
        return export_document(
            find_form(form),
            scope,
            context.access,
            context.stores,
            only=namespace,
            vectors=vectors,
            audit=audit,
            past=past,
            wanted=only,
        )


@handles(operations.ImportRdf)
def import_rdf(operation: operations.ImportRdf, context: Context) -> Merged:
    """Take a file in."""
    file = Path(operation.file)
    with open_document(file, context.service.datadir.path) as source:
        return take_in(
            source,
            file.name,
            operation.form or str(operation.file),
            context,
            data=operation.data,
            check=operation.check,
            namespace=operation.namespace,
        )


def take_in(
    source: IO[bytes],
    name: str,
    form: str,
    context: Context,
    *,
    data: str | None = None,
    check: bool = True,
    namespace: str | None,
    waiting: WaitingClient | None = None,
) -> Merged:
    """
    Take in a document; `name` is what errors call it.

    Args:
        waiting: who waits for it, and may leave.

    Raises:
        MementoError: as `ImportRdf`.
    """
    scope, service = context.scope(namespace, "write"), context.service
    if not check:
        context.require_owner("check=false leaves the shapes out, and is the owner's alone")
    chosen, redaction = find_form(form), context.begin_redaction(namespace)
    with (
        service.importing,
        _rewrite(source, chosen, name, context, redaction, waiting, namespace) as lines,
        _staging(lines, context) as folder,
    ):
        arriving = ImportDocument(lines=lines, name=name, only=namespace, data=data, check=check, folder=folder)
        found = prepare_import(arriving, scope, context.access, context.stores, context.progress)
        try:
            with service.writing:
                merged = write_import(found, scope, context.stores, context.access.name)
        except MementoError:
            found.vectors.undo()
            raise
        if merged.notes:
            resume(service)
        return replace(merged, redacted=redaction.close())


@contextmanager
def _rewrite(
    source: IO[bytes],
    form: Form | TableForm,
    name: str,
    context: Context,
    redaction: Redaction,
    waiting: WaitingClient | None,
    only: str | None,
) -> Iterator[IO[bytes]]:
    """
    Have a worker write a document as N-Quads, within what the graph store gives it: `sparql.query_s` seconds for each
    `limits.graph_bytes`, and `sparql.memory_mb`; and redact them. Rows, which nothing unfolds, are written as N-Quads here.
    """
    workers, settings = context.service.workers, context.settings
    with workers.snapshots.scratch() as scratch:
        scratch.mkdir()
        path, target = scratch / "document", scratch / "lines"
        with path.open("wb") as file:
            copyfileobj(source, file)
            size = file.tell()
        if isinstance(form, TableForm):
            write_statements(path, form, name, target, context.scope(only, "write"), only, context.stores.graph)
        else:
            job = Rewrite(
                path=str(path),
                form=form.name,
                name=name,
                target=str(target),
                seconds=settings.sparql.query_s * max(1, ceil(size / settings.limits.graph_bytes)),
                most_bytes=_LONGER * size + _IN_MEMORY,
            )
            answer = workers.run(job, caller=context.access.caller, waiting=waiting)
            try:
                b"".join(answer.chunks)
            finally:
                answer.close()
        with target.open("rb") as lines, path.open("wb+") as redacted:
            redacted.writelines(map(redaction.redact_quad, lines))
            target.unlink()
            redacted.seek(0)
            yield redacted


@contextmanager
def _staging(lines: IO[bytes], context: Context) -> Iterator[Path | None]:
    """Give a folder for a long document, gone afterwards; what a killed process left there goes first."""
    home = context.service.datadir.path
    for left in home.glob("import-*"):
        rmtree(left, ignore_errors=True)
    size = lines.seek(0, os.SEEK_END)
    lines.seek(0)
    if size <= _IN_MEMORY:
        yield None
        return
    with TemporaryDirectory(prefix="import-", dir=home, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "staged"


logger = logging.getLogger(__name__)

_FIRST_S = 60.0
"""A command or a short script ends before its first checkpoint."""
_AGAIN_S = 60.0
_APART_BYTES = 256 * 1024 * 1024
"""Up to here a checkpoint shares no file with the store."""


def back_up(
    folder: Path, keep: int | None, service: Service, *, apart_bytes: int = 0, progress: Progress | None = None
) -> BackedUp:
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
        made = make_backup(folder, source, now(), keep, apart_bytes=apart_bytes, progress=progress)
    except Damaged as damage:
        service.stores.harm = str(damage).partition("the store is damaged: ")[2]
        raise
    service.stores.harm = None
    return made


def make_due_checkpoint(service: Service) -> float | None:
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


@handles(operations.Status)
def status(operation: operations.Status, context: Context) -> Report:
    """Say how the memory stands."""
    scope = context.scope(operation.namespace)
    report = report_status(scope, context.access, context.service.datadir, now(), context.stores, context.settings)
    proposals = 0
    with suppress(BackendError):  # whoever captures is told; the rest can be said all the same
        proposals = sum(one.state == "proposed" for one in context.service.journal.load(scope))
    return replace(report, redacted=context.service.redactor.count(scope), proposals=proposals)


@handles(operations.Check)
def check(operation: operations.Check, context: Context) -> tuple[Difference, ...]:
    """Compare files, indexes and shapes with the graph."""
    context.require_owner()
    done = context.progress or (lambda step, steps: None)
    harm = read_store_files(context.stores)  # before the lock: it takes long
    done(1, 2)
    with context.service.writing:
        found = find_differences(context.stores)
        done(2, 2)
        return (*found, *(() if harm else (*context.service.domains.differences(), *_list_waiting(context.stores))))


def _list_waiting(parts: Backends) -> Iterator[Difference]:
    """Yield the notes that are not understood yet: they wait, or were given up until `retry`."""
    for one in queue.list_waiting(parts, ("pending", "failed")):
        times = f" after {one.attempts} attempts" if one.attempts else ""
        state = (
            "waits to be understood" if one.state == "pending" else "was not understood: `memento retry` tries again"
        )
        yield Difference(what=f"{one.state}-note", iri=one.note, detail=f"the note {state}{times}")


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
        return back_up(folder, operation.keep, context.service, progress=context.progress)


@handles(operations.Restore)
def restore(operation: operations.Restore, context: Context) -> Restored:
    """Put a backup in the place of the memory, while it is open."""
    service, degraded = context.service, context.stores.degraded
    usual = Path(degraded.backup) if degraded else service.datadir.backups
    folder = _folder_of(operation.folder, context) or usual
    with service.importing:
        restored = prepare_restore(folder, service.datadir, now(), context.progress)
        with service.understanding, service.writing:
            reopen(context.stores, service.settings, lambda: begin_restore(service.datadir, restored))
            service.put_off.clear()
    resume(service)
    return restored


@handles(operations.ListTokens)
def show_tokens(operation: operations.ListTokens, context: Context) -> tuple[TokenShown, ...]:
    """List who gets in."""
    context.require_owner()
    return tuple(_show_token(one) for one in context.service.tokens.list_issued())


@handles(operations.CreateToken)
def create_token(operation: operations.CreateToken, context: Context) -> TokenShown:
    """Let somebody in."""
    context.require_own_machine("a token cannot make another")
    known = context.service.tokens
    token = known.create(
        operation.name,
        tenant=operation.tenant,
        namespaces=[check_namespace(one) for one in operation.namespaces],
        right=operation.scope,
        at=now(),
    )
    return replace(_find_token(operation.name, context), token=token)


@handles(operations.RevokeToken)
def revoke_token(operation: operations.RevokeToken, context: Context) -> TokenShown:
    """Let somebody in no more."""
    context.require_owner()
    shown = _find_token(operation.name, context)
    context.service.tokens.revoke(operation.name)
    return shown


def _find_token(name: str, context: Context) -> TokenShown:
    found = next((one for one in context.service.tokens.list_issued() if one.name == name), None)
    if found is None:
        raise NotFound(f"there is no token {name[:80]!r}")
    return _show_token(found)


def _show_token(issued: Issued) -> TokenShown:
    return TokenShown(
        name=issued.name,
        tenant=issued.tenant,
        namespaces=issued.namespaces,
        right=issued.right,
        created_at=issued.created_at,
    )


_LATER_S = 2.0
"""Seconds after which it is tried again to open a store that can write no files."""


def reopen_store(service: Service) -> float | None:
    """Open a store again that could write no files, as soon as there is room; seconds until it is to be tried again, or None."""
    if service.stores.graph.failure is None:
        return None
    if not service.datadir.has_room():
        return _LATER_S
    with service.importing, service.understanding, service.writing:
        try:
            reopen(service.stores, service.settings, lambda: None)
        except BackendError:
            return _LATER_S
    logger.warning("store.writing-again")
    resume(service)
    return None


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
