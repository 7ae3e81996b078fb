"""
Define operations: each is one thing that you can ask of a memory, declared once for every interface.

A class declares an operation. Its docstring says what the operation does, its fields have bounds and descriptions, and its class
variables give the route, the required right, and the interfaces without it. An instance is one call; a function in
`service.handlers` answers it.

*Guarantees:* `check_fields` refuses a number out of its bounds in the same words at every interface.

*Because:* the declarations do not import the classes of their answers, since that import takes longer than a command may take to
start. `answer_type` and `decode` look the names up in `memento.model` when they are needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from types import MappingProxyType, ModuleType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import NODEFAULT, Meta

from memento.codec import decode
from memento.errors import InputError

A = TypeVar("A")
O = TypeVar("O", bound="Operation[Any]")  # noqa: E741

Right = Literal["read", "write", "admin"]
Interface = Literal["rest", "client", "cli", "python", "mcp"]

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    Instant = datetime | str
    File = Path | str
else:
    # A method of Python makes a path whole: the service may have another working directory.
    File = Annotated[str, Meta(extra_json_schema={"minLength": 1, "pattern": r"\S"}, extra={"is_path": True})]
    # JSON has no type for times: they are sent as text. The handler reads a time without an offset in the user's time zone.
    Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

Text = Annotated[str, Meta(extra_json_schema={"minLength": 1, "pattern": r"\S"})]
"""A text that must not be empty; the handler checks its length, which is a setting."""
Iri = Annotated[str, Meta(extra_json_schema={"minLength": 1, "pattern": r"\S"}, extra={"is_iri": True})]
"""An IRI, or the end of one if it is unique; the handler completes it."""
Share = Annotated[float, Meta(ge=0, le=1)]
Limit = Annotated[int, Meta(description="most rows", extra_json_schema={"minimum": 1, "maximum": 1000})]
Offset = Annotated[
    int, Meta(description="how many rows to skip", extra_json_schema={"minimum": 0, "maximum": 2**31 - 1})
]


class Operation(msgspec.Struct, Generic[A], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call, answered by `A`."""

    route: ClassVar[str] = ""
    """Verb and path, such as `POST /memory/{iri}/correct`; empty if REST does not have it."""
    right: ClassVar[Right] = "read"
    """The right that a caller must have; a handler may require more."""
    is_idempotent: ClassVar[bool] = False
    """Whether the same call twice has the same effect as one call."""
    is_destructive: ClassVar[bool] = False
    """Whether the call removes something."""
    status: ClassVar[int] = 200
    """The HTTP status of an answer, unless a view sets another one."""
    statuses: ClassVar[tuple[int, ...]] = ()
    """Further statuses of an answer that the view may give."""
    fails: ClassVar[tuple[int, ...]] = ()
    """HTTP statuses of failures, in addition to 400, 401, 403 and 503."""
    absent: ClassVar[Mapping[Interface, str]] = {}
    """The interfaces that do not have it, or offer it in another way, each with the reason."""
    method: ClassVar[str] = ""
    """Its Python method, as `note` or `graphs.manifest`; default its own name in the group of its theme: see `method_of`."""
    reports_progress: ClassVar[bool] = False
    """Whether its Python method takes `progress`, which is called with (done, total) during long work."""
    over_http: ClassVar[str] = ""
    """The dotted name of the function of (operation, transport, progress) that asks it over HTTP, if one request does not."""

    namespace: (
        Annotated[str, Meta(min_length=1, max_length=200, description="the namespace; default that of the caller")]
        | None
    ) = None


Alone = Annotated[bool, Meta(description="true: only the namespace itself, without `main` and `__global__`")]
"""Whether a read covers a namespace without what every namespace shares."""


class Filtered(Operation[A], frozen=True, kw_only=True):
    """An operation over memories, with filters; a memory must match all filters that are given."""

    tags: Annotated[Sequence[str], Meta(description="only memories with one of these tags")] = ()
    container: Annotated[str, Meta(description="only memories in this container")] | None = None
    source: Annotated[
        str | None, Meta(description="only memories from this source, such as `explicit`, `import` or `hook:stop`")
    ] = None
    after: Annotated[Instant, Meta(description="only memories that became true then or later")] | None = None
    before: Annotated[Instant, Meta(description="only memories that became true before then")] | None = None
    entity: Annotated[str | None, Meta(description="only memories about this entity: its name, its IRI, or `me`")] = (
        None
    )


LOCAL = ("file", "overwrite")
"""The arguments of an operation that streams a document which concern the file at the caller's end: they are not sent."""

FILTERS: tuple[str, ...] = tuple(name for name in Filtered.__struct_fields__ if name != "namespace")
"""The arguments of `Filtered`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument of an operation, as interfaces show it."""

    name: str
    type: Any
    """Its type without None and without annotations; for a list, `list[…]`."""
    is_optional: bool
    """Whether None may be given."""
    is_required: bool
    default: Any
    description: str
    least: float | None
    most: float | None
    schema: Mapping[str, Any]
    """What its JSON Schema has in addition to type and bounds."""
    aliases: tuple[str, ...]
    """Other names for it in a query string."""
    is_iri: bool
    """Whether it names a node, whole or by the end of its IRI."""
    is_path: bool
    """Whether it names a file or a folder."""
    fails_apart: bool
    """Whether the other items of a list are still handled when one cannot be read; see `read_items`."""

    @property
    def choices(self) -> tuple[Any, ...]:
        """Return the values that it may have, if it is a choice."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def sentence(self) -> str:
        """Return the description as a sentence."""
        return f"{self.description[:1].upper()}{self.description[1:]}." if self.description else ""

    @property
    def is_list(self) -> bool:
        """Tell whether it takes several values."""
        return get_origin(self.type) in (list, tuple, Sequence)


def name_of(operation: type[Operation[Any]]) -> str:
    """
    Return the name of an operation: that of the Python method, and the stem of all others.

    >>> class ReadKey(Operation[None], frozen=True): ...
    >>> name_of(ReadKey)
    'read_key'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", operation.__name__).lower()


def method_of(operation: type[Operation[Any]]) -> str:
    """
    Return the name of an operation's Python method, with its group.

    The group is the `GROUP` of the module, else the name of the module or of its plug-in. The operation's name comes without it.

    >>> from memento.operations import TABLE
    >>> [method_of(TABLE[name]) for name in ("note", "retrieve_cases", "case_metrics", "strength")]
    ['note', 'cases.retrieve', 'cases.metrics', 'living.strength']
    """
    if operation.method:
        return operation.method
    module = sys.modules[operation.__module__]
    group: str = getattr(module, "GROUP", module.__name__.removesuffix(".operations").rpartition(".")[2])
    words = [word for word in name_of(operation).split("_") if word.removesuffix("s") != group.removesuffix("s")]
    return f"{group}.{'_'.join(words) or name_of(operation)}"


def summary_of(operation: type[Operation[Any]]) -> str:
    """Return the first paragraph of an operation's docstring as one line without the full stop."""
    text = operation.__doc__ or ""
    return " ".join(text.strip().split("\n\n")[0].split()).removesuffix(".")


def fields_of(operation: type[Operation[Any]]) -> Mapping[str, Field]:
    """Return the arguments of an operation by name, in the order of the declaration; `namespace` is the last."""
    nouns = sys.modules.get(_nouns_of(operation))
    return _read_fields(operation, sys.modules.get("memento.model"), nouns)


@cache
def _read_fields(
    operation: type[Operation[Any]], model: ModuleType | None, nouns: ModuleType | None
) -> Mapping[str, Field]:
    """Do the same, cached: reading the type hints takes longer than a search of a small memory."""
    known = {"model": model or _Nouns(), "nouns": nouns or _Nouns()}
    hints = get_type_hints(operation, localns=known, include_extras=True)
    names, defaults = operation.__struct_fields__, operation.__struct_defaults__
    padded = (*(NODEFAULT for _ in range(len(names) - len(defaults))), *defaults)
    fields = {name: _field(name, hints[name], default) for name, default in zip(names, padded, strict=True)}
    return MappingProxyType(fields)


@cache
def list_iri_fields(operation: type[Operation[Any]]) -> tuple[str, ...]:
    """Return the names of the arguments that name a node."""
    return tuple(name for name, field in fields_of(operation).items() if field.is_iri)


def route_of(operation: type[Operation[Any]]) -> tuple[str, str]:
    """Return the verb and the path of an operation's address."""
    verb, _, path = operation.route.partition(" ")
    return verb, path


def places_of(operation: type[Operation[Any]]) -> tuple[str, ...]:
    """Return the names of the fields that are part of the address."""
    return tuple(re.findall(r"\{(\w+)\}", operation.route))


def declared_answer(operation: type[Operation[Any]]) -> Any:
    """Return the type of an operation's answer as declared; mostly a name that is not looked up yet."""
    (base,) = [one for one in operation.__orig_bases__ if get_origin(one) in (Operation, Filtered)]  # type: ignore[attr-defined]
    return get_args(base)[0]


def answer_type(operation: type[Operation[Any]]) -> Any:
    """Return the type of an operation's answer; imports `memento.model`."""
    complete(operation)
    declared = declared_answer(operation)
    text = getattr(declared, "__forward_arg__", declared)
    if not isinstance(text, str):
        return text
    named = type("Answer", (), {"__annotations__": {"answer": text}})
    return get_type_hints(named, vars(sys.modules[operation.__module__]), include_extras=True)["answer"]


def complete(operation: type[Operation[Any]]) -> None:
    """
    Make `model`, and what the module of an operation calls `NOUNS`, available to its fields, so that they can be decoded and
    described.

    *Because:* commands start faster without these classes.
    """
    from memento import model

    known = vars(sys.modules[operation.__module__])
    known["model"] = model
    if nouns := _nouns_of(operation):
        known["nouns"] = import_module(nouns)


def _nouns_of(operation: type[Operation[Any]]) -> str:
    """Return the name of the module that annotations of an operation call `nouns`; empty if there is none."""
    return str(getattr(sys.modules[operation.__module__], "NOUNS", ""))


def check_fields(operation: Operation[Any]) -> None:
    """
    Refuse arguments that are out of bounds.

    Raises:
        InputError: names the argument, its bounds and the value.
    """
    for name, field in fields_of(type(operation)).items():
        value = getattr(operation, name)
        if value is None:
            if field.is_required and not field.is_optional:
                raise InputError(f"{name} is missing")
            continue
        check_value(field, value)


def check_value(field: Field, value: Any) -> None:
    """Refuse a value that is out of bounds, not one of the choices, or no Unicode text; raise as `check_fields` does."""
    _raise_if_no_text(field.name, value)
    if field.choices and value not in field.choices:
        raise InputError(f"{field.name} must be one of {', '.join(map(str, field.choices))}, not {str(value)[:80]!r}")
    is_number = isinstance(value, Real if field.type is float else Integral) and not isinstance(value, bool)
    if (word := _NUMBERS.get(field.type)) and not is_number:
        raise InputError(f"{field.name} must be {word}, not {str(value)[:80]!r}")
    if field.type is bool and not isinstance(value, bool):
        raise InputError(f"{field.name} must be true or false, not {str(value)[:80]!r}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    least, most = field.least, field.most
    if most is not None and most >= 2**31 - 1 and value <= most:
        most = None  # what a number can be held in is no news
    if least is not None and most is not None and not least <= value <= most:
        raise InputError(f"{field.name} must be from {least:g} to {most:g}, not {value}")
    if least is not None and value < least:
        raise InputError(f"{field.name} must be at least {least:g}, not {value}")
    if most is not None and value > most:
        raise InputError(f"{field.name} must be at most {most:g}, not {value}")


def read_items(operation: O, accept: Callable[[Any], Any]) -> O:
    """
    Return the operation with the items of its `fails_apart` lists decoded; an item that is wrong is replaced by its `InputError`.

    Args:
        accept: called with each decoded item; it may raise `InputError`.
    """
    read: dict[str, Any] = {}
    for name, field in fields_of(type(operation)).items():
        if field.fails_apart:
            given = getattr(operation, name)
            if not isinstance(given, list | tuple):
                raise InputError(f"{name} must be a list")
            (kind, *_) = get_args(field.type)
            read[name] = tuple(_read_item(item, kind, accept) for item in given)
    return msgspec.structs.replace(operation, **read) if read else operation


def _read_item(item: Any, kind: Any, accept: Callable[[Any], Any]) -> Any:
    try:
        if isinstance(item, Mapping):
            raise_if_unknown_field(item, kind)
            item = decode(kind, dict(item))
        elif not isinstance(item, kind | InputError):
            raise InputError(f"an item must be an object with {', '.join(one.name for one in dataclass_fields(kind))}")
        _raise_if_no_text("item", item)
        return accept(item)
    except InputError as error:
        return InputError(str(error).removeprefix("the body: "))


def raise_if_unknown_field(row: Mapping[str, Any], kind: Any) -> None:
    """Raise `InputError` if a row has a field that its dataclass lacks, or a value that is not one of a field's choices."""
    hints, known = get_type_hints(kind), [one.name for one in dataclass_fields(kind)]
    for name, given in row.items():
        if name not in known:
            raise InputError(f"unknown field `{name[:80]}`: a row has {', '.join(known)}")
        choices = [choice for one in (hints[name], *get_args(hints[name])) for choice in _choices_of(one)]
        if choices and given is not None and given not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}, not {str(given)[:80]!r}")


def _choices_of(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


_NUMBERS: Mapping[object, str] = {int: "a whole number", float: "a number"}


def _raise_if_no_text(name: str, value: Any) -> None:
    """Raise `InputError` if a value contains a lone surrogate anywhere: no store and no answer can hold it."""
    match value:
        case str():
            if not value.isascii():
                try:
                    value.encode("utf-8")
                except UnicodeEncodeError as error:
                    raise InputError(
                        f"{name} must be Unicode text; it has an unpaired surrogate at {error.start}"
                    ) from error
        case list() | tuple():
            for one in value:
                _raise_if_no_text(name, one)
        case dict():
            for key, one in value.items():
                _raise_if_no_text(name, key)
                _raise_if_no_text(name, one)
        case msgspec.Struct():
            for one in value.__struct_fields__:
                _raise_if_no_text(one, getattr(value, one))
        case _ if is_dataclass(value):
            for of in dataclass_fields(value):
                _raise_if_no_text(of.name, getattr(value, of.name))


class _Nouns:
    """Stand in for a module that is not imported yet: every class is Any."""

    def __getattr__(self, name: str) -> Any:
        return Any


def _field(name: str, hint: Any, default: Any) -> Field:
    is_optional, bare, metas = False, hint, list[Meta]()
    while True:
        origin = get_origin(bare)
        if origin is Annotated:
            metas += [one for one in bare.__metadata__ if isinstance(one, Meta)]
            bare = get_args(bare)[0]
        elif origin in (Union, UnionType):
            inner = [one for one in get_args(bare) if one is not NoneType]
            is_optional = is_optional or len(inner) < len(get_args(bare))
            if len(inner) != 1:
                break
            bare = inner[0]
        else:
            break
    extra, schemas = [one.extra or {} for one in metas], [one.extra_json_schema or {} for one in metas]
    if isinstance(default, msgspec._core.Factory):
        default = default.factory()
    return Field(
        name=name,
        type=bare,
        is_optional=is_optional,
        is_required=default is NODEFAULT,
        default=None if default is NODEFAULT else default,
        description=next((one.description for one in metas if one.description), ""),
        least=next((one.ge for one in metas if one.ge is not None), None),
        most=next((one.le for one in metas if one.le is not None), None),
        schema={key: value for one in schemas for key, value in one.items()},
        aliases=tuple(alias for one in extra for alias in one.get("aliases", ())),
        is_iri=any(one.get("is_iri", False) for one in extra),
        is_path=any(one.get("is_path", False) for one in extra),
        fails_apart=any(one.get("fails_apart", False) for one in extra),
    )
