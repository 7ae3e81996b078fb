"""One node as the graph describes it: what kind it is, what of it is embedded, when it held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import cast

from memento.graph.ranges import drop_unreadable
from memento.graph.store import Store
from memento.iris import IRI, MEM, SKOS, TYPE
from memento.model import KeyType, Value
from memento.search.nodes import Kind, Lifetime

Statements = Mapping[IRI, Sequence[Value]]
"""What the graph says of one node: predicate → objects."""

Edge = tuple[IRI, IRI, float]
"""A link from a key to a memory, and its weight."""

REMEMBERED = "remember"
"""The mem:source of a memory that came with keys."""

_KINDS: dict[IRI, Kind] = {MEM.Memory: "memory", MEM.Entity: "anchor", MEM.User: "anchor", MEM.Key: "key"}

BASE: frozenset[IRI] = frozenset(
    {
        *(TYPE, MEM.content, MEM.title, MEM.saidBy, MEM.extractedFrom),
        *(MEM.validAt, MEM.invalidAt, MEM.createdAt, MEM.expiredAt, MEM.expiresAt),
        *(MEM.name, SKOS.altLabel, MEM.alias, MEM.description, MEM.entityType, MEM.keyType, MEM.denotes),
        *(MEM["from"], MEM.to, MEM.weight, MEM.session, MEM.position, MEM.invalidated, MEM.at),
    }
)
"""The predicates that a `Record` reads, whatever indexes there are."""


@dataclass(frozen=True, slots=True)
class Record:
    """One node as the graph has it now, without the values that are out of the range of their property."""

    iri: IRI
    graph: IRI
    statements: Statements
    kind: Kind | None = field(init=False)
    """What it is to the indexes, or None when they do not hold such a node."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "statements", drop_unreadable(self.statements))
        kind = next((_KINDS[IRI(str(t))] for t in self.statements.get(TYPE, ()) if t in _KINDS), None)
        # What denotes an anchor is that anchor under another name.
        object.__setattr__(self, "kind", None if kind == "key" and MEM.denotes in self.statements else kind)

    def text(self, names: Mapping[IRI, str]) -> str:
        """
        Return what is embedded and searched for.

        Args:
            names: the name of every anchor.
        """
        if self.kind == "memory":
            speaker = names.get(IRI(self.first(MEM.saidBy)))
            return text_of_memory(self.first(MEM.content), speaker, self.first(MEM.title))
        return text_of_anchor(self.name, self.first(MEM.description))

    @property
    def name(self) -> str:
        """What an anchor is called; the user may have no name yet."""
        return self.first(MEM.name) or "user"

    @property
    def labels(self) -> list[str]:
        """Every name it goes by, the chief one first."""
        predicates = (MEM.name, SKOS.altLabel, MEM.alias)
        return [str(name) for predicate in predicates for name in self.statements.get(predicate, ())]

    @property
    def is_embedded(self) -> bool:
        """Whether its meaning is searched for; a key that is a name is found by its spelling alone."""
        return self.kind is not None and (self.kind != "key" or self.first(MEM.keyType) == "concept")

    @property
    def edge(self) -> Edge | None:
        """The link from a key to a memory that it is; None for anything else, and for one that lacks an end."""
        if MEM.KeyLink not in self.statements.get(TYPE, ()):
            return None
        key, memory = self.first(MEM["from"]), self.first(MEM.to)
        return (IRI(key), IRI(memory), float(self.first(MEM.weight) or 1.0)) if key and memory else None

    @property
    def key_type(self) -> KeyType:
        """As what a key matches; one that does not say it, by its name."""
        return cast(KeyType, self.first(MEM.keyType) or "name")

    def lifetime(self, retired_at: datetime | None) -> Lifetime:
        """Return when it held and was believed, `retired_at` being when its end was known."""
        ends = [end for end in (self.time_of(MEM.expiredAt), self.time_of(MEM.expiresAt)) if end]
        return Lifetime(
            valid_at=self.time_of(MEM.validAt),
            invalid_at=self.time_of(MEM.invalidAt),
            created_at=self.time_of(MEM.createdAt),
            expired_at=min(ends, default=None),
            retired_at=retired_at,
        )

    def first(self, predicate: IRI) -> str:
        """Return the one value of a predicate as text, empty when there is none."""
        return str(next(iter(self.statements.get(predicate, ())), ""))

    def time_of(self, predicate: IRI) -> datetime | None:
        """Return the one value of a predicate when it is a time."""
        value = next(iter(self.statements.get(predicate, ())), None)
        return value if isinstance(value, datetime) else None


def is_indexed(graph: IRI) -> bool:
    """Return whether a named graph holds memories or anchors."""
    return graph.startswith(("urn:memento:graph:", "urn:memento:self:"))


def read_records(graph: Store, predicates: Iterable[IRI]) -> Iterator[Record]:
    """Read every subject of every indexed graph with its values of some predicates, one at a time."""
    kept = frozenset(predicates)
    for name in filter(is_indexed, graph.graphs()):
        for iri, quads in groupby(graph.quads(name), key=itemgetter(0)):
            if iri.startswith("_:"):  # no IRI: nobody can ask for it
                continue
            statements: dict[IRI, list[Value]] = {}
            for _, predicate, value, _ in quads:
                if predicate in kept:
                    statements.setdefault(predicate, []).append(value)
            yield Record(iri, name, statements)


def text_of_memory(content: str, speaker: str | None, title: str | None) -> str:
    """
    Return a memory as it is found: led by who said it and by the title of its source.

    >>> text_of_memory("It has seven hills.", None, "Lisbon")
    'Lisbon. It has seven hills.'
    """
    titled = f"{title}. {content}" if title else content
    return f"{speaker}: {titled}" if speaker else titled


def text_of_anchor(name: str, description: str) -> str:
    """
    Return an anchor as it is found: `Name: Description`, or its name alone.

    >>> text_of_anchor("Zed", "a code editor")
    'Zed: a code editor'
    """
    return f"{name}: {description}" if description else name


def content_hash(content: str) -> str:
    """Return the digest that tells exact duplicates: of the text without case and runs of space."""
    return sha256(" ".join(content.casefold().split()).encode("utf-8", errors="surrogatepass")).hexdigest()
