"""What a tool is: a name, described arguments, an answer with a schema, and a function over the caller's memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from memento.codec import decode, plain, schema_of_iri
from memento.errors import InputError

if TYPE_CHECKING:
    from memento.service import Memento

Json = dict[str, Any]


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool is given; each field is `Annotated` with a sentence for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a call reaches: the memory as its caller may see it, and the namespace that the request names."""

    memory: Memento
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer of a tool: a noun, and the sentence that stands for it; without one its JSON does."""

    answer: object
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """
    A question to the user that comes before the tool does anything.

    `instead` is the answer where no question can be put, `refused` the one when they say no.
    """

    question: str
    instead: Told
    refused: Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool; the four claims are the hints of the protocol."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type
    run: Callable[[Reach, Any], Told | Ask]
    reads_only: bool = False
    destroys: bool = False
    repeats_harmlessly: bool = False
    reaches_out: bool = False

    def listed(self) -> Json:
        """The entry in `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {**schema(self.arguments), "additionalProperties": False},
            "outputSchema": schema(self.answer),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.reads_only,
                "destructiveHint": self.destroys,
                "idempotentHint": self.repeats_harmlessly,
                "openWorldHint": self.reaches_out,
            },
        }

    def read(self, given: Mapping[str, object]) -> Arguments:
        """
        The arguments of a call; numbers and truths may come as text.

        Raises:
            InputError: one is unknown, missing, or of the wrong type; says which there are.
        """
        fields = {field.encode_name: field for field in msgspec.structs.fields(self.arguments)}
        for name in given.keys() - fields.keys():
            raise InputError(f"{self.name} has no argument {name[:80]!r}: it takes {', '.join(fields) or 'none'}")
        for name, field in fields.items():
            if field.required and name not in given:
                raise InputError(f"{self.name} needs the argument {name}: {described(self.arguments, name)}")
        return decode(self.arguments, dict(given), lax=True)


def schema(of: type) -> Json:
    """The JSON Schema of a noun or of arguments, an object at its root."""
    made = msgspec.json.schema(of, schema_hook=schema_of_iri)
    inside = made.get("$defs", {})
    root = inside.pop(made["$ref"].rsplit("/", 1)[-1]) if "$ref" in made else made
    root.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": inside} if inside else root


def described(arguments: type[Arguments], name: str) -> str:
    """The sentence of an argument."""
    (meta,) = get_type_hints(arguments, include_extras=True)[name].__metadata__
    return str(meta.description)


def structured(answer: object) -> Json:
    """A noun as `structuredContent`: what is None is left out."""
    made = _without_none(plain(answer))
    assert isinstance(made, dict)
    return made


def text_of(told: Told) -> str:
    """What stands in the text of a result."""
    return told.text if told.text is not None else json.dumps(structured(told.answer), ensure_ascii=False)


def _without_none(value: object) -> object:
    match value:
        case dict():
            return {name: _without_none(one) for name, one in value.items() if one is not None}
        case list() | tuple():
            return [_without_none(one) for one in value]
    return value
