"""
Queries are files; their parameters are `VALUES ?name { sample }` slots that are filled with RDF terms, or tables of several
columns, `VALUES (?name ?other) { (sample sample) }`, that go by the name of the first one and are filled with rows.

A file runs as it stands, with the samples. Binding replaces what is between the braces of each slot of that name, and nothing else:
terms are serialised by the store's own writer, so no text can become syntax.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memento import assets
from memento.errors import GraphError, MissingPart
from memento.graph.terms import to_term
from memento.model import Value

# The samples are IRIs, numbers and quoted strings, none of which may hold a brace: that is tested for every file.
_SLOT = re.compile(r"VALUES\s+(?P<head>\(\s*)?\?(?P<name>\w++)(?P<more>(?(head)[\s?\w]*+\)))\s*+\{[^{}]*\}")

SlotValues = Value | Sequence[Value] | Sequence[tuple[Value, ...]]
"""What fills a slot: a value, several, or rows of a table."""


@dataclass(frozen=True, slots=True)
class QueryFile:
    """One file: its name, its text and the names of its slots."""

    name: str
    text: str
    slots: frozenset[str]


@cache
def load_query(name: str) -> QueryFile:
    """
    Read the query `queries/{name}.rq`.

    Raises:
        GraphError: there is no such file.
    """
    try:
        text = assets.read(f"queries/{name}.rq").decode("utf-8")
    except MissingPart as error:
        raise GraphError(f"there is no query {name!r}") from error
    return QueryFile(name, text, frozenset(match["name"] for match in _SLOT.finditer(text)))


def bind_query(name: str, slots: Mapping[str, SlotValues]) -> str:
    """
    Fill the slots of a query, and return its text.

    Raises:
        GraphError: a slot the file does not have, a slot with no value, a row of the wrong length, or a value that RDF cannot hold.
    """
    found = load_query(name)
    if unknown := slots.keys() - found.slots:
        raise GraphError(f"the query {name!r} has no slot {', '.join(sorted(unknown))}: it has {sorted(found.slots)}")
    return _SLOT.sub(
        lambda match: _fill_slot(name, match, slots[match["name"]]) if match["name"] in slots else match[0], found.text
    )


def _fill_slot(name: str, slot: re.Match[str], values: SlotValues) -> str:
    many = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    if not many:
        raise GraphError(f"the slot {slot['name']} of the query {name!r} needs at least one value")
    head = slot[0][: slot[0].index("{")].rstrip()
    width = head.count("?") if slot["head"] else 0
    return f"{head} {{ {' '.join(_serialise_row(name, slot['name'], value, width) for value in many)} }}"


def _serialise_row(name: str, slot: str, value: Value | tuple[Value, ...], width: int) -> str:
    """Write a value as its term, or a row of so many as a row of terms."""
    row = value if isinstance(value, tuple) else (value,)
    if len(row) != max(width, 1) or isinstance(value, tuple) != bool(width):
        raise GraphError(
            f"the slot {slot} of the query {name!r} takes {f'rows of {width} values' if width else 'values'}"
        )
    written = " ".join(str(to_term(one)) for one in row)
    return f"({written})" if width else written
