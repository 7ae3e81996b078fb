"""Memories as RDF documents, out and in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from shutil import copyfileobj, rmtree
from tempfile import TemporaryDirectory
from typing import IO

from memento.errors import MementoError
from memento.exchange.arriving import Arriving, poured, ready
from memento.exchange.files import saved, unpacked
from memento.exchange.leaving import Leaving, leaving
from memento.graph.documents import Form, form_called
from memento.model import Exported, Merged
from memento.ports import Progress
from memento.service.consolidating import Consolidating
from memento.sparql.jobs import Rewrite, Waiting

_IN_MEMORY = 16 * 1024 * 1024  # bytes of a document up to which it is staged in memory
_LONGER = 16  # times as long as a document its statements may be, each written out


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
        return saved(found.pieces, Path(file), found.form.name, found.statements, progress)

    def exporting(
        self, form: str, *, vectors: bool = False, audit: bool = False, namespace: str | None = None
    ) -> Leaving:
        """The same a piece at a time, for who sends it on; what is written after this call is not in it."""
        scope = self._in(namespace)
        if audit:
            self._access.needs("admin")
        with self._writing:
            return leaving(
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
            check: hold what is new against the shapes; only the owner may leave it out.
            namespace: where all memories go; default each where it was.
            progress: called with (texts embedded, texts in all).

        Raises:
            InputError: not well formed, by line and column, nested too deep, or with a DOCTYPE; or a graph that memories cannot be
                in.
            Forbidden: a namespace that the caller has no access to, or shapes left out by another than the owner.
            ShapeViolation: it would break a shape; names the statement and how to mend it.
            TooLong, TimedOut, Busy: reading it took more memory or time than a worker has, or all are taken.
        """
        chosen = form or str(file)
        with unpacked(Path(file), self.home.path) as source:
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
        waiting: Waiting | None = None,
    ) -> Merged:
        """
        The same of a stream; `name` is what errors call it.

        Args:
            waiting: who waits for it, and may leave.
        """
        scope = self._in(namespace, "write")
        if not check:
            self._as_owner("check=false leaves the shapes out, and is the owner's alone")
        chosen = form_called(form)
        with self._importing, self._rewritten(source, chosen, name, waiting) as lines, self._staging(lines) as folder:
            arriving = Arriving(
                lines=lines,
                name=name,
                only=namespace,
                data=data,
                check=check,
                folder=folder,
            )
            found = ready(arriving, scope, self._access, self._parts, progress)
            try:
                with self._writing:
                    merged = poured(found, scope, self._parts, self._access.name)
            except MementoError:
                found.prepared.undo()
                raise
            if merged.notes:
                self.resume()
            return merged

    @contextmanager
    def _rewritten(self, source: IO[bytes], form: Form, name: str, waiting: Waiting | None) -> Iterator[IO[bytes]]:
        """
        A document as N-Quads, read by a worker within what the graph store gives it: `sparql.query_s` seconds for each
        `limits.graph_bytes`, and `sparql.memory_mb`.
        """
        with self._workers.snapshots.scratch() as scratch:
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
                seconds=self.settings.sparql.query_s * max(1, ceil(size / self.settings.limits.graph_bytes)),
                most_bytes=_LONGER * size + _IN_MEMORY,
            )
            answer = self._workers.run(job, caller=self._access.caller, waiting=waiting)
            try:
                b"".join(answer.chunks)
            finally:
                answer.close()
            path.unlink()
            with target.open("rb") as lines:
                yield lines

    @contextmanager
    def _staging(self, lines: IO[bytes]) -> Iterator[Path | None]:
        """A folder for a long document, gone afterwards; what a killed process left there goes first."""
        for left in self.home.path.glob("import-*"):
            rmtree(left, ignore_errors=True)
        size = lines.seek(0, os.SEEK_END)
        lines.seek(0)
        if size <= _IN_MEMORY:
            yield None
            return
        with TemporaryDirectory(prefix="import-", dir=self.home.path, ignore_cleanup_errors=True) as folder:
            yield Path(folder) / "staged"
