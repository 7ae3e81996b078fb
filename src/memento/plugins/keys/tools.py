"""The tools of keys for models: the group `keys`, and the tools of the group `care` that store and count texts under keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, field

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.mcp.group_tools import Namespace
from memento.interfaces.mcp.tools import Argument, Arguments, Ask, Reach, Told, Tool, tool_over
from memento.iris import GLOBAL, IRI, MEM
from memento.model import KeyType, Noted
from memento.operations import notes
from memento.operations.base import FILTERS
from memento.plugins.keys import operations
from memento.plugins.keys.labels import clean_keys
from memento.plugins.keys.nouns import BatchRow, Remembered, TextPiece, ToRemember
from memento.text.sentences import split_long

GUIDE = """With the tools recall, read_key and read_memory, walk: ask recall for keys with short, different noun phrases, \
open the keys that fit, read the memories that fit, and go on from their keys. Do so silently, before your first reply."""

RECALL = """Find the keys for a question: the words and names that memories are stored under, never the memories themselves.

Use before answering, silently, with several different short noun phrases rather than sentences. Then call read_key on the \
keys that fit, call read_memory on the memories that fit, and go on from the keys of each memory."""


READ_KEY = """List the memories of a key, strongest and newest first, without their text; a page at a time.

Use after recall, or with a key that read_memory returned. With `query`, the memories are ranked by similarity to it."""


READ_MEMORY = """Read one memory in full, with the keys that lead on from it, the heaviest first.

Use on a memory that read_key returned. Give via_key_id, so that the link from that key becomes stronger. Memories that are read \
often fade slowly."""


REMEMBER = """Store a text under some keys, without asking the user and without a model.

Use when something lasting was said. Give three to six keys: names as `name` or `proper_noun` in key_types, and concepts of one or \
two words that a later question would use. A memory that says nearly the same is superseded, not lost."""


CORRECT = """Replace a memory by a better text: the old text stays readable as its history, and keys that still fit stay.

Use when a fact has changed or was wrong, instead of remembering it a second time."""


RELATED = "List the memories that share keys with a memory, rare keys counting most, or are linked to it, and what contradicts it."


FORGET = """Hide a memory from now on; its history stays. With `erase`, delete its text for good.

Use only when the user asks to forget. Erase only what the user wants deleted, after they have seen it and said yes."""


CONVERSATION = (
    "Return what was said in a conversation, word for word: all turns, or one turn with the two before and after it."
)


LIST = "List the current memories, newest first, with their keys and their depth; a page at a time."


BATCH = "Remember several texts at once, 100 at most; returns a result for each item."


CLEANUP = (
    "Forget memories whose time to live has passed, and learned names that nobody used; the history keeps the memories."
)


STATS = (
    "Count keys, memories, links, notes and conversations, by tag and source, and show the disk space that they take."
)


DIRECT = """Find the memories for a question in one call, by words, meaning and hops over keys. Use when a walk would take too long.

An empty answer means that nothing relevant is known."""


Types = Annotated[
    dict[str, KeyType] | None,
    Meta(description="Which keys are names: key → name or proper_noun, found by spelling alone; others are concepts."),
]


Key = Annotated[str, Meta(description="The `key` of a row that recall or read_memory returned, or an entity.")]


Memory = Annotated[str, Meta(description="The `memory` of a row that read_key returned.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The memory that replaced another one."""

    new_id: IRI
    superseded: IRI
    contradicts: tuple[IRI, ...] = ()
    verbatim: str | None = None
    """Why no facts could be extracted, if the text is stored word for word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """
    Memories that are hidden from now on. Unless they are `erased`, they stay in the history; `still_told` are notes that still
    contain an erased text. Nothing is changed when `hidden` is false: the user has not confirmed.
    """

    hidden: bool
    memories: tuple[IRI, ...] = ()
    erased: bool = False
    still_told: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The result of each item."""

    results: tuple[BatchRow, ...]


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    namespace: Namespace = None
    erase: Annotated[bool, Meta(description="Delete the text for good instead of hiding it.")] = False
    confirmed: Annotated[
        bool, Meta(description="Required by erase: whether the user has seen what would be deleted and said yes.")
    ] = False


class RememberArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="The text to remember: one self-contained fact.")]
    keys: Annotated[list[str] | str, Meta(description="Names and short phrases that lead to it.")]
    key_types: Types = None
    ttl_seconds: Annotated[float | None, Meta(description="Seconds after which it is forgotten.")] = None
    related_to: Annotated[list[str] | None, Meta(description="Memories to link it to.")] = None
    source: Annotated[
        dict[str, str] | None, Meta(description="Where it comes from: `session` and `tool`, by name.")
    ] = None
    namespace: Namespace = None


class BatchArguments(Arguments, frozen=True, kw_only=True):
    items: Annotated[
        list[Any],  # each item is parsed on its own, so that a wrong one does not affect the others
        Meta(
            description="Texts with their keys, as remember takes them: objects with content, keys, and optionally key_types, "
            "ttl_seconds, related_to, source.",
            max_length=100,
        ),
    ]
    namespace: Namespace = None


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    content: Annotated[str, Meta(description="The right text.")]
    keys: Annotated[list[str] | None, Meta(description="Its keys; default the old ones that still fit.")] = None
    key_types: Types = None
    related_to: Annotated[list[str] | None, Meta(description="The memories it is linked to; default as before.")] = None
    namespace: Namespace = None


def remember(reach: Reach, asked: RememberArguments) -> Told:
    """Store a text."""
    item = _item(asked)
    done = reach.memory.keys.remember(
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
    """Store several texts."""
    items = [_read_item(item) for item in asked.items]
    return Told(
        answer=Batch(results=reach.memory.keys.remember_batch(items, namespace=asked.namespace or reach.namespace))
    )


def _read_item(given: object) -> Any:
    """Return one text of a batch, or the `InputError` that says what is wrong with it."""
    if not isinstance(given, dict):
        return InputError("an item must be an object with content and keys")
    try:
        return _item(decode(RememberArguments, given, lax=True))
    except InputError as error:
        return error


def correct(reach: Reach, asked: CorrectArguments) -> Told:
    """Correct a memory."""
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


def forget(reach: Reach, asked: ForgetArguments) -> Told | Ask:
    """Hide a memory; or delete it, once the user has confirmed that."""
    namespace = asked.namespace or reach.namespace
    if asked.erase and not asked.confirmed:
        found = reach.memory.get(asked.memory_id, namespace=namespace)
        content = dict(found.properties).get(MEM.content, found.iri)
        return Ask(
            question=f"Delete for good?\n\n{content}",
            instead=Told(
                answer=Removed(hidden=False),
                text="Nothing is deleted yet. Show this to the user and ask whether to delete it for good; when they say yes, "
                f"call forget again with erase=true and confirmed=true:\n\n{content}",
            ),
            refused=Told(answer=Removed(hidden=False), text="The user said no: nothing was changed."),
        )
    gone = reach.memory.forget(asked.memory_id, erase=asked.erase, namespace=namespace)
    return Told(answer=Removed(hidden=True, memories=gone.memories, erased=gone.erased, still_told=gone.still_told))


def _item(asked: RememberArguments) -> ToRemember:
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


_KEY = Argument(field="iri", description="The `key` of a row that recall or read_memory returned, or an entity.")


_READ_MEMORY = Argument(field="iri", description="The `memory` of a row that read_key returned.")


SAVE = """Store a text word for word, without a model and without asking the user. A text of more than 1,000 words becomes several \
memories.

Use when something lasting was said, decided or found out. With `global`, every namespace reads it."""


_WORDS = {"over": 1000, "most": 500, "overlap": 100}
"""In words: the length above which a text is cut, the length of a piece, the overlap of two pieces. As the tool was published."""


class SaveArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="The text to store, self-contained.")]
    tags: Annotated[tuple[str, ...], Meta(description="Tags, as decision, error or todo; rules add their own.")] = ()
    namespace: Namespace = None
    is_global: Annotated[bool, Meta(description="Store it where every namespace reads it.")] = field(
        default=False, name="global"
    )
    container: Annotated[str | None, Meta(description="The container to put it into.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The memories that were stored, and those that they superseded."""

    count: int
    ids: tuple[IRI, ...]
    superseded: tuple[IRI, ...] = ()
    repeated: int = 0


def save_text(reach: Reach, asked: SaveArguments) -> Told:
    """Store a text; cut a long one into pieces, each of which knows its place and the first."""
    namespace = GLOBAL if asked.is_global else asked.namespace or reach.namespace
    kept: list[Remembered] = []
    pieces = split_long(asked.content, **_WORDS)
    for number, piece in enumerate(pieces, 1):
        first = kept[0].saved if kept else None
        place = TextPiece(number=number, count=len(pieces), first=first, overlap=piece.overlap)
        kept.append(
            reach.memory.keys.remember(
                piece.text,
                tags=asked.tags,
                container=asked.container,
                related_to=[first] if first else (),
                piece=place if len(pieces) > 1 else None,
                namespace=namespace,
            )
        )
    return Told(
        answer=Saved(
            count=len(kept),
            ids=tuple(one.saved for one in kept),
            superseded=tuple(one.superseded for one in kept if one.superseded),
            repeated=sum(one.repeated for one in kept),
        )
    )


KEY_TOOLS = (
    tool_over(
        operations.FindKeys,
        "recall",
        "Find keys",
        RECALL,
        {
            "query": Argument(field="query", description="A short noun phrase, or a question."),
            "top_k": Argument(field="k", description="The most keys."),
        },
        guide=GUIDE,
    ),
    tool_over(
        operations.ReadKey,
        "read_key",
        "Read a key",
        READ_KEY,
        {
            "key_id": _KEY,
            "query": "query",
            "limit": Argument(field="limit", description="The most memories on this page."),
            "offset": Argument(field="offset", description="The next_offset of the page before."),
        },
    ),
    # A full read changes the depth and the links of a memory. That is bookkeeping, not content, so the tool counts as reading.
    tool_over(
        operations.ReadMemory,
        "read_memory",
        "Read a memory",
        READ_MEMORY,
        {
            "memory_id": _READ_MEMORY,
            "via_key_id": Argument(field="via", description="The key that led here."),
            "past": Argument(field="past", description="Include memories that were superseded or have ended."),
        },
        repeats_harmlessly=True,
    ),
    Tool(
        name="remember",
        title="Remember under keys",
        description=REMEMBER,
        arguments=RememberArguments,
        answer=Remembered,
        run=remember,
        stores_unasked=True,
        also={"types": "key_types", "ttl_s": "ttl_seconds"},
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
        also={"iri": "memory_id", "types": "key_types"},
        asks=(notes.Correct,),
        repeats_harmlessly=True,
    ),
    tool_over(operations.Related, "related", "Related memories", RELATED, {"memory_id": _READ_MEMORY}),
    Tool(
        name="forget",
        title="Forget a memory",
        description=FORGET,
        arguments=ForgetArguments,
        answer=Removed,
        run=forget,
        also={"iri": "memory_id"},
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
            "turn": Argument(field="turn", description="The number of a turn in it, from 0."),
        },
        wrap="turns",
    ),
    tool_over(
        operations.ListMemories,
        "list_memories",
        "List memories",
        LIST,
        {
            "limit": Argument(field="limit", description="The most memories on this page."),
            "offset": "offset",
            **{name: Argument(field=name) for name in FILTERS},
        },
        wrap="memories",
    ),
    Tool(
        name="remember_batch",
        title="Remember several texts",
        description=BATCH,
        arguments=BatchArguments,
        answer=Batch,
        run=remember_batch,
        stores_unasked=True,
        asks=(operations.RememberBatch,),
        repeats_harmlessly=True,
    ),
    tool_over(operations.CleanupExpired, "cleanup_expired", "Clean up", CLEANUP, {}),
    # Both designs have a tool of this name.
    tool_over(
        operations.MemoryStats, "memory_stats", "Count memories", STATS, {"alone": "alone"}, groups=("keys", "care")
    ),
    tool_over(
        operations.RecallMemories,
        "recall_memories",
        "Recall memories",
        DIRECT,
        {
            "query": Argument(field="query", description="The question."),
            "top_k": Argument(field="k", description="The most memories."),
            "expand": "expand",
            "hops": "hops",
            "min_rel_score": "least_share",
            "min_score": Argument(
                field="min_score", description="The answer is empty if the best cosine is below this."
            ),
            "min_z": Argument(field="gate_z", description="By how much the best cosine must stand out."),
            "min_key_gate": Argument(field="key_gate", description="The cosine of a key that suffices for an answer."),
            "min_depth": "least_depth",
        },
        repeats_harmlessly=True,
        setting="keys.direct",
    ),
    Tool(
        name="memory_save",
        title="Store a text",
        description=SAVE,
        arguments=SaveArguments,
        answer=Saved,
        run=save_text,
        asks=(operations.Remember,),
        groups=("care",),
        address="POST /api/save",
        stores_unasked=True,
    ),
)
