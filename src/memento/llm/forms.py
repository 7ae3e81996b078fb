"""A pydantic form as the JSON schema a provider takes, and a model's text as that form, or what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memento.ports import Form

if TYPE_CHECKING:
    from pydantic import BaseModel

FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
TRIED = 100  # braces at which an object may begin: text made of nothing else would take for ever
NAMED = 5  # mistakes told at once; the first ones mostly cause the others


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """
    The form's JSON schema in the subset that providers enforce: every property required, nothing beside them, no defaults.

    A field that may be left out must be nullable to be told so.
    """
    schema = form.model_json_schema()
    _tighten(schema)
    return {**schema, "title": form.__name__}


def _tighten(schema: object) -> None:
    if isinstance(schema, list):
        for one in schema:
            _tighten(one)
    if not isinstance(schema, dict):
        return
    if isinstance(properties := schema.get("properties"), dict):
        schema["required"] = list(properties)
        schema["additionalProperties"] = False
        for one in properties.values():
            _tighten(one)
    for key in ("$defs", "items", "anyOf", "allOf", "prefixItems"):
        inner = schema.get(key)
        _tighten(list(inner.values()) if key == "$defs" and isinstance(inner, dict) else inner)
    for key in ("default", "title"):
        schema.pop(key, None)


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
