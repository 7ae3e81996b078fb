"""
From a key to its memories, from a memory to its keys: `read_key`, `read_memory` and `related` of the walk.

*Guarantees:* nothing is written here. What a full read does to a memory and to the link that was trodden is handed back as effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento import dynamics
from memento.errors import InputError, NotFound
from memento.graph.mapping import node_or_none as noun
from memento.graph.mapping import statements
from memento.keys.leads import Lead, Leads
from memento.keys.match import specificity, texts_of
from memento.model import (
    Band,
    Effect,
    Key,
    KeyOf,
    KeyPage,
    Memory,
    OpenedMemory,
    ReachedMemory,
    Read,
    Related,
    RelatedMemory,
    Strength,
    Trodden,
    Value,
)
from memento.ports import Graph, Vectors
from memento.reinforcement import Reinforcement
from memento.vocabulary import IRI, MEM, TYPE, namespace_of

Said = Mapping[IRI, Sequence[Value]]

MOST_RELATED = 20
_EXPLICIT = 1.0  # what a link that was drawn by hand counts, beside the rarity of each shared key
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of a key's memories is wanted, and the question that ranks them, if any, as vectors (w, d)."""

    limit: int
    offset: int
    asked: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """What a walk stands on: the reader's leads, what is used, the graph, and the present. Use it under `indexes.lock`."""

    leads: Leads
    used: Reinforcement
    graph: Graph
    readable: Sequence[IRI]
    now: datetime

    def created(self, node: int) -> datetime:
        """When a memory was written."""
        ms = int(self.leads.indexes.nodes.created(np.array([node]))[0])
        return datetime.fromtimestamp(ms / 1000, tz=self.now.tzinfo)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A memory as it is shown: what the graph says of it, what took its place, and whether reading it counts."""

    memory: Memory
    graph: IRI
    said: Said
    successor: IRI | None
    is_traced: bool


def page(lead: Lead, wanted: Page, way: Way, called: Sequence[str], hub: int) -> KeyPage:
    """Where a key leads, best first; of equal ones the newest."""
    leads, nodes = way.leads, way.leads.indexes.nodes
    reached, weights = leads.memories(lead)
    there = leads.visible[reached]
    reached, weights = reached[there], weights[there]
    depths = way.used.depths(reached)
    scores = _scores(reached, weights, depths, wanted.asked, way)
    order = np.lexsort((-nodes.created(reached), -scores))[wanted.offset : wanted.offset + wanted.limit]
    rows = [
        ReachedMemory(
            memory=nodes.iri(int(reached[place])),
            score=round(float(scores[place]), 6),
            weight=round(float(weights[place]), 6),
            depth=round(float(depths[place]), 6),
            band=cast(Band, dynamics.band(float(depths[place]))),
            created_at=way.created(int(reached[place])),
            namespace=namespace_of(nodes.graph(int(reached[place]))),
        )
        for place in order.tolist()
    ]
    following = wanted.offset + len(rows)
    return KeyPage(
        key=lead.iri,
        name=lead.name,
        type=lead.type,
        memories=tuple(rows),
        total=len(reached),
        is_hub=len(reached) >= hub,
        specificity=specificity(len(reached)),
        aliases=tuple(called),
        denotes=lead.denotes,
        next_offset=following if following < len(reached) else None,
    )


def opened(
    iri: str, via: str | None, way: Way, *, past: bool, traced: bool = True
) -> tuple[OpenedMemory, list[Effect]]:
    """
    A memory in full, with the keys that lead on, and what reading it does.

    Args:
        via: the key that led there.
        past: also what was superseded or is over; it is read without a trace, as all is that is not `traced`.

    Raises:
        NotFound: the reader has no such memory, or it is forgotten.
        InputError: it was superseded: names the one that took its place; or the key does not lead there.
    """
    memory, graph, node, said = found(iri, way)
    is_shown = bool(way.leads.visible[node])
    successor = _successor(memory, way)
    if not is_shown and not past:
        if successor:
            raise InputError(f"<{iri}> was superseded by <{successor}>: read that one, or this one with past=true")
        raise NotFound(f"<{iri}> is over or forgotten: with past=true it can be read all the same")
    leading = way.leads.leads_of(node, memory.content, memory.title)
    trodden = None if via is None else _trodden(via, node, way)
    if trodden:
        same = [one for one in leading if one[0].iri == trodden[0].iri]
        trodden = same[0] if same else trodden
        leading = leading if same else [trodden, *leading]
    effects: list[Effect] = []
    if traced := is_shown and traced:
        effects.append(Read(memory=memory.iri, graph=graph, at=way.now))
        if trodden:
            effects.append(step(trodden[0], memory.iri, graph, trodden[1], way))
    shown = Shown(memory=memory, graph=graph, said=said, successor=successor, is_traced=traced)
    return _opened(shown, leading, trodden if is_shown else None, way), effects


def related(iri: str, way: Way) -> Related:
    """The neighbours of a memory: by shared keys, each counting its rarity, and by hand; best first, 20 at most."""
    memory, _, node, _ = found(iri, way)
    scores: dict[int, float] = {}
    shared: dict[int, list[str]] = {}
    for lead, _ in way.leads.leads_of(node, memory.content, memory.title):
        reached, _ = way.leads.memories(lead)
        rarity = way.leads.rarity(lead, len(reached))
        for other in reached[way.leads.visible[reached]].tolist():
            if other != node:
                scores[other] = scores.get(other, 0.0) + rarity
                shared.setdefault(other, []).append(lead.name)
    beside = beside_of([memory.iri], way.graph, way.readable)
    explicit = set()
    for other_iri in beside.get((memory.iri, MEM.relatedTo), ()):
        other_node = way.leads.indexes.nodes.find(other_iri)
        if other_node is not None and way.leads.visible[other_node] and other_node != node:
            explicit.add(other_node)
            scores[other_node] = scores.get(other_node, 0.0) + _EXPLICIT
    best = sorted(scores, key=lambda one: (-scores[one], one))[:MOST_RELATED]
    texts = texts_of(best, way.leads, way.graph)
    rows = [
        RelatedMemory(
            memory=way.leads.indexes.nodes.iri(one),
            content=texts[one][0],
            score=round(scores[one], 6),
            link="explicit" if one not in shared else "both" if one in explicit else "key",
            shared=tuple(shared.get(one, ())),
        )
        for one in best
        if one in texts
    ]
    return Related(
        memory=memory.iri, memories=tuple(rows), contradicts=tuple(beside.get((memory.iri, MEM.contradicts), ()))
    )


def found(iri: str, way: Way) -> tuple[Memory, IRI, int, Said]:
    """A memory of the readable graphs, its graph, its id, and all that the graph says of it; raises `NotFound`."""
    node = way.leads.indexes.nodes.find(IRI(iri))
    if node is None or not way.leads.is_inside(node):
        raise NotFound(f"there is no memory <{iri[:200]}> here: `read_key` shows those that a key leads to")
    graph = way.leads.indexes.nodes.graph(node)
    rows = way.graph.select("search/statements", [graph], node=IRI(iri))
    said = statements((IRI(iri), cast(IRI, row["predicate"]), row["value"], graph) for row in rows).get(IRI(iri), {})
    if MEM.Memory not in said.get(TYPE, ()):
        raise NotFound(f"there is no memory <{iri[:200]}> here: `read_key` shows those that a key leads to")
    memory = noun(Memory, IRI(iri), said)
    if memory is None:
        raise NotFound(f"the memory <{iri}> cannot be read: `check` tells how it is mended")
    return memory, graph, node, said


def step(lead: Lead, memory: IRI, graph: IRI, weight: float, way: Way) -> Trodden:
    """That somebody came to a memory over a key; the key, where none is written yet, lies where its entity does."""
    key = Key(iri=lead.iri, name=lead.name, type=lead.type, created_at=way.now, denotes=lead.denotes)
    own = graph if lead.node is None else way.leads.indexes.nodes.graph(lead.node)
    return Trodden(key=key, key_graph=own, memory=memory, graph=graph, at=way.now, weight=weight)


def age_days(nodes: NDArray[np.integer], way: Way) -> NDArray[np.float64]:
    """(n,) days since some memories were written, 0 or more."""
    ms = way.now.timestamp() * 1000 - way.leads.indexes.nodes.created(nodes)
    return np.asarray(np.maximum(ms, 0.0) / _DAY_MS)


def beside_of(memories: Sequence[IRI], graph: Graph, readable: Sequence[IRI]) -> dict[tuple[IRI, IRI], list[IRI]]:
    """What some memories supersede, contradict and are related to: by memory and predicate."""
    found: dict[tuple[IRI, IRI], list[IRI]] = {}
    for row in graph.select("keys/beside", readable, memory=list(memories)) if memories else []:
        found.setdefault((cast(IRI, row["memory"]), cast(IRI, row["way"])), []).append(cast(IRI, row["other"]))
    return found


def _scores(
    reached: NDArray[np.int32],
    weights: NDArray[np.float64],
    depths: NDArray[np.float64],
    asked: Vectors | None,
    way: Way,
) -> NDArray[np.float64]:
    """(n,) relevance · weight · depth factor · time factor; without a question every memory is as relevant."""
    relevance = np.ones(len(reached))
    if asked is not None and len(reached):
        relevance = way.leads.indexes.vectors["memory"].cosines(reached, asked).astype(np.float64)
    fading = dynamics.time_factor(age_days(reached, way), depths)
    return np.asarray(relevance * weights * dynamics.depth_factor(depths) * fading)


def _trodden(via: str, node: int, way: Way) -> tuple[Lead, float]:
    lead = way.leads.lead(via)
    weight = way.leads.weight(lead, node) if lead else None
    if lead is None or weight is None:
        raise InputError(f"the key <{via[:200]}> does not lead to this memory: give one of those that it has, or none")
    return lead, weight


def _opened(
    shown: Shown, leading: Sequence[tuple[Lead, float]], trodden: tuple[Lead, float] | None, way: Way
) -> OpenedMemory:
    memory, strength = shown.memory, way.used.strength(shown.memory.iri)
    if shown.is_traced:
        strength = Strength(
            depth=dynamics.read(strength.depth), access_count=strength.access_count + 1, last_accessed_at=way.now
        )
    rows = way.graph.select("keys/linked", way.leads.graphs, memory=memory.iri)
    related_to = dict.fromkeys([*memory.related_to, *(cast(IRI, row["other"]) for row in rows)])
    keys = [_key(lead, weight, trodden, way, traced=shown.is_traced) for lead, weight in leading]
    return OpenedMemory(
        memory=memory.iri,
        content=memory.content,
        namespace=namespace_of(shown.graph),
        created_at=memory.created_at,
        valid_at=memory.valid_at,
        depth=round(strength.depth, 9),
        band=cast(Band, dynamics.band(round(strength.depth, 9))),
        access_count=strength.access_count,
        keys=tuple(sorted(keys, key=lambda one: (-one.weight, one.memory_count, one.name))),
        note=memory.extracted_from,
        last_accessed_at=strength.last_accessed_at,
        invalid_at=memory.invalid_at,
        expires_at=memory.expires_at,
        supersedes=next((cast(IRI, one) for one in shown.said.get(MEM.supersedes, ())), None),
        superseded_by=shown.successor,
        related_to=tuple(related_to),
        contradicts=tuple(cast(IRI, one) for one in shown.said.get(MEM.contradicts, ())),
    )


def _key(lead: Lead, weight: float, trodden: tuple[Lead, float] | None, way: Way, *, traced: bool) -> KeyOf:
    is_traversed = trodden is not None and trodden[0].iri == lead.iri
    return KeyOf(
        key=lead.iri,
        name=lead.name,
        type=lead.type,
        weight=round(dynamics.trodden(weight) if is_traversed and traced else weight, 9),
        memory_count=len(way.leads.shown(lead)),
        is_traversed=is_traversed,
    )


def _successor(memory: Memory, way: Way) -> IRI | None:
    if memory.invalid_at is None:
        return None
    rows = way.graph.select("keys/successor", way.leads.graphs, memory=memory.iri)
    return cast(IRI, rows[0]["successor"]) if rows else None
