"""Answers the operations on whole memories as RDF documents, in files and as streams."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import IO

from memento.archive.files import open_document, save_document
from memento.archive.rdf_export import ExportDocument, export_document
from memento.archive.rdf_import import ImportDocument, prepare_import, write_import
from memento.errors import MementoError
from memento.graph.documents import form_called
from memento.model import Exported, Merged
from memento.operations import documents as operations
from memento.service.context import Context
from memento.service.dispatch import handles
from memento.service.understanding import resume

_IN_MEMORY = 16 * 1024 * 1024
"""Bytes of a document up to which it is staged in memory."""


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
) -> Merged:
    """
    Take in a document that can be read again from its beginning; `name` is what errors call it.

    Raises:
        MementoError: as `ImportRdf`.
    """
    scope, service = context.scope(namespace, "write"), context.service
    if not check:
        context.access.needs("admin")
    with service.importing, _staging(source, context) as folder:
        arriving = ImportDocument(
            source=source, form=form_called(form), name=name, only=namespace, data=data, check=check, folder=folder
        )
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
def _staging(source: IO[bytes], context: Context) -> Iterator[Path | None]:
    """Give a folder for a long document, gone afterwards; what a killed process left there goes first."""
    home = context.service.datadir.path
    for left in home.glob("import-*"):
        rmtree(left, ignore_errors=True)
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    if size <= _IN_MEMORY:
        yield None
        return
    with TemporaryDirectory(prefix="import-", dir=home, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "staged"
