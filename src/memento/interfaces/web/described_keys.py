"""The addresses of the key graph, described."""

from __future__ import annotations

from collections.abc import Mapping

from memento.interfaces.web.operation import FLAG, NAMESPACE, PAGE, TEXT, TYPES, Operation, Schema
from memento.model import (
    BatchRow,
    Cleaned,
    DirectRecall,
    FoundKeys,
    KeyPage,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    Related,
    Remembered,
    TurnRow,
)

TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
NUMBER: Schema = {"type": "number"}
ITEM: Mapping[str, Schema] = {
    "content": TEXT,
    "keys": {
        **TEXTS,
        "description": "names and short phrases that lead to it; without any, its own names and nouns do",
    },
    "types": TYPES,
    "ttl_s": {"type": "number", "exclusiveMinimum": 0, "description": "seconds after which it is forgotten"},
    "related_to": {**TEXTS, "description": "memories to link it to"},
    "session": {"type": "string", "description": "the conversation that it belongs to"},
    "source": {**TEXT, "description": "how it came in, as a short word"},
}
DIRECT: Mapping[str, Schema] = {
    "query": TEXT,
    "k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
    "hops": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
    "expand": FLAG,
    "least_share": {**NUMBER, "minimum": 0, "maximum": 0.9},
    "least_depth": {**NUMBER, "minimum": 0, "maximum": 1},
    "min_score": NUMBER,
    "gate_z": NUMBER,
    "key_gate": NUMBER,
}


def keys() -> dict[tuple[str, str], Operation]:
    """By verb and path as OpenAPI writes it."""
    return {**_read(), **_written()}


def _read() -> dict[tuple[str, str], Operation]:
    page = {name: PAGE[name] for name in ("limit", "offset")}
    return {
        ("get", "/memory/keys"): Operation(
            does="The keys that a question leads to",
            answers=FoundKeys,
            parameters={"query": TEXT, "k": {"type": "integer", "minimum": 1, "maximum": 20, "default": 8}},
            needed=("query",),
            fails=(413,),
        ),
        ("get", "/memory/keys/{iri}"): Operation(
            does="Where a key leads: a page of memories without their text",
            answers=KeyPage,
            parameters={
                "query": {"type": "string", "description": "rank by likeness to this too"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "offset": PAGE["offset"],
            },
            needed=("iri",),
            fails=(404, 413),
        ),
        ("get", "/memory/{iri}/related"): Operation(
            does="The memories that share keys with one, or were linked to it",
            answers=Related,
            needed=("iri",),
            fails=(404,),
        ),
        ("get", "/memory/memories"): Operation(
            does="The memories that hold, newest first, with their keys", answers=tuple[MemoryRow, ...], parameters=page
        ),
        ("get", "/memory/conversation"): Operation(
            does="What was said in a session, or the turns around one",
            answers=tuple[TurnRow, ...],
            parameters={"session": TEXT, "turn": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}},
            needed=("session",),
            fails=(413,),
        ),
        ("get", "/memory/stats"): Operation(does="Counts of keys, links and memories", answers=MemoryStats),
    }


def _written() -> dict[tuple[str, str], Operation]:
    via: dict[str, Schema] = {
        "via": {"type": "string", "description": "the key that led here: the link to it grows stronger"},
        "past": {**FLAG, "description": "also what was superseded or is over, without a trace"},
    }
    return {
        ("post", "/memory/{iri}/read"): Operation(
            does="A memory in full, with the keys that lead on; it grows deeper",
            answers=OpenedMemory,
            needed=("iri",),
            body=_object(via),
            fails=(404, 415),
        ),
        ("post", "/memory/remember"): Operation(
            does="Keep a text under some keys, without a model",
            answers=Remembered,
            body=_object(ITEM, "content"),
            created=True,
            fails=(413, 415),
        ),
        ("post", "/memory/remember/batch"): Operation(
            does="Keep several texts, 100 at most; what became of each",
            answers=tuple[BatchRow, ...],
            body=_object({"items": {"type": "array", "items": {"type": "object"}, "maxItems": 100}}, "items"),
            fails=(413, 415),
        ),
        ("post", "/memory/cleanup"): Operation(
            does="Let go of the memories whose time is over", answers=Cleaned, body=_object({}), fails=(415,)
        ),
        ("post", "/memory/keys/recall"): Operation(
            does="The memories for a question at once, over keys; where `keys.direct` is on",
            answers=DirectRecall,
            body=_object(DIRECT, "query"),
            fails=(413, 415),
        ),
    }


def _object(properties: Mapping[str, Schema], *needed: str) -> Schema:
    return {
        "type": "object",
        "required": list(needed),
        "properties": {**properties, "namespace": NAMESPACE},
        "additionalProperties": False,
    }
