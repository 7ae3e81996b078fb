"""Answers the operations on whole memories as RDF documents, in files and as streams."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory
from typing import IO

from memento.archive.exchange import ExportDocument, ImportDocument, export_document, prepare_import, write_import
from memento.archive.files import open_document, save_document
from memento.errors import MementoError
from memento.graph.documents import Form, form_called
from memento.model import Exported, Merged
from memento.operations import documents as operations
from memento.service.context import Context
from memento.service.dispatch import handles
from memento.service.understanding import resume
from memento.sparql.jobs import Rewrite, WaitingClient

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
        namespace=operation.namespace,
    )
    return save_document(document.pieces, Path(file), document.form.name, document.statements, context.progress)


def export_pieces(
    form: str, context: Context, *, vectors: bool = False, audit: bool = False, namespace: str | None
) -> ExportDocument:
    """
    Return an export a piece at a time; what is written after this call is not in it.

    Args:
        form: the name of a format, or a file's.
    """
    scope = context.scope(namespace)
    if audit:
        context.access.needs("admin")
    with context.service.writing:
        return export_document(
            form_called(form),
            scope,
            context.access,
            context.stores,
            only=namespace,
            vectors=vectors,
            audit=audit,
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
    chosen = form_called(form)
    with (
        service.importing,
        _rewrite(source, chosen, name, context, waiting) as lines,
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
        return merged


@contextmanager
def _rewrite(
    source: IO[bytes], form: Form, name: str, context: Context, waiting: WaitingClient | None
) -> Iterator[IO[bytes]]:
    """
    Have a worker write a document as N-Quads, within what the graph store gives it: `sparql.query_s` seconds for each
    `limits.graph_bytes`, and `sparql.memory_mb`.
    """
    workers, settings = context.service.workers, context.settings
    with workers.snapshots.scratch() as scratch:
        scratch.mkdir()
        path, target = scratch / "document", scratch / "lines"
        with path.open("wb") as file:
            copyfileobj(source, file)
            size = file.tell()
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
        path.unlink()
        with target.open("rb") as lines:
            yield lines


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
