"""
The methods of a memory, made from the operations: what one uses every day on the memory itself, everything else in groups.

`memento.note("…")` and `memento.intake.ingest("…")` make an operation of their arguments and pass it to `Memory.call`. Where the
method of an operation is, `operations.base.method_of` says.

*Because:* `signatures.pyi`, which `make docs` writes from here, says the same to type checkers and editors. At run time a signature
and a docstring are made when somebody looks at them, since that imports the classes of the answers.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from msgspec import structs

from memento import plugin
from memento.codec import decode
from memento.errors import InputError
from memento.operations import GROUPS, PLUGGED, TABLE, Operation, fields_of
from memento.operations.base import Field, answer_type, complete, method_of

if TYPE_CHECKING:
    from memento.model import Imported


class Method:
    """A descriptor: a method that takes the arguments of an operation, and calls it."""

    def __init__(self, operation: type[Operation[Any]], name: str) -> None:
        self.operation = operation
        self._name = name
        self._function: Callable[..., Any] | None = None

    def __get__(self, owner: Everyday | Group | None, kind: type) -> Callable[..., Any]:
        if self._function is None:
            self._function = _make_function(self.operation, self._name)
        return self._function if owner is None else MethodType(self._function, owner)


def _make_function(operation: type[Operation[Any]], name: str) -> Callable[..., Any]:
    def method(self: Everyday | Group, /, *values: Any, **arguments: Any) -> Any:
        progress = arguments.pop("progress", None) if operation.reports_progress else None
        try:
            asked = operation(*values, **arguments)
        except TypeError as error:
            names = ", ".join(list(fields_of(operation)))
            raise TypeError(f"{method_of(operation)}: {error}; its arguments are {names}") from None
        return self._call(_read_arguments(asked), progress)

    complete(operation)
    method.__name__ = name
    method.__qualname__ = f"Memory.{method_of(operation)}"
    method.__doc__ = describe(operation)
    method.__signature__ = signature_of(operation)  # type: ignore[attr-defined]
    return method


def _read_arguments(operation: Operation[Any]) -> Operation[Any]:
    """
    Return an operation with its paths made whole, for a service with another working directory, and its rows read from mappings.

    Raises:
        InputError: a row is wrong; the message names it, counted from 1.
    """
    read: dict[str, Any] = {}
    for name, field in fields_of(type(operation)).items():
        value = getattr(operation, name)
        if field.is_path and field.is_list:
            read[name] = tuple(str(Path(one).expanduser().absolute()) for one in value)
        elif field.is_path and value is not None and "://" not in str(value):
            read[name] = str(Path(value).expanduser().absolute())
        elif (kind := _row_type(field)) and value is not None and not field.fails_apart:
            read[name] = tuple(_read_row(number, row, kind) for number, row in enumerate(value, start=1))
    return structs.replace(operation, **read) if read else operation


def _row_type(field: Field) -> Any:
    """Return the class of the rows that an argument takes, if it takes rows."""
    kinds = get_args(field.type) if field.is_list else ()
    return next((kind for kind in kinds if is_dataclass(kind)), None)


def _read_row(number: int, row: object, kind: Any) -> Any:
    if isinstance(row, kind):
        return row
    if not isinstance(row, Mapping):
        raise InputError(f"row {number} must be a {kind.__name__} or a mapping, not {type(row).__name__}")
    known = [field.name for field in fields(kind)]
    if unknown := [str(key) for key in row if key not in known]:
        raise InputError(f"row {number} has no {', '.join(unknown)[:200]}: its keys are {', '.join(known)}")
    try:
        return decode(kind, dict(row))
    except InputError as error:
        raise InputError(f"row {number}: {error}") from error


def signature_of(operation: type[Operation[Any]]) -> inspect.Signature:
    """Return the signature of a method, with plain types as text."""
    declared = inspect.signature(operation).parameters
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    for name, field in fields_of(operation).items():
        default = inspect.Parameter.empty if field.is_required else field.default
        parameters.append(
            inspect.Parameter(name, declared[name].kind, default=default, annotation=_name_argument(field))
        )
    if operation.reports_progress:
        annotation = "Progress | None"
        parameters.append(
            inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        )
    return inspect.Signature(parameters, return_annotation=name_type(answer_type(operation)))


def _name_argument(field: Field) -> str:
    if field.is_path:
        name = "Iterable[Path | str]" if field.is_list else "Path | str"
    elif field.schema.get("format") == "date-time":
        name = "datetime | str"
    elif kind := _row_type(field):
        name = f"{'Sequence' if field.fails_apart else 'Iterable'}[{kind.__name__} | Mapping[str, Any]]"
    else:
        name = name_type(field.type)
    return f"{name} | None" if field.is_optional else name


def name_type(kind: Any) -> str:
    """
    Return a type as one writes it in Python.

    >>> name_type(tuple[int | None, ...]), name_type(Mapping[str, Any])
    ('tuple[int | None, ...]', 'Mapping[str, Any]')
    """
    if hasattr(kind, "__metadata__"):
        return name_type(get_args(kind)[0])
    origin, parts = get_origin(kind), get_args(kind)
    if kind in (None, type(None)):
        return "None"
    if kind is Ellipsis:
        return "..."
    if origin is None:
        return str(getattr(kind, "__name__", kind))
    name = getattr(origin, "__name__", str(origin))
    if name == "Literal":
        return f"Literal[{', '.join(map(write_value, parts))}]"
    if name in ("Union", "UnionType"):
        return " | ".join(map(name_type, parts))
    return f"{name}[{', '.join(map(name_type, parts))}]"


def write_value(value: object) -> str:
    """Return a value as one writes it in Python."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def describe(operation: type[Operation[Any]]) -> str:
    """Return the docstring of a method: that of the operation, and its arguments."""
    text, begin, raises = inspect.cleandoc(operation.__doc__ or "").partition("\nRaises:")
    arguments = [
        f"    {name}: {field.description}" for name, field in fields_of(operation).items() if field.description
    ]
    return f"{text.rstrip()}\n\nArgs:\n" + "\n".join(arguments) + (f"\n\nRaises:{raises}" if begin else "")


class Group:
    """Methods of a memory about one thing; `print` lists them."""

    def __init__(self, memory: Everyday) -> None:
        self._call, self._left_out = memory._call, memory.left_out

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    def __repr__(self) -> str:
        lines = [(inspect.getdoc(type(self)) or "").partition("\n")[0]]
        lines += [
            f"  {name}: {(inspect.getdoc(getattr(self, name)) or '').partition(chr(10))[0]}" for name in dir(self)
        ]
        return "\n".join(lines)


class Intake(Group):
    def import_files(
        self, path: str | Path, *, source: str | None = None, all_turns: bool = False, **options: Any
    ) -> Imported:
        """
        Note the content of a file or a folder of another program: see docs/import.md.

        Args:
            source: `chatgpt`, `claude`, `claude-code`, `codex`, `gemini`, `mem0`, `server-memory`, `basic-memory` or `obsidian`;
                default by the content of each file.
            all_turns: for chats, also import what assistants said.
            options: the options of `import_notes`.

        Raises:
            InputError: as `import_notes`; or a file has no known format, or is broken; names the file and the place.
        """
        from memento.intake.importers import harvest

        found = harvest(Path(path), source, all_turns=all_turns, left_out=self._left_out)
        imported: Imported = self.import_notes(found.rows, **{"origin": found.origin, **options})
        return replace(imported, refused=tuple(found.refused))

    import_notes: Callable[..., Imported]


class Opened:
    """A descriptor: the methods of a group, bound to a memory."""

    def __init__(self, group: type[Group]) -> None:
        self.group = group

    def __get__(self, memory: Everyday | None, kind: type) -> Any:
        return self.group if memory is None else self.group(memory)


class Everyday:
    """The methods that a memory itself has, and its groups of methods."""

    call: Callable[..., Any]
    left_out: Collection[str]

    @property
    def _call(self) -> Callable[..., Any]:
        return self.call

    def __getattr__(self, name: str) -> Any:
        path = FORMER.get(name)
        if path is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(
            f"`memento.{name}` is `memento.{path}` now; the former name goes in the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        group, _, method = path.rpartition(".")
        return getattr(getattr(self, group), method)


METHODS: Mapping[str, str] = {name: method_of(operation) for name, operation in TABLE.items()}
"""The Python method of each operation, by the operation's name."""

FORMER: Mapping[str, str] = {
    **{name: path for name, path in METHODS.items() if path != name and name != "query"},
    "import_files": "intake.import_files",
}
"""The methods that a memory had by itself in earlier versions, and where they are now."""

_GROUPS: dict[str, type[Group]] = {"intake": Intake}


def _attach(paths: Mapping[str, str]) -> None:
    owners = dict.fromkeys(vars(Everyday), "Memento")
    for name, path in paths.items():
        group, _, method = path.rpartition(".")
        if of := PLUGGED.get(name):
            plugin.refuse_clash("methods", owners, (path, group), of)
        if group not in _GROUPS and group:
            about = (inspect.getdoc(sys.modules[TABLE[name].__module__]) or "").partition("\n")[0]
            _GROUPS[group] = type(
                group.capitalize(), (Group,), {"__module__": __name__, "__doc__": GROUPS.get(group, about)}
            )
        setattr(_GROUPS[group] if group else Everyday, method, Method(TABLE[name], method))
        owners[path] = f"the plug-in {of}" if of else "Memento"
    Intake.__doc__ = GROUPS["intake"]
    for name, methods in sorted(_GROUPS.items()):
        setattr(Everyday, name, Opened(methods))


_attach(METHODS)

SHOWN: Sequence[str] = (*(path for path in METHODS.values() if "." not in path), *_GROUPS, "query", "close")
"""What a memory lists: its own methods, and its groups."""
