"""How a setting is declared: its type with its bounds, its default, and one sentence that says what it does and its unit."""

from __future__ import annotations

from dataclasses import Field, field, fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Span = Annotated[float, Meta(ge=0.001)]
"""Of time, in the unit that the sentence says; or anything else above nothing."""


def knob(default: Any, help: str, *, secret: bool = False, json: bool = False) -> Any:
    """
    Declare a setting with its default and one sentence that says what it does and its unit.

    Args:
        secret: never shown: neither by `repr` nor by `memento config show`.
        json: a JSON object as text; in a file it may be a table.
    """
    return field(default=default, repr=not secret, metadata={"help": help, "secret": secret, "json": json})


def knobs(group: Any) -> dict[str, Field[Any]]:
    """Return the fields of a group that are settings, by name."""
    return {item.name: item for item in fields(group) if not is_dataclass(getattr(group, item.name))}


def hints_of(group: Any) -> dict[str, Any]:
    """Return the type of each field of a group with its bounds."""
    return get_type_hints(type(group), include_extras=True)


def unwrap_optional(hint: Any) -> tuple[Any, bool]:
    """
    Split a type into what it is when it is there, and whether it may be left empty.

    >>> unwrap_optional(Share | None) == (Share, True)
    True
    """
    if NoneType not in get_args(hint):
        return hint, False
    (inner,) = (one for one in get_args(hint) if one is not NoneType)
    return inner, True


def kind_of(hint: Any) -> type:
    """
    Return the plain type of a setting.

    >>> kind_of(Share), kind_of(Literal["a", "b"])
    (<class 'float'>, <class 'str'>)
    """
    if get_origin(hint) is Literal:
        return str
    plain: type = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return plain


def choices_of(hint: Any) -> tuple[str, ...]:
    """Return the words that a setting may be, or nothing where any may."""
    return get_args(hint) if get_origin(hint) is Literal else ()


def describe_bounds(hint: Any) -> str:
    """
    Say which values of a type are allowed.

    >>> describe_bounds(Share), describe_bounds(Positive), describe_bounds(Literal["a", "b"]), describe_bounds(float)
    ('from 0 to 1', 'at least 1', 'one of a, b', 'a finite number')
    """
    if choices := choices_of(hint):
        return f"one of {', '.join(choices)}"
    if get_origin(hint) is not Annotated:
        return "a finite number"
    meta = get_args(hint)[1]
    if meta.gt is not None:
        return f"above {meta.gt}"
    return f"at least {meta.ge}" if meta.le is None else f"from {meta.ge} to {meta.le}"


def variable(group: str, key: str) -> str:
    """
    Return the name of a setting in the environment.

    >>> variable("model.hypothesise", "temperature")
    'MEMENTO_MODEL_HYPOTHESISE_TEMPERATURE'
    """
    return f"MEMENTO_{group.replace('.', '_')}_{key}".upper()
