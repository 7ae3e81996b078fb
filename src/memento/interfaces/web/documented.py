"""What `/memory/openapi.json` says of exports, imports and backups."""

from __future__ import annotations

from memento.graph.documents import FORMS
from memento.interfaces.web.operation import FLAG, NAMESPACE, TEXT, Operation, Schema
from memento.model import BackedUp, Evaluated, Manifest, Merged, Restored

_OBJECT: Schema = {"type": "object"}
_WITH_GRAPHS = [form for form in FORMS if form.has_graphs]


def operations() -> dict[tuple[str, str], Operation]:
    """What goes out and comes in as a whole."""
    folder = {**TEXT, "description": "on the machine of the service; for whoever sits there alone"}
    keep = {"type": "integer", "minimum": 1, "maximum": 1000, "description": "backups to leave there; default all"}
    place: dict[str, Schema] = {"folder": folder, "namespace": NAMESPACE}
    read = {"enum": [form.name for form in FORMS]}
    written = {form.media: _OBJECT if form.media.endswith("json") else {"type": "string"} for form in _WITH_GRAPHS}
    return {
        **_living(),
        ("get", "/memory/export"): Operation(
            does="Every graph of the tenant as one RDF document; with `namespace` that one alone",
            documents=written,
            parameters={
                "format": {"enum": [form.name for form in _WITH_GRAPHS], "default": "trig"},
                "vectors": {**FLAG, "description": "put the vectors in"},
                "audit": {**FLAG, "description": "put in what was done with the store, for reading"},
            },
            fails=(406,),
        ),
        ("post", "/memory/import/rdf"): Operation(
            does="Take in an RDF document, all of it or nothing",
            answers=Merged,
            parameters={
                "format": read,
                "data": {**NAMESPACE, "description": "the graph for triples that are in none"},
                "check": {**FLAG, "default": True, "description": "hold it against the shapes"},
                "name": {**TEXT, "description": "what errors call it"},
            },
            needed=("format",),
            body={"type": "string", "format": "binary"},
            media="application/octet-stream",
            fails=(413, 422),
        ),
        ("post", "/memory/backup"): Operation(
            does="Make a backup on the machine of the service",
            answers=BackedUp,
            body={"type": "object", "properties": {**place, "keep": keep}, "additionalProperties": False},
            created=True,
            fails=(413, 415),
        ),
        ("post", "/memory/restore"): Operation(
            does="Let a backup be the memory; what is there is moved aside",
            answers=Restored,
            body={"type": "object", "properties": place, "additionalProperties": False},
            fails=(404, 413, 415),
        ),
    }


def _living() -> dict[tuple[str, str], Operation]:
    """Expressions, and the map."""
    expression = {"type": "string", "minLength": 1, "pattern": r"\S", "description": 'as (recall "tea")'}
    asked: dict[str, Schema] = {"expression": expression, "namespace": NAMESPACE}
    return {
        ("post", "/memory/sexpr"): Operation(
            does="The values of one or several expressions",
            answers=Evaluated,
            body={"type": "object", "required": ["expression"], "properties": asked, "additionalProperties": False},
            fails=(404, 413, 415, 422, 504),
        ),
        ("get", "/memory/manifest"): Operation(
            does="The map of the namespace: what hangs together, what it turns on, what is new and what fades",
            answers=Manifest,
            parameters={"fresh": {**FLAG, "description": "draw it now, however long that takes"}},
        ),
    }
