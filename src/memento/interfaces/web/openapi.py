"""`/memory/openapi.json`: the REST interface and `/health` as OpenAPI 3.1, generated from the declarations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any, cast

import msgspec

from memento import __version__
from memento.archive.tables import TABLE_FORMS, TableForm
from memento.codec import encode, omit_null, schema_of_iri
from memento.graph.documents import FORMS, Form
from memento.interfaces.web.rest import IMPORT_OPTIONS, LISTING
from memento.model import Health, Readiness
from memento.operations import Operation, list_operations
from memento.operations.base import answer_type, complete, fields_of, places_of, summary_of
from memento.operations.care import Export, ImportRdf
from memento.operations.notes import ImportNotes
from memento.operations.recall import List

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1, "pattern": r"\S"}
NAMESPACE: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
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
_REFERENCE = "#/components/schemas/{name}"


def operations(left_out: Collection[str] = ()) -> dict[tuple[str, str], type[Operation[Any]]]:
    """Return every address of REST, by verb and path as OpenAPI writes it, but those of the plug-ins that are left out."""
    found = {_address(one.route): one for one in list_operations(left_out).values() if "rest" not in one.absent}
    return {**found, _address(LISTING): List, _address(Export.route): Export, _address(ImportRdf.route): ImportRdf}


@cache
def page(left_out: frozenset[str] = frozenset()) -> bytes:
    """Return the description as JSON, without the plug-ins that are left out."""
    table = operations(left_out)
    answers = [answer_type(one) for one in table.values()]
    schemas, components = msgspec.json.schema_components(
        [*answers, Health, Readiness], schema_hook=schema_of_iri, ref_template=_REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    shared: dict[str, Any] = dict(components)
    for ((verb, path), one), schema in zip(table.items(), schemas, strict=False):
        described = _describe(verb, path, one, schema, shared)
        paths.setdefault(path, {})[verb] = described
    shared = cast("dict[str, Any]", _even(shared))
    shared["Health"]["required"] = ["status"]  # all that a caller without a token gets
    paths["/health"] = {"get": _health("get_health", _ALIVE, schemas[-2])}
    paths["/health/ready"] = {"get": _health("get_readiness", _READY, schemas[-1])}
    return encode(
        {
            "openapi": "3.1.0",
            "info": {"title": "Memento", "version": __version__, "summary": "A memory for LLM agents, as a graph."},
            "paths": paths,
            "components": {
                "schemas": {**{name: shared[name] for name in sorted(_reach(paths, shared))}, "Error": ERROR},
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
            "security": [{}, {"token": []}],
        }
    )


def arguments_of(operation: type[Operation[Any]], shared: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an operation's arguments; add the schemas of the model classes in it to `shared`."""
    complete(operation)
    (schema,), inner = msgspec.json.schema_components([operation], schema_hook=schema_of_iri, ref_template=_REFERENCE)
    schema = inner.pop(operation.__name__)
    shared.update({name: one for name, one in inner.items() if name not in shared})
    schema.pop("title", None)
    schema.pop("description", None)
    return cast("dict[str, Any]", omit_null(schema))


def _address(route: str) -> tuple[str, str]:
    verb, path = route.split(" ")
    return verb.lower(), path


def _describe(
    verb: str, path: str, operation: type[Operation[Any]], answer: Schema, shared: dict[str, Any]
) -> dict[str, Any]:
    arguments = arguments_of(operation, shared)
    properties: dict[str, Any] = arguments["properties"]
    places = places_of(operation)
    needed = [name for name in arguments.get("required", ()) if name not in places]
    parameters = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in places]
    described: dict[str, Any] = {
        "summary": summary_of(operation),
        "operationId": re.sub(r"\W+", "_", f"{verb}{path}").strip("_"),
        "parameters": parameters,
    }
    free = {name: one for name, one in properties.items() if name not in places}
    if operation in _STREAMS:
        described |= _STREAMS[operation]({name: one for name, one in free.items() if name not in _OF_FILES})
        parameters = described["parameters"]
    elif operation is ImportNotes:
        parameters += [_parameter(name, free.pop(name)) for name in IMPORT_OPTIONS]
        rows = {"type": "object", "required": ["rows"], "properties": {"rows": free["rows"]}}
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": rows}}}
    elif verb == "post":
        body = {"type": "object", "required": needed, "properties": free, "additionalProperties": False}
        described["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": body}}}
    else:
        aliases = {name: (field.aliases or (name,))[0] for name, field in fields_of(operation).items()}
        parameters += [
            _parameter(aliases[name], one, is_needed=name in needed)
            for name, one in free.items()
            if name != "namespace"
        ]
    parameters.append(_parameter("namespace", NAMESPACE))
    statuses = sorted({200, operation.status, *operation.statuses})
    answers = {str(status): _response(status, answer) for status in statuses}
    if "responses" in described:
        answers |= described.pop("responses")
    failing = sorted({400, 401, 403, 503, *operation.fails})
    answers |= {str(status): _response(status, {"$ref": "#/components/schemas/Error"}) for status in failing}
    return {**described, "responses": answers}


def _stream_out(arguments: Mapping[str, Schema]) -> dict[str, Any]:
    with_graphs: list[Form | TableForm] = [*(form for form in FORMS if form.has_graphs), *TABLE_FORMS]
    content = {
        form.media: {"schema": {"type": ["object", "array"]} if form.media.endswith("json") else {"type": "string"}}
        for form in with_graphs
    }
    return {
        "parameters": [
            _parameter("format", {"enum": [form.name for form in with_graphs], "default": "trig"}),
            *(_parameter(name, one) for name, one in arguments.items()),
        ],
        "responses": {"200": {"description": HTTPStatus(200).phrase, "content": content}},
    }


def _stream_in(arguments: Mapping[str, Schema]) -> dict[str, Any]:
    body = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {
        "parameters": [
            _parameter(
                "format",
                {"enum": [*(form.name for form in FORMS), *(form.name for form in TABLE_FORMS)]},
                is_needed=True,
            ),
            *(_parameter(name, one) for name, one in arguments.items()),
            _parameter("name", {**TEXT, "description": "what errors call it"}),
        ],
        "requestBody": {"required": True, "content": body},
    }


_STREAMS = {Export: _stream_out, ImportRdf: _stream_in}
_OF_FILES = {"file", "form", "overwrite", "namespace"}
"""The arguments of an export and an import that are about files, which a stream has not, or are added to every address."""


def _parameter(name: str, schema: Schema, *, is_needed: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": is_needed, "schema": schema}


def _response(status: int, schema: Schema) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, "content": {"application/json": {"schema": schema}}}


_ALIVE = "Say whether questions are answered, and to those who may ask what with; 503 while starting"
_READY = (
    "Say whether requests should be sent here, and to those who may ask how each part stands; 503 while they should not"
)


def _health(name: str, summary: str, schema: Schema) -> dict[str, Any]:
    answers = {str(status): _response(status, schema) for status in (200, 503)}
    return {"summary": summary, "operationId": name, "parameters": [], "responses": answers}


def _even(schema: Any) -> Any:
    """
    Return a schema in which pairs are lists of two items, which every JSON Schema reader understands; and without defaults that are
    empty objects, which some versions of msgspec write and others do not.
    """
    if isinstance(schema, list):
        return [_even(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    pair = schema.get("prefixItems", [])
    even = {"items": pair[0]} if pair and all(one == pair[0] for one in pair) else {}
    dropped = {"prefixItems"} if even else set()
    if schema.get("type") == "object" and schema.get("default") == {}:
        dropped.add("default")
    kept = {key: _even(value) for key, value in schema.items() if key not in dropped}
    return {**kept, **even}


def _reach(paths: Any, shared: Mapping[str, Any]) -> set[str]:
    """Return the names of all referenced schemas."""
    reached: set[str] = set()
    waiting = list(_references(paths))
    while waiting:
        name = waiting.pop()
        if name in shared and name not in reached:
            reached.add(name)
            waiting += _references(shared[name])
    return reached


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _references(one)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rsplit("/", 1)[-1]
        for one in schema.values():
            yield from _references(one)
