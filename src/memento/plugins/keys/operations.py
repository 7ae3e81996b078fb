"""Operations on keys: from a question to keys, from a key to memories, and texts stored under keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Alone, Filtered, Interface, Iri, Limit, Offset, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model
    from memento.plugins.keys import nouns

GROUP = "keys"
NOUNS = "memento.plugins.keys.nouns"


class FindKeys(Operation["nouns.FoundKeys"], frozen=True):
    """
    Find the keys that a question leads to, best first, without the text of any memory; nothing is written.

    Raises:
        InputError: empty query, or k out of range.
        TooLong: query over `limits.text_bytes`.
    """

    route: ClassVar[str] = "GET /memory/keys"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413,)

    query: Annotated[Text, Meta(description="a short phrase or a question")]
    k: Annotated[int, Meta(ge=1, le=20, description="most keys")] = 8


class ReadKey(Operation["nouns.KeyPage"], frozen=True):
    """
    List the memories of a key, best first, without their text; nothing is written.

    Raises:
        NotFound: no such key here.
        InputError: limit or offset out of range.
    """

    route: ClassVar[str] = "GET /memory/keys/{iri}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 413)

    iri: Annotated[Iri, Meta(description="a key as `find_keys` gives it, or an entity")]
    query: Annotated[str, Meta(description="also rank by similarity to this")] | None = None
    limit: Annotated[int, Meta(ge=1, le=50, description="most memories")] = 10
    offset: Annotated[Offset, Meta(description="how many to skip: `next_offset` of the page before")] = 0


class ReadMemory(Operation["nouns.OpenedMemory"], frozen=True):
    """
    Read a memory in full, with the keys that lead on from it; its depth increases, and so does the weight of the link that led
    here.

    If the caller may not write, or the memory is read-only, nothing is changed by the read.

    Raises:
        NotFound: no such memory here.
        InputError: it was superseded (the message says by which memory), or the key does not lead to it.
    """

    route: ClassVar[str] = "POST /memory/{iri}/read"
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    iri: Annotated[Iri, Meta(description="the memory")]
    via: Annotated[str, Meta(description="the key that led here: its link is strengthened")] | None = None
    past: Annotated[
        bool, Meta(description="also read what was superseded, has ended or is forgotten; that changes nothing")
    ] = False


class Related(Operation["nouns.Related"], frozen=True):
    """
    Find the memories that share keys with one, or are linked to it; rare keys count most.

    Raises:
        NotFound: no such memory here.
    """

    route: ClassVar[str] = "GET /memory/{iri}/related"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="the memory")]


class RecallMemories(Operation["nouns.DirectRecall"], frozen=True):
    """
    Find the memories for a question in one call, by words, meaning and hops over keys; their depth and their links are
    strengthened.

    Raises:
        Forbidden: the setting `keys.direct` is off.
        InputError: empty query, or a number out of range.
    """

    route: ClassVar[str] = "POST /memory/keys/recall"
    fails: ClassVar[tuple[int, ...]] = (413, 415)

    query: Annotated[Text, Meta(description="what to find")]
    k: Annotated[int, Meta(ge=1, le=50, description="most memories; twice as many with `expand`")] = 5
    hops: Annotated[
        int, Meta(ge=1, le=5, description="how far to go over keys; 1: no further than the first memories")
    ] = 2
    expand: Annotated[bool, Meta(description="search farther; what only hops found counts less")] = False
    least_share: Annotated[
        float, Meta(ge=0, le=0.9, description="share of the best score below which a memory is left out")
    ] = 0.0
    least_depth: Annotated[Share, Meta(description="depth below which a memory is left out")] = 0.0
    min_score: Annotated[float, Meta(description="the setting of that name, for this question")] | None = None
    gate_z: Annotated[float, Meta(description="the setting of that name, for this question")] | None = None
    key_gate: Annotated[float, Meta(description="the setting of that name, for this question")] | None = None


class Remember(Operation["nouns.Remembered"], frozen=True):
    """
    Store a text under some keys, in one atomic write and without a model.

    Raises:
        InputError: empty content or source, or no usable key.
        TooLong: content over the limit.
    """

    route: ClassVar[str] = "POST /memory/remember"
    right: ClassVar[Right] = "write"
    statuses: ClassVar[tuple[int, ...]] = (201,)
    fails: ClassVar[tuple[int, ...]] = (413, 415)

    content: Annotated[Text, Meta(description="what to remember")]
    keys: Annotated[
        Sequence[str] | None,
        Meta(description="names and short phrases that lead to it; default the names and nouns of the text"),
    ] = None
    types: Annotated[
        Mapping[str, model.KeyType] | None,
        Meta(description="which keys are names, found by their spelling alone; the others are concepts"),
    ] = None
    ttl_s: Annotated[float, Meta(description="seconds after which it is forgotten")] | None = None
    related_to: Annotated[
        Sequence[str], Meta(description="memories to link it to; those that do not exist are skipped")
    ] = ()
    session: Annotated[str, Meta(description="the conversation that it belongs to")] | None = None
    source: Annotated[Text, Meta(description="how it came in, as a short word")] = "explicit"
    type: Annotated[str, Meta(description="what kind of memory it is, in a word")] | None = None
    importance: Annotated[Share, Meta(description="how important it is")] | None = None
    tags: Annotated[Sequence[str], Meta(description="words to find it by, as labels")] = ()
    container: Annotated[str, Meta(description="the container that it is put into")] | None = None
    piece: Annotated[nouns.TextPiece | None, Meta(description="its place in a long text, of which it is a piece")] = (
        None
    )


class RememberBatch(Operation["tuple[nouns.BatchRow, ...]"], frozen=True):
    """
    Remember several texts one after the other; a text that fails reports why, and the others are still remembered.

    Raises:
        InputError: too many items.
    """

    route: ClassVar[str] = "POST /memory/remember/batch"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"cli": "`memento import` takes files"}

    items: Annotated[
        Sequence[nouns.ToRemember], Meta(description="texts with their keys, 100 at most", extra={"fails_apart": True})
    ]


class Conversation(Operation["tuple[nouns.TurnRow, ...]"], frozen=True):
    """List what was said in a session, in order, or the five turns around one; an unknown session gives an empty list."""

    route: ClassVar[str] = "GET /memory/conversation"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413,)

    session: Annotated[Text, Meta(description="the conversation")]
    turn: (
        Annotated[int, Meta(ge=-(2**31), le=2**31 - 1, description="the turns around this one, counted from 0")] | None
    ) = None


class ListMemories(Filtered["tuple[nouns.MemoryRow, ...]"], frozen=True):
    """
    List the current memories, newest first, with their keys, depth and links.

    Raises:
        InputError: limit or offset out of range.
        NotFound: nothing goes by the name of `entity`.
    """

    route: ClassVar[str] = "GET /memory/memories"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    limit: Limit = 50
    offset: Offset = 0


class CleanupExpired(Operation["nouns.Cleaned"], frozen=True):
    """Forget the memories whose time to live is over, and learned phrases that nobody used; history keeps the memories."""

    route: ClassVar[str] = "POST /memory/cleanup"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)


class MemoryStats(Operation["nouns.MemoryStats"], frozen=True):
    """Count keys, links, memories, notes and sessions over what the namespace reads."""

    route: ClassVar[str] = "GET /memory/stats"
    is_idempotent: ClassVar[bool] = True

    alone: Alone = False
