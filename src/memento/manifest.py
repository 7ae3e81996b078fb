"""
Draw the map of a namespace from the indexes, as places, regions and crossings; write it as 500 tokens for a model, and cache it.

*Flow:* `analyse_graph` finds which parts of a graph belong together and which nodes are central, from numbers only; the same graph
always gives the same structure. `draw_manifest` adds names and texts, and `Maps` caches the result.

The user is not on the map: nearly everything is about them, so they would connect things that have nothing to do with each other.
Two anchors of the same memory are linked, with more weight the more such memories there are; without these links there is no
triangle.

*Guarantees:* one map is drawn at a time. A cached map older than half a minute is still returned, but it is drawn again in the
background if something was written; so it is after many changes. Forgetting drops all cached maps.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.backends import Backends
from memento.errors import MementoError
from memento.iris import IRI, MEM
from memento.model import Crossing, Layout, Manifest, Place, Region, Scope
from memento.rank import Csr
from memento.search.nodes import Ids
from memento.settings import ManifestSettings
from memento.strength import energies, importances
from memento.text.sentences import shorten_line
from memento.time import now
from memento.worker import Worker

Sparse: TypeAlias = Any  # scipy.sparse.csr_matrix, which has no types

Numbers = NDArray[np.float64]
Nodes = NDArray[np.int64]

SEED = 0
MOST_BRIDGES = 10
MOST_COMMUNITIES = 50
MOST_KEYS = 20
_MANY = 100_000  # number of nodes above which ranks may be half a percent off: nobody sees it, and it takes a third of the time


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Nodes with more links among each other than by chance; `nodes` are the highest ranked first."""

    nodes: Nodes
    importance: float
    """The sum of the ranks of its nodes, 0..1."""
    volatility: float
    """The share of its nodes that were touched recently, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """A link between two communities, given by their numbers in the list."""

    nodes: tuple[int, int]
    communities: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """
    Figures of the graph. `density`, `clustering` (mean over nodes with at least two neighbours) and `largest` (share of the largest
    component) are in 0..1, `modularity` is in −½..1.
    """

    nodes: int
    links: int
    average_degree: float
    density: float
    clustering: float
    modularity: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """
    The result: `rank` (n,) sums to 1; `community` (n,) is the number of a node's community, the largest community first.
    `communities` lists the first fifty with more than one node.
    """

    rank: Numbers
    community: NDArray[np.int32]
    communities: tuple[Community, ...]
    bridges: tuple[Bridge, ...]
    keys: tuple[tuple[int, float], ...]
    """The key nodes and their scores in 0..1, the highest first."""
    topology: Topology


def analyse_graph(csr: Csr, energy: Numbers, importance: Numbers, touched: NDArray[np.bool_]) -> Structure:
    """
    Find the ranks, communities and key nodes of a graph.

    Args:
        csr: the links, without loops.
        energy, importance: (n,) 0..1.
        touched: (n,) created, used or changed within a week.

    Sources: Blondel et al. 2008, J. Stat. Mech. (communities, resolution 1); Page et al. 1999 (ranks, damping .85);
    Watts and Strogatz 1998, Nature 393 (clustering).
    """
    n = len(csr)
    if not n:
        return _NOTHING
    adjacency = _to_matrix(csr)
    rank = _page_ranks(adjacency)
    community, modularity = _detect_communities(adjacency)
    return Structure(
        rank=rank,
        community=community,
        communities=_list_communities(community, rank, touched),
        bridges=_find_bridges(csr, community),
        keys=_rank_keys(rank, energy, importance),
        topology=_measure_topology(adjacency, modularity),
    )


_NOTHING = Structure(
    rank=np.zeros(0),
    community=np.zeros(0, dtype=np.int32),
    communities=(),
    bridges=(),
    keys=(),
    topology=Topology(nodes=0, links=0, average_degree=0.0, density=0.0, clustering=0.0, modularity=0.0, largest=0.0),
)


def _to_matrix(csr: Csr) -> Sparse:
    from scipy.sparse import csr_matrix

    weights = np.ones(len(csr.indices)) if csr.weights is None else csr.weights.astype(np.float64)
    return csr_matrix((weights, csr.indices, csr.indptr), shape=(len(csr), len(csr)))


def _page_ranks(adjacency: Sparse) -> Numbers:
    from sknetwork.ranking import PageRank

    n = adjacency.shape[0]
    if not adjacency.nnz:
        return np.full(n, 1 / n)
    ranking = PageRank(damping_factor=0.85, n_iter=100 if n <= _MANY else 30, tol=1e-9)
    ranks = np.asarray(ranking.fit_predict(adjacency), dtype=np.float64)
    # A node without links is reached and left only by random jumps.
    alone = np.diff(adjacency.indptr) == 0
    each = 0.15 / (n - 0.85 * alone.sum())
    return np.asarray(np.where(alone, each, ranks * (1 - each * alone.sum()) / ranks[~alone].sum()))


def _detect_communities(adjacency: Sparse) -> tuple[NDArray[np.int32], float]:
    """Return (n,) the community of each node, the largest first, and the modularity."""
    from sknetwork.clustering import Louvain, get_modularity

    if not adjacency.nnz:
        return np.arange(adjacency.shape[0], dtype=np.int32), 0.0
    # Soft membership and the graph between clusters are not needed and would take most of the time.
    louvain = Louvain(resolution=1.0, random_state=SEED, return_probs=False, return_aggregate=False)
    labels = np.asarray(louvain.fit_predict(adjacency), dtype=np.int32)
    return labels, float(get_modularity(adjacency, labels))


def _list_communities(community: NDArray[np.int32], rank: Numbers, touched: NDArray[np.bool_]) -> tuple[Community, ...]:
    sizes = np.bincount(community)
    by_rank = np.lexsort((-rank, community))
    ends = np.cumsum(sizes)
    ranks = np.bincount(community, weights=rank)
    lately = np.bincount(community, weights=touched.astype(np.float64)) / sizes
    return tuple(
        Community(
            nodes=by_rank[ends[place] - sizes[place] : ends[place]],
            importance=float(ranks[place]),
            volatility=float(lately[place]),
        )
        for place in range(min(len(sizes), MOST_COMMUNITIES))
        if sizes[place] > 1
    )


def _find_bridges(csr: Csr, community: NDArray[np.int32]) -> tuple[Bridge, ...]:
    rows = np.repeat(np.arange(len(csr)), np.diff(csr.indptr))
    across = np.flatnonzero((community[rows] != community[csr.indices]) & (rows < csr.indices))
    weights = np.ones(len(across)) if csr.weights is None else csr.weights[across].astype(np.float64)
    return tuple(
        Bridge(
            nodes=(int(rows[at]), int(csr.indices[at])),
            communities=(int(community[rows[at]]), int(community[csr.indices[at]])),
            weight=float(weights[place]),
        )
        for place, at in ((place, across[place]) for place in np.argsort(-weights, kind="stable")[:MOST_BRIDGES])
    )


def _rank_keys(rank: Numbers, energy: Numbers, importance: Numbers) -> tuple[tuple[int, float], ...]:
    """
    Choose the key nodes among the highest ranked, by rank (as a share of the highest, else it would not count), energy and
    importance.
    """
    highest = np.argsort(-rank, kind="stable")[:MOST_KEYS]
    scores = 0.4 * rank[highest] / rank.max() + 0.3 * energy[highest] + 0.3 * importance[highest]
    order = np.argsort(-scores, kind="stable")
    return tuple((int(highest[place]), float(scores[place])) for place in order)


def _measure_topology(adjacency: Sparse, modularity: float) -> Topology:
    from scipy.sparse.csgraph import connected_components

    n, links = adjacency.shape[0], adjacency.nnz // 2
    _, component = connected_components(adjacency, directed=False)
    return Topology(
        nodes=n,
        links=links,
        average_degree=2 * links / n,
        density=2 * links / (n * (n - 1)) if n > 1 else 0.0,
        clustering=_measure_clustering(adjacency),
        modularity=modularity,
        largest=float(np.bincount(component).max() / n),
    )


def _measure_clustering(adjacency: Sparse) -> float:
    """
    Return the mean, over the nodes with at least two neighbours, of the share of pairs of neighbours that are linked.

    Links point from the node with fewer links to the one with more, so that no row is long: each triangle is then found once.
    """
    from scipy.sparse import csr_matrix

    degree = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(len(degree)), degree)
    columns = adjacency.indices
    upward = (degree[rows] < degree[columns]) | ((degree[rows] == degree[columns]) & (rows < columns))
    ones = np.ones(int(upward.sum()), dtype=np.int32)
    directed = csr_matrix((ones, (rows[upward], columns[upward])), shape=adjacency.shape)
    over = (directed @ directed).multiply(directed)  # by the lowest and the highest corner
    beside = (directed.T @ directed).multiply(directed)  # by the middle and the highest corner
    triangles = np.asarray(over.sum(axis=0)).ravel() + np.asarray(over.sum(axis=1)).ravel()
    triangles = triangles + np.asarray(beside.sum(axis=1)).ravel()
    pairs = degree * (degree - 1) / 2
    several = pairs > 0
    return float(np.mean(triangles[several] / pairs[several])) if several.any() else 0.0


WEEK_DAYS = 7.0
_MOST_ANCHORS = 8  # anchors of a memory that are linked with each other: a list of names is not a network
_SHOWN = 5
PORTION = 4096
"""Memories that are read before the lock of the indexes is released for others."""


@dataclass(frozen=True, slots=True)
class World:
    """The content of the map: `nodes` (n,) by id, the first `memories` of which are memories, their links, and their numbers."""

    nodes: Ids
    memories: int
    csr: Csr
    energy: NDArray[np.float64]
    importance: NDArray[np.float64]
    season: NDArray[np.int8]
    touched: NDArray[np.bool_]
    last: tuple[str, int, float]
    """The last event: a word for it, the node, and the time."""


@dataclass(frozen=True, slots=True)
class MapData:
    """The data of `memories` (m,) from the indexes: arcs to anchors, associations, and numbers (m,); ids are below `size`."""

    memories: Ids
    size: int
    arcs: tuple[Ids, Ids]
    associated: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]
    created: NDArray[np.float64]
    read_at: NDArray[np.float64]
    judged_at: NDArray[np.float64]
    """When feedback was last given, NaN without feedback; unknown, so NaN too, if the memory was recalled after it."""
    energies: NDArray[np.float64]
    importances: NDArray[np.float64]
    accesses: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Happening:
    """An operation on the whole memory or on some memories: when, in a word or two, and on which."""

    at: datetime
    what: str
    memories: tuple[IRI, ...] = ()


def draw_manifest(scope: Scope, at: datetime, parts: Backends, happened: Happening | None = None) -> Manifest:
    """
    Draw the map of the current memories in the namespace's graphs.

    Args:
        happened: the last operation that the numbers of memories do not show.

    Holds the lock of the indexes only while it reads them, one batch at a time, never while it computes.
    """
    graphs, indexes = scope.memory_graphs, parts.indexes
    left_out = 0
    if (drawn := indexes.hold_newest(graphs, at, MOST_DRAWN)) is not None:
        left_out = max(indexes.count_current(graphs, at) - len(drawn), 0)
    with indexes.lock:
        data = read_map_data(scope, at, parts, drawn)
    world = build_world(data, read_key_links(data.memories, parts), at)
    structure = analyse_graph(world.csr, world.energy, world.importance, world.touched)
    manifest = replace(_describe_world(world, structure, scope, at, parts), left_out=left_out)
    if happened and world.memories and happened.at.timestamp() >= world.last[2]:
        manifest = replace(manifest, recent=_describe_happening(happened, scope, parts))
    return replace(manifest, text=write_text(manifest))


def _describe_happening(happened: Happening, scope: Scope, parts: Backends) -> str:
    iris = list(happened.memories)
    rows = parts.graph.select("library/listed", scope.readable, memory=iris) if iris else []
    texts = {str(row["memory"]): shorten_line(str(row["content"]), _TEXT) for row in rows}
    named = " → ".join(texts[iri] for iri in iris if iri in texts)
    return f"{happened.what}: {named}" if named else happened.what


def read_map_data(scope: Scope, at: datetime, parts: Backends, only: Sequence[IRI] | None = None) -> MapData:
    """
    Read the data of some memories from the indexes.

    Args:
        only: the memories to draw; None for all that hold.
    """
    indexes = parts.indexes
    visible = indexes.nodes.current(scope.memory_graphs, now=at)
    if only is not None:
        visible = np.zeros_like(visible)
        visible[[node for iri in only if (node := indexes.nodes.find(iri)) is not None]] = True
    memories = np.flatnonzero(visible).astype(np.int32)
    source, target = indexes.adjacency.arcs(memories)
    user = indexes.nodes.find(scope.user)
    if user is not None:
        source, target = source[target != user], target[target != user]
    arcs = indexes.associations.among(visible)
    weights = np.zeros(len(arcs.source))
    for graph, of in indexes.nodes.by_graph(arcs.source):
        weights[of] = rank.decay_associations(arcs.weight[of], arcs.at[of], indexes.fadings.decay_of(graph))
    return MapData(
        memories=memories,
        size=indexes.nodes.size,
        arcs=(source, target),
        associated=(arcs.source, arcs.target, weights),
        created=indexes.nodes.creation_times(memories) / 1000.0,
        read_at=indexes.numbers.column(MEM.lastAccessedAt, memories),
        judged_at=_find_judgements(memories, parts),
        energies=energies(memories, parts),
        importances=importances(memories, parts),
        accesses=np.nan_to_num(indexes.numbers.column(MEM.accessCount, memories)),
    )


def _find_judgements(memories: Ids, parts: Backends) -> NDArray[np.float64]:
    """Return (m,) the times of the last feedback; a recall settles the energy too, so its time alone says nothing."""
    column = parts.indexes.numbers.column
    votes = np.nan_to_num(column(MEM.successCount, memories)) + np.nan_to_num(column(MEM.failureCount, memories))
    at, read_at = column(MEM.energyAt, memories), column(MEM.lastAccessedAt, memories)
    return np.where((votes > 0) & ~(at <= read_at), at, np.nan)


def read_key_links(memories: Ids, parts: Backends) -> list[tuple[int, int, float]]:
    """Read the links of some memories to keys, as (memory, key, weight)."""
    links: list[tuple[int, int, float]] = []
    for begin in range(0, len(memories), PORTION):
        with parts.indexes.lock:
            links += parts.indexes.keys.links_of(memories[begin : begin + PORTION])
    return links


def build_world(data: MapData, keyed: list[tuple[int, int, float]], at: datetime) -> World:
    source, target = data.arcs
    # A key created since the other data was read has no place.
    links = np.array([(key, memory, weight) for memory, key, weight in keyed if key < data.size]).reshape(-1, 3)
    keys, keyed_memories = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
    memories = data.memories
    anchors = np.unique(np.concatenate([target, keys])).astype(np.int32)
    nodes = np.concatenate([memories, anchors])
    place = np.zeros(data.size, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    beside, besides = _link_anchors(source, target)
    csr = Csr.of(
        len(nodes),
        place[np.concatenate([source, beside[0], keys, data.associated[0]])],
        place[np.concatenate([target, beside[1], keyed_memories, data.associated[1]])],
        np.concatenate([np.ones(len(source)), besides, links[:, 2], data.associated[2]]),
    )
    used, changed = np.fmax(data.created, data.read_at), np.fmax(data.created, data.judged_at)
    days = [(at.timestamp() - since) / 86_400 for since in (data.created, used, changed)]
    season = rank.find_seasons(days[0], days[1], days[2], data.energies, data.accesses.astype(np.int64))
    none = np.zeros(len(anchors))
    return World(
        nodes=nodes,
        memories=len(memories),
        csr=csr,
        energy=np.concatenate([data.energies, none]),
        importance=np.concatenate([data.importances, none]),
        season=np.concatenate([season, np.full(len(anchors), -1, dtype=np.int8)]),
        touched=np.concatenate([np.minimum(days[1], days[2]) < WEEK_DAYS, np.zeros(len(anchors), dtype=np.bool_)]),
        last=_find_last_event({"recalled": data.read_at, "told": data.created}),
    )


def _link_anchors(source: Ids, target: Ids) -> tuple[tuple[Ids, Ids], NDArray[np.float64]]:
    """Pair the anchors that occur in the same memory, and count these memories."""
    order = np.argsort(source, kind="stable")
    source, target = source[order], target[order]
    pairs = []
    for apart in range(1, _MOST_ANCHORS):
        same = source[apart:] == source[:-apart]
        pairs.append(np.sort(np.stack([target[apart:][same], target[:-apart][same]], axis=1), axis=1))
    unique_pairs, counts = np.unique(np.concatenate(pairs), axis=0, return_counts=True)
    distinct = unique_pairs[:, 0] != unique_pairs[:, 1]
    return (unique_pairs[distinct, 0], unique_pairs[distinct, 1]), counts[distinct].astype(np.float64)


def _find_last_event(times: dict[str, NDArray[np.float64]]) -> tuple[str, int, float]:
    """
    Find the last event, its memory and its time; of simultaneous events, the one of the newest memory. Times are (n,); NaN means
    none.
    """
    count = len(times["told"])
    if not count:
        return "", 0, 0.0
    latest_first = np.nan_to_num(np.stack(list(times.values())), nan=-np.inf)[:, ::-1]
    place, node = divmod(int(np.argmax(latest_first)), count)
    return list(times)[place], count - 1 - node, float(latest_first[place, node])


def _describe_world(world: World, found: Structure, scope: Scope, at: datetime, parts: Backends) -> Manifest:
    """Describe the structure with names and texts, only for the places that are shown."""
    shown: list[int] = [node for node, _ in found.keys[:_SHOWN]]
    seasons = {name: _choose_of_season(world, found, code) for code, name in enumerate(rank.Season) if name != "other"}
    shown += [node for some in seasons.values() for node in some]
    shown += [int(node) for one in found.communities for node in one.nodes[: 2 * _SHOWN]]
    shown += [node for bridge in found.bridges for node in bridge.nodes]
    recent = _recent(world)
    texts = _load_place_texts(dict.fromkeys([*shown, *recent]), world, scope, parts)
    memories = world.memories

    def place(node: int, score: float) -> Place:
        iri, text = texts.get(node, (IRI(""), ""))
        return Place(iri=iri, text=text, score=round(score, 6))

    most = float(found.rank.max()) if len(found.rank) else 1.0

    def places(nodes: Sequence[int]) -> tuple[Place, ...]:
        return tuple(place(node, float(found.rank[node]) / most) for node in nodes if node in texts)

    topology = found.topology
    return Manifest(
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
        regions=tuple(
            _describe_region(one, world, places(one.nodes[: 2 * _SHOWN].tolist())) for one in found.communities
        ),
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


def _describe_region(one: Community, world: World, places: tuple[Place, ...]) -> Region:
    deeds = [place for place in places if place.iri.startswith("urn:memento:memory:")]
    keys = [place.text for place in places if place.iri.startswith("urn:memento:key:")]
    anchors = [place.text for place in places if place not in deeds and place.text not in keys]
    names = [*anchors, *keys]
    label = "/".join(names[:2]) or (places[0].text if places else "")
    keywords = (*(key for key in keys if key not in names[:2]), *(name for name in anchors if name not in names[:2]))
    shown = places[:_SHOWN]
    if deeds and deeds[0] not in shown:  # a region shows what was done, besides who did it
        shown = (*shown[:-1], deeds[0])
    memories = one.nodes[one.nodes < world.memories]  # an anchor is never touched alone
    return Region(
        label=label,
        size=len(memories),
        keywords=keywords,
        importance=round(one.importance, 6),
        volatility=round(float(world.touched[memories].mean()), 6) if len(memories) else 0.0,
        places=shown,
    )


def _choose_of_season(world: World, found: Structure, code: int) -> list[int]:
    """Choose some memories of a season, by energy, then by rank."""
    nodes = np.flatnonzero(world.season[: world.memories] == code)
    order = np.lexsort((nodes, -found.rank[nodes], -world.energy[nodes]))
    return [int(node) for node in nodes[order[:3]]]


def _recent(world: World) -> list[int]:
    """Return the memory of the last event."""
    return [world.last[1]] if world.memories else []


def _load_place_texts(
    shown: Sequence[int] | dict[int, None], world: World, scope: Scope, parts: Backends
) -> dict[int, tuple[IRI, str]]:
    """Load the IRI and the text or name of some places; one removed meanwhile has none."""
    indexes, texts = parts.indexes, {}
    with indexes.lock:
        iris: dict[int, IRI] = {}
        for node in shown:
            try:
                iris[node] = indexes.nodes.iri(int(world.nodes[node]))
            except KeyError:
                continue
        texts = {node: (iri, indexes.name(iri)) for node, iri in iris.items() if node >= world.memories}
    memories = {iri: node for node, iri in iris.items() if node < world.memories}
    if memories:
        for row in parts.graph.select("library/listed", scope.readable, memory=list(memories)):
            texts[memories[IRI(str(row["memory"]))]] = (
                IRI(str(row["memory"])),
                shorten_line(str(row["content"]), _SAID),
            )
    return texts


MOST_CHARS = 2_000
EMPTY = "Memory: nothing yet. Tell it something to remember."

_SAID = 400  # characters of text that the map shows for a place; its memory has the rest
_TEXT, _NAME = 40, 24
_WIDTHS = (160, 120, 90, 70, 55, _TEXT)
"""Characters of a text, chosen so that there is room for all."""


def write_text(manifest: Manifest) -> str:
    """
    Write the map in at most 2,000 characters; if it does not fit, cut from the end: past seasons, key nodes, communities.

    *Because:* it is part of a tool's description, which a model reads before it calls the tool.
    """
    if not manifest.layout.memories:
        return EMPTY
    whole = (4, 5, 3)
    shapes = [
        *((*whole, width) for width in _WIDTHS),
        *((*few, _TEXT) for few in ((2, 5, 3), (2, 3, 3), (2, 3, 1), (0, 3, 1))),
    ]
    for seasons, keys, regions, width in shapes:
        text = "\n".join(line for line in _text_lines(manifest, seasons, keys, regions, width) if line)
        if len(text) <= MOST_CHARS:
            return text
    return text[: MOST_CHARS - 1] + "…"


def _text_lines(manifest: Manifest, seasons: int, keys: int, regions: int, width: int) -> tuple[str, ...]:
    older = f" (the latest; {manifest.left_out:,} older ones are not on this map)" if manifest.left_out else ""
    layout = manifest.layout
    return (
        f"Memory: {layout.memories:,} items{older}, {layout.links:,} edges ({layout.average_degree:.1f} avg degree), "
        f"energy {manifest.energy:.0f}/100",
        _regions_line(manifest, regions, width),
        _seasons_line(manifest, seasons, width),
        _keys_line(manifest.keys[:keys], width),
        _topology_line(manifest),
        f"Recent: {shorten_line(manifest.recent, 2 * width)}" if manifest.recent else "",
    )


def _regions_line(manifest: Manifest, most: int, width: int) -> str:
    labels = []
    for region in manifest.regions[:most]:
        tags = f" (tags: {'/'.join(region.keywords[:2])})" if region.keywords else ""
        deed = next((one.text for one in region.places if one.iri.startswith("urn:memento:memory:")), "")
        said = f', as "{shorten_line(deed, width)}"' if deed and not deed.startswith(region.label) else ""
        labels.append(f"[{shorten_line(region.label, 2 * _NAME)}{tags}: {region.size:,} items{said}]")
    return f"Communities: {', '.join(labels)}" if labels else ""


def _seasons_line(manifest: Manifest, most: int, width: int) -> str:
    parts = [
        f"{name.capitalize()}: {', '.join(shorten_line(one.text, width) for one in some[:3])}"
        for name, some in list(manifest.seasons.items())[:most]
        if some
    ]
    return " | ".join(parts)


def _keys_line(keys: Sequence[Place], width: int) -> str:
    labels = [f'"{shorten_line(one.text, width)}" ({one.score:.2f})' for one in keys]
    return f"Key nodes: {', '.join(labels)}" if labels else ""


def _topology_line(manifest: Manifest) -> str:
    layout = manifest.layout
    bridge = ""
    if manifest.crossings:
        first = manifest.crossings[0]
        ends = "↔".join(shorten_line(one.text, _NAME) for one in first.ends)
        bridge = f", bridge: {ends} ({first.weight:.2f})"
    return (
        f"Topology: {name_density(layout.density)} density ({layout.density:.2f}), "
        f"{name_clustering(layout.clustering)} clustering ({layout.clustering:.2f}){bridge}"
    )


def name_density(value: float) -> str:
    """
    Name the range of a density.

    >>> name_density(0.09), name_density(0.1), name_density(0.3)
    ('sparse', 'medium', 'dense')
    """
    return "sparse" if value < 0.1 else "medium" if value < 0.3 else "dense"


def name_clustering(value: float) -> str:
    """
    Name the range of a clustering coefficient.

    >>> name_clustering(0.19), name_clustering(0.2), name_clustering(0.6)
    ('low', 'medium', 'high')
    """
    return "low" if value < 0.2 else "medium" if value < 0.6 else "high"


logger = logging.getLogger(__name__)

MOST_DRAWN = 2_000
"""Number of memories, the latest, on the map of a namespace that is not loaded into the indexes as a whole."""
MOST_MAPS = 64
"""Maximum number of cached maps, one for each scope."""


@dataclass(frozen=True, slots=True)
class _CachedMap:
    manifest: Manifest
    writes: int
    at: datetime


class Maps:
    """The maps of one memory, by what their readers may see. Many threads may use it."""

    def __init__(self, parts: Backends, knobs: ManifestSettings) -> None:
        self._parts, self._knobs = parts, knobs
        self._kept: dict[Scope, _CachedMap] = {}
        self._wanted: dict[Scope, None] = {}
        self._updates: dict[IRI, int] = {}
        self._happened: dict[IRI, Happening] = {}
        self._forgettings = 0
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._worker = Worker(self._work, "manifest")
        self.redrawn: list[Callable[[], None]] = []
        """Called on another thread when a map was redrawn in the background."""
        parts.forget_listeners.append(self.drop_maps)

    def get(self, scope: Scope) -> Manifest:
        """Return the cached map, or draw it now if there is none."""
        return self.peek(scope) or self.draw(scope)

    def peek(self, scope: Scope, *, want: bool = False) -> Manifest | None:
        """
        Return the cached map without waiting; None if there is none.

        Args:
            want: draw it in the background if there is none.
        """
        with self._lock:
            cached = self._kept.get(scope)
        if cached is None:
            if want:
                self._want([scope])
            return None
        is_old = (now() - cached.at).total_seconds() >= self._knobs.cache_s
        if is_old and cached.writes != self._parts.graph.writes:
            self._want([scope])
        return cached.manifest

    def draw(self, scope: Scope) -> Manifest:
        """Draw the map now; if another one is being drawn, wait for it first."""
        with self._drawing:
            writes, forgettings = self._parts.graph.writes, self._forgettings
            with self._lock:
                happened = self._happened.get(scope.graph)
            manifest = self._parts.run(
                lambda: draw_manifest(scope, now(), self._parts, happened),
                is_read=True,
                graphs=lambda: scope.memory_graphs,
            )
            with self._lock:
                if forgettings == self._forgettings:
                    self._kept.pop(scope, None)
                    self._kept[scope] = _CachedMap(manifest, writes, now())
                    while len(self._kept) > MOST_MAPS:
                        del self._kept[next(iter(self._kept))]
        return manifest

    def count_write(self, scope: Scope) -> None:
        """Count a write to the scope's graph; after enough writes its maps are redrawn."""
        with self._lock:
            showing = [one for one in self._kept if scope.graph in one.readable]
            if not showing:
                return
            count = self._updates[scope.graph] = self._updates.get(scope.graph, 0) + 1
            if count < self._knobs.updates:
                return
            self._updates[scope.graph] = 0
        self._want(showing)

    def record(self, scope: Scope, what: str, *memories: IRI) -> None:
        """Record the last operation in the scope's graph, if the numbers of memories do not show it."""
        with self._lock:
            self._happened[scope.graph] = Happening(now(), what, memories)

    def drop_maps(self, is_ours: bool = True) -> None:
        """Drop all cached maps: they may contain names that were forgotten."""
        with self._lock:
            self._forgettings += 1
            self._kept.clear()

    def close(self, wait_s: float) -> None:
        """Stop drawing."""
        self._worker.stop(wait_s)

    def _want(self, scopes: list[Scope]) -> None:
        with self._lock:
            self._wanted |= dict.fromkeys(scopes)
        self._worker.wake()

    def _work(self) -> float | None:
        while not self._worker.stopping.is_set():
            with self._lock:
                if not self._wanted:
                    return None
                scope = next(iter(self._wanted))
                del self._wanted[scope]
            try:
                self.draw(scope)
            except MementoError as error:
                logger.warning("manifest.failed", extra={"error": type(error).__name__})
                continue
            for notify in self.redrawn:
                notify()
        return None
