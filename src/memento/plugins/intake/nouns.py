"""What the operations that read in files answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memento.iris import IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoptable:
    """
    What one agent has written in one place: rules that a person wrote for it, memory that it wrote, or sessions.

    `rows` are the notes that would come of `files`, of which `known` are already remembered; `lines` are the beginnings of the
    first that are not.
    """

    agent: str
    kind: Literal["rules", "memory", "sessions"]
    place: str
    files: int
    rows: int
    known: int = 0
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """
    What agents of this machine have written, by agent and place, and, if it was applied, what became of it.

    `iri` is the import, which `undo_import` takes out again; None if nothing was written. `notes`, `memories`, `skipped` and
    `pending` count what was written; `left_out` counts by reason what was not read, and `names` lists the first of that.
    """

    found: tuple[Adoptable, ...]
    iri: IRI | None = None
    notes: int = 0
    memories: int = 0
    invalidated: int = 0
    skipped: int = 0
    pending: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """
    The result of ingesting a file, a folder or a page. Of its documents, `fresh` are new, `changed` have changed, `unchanged` are
    skipped, and `gone` no longer exist; `left` more are to be read, if the call had a limit.

    `pieces` counts the pieces of new and changed documents, `memories` those stored, and `retired` those that no longer hold.
    `left_out` counts by reason what was not read, `names` lists the first of these files.
    """

    fresh: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    left: int = 0
    pieces: int = 0
    memories: int = 0
    retired: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswer:
    """The answer of the memory tool to a command, worded as in its specification; `failed` if nothing was done."""

    text: str
    failed: bool = False
    memories: int = 0
    """How many memories were stored."""
    retired: int = 0
    """How many memories no longer hold."""
    redacted: Mapping[str, int] = field(default_factory=dict)
