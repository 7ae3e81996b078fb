"""
Answer the operations on a memory as a whole: documents in files and as streams, status, checks, backups.

*Guarantees:* a checkpoint never contains what is erased while it is being made.
"""

from __future__ import annotations

import io
import logging
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from math import ceil
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory
from typing import IO

from memento.access import OWNER, Issued
from memento.archive.backup import BackupSource, make_backup
from memento.archive.cases import embed_all_tasks, find_task_differences, list_domains
from memento.archive.check import (
    discard_kept,
    find_differences,
    raise_if_store_is_away,
    read_store_files,
    report_status,
)
from memento.archive.compact import Rules, apply_branch, stage_compaction, undo_branch
from memento.archive.exchange import (
    ExportDocument,
    ImportDocument,
    export_document,
    prepare_import,
    write_import,
)
from memento.archive.files import open_document, raise_if_exists, save_document
from memento.archive.okf import read_folder, read_statements, save_bundle
from memento.archive.tables import NOT_GUARANTEED, OKF, Anonymity, TableForm, find_form, write_statements
from memento.archive.upgrade import (
    Migration,
    choose_target,
    count_kept,
    list_unclaimed,
    prepare_settings,
    write_settings,
)
from memento.backends import Backends, reopen
from memento.consolidation import queue
from memento.consolidation.reread import count_unread
from memento.datadir import DataFolder, cache_folder
from memento.errors import BackendError, Damaged, DiskFull, Forbidden, InputError, MementoError, NotFound
from memento.graph.backups import begin_restore, list_backups, parse_backup_time, prepare_restore
from memento.graph.documents import Form, form_called
from memento.intake.redaction import Redaction
from memento.iris import IRI, cases_iri, check_namespace, owner_of, parse_graph_name, parse_iri
from memento.model import (
    BackedUp,
    Change,
    Compacted,
    Difference,
    Exported,
    Merged,
    Migrated,
    Restored,
    Scope,
    TenantShown,
    TokenShown,
    Upgraded,
)
from memento.model import Status as Report
from memento.operations import care as operations
from memento.ports import Progress
from memento.search.embedders import embedder_of
from memento.search.vectors import CLAIMED
from memento.service.context import Context, Service, handles
from memento.service.handlers.recall import count_chats
from memento.service.understanding import read_some, resume
from memento.sparql.jobs import Rewrite, WaitingClient
from memento.time import now

_IN_MEMORY = 16 * 1024 * 1024
"""A document up to this size in bytes is staged in memory."""
_KEY_BYTES = 16
_LONGER = 16
"""How many times the size of a document its statements may have when written out."""


@handles(operations.Export)
def export(operation: operations.Export, context: Context) -> Exported:
    """Write the graphs to a file."""
    file = str(operation.file)
    is_bundle = operation.form == OKF.name
    if not is_bundle:
        raise_if_exists(Path(file), overwrite=operation.overwrite)
    document = export_pieces(operation, context)
    if is_bundle:
        return save_bundle(document.pieces, Path(file), document.statements, overwrite=operation.overwrite)
    return save_document(
        document.pieces,
        Path(file),
        document.form.name,
        document.statements,
        context.progress,
        overwrite=operation.overwrite,
    )


def export_pieces(operation: operations.Export, context: Context) -> ExportDocument:
    """
    Return an export in pieces; writes after this call are not in it. The file of the operation only names the format.

    Raises:
        MementoError: as `Export`.
    """
    scope, namespace = context.scope(operation.namespace), operation.namespace
    only, anonymity = context.read_filter(operation), _choose_anonymity(operation, context)
    if operation.audit:
        context.access.needs("admin")
    chosen = find_form(operation.form or str(operation.file))
    if not isinstance(chosen, TableForm) or anonymity:  # other tables contain no cases
        _note_cases(scope, namespace, context)
    with context.service.writing:
        return export_document(
            chosen,
            scope,
            context.access,
            context.stores,
            only=namespace,
            vectors=operation.vectors,
            audit=operation.audit,
            past=operation.past,
            wanted=only,
            anonymity=anonymity,
        )


def _choose_anonymity(operation: operations.Export, context: Context) -> Anonymity | None:
    """
    Return how to anonymise an export, and add a notice of what this does not promise; None if the export is not anonymised.

    Raises:
        InputError: a key or a choice of dates is given without anonymisation, or the key cannot be read.
        Forbidden: the caller names a file and is not at this machine.
    """
    key_file, dates = operation.pseudonym_key_file, operation.dates
    if not operation.anonymise:
        if key_file is not None or dates != "keep":
            raise InputError(
                "dates and pseudonym_key_file apply only to an anonymised export: add anonymise=true (`--anonymise`)"
            )
        return None
    if NOT_GUARANTEED not in context.notices:
        context.notices.append(NOT_GUARANTEED)
    if key_file is None:
        return Anonymity(secrets.token_bytes(32), dates)
    if context.access != OWNER:
        raise Forbidden("only the owner's programs on the machine itself may name a file there")
    try:
        key = Path(key_file).expanduser().read_bytes().strip()
    except OSError as error:
        raise InputError(f"the key file {key_file} cannot be read: {error.strerror}") from error
    if len(key) < _KEY_BYTES:
        raise InputError(f"the key for pseudonyms must have at least {_KEY_BYTES} bytes, not {len(key)}")
    return Anonymity(key, dates)


def _note_cases(scope: Scope, namespace: str | None, context: Context) -> None:
    """Record for the audit graph that a caller gets the cases of some domains in a document."""
    domains = list_domains(scope.tenant, context.stores)
    seen = [graph for graph in domains if (found := parse_graph_name(graph)) and context.access.sees(found.name)]
    wanted = [graph for graph in seen if namespace is None or graph == cases_iri(scope.tenant, namespace)]
    if wanted:
        access = context.access
        context.service.case_reads.note_read(
            access.name, scope.tenant, "", tuple(wanted), now(), operation="cases.export"
        )


@handles(operations.ImportRdf)
def import_rdf(operation: operations.ImportRdf, context: Context) -> Merged:
    """Import a file."""
    file = Path(operation.file)
    opened = (
        nullcontext(io.BytesIO(read_folder(file)))
        if file.is_dir()
        else open_document(file, context.service.datadir.work)
    )
    with opened as source:
        return take_in(
            source,
            file.name,
            operation.form or (OKF.name if file.is_dir() else str(operation.file)),
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
    Import a document; `name` is its name in errors.

    Args:
        waiting: the client that waits, and may disconnect.

    Raises:
        MementoError: as `ImportRdf`.
    """
    scope, service = context.scope(namespace, "write"), context.service
    if not check:
        context.require_owner("check=false skips the shapes, which only the owner may do")
    chosen, redaction = find_form(form), context.begin_redaction(namespace)
    if chosen is OKF:
        source, chosen = io.BytesIO(read_statements(source.read(), name)), form_called("trig")
    with (
        service.importing,
        _reporting_full_disk(service.datadir),
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
    Have a worker rewrite a document as N-Quads, then redact them. The worker has the limits of the graph store: `sparql.query_s`
    seconds for each `limits.graph_bytes`, and `sparql.memory_mb`. Tables are written as N-Quads here, since they do not expand.
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
def _reporting_full_disk(datadir: DataFolder) -> Iterator[None]:
    """Raise `DiskFull` if the block cannot write its files for lack of room."""
    try:
        yield
    except OSError as error:
        if error.errno in DiskFull.errors:
            raise DiskFull(datadir.path) from error
        raise


@contextmanager
def _staging(lines: IO[bytes], context: Context) -> Iterator[Path | None]:
    """Yield a folder for a long document, and delete it afterwards; delete first what a killed process left."""
    home = context.service.datadir.work
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
"""Seconds before the first checkpoint, so that a command or a short script makes none."""
_AGAIN_S = 60.0
_APART_BYTES = 256 * 1024 * 1024
"""Up to this size a checkpoint shares no files with the store."""


def back_up(
    folder: Path, keep: int | None, service: Service, *, apart_bytes: int = 0, progress: Progress | None = None
) -> BackedUp:
    """
    Make a backup in a folder, and record whether the store is damaged. Hold `service.importing`.

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
    """Make a checkpoint if one is due and anything was written since the last; return the seconds until the next may be due."""
    options, folder = service.settings.checkpoints, service.datadir.checkpoints
    if not options.hours or service.degraded or not service.stores.graph.is_on_disk:
        return None
    wait_s = _due_s(service)
    if wait_s > 0:
        return wait_s
    if service.stores.graph.writes == service.checkpointed_writes or not service.stores.indexes.count_nodes():
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
    except MementoError as error:  # a full disk must not end the thread, nor cause an immediate retry
        logger.warning("checkpoint.failed", extra={"folder": str(folder), "error": type(error).__name__})
    finally:
        service.importing.release()
    return options.hours * 3600


def _due_s(service: Service) -> float:
    """
    Return the seconds until a checkpoint may be made: not in the first minute of a process, nor earlier than the setting says.
    """
    beginning = service.opened_at + timedelta(seconds=_FIRST_S)
    latest = list_backups(service.datadir.checkpoints)[-1:]
    after = [parse_backup_time(one) + timedelta(hours=service.settings.checkpoints.hours) for one in latest]
    return (max([beginning, *after]) - now()).total_seconds()


@handles(operations.Status)
def status(operation: operations.Status, context: Context) -> Report:
    """Report the state of the memory."""
    scope = context.scope(operation.namespace)
    readiness = context.service.watch.report()
    raise_if_store_is_away(readiness)
    stores, readers = context.stores, context.list_inferring()
    inferred = stores.inferences.current(scope, now(), readers) if readers else None
    report = report_status(scope, context.access, context.service.datadir, now(), stores, context.settings, inferred)
    proposals = 0
    with suppress(BackendError):  # a capturing client is told of this; the rest can be reported all the same
        proposals = sum(one.state == "proposed" for one in context.service.journal.list_waiting(scope))
    counts = context.service.redactor.count_by_kind(scope)
    mode = context.settings.capture.find_mode(scope.namespace)
    proxied = count_chats() if context.owns_folder() else None
    counted = replace(report, redacted=counts, proposals=proposals, proxied=proxied)
    return replace(counted, capture=mode, parts=readiness.parts)


@handles(operations.Check)
def check(operation: operations.Check, context: Context) -> tuple[Difference, ...]:
    """Compare files, indexes and shapes with the graph, while other writes go on."""
    context.require_owner()
    done, service, stores = context.progress or (lambda step, steps: None), context.service, context.stores
    with service.importing:  # no other operation replaces the store meanwhile
        harm = read_store_files(stores)
        done(1, 2)
        writes = stores.graph.writes
        found = _compare(service, harm)
        if found and (
            stores.graph.writes != writes or not stores.graph.is_on_disk
        ):  # other processes may write to an endpoint
            lasting = set(_compare(service, harm))  # differences that only a write in progress caused are gone now
            found = [one for one in found if one in lasting]
        if found:
            with service.writing:
                discard_kept(found, stores)
        done(2, 2)
        return (*found, *(() if harm else _list_waiting(stores)))


def _compare(service: Service, harm: str | None) -> list[Difference]:
    return [*find_differences(service.stores), *(() if harm else find_task_differences(service.stores))]


def _list_waiting(parts: Backends) -> Iterator[Difference]:
    """Yield the notes that are not understood yet: waiting ones, and those given up until `retry`."""
    for one in queue.list_waiting(parts, ("pending", "failed")):
        times = f" after {one.attempts} attempts" if one.attempts else ""
        state = (
            "waits to be understood"
            if one.state == "pending"
            else "was not understood: `memento care retry` tries again"
        )
        yield Difference(what=f"{one.state}-note", iri=one.note, detail=f"the note {state}{times}")


@handles(operations.Rebuild)
def rebuild(operation: operations.Rebuild, context: Context) -> int:
    """Rebuild every index from the graph."""
    context.require_owner()
    context.require_writable()
    with context.service.writing:
        done = context.stores.rebuild_indexes(context.progress) + embed_all_tasks(context.stores)
        for listener in context.stores.change_listeners:
            listener(None)
        return done


@handles(operations.Upgrade)
def upgrade(operation: operations.Upgrade, context: Context) -> Upgraded:
    """Read what memories of an earlier version claim, and what waits to be read."""
    context.require_owner()
    context.require_writable()
    service, stores, folder, done = context.service, context.stores, "", 0
    with service.importing:
        if unclaimed := list_unclaimed(stores):
            if stores.graph.is_on_disk:
                folder = back_up(service.datadir.backups, None, service).folder
            with service.writing:
                stores.apply(Change(unclaimed))
        total = count_unread(
            [graph for graph in stores.graph.graphs() if graph.startswith("urn:memento:graph:")], stores
        )
        while (some := read_some(service)) and not service.closing.is_set():
            done += some
            if context.progress:
                context.progress(done, max(done, total))
        if not service.closing.is_set():
            stores.indexes.file.set_mark(CLAIMED, "written")
    return Upgraded(memories=done, backup=str(folder))


@handles(operations.Compact)
def compact(operation: operations.Compact, context: Context) -> Compacted:
    """Stage, apply or undo an update."""
    scope, service = context.scope(operation.namespace, "write"), context.service
    if operation.dry_run and (operation.undo or operation.branch):
        raise InputError("dry_run shows what a new run would do: leave out undo and branch")
    branch = None if operation.branch is None else parse_iri(operation.branch)
    writing, parts, progress = service.writing, context.stores, context.progress
    with service.importing:
        if operation.undo:
            done = undo_branch(branch, scope, parts, writing, progress)
        elif branch:
            done = apply_branch(branch, scope, parts, writing, progress)
        else:
            rules = Rules(
                ttl_days=operation.ttl_days,
                most=operation.max_entries,
                alike=operation.threshold,
                newest=operation.newest,
                shown=operation.lines,
            )
            done = stage_compaction(rules, scope, parts.clock(), parts, writing)
            if done.branch and not operation.dry_run:
                apply_branch(done.branch, scope, parts, writing, progress)
                done = replace(done, stage="applied")
            elif not done.branch and not operation.dry_run:
                done = replace(done, stage="applied")
    if done.branch and done.stage != "staged":
        service.maps.record(scope, "compacted" if done.stage == "applied" else "compaction undone")
    return done


@handles(operations.Migrate)
def migrate(operation: operations.Migrate, context: Context) -> Migrated:
    """Move the memory to another embedder while it is in use."""
    context.require_owner()
    chosen = {name: getattr(operation, name) for name in ("model", "provider", "dimensions", "base_url")}
    if any(value is not None for value in chosen.values()):
        context.require_own_machine("a model's folder is on the machine, and a service gets every text")
    service, stores = context.service, context.stores
    target = choose_target(service.settings.embedding, chosen)
    # A cache of embedded texts outside an encrypted folder would reveal its texts.
    keeps = target.cache and stores.datadir.vault is None
    embedder, before = embedder_of(replace(target, cache=keeps), cache_folder()), stores.embedder
    if embedder.fingerprint == before.fingerprint:
        embedder = before  # the same embedder, so that one file of vectors remains, not two
    is_same = embedder is before and not operation.force
    answer = Migrated(
        before=before.fingerprint,
        after=embedder.fingerprint,
        dimensions_before=before.dimensions,
        dimensions_after=embedder.dimensions,
        texts=stores.indexes.file.count_texts(),
        embedded=0,
        dry_run=operation.dry_run,
    )
    if operation.dry_run or is_same:
        resumed = 0 if is_same or operation.force else count_kept(stores.datadir, embedder.fingerprint)
        return replace(answer, embedded=0 if is_same else answer.texts - resumed, resumed=resumed)
    context.require_writable()
    context.require_files()
    settings = prepare_settings(service.datadir.settings_file, target)
    with Migration(stores, embedder, afresh=operation.force) as migration:
        with service.importing:
            made = back_up(service.datadir.backups, None, service)
        resumed = migration.measure().done
        migration.catch_up(context.progress)
        with service.importing, service.understanding, service.writing:
            migration.finish()
            stores.switch_embedder(
                embedder, migration.file, lambda: write_settings(service.datadir.settings_file, settings)
            )
            service.settings = replace(service.settings, embedding=target)
    logger.warning("embedding.migrated", extra={"before": before.fingerprint, "after": embedder.fingerprint})
    texts = stores.indexes.file.count_texts()
    return replace(answer, texts=texts, embedded=migration.embedded, resumed=resumed, backup=made.folder)


@handles(operations.Backup)
def backup(operation: operations.Backup, context: Context) -> BackedUp:
    """Make a backup of a memory while it is in use."""
    context.require_files()
    folder = find_folder(operation.folder, context) or context.service.datadir.backups
    context.require_writable()
    with context.service.importing:
        return back_up(folder, operation.keep, context.service, progress=context.progress)


@handles(operations.Restore)
def restore(operation: operations.Restore, context: Context) -> Restored:
    """Replace the memory by a backup, while it is open."""
    context.require_files()
    service, degraded = context.service, context.stores.degraded
    usual = Path(degraded.backup) if degraded else service.datadir.backups
    folder = find_folder(operation.folder, context) or usual
    with service.importing:
        restored = prepare_restore(folder, service.datadir, now(), context.progress)
        with service.understanding, service.writing:
            reopen(context.stores, service.settings, lambda: begin_restore(service.datadir, restored))
            service.put_off.clear()
    resume(service)
    return restored


@handles(operations.ListTenants)
def list_tenants(operation: operations.ListTenants, context: Context) -> tuple[TenantShown, ...]:
    """List the tenants and how much they have."""
    context.require_owner()
    graph = context.stores.graph
    owners = {one: owner for one in graph.graphs() if (owner := owner_of(one)) is not None}
    found: Counter[str] = Counter()
    for row in graph.select("exchange/counted", [*owners]) if owners else []:
        found[owners[IRI(str(row["graph"]))]] += int(str(row["count"]))
    return tuple(TenantShown(tenant=one, statements=found[one]) for one in sorted(found))


@handles(operations.ListTokens)
def show_tokens(operation: operations.ListTokens, context: Context) -> tuple[TokenShown, ...]:
    """List the tokens."""
    context.require_owner()
    return tuple(_show_token(one) for one in context.service.tokens.list_issued())


@handles(operations.CreateToken)
def create_token(operation: operations.CreateToken, context: Context) -> TokenShown:
    """Create a token."""
    context.require_own_machine("a token cannot make another")
    known = context.service.tokens
    token = known.create(
        operation.name,
        tenant=operation.tenant,
        namespaces=[check_namespace(one) for one in operation.namespaces],
        right=operation.scope,
        at=now(),
        graphs=operation.graphs,
    )
    if limit := known.access(token).describe_limit():
        context.notices.append(limit)
    return replace(_find_token(operation.name, context), token=token)


@handles(operations.RevokeToken)
def revoke_token(operation: operations.RevokeToken, context: Context) -> TokenShown:
    """Revoke a token."""
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
        graphs=issued.graphs,
    )


_LATER_S = 2.0
"""Seconds between two attempts to reopen a store that cannot write files."""


def reopen_store(service: Service) -> float | None:
    """Reopen a store that could not write files, once there is room; return the seconds until the next attempt, or None."""
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


def find_folder(folder: Path | str | None, context: Context) -> Path | None:
    """Return the folder that the caller named; the caller must own the whole memory, and be at this machine to name one."""
    context.require_owner()
    if folder is None:
        return None
    if context.access != OWNER:
        raise Forbidden(
            "only the owner's programs on the machine itself may name a folder there: leave it out to use the default one"
        )
    place = Path(folder).expanduser()
    if not place.is_absolute():
        raise InputError(f"the folder must be given from the root, as /mnt/backups, not {str(folder)[:80]!r}")
    return place
