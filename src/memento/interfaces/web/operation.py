"""What one address of REST does, as OpenAPI describes it, and the schemas that many share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memento.settings import ENGINES

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1, "pattern": r"\S"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
NAMESPACE: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
SUBJECT: Schema = {**TEXT, "description": "the name of an entity, an IRI, or `me`"}
TYPES: Schema = {
    "type": "object",
    "additionalProperties": {"enum": ["concept", "name", "proper_noun"]},
    "description": "which keys are names, found by their spelling alone; the others are concepts",
}
PAGE: Mapping[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
    "offset": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1, "default": 0},
    "past": {**FLAG, "description": "also the retired and the forgotten"},
}
ASKED: Mapping[str, Schema] = {
    "query": TEXT,
    "k": {"type": "integer", "minimum": 1, "maximum": 300},
    "as_of": {**TIME, "description": "what was true then"},
    "believed_at": {**TIME, "description": "what Memento believed then"},
    "profile": {"enum": ["seed", "half"]},
    "engine": {"enum": list(ENGINES), "description": "what ranks; default signals"},
    "gate": {**FLAG, "description": "whether nothing comes back when nothing is relevant"},
    "explain": FLAG,
}
ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one address does: its parameters by name, its body, the noun it answers with, the ways it fails."""

    does: str
    answers: Any = None
    parameters: Mapping[str, Schema] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    body: Schema | type | None = None
    media: str = "application/json"
    documents: Mapping[str, Schema] = field(default_factory=dict)
    """What comes back instead of a noun, by media type."""
    created: bool = False
    accepted: bool = False
    fails: tuple[int, ...] = ()
