"""
The five questions that consolidation asks, and the types of their answers.

    note ─┬─ recall ── hypothesise ── search ───────────────────────┐
          └─ extract_entities ─┬─ candidates ── resolve_entities ───┴─ resolve_memories ── write
                               └─ extract_memories ─────────────────┘

Rules answer them by default; a model answers the same questions through the same types.

*But:* answers name things by the words of the note ("USER" or an entity's name). `resolve.py` and `write.py` assign IRIs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memento.iris import IRI
from memento.model import AgentKind, Entity, Memory, Mode, Note, User
from memento.text.names import Mention
from memento.text.person import USER

__all__ = ["USER", "Mention"]


class NotUnderstood(Exception):
    """The agents give a note up: `reason` tells whoever wrote it why it is kept in its own words."""

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
    """An entity of the graph that a mention may mean; `similarity` is its fused rank score, 0..2, best first."""

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
    """Memories that may exist: some that would say the same, some that this note would end."""

    semantic: tuple[str, ...] = ()
    state_change: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """
    What a draft states: a relation of a subject (a resolved name, or "USER"), its value, and how that is meant.

    `sure` when the note says it, not in passing.
    """

    subject: str
    relation: str
    value: str
    polarity: bool = True
    mood: str = "fact"
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """
    A memory before it is written.

    `about` holds names of resolved entities, or "USER". `subject`, `slot` and `slot_value` are set when the memory fills a property
    that has one value at a time ("USER", "employer", "Google"). `ends` are phrases that the note says no longer hold ("VS Code" in
    "no longer use VS Code", "switched from VS Code to Zed", "Zed over VS Code"). `corrects` marks "Correction: …".
    """

    content: str
    about: tuple[str, ...]
    valid_at: datetime | None = None
    event_at: datetime | None = None
    subject: str | None = None
    slot: str | None = None
    slot_value: str | None = None
    ends: tuple[str, ...] = ()
    corrects: bool = False
    user_name: str | None = None  # the user's name, when this memory states it
    sure: bool = True  # whether its slot is stated, not mentioned in passing
    until: datetime | None = None  # when it stops to hold, where the note says so
    states: tuple[Stated, ...] = ()
    reads: str = ""  # how rules read it: the main clause in the third person
    mood: str = "fact"  # how its words are meant
    noise: str = ""  # why it is worth no memory
    remark: str = ""  # what the writer of the note should know of how it was read


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """
    A memory that is believed, with the names of what it is about ("USER" for the user).

    Rivals for a slot may be over already (`memory.invalid_at`): they tell where in history a draft belongs.
    """

    memory: Memory
    about: tuple[str, ...]
    subject: str | None = None
    likeness: tuple[float, ...] = ()  # the cosine with each draft, in their order
    framed: tuple[
        float, ...
    ] = ()  # the same with names, figures and days masked; 0 where these tell that both may be so
    followed: tuple[tuple[int, str, int], ...] = ()
    """
    (place of the draft, relation, times) where a draft states another value of a relation of the same subject, and values of that
    relation have followed one another so many times.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A memory to retire, why, and by which rule ("" when a model decided)."""

    memory: IRI
    reason: str
    mode: Mode = "state-change"
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A memory that is known already and that follows a draft about the past: the draft ends where it begins."""

    memory: IRI
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A memory that likely cannot hold together with a draft: how sure that is, in 0..1, and in what they differ."""

    memory: IRI
    confidence: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """
    Write the draft beside what is known; with a `successor`, in its place in the middle of history.

    `contradicts` are memories of the same instant that cannot be true together with it: all are kept, and flagged. `rivals` are
    memories that likely cannot.
    """

    draft: Draft
    reason: str = ""
    successor: Successor | None = None
    contradicts: tuple[IRI, ...] = ()
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """The draft is known already: `duplicate` says the same of the same time; None when it repeats another draft."""

    draft: Draft
    duplicate: IRI | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidate:
    """Write the draft and retire every target; with a `successor`, in its place in the middle of history."""

    draft: Draft
    targets: tuple[Target, ...]
    successor: Successor | None = None
    contradicts: tuple[IRI, ...] = ()
    rivals: tuple[Rival, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What understanding one note took: questions asked of a model, tokens in and out, the digest of the prompts."""

    calls: int = 0
    tokens: int = 0
    prompts: str | None = None


Decision = Add | Skip | Invalidate


class Agents(Protocol):
    """Who answers, for one note: rules, or a model. May be asked from two threads. Rules may raise `NotUnderstood`."""

    name: str
    """`rules`, or the model's provider and name: goes into the provenance of the memories."""

    kind: AgentKind

    def account(self) -> Account:
        """Return what the note has taken so far."""
        ...

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """List what the note names, never the user; and with `biography` what it says of the user's life."""
        ...

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Give one resolution for each mention, in their order."""
        ...

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Guess texts to search with for memories that the note may repeat or end; may be empty."""
        ...

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """List the facts of the note in the third person; none when there is none. `mentions` are the ones that were resolved."""
        ...

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Give one decision for each draft, in their order."""
        ...
