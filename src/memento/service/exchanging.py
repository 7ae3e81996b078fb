"""Memories as RDF documents, out and in."""

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
from memento.ports import Progress
from memento.service.consolidating import Consolidating

_IN_MEMORY = 16 * 1024 * 1024  # bytes of a document up to which it is staged in memory


class Exchanging(Consolidating):
    """Exports and imports."""

    def export(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        vectors: bool = False,
        audit: bool = False,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """
        Write every graph of the tenant that the caller sees into a file, or those of one namespace: memories, entities, the user,
        the provenance, the tenant's own RDF. Nothing is lost: `import_rdf` makes the same statements of it.

        Args:
            file: takes the place of what is there once it is whole; `.gz` at its end packs it.
            form: trig, nquads or jsonld; default by the file's name.
            vectors: put the vectors in, so that an import by the same embedder need not make them again.
            audit: put in what was done with the store, for reading; it takes the right to admin.
            namespace: this one alone, with what its memories need of others; default all of them.
            progress: called with (statements written, statements in all).

        Raises:
            InputError: a format that is none, or the file cannot be written.
            NotAcceptable: a format that has no named graphs.
        """
        found = self.exporting(form or str(file), vectors=vectors, audit=audit, namespace=namespace)
        return save_document(found.pieces, Path(file), found.form.name, found.statements, progress)

    def exporting(
        self, form: str, *, vectors: bool = False, audit: bool = False, namespace: str | None = None
    ) -> ExportDocument:
        """The same a piece at a time, for who sends it on; what is written after this call is not in it."""
        scope = self._in(namespace)
        if audit:
            self._access.needs("admin")
        with self._writing:
            return export_document(
                form_called(form), scope, self._access, self._parts, only=namespace, vectors=vectors, audit=audit
            )

    def import_rdf(
        self,
        file: str | Path,
        *,
        form: str | None = None,
        data: str | None = None,
        check: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Merged:
        """
        Take in an RDF document: an export of this or another memory, or somebody's own RDF. All of it or nothing; a second time
        changes nothing.

        Args:
            file: packed or not.
            form: trig, nquads, jsonld; turtle, ntriples, rdfxml, which have no graphs, with `data`. Default by the file's name.
            data: the graph of your own that triples outside of any graph go to.
            check: hold what is new against the shapes; without, it takes the right to admin.
            namespace: where all memories go; default each where it was.
            progress: called with (texts embedded, texts in all).

        Raises:
            InputError: not well formed, by line and column; or a graph that memories cannot be in.
            Forbidden: a namespace that the caller has no access to.
            ShapeViolation: it would break a shape.
        """
        chosen = form or str(file)
        with open_document(Path(file), self.datadir.path) as source:
            return self.take_in(
                source, Path(file).name, chosen, data=data, check=check, namespace=namespace, progress=progress
            )

    def take_in(
        self,
        source: IO[bytes],
        name: str,
        form: str,
        *,
        data: str | None = None,
        check: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Merged:
        """The same of a stream that can be read again from its beginning; `name` is what errors call it."""
        scope = self._in(namespace, "write")
        if not check:
            self._access.needs("admin")
        with self._importing, self._staging(source) as folder:
            arriving = ImportDocument(
                source=source,
                form=form_called(form),
                name=name,
                only=namespace,
                data=data,
                check=check,
                folder=folder,
            )
            found = prepare_import(arriving, scope, self._access, self._parts, progress)
            try:
                with self._writing:
                    merged = write_import(found, scope, self._parts, self._access.name)
            except MementoError:
                found.vectors.undo()
                raise
            if merged.notes:
                self.resume()
            return merged

    @contextmanager
    def _staging(self, source: IO[bytes]) -> Iterator[Path | None]:
        """A folder for a long document, gone afterwards; what a killed process left there goes first."""
        for left in self.datadir.path.glob("import-*"):
            rmtree(left, ignore_errors=True)
        size = source.seek(0, os.SEEK_END)
        source.seek(0)
        if size <= _IN_MEMORY:
            yield None
            return
        with TemporaryDirectory(prefix="import-", dir=self.datadir.path, ignore_cleanup_errors=True) as folder:
            yield Path(folder) / "staged"
