"""
Answer the operations that bring notes in from elsewhere, and take a whole import out again.

*Flow:* rows → those whose keys are known are skipped → the others are noted in batches, each note with its `mem:Import`.

*Guarantees:* what one import brought in is found by one link; `undo_import` removes exactly that, and lets what it had ended hold
again. An undo that was interrupted can be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from memento.archive.forget import erase_notes
from memento.consolidation import amend
from memento.consolidation.task import (
    Task,
    find_earlier_note,
    find_known_keys,
    key_of_piece,
    make_tasks,
    require_ttl,
    split_row,
)
from memento.errors import NotFound
from memento.graph.terms import to_own_quad
from memento.iris import IRI, MEM, TYPE, import_iri, mint, parse_iri
from memento.model import (
    Change,
    Import,
    Imported,
    ImportShown,
    ImportUndone,
    Noted,
    NoteRow,
    Scope,
)
from memento.operations import notes
from memento.service.context import Context, handles
from memento.service.handlers.notes import join_pieces
from memento.service.understanding import take_batches

logger = logging.getLogger(__name__)

_BATCH = 128
_KEYS = 1_000
_STEP = 100
"""Notes that are erased in one write."""
LINES = 5
_LINE_CHARS = 100


@handles(notes.ImportNotes)
def import_notes(operation: notes.ImportNotes, context: Context) -> Imported:
    """Note rows in batches; the texts of a batch are embedded together."""
    scope, rows = context.scope(operation.namespace, "write"), operation.rows
    context.require_text(operation.origin, "origin")
    for number, row in enumerate(rows, start=1):
        context.require_text(row.content, f"content of row {number}")
        require_ttl(row.ttl_s, f"ttl of row {number}")
    if operation.part_of:
        _require_import(operation.part_of, scope, context)
    known = find_known(rows, scope, context)
    fresh = [row for row, is_known in zip(rows, known, strict=True) if not is_known]
    if operation.dry_run:
        return Imported(notes=(), memories=0, invalidated=0, known=sum(known), lines=show_beginnings(fresh))
    came = [replace(row, source=row.source or "import") for row in rows]
    keys = [row.idempotency_key for row in rows]
    began = None if operation.part_of else begin_import(operation.origin, keys, scope, context)
    iri = began.iri if began else cast(IRI, operation.part_of)
    every = note_rows(came, known, iri, scope, context, keep=not operation.consolidate, began=began)
    brought = any(one.note and not of for one, of in zip(every, known, strict=True))
    # Memories that existed before do not count for this import.
    counted = (replace(one, memories=(), invalidated=()) if of else one for one, of in zip(every, known, strict=True))
    return replace(sum_up([*counted]), known=sum(known), iri=iri if brought else cast("IRI | None", operation.part_of))


def find_known(rows: Sequence[NoteRow], scope: Scope, context: Context) -> list[bool]:
    """
    Tell for each row whether it is noted already.

    A long row counts as known if its last piece is: an import that was interrupted within a row goes on there.
    """
    options = context.settings.consolidation
    last = [key_of_piece(row.idempotency_key, len(split_row(row, options))) for row in rows]
    keys = [key for key in last if key]
    known = {
        key
        for at in range(0, len(keys), _KEYS)
        for key in find_known_keys(keys[at : at + _KEYS], scope, context.stores)
    }
    return [key in known for key in last]


def show_beginnings(rows: Sequence[NoteRow]) -> tuple[str, ...]:
    """Return the beginnings of the first rows, a line each."""
    lines = (" ".join(row.content.split()) for row in rows[:LINES])
    return tuple(line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…" for line in lines)


def note_rows(
    rows: Sequence[NoteRow],
    known: Sequence[bool],
    iri: IRI,
    scope: Scope,
    context: Context,
    *,
    keep: bool,
    began: Import | None,
) -> list[Noted]:
    """
    Note the rows that are not known; return what became of each row, or had become of it.

    Args:
        iri: the import that they come with.
        began: its record, if the graph does not have it yet.
    """
    service, stores = context.service, context.stores

    def make(row: NoteRow) -> list[Task]:
        tasks = make_tasks(row, scope, stores.clock(), service.zone, context.settings.consolidation, keep=keep)
        return [replace(task, imported=began, note=replace(task.note, imported_by=iri)) for task in tasks]

    fresh = [row for row, is_known in zip(rows, known, strict=True) if not is_known]
    counts: list[int] = []

    def make_batches() -> Iterator[list[Task]]:
        for begin in range(0, len(fresh), _BATCH):
            of_rows = [make(row) for row in fresh[begin : begin + _BATCH]]
            counts.extend(map(len, of_rows))
            yield [task for tasks in of_rows for task in tasks]

    taken: list[Noted] = []
    for number, batch in enumerate(take_batches(make_batches(), scope, service), start=1):
        taken += batch
        done = len(rows) - len(fresh) + min(number * _BATCH, len(fresh))
        logger.info("import.progress", extra={"done": done, "total": len(rows)})
        if context.progress:
            context.progress(done, len(rows))
    noted, pieces = iter(taken), iter(counts)
    return [
        find_earlier_note(make(row)[0].note, scope, stores) or Noted(note=None)
        if is_known
        else join_pieces([next(noted) for _ in range(next(pieces))])
        for row, is_known in zip(rows, known, strict=True)
    ]


def sum_up(noted: Sequence[Noted]) -> Imported:
    """Combine the results of the rows of an import."""
    return Imported(
        notes=tuple(one.note for one in noted),
        memories=sum(len(one.memories) for one in noted),
        invalidated=sum(len(one.invalidated) for one in noted),
        skipped=sum(one.note is None for one in noted),
        pending=sum(one.pending for one in noted),
        verbatim=sum(one.verbatim is not None for one in noted),
    )


def begin_import(source: str, keys: Sequence[str | None], scope: Scope, context: Context) -> Import:
    """
    Return the record of an import, which is written with its notes; that of a broken-off one with the same keys if there is one.

    Args:
        keys: the idempotency keys of all its rows; if one has none, the import is a new one.
    """
    graph = context.stores.graph
    named = [key for key in keys if key]
    iri = import_iri(scope.graph, source, named) if named and len(named) == len(keys) else mint("import")
    begun = (to_own_quad(quad)[2] for quad in graph.match(iri, MEM.at, None, scope.graph))
    at = next((at for at in begun if isinstance(at, datetime)), context.stores.clock())
    return Import(iri=iri, at=at, source=source)


def _end_import(iri: IRI, scope: Scope, context: Context) -> None:
    """Delete the record of an import."""
    with context.service.writing:
        said = tuple(to_own_quad(quad) for quad in context.stores.graph.match(iri, None, None, scope.graph))
        context.stores.commit(Change(removes=said), scope)


def _require_import(iri: str, scope: Scope, context: Context) -> IRI:
    if not any(True for _ in context.stores.graph.match(parse_iri(iri), TYPE, MEM.Import, scope.graph)):
        raise NotFound(f"there is no import <{iri[:200]}> in the namespace {scope.namespace!r}: `imports` lists them")
    return IRI(iri)


@handles(notes.Imports)
def list_imports(operation: notes.Imports, context: Context) -> tuple[ImportShown, ...]:
    """Look up the imports of the namespace."""
    scope = context.scope(operation.namespace)
    return tuple(
        ImportShown(
            iri=row["act"],
            at=row["at"],
            source=str(row["source"]),
            notes=row["notes"],
            memories=row["memories"],
        )
        for row in context.stores.graph.select("intake/imports", [scope.graph])
    )


@handles(notes.UndoImport)
def undo_import(operation: notes.UndoImport, context: Context) -> ImportUndone:
    """Let what an import had ended hold again, then erase in steps what it brought in, and at last its record."""
    scope, stores = context.scope(operation.namespace, "write"), context.stores
    iri = _require_import(operation.iri, scope, context)
    restored = set[IRI]()
    for row in stores.graph.select("intake/ended_by_import", [scope.graph], act=iri):
        with context.service.writing:
            try:
                restored.add(amend.undo(str(row["invalidation"]), scope, stores.clock(), stores).restored)
            except NotFound:
                continue  # it went with another of the same memory
    gone = [to_own_quad(quad)[0] for quad in context.stores.graph.match(None, MEM.importedBy, iri, scope.graph)]
    memories = 0
    for begin in range(0, len(gone), _STEP):
        with context.service.writing:
            done = erase_notes(gone[begin : begin + _STEP], scope, stores.clock(), stores)
        memories += len(done.memories)
        if context.progress:
            context.progress(min(begin + _STEP, len(gone)), len(gone))
    _end_import(iri, scope, context)
    context.service.maps.record(scope, f"took out an import of {len(gone):,} notes")
    return ImportUndone(iri=iri, notes=len(gone), memories=memories, restored=len(restored))
