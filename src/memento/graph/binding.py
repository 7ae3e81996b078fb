"""
Queries are files; their parameters are `VALUES ?name { sample }` slots that are filled with RDF terms.

A file runs as it stands, with the samples. Binding replaces what is between the braces of each slot of that name, and nothing else:
terms are serialised by the store's own writer, so no text can become syntax.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from memento import assets
from memento.errors import GraphError, MissingPart
from memento.graph.terms import to_term
from memento.model import Value

# The samples are IRIs, numbers and quoted strings, none of which may hold a brace: that is tested for every file.
_SLOT = re.compile(r"VALUES\s+\?(?P<name>\w+)\s*\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Query:
    """One file: its name, its text and the names of its slots."""

    name: str
    text: str
    slots: frozenset[str]


@cache
def query(name: str) -> Query:
    """
    The query `queries/{name}.rq`.

    Raises:
        GraphError: there is no such file.
    """
    try:
        text = assets.read(f"queries/{name}.rq").decode("utf-8")
    except MissingPart as error:
        raise GraphError(f"there is no query {name!r}") from error
    return Query(name, text, frozenset(match["name"] for match in _SLOT.finditer(text)))


def bound(name: str, slots: dict[str, Value | Sequence[Value]]) -> str:
    """
    The text of a query with its slots filled.

    Raises:
        GraphError: a slot the file does not have, a slot with no value, or a value that RDF cannot hold.
    """
    found = query(name)
    if unknown := slots.keys() - found.slots:
        raise GraphError(f"the query {name!r} has no slot {', '.join(sorted(unknown))}: it has {sorted(found.slots)}")
    blocks = {slot: _block(name, slot, values) for slot, values in slots.items()}
    return _SLOT.sub(lambda match: blocks.get(match["name"], match[0]), found.text)


def _block(name: str, slot: str, values: Value | Sequence[Value]) -> str:
    many = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    if not many:
        raise GraphError(f"the slot {slot} of the query {name!r} needs at least one value")
    return f"VALUES ?{slot} {{ {' '.join(str(to_term(value)) for value in many)} }}"
