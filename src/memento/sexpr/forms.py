"""
Forms from text, and text from forms and values: lists, symbols, strings, numbers and nil, each with its line and column.

    form := '(' form* ')' | "string" | number | symbol | nil          ; a comment ends with its line

*Guarantees:* linear in the length of the text, no recursion, no exception but `InputError`; what `print_form` writes reads
back as the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from memento.errors import InputError, TooLong

MOST_CHARS = 4_000_000
"""Unless a setting says otherwise."""
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name: of a verb where a list begins, of a value elsewhere."""

    name: str


@dataclass(frozen=True, slots=True)
class Form:
    """What was read, and where it begins; two forms are equal when they say the same, wherever they stand."""

    value: str | int | float | Symbol | tuple[Form, ...] | None
    line: int = field(compare=False, default=1)
    column: int = field(compare=False, default=1)

    @property
    def place(self) -> str:
        return f"line {self.line}, column {self.column}"


Value: TypeAlias = "str | int | float | Symbol | tuple[Form, ...] | None"

_TOKEN = re.compile(
    r"""
      (?P<space> [\s]+ | ;[^\n]* )
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<string> " (?: [^"\\] | \\. )*+ " )
    | (?P<atom> [^\s()";]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?\d+(?P<fraction>\.\d+)?(?P<power>[eE][+-]?\d+)?")
_SYMBOL = re.compile(r"(?:[^\W\d]|[!?*/<>=+&%$.:-])[\w!?*/<>=+&%$.:-]*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def read_forms(text: str, most_chars: int = MOST_CHARS) -> tuple[Form, ...]:
    """
    Return the forms of a text, in their order.

    Raises:
        TooLong: more characters than there may be.
        InputError: a bracket or a string that does not end, a bracket too many, lists deeper than 64, or what is no form; each
            with its place.

    >>> [form.value for form in read_forms('(recall "tea" 3)')[0].value]
    [Symbol(name='recall'), 'tea', 3]
    """
    if len(text) > most_chars:
        raise TooLong(f"expressions must have at most {most_chars:,} characters, not {len(text):,}")
    done: list[Form] = []
    opened: list[tuple[int, int, list[Form]]] = []
    at, line, begins = 0, 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        column = at - begins + 1
        if found is None:  # nothing but a quote can stand where no token begins
            raise InputError(f'line {line}, column {column}: the string that begins here does not end: close it with "')
        kind, token = str(found.lastgroup), found.group()
        into = opened[-1][2] if opened else done
        if kind == "open":
            if len(opened) == DEEPEST:
                raise InputError(f"line {line}, column {column}: lists are nested deeper than {DEEPEST}")
            opened.append((line, column, []))
        elif kind == "close":
            if not opened:
                raise InputError(f"line {line}, column {column}: ')' closes nothing")
            line_of, column_of, inside = opened.pop()
            (opened[-1][2] if opened else done).append(Form(tuple(inside), line_of, column_of))
        elif kind != "space":
            value = _parse_string(token, line, column) if kind == "string" else _parse_atom(token, line, column)
            into.append(Form(value, line, column))
        if "\n" in token:
            line += token.count("\n")
            begins = at + token.rindex("\n") + 1
        at = found.end()
    if opened:
        raise InputError(
            f"line {opened[-1][0]}, column {opened[-1][1]}: the list that begins here does not end: close it with )"
        )
    return tuple(done)


def _parse_atom(token: str, line: int, column: int) -> Value:
    if token == "nil":
        return None
    if number := _NUMBER.fullmatch(token):
        if not number["fraction"] and not number["power"] and len(token) < 20:
            return int(token)
        value = float(token)
        if abs(value) == float("inf"):
            raise InputError(f"line {line}, column {column}: {token} is too large for a number")
        return value
    if _SYMBOL.fullmatch(token):
        return Symbol(token)
    raise InputError(
        f'line {line}, column {column}: {token[:40]!r} is neither a number nor a name: put text in quotes, as "{token[:40]}"'
    )


def _parse_string(token: str, line: int, column: int) -> str:
    def decode_escape(escape: re.Match[str]) -> str:
        what = escape[1]
        if what[0] == "u" and len(what) == 5 and not 0xD800 <= int(what[1:], 16) <= 0xDFFF:
            return chr(int(what[1:], 16))
        if what in _ESCAPES:
            return _ESCAPES[what]
        known = '\\" \\\\ \\n \\t \\r and \\u with four digits'
        raise InputError(f"line {line}, column {column}: \\{what} in this string is no escape: there are {known}")

    return _ESCAPE.sub(decode_escape, token[1:-1]) if "\\" in token else token[1:-1]


WIDTH = 100

_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def print_form(value: Any) -> str:
    """
    Return a form or a value on as few lines as fit; a record is a list of lists, each of a name and a value.

    >>> print_form({"id": "urn:m", "score": 0.5, "tags": ["a", 'b"']})
    '((id "urn:m") (score 0.5) (tags ("a" "b\\\\"")))'
    """
    return _lay_out(_simplify(value), 0)


def _simplify(value: Any) -> Any:
    """Return the same of lists, symbols and atoms alone."""
    match value:
        case Form(value=inside):
            return _simplify(inside)
        case Mapping():
            return [[Symbol(str(name)), _simplify(one)] for name, one in value.items()]
        case list() | tuple():
            return [_simplify(one) for one in value]
        case bool():
            return Symbol("true" if value else "false")
        case datetime():
            return value.isoformat()
    return value


def _lay_out(value: Any, indent: int) -> str:
    line = _write_line(value)
    if not isinstance(value, list) or len(line) + indent <= WIDTH:
        return line
    inside = f"\n{' ' * (indent + 1)}".join(_lay_out(one, indent + 1) for one in value)
    return f"({inside})"


def _write_line(value: Any) -> str:
    match value:
        case None:
            return "nil"
        case list():
            return f"({' '.join(_write_line(one) for one in value)})"
        case Symbol(name=name):
            return name
        case str():
            return f'"{"".join(_ESCAPED.get(c, c) for c in value)}"'
        case float():
            return repr(value)
    return str(value)
