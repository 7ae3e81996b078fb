"""
The map of a namespace, drawn from the indexes: memories and what they are about, as places, regions and crossings.

The user is left off the map: nearly everything is about them, so that they would join what has nothing to do with each other.
Two anchors that one memory is about are linked, the more such memories the heavier; without these links no triangle could be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.iris import IRI, MEM
from memento.manifest.structure import Community, Structure, structure
from memento.manifest.text import written
from memento.model import Crossing, Layout, Manifest, Place, Region, Scope
from memento.rank import laws
from memento.rank.walks import Csr
from memento.search.nodes import Ids
from memento.strength import energy

WEEK_DAYS = 7.0
_MOST_ANCHORS = 8  # of a memory that are linked with each other: a list of names is no web
_SHOWN = 5
_PORTION = 4096
"""Memories that are looked at before others get their turn at the indexes."""


@dataclass(frozen=True, slots=True)
class World:
    """What is on the map: `nodes` (n,) by id, the first `memories` of them memories, their links, and the numbers of each."""

    nodes: Ids
    memories: int
    csr: Csr
    energy: NDArray[np.float64]
    importance: NDArray[np.float64]
    season: NDArray[np.int8]
    touched: NDArray[np.bool_]
    last: tuple[str, int]
    """What happened last, in a word, and to which node."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What the indexes say of `memories` (m,): arcs to anchors, associations, and numbers (m,); ids are below `size`."""

    memories: Ids
    size: int
    arcs: tuple[Ids, Ids]
    associated: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]
    created: NDArray[np.float64]
    read_at: NDArray[np.float64]
    judged_at: NDArray[np.float64]
    energies: NDArray[np.float64]
    importances: NDArray[np.float64]
    accesses: NDArray[np.float64]


def drawn(scope: Scope, at: datetime, parts: Backends) -> Manifest:
    """
    The map of what is current in the namespace's graphs.

    Holds the lock of the indexes only while it reads them, a portion at a time, never while it computes.
    """
    with parts.indexes.lock:
        found = _read(scope, at, parts)
    world = _world(found, _keyed(found.memories, parts), at)
    return _told(world, structure(world.csr, world.energy, world.importance, world.touched), scope, at, parts)


def _read(scope: Scope, at: datetime, parts: Backends) -> _Read:
    indexes = parts.indexes
    visible = indexes.nodes.current(scope.memory_graphs, now=at)
    memories = np.flatnonzero(visible).astype(np.int32)
    source, target = indexes.adjacency.arcs(memories)
    user = indexes.nodes.find(scope.user)
    if user is not None:
        source, target = source[target != user], target[target != user]
    arcs = indexes.associations.among(visible)
    weights = np.zeros(len(arcs.source))
    for graph, of in indexes.nodes.by_graph(arcs.source):
        weights[of] = laws.decay_associations(arcs.weight[of], arcs.at[of], indexes.fadings.of(graph))
    return _Read(
        memories=memories,
        size=indexes.nodes.size,
        arcs=(source, target),
        associated=(arcs.source, arcs.target, weights),
        created=indexes.nodes.created(memories) / 1000.0,
        read_at=indexes.numbers.column(MEM.lastAccessedAt, memories),
        judged_at=indexes.numbers.column(MEM.energyAt, memories),
        energies=energy.energies(memories, parts),
        importances=energy.importances(memories, parts),
        accesses=np.nan_to_num(indexes.numbers.column(MEM.accessCount, memories)),
    )


def _keyed(memories: Ids, parts: Backends) -> list[tuple[int, int, float]]:
    """The links of some memories to keys, as (memory, key, weight)."""
    found: list[tuple[int, int, float]] = []
    for begin in range(0, len(memories), _PORTION):
        with parts.indexes.lock:
            found += parts.indexes.keys.every(memories[begin : begin + _PORTION])
    return found


def _world(found: _Read, keyed: list[tuple[int, int, float]], at: datetime) -> World:
    source, target = found.arcs
    # A key that was made since the rest was read has no place.
    links = np.array([(key, memory, weight) for memory, key, weight in keyed if key < found.size]).reshape(-1, 3)
    keys, held = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
    memories = found.memories
    anchors = np.unique(np.concatenate([target, keys])).astype(np.int32)
    nodes = np.concatenate([memories, anchors])
    place = np.zeros(found.size, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    beside, besides = _together(source, target)
    csr = Csr.of(
        len(nodes),
        place[np.concatenate([source, beside[0], keys, found.associated[0]])],
        place[np.concatenate([target, beside[1], held, found.associated[1]])],
        np.concatenate([np.ones(len(source)), besides, links[:, 2], found.associated[2]]),
    )
    used, changed = np.fmax(found.created, found.read_at), np.fmax(found.created, found.judged_at)
    days = [(at.timestamp() - since) / 86_400 for since in (found.created, used, changed)]
    season = laws.find_seasons(days[0], days[1], days[2], found.energies, found.accesses.astype(np.int64))
    none = np.zeros(len(anchors))
    return World(
        nodes=nodes,
        memories=len(memories),
        csr=csr,
        energy=np.concatenate([found.energies, none]),
        importance=np.concatenate([found.importances, none]),
        season=np.concatenate([season, np.full(len(anchors), -1, dtype=np.int8)]),
        touched=np.concatenate([np.minimum(days[1], days[2]) < WEEK_DAYS, np.zeros(len(anchors), dtype=np.bool_)]),
        last=_last({"feedback": found.judged_at, "used": found.read_at, "told": found.created}),
    )


def _together(source: Ids, target: Ids) -> tuple[tuple[Ids, Ids], NDArray[np.float64]]:
    """The pairs of anchors that memories are about together, and how many are."""
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    pairs = []
    for apart in range(1, _MOST_ANCHORS):
        same = source[apart:] == source[:-apart]
        pairs.append(np.sort(np.stack([target[apart:][same], target[:-apart][same]], axis=1), axis=1))
    found, counts = np.unique(np.concatenate(pairs), axis=0, return_counts=True)
    kept = found[:, 0] != found[:, 1]
    return (found[kept, 0], found[kept, 1]), counts[kept].astype(np.float64)


def _last(times: dict[str, NDArray[np.float64]]) -> tuple[str, int]:
    """What happened last and to which memory, of those at the same time the latest made; times are (n,), none is not a number."""
    count = len(times["told"])
    if not count:
        return "", 0
    found = np.nan_to_num(np.stack(list(times.values())), nan=-np.inf)[:, ::-1]
    place, node = divmod(int(np.argmax(found)), count)
    return list(times)[place], count - 1 - node


def _told(world: World, found: Structure, scope: Scope, at: datetime, parts: Backends) -> Manifest:
    """The structure with names and texts, of those places alone that are shown."""
    shown: list[int] = [node for node, _ in found.keys[:_SHOWN]]
    seasons = {name: _of_season(world, found, code) for code, name in enumerate(laws.Season) if name != "other"}
    shown += [node for some in seasons.values() for node in some]
    shown += [int(node) for one in found.communities for node in one.nodes[: 2 * _SHOWN]]
    shown += [node for bridge in found.bridges for node in bridge.nodes]
    recent = _recent(world)
    texts = _texts(dict.fromkeys([*shown, *recent]), world, scope, parts)
    memories = world.memories

    def place(node: int, score: float) -> Place:
        iri, text = texts.get(node, (IRI(""), ""))
        return Place(iri=iri, text=text, score=round(score, 6))

    most = float(found.rank.max()) if len(found.rank) else 1.0

    def places(nodes: Sequence[int]) -> tuple[Place, ...]:
        return tuple(place(node, float(found.rank[node]) / most) for node in nodes if node in texts)

    topology = found.topology
    manifest = Manifest(
        namespace=scope.namespace,
        at=at,
        energy=round(min(100.0, 100 * float(world.energy[:memories].mean())), 3) if memories else 0.0,
        layout=Layout(
            memories=memories,
            anchors=len(world.nodes) - memories,
            links=topology.links,
            average_degree=round(topology.average_degree, 6),
            density=round(topology.density, 9),
            clustering=round(topology.clustering, 6),
            modularity=round(topology.modularity, 6),
            largest=round(topology.largest, 6),
        ),
        regions=tuple(_region(one, world, places(one.nodes[: 2 * _SHOWN].tolist())) for one in found.communities),
        seasons={name: places(some) for name, some in seasons.items()},
        keys=tuple(place(node, score) for node, score in found.keys[:_SHOWN] if node in texts),
        crossings=tuple(
            Crossing(
                ends=(place(bridge.nodes[0], 0.0), place(bridge.nodes[1], 0.0)),
                regions=tuple(one if one < len(found.communities) else -1 for one in bridge.communities),  # type: ignore[arg-type]
                weight=round(bridge.weight, 6),
            )
            for bridge in found.bridges
            if set(bridge.nodes) <= texts.keys()
        ),
        recent=f"{world.last[0]}: {texts[recent[0]][1]}" if recent and recent[0] in texts else "",
    )
    return replace(manifest, text=written(manifest))


def _region(one: Community, world: World, places: tuple[Place, ...]) -> Region:
    names = [place.text for place in places if not place.iri.startswith("urn:memento:memory:")]
    label = "/".join(names[:2]) or (places[0].text if places else "")
    memories = one.nodes[one.nodes < world.memories]  # nobody touches an anchor by itself
    return Region(
        label=label,
        size=len(memories),
        keywords=tuple(names[2:]),
        importance=round(one.importance, 6),
        volatility=round(float(world.touched[memories].mean()), 6) if len(memories) else 0.0,
        places=places[:_SHOWN],
    )


def _of_season(world: World, found: Structure, code: int) -> list[int]:
    """Some memories of a season, those with the most energy first, then the highest ranked."""
    nodes = np.flatnonzero(world.season[: world.memories] == code)
    order = np.lexsort((nodes, -found.rank[nodes], -world.energy[nodes]))
    return [int(node) for node in nodes[order[:3]]]


def _recent(world: World) -> list[int]:
    """The memory that something happened to last."""
    return [world.last[1]] if world.memories else []


def _texts(
    shown: Sequence[int] | dict[int, None], world: World, scope: Scope, parts: Backends
) -> dict[int, tuple[IRI, str]]:
    """The IRI and the text or name of some places; one that went in the meantime has none."""
    indexes, found = parts.indexes, {}
    with indexes.lock:
        iris: dict[int, IRI] = {}
        for node in shown:
            try:
                iris[node] = indexes.nodes.iri(int(world.nodes[node]))
            except KeyError:
                continue
        found = {node: (iri, indexes.name(iri)) for node, iri in iris.items() if node >= world.memories}
    memories = {iri: node for node, iri in iris.items() if node < world.memories}
    if memories:
        for row in parts.graph.select("library/listed", scope.readable, memory=list(memories)):
            found[memories[IRI(str(row["memory"]))]] = (IRI(str(row["memory"])), str(row["content"]))
    return found
