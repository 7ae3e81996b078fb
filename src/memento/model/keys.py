"""What the walk over keys answers with, and what it takes in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memento.iris import IRI
from memento.model.stored import KeyType

Match = Literal["concept", "alias", "semantic", "content"]
"""Why a key came: the question spells it, or another name of it; it means the same; a memory it leads to does."""

Band = Literal["shallow", "medium", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKey:
    """
    A key that a question leads to, without a word of any memory.

    `specificity` is one over the memories that it leads to now, `cluster` counts the names that it goes by.
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
    """Where a key leads, best first: one page of it, and the offset of the next, if there is one."""

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
    """A key of a memory: from here the walk goes on. `memory_count` says to how many memories it leads, this one included."""

    key: IRI
    name: str
    type: KeyType
    weight: float
    memory_count: int
    is_traversed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMemory:
    """One memory in full, and the keys that lead on from it, the heaviest first; the numbers are those after it was read."""

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
    last_accessed_at: datetime | None = None
    invalid_at: datetime | None = None
    expires_at: datetime | None = None
    supersedes: IRI | None = None
    superseded_by: IRI | None = None
    related_to: tuple[IRI, ...] = ()
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedMemory:
    """A memory that shares keys with another, or was linked to it by hand: `link` says which."""

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
class ToRemember:
    """
    A text to be remembered under some keys.

    `types` says of keys whether they are names or proper nouns; those that it does not name are concepts. Without `keys` it is
    reached by its own names and nouns. `ttl_s` is how many seconds it is to be remembered, `source` says how it came in.
    """

    content: str
    keys: tuple[str, ...] | None = None
    types: dict[str, KeyType] | None = None
    ttl_s: float | None = None
    related_to: tuple[str, ...] = ()
    session: str | None = None
    source: str = "explicit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """
    What became of a text: the memory it is `saved` as.

    It `superseded` one that said nearly the same (`deduplicated`; `conflict` when both had a key in common); where exactly this
    was remembered before, nothing is written and that one is `repeated`, and deeper. `contradicts` is only a flag.
    """

    saved: IRI
    superseded: IRI | None = None
    deduplicated: bool = False
    conflict: bool = False
    repeated: bool = False
    contradicts: tuple[IRI, ...] = ()
    keys: tuple[IRI, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """What became of one item of a batch: what was remembered, or why it was not."""

    remembered: Remembered | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectMemory:
    """
    A memory that direct recall found. `hop` is 1 when the question led to it by itself; `via` are the keys that did; `relevance` is
    its plain cosine to the question.
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
    """The memories that direct recall found, best first; none when nothing anchors the question."""

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
    """What was let go of: memories whose time was over, and learned phrases that nobody used."""

    expired: int
    phrases: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """
    Counts over what a caller reads: keys that are written and entities that are keys, current memories, links; then all memories,
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
