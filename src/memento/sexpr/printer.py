"""Text from forms and values: what is printed reads back as the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memento.sexpr.reader import Form, Symbol

WIDTH = 100

_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def printed(value: Any) -> str:
    """
    Return a form or a value on as few lines as fit; a record is a list of lists, each of a name and a value.

    >>> printed({"id": "urn:m", "score": 0.5, "tags": ["a", 'b"']})
    '((id "urn:m") (score 0.5) (tags ("a" "b\\\\"")))'
    """
    return _laid_out(_plain(value), 0)


def _plain(value: Any) -> Any:
    """Return the same of lists, symbols and atoms alone."""
    match value:
        case Form(value=inside):
            return _plain(inside)
        case Mapping():
            return [[Symbol(str(name)), _plain(one)] for name, one in value.items()]
        case list() | tuple():
            return [_plain(one) for one in value]
        case bool():
            return Symbol("true" if value else "false")
        case datetime():
            return value.isoformat()
    return value


def _laid_out(value: Any, indent: int) -> str:
    line = _on_one_line(value)
    if not isinstance(value, list) or len(line) + indent <= WIDTH:
        return line
    inside = f"\n{' ' * (indent + 1)}".join(_laid_out(one, indent + 1) for one in value)
    return f"({inside})"


def _on_one_line(value: Any) -> str:
    match value:
        case None:
            return "nil"
        case list():
            return f"({' '.join(_on_one_line(one) for one in value)})"
        case Symbol(name=name):
            return name
        case str():
            return f'"{"".join(_ESCAPED.get(c, c) for c in value)}"'
        case float():
            return repr(value)
    return str(value)
