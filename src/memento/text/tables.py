"""
Load the tables of the language: word lists, and rows of patterns that each say what they mean and how one recognises it.

A file is read once, when it is first needed. A malformed file raises an error that names the file and the row.

*But:* what is not language stays in the code that uses it: tokens, genitives, white space, figures, timestamps, capitals inside a
word, the private signs of skeletons, and expressions that are built from the names of one note.

*Because:* the words of a language change far more often than the code that uses them, and each row can be tested by itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from memento.errors import MissingPart

LEXICON = Path(__file__).parent / "lexicon"

_FRAGMENT = re.compile(r"\{([A-Z][A-Z_]*)\}")
_BROKEN = re.compile(r"\n[ ]{0,9}")
"""Where a long pattern continues on the next line."""


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A row of a table with a pattern.

    `example` begins with a text that the pattern reads, followed by what that means; the pattern does not read `counter`.

    A pattern may refer to a fragment in braces, `{NAME}`: one in the file's own `[fragments]`, or one that its reader adds.
    """

    name: str
    meaning: str
    pattern: str
    example: tuple[str, ...]
    counter: str


AnyRow = TypeVar("AnyRow", bound=Row)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[AnyRow]):
    """A row with its compiled pattern."""

    row: AnyRow
    pattern: re.Pattern[str]


def word_set(text: str) -> frozenset[str]:
    """
    Split a text into its words.

    >>> sorted(word_set("b a"))
    ['a', 'b']
    """
    return frozenset(text.split())


def word_lists(file: Path) -> Mapping[str, frozenset[str]]:
    """Return the lists of words at the top of a file, by name."""
    return {name: word_set(text) for name, text in load(file).items() if isinstance(text, str)}


@cache
def load(file: Path) -> Mapping[str, Any]:
    """
    Read a file of tables.

    Raises:
        MissingPart: there is no such file, or it is not valid TOML.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MissingPart(
            f"the table {file.name} cannot be read: {error}; install Memento again from its wheel"
        ) from error


def section(file: Path, name: str, kind: type[T]) -> T:
    """
    Return one section of a file, converted to its type.

    Raises:
        MissingPart: it is missing or has another type.
    """
    try:
        return msgspec.convert(load(file)[name], kind)
    except (KeyError, msgspec.ValidationError) as error:
        raise MissingPart(f"the table {file.name}, section [{name}]: {error}") from error


def entries(
    file: Path, kind: type[AnyRow], fragments: Mapping[str, str], *, table: str = "row", flags: int = 0
) -> tuple[Entry[AnyRow], ...]:
    """
    Return the rows of a table in order, each with its compiled pattern.

    Args:
        fragments: texts for the names in braces, in addition to those of the file.

    Raises:
        MissingPart: a row lacks a field, has an unknown one, refers to an unknown fragment, or its pattern is not valid.
    """
    known = dict(fragments)
    for name, text in section(file, "fragments", dict[str, str]).items() if "fragments" in load(file) else ():
        known[name] = fill(text, known, f"{file.name}, fragment {name}")
    found: list[Entry[AnyRow]] = []
    for at, raw in enumerate(load(file).get(table, ()), start=1):
        place = f"{file.name}, row {at} ({raw.get('name', 'no name')})"
        try:
            row = msgspec.convert(raw, kind)
            found.append(Entry(row, compile_pattern(fill(row.pattern, known, place), flags)))
        except (msgspec.ValidationError, re.error) as error:
            raise MissingPart(f"the table {place}: {error}") from error
    names = [entry.row.name for entry in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MissingPart(f"the table {file.name}: two rows are called {twice}")
    return tuple(found)


def named_patterns(file: Path, fragments: Mapping[str, str], flags: int = 0) -> Mapping[str, re.Pattern[str]]:
    """Return the compiled patterns of the signs of a file, by name."""
    return {entry.row.name: entry.pattern for entry in entries(file, Row, fragments, table="sign", flags=flags)}


def fill(pattern: str, fragments: Mapping[str, str], place: str = "a pattern") -> str:
    """
    Replace the names of fragments in a pattern by the fragments.

    >>> fill("^{A}{2}b", {"A": "(?:x|y)"})
    '^(?:x|y){2}b'
    """
    for name in _FRAGMENT.findall(pattern):
        if name not in fragments:
            raise MissingPart(f"the table {place}: there is no fragment {{{name}}}")
    return _FRAGMENT.sub(lambda match: fragments[match[1]], _BROKEN.sub("", pattern))


def compile_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern of a table."""
    return re.compile(text, flags)


def alternatives(options: frozenset[str]) -> str:
    """
    Build an expression that matches any of some words, the longest first.

    >>> alternatives(frozenset({"a", "an"}))
    'an|a'
    """
    return "|".join(sorted(map(re.escape, options), key=lambda word: (-len(word), word)))
