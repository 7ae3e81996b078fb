"""The addresses of living memory, described."""

from __future__ import annotations

from collections.abc import Mapping

from memento.interfaces.web.operation import FLAG, NAMESPACE, TEXT, Operation, Schema
from memento.model import Activated, Archived, Association, Fading, Followed, Strength

SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def living() -> dict[tuple[str, str], Operation]:
    """By verb and path as OpenAPI writes it."""
    return {**_of_one(), **_of_all()}


def _of_one() -> dict[tuple[str, str], Operation]:
    helped = {**FLAG, "description": "false where it misled"}
    return {
        ("get", "/memory/{iri}/strength"): Operation(
            does="Importance, depth, energy and usefulness of a memory now",
            answers=Strength,
            needed=("iri",),
            fails=(404,),
        ),
        ("post", "/memory/{iri}/feedback"): Operation(
            does="Say that a memory helped, or that it misled; its numbers afterwards",
            answers=Strength,
            needed=("iri",),
            body=_object({"helped": helped}, "helped"),
            fails=(404, 415),
        ),
        ("get", "/memory/{iri}/trace"): Operation(
            does="The paths over associations that lead away from a memory",
            answers=tuple[Followed, ...],
            parameters={"depth": {"type": "integer", "minimum": 1, "maximum": 6, "default": 2}},
            needed=("iri",),
            fails=(404,),
        ),
        ("post", "/memory/{iri}/unarchive"): Operation(
            does="Bring an archived memory back, with the energy that it had at first",
            answers=Strength,
            needed=("iri",),
            body=_object({}),
            fails=(404, 415),
        ),
    }


def _of_all() -> dict[tuple[str, str], Operation]:
    link: dict[str, Schema] = {
        "source": TEXT,
        "target": TEXT,
        "relation": {**TEXT, "maxLength": 100, "default": "similar"},
        "weight": {**SHARE, "default": 0.5, "description": "a link that is there grows by a tenth of it"},
    }
    seeds: dict[str, Schema] = {
        "seeds": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1000},
        "steps": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "decay": {**SHARE, "default": 0.85},
        "threshold": {**SHARE, "default": 0.1},
    }
    days = {"type": "number", "exclusiveMinimum": 0, "description": "default the setting `living.half_life`"}
    return {
        ("post", "/memory/associations"): Operation(
            does="Let one memory lead to another, or more strongly",
            answers=Association,
            body=_object(link, "source", "target"),
            created=True,
            fails=(404, 413, 415),
        ),
        ("post", "/memory/activate"): Operation(
            does="The memories that activation reaches from some, the most active first",
            answers=tuple[Activated, ...],
            body=_object(seeds, "seeds"),
            fails=(404, 413, 415),
        ),
        ("post", "/memory/decay"): Operation(
            does="Let the energies of the namespace fade up to now",
            answers=Fading,
            body=_object({"half_life_days": days}),
            fails=(415,),
        ),
        ("post", "/memory/archive"): Operation(
            does="Let memories come back no more that have no energy left and are hardly used",
            answers=Archived,
            body=_object({"dry_run": {**FLAG, "default": False}}),
            fails=(415,),
        ),
    }


def _object(properties: Mapping[str, Schema], *needed: str) -> Schema:
    return {
        "type": "object",
        "required": list(needed),
        "properties": {**properties, "namespace": NAMESPACE},
        "additionalProperties": False,
    }
