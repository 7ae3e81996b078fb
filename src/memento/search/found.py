"""One node as the graph describes it: what kind it is, what of it is embedded, when it held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import cast

from memento.graph.ranges import drop_unreadable
from memento.model import KeyType, Value
from memento.search.nodes import Kind, Lifetime
from memento.search.numbers import KEPT
from memento.vocabulary import IRI, MEM, SKOS, TYPE

Said = Mapping[IRI, Sequence[Value]]
"""What the graph says of one node: predicate → objects."""

REMEMBERED = "remember"
"""The mem:source of a memory that came with keys of its own."""

_KINDS: dict[IRI, Kind] = {MEM.Memory: "memory", MEM.Entity: "anchor", MEM.User: "anchor", MEM.Key: "key"}

READ: frozenset[IRI] = frozenset(
    {
        *(TYPE, MEM.content, MEM.title, MEM.saidBy, MEM.extractedFrom, MEM.about, MEM.subject, MEM.slot),
        *(MEM.validAt, MEM.invalidAt, MEM.createdAt, MEM.expiredAt),
        *(MEM.expiresAt, MEM.source, *KEPT),
        *(MEM.name, SKOS.altLabel, MEM.description, MEM.entityType),
        *(MEM.alias, MEM.keyType, MEM.denotes, MEM["from"], MEM.to, MEM.weight, MEM.relation, MEM.lastReinforcedAt),
        *(MEM.session, MEM.position),
        *(MEM.invalidated, MEM.at, MEM.fades, MEM.halfLife),
    }
)
"""What the indexes take from memories, anchors, keys, links, notes and invalidations; the rest says nothing to them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One node as the graph has it now, without the values that are out of the range of their property."""

    iri: IRI
    graph: IRI
    said: Said
    kind: Kind | None = field(init=False)
    """What it is to the indexes, or None when they do not hold such a node."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", drop_unreadable(self.said))
        kind = next((_KINDS[IRI(str(t))] for t in self.said.get(TYPE, ()) if t in _KINDS), None)
        # What denotes an anchor is that anchor under another name.
        object.__setattr__(self, "kind", None if kind == "key" and MEM.denotes in self.said else kind)

    def text(self, names: Mapping[IRI, str]) -> str:
        """
        What is embedded and searched for.

        Args:
            names: the name of every anchor.
        """
        if self.kind == "memory":
            speaker = names.get(IRI(self.one(MEM.saidBy)))
            return text_of_memory(self.one(MEM.content), speaker, self.one(MEM.title))
        return text_of_anchor(self.name, self.one(MEM.description))

    @property
    def name(self) -> str:
        """What an anchor is called; the user may have no name yet."""
        return self.one(MEM.name) or "user"

    @property
    def labels(self) -> list[str]:
        """Every name it goes by, its own first."""
        return [
            str(name) for predicate in (MEM.name, SKOS.altLabel, MEM.alias) for name in self.said.get(predicate, ())
        ]

    @property
    def is_read(self) -> bool:
        """Whether its meaning is searched for; a key that is a name is found by its spelling alone."""
        return self.kind is not None and (self.kind != "key" or self.one(MEM.keyType) == "concept")

    @property
    def is_keyed(self) -> bool:
        """Whether it came with keys of its own."""
        return REMEMBERED in self.said.get(MEM.source, ())

    @property
    def link(self) -> tuple[IRI, IRI, float] | None:
        """(key, memory, weight) of a link from a key; None for anything else, and for one that lacks an end."""
        key, memory = self.one(MEM["from"]), self.one(MEM.to)
        if MEM.KeyLink not in self.said.get(TYPE, ()) or not key or not memory:
            return None
        return IRI(key), IRI(memory), float(self.one(MEM.weight) or 1.0)

    @property
    def key_type(self) -> KeyType:
        """As what a key matches; one that does not say it, by its name."""
        return cast(KeyType, self.one(MEM.keyType) or "name")

    def lifetime(self, retired_at: datetime | None) -> Lifetime:
        ends = [end for end in (self.time_of(MEM.expiredAt), self.time_of(MEM.expiresAt)) if end]
        return Lifetime(
            valid_at=self.time_of(MEM.validAt),
            invalid_at=self.time_of(MEM.invalidAt),
            created_at=self.time_of(MEM.createdAt),
            expired_at=min(ends, default=None),
            retired_at=retired_at,
        )

    def one(self, predicate: IRI) -> str:
        """Its one value of a predicate as text, empty when there is none."""
        return str(next(iter(self.said.get(predicate, ())), ""))

    def time_of(self, predicate: IRI) -> datetime | None:
        value = next(iter(self.said.get(predicate, ())), None)
        return value if isinstance(value, datetime) else None


def text_of_memory(content: str, speaker: str | None, title: str | None) -> str:
    """
    A memory as it is found: led by who said it and by the title of its source.

    >>> text_of_memory("It has seven hills.", None, "Lisbon")
    'Lisbon. It has seven hills.'
    """
    titled = f"{title}. {content}" if title else content
    return f"{speaker}: {titled}" if speaker else titled


def text_of_anchor(name: str, description: str) -> str:
    """
    An anchor as it is found: `Name: Description`, or its name alone.

    >>> text_of_anchor("Zed", "a code editor")
    'Zed: a code editor'
    """
    return f"{name}: {description}" if description else name


def content_hash(content: str) -> str:
    """The digest that tells exact duplicates: of the text without case and runs of space."""
    return sha256(" ".join(content.casefold().split()).encode("utf-8", errors="surrogatepass")).hexdigest()
