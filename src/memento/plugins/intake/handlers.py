"""
Answer the operations that ingest files, folders and pages, and what agents have written on this machine.

*Flow:* find the files (`locations`, `adoption`) → read them, redact secrets, split them (`extractors`) → plan (`documents`) → note
the pieces like the rows of an import → record in one change that the document was read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from memento.codec import decode
from memento.consolidation.context import load_statements
from memento.errors import InputError, TimedOut, TooLong, TooMuch
from memento.graph.mapping import node_or_none
from memento.intake.redaction import Redaction
from memento.iris import IRI, namespace_of
from memento.model import CodeEntity, Document, Noted, NoteRow, Scope
from memento.plugins.intake import operations
from memento.plugins.intake.adoption import Find, find_files, list_agents, read_find, show_place
from memento.plugins.intake.documents import (
    Piece,
    Reading,
    Revision,
    digest_bytes,
    document_iri,
    end_document,
    file_entity,
    finish_revision,
    plan_revision,
)
from memento.plugins.intake.extractors import Pieces, cut_pieces
from memento.plugins.intake.locations import LeftOut, Page, fetch_page, is_url, list_files, read_bytes
from memento.plugins.intake.memory_files import ROOT, Refusal, cut_file, run_command
from memento.plugins.intake.nouns import Adoptable, Adopted, FileAnswer, Ingested
from memento.plugins.intake.settings import IntakeSettings
from memento.service.context import Context, handles
from memento.service.handlers.imports import begin_import, find_known, note_rows, show_beginnings, sum_up
from memento.service.understanding import take_batches
from memento.sparql.jobs import CLIENT, Call

_BATCH = 64
"""Pieces in a batch, which may come from several documents; progress is reported after each batch."""
_READ_S = 120.0
"""Seconds that reading one document may take."""
_PROJECT = "project"
"""The form of the description that a project has of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A document that is already in the graph."""

    iri: IRI
    form: str
    digest: str
    is_gone: bool


@dataclass(slots=True)
class _Intake:
    """One ingest in progress."""

    context: Context
    scope: Scope
    redaction: Redaction
    is_trial: bool
    known: Mapping[str, _Known]
    files: Mapping[str, CodeEntity] = field(default_factory=dict)
    done: Ingested = field(default_factory=Ingested)
    remarks: dict[str, None] = field(default_factory=dict)
    waiting: list[Revision] = field(default_factory=list)
    steps: int = 0
    """Documents read plus pieces noted so far."""
    total: int = 0

    def report(self) -> None:
        """Report progress: the number of pieces grows as documents are read."""
        if self.context.progress:
            self.context.progress(self.steps, self.total)

    def plan(self, reading: Reading) -> None:
        """Plan the change for a new or changed document; its pieces are noted with the next batch."""
        known = self.known.get(reading.name)
        is_new = known is None or known.is_gone
        self.done = replace(
            self.done,
            fresh=self.done.fresh + is_new,
            changed=self.done.changed + (not is_new),
            pieces=self.done.pieces + len(reading.pieces),
        )
        if self.is_trial:
            return
        [(before, pieces, _)] = self.load_documents([known.iri]) if known else [(None, (), None)]
        zone, now = self.context.service.zone, self.context.stores.clock()
        if before is None:  # an interrupted ingest may have left pieces
            [(_, pieces, _)] = self.load_documents([document_iri(reading.name, self.scope)])
        self.waiting.append(plan_revision(reading, before, pieces, self.files, self.scope, now, zone))
        self.total += len(self.waiting[-1].tasks)
        if sum(len(one.tasks) for one in self.waiting) >= _BATCH:
            self.write_batch()

    def write_batch(self) -> None:
        """Note the waiting pieces, and record that their documents were read."""
        waiting, self.waiting = self.waiting, []
        tasks = [task for one in waiting for task in one.tasks.values()]
        batches = (tasks[at : at + _BATCH] for at in range(0, len(tasks), _BATCH))
        taken: list[Noted] = []
        for batch in take_batches(batches, self.scope, self.context.service):
            taken += batch
            self.steps += len(batch)
            self.report()
        noted = iter(taken)
        for one in waiting:
            self._finish(one, {position: next(noted) for position in one.tasks})

    def _finish(self, revision: Revision, noted: Mapping[int, Noted]) -> None:
        stores, service = self.context.stores, self.context.service
        with service.writing:
            [(_, _, file)] = self.load_documents([revision.document.iri])
            change, ended = finish_revision(revision, noted, file, self.scope, stores.clock())
            stores.commit(change, self.scope)
        self.done = replace(
            self.done,
            memories=self.done.memories + sum(len(one.memories) for one in noted.values()),
            retired=self.done.retired + ended,
        )

    def retire(self, known: _Known) -> None:
        """Retire a document that no longer exists."""
        self.done = replace(self.done, gone=self.done.gone + 1)
        if self.is_trial:
            return
        with self.context.service.writing:
            [(document, pieces, file)] = self.load_documents([known.iri])
            if document is None:
                return
            change, ended = end_document(document, pieces, file, self.scope, self.context.stores.clock())
            self.context.stores.commit(change, self.scope)
        self.done = replace(self.done, retired=self.done.retired + ended)

    def load_documents(self, iris: Sequence[IRI]) -> list[tuple[Document | None, list[Piece], CodeEntity | None]]:
        """Load documents, their memories, and their files with the code that these define."""
        graph = self.context.stores.graph
        said = load_statements(iris, self.scope, self.context.stores)
        documents = {iri: node_or_none(Document, iri, said[iri]) for iri in said}
        named = [one.file for one in documents.values() if one and one.file]
        files = load_statements(named, self.scope, self.context.stores)
        rows = graph.select("plugins/intake/pieces", [self.scope.graph], document=list(iris))
        pieces: dict[IRI, list[Piece]] = {}
        for row in rows:
            pieces.setdefault(row["document"], []).append(Piece.from_row(row))

        def find_file(document: Document | None) -> CodeEntity | None:
            iri = document.file if document else None
            return node_or_none(CodeEntity, iri, files[iri]) if iri in files else None

        return [(documents.get(iri), pieces.get(iri, []), find_file(documents.get(iri))) for iri in iris]

    def finish(self, left_out: LeftOut) -> Ingested:
        """Note the pieces that still wait, and return the totals."""
        if self.waiting:
            self.write_batch()
        return replace(
            self.done,
            left_out=dict(left_out.reasons.most_common()),
            names=tuple(left_out.names),
            redacted=self.redaction.close(is_trial=self.is_trial),
            remarks=tuple(self.remarks),
        )


@handles(operations.Ingest)
def ingest(operation: operations.Ingest, context: Context) -> Ingested:
    """Ingest a file, a folder or a page."""
    context.require_own_machine("it reads files of this machine, or fetches a page")
    scope, settings = context.scope(operation.namespace, "write"), context.settings.of(IntakeSettings)
    if operation.source is not None:
        context.require_text(operation.source, "source")
    if is_url(operation.file):
        return _ingest_page(operation, scope, context)
    path = find_path(operation.file)
    intake = _begin(operation, str(path), scope, context)
    left_out = LeftOut()
    paths = list_files(path, operation.exclude, left_out) if path.is_dir() else [path]
    root = _find_root(path)
    intake.files = _name_files(paths, root, scope)
    looked, intake.total = 0, len(paths)
    for place, one in enumerate(paths):
        if operation.most is not None and looked >= operation.most:
            intake.done = replace(intake.done, left=len(paths) - place)
            break
        try:
            data, at = read_bytes(one, settings.file_bytes)
            digest = digest_bytes(data)
            known = intake.known.get(str(one))
            if known and known.digest == digest and not known.is_gone and not operation.force:
                intake.done = replace(intake.done, unchanged=intake.done.unchanged + 1)
                continue
            looked += 1
            _raise_if_secret(str(one), context)
            del data
            found = _read_pieces(one, digest, one, intake)
            reading = _make_reading(found, str(one), one.relative_to(root).as_posix(), digest, at, intake)
            intake.plan(replace(reading, source=operation.source))
        except InputError as error:
            if path == one:
                raise InputError(f"{one.name} is not taken in: {error}") from error
            left_out.leave_out(one.relative_to(path).as_posix(), str(error))
        finally:
            intake.steps += 1
            intake.report()
    if not intake.done.left and path.is_dir():
        there, below = {str(one) for one in paths}, f"{path}/"
        for name, known in intake.known.items():
            is_lost = name.startswith(below) and name not in there and known.form != _PROJECT and not known.is_gone
            if is_lost and not _is_there(Path(name)):
                intake.retire(known)
    return intake.finish(left_out)


def _ingest_page(operation: operations.Ingest, scope: Scope, context: Context) -> Ingested:
    _raise_if_secret(operation.file, context)
    intake = _begin(operation, operation.file, scope, context)
    page: Page = fetch_page(operation.file, context.settings.of(IntakeSettings))
    _raise_if_secret(page.url, context)
    digest = digest_bytes(page.data)
    known = intake.known.get(operation.file)
    if known and known.digest == digest and not known.is_gone and not operation.force:
        intake.done = replace(intake.done, unchanged=1)
        return intake.finish(LeftOut())
    path = Path(page.url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2] or "page")
    try:
        with context.service.workers.snapshots.scratch() as scratch:
            scratch.write_bytes(page.data)
            try:
                found = _read_pieces(scratch, digest, path, intake, page.media)
            finally:
                scratch.unlink()
    except InputError as error:
        raise InputError(f"{operation.file} is not taken in: {error}") from error
    at = page.at or context.stores.clock()
    reading = _make_reading(found, operation.file, operation.file, digest, at, intake)
    intake.plan(replace(reading, source=operation.source))
    return intake.finish(LeftOut())


def _begin(
    operation: operations.Ingest | operations.IndexProject | operations.MemoryFile,
    beginning: str,
    scope: Scope,
    context: Context,
) -> _Intake:
    rows = context.stores.graph.select("plugins/intake/documents", [scope.graph], beginning=beginning)
    known = {
        str(row["name"]): _Known(
            iri=row["document"], form=str(row["form"]), digest=str(row["digest"]), is_gone="ended" in row
        )
        for row in rows
    }
    is_trial = isinstance(operation, operations.Ingest) and operation.dry_run
    redaction = context.begin_redaction(operation.namespace)
    return _Intake(context=context, scope=scope, redaction=redaction, is_trial=is_trial, known=known)


def _read_pieces(path: Path, digest: str, name: Path, intake: _Intake, media: str = "") -> Pieces:
    """
    Have a worker read a document: it is ended if that takes too long or too much memory, or if nobody waits for it any more.

    Raises:
        InputError: with the reason only.
    """
    context = intake.context
    job = Call(
        function="memento.plugins.intake.extractors:read_document",
        arguments={
            "path": str(path),
            "digest": digest,
            "name": str(name),
            "type": media,
            "redaction": asdict(context.service.redactor.settings),
            "tenant": intake.scope.tenant,
            "namespace": intake.scope.namespace,
        },
        seconds=_READ_S,
    )
    try:
        answer = context.service.workers.run(job, caller=context.access.caller, waiting=CLIENT.get())
        try:
            found = decode(Pieces, b"".join(answer.chunks))
        finally:
            answer.close()
    except TimedOut as error:
        raise InputError(f"reading it takes longer than {_READ_S:g} s: cut it") from error
    except (TooLong, TooMuch) as error:
        raise InputError(
            f"reading it takes more memory than {context.settings.sparql.memory_mb} MiB (sparql.memory_mb): cut it"
        ) from error
    intake.redaction.found.update(found.secrets)
    return found


def _make_reading(
    found: Pieces, name: str, short: str, digest: str, at: datetime, intake: _Intake, tags: tuple[str, ...] = ()
) -> Reading:
    """Return a parsed document; raises `InputError` with the reason if nothing of it can be stored."""
    if not found.pieces:
        raise InputError("it has no text")
    if found.remark:
        intake.remarks[found.remark] = None
    return Reading(
        name=name,
        short=short,
        digest=digest,
        at=at,
        form=found.form,
        title=short if found.is_code else found.title,
        pieces=found.pieces,
        is_code=found.is_code,
        defines=found.defines,
        imports=found.imports,
        tags=tags,
    )


def find_path(source: str) -> Path:
    """Return the real path of a file or a folder; raises `InputError` if there is none."""
    path = Path(source).expanduser()
    if not path.is_absolute():
        raise InputError(f"{source[:200]!r} is not an absolute path: give one that begins at the root")
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"there is no file or folder {source[:200]}") from error


def _find_root(path: Path) -> Path:
    """Return the folder that file names are relative to: the project that contains the path, else the folder of the path."""
    folder = path if path.is_dir() else path.parent
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def _name_files(paths: Iterable[Path], root: Path, scope: Scope) -> dict[str, CodeEntity]:
    """Map the ends of paths to their files, where only one file has that end."""
    found: dict[str, CodeEntity | None] = {}
    for path in paths:
        entity = file_entity(str(path), path.relative_to(root).as_posix(), scope)
        parts = entity.name.split("/")
        for at in range(len(parts)):
            end = "/".join(parts[at:])
            found[end] = None if end in found else entity
    return {end: entity for end, entity in found.items() if entity}


def _raise_if_secret(name: str, context: Context) -> None:
    """Raise if a path or an address contains a secret: it identifies the document, so it cannot be redacted."""
    if context.service.redactor.is_on and (found := context.service.redactor.find_secrets(name, entropy=False)):
        raise InputError(f"there is a secret in its name ({found[0].kind}): use another")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # if the path cannot be checked, the file may still exist


_MANIFESTS = (
    *(
        "README*",
        "package.json",
        "Cargo.toml",
        "pyproject.toml",
        "go.mod",
        "pom.xml",
        "build.gradle*",
        "Gemfile",
        "composer.json",
    ),
    *("tsconfig*.json", ".env.example", "jest.config.*", "vitest.config.*", "pytest.ini", "Makefile", "Dockerfile"),
)
_MANIFEST_CHARS = 5_000
_TREE_ENTRIES = 400


@handles(operations.IndexProject)
def index_project(operation: operations.IndexProject, context: Context) -> Ingested:
    """Ingest the description that a project has of itself, once."""
    context.require_own_machine("it reads files of this machine")
    scope, folder = context.scope(operation.namespace, "write"), find_path(operation.folder)
    if not folder.is_dir():
        raise InputError(f"{folder.name} is not a folder")
    _raise_if_secret(str(folder), context)
    intake = _begin(operation, str(folder), scope, context)
    known = intake.known.get(str(folder))
    if known and not known.is_gone and not operation.force:
        namespace = namespace_of(scope.graph)
        intake.done = replace(intake.done, unchanged=1)
        intake.remarks[
            f"{folder.name} is indexed already in the namespace {namespace!r}: give force=true (`--force`) to read it again"
        ] = None
        return intake.finish(LeftOut())
    left_out = LeftOut()
    files = list_files(folder, (), left_out)
    left_out = LeftOut()
    texts = [f"Files of the project {folder.name}, two levels of them:\n{_draw_tree(files, folder)}"]
    chosen = sorted({one for pattern in _MANIFESTS for one in folder.glob(pattern) if one.is_file()})
    for one in chosen:
        try:
            if one.is_symlink():
                raise InputError("it is a link")
            data, _ = read_bytes(one, context.settings.of(IntakeSettings).file_bytes)
            found = _read_pieces(one, digest_bytes(data), one, intake)
            texts.append(f"{one.name} of the project {folder.name}:\n\n" + "\n\n".join(found.pieces)[:_MANIFEST_CHARS])
        except InputError as error:
            left_out.leave_out(one.name, str(error))
    blocks = tuple(piece for text in texts for piece in cut_pieces([text]))
    about = Pieces(form=_PROJECT, title=folder.name, pieces=tuple(cut_pieces(blocks, is_apart=True)), is_code=True)
    digest = digest_bytes("\0".join(blocks).encode())
    now = context.stores.clock()
    intake.files = _name_files(files, _find_root(folder), scope)
    intake.plan(_make_reading(about, str(folder), folder.name, digest, now, intake, ("architecture", "config")))
    return intake.finish(left_out)


def _draw_tree(files: Sequence[Path], folder: Path) -> str:
    """List the files of a folder and its subfolders, and count the files in deeper ones."""
    lines: dict[str, int] = {}
    for one in files:
        parts = one.relative_to(folder).parts
        name = "/".join(parts[:2]) + ("/" if len(parts) > 2 else "")
        lines[name] = lines.get(name, 0) + 1
    shown = [f"{name} ({many} files)" if name.endswith("/") else name for name, many in lines.items()]
    more = [f"and {len(shown) - _TREE_ENTRIES} more"] if len(shown) > _TREE_ENTRIES else []
    return "\n".join([*shown[:_TREE_ENTRIES], *more])


_FILES = "memory:"
"""The prefix of paths of files of the memory tool, which keeps them apart from files of the machine."""
_MEMORY_FILE = "memory-file"


class _Editing:
    """The lock for editing a file of the memory tool, from reading it to writing it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


@handles(operations.MemoryFile)
def run_file_command(operation: operations.MemoryFile, context: Context) -> FileAnswer:
    """Run a command of the memory tool, and note the new text of its files."""
    is_reading = operation.command == "view"
    scope = context.scope(operation.namespace, "read" if is_reading else "write")
    for name in ("file_text", "new_str", "insert_text"):
        if getattr(operation, name):
            context.require_text(getattr(operation, name) + ".", name)
    if is_reading:
        return _run_on_files(operation, scope, context)
    with context.service.keep(_Editing).lock:
        return _run_on_files(operation, scope, context)


def _run_on_files(operation: operations.MemoryFile, scope: Scope, context: Context) -> FileAnswer:
    intake = _begin(operation, f"{_FILES}{ROOT}/", scope, context)
    files = {name.removeprefix(_FILES): one.iri for name, one in intake.known.items() if not one.is_gone}
    graph = context.stores.graph

    def read(path: str) -> str:
        rows = graph.select("plugins/intake/file_text", [scope.graph], document=files[path])
        return "".join(str(row["text"]) for row in rows)

    try:
        outcome = run_command(operation, files, read)
    except Refusal as error:
        return FileAnswer(text=str(error), failed=True)
    at = context.stores.clock()
    for path, text in outcome.writes.items():
        if text is None:
            intake.retire(intake.known[_FILES + path])
            continue
        intake.plan(
            Reading(
                name=_FILES + path,
                short=path,
                digest=digest_bytes(text.encode()),
                at=at,
                form=_MEMORY_FILE,
                title=re.sub(r"[_\W]+", " ", Path(path).stem).strip() or path,
                pieces=tuple(cut_file(text)),
                source="memory-tool",
            )
        )
        intake.write_batch()
    return FileAnswer(text=outcome.said, memories=intake.done.memories, retired=intake.done.retired)


@handles(operations.Adopt)
def adopt(operation: operations.Adopt, context: Context) -> Adopted:
    """Look for what agents have written, show it, and note it if that is asked."""
    context.require_own_machine("it reads files of this machine")
    scope = context.scope(operation.namespace, "write")
    if unknown := [one for one in operation.agents if one not in list_agents()]:
        raise InputError(f"{unknown[0][:40]!r} is no agent that is known: choose from {', '.join(list_agents())}")
    home = find_path(str(operation.user_home or "~"))
    projects = [find_path(one) for one in operation.projects]
    for folder in (home, *projects):
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder")
    left_out = LeftOut()
    finds = [
        one
        for one in find_files(home, projects, left_out)
        if (not operation.agents or one.place.agent in operation.agents)
        and (operation.sessions or one.place.kind != "sessions")
    ]
    redaction = context.begin_redaction(operation.namespace)
    shown: list[Adoptable] = []
    to_note: dict[bool, list[NoteRow]] = {True: [], False: []}
    keys = set[str | None]()
    looked = 0
    for (place, root), group in groupby(finds, key=lambda one: (one.place, one.root)):
        rows: list[NoteRow] = []
        files = 0
        for one in group:
            looked += 1
            if context.progress and not operation.apply:
                context.progress(looked, len(finds))
            try:
                rows += [redaction.redact(row) for row in _read(one, context)]
                files += 1
            except InputError as error:
                left_out.leave_out(one.shown, str(error))
        rows = [row for row in rows if row.idempotency_key not in keys and not keys.add(row.idempotency_key)]  # type: ignore[func-returns-value]
        known = find_known(rows, scope, context)
        fresh = [row for row, is_known in zip(rows, known, strict=True) if not is_known]
        to_note[place.kind != "sessions"] += fresh
        if rows:
            shown.append(
                Adoptable(
                    agent=place.agent,
                    kind=place.kind,
                    place=show_place(place, root),
                    files=files,
                    rows=len(rows),
                    known=sum(known),
                    lines=show_beginnings(fresh),
                )
            )
    answer = Adopted(
        found=tuple(shown),
        redacted=redaction.close(is_trial=not operation.apply),
        left_out=dict(left_out.reasons.most_common()),
        names=tuple(left_out.names),
    )
    if not operation.apply or not any(to_note.values()):
        return answer
    began = begin_import("adopt", sorted(filter(None, keys)), scope, context)
    noted = [
        one
        for keep, rows in to_note.items()
        for one in note_rows(rows, [False] * len(rows), began.iri, scope, context, keep=keep, began=began)
    ]
    done = sum_up(noted)
    return replace(
        answer,
        iri=began.iri if done.skipped < len(noted) else None,
        notes=len(noted) - done.skipped,
        memories=done.memories,
        invalidated=done.invalidated,
        skipped=done.skipped,
        pending=done.pending,
    )


def _read(find: Find, context: Context) -> list[NoteRow]:
    """Read a file as rows; raises `InputError` with the reason, also for a text that is over the limit."""
    rows = read_find(find, context.settings.of(IntakeSettings).file_bytes)
    for row in rows:
        context.require_text(row.content, "a part of it")
    return rows
