"""Encode the classes of `model` as JSON for another process: `encode` and `plain` on this side, `decode` on the other."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from memento.errors import InputError
from memento.iris import IRI

T = TypeVar("T")


def encode(obj: object) -> bytes:
    """Encode an object, or a tuple, list or dict of objects, as JSON; times are ISO 8601 in UTC with a Z."""
    return msgspec.json.encode(obj, enc_hook=_to_plain)


def plain(obj: object) -> Any:
    """Convert an object to dicts, lists, texts and numbers."""
    return msgspec.to_builtins(obj, enc_hook=_to_plain)


def schema_of_iri(cls: type) -> dict[str, Any]:
    """Return the JSON Schema of an IRI, as a `schema_hook` of msgspec; raise `NotImplementedError` for any other class."""
    if cls is IRI:
        return {"type": "string", "format": "iri"}
    raise NotImplementedError(f"{cls.__name__} has no form in JSON")


def decode(cls: type[T], data: bytes | dict[str, Any], *, lax: bool = False) -> T:
    """
    Decode an object from JSON, or from a dict that may already contain times; unknown fields are ignored.

    Args:
        lax: accept numbers and booleans written as text.

    Raises:
        InputError: not JSON, or a field is missing or of the wrong type; names the field.

    >>> decode(tuple[IRI, ...], b'["urn:a", 3]')
    Traceback (most recent call last):
    memento.errors.InputError: [1] must be text, not a whole number
    """
    try:
        raw = msgspec.json.decode(data) if isinstance(data, bytes) else data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"this is not JSON: {error}") from error
    try:
        return msgspec.convert(raw, cls, strict=not lax, dec_hook=_to_noun)
    except UnicodeEncodeError as error:  # half of a surrogate pair, which JSON can write and UTF-8 cannot
        raise InputError(f"text with {error.object[error.start]!r} in it is no Unicode text") from error
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        field = path.rstrip("`").lstrip(".") or "the body"
        what = re.sub(r"\AExpected (.*), got (.*)", r"must be \1, not \2", what)
        what = re.sub(r"`([a-z]+(?: \| [a-z]+)*)`", _say_kinds, what)
        raise InputError(f"{field} {what}" if what.startswith("must") else f"{field}: {what}") from error


_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "datetime": "a time",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "uuid": "a UUID",
}
"""What the types of JSON are called in a message for people."""


def _say_kinds(found: re.Match[str]) -> str:
    """Return the kinds of value in a message of msgspec, as `str | null`, in words; kinds that are unknown stay as they are."""
    kinds = found[1].split(" | ")
    return " or ".join(_KINDS[kind] for kind in kinds) if all(kind in _KINDS for kind in kinds) else found[0]


def _to_plain(obj: object) -> str | float:
    if isinstance(obj, IRI):
        return str(obj)
    if isinstance(obj, float):  # a number that remembers how it is written
        return float(obj)
    raise NotImplementedError(f"{type(obj).__name__} has no form in JSON")


def _to_noun(cls: type, value: object) -> object:
    if cls is IRI and isinstance(value, str):
        return IRI(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def omit_null(schema: Any) -> Any:
    """
    Return the JSON Schema of arguments without null, as value or default, and without empty lists: an argument is left out instead.

    >>> omit_null({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None})
    {'type': 'string'}
    """
    if isinstance(schema, list):
        return [omit_null(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if not (name == "anyOf" and len(kinds) == 1)}
    found = (kinds[0] if len(kinds) == 1 else {}) | rest
    return {
        name: omit_null(one) for name, one in found.items() if one not in ([], ()) and (name, one) != ("default", None)
    }
