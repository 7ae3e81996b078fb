"""
The claims of all memories, by owner: the edges from an owner to a value over which chains of questions walk.

A claim that nobody owns, that is denied, or that is believed no more is no edge.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Index, Update, register
from memento.search.labels import normalise_label
from memento.search.nodes import Record

_TEXTS = ("iris", "memories", "owners", "relations", "values", "words", "entities")
_FACTS = ("fact", "past")


@dataclass(frozen=True, slots=True)
class Stated:
    """
    A claim as an edge: the memory that states it in these words, its owner, its relation and its value, which is `entity` where the
    graph knows one ("" where it does not). It holds from `since` until before `until`, in seconds since 1970.
    """

    iri: IRI
    memory: IRI
    owner: IRI
    relation: str
    value: str
    words: str
    entity: IRI
    since: float
    until: float
    is_event: bool

    def holds(self, at: float) -> bool:
        """Tell whether it holds at a time; an event holds from when it happened on."""
        return self.since <= at < self.until

    def split(self, name: str) -> tuple[str, str]:
        """
        Return its words up to its value, and those from there on, which may say more than the value.

        Args:
            name: of its owner, if it is not the user. It opens a claim whose words lack it, or lack the value, as when an edge was
                moved.
        """
        opening, ending = _split_words(self.words, self.value, self.relation)
        if not opening:
            return f"{name} {self.relation}", self.value
        return (opening if name.casefold() in self.words.casefold() else f"{name} {opening}"), ending


@register
class Claims(Index):
    """Every claim that is a fact, by its owner and by its memory."""

    name = "claims"
    reads = frozenset(
        {
            *(
                MEM.statedBy,
                MEM.owner,
                MEM.relationName,
                MEM.valueText,
                MEM.value,
                MEM.words,
                MEM.polarity,
                MEM.mood,
                MEM.isEvent,
            ),
            *(MEM.validAt, MEM.invalidAt, MEM.expiredAt),
        }
    )
    learns_from = frozenset({MEM.Claim})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._claims: dict[IRI, Stated] = {}
        # The names of claims, sorted: they are minted by time.
        self._of_owner: dict[IRI, list[IRI]] = {}
        self._of_memory: dict[IRI, list[IRI]] = {}
        self._of_value: dict[IRI, list[IRI]] = {}
        self._of_ending: dict[str, list[IRI]] = {}

    def __len__(self) -> int:
        return len(self._claims)

    def of_owner(self, owner: IRI) -> list[Stated]:
        """Return the claims of an owner, the oldest first."""
        return [self._claims[iri] for iri in self._of_owner.get(owner, ())]

    def of_ending(self, thing: str) -> list[Stated]:
        """Return the claims that end with a thing (as `name_thing` has it), the oldest first."""
        return [self._claims[iri] for iri in self._of_ending.get(thing, ())]

    def of_value(self, entity: IRI) -> list[Stated]:
        """Return the claims whose value is an entity, the oldest first."""
        return [self._claims[iri] for iri in self._of_value.get(entity, ())]

    def of_memory(self, memory: IRI) -> list[Stated]:
        """Return the claims that a memory states, in the order of its words."""
        return [self._claims[iri] for iri in self._of_memory.get(memory, ())]

    def apply(self, update: Update) -> None:
        for record in update.others:
            if MEM.Claim in record.statements.get(TYPE, ()):
                self.forget(record.iri)
                if (claim := _read_claim(record)) is not None:
                    self._put(claim)

    def drop(self, node: int) -> None:
        """Do nothing: a claim is a record of its own, and is forgotten with it."""

    def forget(self, iri: IRI) -> None:
        claim = self._claims.pop(iri, None)
        if claim is not None:
            for table, key in self._list_tables(claim):
                known = table[key]
                del known[bisect_left(known, iri)]
                if not known:
                    del table[key]

    def find_dependents(self, iri: IRI) -> tuple[set[IRI], set[IRI]]:
        return set(self._of_memory.get(iri, ())), set()

    def arrays(self) -> Arrays:
        claims = [self._claims[iri] for iri in sorted(self._claims)]
        columns: Sequence[Sequence[str]] = (
            [one.iri for one in claims],
            [one.memory for one in claims],
            [one.owner for one in claims],
            [one.relation for one in claims],
            [one.value for one in claims],
            [one.words for one in claims],
            [one.entity for one in claims],
        )
        numbers = np.array([(one.since, one.until, one.is_event) for one in claims], dtype=np.float64).reshape(-1, 3)
        packed = {name: pack_strings(column) for name, column in zip(_TEXTS, columns, strict=True)}
        return nest_arrays({"": {"numbers": numbers}, **packed})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        columns = [unpack_strings(select_part(arrays, name)) for name in _TEXTS]
        rows = zip(*columns, arrays["numbers"].tolist(), strict=True)
        for iri, memory, owner, relation, value, said, entity, (since, until, is_event) in rows:
            self._put(
                Stated(
                    IRI(iri), IRI(memory), IRI(owner), relation, value, said, IRI(entity), since, until, bool(is_event)
                )
            )

    def _put(self, claim: Stated) -> None:
        self._claims[claim.iri] = claim
        for table, key in self._list_tables(claim):
            insort(table.setdefault(key, []), claim.iri)

    def _list_tables(self, claim: Stated) -> list[tuple[dict[Any, list[IRI]], object]]:
        tables: list[tuple[dict[Any, list[IRI]], object]] = [
            *((self._of_owner, claim.owner), (self._of_memory, claim.memory)),
            (self._of_ending, name_thing(claim.split("")[1])),
        ]
        return [*tables, (self._of_value, claim.entity)] if claim.entity else tables


def _read_claim(record: Record) -> Stated | None:
    """Read a claim that is an edge; None for any other."""
    said = record.statements
    is_denied = False in said.get(MEM.polarity, ())
    if is_denied or record.first(MEM.mood) not in _FACTS or MEM.expiredAt in said or not record.first(MEM.owner):
        return None
    return Stated(
        record.iri,
        IRI(record.first(MEM.statedBy)),
        IRI(record.first(MEM.owner)),
        record.first(MEM.relationName),
        record.first(MEM.valueText),
        record.first(MEM.words),
        IRI(record.first(MEM.value)),
        _seconds(record.time_of(MEM.validAt), 0.0),
        _seconds(record.time_of(MEM.invalidAt), float("inf")),
        True in said.get(MEM.isEvent, ()),
    )


@lru_cache(maxsize=20_000)
def _split_words(words: str, value: str, relation: str) -> tuple[str, str]:
    """
    Split the words of a claim before its value; ("", "") where they do not have it.

    >>> _split_words("Sable is a citizen of the United States of America", "United States", "citizen of")
    ('Sable is a citizen of the', 'United States of America')
    >>> _split_words("The mill closed in the spring", "mill", "close")
    ('The mill closed', 'in the spring')
    """
    place = words.casefold().rfind(value.casefold()) if value else -1
    if place < 0:
        return "", ""
    verb = re.search(rf"\b{re.escape(relation[:3])}\w*", words[place + len(value) :], re.IGNORECASE)
    if verb and words[:place].casefold() in ("", "the ", "a ", "an "):  # its value is what it is said of
        place += len(value) + verb.end()
    return words[:place].strip(), words[place:].strip(" .")


@lru_cache(maxsize=20_000)
def name_thing(text: str) -> str:
    """
    Return how a thing is named wherever a claim says something of it.

    >>> name_thing("the Morning Post"), name_thing("Apple Inc.")
    ('morning post', 'apple inc')
    """
    return re.sub(r"^(?:the|an?) ", "", normalise_label(text)).rstrip(".")


def _seconds(at: datetime | None, otherwise: float) -> float:
    return otherwise if at is None else at.timestamp()
