"""
Check values against what `ontology/values.ttl` says that our properties take: those that are written, and those that are read.

*Guarantees:* what a reader is given under a property with a range is of the kind that the range says, whatever is in the graph.

*But:* readers take any literal for a text.

*Source:* SHACL, W3C Recommendation, https://www.w3.org/TR/shacl/; of it, this file has the value constraints that `values.ttl`
uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from math import isfinite
from types import MappingProxyType

import pyoxigraph as ox

from memento.graph.document import Document, document
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
"""What `to_value` makes of a literal of each datatype, where its text is one."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Statements = Mapping[IRI, Sequence[Value]]
"""What is said of one node: predicate → objects."""


_PATTERNS = {one.pattern: one for one in (re.compile(r"(Z|\+00:00)$"),)}
"""The patterns of `values.ttl`: here, where a test tries each on texts that are meant to slow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """
    What values one property takes: those of a `datatype`, numbers within bounds, a word of a list, or names.

    `shape` is the node shape that says so, and `message` how a value is mended that is none of them.
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
        """Whether it takes any text: what stands there may be what somebody said."""
        return self.type is str

    def fits(self, value: Value) -> bool:
        """Whether a reader can take the value for one of the property."""
        if self.is_text:
            return True
        if self.is_name:
            return isinstance(value, IRI)
        if self.words:
            return isinstance(value, str) and value in self.words and not isinstance(value, IRI)
        if self.type is not None and type(value) is not self.type:
            return False
        return self.least is self.above is self.most is None or self._is_within(value)

    def takes(self, term: Term) -> bool:
        """Whether a term is one of its values to the letter, as a shape judges it."""
        if not isinstance(term, ox.Literal):
            return self.is_name and isinstance(term, ox.NamedNode)
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
    """The range of each property that has one, by its IRI."""
    found = document(_FILE)
    made: dict[IRI, Range] = {}
    for shape in dict.fromkeys(shape for shape, predicate, _ in found.triples() if predicate == SH.targetSubjectsOf):
        for stated in found.objects(shape, SH.property):
            made.update(dict.fromkeys(_paths(stated, found), _range(IRI(shape), stated, found)))
    return MappingProxyType(made)


@cache
def read_ranges() -> Mapping[IRI, Range]:
    """The ranges that readers are held to: of all but texts."""
    return MappingProxyType({predicate: one for predicate, one in ranges().items() if not one.is_text})


def drop_unreadable(said: Statements) -> Statements:
    """What is said of a node without the values that no reader can take."""
    known = read_ranges()
    left: dict[IRI, list[Value]] = {}
    for predicate, values in said.items():
        if (one := known.get(predicate)) is not None and not all(map(one.fits, values)):
            left[predicate] = [value for value in values if one.fits(value)]
    if not left:
        return said
    return {predicate: some for predicate, values in said.items() if (some := left.get(predicate, values))}


def fits(predicate: IRI, value: Value) -> bool:
    """Whether a reader can take the value for one of the property; any can be, where the property has no range."""
    one = read_ranges().get(predicate)
    return one is None or one.fits(value)


def broken_range(predicate: str, term: Term) -> Range | None:
    """The range that a statement breaks; None when it breaks none."""
    one = ranges().get(IRI(predicate))
    return None if one is None or one.takes(term) else one


def quote_value(term: Term, of: Range) -> str:
    """A value that breaks a range, as an error may quote it: cut short, and not at all where a text is said."""
    if of.is_text:
        return "…"
    text = str(term)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 80


def _paths(stated: str, found: Document) -> Iterable[IRI]:
    """The properties that a property shape speaks of: one, or several alternatives."""
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
    except OverflowError:  # a whole number of more than 308 digits
        return False
