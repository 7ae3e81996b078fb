"""What there is under keys: conversations, listings, counts, and what is over."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from memento.graph.store import Row, Store
from memento.iris import IRI, MEM, namespace_of, session_iri
from memento.keys.walk import Way, beside_of
from memento.model import Change, MemoryRow, MemoryStats, Scope, TurnRow

_AROUND = 2  # turns on either side of the one that is asked for


def conversation(session: str, turn: int | None, scope: Scope, graph: Store) -> tuple[TurnRow, ...]:
    """The turns of a session in their order, or those around one of them; none when there is no such session."""
    sessions = [session_iri(name, session) for name in scope.memory_graphs]
    rows = graph.select("keys/conversation", scope.readable, session=sessions)
    turns = {cast(IRI, row["note"]): _turn(row) for row in rows}
    return tuple(one for one in turns.values() if turn is None or abs(one.turn - turn) <= _AROUND)


def memories(limit: int, offset: int, way: Way) -> tuple[MemoryRow, ...]:
    """A page of the memories that hold, newest first, with their keys."""
    leads, indexes = way.leads, way.leads.indexes
    nodes = indexes.nodes.newest(leads.visible)[offset : offset + limit].tolist()
    iris = [indexes.nodes.iri(node) for node in nodes]
    rows = way.graph.select("keys/listed", way.readable, memory=iris) if iris else []
    by_iri = {cast(IRI, row["memory"]): row for row in rows}
    beside = beside_of(iris, way.graph, way.readable)
    found = []
    for node, iri in zip(nodes, iris, strict=True):
        if (row := by_iri.get(iri)) is None:
            continue
        strength = way.used.strength(iri)
        given = {*indexes.keys.links(node), *indexes.adjacency.about(node)}
        found.append(
            MemoryRow(
                memory=iri,
                content=str(row["content"]),
                namespace=namespace_of(str(row["graph"])),
                created_at=cast(datetime, row["createdAt"]),
                depth=round(strength.depth, 9),
                access_count=strength.access_count,
                keys=tuple(sorted(leads.of(key).name for key in given)),
                supersedes=cast("IRI | None", row.get("supersedes")),
                expires_at=cast("datetime | None", row.get("expiresAt")),
                related_to=tuple(beside.get((iri, MEM.relatedTo), ())),
            )
        )
    return tuple(found)


def overdue(scope: Scope, now: datetime, graph: Store) -> tuple[Change, int]:
    """What lets go of the memories of the namespace whose time is over, and how many they are; history keeps them."""
    rows = graph.select("keys/overdue", [scope.graph], now=now)
    ends = tuple((cast(IRI, row["memory"]), MEM.expiredAt, row["expiresAt"], scope.graph) for row in rows)
    return Change(ends), len(ends)


def stats(scope: Scope, way: Way, bytes_on_disk: int) -> MemoryStats:
    """Counts over the readable graphs."""
    rows = way.graph.select("keys/counted", scope.memory_graphs)
    counts = {str(row["what"]): int(str(row["count"])) for row in rows}
    nodes = way.leads.indexes.nodes
    newest = nodes.newest(way.leads.visible)
    first, last = (way.created(int(newest[at])) if newest.size else None for at in (-1, 0))
    of = {name: counts.pop(MEM[name], 0) for name in ("Key", "Entity", "Memory", "KeyLink", "Note", "Session")}
    turns = counts.get(MEM.Turn, 0)
    ways = {what: count for what, count in counts.items() if ":" not in what}
    return MemoryStats(
        namespace=scope.namespace,
        keys=of["Key"],
        entities=of["Entity"],
        memories=len(newest),
        links=of["KeyLink"],
        total=of["Memory"],
        notes=of["Note"],
        sessions=of["Session"],
        mean_per_session=round(turns / of["Session"], 2) if of["Session"] else 0.0,
        bytes_on_disk=bytes_on_disk,
        by_source={what: count for what, count in ways.items() if not what.startswith("#")},
        by_tag={what[1:]: count for what, count in ways.items() if what.startswith("#")},
        oldest=first,
        newest=last,
    )


def _turn(row: Row) -> TurnRow:
    return TurnRow(
        turn=cast(int, row["position"]),
        role=str(row.get("speaker", "user")),
        content=str(row["content"]),
        at=cast(datetime, row["at"]),
        note=cast(IRI, row["note"]),
    )
