"""What the tools of the key graph are given; parameters have the names that agents who walk know."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from memento.interfaces.mcp.tools import Arguments
from memento.model import KeyType

Namespace = Annotated[str | None, Meta(description="The namespace; default that of the connection.")]
Types = Annotated[
    dict[str, KeyType] | None,
    Meta(description="Which keys are names: key → name or proper_noun, found by spelling alone; others are concepts."),
]
Key = Annotated[str, Meta(description="The `key` of a row that recall or read_memory gave, or an entity.")]
Memory = Annotated[str, Meta(description="The `memory` of a row that read_key gave.")]


class RecallArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="A short noun phrase, or a question.")]
    top_k: Annotated[int, Meta(description="Most keys.", ge=1, le=20)] = 8
    namespace: Namespace = None


class ReadKeyArguments(Arguments, frozen=True, kw_only=True):
    key_id: Key
    query: Annotated[str | None, Meta(description="Rank by likeness to this too.")] = None
    limit: Annotated[int, Meta(description="Most memories of this page.", ge=1, le=50)] = 10
    offset: Annotated[int, Meta(description="The next_offset of the page before.", ge=0)] = 0
    namespace: Namespace = None


class ReadMemoryArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    via_key_id: Annotated[str | None, Meta(description="The key that led here.")] = None
    past: Annotated[bool, Meta(description="Also what was superseded or is over.")] = False
    namespace: Namespace = None


class RememberArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="What to remember, one self-contained fact.")]
    keys: Annotated[list[str] | str, Meta(description="Names and short phrases that lead to it.")]
    key_types: Types = None
    ttl_seconds: Annotated[float | None, Meta(description="Seconds after which it is forgotten.")] = None
    related_to: Annotated[list[str] | None, Meta(description="Memories to link it to.")] = None
    source: Annotated[
        dict[str, str] | None, Meta(description="Where it comes from: `session` and `tool`, by name.")
    ] = None
    namespace: Namespace = None


class BatchItem(Arguments, frozen=True, kw_only=True):
    """One text of a batch; the fields are those of remember."""

    content: str
    keys: list[str] | str
    key_types: dict[str, KeyType] | None = None
    ttl_seconds: float | None = None
    related_to: list[str] | None = None
    source: dict[str, str] | None = None


class BatchArguments(Arguments, frozen=True, kw_only=True):
    items: Annotated[
        list[BatchItem], Meta(description="Texts with their keys, as remember takes them.", max_length=100)
    ]
    namespace: Namespace = None


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    content: Annotated[str, Meta(description="What is right.")]
    keys: Annotated[list[str] | None, Meta(description="Its keys; default those there are, as far as they fit.")] = None
    key_types: Types = None
    related_to: Annotated[list[str] | None, Meta(description="The memories it is linked to; default as before.")] = None
    namespace: Namespace = None


class MemoryArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    namespace: Namespace = None


class ConversationArguments(Arguments, frozen=True, kw_only=True):
    session_id: Annotated[str, Meta(description="The name of the conversation.")]
    turn: Annotated[int | None, Meta(description="A place in it, counted from 0.")] = None
    namespace: Namespace = None


class ListArguments(Arguments, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(description="Most memories of this page.", ge=1, le=1000)] = 50
    offset: Annotated[int, Meta(description="How many to pass over.", ge=0)] = 0
    namespace: Namespace = None


class NamespaceArguments(Arguments, frozen=True, kw_only=True):
    namespace: Namespace = None


class DirectArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="The question.")]
    top_k: Annotated[int, Meta(description="Most memories.", ge=1, le=50)] = 5
    expand: Annotated[bool, Meta(description="Look farther; what only hops found counts less.")] = False
    hops: Annotated[int, Meta(description="How far to go over keys; 1 leads nowhere on.", ge=1, le=5)] = 2
    min_rel_score: Annotated[float, Meta(description="Share of the best score, below which: out.", ge=0, le=0.9)] = 0.0
    min_score: Annotated[float | None, Meta(description="Best cosine below which there is no answer.")] = None
    min_z: Annotated[float | None, Meta(description="By how much the best cosine must stand out.")] = None
    min_key_gate: Annotated[float | None, Meta(description="Cosine of a key that is answer enough.")] = None
    min_depth: Annotated[float, Meta(description="Depth below which a memory is left out.", ge=0, le=1)] = 0.0
    namespace: Namespace = None
