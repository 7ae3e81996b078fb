"""The memories as a collection: one described, many listed, some forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.instants import iso
from memento.model import Change, Described, Forgotten, Listed, Quad, Scope, Value
from memento.ports import Row
from memento.vocabulary import IRI, MEM, TYPE, namespace_of


def described(iri: str, scope: Scope, parts: Backends) -> Described:
    """Everything that the readable graphs say of an IRI; raises `NotFound` when that is nothing."""
    rows = parts.graph.select("library/described", scope.readable, node=_named(iri))
    own = [row for row in rows if "subject" not in row]
    if not own:
        raise NotFound(f"nothing is known of <{iri}> in the namespace {scope.namespace!r}")
    types = [str(row["value"]) for row in own if row["predicate"] == TYPE]
    return Described(
        iri=IRI(iri),
        type=types[0].rsplit("/", 1)[-1] if types else "",
        namespace=namespace_of(str(own[0]["graph"])),
        properties=tuple((str(row["predicate"]), _shown(row["value"])) for row in own),
        pointed_at_by=tuple((str(row["subject"]), str(row["predicate"])) for row in rows if "subject" in row),
    )


def listed(scope: Scope, limit: int, offset: int, past: bool, now: datetime, parts: Backends) -> list[Listed]:
    """A page of the memories of the readable graphs, the latest written first; with `past` also those that are over."""
    indexes = parts.indexes
    with indexes.lock:
        nodes = indexes.nodes
        mask = nodes.within(scope.memory_graphs, "memory") if past else nodes.current(scope.memory_graphs, now=now)
        iris = [nodes.iri(node) for node in nodes.newest(mask)[offset : offset + limit].tolist()]
    if not iris:
        return []
    rows = {row["memory"]: row for row in parts.graph.select("library/listed", scope.readable, memory=iris)}
    return [_listed(rows[iri]) for iri in iris if iri in rows]


def forget(iri: str, scope: Scope, erase: bool, now: datetime, parts: Backends) -> Forgotten:
    """
    Let a memory, or all memories of a note, be believed no more from `now` on; with `erase` delete their text as well.

    Raises:
        NotFound: the namespace's own graph has no memory or note with that IRI.
    """
    rows = parts.graph.select("library/memories_of", [scope.graph], node=_named(iri))
    if not rows:
        raise NotFound(f"there is no memory or note <{iri}> in the namespace {scope.namespace!r}")
    memories = tuple(dict.fromkeys(cast(IRI, row["memory"]) for row in rows))
    if erase:
        return _erased(memories, rows, scope, parts)
    live = [cast(IRI, row["memory"]) for row in rows if "expiredAt" not in row]
    if live:
        parts.commit(Change(tuple((memory, MEM.expiredAt, now, scope.graph) for memory in live)), scope)
    return Forgotten(memories=memories)


def _erased(memories: Sequence[IRI], rows: Sequence[Row], scope: Scope, parts: Backends) -> Forgotten:
    notes = []
    for note in dict.fromkeys(cast(IRI, row["note"]) for row in rows):
        derived = parts.graph.select("library/memories_of", [scope.graph], node=note)
        if {row["memory"] for row in derived} <= set(memories):
            notes.append(note)
    texts = [parts.indexes.text(one) for one in parts.indexes.read(memories, [scope.graph])]
    found = parts.graph.select("library/traces", [scope.graph], node=[*memories, *notes])
    parts.erase(Change(removes=tuple(dict.fromkeys(_quad(row) for row in found))), scope, texts)
    return Forgotten(memories=tuple(memories), notes=tuple(notes), erased=True)


def _quad(row: Row) -> Quad:
    return (cast(IRI, row["subject"]), cast(IRI, row["predicate"]), row["value"], cast(IRI, row["graph"]))


def _named(iri: str) -> IRI:
    if not iri.strip() or any(c in iri for c in ' <>"{}|\\^`\n\r\t') or ":" not in iri:
        raise InputError(f"{iri[:80]!r} is no IRI: give one such as urn:memento:memory:0192d5a0-…")
    return IRI(iri)


def _listed(row: Row) -> Listed:
    return Listed(
        iri=cast(IRI, row["memory"]),
        content=str(row["content"]),
        note=cast(IRI, row["note"]),
        valid_at=cast(datetime, row["validAt"]),
        created_at=cast(datetime, row["createdAt"]),
        invalid_at=cast("datetime | None", row.get("invalidAt")),
        expired_at=cast("datetime | None", row.get("expiredAt")),
    )


def _shown(value: Value) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)
