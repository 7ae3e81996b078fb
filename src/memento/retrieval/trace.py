"""TRACE: the chosen memories with their dates, what they are about, the note they came from and what they replaced."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from memento.graph.store import Row, Store
from memento.iris import IRI
from memento.model import NoteRef, Recalled, RecalledEntity, Retired, Scope, Scored

USER = "USER"


@dataclass(slots=True)
class _Parts:
    """The rows of one memory, by part."""

    own: Row = field(default_factory=dict)
    about: list[Row] = field(default_factory=list)
    note: Row | None = None
    replaced: list[Row] = field(default_factory=list)


def trace(
    chosen: Sequence[Scored[IRI]], graph: Store, scope: Scope, believed_at: datetime | None
) -> tuple[tuple[Recalled, ...], tuple[RecalledEntity, ...]]:
    """
    Return the memories in the order they were chosen, and every entity they are about: the user first, then the most mentioned.

    Args:
        believed_at: what Memento learned later is left out.
    """
    if not chosen:
        return (), ()
    parts: dict[IRI, _Parts] = defaultdict(_Parts)
    for row in graph.select("retrieval/trace", scope.readable, memory=[one.item for one in chosen]):
        _sort_in(parts[cast(IRI, row["memory"])], row, believed_at)
    memories = tuple(
        _build_memory(rank, one, parts[one.item], scope.user, believed_at)
        for rank, one in enumerate(chosen, start=1)
        if parts[one.item].own
    )
    return memories, _list_entities([row for one in memories for row in parts[one.iri].about], scope.user)


def _sort_in(parts: _Parts, row: Row, believed_at: datetime | None) -> None:
    match row["part"]:
        case "memory":
            parts.own = row
        case "about":
            parts.about.append(row)
        case "note":
            parts.note = row
        case _ if believed_at is None or cast(datetime, row["at"]) <= believed_at:
            parts.replaced.append(row)


def _build_memory(rank: int, one: Scored[IRI], parts: _Parts, user: IRI, believed_at: datetime | None) -> Recalled:
    note = parts.note
    return Recalled(
        rank=rank,
        iri=one.item,
        content=_join_lines(str(parts.own["content"])),
        score=round(min(max(one.score, 0.0), 1.0), 6),
        source=one.source,
        valid_at=_time_of(parts.own, "validAt"),
        invalid_at=_end_of(parts.own, believed_at),
        about=tuple(_name_of(row, user) for row in parts.about),
        about_iris=tuple(cast(IRI, row["node"]) for row in parts.about),
        note=NoteRef(iri=cast(IRI, note["node"]), content=str(note["content"]), at=cast(datetime, note["at"]))
        if note
        else None,
        invalidates=_list_replaced(one.item, parts.replaced, depth=2),
    )


def _list_replaced(memory: IRI, rows: Sequence[Row], depth: int) -> tuple[Retired, ...]:
    """Return what a memory replaced, and what that had replaced, `depth` steps back; the newest first."""
    if depth == 0:
        return ()
    mine = [row for row in rows if row["invalidator"] == memory and row["node"] != memory]
    found = [
        Retired(
            iri=cast(IRI, row["node"]),
            content=_join_lines(str(row["content"])),
            reason=str(row["reason"]),
            valid_at=_time_of(row, "validAt"),
            invalid_at=_time_of(row, "invalidAt"),
            invalidated_at=_time_of(row, "at"),
            invalidates=_list_replaced(cast(IRI, row["node"]), rows, depth - 1),
        )
        for row in mine
    ]
    return tuple(sorted(found, key=lambda one: (one.valid_at is not None, one.valid_at), reverse=True))


def _list_entities(rows: Sequence[Row], user: IRI) -> tuple[RecalledEntity, ...]:
    counts = Counter(cast(IRI, row["node"]) for row in rows)
    first = {cast(IRI, row["node"]): row for row in reversed(rows)}
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
    """Return when a memory stopped being true, unless Memento learned of it only later."""
    learned = _time_of(row, "retiredAt")
    known = believed_at is None or learned is None or learned <= believed_at
    return _time_of(row, "invalidAt") if known else None


def _time_of(row: Row, name: str) -> datetime | None:
    value = row.get(name)
    return value if isinstance(value, datetime) else None


def _join_lines(content: str) -> str:
    return " ".join(line.strip() for line in content.splitlines() if line.strip())
