"""
Store documents in the graph: each is a session whose turns are its pieces, each a note with one memory of its own text.

If a document is read again, pieces that are unchanged at their position are kept; changed ones retire what was at their position.
Pieces whose position no longer exists, and all pieces of a document that is gone, end without a successor.

*Flow:* `Reading` (a document as it is now) → `plan_revision` (which pieces are new) → notes → `finish_revision` (one change: the
document, what it defines and imports, what ends).

*Guarantees:* plans and changes are pure. A document counts as read only once all of its pieces are in the graph, so an interrupted
ingest can continue: it finds the pieces that are already there by their keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from hashlib import sha256

from memento.consolidation.task import Task, make_task
from memento.graph import mapping
from memento.graph.store import Row
from memento.iris import IRI, MEM, code_iri, mint, session_iri
from memento.model import Change, CodeEntity, CodeType, Document, Invalidation, Noted, NoteRow, Quad, Scope
from memento.text.code_names import find_code_names, make_code_entity
from memento.text.sentences import drop_controls

GONE = "it is there no more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    A document as it was read.

    `name` is its whole path or its address, `short` its path within its folder, `digest` the SHA-256 of its bytes, `at` the time of
    its last change.
    """

    name: str
    short: str
    digest: str
    at: datetime
    form: str
    title: str
    pieces: tuple[str, ...]
    is_code: bool = False
    defines: tuple[tuple[CodeType, str], ...] = ()
    imports: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a document in the graph, with its memory."""

    memory: IRI
    content: str
    position: int
    valid_at: datetime
    is_over: bool

    @classmethod
    def from_row(cls, row: Row) -> Piece:
        """Build a piece from a row of the query `pieces`."""
        return cls(
            memory=row["memory"],
            content=str(row["content"]),
            position=row["position"],
            valid_at=row["validAt"],
            is_over="over" in row,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The changes to a document: the tasks of the new pieces, by position, and the memories that stay."""

    reading: Reading
    document: Document
    before: Document | None
    pieces: tuple[Piece, ...]
    kept: frozenset[IRI]
    tasks: Mapping[int, Task]


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of the bytes of a document, in hexadecimal."""
    return sha256(data).hexdigest()


def document_iri(name: str, scope: Scope) -> IRI:
    """Return the IRI of the document at a path or an address."""
    return session_iri(scope.graph, name)


def file_entity(name: str, short: str, scope: Scope) -> CodeEntity:
    """Return a document as a code entity that texts can name."""
    kind: CodeType = "url" if "://" in name else "file"
    return CodeEntity(iri=code_iri(scope.graph, kind, name), name=short, type=kind)


def plan_revision(
    reading: Reading,
    before: Document | None,
    pieces: Sequence[Piece],
    files: Mapping[str, CodeEntity],
    scope: Scope,
    now: datetime,
    zone: tzinfo,
) -> Revision:
    """
    Compare a document as it is now with what the graph has of it, and plan the changes.

    Args:
        before: the document as it was last read.
        files: the files of the same folder by name, as far as the name is unique.
        now: the current time; a later change time of a file is replaced by it.
    """
    itself = file_entity(reading.name, reading.short, scope)
    at = min(reading.at, now)
    document = Document(
        iri=document_iri(reading.name, scope),
        name=reading.name,
        form=reading.form,
        content_hash=reading.digest,
        revision=before.revision + 1 if before else 1,
        at=at,
        file=itself.iri,
    )
    live = {(one.position, one.content): one.memory for one in pieces if not one.is_over}
    kept, tasks = set[IRI](), dict[int, Task]()
    for position, text in enumerate(reading.pieces):
        if (memory := live.get((position, drop_controls(text)))) is not None:
            kept.add(memory)
            continue
        row = NoteRow(
            content=text,
            at=at,
            title=reading.title,
            session=reading.name,
            position=position,
            idempotency_key=f"ingest:{document.iri.rpartition(':')[2]}:{document.revision}:{reading.digest[:16]}:{position}",
            source=reading.source,
        )
        tasks[position] = replace(
            make_task(row, scope, now, zone, keep=True),
            is_code=reading.is_code,
            refers=(itself, *_find_named(text, reading, files, scope, itself)),
        )
    return Revision(
        reading=reading,
        document=document,
        before=before,
        pieces=tuple(pieces),
        kept=frozenset(kept),
        tasks=tasks,
    )


def _find_named(
    text: str, reading: Reading, files: Mapping[str, CodeEntity], scope: Scope, itself: CodeEntity
) -> Iterable[CodeEntity]:
    """List the code entities that a piece names: by spelling, and those of its file's definitions and imports that it contains."""
    own = [(kind, name) for kind, name in reading.defines if name in text]
    own += [("package", name) for name in reading.imports if name in text]
    found = {
        entity.iri: entity
        for kind, name in (*find_code_names(text, is_source=reading.form == "code"), *own)
        if (entity := (files.get(name) if kind == "file" else None) or make_code_entity(kind, name, scope.graph)).iri
        != itself.iri
    }
    return found.values()


def finish_revision(
    revision: Revision, noted: Mapping[int, Noted], file_before: CodeEntity | None, scope: Scope, now: datetime
) -> tuple[Change, int]:
    """
    Build the change that marks a document as read once its pieces are noted, and count the memories that it ends.

    Args:
        noted: the results of the tasks, by position.
        file_before: the file with what it defined and imported before, if known.
    """
    reading, graph = revision.reading, scope.graph
    fresh = {position: one.memories[0] for position, one in noted.items() if one.memories}
    adds: list[Quad] = []
    ended = 0
    stays = {*revision.kept, *fresh.values()}
    for piece in revision.pieces:
        if piece.memory in stays or piece.is_over:
            continue
        ended += 1
        successor = fresh.get(piece.position)
        adds += _end_piece(piece, successor, revision.document.at if successor else now, reading.short, graph, now)
    for memory in fresh.values():
        adds += mapping.tag_quads(memory, reading.tags, graph)
    itself = file_entity(reading.name, reading.short, scope)
    entities = [make_code_entity(kind, name, scope.graph) for kind, name in reading.defines]
    packages = [make_code_entity("package", name, scope.graph) for name in reading.imports]
    after = replace(
        itself,
        defines=tuple(dict.fromkeys(one.iri for one in entities)),
        imports=tuple(dict.fromkeys(one.iri for one in packages)),
    )
    for one in (*entities, *packages):
        adds += mapping.quads(one, graph)
    change = _replace_node(revision.before, revision.document, graph) + _replace_node(file_before, after, graph)
    return change + Change(tuple(dict.fromkeys(adds))), ended


def end_document(
    document: Document, pieces: Sequence[Piece], file_before: CodeEntity | None, scope: Scope, now: datetime
) -> tuple[Change, int]:
    """Build the change that ends a document that is gone, and its memories; return the number of memories too."""
    live = [piece for piece in pieces if not piece.is_over]
    adds = [quad for piece in live for quad in _end_piece(piece, None, now, "", scope.graph, now)]
    change = _replace_node(document, replace(document, invalid_at=now, reason=GONE), scope.graph)
    if file_before:
        change += _replace_node(file_before, replace(file_before, defines=(), imports=()), scope.graph)
    return change + Change(tuple(adds)), len(live)


def _end_piece(
    piece: Piece, successor: IRI | None, at: datetime, name: str, graph: IRI, now: datetime
) -> Iterable[Quad]:
    yield (piece.memory, MEM.invalidAt, max(at, piece.valid_at), graph)
    if successor is not None:
        why = Invalidation(
            iri=mint("invalidation"),
            invalidator=successor,
            invalidated=piece.memory,
            reason=f"{name} was changed",
            at=now,
            mode="state-change",
            rule="document",
        )
        yield from mapping.quads(why, graph)
        yield mapping.invalidates(successor, piece.memory, graph)


def _replace_node(before: Document | CodeEntity | None, after: Document | CodeEntity, graph: IRI) -> Change:
    old = set(mapping.quads(before, graph)) if before else set()
    new = mapping.quads(after, graph)
    return Change(tuple(one for one in new if one not in old), tuple(old.difference(new)))
