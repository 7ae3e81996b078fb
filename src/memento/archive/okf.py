"""
Write memories as a bundle of the Open Knowledge Format 0.2, and read its statements back: a folder of Markdown, one file an entity.

A file has the front matter of the format (`type`, `title`, `sources`, `status`, `stale_after`, …), the memories about its entity
with footnotes to their notes, what these claim, and, as TriG in the section *Statements*, all that the graph says of them. Each
statement is in one file: a memory that is about several entities is listed in all of their files, and stated in one.

*Guarantees:* the files together state what was exported, to the letter. A file whose text was edited is refused, because its
statements would contradict it. Paths come from names, and lead nowhere else.

*But:* only what holds now is exported; an export as RDF has everything. The text of bundles by others is read by
`memento import`.

*Source:* https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import cast

from memento import __version__
from memento.errors import InputError
from memento.graph.store import write_trig
from memento.graph.terms import to_own_quad
from memento.graph.transfer import Statement
from memento.iris import IRI, MEM, TYPE, tag_name
from memento.model import Exported, Quad, Value

VERSION = "0.2"
OTHER = "other"
"""The path of the file with the memories that are about nothing."""
_RESERVED = ("index", "log")
_NAME_CHARS = 60
_LINE_CHARS = 100
_KEPT = (MEM.Entity, MEM.Name, MEM.User)
STATEMENTS = "\n# Statements\n\n```trig sha256="
"""What stands before the statements of a file."""


@dataclass(slots=True)
class _Concept:
    """A file in the making: its path without `.md`, what it is about, its memories, and the subjects that are stated in it."""

    path: str
    title: str
    kind: str
    iri: IRI | None = None
    memories: list[IRI] = field(default_factory=list)
    stated: list[IRI] = field(default_factory=list)


class _Said:
    """
    The exported statements, by subject, without claims and invalidations that refer to what was not exported, and without entities
    that only these referred to.
    """

    def __init__(self, quads: Iterable[Statement]) -> None:
        self.quads: dict[IRI, list[Quad]] = defaultdict(list)
        self.originals = {to_own_quad(quad): quad for quad in quads}
        for quad in sorted(self.originals, key=str):
            self.quads[quad[0]].append(quad)
        while gone := self._find_broken():
            for one in gone:
                del self.quads[one]
            for subject, said in self.quads.items():
                self.quads[subject] = [quad for quad in said if quad[2] not in gone]

    def _find_broken(self) -> set[IRI]:
        needed = {MEM.Claim: (MEM.statedBy,), MEM.Invalidation: (MEM.invalidator, MEM.invalidated)}
        gone = {one for one in self.quads if any(not self.all(one, of) for of in needed.get(self.type(one), ()))}
        claims = {one for one in self.quads if self.type(one) == MEM.Claim}
        # The shortcut of an invalidation that is not exported.
        dangling = {
            cast(IRI, quad[2])
            for said in self.quads.values()
            for quad in said
            if quad[1] in (MEM.invalidates, MEM.supersedes, MEM.invalidated, MEM.invalidator)
            and quad[2] not in self.quads
        }
        pointed_at = {value for said in self.quads.values() for _, _, value, _ in said}
        idle = {one for one in self.quads if self.type(one) in (MEM.Entity, MEM.Name) and one not in pointed_at}
        return gone | (dangling - claims) | idle

    def type(self, iri: IRI) -> IRI:
        """Return the first type of a node; for a turn, that it is a note."""
        types = [cast(IRI, one) for one in self.all(iri, TYPE)]
        return next((one for one in types if one != MEM.Turn), types[0] if types else IRI(""))

    def all(self, iri: IRI, predicate: IRI) -> list[Value]:
        return [value for _, of, value, _ in self.quads.get(iri, ()) if of == predicate]

    def text(self, iri: IRI, predicate: IRI) -> str:
        return str(next(iter(self.all(iri, predicate)), ""))

    def of_type(self, kind: IRI) -> list[IRI]:
        return sorted(one for one in self.quads if kind in self.all(one, TYPE))


def build_files(quads: Iterable[Statement]) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of a bundle; the index is the last."""
    said = _Said(quads)
    concepts = _list_concepts(said)
    memories = sorted(said.of_type(MEM.Memory), key=lambda one: (str(said.text(one, MEM.validAt)), one))
    home: dict[IRI, _Concept] = {of.iri: of for of in concepts.values() if of.iri}
    for memory in memories:
        about = [concepts[one] for one in map(IRI, sorted(map(str, said.all(memory, MEM.about)))) if one in concepts]
        about.sort(key=lambda one: (one.kind == "User", one.path))
        for one in about or [concepts[IRI(OTHER)]]:
            one.memories.append(memory)
        home[memory] = (about or [concepts[IRI(OTHER)]])[0]
    _assign(home, said, concepts[IRI(OTHER)])
    shown = sorted((one for one in concepts.values() if one.memories or one.stated), key=lambda one: one.path)
    for one in shown:
        yield f"{one.path}.md", _write_concept(one, said, concepts)
    yield "index.md", _write_index(shown, said)


def _list_concepts(said: _Said) -> dict[IRI, _Concept]:
    concepts, paths = {IRI(OTHER): _Concept(path=OTHER, title="Other memories", kind="Memories")}, {OTHER}
    for iri in sorted(one for kind in _KEPT for one in said.of_type(kind)):
        kind = said.text(iri, MEM.entityType).rpartition("/")[2] or ("User" if said.type(iri) == MEM.User else "Name")
        title = said.text(iri, MEM.name) or ("You" if kind == "User" else iri.rpartition(":")[2])
        plain = re.sub(r"[^\w]+", "-", title.casefold()).strip("-_")[:_NAME_CHARS] or "unnamed"
        path, number = f"{kind.lower()}/{plain}", 1
        while path in paths or path.rpartition("/")[2] in _RESERVED:
            number += 1
            path = f"{kind.lower()}/{plain}-{number}"
        paths.add(path)
        concepts[iri] = _Concept(path=path, title=title, kind=kind, iri=iri)
    return concepts


def _assign(home: dict[IRI, _Concept], said: _Said, other: _Concept) -> None:
    """Decide for each subject in which file it is stated: where what it refers to is, or where what refers to it is."""
    pointing: dict[IRI, list[IRI]] = defaultdict(list)
    for subject, quads in said.quads.items():
        for _, _, value, _ in quads:
            if isinstance(value, IRI) and value in said.quads:
                pointing[value].append(subject)
    bodies = {one for one in home if said.type(one) == MEM.Memory}
    for near in (MEM.extractedFrom, MEM.statedBy):
        for subject in sorted(said.quads):
            for value in said.all(subject, near):
                if near == MEM.extractedFrom and subject in bodies:
                    home.setdefault(IRI(str(value)), home[subject])
                elif value in home:
                    home.setdefault(subject, home[IRI(str(value))])
    for subject in sorted(said.quads):
        ends = [quad[2] for quad in said.quads[subject] if isinstance(quad[2], IRI)]
        near_ones = [one for one in (*ends, *pointing[subject]) if one in home and one not in (subject,)]
        home.setdefault(subject, home[near_ones[0]] if near_ones else other)
    for subject in sorted(said.quads):
        home[subject].stated.append(subject)


def _write_concept(concept: _Concept, said: _Said, concepts: Mapping[IRI, _Concept]) -> str:
    notes = list(
        dict.fromkeys(cast(IRI, one) for memory in concept.memories for one in said.all(memory, MEM.extractedFrom))
    )
    ids = {note: f"n{place}" for place, note in enumerate(notes, 1)}
    body = _write_body(concept, ids, said, concepts)
    front = _write_front(concept, ids, said)
    if not concept.stated:
        return front + body
    quads = [said.originals[quad] for subject in concept.stated for quad in said.quads[subject]]
    text = front + body
    return f"{text}{STATEMENTS}{_digest(text)}\n{write_trig(quads)}```\n"


def _digest(text: str) -> str:
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def _write_front(concept: _Concept, ids: Mapping[IRI, str], said: _Said) -> str:
    """Write the front matter: its values are JSON, which is YAML too."""
    created = [cast(datetime, one) for memory in concept.memories for one in said.all(memory, MEM.createdAt)]
    stale = [cast(datetime, one) for memory in concept.memories for one in said.all(memory, MEM.expiresAt)]
    tags = {tag_name(cast(IRI, tag)) for memory in concept.memories for tag in said.all(memory, MEM.tagged)}
    fields: dict[str, object] = {"type": concept.kind, "title": concept.title}
    if concept.iri and (description := said.text(concept.iri, MEM.description)):
        fields["description"] = " ".join(description.split())
    if concept.iri:
        fields["resource"] = concept.iri
    if tags:
        fields["tags"] = sorted(tags)
    if created:
        fields["generated"] = {"by": f"memento/{__version__}", "at": _write_time(max(created))}
    fields["status"] = "stable"
    if stale:
        fields["stale_after"] = min(stale).date().isoformat()
    lines = [f"{name}: {_write_scalar(value)}\n" for name, value in fields.items()]
    if ids:
        lines.append("sources:\n")
        lines += [f"  - {_write_scalar(_describe_note(note, id, said))}\n" for note, id in ids.items()]
    return f"---\n{''.join(lines)}---\n"


def _write_scalar(value: object) -> str:
    """Write a value of front matter: a plain word or date as it is, all else as JSON."""
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z ]*|\d{4}-\d{2}-\d{2}", value)
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def _describe_note(note: IRI, id: str, said: _Said) -> dict[str, object]:
    speaker = next((cast(IRI, one) for one in said.all(note, MEM.saidBy)), None)
    name = said.text(speaker, MEM.name) if speaker else ""
    at = [cast(datetime, one) for one in said.all(note, MEM.at)]
    return {
        "id": id,
        "resource": note,
        "title": _shorten(said.text(note, MEM.content)),
        "author": f"human:{name or 'user'}",
        **({"last_modified": at[0].date().isoformat()} if at else {}),
    }


def _write_body(concept: _Concept, ids: Mapping[IRI, str], said: _Said, concepts: Mapping[IRI, _Concept]) -> str:
    lines = ["\n# Memories\n\n"] if concept.memories else []
    for memory in concept.memories:
        text = said.text(memory, MEM.content).strip().replace("\n", "\n  ")
        lines.append(f"- {text}{_cite(memory, ids, said)}\n")
    claims = sorted(one for one in said.of_type(MEM.Claim) if concept.iri and concept.iri in said.all(one, MEM.owner))
    if claims:
        lines.append("\n# Claims\n\n")
    for claim in claims:
        entity = next((concepts[cast(IRI, one)] for one in said.all(claim, MEM.value) if one in concepts), None)
        value = f"[{entity.title}](/{entity.path}.md)" if entity else said.text(claim, MEM.valueText)
        since = "".join(f" since {cast(datetime, one).date()}" for one in said.all(claim, MEM.validAt))
        until = "".join(f" until {cast(datetime, one).date()}" for one in said.all(claim, MEM.invalidAt))
        which = " ".join(sorted(str(one) for one in said.all(claim, MEM.complement)))
        relation = said.text(claim, MEM.relationName) + (f" ({which})" if which else "")
        denied = "not " if False in said.all(claim, MEM.polarity) else ""
        lines.append(f"- {denied}{relation}: {value},{since}{until}\n")
    if ids:
        lines.append("\n")
    lines += [f"[^{id}]: {_shorten(said.text(note, MEM.content))}\n" for note, id in ids.items()]
    return "".join(lines)


def _cite(memory: IRI, ids: Mapping[IRI, str], said: _Said) -> str:
    return "".join(f"[^{ids[cast(IRI, note)]}]" for note in said.all(memory, MEM.extractedFrom) if note in ids)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…"


def _write_time(at: datetime) -> str:
    return at.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _write_index(concepts: Sequence[_Concept], said: _Said) -> str:
    lines, before = [f'---\nokf_version: "{VERSION}"\n---\n'], ""
    for one in concepts:
        if one.kind != before:
            lines.append(f"\n# {one.kind}\n\n")
            before = one.kind
        description = said.text(one.iri, MEM.description) if one.iri else ""
        told = _shorten(description) or f"{len(one.memories):,} memories"
        lines.append(f"* [{one.title}]({one.path}.md) - {told}\n")
    return "".join(lines)


def pack_files(files: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """Yield the pieces of a tar archive of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, text in files:
            data = text.encode("utf-8", "surrogatepass")
            about = tarfile.TarInfo(path)
            about.size, about.mode = len(data), 0o600
            archive.addfile(about, io.BytesIO(data))
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def save_bundle(pieces: Iterable[bytes], folder: Path, memories: int, *, overwrite: bool) -> Exported:
    """
    Write the files of an archive into a folder; with `overwrite`, files of an earlier bundle in it that are no more are deleted.

    Raises:
        InputError: there is something in the folder, or it cannot be written.
    """
    try:
        if not overwrite and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"overwrite is needed to replace {folder}, which exists already; or give another name")
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
            files = {one.name: data.read() for one in archive if (data := archive.extractfile(one))}
        for path in find_markdown(folder) if folder.is_dir() else ():
            if path.relative_to(folder).as_posix() not in files and STATEMENTS.encode() in path.read_bytes():
                path.unlink()
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_bytes(content)
            path.chmod(0o600)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    return Exported(file=str(folder), form="okf", statements=memories, bytes=sum(map(len, files.values())))


def find_markdown(folder: Path) -> list[Path]:
    """List the Markdown files of a folder, without hidden folders and links."""
    found = (one for one in sorted(folder.rglob("*.md")) if one.is_file() and not one.is_symlink())
    return [one for one in found if not any(part.startswith(".") for part in one.relative_to(folder).parts)]


def read_folder(folder: Path) -> bytes:
    """Return an archive of the Markdown of a folder, to be sent."""
    try:
        files = [
            (one.relative_to(folder).as_posix(), one.read_bytes().decode("utf-8")) for one in find_markdown(folder)
        ]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder} cannot be read: {error}") from error
    return b"".join(pack_files(files))


def is_bundle(folder: Path) -> bool:
    """Tell whether a folder is a bundle, by the version that its index declares."""
    index = folder / "index.md"
    try:
        head = index.read_text(encoding="utf-8")[:1000] if index.is_file() and not index.is_symlink() else ""
    except (OSError, UnicodeDecodeError):
        return False
    return re.match(r"---\n(?:.*\n)*?okf_version:", head) is not None


def has_statements(folder: Path) -> bool:
    """Tell whether a bundle was written by Memento."""
    return any(STATEMENTS in one.read_text(encoding="utf-8", errors="replace") for one in find_markdown(folder))


def read_statements(archive: bytes, name: str) -> bytes:
    """
    Return the statements of the files of an archive, as TriG.

    Raises:
        InputError: it is no such archive, a file was edited, or no file has statements; names the file and what to do.
    """
    found: list[str] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for one in files:
                data = files.extractfile(one) if one.isfile() else None
                if data is not None and (lines := _read_file(data.read().decode("utf-8"), one.name)):
                    found.append(lines)
    except (tarfile.TarError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is no bundle in a tar archive: {error}") from error
    if not found:
        raise InputError(
            f"{name} has no statements of Memento: `memento import {name} --from okf` reads the text of a bundle"
        )
    return "\n".join(found).encode("utf-8", "surrogatepass")


def _read_file(text: str, path: str) -> str:
    text = text.replace("\r\n", "\n")
    if STATEMENTS not in text:
        return ""
    told, _, section = text.partition(STATEMENTS)
    digest, _, quoted = section.removesuffix("\n").partition("\n")
    if not f"\n{quoted}".endswith("\n```"):
        raise InputError(f"{path}: the section Statements is damaged: export the bundle again, or remove the section")
    if _digest(told) != digest:
        raise InputError(
            f"{path} was edited, and its section Statements says what it said before: undo the edit, or remove the section and "
            "import the folder with `--from okf` too, which reads the text"
        )
    return quoted.removesuffix("```")
