"""A pydantic form as the JSON schema a provider takes, and a model's text as that form, or what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memento.ports import Form

if TYPE_CHECKING:
    from pydantic import BaseModel

FENCED = re.compile(r"```[a-zA-Z]*+[^\S\n]*+\n(.*?)```", re.DOTALL)
# Up to the next tag of a thought, whichever: one that is never closed would be looked for to the end, from each that opens.
THOUGHT = re.compile(r"<think(?:ing)?>[^<]*+(?:<(?!/?think(?:ing)?>)[^<]*+)*+</think(?:ing)?>")
UNKNOWN = ("default", "title", "discriminator")
BOUNDS = (
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "multipleOf",
    "exclusiveMinimum",
    "exclusiveMaximum",
)
TRIED = 100  # braces at which an object may begin: text made of nothing else would take for ever
NAMED = 5  # mistakes told at once; the first ones mostly cause the others


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """
    The form's JSON schema in the subset that providers enforce: every property required, nothing beside them, no defaults.

    Bounds, which not all of them know, move into descriptions; pydantic checks them. A field that may be left out must be nullable.
    """
    return {**_strict(form.model_json_schema()), "title": form.__name__}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    found = {key: value for key, value in schema.items() if key not in (*UNKNOWN, *BOUNDS)}
    if bounds := ", ".join(f"{key}: {schema[key]}" for key in BOUNDS if key in schema):
        found["description"] = f"{schema.get('description', '')} ({bounds})".strip()
    for key in ("$defs", "properties"):
        if key in found:
            found[key] = {name: _strict(one) for name, one in found[key].items()}
    if "oneOf" in found:
        found["anyOf"] = found.pop("oneOf")
    if "anyOf" in found:
        found["anyOf"] = [_strict(one) for one in found["anyOf"]]
    if isinstance(found.get("items"), dict):
        found["items"] = _strict(found["items"])
    if "properties" in found:
        found |= {"required": list(found["properties"]), "additionalProperties": False}
    return found


def read(text: str, form: type[Form]) -> Form | str:
    """
    The form, from bare JSON, a fenced block, or JSON with words around it; else what is wrong, to be told to the model.

    The complaint names places and rules, never what the model wrote.
    """
    from pydantic import ValidationError

    wrong = "It is not JSON."
    for found in _objects(text):
        try:
            return form.model_validate(found)
        except ValidationError as error:
            mistakes = [
                f"{'.'.join(str(step) for step in one['loc']) or 'the object'}: {one['msg']}"
                for one in error.errors(include_url=False, include_input=False, include_context=False)
            ]
            more = f" and {len(mistakes) - NAMED} more" if len(mistakes) > NAMED else ""
            wrong = f"It does not fit: {'; '.join(mistakes[:NAMED])}{more}."
    return wrong


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that the text may mean, likeliest first."""
    bare = THOUGHT.sub("", text).strip()
    for piece in (bare, *FENCED.findall(bare)):
        try:
            found = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
    decoder = json.JSONDecoder()
    place = bare.find("{")
    for _ in range(TRIED):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(bare, place)
        except (ValueError, RecursionError):
            place = bare.find("{", place + 1)
            continue
        yield found
        place = bare.find("{", end)
