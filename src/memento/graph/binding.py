"""
Queries are files. Their parameters are slots, `VALUES ?name { sample }`, filled with RDF terms, or tables of several columns,
`VALUES (?name ?other) { (sample sample) }`, named after the first column and filled with rows.

A file runs as it stands, with the samples. Binding replaces only what is between the braces of each slot with that name. The
store's own writer serialises the terms, so that no text can become syntax.

A column has the range (`ranges`) of the property that its variable follows in the file, as in `mem:validAt ?validAt`. A value out
of range is dropped, together with its row if the row makes no sense without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import pyoxigraph as ox

from memento import assets
from memento.errors import GraphError, MissingPart
from memento.graph.ranges import Range, read_ranges
from memento.graph.terms import to_term, to_value
from memento.iris import IRI, PREFIXES
from memento.model import Value

# The samples are IRIs, numbers and quoted strings, none with a brace: a test checks this for every file.
_SLOT = re.compile(r"VALUES\s+(?P<head>\(\s*)?\?(?P<name>\w++)(?P<more>(?(head)[\s?\w]*+\)))\s*+\{[^{}]*\}")

_OBJECT = re.compile(
    r"\b(?P<prefix>mem|prov):(?P<local>\w+)\s+\?(?P<name>\w+)|(?P<optional>\bOPTIONAL\s*\{)|(?P<brace>[{}])"
)
_AGGREGATE = re.compile(r"\((?:MIN|MAX|SAMPLE)\(\?(?P<of>\w+)\)\s+AS\s+\?(?P<name>\w+)\)")
_ASKED_FOR = re.compile(r"\bCOUNT\(\?(\w+)\) > 0")
_PICKED = re.compile(
    r"\bIF\(\?\w+ = (?P<prefix>mem|prov):(?P<local>\w++)(?:(?!IF\()[^\n])*, \?(?P<of>\w+), \?no\) AS \?(?P<name>\w+)\)"
)
_COMMENT = re.compile(r"^[^\S\n]*+#[^\n]*", re.MULTILINE)

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Solution = Mapping[str, Term]
"""One solution of a SELECT: variable name → term; an unbound variable is absent."""

SlotValues = Value | Sequence[Value] | Sequence[tuple[Value, ...]]
"""What can fill a slot: a value, several, or rows of a table."""


@dataclass(frozen=True, slots=True)
class Column:
    """
    What a column may hold: values within one of `ranges`. `may_lack` says that a row makes sense without it: the file binds it in
    OPTIONAL, or aggregates it and does not use it in HAVING.
    """

    ranges: tuple[Range, ...]
    may_lack: bool

    def fits(self, value: Value) -> bool:
        """Whether a reader can take the value."""
        return any(one.fits(value) for one in self.ranges)


@dataclass(frozen=True, slots=True)
class QueryFile:
    """One query file: its name, its text, the names of its slots, and its columns with known ranges."""

    name: str
    text: str
    slots: frozenset[str]
    columns: Mapping[str, Column]

    def drop_unreadable(self, row: Mapping[str, Value]) -> Mapping[str, Value] | None:
        """Return a row without values out of range; None if the rest makes no sense."""
        wrong = [name for name, value in row.items() if (one := self.columns.get(name)) and not one.fits(value)]
        if not wrong:
            return row
        if not all(self.columns[name].may_lack for name in wrong):
            return None
        return {name: value for name, value in row.items() if name not in wrong}


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
    return QueryFile(name, text, frozenset(match["name"] for match in _SLOT.finditer(text)), _columns(text))


def _columns(text: str) -> Mapping[str, Column]:
    """Return the columns of a file that follow a property with a range."""
    plain = _COMMENT.sub("", text)
    found: dict[str, list[Range]] = {}
    lacking: dict[str, bool] = {}
    inside: list[bool] = []  # for each open brace, whether it is in an OPTIONAL
    for match in _OBJECT.finditer(plain):
        if match["optional"]:
            inside.append(True)
        elif match["brace"] == "{":
            inside.append(bool(inside and inside[-1]))
        elif match["brace"]:
            inside.pop()
        else:
            name = match["name"]
            one = read_ranges().get(IRI(PREFIXES[match["prefix"]] + match["local"]))
            found.setdefault(name, []).extend([one] if one else [])
            lacking[name] = lacking.get(name, True) and bool(inside and inside[-1])
            if one is None:  # any value is allowed there
                found[name] = []
                lacking[name] = True
    for match in _PICKED.finditer(plain):
        one = read_ranges().get(IRI(PREFIXES[match["prefix"]] + match["local"]))
        found[match["name"]] = found.get(match["of"], [one] if one else [])
        lacking[match["name"]] = True
    wanted = set(_ASKED_FOR.findall(plain))
    for match in _AGGREGATE.finditer(plain):
        found[match["name"]] = found.get(match["of"], [])
        lacking[match["name"]] = not wanted & {match["name"], match["of"]}
    return {name: Column(tuple(some), lacking[name]) for name, some in found.items() if some}


def bind_query(name: str, slots: Mapping[str, SlotValues]) -> str:
    """
    Fill the slots of a query and return its text.

    Raises:
        GraphError: the file lacks a slot, a slot has no value, a row has the wrong length, or RDF cannot hold a value.
    """
    found = load_query(name)
    if unknown := slots.keys() - found.slots:
        raise GraphError(f"the query {name!r} has no slot {', '.join(sorted(unknown))}: it has {sorted(found.slots)}")
    return _SLOT.sub(
        lambda match: _fill_slot(name, match, slots[match["name"]]) if match["name"] in slots else match[0], found.text
    )


def iterate_solutions(found: ox.QuerySolutions) -> Iterator[Solution]:
    """Yield the solutions of a SELECT by the names of their variables."""
    names = [variable.value for variable in found.variables]
    for row in found:
        yield {name: term for name, term in zip(names, row, strict=True) if term is not None}


def read_rows(name: str, solutions: Iterable[Solution]) -> list[Mapping[str, Value]]:
    """Return the solutions of a query as values, without values out of range."""
    readable_part = load_query(name).drop_unreadable
    rows = ({name: to_value(term) for name, term in found.items()} for found in solutions)
    return [row for found in rows if (row := readable_part(found)) is not None]


def _fill_slot(name: str, slot: re.Match[str], values: SlotValues) -> str:
    many = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    if not many:
        raise GraphError(f"the slot {slot['name']} of the query {name!r} needs at least one value")
    head = slot[0][: slot[0].index("{")].rstrip()
    width = head.count("?") if slot["head"] else 0
    return f"{head} {{ {' '.join(_serialise_row(name, slot['name'], value, width) for value in many)} }}"


def _serialise_row(name: str, slot: str, value: Value | tuple[Value, ...], width: int) -> str:
    """Write a value as its term, or a row of `width` values as a row of terms."""
    row = value if isinstance(value, tuple) else (value,)
    if len(row) != max(width, 1) or isinstance(value, tuple) != bool(width):
        raise GraphError(
            f"the slot {slot} of the query {name!r} takes {f'rows of {width} values' if width else 'values'}"
        )
    written = " ".join(str(to_term(one)) for one in row)
    return f"({written})" if width else written
