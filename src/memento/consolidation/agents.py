"""
The five questions that consolidation asks, and the types of their answers.

    note ─┬─ recall ── hypothesise ── search ───────────────────────┐
          └─ extract_entities ─┬─ candidates ── resolve_entities ───┴─ resolve_memories ── write
                               └─ extract_memories ─────────────────┘

Rules answer them by default; a model answers the same questions through the same types.

*But:* answers name things by the words of the note ("USER" or an entity's name). `write.py` assigns the IRIs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memento.iris import IRI
from memento.model import AgentKind, Entity, Memory, Mode, Note, User
from memento.text.claims import USER, Assertion, Kind
from memento.text.names import Mention

__all__ = ["USER", "Mention"]


class NotUnderstood(Exception):
    """The agents gave a note up; `reason` tells its writer why the note is kept in its own words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a note names, in order of appearance, and what it says of the user's life, if anything."""

    mentions: tuple[Mention, ...] = ()
    biography: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entity of the graph that a mention may mean; `similarity` is its fused rank score, 0..2. Lists are best first."""

    entity: Entity
    similarity: float


NEW = "nothing known has this name"
"""Why a mention means a new entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a mention means: an entity of the graph, or a new one when `entity` is None."""

    mention: Mention
    entity: IRI | None
    reason: str
    description: str | None = None  # a better description for the matched entity, if the note gives one


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One resolution for each mention, in their order, and the user's new description if it changes."""

    resolutions: tuple[Resolution, ...]
    user_description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypotheses:
    """Texts of memories that may exist: some would say the same as the note, others would be ended by it."""

    semantic: tuple[str, ...] = ()
    state_change: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """
    A memory before it is written.

    `about` holds names of resolved entities, or "USER"; so do the owners of its claims, where "" is nobody. `corrects` marks
    "Correction: …". `sentences` are the spans of its sentences.
    """

    content: str
    about: tuple[str, ...]
    claims: tuple[Assertion, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    valid_at: datetime | None = None
    event_at: datetime | None = None
    until: datetime | None = None  # when it stops holding, if the note says so
    corrects: bool = False
    user_name: str | None = None  # the user's name, when this memory states it
    mood: str = "fact"  # how its words are meant
    noise: str = ""  # why it makes no memory
    remark: str = ""  # what the writer of the note should know about how it was read


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A known claim, with its owner by the name that the note gives it ("USER" for the user, "" if the note does not name it)."""

    iri: IRI
    memory: IRI
    owner: str
    relation: str
    value: str
    since: datetime
    until: datetime | None = None
    polarity: bool = True
    mood: str = "fact"
    is_event: bool = False
    kind: Kind = "thing"
    span: tuple[int, int] = (0, 0)
    complement: frozenset[str] = frozenset()
    is_place: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """
    A believed memory, with the names of what it is about ("USER" for the user), and its claims.

    It may have ended (`memory.invalid_at`): then it shows where in history a draft belongs.
    """

    memory: Memory
    about: tuple[str, ...]
    claims: tuple[Held, ...] = ()


BY_CLAIMS = "claims"
"""The rule of an ending that a claim decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    A memory to retire, why, and by which rule ("" when a model decided). With a `claim` only that claim of the memory ends, at
    `at`.
    """

    memory: IRI
    reason: str
    mode: Mode = "state-change"
    rule: str = ""
    claim: IRI | None = None
    at: datetime | None = None
    by: int = 0
    """The index of the draft's claim that ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """
    A known memory that follows a draft about the past: the draft ends where the memory begins. With a `claim` only the draft's
    claim `of` ends, where that known claim begins.
    """

    memory: IRI
    reason: str
    claim: IRI | None = None
    of: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A memory that likely cannot be true together with a draft: the confidence, 0..1, and in what they differ."""

    memory: IRI
    confidence: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """
    Write the draft beside what is known; with `successors`, insert it into history before these.

    `contradicts` are memories of the same instant that cannot be true together with it: all are kept, and flagged. `rivals` are
    memories that likely cannot be true together with it.
    """

    draft: Draft
    reason: str = ""
    successors: tuple[Successor, ...] = ()
    contradicts: tuple[IRI, ...] = ()
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """
    Do not write the draft.

    `duplicate` is the known memory that says the same of the same time. It is None if another draft of the note says it, or if the
    draft makes no memory.
    """

    draft: Draft
    duplicate: IRI | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidate:
    """Write the draft and retire every target; with `successors`, insert it into history before these."""

    draft: Draft
    targets: tuple[Target, ...]
    successors: tuple[Successor, ...] = ()
    contradicts: tuple[IRI, ...] = ()
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The cost of understanding one note: questions asked of a model, tokens in and out, and the digest of the prompts."""

    calls: int = 0
    tokens: int = 0
    prompts: str | None = None


Decision = Add | Skip | Invalidate


class Agents(Protocol):
    """The agents that answer for one note: rules, or a model. Two threads may call them. Rules may raise `NotUnderstood`."""

    name: str
    """`rules`, or the model's provider and name; recorded in the provenance of the memories."""

    kind: AgentKind

    def account(self) -> Account:
        """Return the cost of the note so far."""
        ...

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """List what the note names, never the user, and, with `biography`, what it says of the user's life."""
        ...

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Give one resolution for each mention, in their order."""
        ...

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Guess texts with which to search for memories that the note may repeat or end; the answer may be empty."""
        ...

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """Extract the facts of the note in the third person, none if it states none. `mentions` are those that were resolved."""
        ...

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Give one decision for each draft, in their order."""
        ...
