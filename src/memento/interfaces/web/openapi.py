"""
`/memory/openapi.json`: the REST addresses, and `/health`, for programs that read OpenAPI 3.1.

*Because:* what an address takes is written here once more, beside the views, as a view reads its parameters by name; answers
are described by the nouns themselves. A test holds the page and the addresses to each other, and asks them what the page says.
"""

from __future__ import annotations

import re
from functools import cache
from http import HTTPStatus
from typing import Any, cast

import msgspec

from memento import __version__
from memento.codec import encode, schema_of_iri
from memento.interfaces.web import documented
from memento.interfaces.web.case_operations import case_operations
from memento.interfaces.web.described_keys import keys
from memento.interfaces.web.described_living import living
from memento.interfaces.web.operation import (
    ASKED,
    ERROR,
    FLAG,
    NAMESPACE,
    PAGE,
    SUBJECT,
    TEXT,
    TIME,
    TYPES,
    Operation,
    Schema,
)
from memento.model import (
    Described,
    Difference,
    Forgotten,
    Health,
    Imported,
    Inferred,
    Listed,
    Noted,
    NoteRow,
    NoteStatus,
    RecalledEntity,
    Recollection,
    Source,
    Status,
    Timeline,
    Undone,
)


def _note() -> Schema:
    fields: dict[str, Schema] = {
        "content": TEXT,
        "at": {**TIME, "description": "when it was said; default now"},
        "title": {"type": "string"},
        "speaker": {"type": "string", "description": "who said it, when it was not the user"},
        "session": {"type": "string"},
        "position": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
        "idempotency_key": {"type": "string", "description": "a retry with the same key is the same note"},
        "wait": {**FLAG, "description": "false: answer as soon as the note is kept", "default": True},
        "namespace": NAMESPACE,
    }
    return {"type": "object", "required": ["content"], "properties": fields, "additionalProperties": False}


def operations() -> dict[tuple[str, str], Operation]:
    """Every address below `/memory` and `/cases`, by verb and path as OpenAPI writes it."""
    listing = Operation(does="The memories of the namespace, newest first", answers=tuple[Listed, ...], parameters=PAGE)
    return {
        **_notes(),
        ("get", "/memory/recall"): Operation(
            does="The memories that answer a question",
            answers=Recollection,
            parameters=ASKED,
            needed=("query",),
            fails=(413,),
        ),
        ("get", "/memory/list"): listing,
        ("get", "/memory"): listing,
        ("get", "/memory/entities"): Operation(
            does="The entities that most memories are about",
            answers=tuple[RecalledEntity, ...],
            parameters={"limit": {**PAGE["limit"], "default": 10}},
        ),
        ("get", "/memory/timeline"): Operation(
            does="The history of an entity, the user, a memory or a note",
            answers=Timeline,
            parameters={"subject": SUBJECT, "as_of": TIME, "believed_at": TIME, "limit": PAGE["limit"]},
            needed=("subject",),
            fails=(404, 413),
        ),
        ("get", "/memory/inferred"): Operation(does="How much follows from what is stated", answers=Inferred),
        ("get", "/memory/status"): Operation(
            does="What the namespace holds, and how the service stands", answers=Status
        ),
        ("get", "/memory/check"): Operation(
            does="Differences between graph and indexes, and violated shapes", answers=tuple[Difference, ...]
        ),
        ("post", "/memory/rebuild"): Operation(does="Make every index anew; how many texts that were", answers=int),
        ("get", "/memory/{iri}"): Operation(
            does="Everything the graph says of an IRI", answers=Described, needed=("iri",), fails=(404,)
        ),
        ("delete", "/memory/{iri}"): Operation(
            does="Hide a memory or the memories of a note; with `erase`, delete their text",
            answers=Forgotten,
            parameters={"erase": FLAG},
            needed=("iri",),
            fails=(404,),
        ),
        **_amendments(),
        **keys(),
        **living(),
        **documented.operations(),
        **case_operations(),
    }


def _notes() -> dict[tuple[str, str], Operation]:
    """The addresses that take notes in."""
    row = msgspec.json.schema(NoteRow)["$defs"]["NoteRow"]["properties"]
    rows = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
    }
    return {
        ("post", "/memory/notes"): Operation(
            does="Remember a first-person note",
            answers=Noted,
            body=_note(),
            created=True,
            accepted=True,
            fails=(409, 413, 415),
        ),
        ("post", "/memory/import"): Operation(
            does=f"Remember many notes, as rows with {', '.join(row)}",
            answers=Imported,
            parameters={"consolidate": {**FLAG, "default": True}},
            body=rows,
            fails=(409, 413, 415),
        ),
    }


def _amendments() -> dict[tuple[str, str], Operation]:
    """The addresses below a note or a memory, and what tries notes again."""
    right: dict[str, Schema] = {
        "content": TEXT,
        "at": {**TIME, "description": "since when that holds; default since the memory did"},
        "keys": {"type": "array", "items": {"type": "string"}, "description": "its keys; default as before"},
        "types": TYPES,
        "related_to": {"type": "array", "items": {"type": "string"}},
        "namespace": NAMESPACE,
    }
    better = {"type": "object", "required": ["content"], "properties": right, "additionalProperties": False}
    return {
        ("get", "/memory/notes/{iri}/status"): Operation(
            does="How far a note has come", answers=NoteStatus, needed=("iri",), fails=(404,)
        ),
        ("post", "/memory/retry"): Operation(
            does="Try every note now that is still to be understood", answers=tuple[NoteStatus, ...]
        ),
        ("post", "/memory/{iri}/correct"): Operation(
            does="Put a better text in the place of a memory",
            answers=Noted,
            needed=("iri",),
            body=better,
            created=True,
            fails=(404, 413, 415),
        ),
        ("post", "/memory/{iri}/undo"): Operation(
            does="Let a retired memory hold again", answers=Undone, needed=("iri",), fails=(404, 415)
        ),
        ("get", "/memory/{iri}/sources"): Operation(
            does="Who told a memory, and what made it of the note",
            answers=tuple[Source, ...],
            needed=("iri",),
            fails=(404,),
        ),
    }


@cache
def page() -> bytes:
    """The whole description as JSON."""
    table = operations()
    answers = [one.answers for one in table.values()]
    forms = {one.body: one.body for one in table.values() if isinstance(one.body, type)}
    schemas, components = msgspec.json.schema_components(
        [*answers, Health, *forms], schema_hook=schema_of_iri, ref_template="#/components/schemas/{name}"
    )
    bodies = dict(zip(forms, schemas[len(answers) + 1 :], strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for ((verb, path), one), schema in zip(table.items(), schemas[: len(answers)], strict=True):
        taken = bodies[one.body] if isinstance(one.body, type) else one.body
        paths.setdefault(path, {})[verb] = _described(verb, path, one, schema, taken)
    components = cast("dict[str, Any]", _even(components))
    components["Health"]["required"] = ["status"]  # all that a stranger is told
    paths["/health"] = {"get": _health(schemas[len(answers)])}
    return encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "Memento", "version": __version__, "summary": "A memory for LLM agents, as a graph."},
            "paths": paths,
            "components": {
                "schemas": {**components, "Error": ERROR},
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
            "security": [{}, {"token": []}],
        }
    )


def _even(schema: Any) -> Any:
    """A schema whose pairs are lists of two of a kind, which all readers of JSON Schema understand alike."""
    if isinstance(schema, list):
        return [_even(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    pair = schema.get("prefixItems", [])
    even = {"items": pair[0]} if pair and all(one == pair[0] for one in pair) else {}
    kept = {key: _even(value) for key, value in schema.items() if not (even and key == "prefixItems")}
    return {**kept, **even}


def _described(verb: str, path: str, one: Operation, schema: Schema, body: Schema | None) -> dict[str, Any]:
    parameters = [_parameter(name, of, name in one.needed) for name, of in one.parameters.items()]
    parameters.append(_parameter("namespace", NAMESPACE, needed=False))
    parameters += [
        {"name": name, "in": "path", "required": True, "schema": TEXT} for name in re.findall(r"\{(\w+)\}", path)
    ]
    statuses = [200, *([201] if one.created else []), *([202] if one.accepted else [])]
    answers = {str(status): _answer(status, schema) for status in statuses}
    if one.documents:
        content = {media: {"schema": of} for media, of in one.documents.items()}
        answers["200"] = {"description": HTTPStatus(200).phrase, "content": content}
    answers |= {str(status): _answer(status, {"$ref": "#/components/schemas/Error"}) for status in _failing(one)}
    told: dict[str, Any] = {"summary": one.does, "operationId": _name(verb, path), "parameters": parameters}
    if body is not None:
        told["requestBody"] = {"required": True, "content": {one.media: {"schema": body}}}
    return {**told, "responses": answers}


def _health(schema: Schema) -> dict[str, Any]:
    answers = {str(status): _answer(status, schema) for status in (200, 503)}
    does = "Whether questions are answered, and for those who may ask them what with; 503 while starting"
    return {"summary": does, "operationId": "get_health", "parameters": [], "responses": answers}


def _failing(one: Operation) -> list[int]:
    return sorted({400, 401, 403, 503, *one.fails})


def _parameter(name: str, schema: Schema, needed: bool) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": needed, "schema": schema}


def _answer(status: int, schema: Schema) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, "content": {"application/json": {"schema": schema}}}


def _name(verb: str, path: str) -> str:
    """
    A name for generated clients.

    >>> _name("get", "/memory/{iri}"), _name("post", "/memory/notes")
    ('get_memory_iri', 'post_memory_notes')
    """
    return f"{verb}{path.replace('/', '_').replace('{', '').replace('}', '')}"
