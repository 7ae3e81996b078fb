"""
Walk from a key to its memories, and from a memory to its keys: `read_key`, `read_memory` and `related` of the walk.

*Guarantees:* nothing is written here. The changes that a full read makes to a memory and to the traversed link are returned as
effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.graph.mapping import node_or_none as noun
from memento.graph.mapping import statements
from memento.graph.store import Row, Store
from memento.iris import IRI, MEM, TYPE, namespace_of, session_iri
from memento.model import Change, Effect, Key, Memory, Read, Scope, Strength, Traversed, Value
from memento.plugins.keys.match import compute_specificity, read_texts
from memento.plugins.keys.nouns import (
    Band,
    KeyOf,
    KeyPage,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    ReachedMemory,
    Related,
    RelatedMemory,
    TurnRow,
)
from memento.plugins.keys.view import KeyEntry, KeyView
from memento.ports import Vectors
from memento.strength import Reinforcement

Statements = Mapping[IRI, Sequence[Value]]

MOST_RELATED = 20
_EXPLICIT = 1.0  # the score of a manual link; a shared key scores its rarity
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The requested part of a key's memories, and the question that ranks them, if any, as vectors (w, d)."""

    limit: int
    offset: int
    query: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Traversal:
    """
    The context of a walk: the reader's keys, the uses of memories, the graph, and the current time. Use it under `indexes.lock`.
    """

    view: KeyView
    strengths: Reinforcement
    graph: Store
    readable: Sequence[IRI]
    now: datetime

    def created_at(self, node: int) -> datetime:
        """Return when a memory was written."""
        ms = int(self.view.indexes.nodes.creation_times(np.array([node]))[0])
        return datetime.fromtimestamp(ms / 1000, tz=self.now.tzinfo)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """A memory as shown: its statements, its successors, and whether reading it counts."""

    memory: Memory
    graph: IRI
    said: Statements
    successor: IRI | None
    is_traced: bool


def list_page(entry: KeyEntry, page: PageRequest, traversal: Traversal, aliases: Sequence[str], hub: int) -> KeyPage:
    """Return the memories that a key leads to, best first; ties by the newest."""
    view, nodes = traversal.view, traversal.view.indexes.nodes
    reached, weights = view.weigh_memories(entry)
    there = view.visible[reached]
    reached, weights = reached[there], weights[there]
    depths = traversal.strengths.depths(reached)
    scores = _score(reached, weights, depths, page.query, traversal)
    order = np.lexsort((-nodes.creation_times(reached), -scores))[page.offset : page.offset + page.limit]
    rows = [
        ReachedMemory(
            memory=nodes.iri(int(reached[place])),
            score=round(float(scores[place]), 6),
            weight=round(float(weights[place]), 6),
            depth=round(float(depths[place]), 6),
            band=cast(Band, rank.depth_band(float(depths[place]))),
            created_at=traversal.created_at(int(reached[place])),
            namespace=namespace_of(nodes.graph(int(reached[place]))),
        )
        for place in order.tolist()
    ]
    following = page.offset + len(rows)
    return KeyPage(
        key=entry.iri,
        name=entry.name,
        type=entry.type,
        memories=tuple(rows),
        total=len(reached),
        is_hub=len(reached) >= hub,
        specificity=compute_specificity(len(reached)),
        aliases=tuple(aliases),
        denotes=entry.denotes,
        next_offset=following if following < len(reached) else None,
    )


def open_memory(
    iri: str, via: str | None, traversal: Traversal, *, past: bool, traced: bool = True
) -> tuple[OpenedMemory, list[Effect]]:
    """
    Return a memory in full, with the keys that lead on from it and the effects of reading it.

    Args:
        via: the key that led to it.
        past: also allow a memory that was superseded or has ended; such a read has no effects, nor does one that is not `traced`.

    Raises:
        NotFound: the reader has no such memory, or it was forgotten.
        InputError: it was superseded (the message names its successor), or the key does not lead to it.
    """
    memory, graph, node, said = find_memory(iri, traversal)
    is_shown = bool(traversal.view.visible[node])
    successor = _find_successor(memory, traversal)
    if not is_shown and not past:
        if successor:
            latest = _find_latest(successor, traversal)
            raise InputError(f"<{iri}> was superseded by <{latest}>: read that one, or this one with past=true")
        raise NotFound(f"<{iri}> is over or forgotten: with past=true it can be read all the same")
    leading = traversal.view.list_entries(node, memory.content, memory.title)
    traversed = None if via is None else _find_traversed(via, node, traversal)
    if traversed:
        same = [one for one in leading if one[0].iri == traversed[0].iri]
        traversed = same[0] if same else traversed
        leading = leading if same else [traversed, *leading]
    effects: list[Effect] = []
    if traced := is_shown and traced:
        effects.append(Read(memory=memory.iri, graph=graph, at=traversal.now))
        if traversed:
            effects.append(record_traversal(traversed[0], memory.iri, graph, traversed[1], traversal))
    shown = MemoryState(memory=memory, graph=graph, said=said, successor=successor, is_traced=traced)
    return _describe_memory(shown, leading, traversed if is_shown else None, traversal), effects


def find_related(iri: str, traversal: Traversal) -> Related:
    """Return the neighbours of a memory: by shared keys, scored by rarity, and by manual links; best first, at most 20."""
    memory, _, node, _ = find_memory(iri, traversal)
    scores: dict[int, float] = {}
    shared: dict[int, list[str]] = {}
    for entry, _ in traversal.view.list_entries(node, memory.content, memory.title):
        reached, _ = traversal.view.weigh_memories(entry)
        rarity = traversal.view.rarity(entry, len(reached))
        for other in reached[traversal.view.visible[reached]].tolist():
            if other != node:
                scores[other] = scores.get(other, 0.0) + rarity
                shared.setdefault(other, []).append(entry.name)
    neighbours = list_neighbours([memory.iri], traversal.graph, traversal.readable)
    explicit = set()
    for other_iri in neighbours.get((memory.iri, MEM.relatedTo), ()):
        other_node = traversal.view.indexes.nodes.find(other_iri)
        if other_node is not None and traversal.view.visible[other_node] and other_node != node:
            explicit.add(other_node)
            scores[other_node] = scores.get(other_node, 0.0) + _EXPLICIT
    best = sorted(scores, key=lambda one: (-scores[one], one))[:MOST_RELATED]
    texts = read_texts(best, traversal.view, traversal.graph)
    rows = [
        RelatedMemory(
            memory=traversal.view.indexes.nodes.iri(one),
            content=texts[one][0],
            score=round(scores[one], 6),
            link="explicit" if one not in shared else "both" if one in explicit else "key",
            shared=tuple(shared.get(one, ())),
        )
        for one in best
        if one in texts
    ]
    return Related(
        memory=memory.iri, memories=tuple(rows), contradicts=tuple(neighbours.get((memory.iri, MEM.contradicts), ()))
    )


def find_memory(iri: str, traversal: Traversal) -> tuple[Memory, IRI, int, Statements]:
    """Return a memory of the readable graphs, its graph, its id, and all of its statements; raise `NotFound`."""
    node = traversal.view.indexes.nodes.find(IRI(iri))
    if node is None or not traversal.view.is_inside(node):
        raise NotFound(f"there is no memory <{iri[:200]}> here: `read_key` shows those that a key leads to")
    graph = traversal.view.indexes.nodes.graph(node)
    rows = traversal.graph.select("search/statements", [graph], node=IRI(iri))
    said = statements((IRI(iri), row["predicate"], row["value"], graph) for row in rows).get(IRI(iri), {})
    if MEM.Memory not in said.get(TYPE, ()):
        raise NotFound(f"there is no memory <{iri[:200]}> here: `read_key` shows those that a key leads to")
    memory = noun(Memory, IRI(iri), said)
    if memory is None:
        raise NotFound(f"the memory <{iri}> cannot be read: `check` tells how it is mended")
    return memory, graph, node, said


def record_traversal(entry: KeyEntry, memory: IRI, graph: IRI, weight: float, traversal: Traversal) -> Traversed:
    """Return the effect of reaching a memory over a key; a key that is not written yet will be put into its entity's graph."""
    key = Key(iri=entry.iri, name=entry.name, type=entry.type, created_at=traversal.now, denotes=entry.denotes)
    own = graph if entry.node is None else traversal.view.indexes.nodes.graph(entry.node)
    return Traversed(key=key, key_graph=own, memory=memory, graph=graph, at=traversal.now, weight=weight)


def age_in_days(nodes: NDArray[np.integer], traversal: Traversal) -> NDArray[np.float64]:
    """Return (n,) the age of some memories in days, 0 or more."""
    ms = traversal.now.timestamp() * 1000 - traversal.view.indexes.nodes.creation_times(nodes)
    return np.asarray(np.maximum(ms, 0.0) / _DAY_MS)


def list_neighbours(memories: Sequence[IRI], graph: Store, readable: Sequence[IRI]) -> dict[tuple[IRI, IRI], list[IRI]]:
    """Return what some memories supersede, contradict and are related to, by memory and predicate."""
    found: dict[tuple[IRI, IRI], list[IRI]] = {}
    for row in graph.select("plugins/keys/beside", readable, memory=list(memories)) if memories else []:
        found.setdefault((row["memory"], row["way"]), []).append(row["other"])
    return found


def _score(
    reached: NDArray[np.int32],
    weights: NDArray[np.float64],
    depths: NDArray[np.float64],
    query: Vectors | None,
    traversal: Traversal,
) -> NDArray[np.float64]:
    """Return (n,) relevance · weight · depth factor · time factor; without a question all memories are equally relevant."""
    relevance = np.ones(len(reached))
    if query is not None and len(reached):
        relevance = traversal.view.indexes.vectors["memory"].cosines(reached, query).astype(np.float64)
    fading = rank.time_factor(age_in_days(reached, traversal), depths)
    return np.asarray(relevance * weights * rank.depth_factor(depths) * fading)


def _find_traversed(via: str, node: int, traversal: Traversal) -> tuple[KeyEntry, float]:
    entry = traversal.view.find_entry(via)
    weight = traversal.view.weight_of(entry, node) if entry else None
    if entry is None or weight is None:
        raise InputError(f"the key <{via[:200]}> does not lead to this memory: give one of those that it has, or none")
    return entry, weight


def _describe_memory(
    shown: MemoryState,
    leading: Sequence[tuple[KeyEntry, float]],
    traversed: tuple[KeyEntry, float] | None,
    traversal: Traversal,
) -> OpenedMemory:
    memory, strength = shown.memory, traversal.strengths.read_numbers(shown.memory.iri)
    if shown.is_traced:
        strength = Strength(
            depth=rank.deepen(strength.depth), access_count=strength.access_count + 1, last_accessed_at=traversal.now
        )
    rows = traversal.graph.select("plugins/keys/linked", traversal.view.graphs, memory=memory.iri)
    related_to = dict.fromkeys([*memory.related_to, *(row["other"] for row in rows)])
    keys = [_describe_key(entry, weight, traversed, traversal, traced=shown.is_traced) for entry, weight in leading]
    return OpenedMemory(
        memory=memory.iri,
        content=memory.content,
        namespace=namespace_of(shown.graph),
        created_at=memory.created_at,
        valid_at=memory.valid_at,
        depth=round(strength.depth, 9),
        band=cast(Band, rank.depth_band(round(strength.depth, 9))),
        access_count=strength.access_count,
        keys=tuple(sorted(keys, key=lambda one: (-one.weight, one.memory_count, one.name))),
        note=memory.extracted_from,
        source=_read_source(memory.extracted_from, shown.graph, traversal.graph),
        last_accessed_at=strength.last_accessed_at,
        invalid_at=memory.invalid_at,
        expires_at=memory.expires_at,
        supersedes=next((cast(IRI, one) for one in shown.said.get(MEM.supersedes, ())), None),
        superseded_by=shown.successor,
        related_to=tuple(related_to),
        contradicts=tuple(cast(IRI, one) for one in shown.said.get(MEM.contradicts, ())),
    )


def _describe_key(
    entry: KeyEntry, weight: float, traversed: tuple[KeyEntry, float] | None, traversal: Traversal, *, traced: bool
) -> KeyOf:
    is_traversed = traversed is not None and traversed[0].iri == entry.iri
    return KeyOf(
        key=entry.iri,
        name=entry.name,
        type=entry.type,
        weight=round(rank.reinforce_link(weight) if is_traversed and traced else weight, 9),
        memory_count=len(traversal.view.list_visible(entry)),
        is_traversed=is_traversed,
    )


def _read_source(note: IRI, graph: IRI, store: Store) -> str | None:
    rows = store.select("search/statements", [graph], node=note)
    return next((str(row["value"]) for row in rows if row["predicate"] == MEM.source), None)


def _find_successor(memory: Memory, traversal: Traversal) -> IRI | None:
    if memory.invalid_at is None:
        return None
    rows = traversal.graph.select("plugins/keys/successor", traversal.view.graphs, memory=memory.iri)
    return cast(IRI, rows[0]["successor"]) if rows else None


def _find_latest(successor: IRI, traversal: Traversal) -> IRI:
    """Return the latest version of a memory: the last in the chain of its successors."""
    seen = {successor}
    while rows := traversal.graph.select("plugins/keys/successor", traversal.view.graphs, memory=successor):
        following = cast(IRI, rows[0]["successor"])
        if following in seen:
            break
        seen.add(successor := following)
    return successor


_AROUND = 2  # turns on either side of the requested one


def read_conversation(session: str, turn: int | None, scope: Scope, graph: Store) -> tuple[TurnRow, ...]:
    """Return the turns of a session in order, or those around one of them; none when there is no such session."""
    sessions = [session_iri(name, session) for name in scope.memory_graphs]
    rows = graph.select("plugins/keys/conversation", scope.readable, session=sessions)
    turns = {row["note"]: _read_turn(row) for row in rows}
    return tuple(one for one in turns.values() if turn is None or abs(one.turn - turn) <= _AROUND)


def list_memory_rows(iris: Sequence[IRI], traversal: Traversal) -> tuple[MemoryRow, ...]:
    """Return some memories with their keys."""
    view, indexes = traversal.view, traversal.view.indexes
    rows = traversal.graph.select("plugins/keys/listed", traversal.readable, memory=iris) if iris else []
    by_iri = {row["memory"]: row for row in rows}
    neighbours = list_neighbours(iris, traversal.graph, traversal.readable)
    found = []
    for iri in iris:
        node, row = indexes.nodes.find(iri), by_iri.get(iri)
        if node is None or row is None:
            continue
        strength = traversal.strengths.read_numbers(iri)
        given = {*indexes.keys.links(node), *indexes.adjacency.about(node)}
        found.append(
            MemoryRow(
                memory=iri,
                content=str(row["content"]),
                namespace=namespace_of(str(row["graph"])),
                created_at=row["createdAt"],
                depth=round(strength.depth, 9),
                access_count=strength.access_count,
                keys=tuple(sorted(view.entry_of(key).name for key in given)),
                supersedes=row.get("supersedes"),
                expires_at=row.get("expiresAt"),
                related_to=tuple(neighbours.get((iri, MEM.relatedTo), ())),
            )
        )
    return tuple(found)


def expire_overdue(scope: Scope, now: datetime, graph: Store) -> tuple[Change, int]:
    """Return the change that expires the memories of the namespace whose time is over, and their number; history keeps them."""
    rows = graph.select("plugins/keys/overdue", [scope.graph], now=now)
    ends = tuple((row["memory"], MEM.expiredAt, row["expiresAt"], scope.graph) for row in rows)
    return Change(ends), len(ends)


def count_memories(scope: Scope, now: datetime, parts: Backends, bytes_on_disk: int) -> MemoryStats:
    """Return counts over the readable graphs."""
    rows, indexes = parts.graph.select("plugins/keys/counted", scope.memory_graphs), parts.indexes
    counts = {str(row["what"]): int(str(row["count"])) for row in rows}
    if indexes.has_whole(scope.memory_graphs):
        with indexes.lock:
            ms = indexes.nodes.creation_times(np.flatnonzero(indexes.nodes.current(scope.memory_graphs, now=now)))
        ends = [("oldest", ms.min()), ("newest", ms.max())] if len(ms) else []
        dated = {name: datetime.fromtimestamp(int(at) / 1000, tz=now.tzinfo) for name, at in ends}
        span: Row = {"count": len(ms), **dated}
    else:
        [span] = parts.graph.select("plugins/keys/spanned", scope.memory_graphs, now=now)
    of = {name: counts.pop(MEM[name], 0) for name in ("Key", "Entity", "Memory", "KeyLink", "Note", "Session")}
    turns = counts.get(MEM.Turn, 0)
    ways = {what: count for what, count in counts.items() if ":" not in what}
    return MemoryStats(
        namespace=scope.namespace,
        keys=of["Key"],
        entities=of["Entity"],
        memories=int(str(span["count"])),
        links=of["KeyLink"],
        total=of["Memory"],
        notes=of["Note"],
        sessions=of["Session"],
        mean_per_session=round(turns / of["Session"], 2) if of["Session"] else 0.0,
        bytes_on_disk=bytes_on_disk,
        by_source={what: count for what, count in ways.items() if not what.startswith("#")},
        by_tag={what[1:]: count for what, count in ways.items() if what.startswith("#")},
        oldest=cast("datetime | None", span.get("oldest")),
        newest=cast("datetime | None", span.get("newest")),
    )


def _read_turn(row: Row) -> TurnRow:
    return TurnRow(
        turn=row["position"],
        role=str(row.get("speaker", "user")),
        content=str(row["content"]),
        at=row["at"],
        note=row["note"],
    )
