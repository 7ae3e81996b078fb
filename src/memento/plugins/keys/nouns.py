"""What the operations on keys answer with, and the texts that they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memento.iris import IRI
from memento.model import KeyType

Match = Literal["concept", "alias", "semantic", "content"]
"""Why a key was found: the question spells it, or another name of it; it has the same meaning; or a memory it leads to does."""


Band = Literal["shallow", "medium", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKey:
    """
    A key that a question leads to, without the text of any memory.

    `specificity` is one over the number of memories it leads to now, `cluster` counts its names.
    """

    key: IRI
    name: str
    type: KeyType
    score: float
    match: Match
    memory_count: int
    is_hub: bool
    specificity: float
    aliases: tuple[str, ...] = ()
    cluster: int = 1
    denotes: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKeys:
    """The keys that a question leads to, best first."""

    query: str
    namespace: str
    keys: tuple[FoundKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedMemory:
    """A memory that a key leads to, without its text."""

    memory: IRI
    score: float
    weight: float
    depth: float
    band: Band
    created_at: datetime
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPage:
    """One page of the memories that a key leads to, best first, and the offset of the next page, if there is one."""

    key: IRI
    name: str
    type: KeyType
    memories: tuple[ReachedMemory, ...]
    total: int
    is_hub: bool
    specificity: float
    aliases: tuple[str, ...] = ()
    denotes: IRI | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOf:
    """A key of a memory, from which you can go on. `memory_count` is the number of memories it leads to, this one included."""

    key: IRI
    name: str
    type: KeyType
    weight: float
    memory_count: int
    is_traversed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMemory:
    """
    One memory in full, and the keys that lead on from it, heaviest first; the numbers are those after this read.

    `source` is how its note came in, None for one that a person told on purpose.
    """

    memory: IRI
    content: str
    namespace: str
    created_at: datetime
    valid_at: datetime
    depth: float
    band: Band
    access_count: int
    keys: tuple[KeyOf, ...]
    note: IRI
    source: str | None = None
    last_accessed_at: datetime | None = None
    invalid_at: datetime | None = None
    expires_at: datetime | None = None
    supersedes: IRI | None = None
    superseded_by: IRI | None = None
    related_to: tuple[IRI, ...] = ()
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedMemory:
    """A memory that shares keys with another, or is linked to it by hand: `link` says which."""

    memory: IRI
    content: str
    score: float
    link: Literal["key", "explicit", "both"]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The neighbours of a memory, best first, and what contradicts it."""

    memory: IRI
    memories: tuple[RelatedMemory, ...]
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """
    The place of a piece in the long text that it was cut from.

    It is the piece `number`, counted from 1, of `count`; `first` is the memory of the first piece, None for the first piece itself;
    `overlap` is the number of characters at its beginning that end the piece before.
    """

    number: int
    count: int
    first: str | None = None
    overlap: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToRemember:
    """
    A text to be stored under some keys.

    `types` says of keys whether they are names or proper nouns; the others are concepts. Without `keys` the memory is found by the
    names and nouns of its text. `ttl_s` is how many seconds it is remembered, `source` its origin, `piece` its place in a long
    text.
    """

    content: str
    keys: tuple[str, ...] | None = None
    types: dict[str, KeyType] | None = None
    ttl_s: float | None = None
    related_to: tuple[str, ...] = ()
    session: str | None = None
    source: str = "explicit"
    piece: TextPiece | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """
    The result of storing a text: the memory it is `saved` as.

    It `superseded` a memory that was almost the same (`deduplicated`; `conflict` if both had a key in common). If exactly the same
    text was already stored, nothing is written: `repeated` is that memory, which becomes deeper. `contradicts` is only a flag.
    `redacted` counts the redacted secrets by kind.
    """

    saved: IRI
    superseded: IRI | None = None
    deduplicated: bool = False
    conflict: bool = False
    repeated: bool = False
    contradicts: tuple[IRI, ...] = ()
    keys: tuple[IRI, ...] = ()
    expires_at: datetime | None = None
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """The result for one item of a batch: what was stored, or why it was not."""

    remembered: Remembered | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectMemory:
    """
    A memory that direct recall found. `hop` is 1 if the question led to it directly; `via` are the keys that led to it; `relevance`
    is its plain cosine to the question.
    """

    memory: IRI
    content: str
    score: float
    relevance: float
    hop: int
    depth: float
    created_at: datetime
    via: tuple[str, ...] = ()
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectRecall:
    """The memories that direct recall found, best first; none if the question matches nothing to start from."""

    query: str
    namespace: str
    memories: tuple[DirectMemory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn of a conversation, as it was said."""

    turn: int
    role: str
    content: str
    at: datetime
    note: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A memory in a listing by keys."""

    memory: IRI
    content: str
    namespace: str
    created_at: datetime
    depth: float
    access_count: int
    keys: tuple[str, ...] = ()
    supersedes: IRI | None = None
    expires_at: datetime | None = None
    related_to: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What was removed: memories that expired, and learned phrases that were not used."""

    expired: int
    phrases: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """
    Counts over the graphs that a caller reads: written keys and entities that are keys, current memories, links; then all memories,
    notes and sessions, the first and last memory, and the bytes on disk.
    """

    namespace: str
    keys: int
    entities: int
    memories: int
    links: int
    total: int
    notes: int
    sessions: int
    mean_per_session: float
    bytes_on_disk: int
    by_source: dict[str, int]
    by_tag: dict[str, int]
    oldest: datetime | None = None
    newest: datetime | None = None
