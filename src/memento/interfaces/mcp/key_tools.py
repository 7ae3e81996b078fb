"""The tools of the key graph, under the names that agents who walk know: keys from a question, memories from keys, keys again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from memento.interfaces.mcp.key_arguments import (
    BatchArguments,
    BatchItem,
    ConversationArguments,
    CorrectArguments,
    DirectArguments,
    ListArguments,
    MemoryArguments,
    NamespaceArguments,
    ReadKeyArguments,
    ReadMemoryArguments,
    RecallArguments,
    RememberArguments,
)
from memento.interfaces.mcp.tools import Arguments, Reach, Told, Tool
from memento.iris import IRI
from memento.keys.given import sanitised
from memento.model import (
    BatchRow,
    Cleaned,
    DirectRecall,
    FoundKeys,
    KeyPage,
    MemoryRow,
    MemoryStats,
    Noted,
    OpenedMemory,
    Related,
    Remembered,
    ToRemember,
    TurnRow,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What took the place of a memory."""

    new_id: IRI
    superseded: IRI
    contradicts: tuple[IRI, ...] = ()
    verbatim: str | None = None
    """Why the text could not be read, where it is kept word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What is hidden from now on."""

    deleted: Literal[True]
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


def recall(reach: Reach, asked: RecallArguments) -> Told:
    """Keys."""
    return Told(answer=reach.memory.find_keys(asked.query, k=asked.top_k, namespace=asked.namespace or reach.namespace))


def read_key(reach: Reach, asked: ReadKeyArguments) -> Told:
    """Where a key leads."""
    page = reach.memory.read_key(
        asked.key_id,
        query=asked.query,
        limit=asked.limit,
        offset=asked.offset,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(answer=page)


def read_memory(reach: Reach, asked: ReadMemoryArguments) -> Told:
    """One memory."""
    opened = reach.memory.read_memory(
        asked.memory_id, via=asked.via_key_id, past=asked.past, namespace=asked.namespace or reach.namespace
    )
    return Told(answer=opened)


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
    rows = reach.memory.remember_batch(
        [_item(item) for item in asked.items], namespace=asked.namespace or reach.namespace
    )
    return Told(answer=Batch(results=rows))


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


def related(reach: Reach, asked: MemoryArguments) -> Told:
    """The neighbours of a memory."""
    return Told(answer=reach.memory.related(asked.memory_id, namespace=asked.namespace or reach.namespace))


def forget(reach: Reach, asked: MemoryArguments) -> Told:
    """Hide a memory."""
    gone = reach.memory.forget(asked.memory_id, namespace=asked.namespace or reach.namespace)
    return Told(answer=Deleted(deleted=True, memories=gone.memories))


def get_conversation(reach: Reach, asked: ConversationArguments) -> Told:
    """What was said."""
    turns = reach.memory.conversation(asked.session_id, turn=asked.turn, namespace=asked.namespace or reach.namespace)
    return Told(answer=Turns(turns=turns))


def list_memories(reach: Reach, asked: ListArguments) -> Told:
    """A page of memories."""
    rows = reach.memory.list_memories(
        limit=asked.limit, offset=asked.offset, namespace=asked.namespace or reach.namespace
    )
    return Told(answer=Rows(memories=rows))


def cleanup_expired(reach: Reach, asked: NamespaceArguments) -> Told:
    """Let go of what is over."""
    return Told(answer=reach.memory.cleanup_expired(namespace=asked.namespace or reach.namespace))


def memory_stats(reach: Reach, asked: NamespaceArguments) -> Told:
    """Counts."""
    return Told(answer=reach.memory.memory_stats(namespace=asked.namespace or reach.namespace))


def recall_memories(reach: Reach, asked: DirectArguments) -> Told:
    """Memories at once."""
    found = reach.memory.recall_memories(
        asked.query,
        k=asked.top_k,
        hops=asked.hops,
        expand=asked.expand,
        least_share=asked.min_rel_score,
        least_depth=asked.min_depth,
        min_score=asked.min_score,
        gate_z=asked.min_z,
        key_gate=asked.min_key_gate,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(answer=found)


def _item(asked: RememberArguments | BatchItem) -> ToRemember:
    source = asked.source or {}
    return ToRemember(
        content=asked.content,
        keys=tuple(sanitised(asked.keys)),
        types=asked.key_types,
        ttl_s=asked.ttl_seconds,
        related_to=tuple(asked.related_to or ()),
        session=source.get("session"),
        source=source.get("tool") or "explicit",
    )


def _tool(
    run: Callable[[Reach, Any], Told],
    title: str,
    description: str,
    arguments: type[Arguments],
    answer: type,
    *,
    reads: bool = False,
    destroys: bool = False,
) -> Tool:
    return Tool(
        name=run.__name__,
        title=title,
        description=description,
        arguments=arguments,
        answer=answer,
        run=run,
        reads_only=reads,
        destroys=destroys,
        repeats_harmlessly=True,
    )


# What a full read does to depth and links is bookkeeping: what is remembered stays as it is, so it counts as reading.
TOOLS = (
    _tool(recall, "Find keys", RECALL, RecallArguments, FoundKeys, reads=True),
    _tool(read_key, "Read a key", READ_KEY, ReadKeyArguments, KeyPage, reads=True),
    _tool(read_memory, "Read a memory", READ_MEMORY, ReadMemoryArguments, OpenedMemory, reads=True),
    _tool(remember, "Remember under keys", REMEMBER, RememberArguments, Remembered),
    _tool(correct, "Correct a memory", CORRECT, CorrectArguments, Corrected),
    _tool(related, "Related memories", RELATED, MemoryArguments, Related, reads=True),
    _tool(forget, "Forget a memory", FORGET, MemoryArguments, Deleted, destroys=True),
    _tool(get_conversation, "Read a conversation", CONVERSATION, ConversationArguments, Turns, reads=True),
    _tool(list_memories, "List memories", LIST, ListArguments, Rows, reads=True),
    _tool(remember_batch, "Remember several texts", BATCH, BatchArguments, Batch),
    _tool(cleanup_expired, "Clean up", CLEANUP, NamespaceArguments, Cleaned),
    _tool(memory_stats, "Count memories", STATS, NamespaceArguments, MemoryStats, reads=True),
)
DIRECT_RECALL = _tool(recall_memories, "Recall memories", DIRECT, DirectArguments, DirectRecall, reads=True)
"""The thirteenth tool, listed where the setting `keys.direct` is on."""
