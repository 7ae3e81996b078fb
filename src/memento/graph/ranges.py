"""
Checks values, when they are written and when they are read, against the ranges of our properties in `ontology/values.ttl`, and
counts what readers ignore.

*Guarantees:* a reader gets only values within the range of a property, whatever is in the graph.

*But:* readers accept any literal as a text.

*Source:* SHACL, W3C Recommendation, https://www.w3.org/TR/shacl/; this module implements the value constraints that `values.ttl`
uses.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import sha256
from math import isfinite
from types import MappingProxyType
from typing import Any

import pyoxigraph as ox

from memento import assets
from memento.graph.documents import Document, document
from memento.graph.store import Row, Store
from memento.graph.terms import to_value
from memento.iris import IRI, SH, XSD
from memento.model import Value

_FILE = "ontology/values.ttl"
_TYPES: Mapping[str, type[datetime] | type[int] | type[bool] | type[str]] = {
    XSD.dateTime: datetime,
    XSD.integer: int,
    XSD.boolean: bool,
    XSD.string: str,
}
"""The type that `to_value` returns for a valid literal of each datatype."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Statements = Mapping[IRI, Sequence[Value]]
"""Statements about one node: predicate → objects."""


_PATTERNS = {one.pattern: one for one in (re.compile(r"(Z|\+00:00)$"),)}
"""The patterns of `values.ttl`; a test tries each on texts designed to slow it down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """
    The values that one property takes: those of a `datatype`, numbers within bounds, a word of a list, or names.

    `shape` is the node shape that states the range, and `message` says how to fix a value out of range.
    """

    shape: IRI
    message: str
    datatype: str = ""
    pattern: re.Pattern[str] | None = None
    is_name: bool = False
    words: frozenset[str] = frozenset()
    least: float | None = None
    above: float | None = None
    most: float | None = None
    type: type | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", _TYPES.get(self.datatype))

    @property
    def is_text(self) -> bool:
        """Whether it takes any text: its values may be somebody's words."""
        return self.type is str

    def fits(self, value: Value) -> bool:
        """Tell whether a reader accepts a value of the property."""
        if self.is_text:
            return True
        if self.is_name or self.words:
            return isinstance(value, IRI) == self.is_name and (not self.words or value in self.words)
        if self.type is not None and type(value) is not self.type:
            return False
        return self.least is self.above is self.most is None or self._is_within(value)

    def takes(self, term: Term) -> bool:
        """Tell whether a term conforms to the range to the letter, as a shape judges it."""
        if not isinstance(term, ox.Literal):
            return isinstance(term, ox.NamedNode) and self.is_name and self.fits(IRI(term.value))
        if self.is_name or (self.datatype and term.datatype.value != self.datatype):
            return False
        if self.words and term.datatype.value != XSD.string:
            return False
        return self.fits(to_value(term)) and (self.pattern is None or self.pattern.search(term.value) is not None)

    def _is_within(self, value: Value) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            return False
        is_low = (self.least is not None and value < self.least) or (self.above is not None and value <= self.above)
        return not is_low and (self.most is None or value <= self.most)


@cache
def ranges() -> Mapping[IRI, Range]:
    """Return the range of each property that has one, by its IRI."""
    found = document(_FILE)
    made: dict[IRI, Range] = {}
    for shape in dict.fromkeys(shape for shape, predicate, _ in found.triples() if predicate == SH.targetSubjectsOf):
        for stated in found.objects(shape, SH.property):
            made.update(dict.fromkeys(_paths(stated, found), _range(IRI(shape), stated, found)))
    return MappingProxyType(made)


@cache
def read_ranges() -> Mapping[IRI, Range]:
    """Return the ranges that apply to readers: all but those of texts."""
    return MappingProxyType({predicate: one for predicate, one in ranges().items() if not one.is_text})


def drop_unreadable(said: Statements) -> Statements:
    """Return the statements about a node without the values that no reader accepts."""
    known = read_ranges()
    left: dict[IRI, list[Value]] = {}
    for predicate, values in said.items():
        if (one := known.get(predicate)) is not None and not all(map(one.fits, values)):
            left[predicate] = [value for value in values if one.fits(value)]
    if not left:
        return said
    return {predicate: some for predicate, values in said.items() if (some := left.get(predicate, values))}


def fits(predicate: IRI, value: Value) -> bool:
    """Tell whether a reader accepts a value of the property; always if the property has no range."""
    one = read_ranges().get(predicate)
    return one is None or one.fits(value)


def broken_range(predicate: str, term: Term) -> Range | None:
    """Return the range that a statement breaks; None if it breaks none."""
    one = ranges().get(IRI(predicate))
    return None if one is None or one.takes(term) else one


def quote_value(term: Term, of: Range) -> str:
    """Return a value out of range as an error may quote it: shortened, or empty if it may be somebody's words."""
    if of.is_text:
        return "…"
    text = str(term)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 80


def _paths(stated: str, found: Document) -> Iterable[IRI]:
    """Return the properties that a property shape applies to: one, or several alternatives."""
    [path] = found.objects(stated, SH.path)
    choices = found.objects(path, SH.alternativePath)
    return map(IRI, found.items(choices[0]) if choices else [path])


def _range(shape: IRI, stated: str, found: Document) -> Range:
    def number(name: str) -> float | None:
        text = found.one(stated, SH[name])
        return float(text) if text else None

    listed, pattern = found.objects(stated, SH["in"]), found.one(stated, SH.pattern)
    return Range(
        shape=shape,
        message=found.one(stated, SH.message),
        datatype=found.one(stated, SH.datatype),
        pattern=_PATTERNS[pattern] if pattern else None,
        is_name=found.one(stated, SH.nodeKind) == SH.IRI,
        words=frozenset(map(str, found.items(listed[0]))) if listed else frozenset(),
        least=number("minInclusive"),
        above=number("minExclusive"),
        most=number("maxInclusive"),
    )


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "cases", "provenance", "audit"))
"""Prefixes of the names of graphs that we write; the others may contain anything."""
_LEAST, _MOST = 1e-300, 1e300
_MANY = 1_000
"""For more nodes than this, checking everything is faster."""


class Aside:
    """
    The nodes of one store with ignored statements: values out of the range of their property, written before ranges were checked,
    or by the owner without a check. Readers skip them; they are counted here so that every interface can report them.

    *But:* if somebody else has written to the store's files, it is read once to count, some seconds for 100,000 memories.

    Thread-safe; one thread writes at a time.
    """

    def __init__(self, graph: Store, keep: Callable[[str], None] = lambda text: None) -> None:
        """
        Args:
            keep: called with the new `text` after each change; give it to `restore_counts` at the next start.
        """
        self._graph, self._keep = graph, keep
        self._found: dict[tuple[IRI, IRI], int] = {}
        self._is_known = True

    def forget(self) -> None:
        """Check all graphs again when that is asked for: somebody else has written."""
        self._is_known = False

    def look(self) -> None:
        """Check all graphs."""
        self._is_known = True
        self._found = _count_by_node(self._rows())
        self._keep(self.text())

    def look_at(self, nodes: Iterable[IRI], *, unchecked: bool = False) -> None:
        """
        Check some nodes again if they have ignored statements.

        Args:
            unchecked: check all of them, because they were written without validation.
        """
        if not self._is_known:
            return
        known = {node for _, node in self._found}
        again = [node for node in nodes if unchecked or node in known]
        if len(again) > _MANY:
            self.look()
        elif again:
            wanted = set(again)
            kept = {place: count for place, count in self._found.items() if place[1] not in wanted}
            self._found = kept | _count_by_node(self._of(again))
            self._keep(self.text())

    def within(self, is_seen: Callable[[IRI], bool]) -> tuple[int, tuple[IRI, ...]]:
        """Return how many statements are ignored in the graphs that a caller can read, and their nodes."""
        if not self._is_known:
            self.look()
        seen = {place: count for place, count in self._found.items() if is_seen(place[0])}
        return sum(seen.values()), tuple(sorted({node for _, node in seen}))

    def restore_counts(self, text: str | None) -> bool:
        """Restore the counts of an earlier process; return False, and restore nothing, if they are for other ranges."""
        kept = json.loads(text) if text else {}
        if kept.get("ranges") != _mark():
            return False
        self._found = {(IRI(graph), IRI(node)): count for graph, node, count in kept["found"]}
        return True

    def text(self) -> str:
        """The counts as text."""
        return json.dumps(
            {"ranges": _mark(), "found": [[graph, node, count] for (graph, node), count in self._found.items()]}
        )

    def _rows(self) -> list[Row]:
        graphs = [graph for graph in self._graph.graphs() if graph.startswith(OURS)]
        return self._graph.select("graph/unread", graphs, **_slots()) if graphs else []

    def _of(self, nodes: Collection[IRI]) -> list[Row]:
        graphs = [graph for graph in self._graph.graphs() if graph.startswith(OURS)]
        names = [node for node in nodes if not node.startswith("_:")]
        rows = self._graph.select("search/statements", graphs, node=names) if names and graphs else []
        return [{**row, "property": row["predicate"]} for row in rows]


def _count_by_node(rows: Iterable[Row]) -> dict[tuple[IRI, IRI], int]:
    known = read_ranges()
    counted: Counter[tuple[IRI, IRI]] = Counter()
    for row in rows:
        one = known.get(row["property"])
        if one is not None and not one.fits(row["value"]):
            counted[IRI(str(row["graph"])), IRI(str(row["node"]))] += 1
    return dict(counted)


def _slots() -> dict[str, Any]:
    """Return the properties that have a range, grouped by its kind, as slots of the query."""
    links, times, flags = list[Value](), list[Value](), list[Value]()
    numbers, words = list[tuple[Value, ...]](), list[tuple[Value, ...]]()
    for predicate, one in read_ranges().items():
        if one.words:
            words += [(predicate, IRI(word) if one.is_name else word) for word in sorted(one.words)]
        elif one.is_name:
            links.append(predicate)
        elif one.datatype == XSD.dateTime:
            times.append(predicate)
        elif one.datatype == XSD.boolean:
            flags.append(predicate)
        else:
            least = one.least if one.least is not None else _LEAST if one.above is not None else -_MOST
            numbers.append((predicate, least, _MOST if one.most is None else one.most))
    return {"link": links, "time": times, "flag": flags, "number": numbers, "word": words}


def _mark() -> str:
    """Return a mark that distinguishes these ranges from those of another version."""
    return sha256(assets.read("ontology/values.ttl")).hexdigest()[:16]
