"""The tools of the key graph, under the names that agents who walk know: keys from a question, memories from keys, keys again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.mcp.tools import Argument, Arguments, Reach, Told, Tool, tool_over
from memento.iris import IRI
from memento.keys.labels import clean_keys
from memento.model import BatchRow, KeyType, MemoryRow, Noted, Remembered, ToRemember, TurnRow
from memento.operations import keys as operations
from memento.operations import notes

RECALL = """The keys that a question leads to: words and names under which memories lie, never the memories themselves.

Use before answering, silently, with short noun phrases rather than sentences, and several different ones. Then read_key on the \
keys that fit, read_memory on the memories that fit, and go on from the keys that each memory has."""

READ_KEY = """Where a key leads: its memories, the strongest and freshest first, without their text; a page at a time.

Use after recall, or with a key that read_memory gave. With `query` they are ranked by how near they are to it."""

READ_MEMORY = """One memory in full, with the keys that lead on from it, the heaviest first.

Use on what read_key gave, with via_key_id, so that the way you came grows stronger. What is read often fades slowly."""

REMEMBER = """Keep a text under some keys, without asking the user and without a model.

Use when something lasting was said. Give three to six keys: names as `name` or `proper_noun` in key_types, and concepts of one or \
two words that a later question would use. What says nearly the same is superseded, not lost."""

CORRECT = """Put a better text in the place of a memory: the old one stays readable as its past, the keys that still fit stay.

Use when a fact has changed or was wrong, instead of remembering it a second time."""

RELATED = (
    "The memories that share keys with one, rare keys counting most, or were linked to it; and what contradicts it."
)

FORGET = """Hide a memory from now on; its history stays.

Use only when the user asks to forget."""

CONVERSATION = "What was said in a conversation, word for word: all turns, or the two before and after one."

LIST = "The memories that hold, newest first, with their keys and how deep they are; a page at a time."

BATCH = "Remember several texts at once, 100 at most; each item is told what became of it."

CLEANUP = "Let go of the memories whose time to live is over, and of learned names that nobody used."

STATS = "How many keys, memories, links, notes and conversations there are."

DIRECT = """The memories for a question at once, by words, meaning and hops over keys, for when a walk would take too long.

An empty answer means that nothing relevant is known."""


Namespace = Annotated[str | None, Meta(description="The namespace; default that of the connection.")]
Types = Annotated[
    dict[str, KeyType] | None,
    Meta(description="Which keys are names: key → name or proper_noun, found by spelling alone; others are concepts."),
]
Key = Annotated[str, Meta(description="The `key` of a row that recall or read_memory gave, or an entity.")]
Memory = Annotated[str, Meta(description="The `memory` of a row that read_key gave.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What took the place of a memory."""

    new_id: IRI
    superseded: IRI
    contradicts: tuple[IRI, ...] = ()
    verbatim: str | None = None
    """Why the text could not be read, where it is kept word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What is hidden from now on, and stays in history."""

    hidden: Literal[True]
    memories: tuple[IRI, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What was said."""

    turns: tuple[TurnRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A page of memories."""

    memories: tuple[MemoryRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What became of each item."""

    results: tuple[BatchRow, ...]


class MemoryArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
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
        list[Any],  # each is read by itself, so that one that is wrong hinders no other
        Meta(
            description="Texts with their keys, as remember takes them: objects with content, keys, and if need be key_types, "
            "ttl_seconds, related_to, source.",
            max_length=100,
        ),
    ]
    namespace: Namespace = None


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    content: Annotated[str, Meta(description="What is right.")]
    keys: Annotated[list[str] | None, Meta(description="Its keys; default those there are, as far as they fit.")] = None
    key_types: Types = None
    related_to: Annotated[list[str] | None, Meta(description="The memories it is linked to; default as before.")] = None
    namespace: Namespace = None


def remember(reach: Reach, asked: RememberArguments) -> Told:
    """Keep a text."""
    item = _item(asked)
    done = reach.memory.remember(
        item.content,
        item.keys,
        types=item.types,
        ttl_s=item.ttl_s,
        related_to=item.related_to,
        session=item.session,
        source=item.source,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(answer=done)


def remember_batch(reach: Reach, asked: BatchArguments) -> Told:
    """Keep several texts."""
    read = [_read_item(item) for item in asked.items]
    good = [one for one in read if isinstance(one, ToRemember)]
    kept = iter(reach.memory.remember_batch(good, namespace=asked.namespace or reach.namespace))
    rows = (BatchRow(error=one) if isinstance(one, str) else next(kept) for one in read)
    return Told(answer=Batch(results=tuple(rows)))


def _read_item(given: object) -> ToRemember | str:
    """Return one text of a batch, or what is wrong with it."""
    if not isinstance(given, dict):
        return "an item must be an object with content and keys"
    try:
        return _item(decode(BatchItem, given, lax=True))
    except InputError as error:
        return str(error)


def correct(reach: Reach, asked: CorrectArguments) -> Told:
    """Put a memory right."""
    noted: Noted = reach.memory.correct(
        asked.memory_id,
        asked.content,
        keys=asked.keys,
        types=asked.key_types,
        related_to=asked.related_to,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(
        answer=Corrected(
            new_id=noted.memories[0],
            superseded=noted.invalidated[0],
            contradicts=noted.contradicts,
            verbatim=noted.verbatim,
        )
    )


def forget(reach: Reach, asked: MemoryArguments) -> Told:
    """Hide a memory."""
    gone = reach.memory.forget(asked.memory_id, namespace=asked.namespace or reach.namespace)
    return Told(answer=Hidden(hidden=True, memories=gone.memories))


def _item(asked: RememberArguments | BatchItem) -> ToRemember:
    source = asked.source or {}
    return ToRemember(
        content=asked.content,
        keys=tuple(clean_keys(asked.keys)),
        types=asked.key_types,
        ttl_s=asked.ttl_seconds,
        related_to=tuple(asked.related_to or ()),
        session=source.get("session"),
        source=source.get("tool") or "explicit",
    )


_KEY = Argument(field="iri", description="The `key` of a row that recall or read_memory gave, or an entity.")
_MEMORY = Argument(field="iri", description="The `memory` of a row that read_key gave.")

TOOLS = (
    tool_over(
        operations.FindKeys,
        "recall",
        "Find keys",
        RECALL,
        {
            "query": Argument(field="query", description="A short noun phrase, or a question."),
            "top_k": Argument(field="k", description="Most keys."),
        },
        takes_namespace=True,
    ),
    tool_over(
        operations.ReadKey,
        "read_key",
        "Read a key",
        READ_KEY,
        {
            "key_id": _KEY,
            "query": Argument(field="query"),
            "limit": Argument(field="limit", description="Most memories of this page."),
            "offset": Argument(field="offset", description="The next_offset of the page before."),
        },
        takes_namespace=True,
    ),
    # What a full read does to depth and links is bookkeeping: what is remembered stays as it is, so it counts as reading.
    tool_over(
        operations.ReadMemory,
        "read_memory",
        "Read a memory",
        READ_MEMORY,
        {
            "memory_id": _MEMORY,
            "via_key_id": Argument(field="via", description="The key that led here."),
            "past": Argument(field="past", description="Also what was superseded or is over."),
        },
        takes_namespace=True,
        repeats_harmlessly=True,
    ),
    Tool(
        name="remember",
        title="Remember under keys",
        description=REMEMBER,
        arguments=RememberArguments,
        answer=Remembered,
        run=remember,
        asks=(operations.Remember,),
        repeats_harmlessly=True,
    ),
    Tool(
        name="correct",
        title="Correct a memory",
        description=CORRECT,
        arguments=CorrectArguments,
        answer=Corrected,
        run=correct,
        asks=(notes.Correct,),
        repeats_harmlessly=True,
    ),
    tool_over(operations.Related, "related", "Related memories", RELATED, {"memory_id": _MEMORY}, takes_namespace=True),
    Tool(
        name="forget",
        title="Forget a memory",
        description=FORGET,
        arguments=MemoryArguments,
        answer=Hidden,
        run=forget,
        asks=(notes.Forget,),
        destroys=True,
        repeats_harmlessly=True,
    ),
    tool_over(
        operations.Conversation,
        "get_conversation",
        "Read a conversation",
        CONVERSATION,
        {
            "session_id": Argument(field="session", description="The name of the conversation."),
            "turn": Argument(field="turn", description="A place in it, counted from 0."),
        },
        wrap=(Turns, "turns"),
        takes_namespace=True,
    ),
    tool_over(
        operations.ListMemories,
        "list_memories",
        "List memories",
        LIST,
        {
            "limit": Argument(field="limit", description="Most memories of this page."),
            "offset": Argument(field="offset"),
        },
        wrap=(Rows, "memories"),
        takes_namespace=True,
    ),
    Tool(
        name="remember_batch",
        title="Remember several texts",
        description=BATCH,
        arguments=BatchArguments,
        answer=Batch,
        run=remember_batch,
        asks=(operations.RememberBatch,),
        repeats_harmlessly=True,
    ),
    tool_over(operations.CleanupExpired, "cleanup_expired", "Clean up", CLEANUP, {}, takes_namespace=True),
    tool_over(operations.MemoryStats, "memory_stats", "Count memories", STATS, {}, takes_namespace=True),
)
DIRECT_RECALL = tool_over(
    operations.RecallMemories,
    "recall_memories",
    "Recall memories",
    DIRECT,
    {
        "query": Argument(field="query", description="The question."),
        "top_k": Argument(field="k", description="Most memories."),
        "expand": Argument(field="expand"),
        "hops": Argument(field="hops"),
        "min_rel_score": Argument(field="least_share"),
        "min_score": Argument(field="min_score", description="Best cosine below which there is no answer."),
        "min_z": Argument(field="gate_z", description="By how much the best cosine must stand out."),
        "min_key_gate": Argument(field="key_gate", description="Cosine of a key that is answer enough."),
        "min_depth": Argument(field="least_depth"),
    },
    takes_namespace=True,
    repeats_harmlessly=True,
)
"""The thirteenth tool, listed where the setting `keys.direct` is on."""
