"""
The tables of the language: word lists, and rows of patterns that each say what they mean and how one sees it.

A file is read when it is first asked for, once. What is not as it must be is an error that names the file and the row.

*But:* what is no language stays in code, where it is used: how a text falls into tokens, a genitive, white space, figures,
stamps of time, capitals inside of a word, the private signs of skeletons, and an expression that is made of the names of one
note.

*Because:* what is known of a language changes far more often than what is done with it, and a row can be tested by itself.
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
"""Where a long pattern goes on in the next line."""


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A pattern of a table. `example` begins with a text that it reads and goes on with what that means; `counter` it does not read.

    A pattern may name a fragment in braces, `{NAME}`: one of the file's own `[fragments]` or one that its reader adds.
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
    """A row with its pattern compiled."""

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
    """Return the lists of words that stand at the top of a file, by their names."""
    return {name: word_set(text) for name, text in load(file).items() if isinstance(text, str)}


@cache
def load(file: Path) -> Mapping[str, Any]:
    """
    Read a file of tables.

    Raises:
        MissingPart: there is no such file, or it is no TOML.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MissingPart(
            f"the table {file.name} cannot be read: {error}; install Memento again from its wheel"
        ) from error


def section(file: Path, name: str, kind: type[T]) -> T:
    """
    Return one section of a file as what it must be.

    Raises:
        MissingPart: it is missing or is something else.
    """
    try:
        return msgspec.convert(load(file)[name], kind)
    except (KeyError, msgspec.ValidationError) as error:
        raise MissingPart(f"the table {file.name}, section [{name}]: {error}") from error


def entries(
    file: Path, kind: type[AnyRow], fragments: Mapping[str, str], *, table: str = "row", flags: int = 0
) -> tuple[Entry[AnyRow], ...]:
    """
    Return the rows of a table in their order, each with its pattern compiled.

    Args:
        fragments: texts for the names in braces, beside those of the file.

    Raises:
        MissingPart: a row lacks a field, has one that is unknown, names no fragment, or is no expression.
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
    """Return the patterns of single signs, by their names."""
    return {entry.row.name: entry.pattern for entry in entries(file, Row, fragments, table="sign", flags=flags)}


def fill(pattern: str, fragments: Mapping[str, str], place: str = "a pattern") -> str:
    """
    Put fragments in the place of their names.

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
    Write an expression for any of some words, the longest first.

    >>> alternatives(frozenset({"a", "an"}))
    'an|a'
    """
    return "|".join(sorted(map(re.escape, options), key=lambda word: (-len(word), word)))
