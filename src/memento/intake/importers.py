"""
Import files from elsewhere as `NoteRow`s: rows, and what the importers of plug-ins read.

A `Source` says how its documents are recognised, and which function reads them. Each row that it makes has an idempotency key, so
that it is noted once, however often it is read.

*Guarantees:* nothing is executed, fetched or written; links to files are not followed, and hidden folders are not entered.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from memento import plugin
from memento.errors import InputError
from memento.intake.redaction import find_secrets, raise_if_secret_file, replace_secrets
from memento.intake.rows import KINDS, Record, decode_text, read_file, sift_rows, split_records
from memento.model import NoteRow
from memento.text.noise import explain_noise
from memento.text.sentences import sentences


@dataclass(slots=True, kw_only=True)
class Harvest:
    """
    The result of reading: the rows in order, the numbers of files and conversations, what was left out and why, and the rows and
    files that could not be read, each named with its line.
    """

    rows: list[NoteRow] = field(default_factory=list)
    files: int = 0
    conversations: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """The program that most rows are from; "import" if none is known."""
        return max(self.sources, key=self.sources.__getitem__, default="import")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file: JSON as records, or anything else as text; errors name the last part of `path`."""

    path: Path
    records: Sequence[Record] = ()
    text: str = ""

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of notes: how its documents are recognised, what reads them, and the name of its assistant."""

    is_of: Callable[[Document], bool]
    read: Callable[[Document, Source, Harvest, bool], None]
    assistant: str = ""
    suffixes: tuple[str, ...] = ()
    """The ends of the names of files that it reads in a folder if no source recognises them, as `.md`."""


def list_sources() -> Mapping[str, Source]:
    """Return the sources of all plug-ins by name; of one plug-in, a more specific one comes before a less specific one."""
    return plugin.collect("importers")


def harvest(
    path: Path, source: str | None = None, *, all_turns: bool = False, left_out: Collection[str] = ()
) -> Harvest:
    """
    Read a file, or every file of a folder, in the format of its source.

    Args:
        source: one of `list_sources`; by default the content of each file decides.
        all_turns: also read what assistants said.
        left_out: the plug-ins whose sources are not used.

    Of a folder, a file that is broken does not come in; it is named in `refused`, with the position.

    Raises:
        InputError: the format is unknown, the file is broken, or its name is that of a file of secrets; names the file and the
        position.
    """
    owners = plugin.name_owners("importers")
    sources = {name: one for name, one in list_sources().items() if owners[name] not in left_out}
    if source is not None and source not in sources:
        if of := owners.get(source):
            raise InputError(f"{source!r} is no source of notes: the plug-in {of} is switched off by plugins.off")
        raise InputError(f"{source[:40]!r} is no source of notes: give one of {', '.join(sources) or 'none'}")
    found = Harvest()
    if not path.is_dir():
        _read_one(path, source, sources, found, all_turns, is_alone=True)
        return found
    for one in _walk(path):
        try:
            raise_if_secret_file(one)
        except InputError:
            found.skipped["its name says that secrets are in it"] += 1
            continue
        if one.suffix.lower() in KINDS:
            rows, conversations = len(found.rows), found.conversations
            try:
                _read_one(one, source, sources, found, all_turns, is_alone=False)
            except InputError as error:  # the other files come in
                del found.rows[rows:]
                found.conversations = conversations
                found.refused.append(str(error))
    if not found.files and not found.refused:
        raise InputError(f"{path} has no file that can be read as {source or ', '.join(sources) or 'notes'}")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        yield from (Path(at) / name for name in sorted(names) if not (Path(at) / name).is_symlink())


def _read_one(
    path: Path,
    source: str | None,
    sources: Mapping[str, Source],
    found: Harvest,
    all_turns: bool,
    *,
    is_alone: bool,
) -> None:
    data = read_file(path)
    text = decode_text(data, path.name)
    is_json = KINDS.get(path.suffix.lower(), "json") == "json" and text.lstrip()[:1] in ("{", "[")
    try:
        records = list(_split_json(text, path.name)) if is_json else []
    except InputError:
        if source or not is_alone:
            raise
        records = []  # rows of our own: the good ones come in, the others are named
    document = Document(path=path, records=records, text="" if is_json else text)
    is_table = KINDS.get(path.suffix.lower()) == "csv"
    chosen = source or (
        None if is_table else next((name for name, one in sources.items() if one.is_of(document)), None)
    )
    if chosen is None and is_alone:
        sifted = sift_rows(data, path.name, KINDS.get(path.suffix.lower()))
        found.rows += sifted.rows
        found.refused += sifted.refused
    elif chosen is None:
        chosen = next((name for name, one in sources.items() if path.suffix.lower() in one.suffixes), None)
        if chosen is None:
            found.skipped["it is of no known format"] += 1
            return
    if chosen:
        before = len(found.rows)
        sources[chosen].read(document, sources[chosen], found, all_turns)
        found.sources[chosen] += len(found.rows) - before
    found.files += 1


def _split_json(text: str, name: str) -> Iterator[Record]:
    """Yield the objects of an array, of lines, or of the list in a single object, as mem0's `get_all` returns it."""
    whole = text.strip()
    if whole.startswith("{") and ("\n" not in whole or not re.match(r"\{.*\}[ \t\r]*\n", whole)):
        # A single object may contain the list.
        (only,) = split_records(f"[{whole}]", name)
        is_one_line = "\n" not in whole
        for key in ("results", "memories", "conversations"):
            if isinstance(inside := only.fields.get(key), list):
                for place, one in enumerate(inside, 1):
                    where = f"{name} {key} {place}"
                    if not isinstance(one, dict):
                        raise InputError(f"{where}: must be an object")
                    yield Record(where, one)
                return
        if not is_one_line:
            yield Record(name, only.fields)
            return
    yield from split_records(text, name)


def find_noise(text: str) -> str:
    """Say, in the words of the rules, why a turn makes no note; "" if any of its sentences says something."""
    if len(text) > 2_000:
        return ""
    reasons = [explain_noise(one) for one in sentences(text)] or ["it has no words"]
    return reasons[0] if all(reasons) else ""


def make_note(text: str, source: str, title: str, at: datetime | None = None) -> NoteRow:
    """Return the row of a note whose key follows from its source, its title and its text, so that it is noted once."""
    return NoteRow(content=text, at=at, title=title, idempotency_key=f"{source[:100]}:{digest_text(f'{title}|{text}')}")


def digest_text(text: str) -> str:
    """Return a hash that identifies a text; secrets are removed first, so that none can be guessed from it."""
    return sha256(replace_secrets(text, find_secrets(text)).encode("utf-8", "replace")).hexdigest()[:32]
