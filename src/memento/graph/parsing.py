"""
Parse somebody else's documents with care: what could end the process, or multiply, is refused before it is parsed.

*Guarantees:* no DOCTYPE and no nesting deeper than `DEEPEST` or `MOST_NESTED` reaches the parser; whatever is wrong with a document
is an `InputError`. Nothing is fetched.

*But:* what takes long, or much memory, is stopped by nothing here: it runs in a worker.

*Because:* the parser unfolds entities as often as they are named, and takes and drops triples within triples, and JSON within JSON,
by recursion.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import pyoxigraph as ox

from memento.errors import InputError

DEEPEST = 100
"""Objects and lists within one another in JSON-LD."""
MOST_NESTED = 8
"""Triples within triples."""

_DOCTYPE = re.compile(rb"<!(?:doctype|entity)", re.IGNORECASE)
_TRIPLE = re.compile(rb"<<")
_OF_TRIPLES = re.compile(
    rb'''"""(?:[^"\\]|\\.|"(?!""))*+""" | \'\'\'(?:[^'\\]|\\.|'(?!''))*+\'\'\' | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'
      | (?P<open> << ) | (?P<close> >> ) | <[^<>\s]*+> | \#[^\n]*+''',
    re.VERBOSE | re.DOTALL,
)
_OF_JSON = re.compile(rb'"(?:[^"\\]|\\.)*+" | (?P<open> [\[{] ) | (?P<close> [\]}] )', re.VERBOSE | re.DOTALL)

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def refuse_unsafe(path: Path, of: ox.RdfFormat, name: str) -> None:
    """
    Look through a document for what must not reach the parser.

    Args:
        name: what errors call it.

    Raises:
        InputError: it has a DOCTYPE, or is nested too deep; names the line.
    """
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if of == ox.RdfFormat.RDF_XML:
            if found := _DOCTYPE.search(data):
                raise InputError(
                    f"{name} line {_line(data, found)}: a DOCTYPE is refused, as its entities can multiply: take it out and write "
                    "in full what they stand for"
                )
        elif of == ox.RdfFormat.JSON_LD:
            _refuse_deep(data, _OF_JSON, DEEPEST, f"objects and lists are nested deeper than {DEEPEST}", name)
        elif sum(1 for _ in islice(_TRIPLE.finditer(data), MOST_NESTED + 1)) > MOST_NESTED:
            _refuse_deep(data, _OF_TRIPLES, MOST_NESTED, f"triples are nested deeper than {MOST_NESTED}", name)


def parse_quads(
    source: IO[bytes], of: ox.RdfFormat, name: str, *, base: str | None = None, rename_blank_nodes: bool = False
) -> Iterator[ox.Quad]:
    """
    Parse a document that was looked through.

    Raises:
        InputError: it is not well formed; says where.
    """
    found = ox.parse(source, of, base_iri=base, rename_blank_nodes=rename_blank_nodes)
    while True:
        try:
            quad = next(found, None)
        except SyntaxError as error:
            raise InputError(_placed(error, name)) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} cannot be read: {error}") from error
        if quad is None:
            return
        if nesting(quad.object) > MOST_NESTED:
            raise InputError(f"{name}: triples are nested deeper than {MOST_NESTED}")
        yield quad


def nesting(term: Term) -> int:
    """Count how deep triples are nested in a term; 0 for one that is none."""
    found = 0
    while isinstance(term, ox.Triple):
        found, term = found + 1, term.object
    return found


_PLACE = re.compile(r"^Parser error .*?(?:columns? \d+(?: and (?:line \d+ column )?\d+)?|line \d+): ")


def _placed(error: SyntaxError, name: str) -> str:
    """What is wrong, and where: line and column count from 1."""
    where = f" line {error.lineno}" + (f", column {error.offset}" if error.offset else "") if error.lineno else ""
    message = _PLACE.sub("", str(error.msg or error)).strip()
    return f"{name}{where}: {message}"


def _refuse_deep(data: mmap.mmap, tokens: re.Pattern[bytes], most: int, message: str, name: str) -> None:
    level = 0
    for token in tokens.finditer(data):
        if token["open"]:
            level += 1
            if level > most:
                raise InputError(f"{name} line {_line(data, token)}: {message}")
        elif token["close"] and level:
            level -= 1


def _line(data: mmap.mmap, found: re.Match[bytes]) -> int:
    return data[: found.start()].count(b"\n") + 1
