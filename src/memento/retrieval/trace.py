"""
TRACE: read the chosen memories with their dates, what they are about, the note they came from and what they replaced.

A description is derived from the current memories that the reader may see. If a model or an import supplied the text, sentences
that rest only on memories that have ended are left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from memento.backends import Backends
from memento.graph.store import Row, Store
from memento.iris import IRI, MEM, graph_iri
from memento.model import Contradiction, Ended, NoteRef, Recalled, RecalledEntity, Retired, Scope, Scored
from memento.search.claims import Claims
from memento.search.indexes import Indexes
from memento.search.nodes import Record
from memento.search.postings import Ids, Postings, split_words, tokens
from memento.text.claims import words
from memento.text.words import BIOGRAPHICAL

USER = "USER"
MOST_READ = 20
"""Maximum number of memories, the newest, that are read to check whether a word of a description still holds."""


@dataclass(slots=True)
class _Parts:
    """The rows of one memory, by part."""

    own: Row = field(default_factory=dict)
    about: list[Row] = field(default_factory=list)
    note: Row | None = None
    merged: list[Row] = field(default_factory=list)
    replaced: list[Row] = field(default_factory=list)
    ended: list[Row] = field(default_factory=list)
    against: list[Row] = field(default_factory=list)


def trace(
    chosen: Sequence[Scored[IRI]], graph: Store, scope: Scope, believed_at: datetime | None
) -> tuple[tuple[Recalled, ...], tuple[RecalledEntity, ...]]:
    """
    Return the memories in the order in which they were chosen, and every entity they are about: the user first, then the most
    mentioned.

    Args:
        believed_at: facts that Memento learned later are left out.
    """
    if not chosen:
        return (), ()
    parts: dict[IRI, _Parts] = defaultdict(_Parts)
    for row in graph.select("retrieval/trace", scope.readable, memory=[one.item for one in chosen]):
        _sort_in(parts[row["memory"]], row, believed_at)
    memories = tuple(
        _build_memory(rank, one, parts[one.item], scope.user, believed_at)
        for rank, one in enumerate(chosen, start=1)
        if parts[one.item].own
    )
    return memories, _list_entities([row for one in memories for row in parts[one.iri].about], scope.user)


def describe_entities(
    entities: Iterable[RecalledEntity],
    scope: Scope,
    stores: Backends,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
) -> tuple[RecalledEntity, ...]:
    """Return some entities, each with the description supported at that time by the memories that the reader may see."""
    indexes, now = stores.indexes, stores.clock()
    with indexes.lock:
        holding = indexes.nodes.current(scope.memory_graphs, now=now, as_of=as_of, believed_at=believed_at)
        every = [graph for graph in indexes.nodes.graphs() if graph.startswith(graph_iri(scope.tenant, ""))]
        described: list[RecalledEntity] = []
        for one in entities:
            node = indexes.nodes.find(one.iri)
            if one.is_well_known or node is None:
                described.append(one)
                continue
            about = indexes.adjacency.memories(node)
            at = (as_of or believed_at or now).timestamp()
            told = _Told(indexes, indexes.words(every, "memory"), about, about[holding[about]], scope, at)
            text = told.keep_sentences(one.description, {*tokens(USER), *tokens(one.name)}) if one.description else ""
            described.append(replace(one, description=text or (told.list_traits() if one.is_user else "")))
        return tuple(described)


@dataclass(slots=True)
class _Told:
    """The memories about an anchor, and those among them that hold and that the reader may see."""

    indexes: Indexes
    postings: Sequence[Postings]
    about: Ids
    left: Ids
    scope: Scope
    at: float
    """When claims must hold, in seconds since 1970."""

    def keep_sentences(self, text: str, named: set[str]) -> str:
        """
        Return the text without the sentences that are taken back. In such a sentence some word, or all words together, occur only
        in memories that hold no longer.
        """

        def is_taken_back(sentence: str) -> bool:
            tellers = {stem: self._having(stem) for stem in {*tokens(sentence)} - named}
            held = {stem: self._hold(ids, {stem}) for stem, ids in tellers.items()}
            lost = [stem for stem, ids in tellers.items() if np.setdiff1d(ids, held[stem]).size]
            if any(not held[stem].size for stem in lost):
                return True
            together = self.about
            for ids in tellers.values():
                together = np.intersect1d(together, ids)
            return bool(lost) and bool(together.size) and not self._hold(together, {*tellers}).size

        return " ".join(one for one in re.split(r"(?<=[.!?])\s+", text) if not is_taken_back(one))

    def list_traits(self) -> str:
        """Return the words that state who the user is, where they live and what they do, as far as they hold, the oldest first."""
        left = {self.indexes.nodes.iri(node) for node in self.left.tolist()}
        claims = [
            one
            for one in self.indexes[Claims].of_owner(self.scope.user)
            if one.relation in BIOGRAPHICAL and one.memory in left and one.holds(self.at)
        ]
        words = dict.fromkeys(_join_lines(one.words) for one in sorted(claims, key=lambda one: (one.since, one.iri)))
        return " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in [*words][-MOST_READ:])

    def _having(self, stem: str) -> Ids:
        """Return the memories about the anchor that contain a word."""
        having = [found[0] for some in self.postings if (found := some.having(stem))]
        return np.intersect1d(np.concatenate(having), self.about) if having else self.about[:0]

    def _hold(self, ids: Ids, stems: set[str]) -> Ids:
        """
        Return which of some memories hold with some words; of many, the newest. Those that only state that something has ended are
        left out, and those that have a word in an ended claim alone.
        """
        ids = np.intersect1d(ids, self.left)[-MOST_READ:]
        said = {self.indexes.nodes.iri(one): one for one in ids.tolist()}
        kept = [
            said[one.iri]
            for one in self._records(said)
            if words("not_now").isdisjoint(split_words(one.first(MEM.content))) and not stems & self._list_ended(one)
        ]
        return np.array(sorted(kept), dtype=ids.dtype)

    def _list_ended(self, record: Record) -> set[str]:
        """Return the words that stand in ended claims of a memory alone."""
        ended = [one.words for one in self.indexes[Claims].of_memory(record.iri) if one.until <= self.at]
        left = record.first(MEM.content)
        for span in ended:
            left = left.replace(span, " ")
        return {stem for span in ended for stem in tokens(span)} - {*tokens(left)}

    def _records(self, iris: Iterable[IRI]) -> list[Record]:
        wanted = list(iris)
        return self.indexes.read(wanted, self.scope.memory_graphs) if wanted else []


def _sort_in(parts: _Parts, row: Row, believed_at: datetime | None) -> None:
    match row["part"]:
        case "memory":
            parts.own = row
        case "about":
            parts.about.append(row)
        case "note":
            parts.note = row
        case "merged":
            parts.merged.append(row)
        case "against":
            if believed_at is None:  # it is what contradicts the memory now
                parts.against.append(row)
        case "ended":
            if believed_at is None or row.get("at", believed_at) <= believed_at:
                parts.ended.append(row)
        case _ if believed_at is None or row["at"] <= believed_at:
            parts.replaced.append(row)


def _build_memory(rank: int, one: Scored[IRI], parts: _Parts, user: IRI, believed_at: datetime | None) -> Recalled:
    note = parts.note
    merged = dict.fromkeys(row["merged"] for row in parts.merged)
    return Recalled(
        rank=rank,
        iri=one.item,
        content=str(parts.own["content"]),
        score=round(min(max(one.score, 0.0), 1.0), 6),
        source=one.source,
        valid_at=_time_of(parts.own, "validAt"),
        invalid_at=_end_of(parts.own, believed_at),
        about=tuple(_name_of(row, user) for row in parts.about),
        about_iris=tuple(row["node"] for row in parts.about),
        note=_to_note(note) if note else None,
        invalidates=_list_replaced(one.item, parts.replaced, depth=2),
        count=1 + len(merged),
        notes=tuple(map(_to_note, [*([note] if note else []), *parts.merged])) if merged else (),
        merged=tuple(merged),
        ended=tuple(
            Ended(
                words=str(row["content"]),
                at=row["invalidAt"],
                by=row.get("invalidator"),
                reason=str(row.get("reason", "")),
                iri=row["node"],
            )
            for row in sorted(parts.ended, key=lambda row: (row["invalidAt"], str(row["node"])))
        ),
        contradicts=tuple(
            Contradiction(
                iri=row["node"],
                content=_join_lines(str(row["content"])),
                confidence=row.get("confidence", 1.0),
            )
            for row in parts.against
        ),
    )


def _to_note(row: Row) -> NoteRef:
    return NoteRef(
        iri=row["node"],
        content=str(row["content"]),
        at=row["at"],
        said_by=_join_lines(str(row.get("name", ""))),
        parent=row.get("parent"),
        piece=row.get("piece"),
        pieces=row.get("pieces"),
    )


def _list_replaced(memory: IRI, rows: Sequence[Row], depth: int) -> tuple[Retired, ...]:
    """Return what a memory replaced, and what that had replaced, up to `depth` steps back; the newest first."""
    if depth == 0:
        return ()
    mine = [row for row in rows if row["invalidator"] == memory and row["node"] != memory]
    found = [
        Retired(
            iri=row["node"],
            content=_join_lines(str(row["content"])),
            reason=str(row["reason"]),
            valid_at=_time_of(row, "validAt"),
            invalid_at=_time_of(row, "invalidAt"),
            invalidated_at=_time_of(row, "at"),
            invalidates=_list_replaced(row["node"], rows, depth - 1),
        )
        for row in mine
    ]
    return tuple(sorted(found, key=lambda one: (one.valid_at is not None, one.valid_at), reverse=True))


def _list_entities(rows: Sequence[Row], user: IRI) -> tuple[RecalledEntity, ...]:
    counts = Counter(row["node"] for row in rows)
    first = {row["node"]: row for row in reversed(rows)}
    found = [
        RecalledEntity(
            iri=iri,
            name=_name_of(row, user),
            kind="User" if iri == user else str(row.get("kind", "")).rsplit("/", 1)[-1],
            description=str(row.get("description", "")),
            is_well_known=bool(row.get("isWellKnown", False)),
            is_user=iri == user,
            memory_count=counts[iri],
        )
        for iri, row in first.items()
    ]
    return tuple(sorted(found, key=lambda one: (not one.is_user, -one.memory_count, one.name)))


def _name_of(row: Row, user: IRI) -> str:
    return str(row.get("name", USER if row["node"] == user else row["node"]))


def _end_of(row: Row, believed_at: datetime | None) -> datetime | None:
    """Return when a memory stopped being true, unless Memento learned of it only after `believed_at`."""
    learned = _time_of(row, "retiredAt")
    known = believed_at is None or learned is None or learned <= believed_at
    return _time_of(row, "invalidAt") if known else None


def _time_of(row: Row, name: str) -> datetime | None:
    value = row.get(name)
    return value if isinstance(value, datetime) else None


def _join_lines(content: str) -> str:
    return " ".join(line.strip() for line in content.splitlines() if line.strip())
