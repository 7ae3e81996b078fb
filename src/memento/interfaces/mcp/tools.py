"""The parts of a tool: a name, described arguments, an answer with a schema, and a function over the caller's memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from memento.codec import decode, omit_null, plain, schema_of_iri
from memento.errors import InputError
from memento.operations import Operation, fields_of
from memento.operations.base import answer_type, complete

if TYPE_CHECKING:
    from memento.python import Memento

Json = dict[str, Any]

USUAL = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""What a client assumes of a tool that gives no hint; a list of tools leaves those out."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a tool; each field is `Annotated` with a sentence for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The context of a call: the memory with the caller's access rights, and the namespace that the request names."""

    memory: Memento
    namespace: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The result of a tool: an answer, its text for the model, or both; without a text, the answer's JSON is the text."""

    answer: object = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """
    A question to the user, asked before the tool does anything.

    `instead` is the answer if the client cannot ask, `refused` the one if the user says no.
    """

    question: str
    instead: Told
    refused: Told


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool; its four flags are the hints of the protocol."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type | None = None
    """The class of its answers; None if they are text alone."""
    run: Callable[[Reach, Any], Told | Ask]
    asks: tuple[type[Operation[Any]], ...]
    """The operations that a call may use."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names that arguments have over HTTP, which a call may use too, each with the tool's name for it."""
    reads_only: bool = False
    destroys: bool = False
    repeats_harmlessly: bool = False
    reaches_out: bool = False
    stores_unasked: bool = False
    """Whether it stores what the model decides, without asking the user."""
    shows_map: bool = False
    """Whether its description ends with the map of the memory."""
    groups: tuple[str, ...] = ()
    """The groups that list it, if not the one that it is declared in alone."""
    setting: str = ""
    """A setting that must be on for the tool to be listed, as `server.docs`."""
    address: str = ""
    """An address below `/api` that answers as the tool does, as `GET /api/list`."""
    guide: str = ""
    """What the prompt `memory_system_prompt` says of it, and of the tools that go with it."""

    def describe(self) -> Json:
        """Return the entry in `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {**omit_null(schema(self.arguments)), "additionalProperties": False},
            **({"outputSchema": schema(self.answer)} if self.answer else {}),
            "annotations": {name: hint for name, hint in self._hints().items() if hint is not USUAL[name]},
        }

    def _hints(self) -> dict[str, bool]:
        """Return the hints of the protocol; two of them say nothing of a tool that only reads."""
        writing = {"destructiveHint": self.destroys, "idempotentHint": self.repeats_harmlessly}
        return {
            "readOnlyHint": self.reads_only,
            **({} if self.reads_only else writing),
            "openWorldHint": self.reaches_out,
        }

    def parse_arguments(self, given: Mapping[str, object]) -> Arguments:
        """
        Parse the arguments of a call; numbers and booleans may come as text.

        Raises:
            InputError: an argument is unknown, missing, or of the wrong type; names those there are.
        """
        fields = {field.encode_name: field for field in msgspec.structs.fields(self.arguments)}
        given = {self.also.get(name, name) if name not in fields else name: value for name, value in given.items()}
        for name in given.keys() - fields.keys():
            raise InputError(f"{self.name} has no argument {name[:80]!r}: it takes {', '.join(fields) or 'none'}")
        for name, declared in fields.items():
            if declared.required and name not in given:
                raise InputError(f"{self.name} needs the argument {name}: {describe_argument(self.arguments, name)}")
        return decode(self.arguments, dict(given), lax=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """How an argument of a tool differs from the operation's field that it sets."""

    field: str
    description: str = ""
    """The description for a model; default the declaration's."""
    default: Any = msgspec.NODEFAULT
    """The default, if it differs from the operation's."""


NAMESPACE = Argument(field="namespace", description="The namespace; default that of the connection.")


def tool_over(
    operation: type[Operation[Any]],
    name: str,
    title: str,
    description: str,
    arguments: Mapping[str, Argument | str],
    *,
    wrap: str = "",
    takes_namespace: bool = True,
    reads_only: bool | None = None,
    repeats_harmlessly: bool | None = None,
    **more: Any,
) -> Tool:
    """
    Make a tool from an operation: the operation's types, bounds and defaults, with the tool's names and descriptions.

    Args:
        arguments: the tool's arguments by name, as an `Argument` or only the field that it sets; a field of the operation that none
            of them sets keeps its default.
        wrap: the name of the field that has the answer, if that is a tuple, because a tool must return an object.
        reads_only, repeats_harmlessly: default as the operation declares.
        more: further fields of the `Tool`.
    """
    complete(operation)
    declared = fields_of(operation)
    offered = {name: Argument(field=how) if isinstance(how, str) else how for name, how in arguments.items()}
    offered |= {"namespace": NAMESPACE} if takes_namespace else {}
    members: list[tuple[str, Any, Any]] = []
    for argument, how in offered.items():
        of = declared[how.field]
        bounds = Meta(ge=of.least, le=of.most, extra_json_schema=dict(of.schema) or None)
        value: Any = Annotated[of.type, bounds]
        hint: Any = Annotated[
            value | None if of.is_optional else value, Meta(description=how.description or of.sentence)
        ]
        default = how.default
        if default is msgspec.NODEFAULT and not of.is_required:
            default = of.default
        members.append((argument, hint, default))
    kind: Any = msgspec.defstruct(
        f"{operation.__name__}Arguments", members, bases=(Arguments,), frozen=True, kw_only=True, module=__name__
    )

    answered: Any = answer_type(operation)
    if wrap:
        answered = msgspec.defstruct(f"{operation.__name__}Answer", [(wrap, answered)], module=__name__)

    def call_operation(reach: Reach, asked: Any) -> Told:
        given = {how.field: getattr(asked, argument) for argument, how in offered.items()}
        given["namespace"] = given.get("namespace") or reach.namespace
        answer = reach.memory.call(operation(**given))
        return Told(answer=answered(answer) if wrap else answer)

    is_reading = operation.right == "read" and not operation.is_destructive
    return Tool(
        name=name,
        title=title,
        description=description,
        arguments=kind,
        answer=answered,
        run=call_operation,
        asks=(operation,),
        also={how.field: argument for argument, how in offered.items() if how.field != argument},
        reads_only=is_reading if reads_only is None else reads_only,
        destroys=operation.is_destructive,
        repeats_harmlessly=operation.is_idempotent if repeats_harmlessly is None else repeats_harmlessly,
        **more,
    )


def schema(of: type) -> Json:
    """Return the JSON Schema of an answer or of arguments, with an object at its root."""
    made = msgspec.json.schema(of, schema_hook=schema_of_iri)
    inside = made.get("$defs", {})
    root = inside.pop(made["$ref"].rsplit("/", 1)[-1]) if "$ref" in made else made
    root.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": inside} if inside else root


def describe_argument(arguments: type[Arguments], name: str) -> str:
    """Return the description of an argument."""
    metas = get_type_hints(arguments, include_extras=True)[name].__metadata__
    return str(next(one.description for one in reversed(metas) if isinstance(one, Meta) and one.description))


def to_structured(answer: object) -> Json | None:
    """Return an answer as `structuredContent`, without fields that are None; None for a text alone."""
    if answer is None:
        return None
    made = _without_none(plain(answer))
    assert isinstance(made, dict)
    return made


def text_of(told: Told) -> str:
    """Return the text of a result."""
    return told.text if told.text is not None else json.dumps(to_structured(told.answer), ensure_ascii=False)


def _without_none(value: object) -> object:
    match value:
        case dict():
            return {name: _without_none(one) for name, one in value.items() if one is not None}
        case list() | tuple():
            return [_without_none(one) for one in value]
    return value
