"""The rows that an import takes, and what became of whatever was asked to change the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memento.iris import IRI
from memento.model.answers import NoteRef

NoteState = Literal["pending", "consolidated", "skipped", "failed"]
"""How far a note has come: kept and waiting, understood, nothing new in it, or given up until `retry`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """
    What became of a note: what was stored, what that retired, what it contradicts without retiring it.

    A `pending` note is kept, but not yet understood: `memories` are still to come. `note` is None when it was `skipped`.
    `remarks` are sentences for the writer of the note: what of it is not kept and why, and what is kept without being read.
    """

    note: IRI | None
    memories: tuple[IRI, ...] = ()
    invalidated: tuple[IRI, ...] = ()
    skipped: str | None = None
    contradicts: tuple[IRI, ...] = ()
    pending: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStatus:
    """
    How far a note has come. `agent` understood it; `attempts` failed, the last one by `error`, which said `reason`.

    For a skipped note `reason` says why nothing came of it; for a pending one `retry_at` is when it is tried again.
    """

    note: IRI
    state: NoteState
    memories: tuple[IRI, ...] = ()
    invalidated: tuple[IRI, ...] = ()
    agent: str | None = None
    attempts: int = 0
    error: str | None = None
    reason: str | None = None
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A taken-back invalidation: the memory that holds again, and the one that had retired it, which stays as it is."""

    invalidation: IRI
    restored: IRI
    invalidator: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Where one memory comes from: the note, who said it, and what made the memory of it.

    `agent` is "rules", a model by provider and name, or "" when the note was kept as it was; `agent_iri` can be given to `forget`.
    """

    memory: IRI
    content: str
    note: NoteRef
    said_by: str
    agent: str = ""
    agent_iri: IRI | None = None
    kind: str = ""
    at: datetime | None = None
    rules: tuple[str, ...] = ()
    prompts: str | None = None

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_source(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """
    What a forget did: the memories it hid, or also deleted together with notes nothing else derives from.

    `still_told` are notes that still say what was erased, as other memories come from them. `cases` are those that had been made
    with what was erased: they are erased as well, as their plans and results may tell of it.
    """

    memories: tuple[IRI, ...]
    notes: tuple[IRI, ...] = ()
    erased: bool = False
    still_told: tuple[IRI, ...] = ()
    cases: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """One row of an import, before it is a note. `position` is its place in the session, counted from 0."""

    content: str
    at: datetime | None = None
    title: str | None = None
    speaker: str | None = None
    session: str | None = None
    position: int | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """
    What an import did. `notes` has one entry for each row, in their order: its note, or None where it was skipped.

    `pending` of them are kept and not yet understood.
    """

    notes: tuple[IRI | None, ...]
    memories: int
    invalidated: int
    skipped: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a change by SPARQL came to: quads that had not been there, quads that had, and the graphs it wrote to."""

    added: int
    removed: int
    graphs: tuple[IRI, ...] = ()
    is_new: bool = False
    """Whether a graph came into being that was written to the graph store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """
    What follows from the graphs that a namespace reads, and lies in `graph`.

    `triples` are inferred, each in at least one way; `by_rule` counts the ways by the name of their rule. `contradictions` are
    several values where there can be one. Nothing is inferred, and `is_complete` false, when more follows than `inference.most`.
    """

    namespace: str
    graph: IRI
    triples: int = 0
    contradictions: int = 0
    by_rule: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A document that was written: where, in which format, and how long; `statements` are those beside vectors."""

    file: str
    form: str
    statements: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """
    What became of a document: the graphs that its statements went to, and how many of them were new.

    `kept` are those that stayed as they were here, `passed_over` those of graphs that no import writes. `memories`, `notes` and
    `cases` count those of which something was new; of their texts, `vectors` came with the document and `embedded` were made.
    """

    graphs: tuple[IRI, ...]
    statements: int
    added: int
    kept: int = 0
    passed_over: int = 0
    memories: int = 0
    notes: int = 0
    cases: int = 0
    vectors: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was made: its folder, how much it holds, and which earlier ones were let go of."""

    folder: str
    bytes: int
    statements: int
    vectors: int
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup that is the memory now: which one, how much it holds, and where what was here before lies."""

    folder: str
    statements: int
    vectors: int
    aside: str | None
