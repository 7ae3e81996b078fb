"""
EXPAND: go from the best memories to what they mention, to memories that cover what they leave open, and as far as a walk reaches.

*Flow:* `signals` has the functions. Here are the laws by which a walk ranks, and the small graph that `ppr` walks over: the bounded
neighbourhood of some memories, however large the whole memory is.

    memories ── mem:about, mem:mentions ── anchors ── memories ── …
        └── successions, neighbouring turns, associations ── memories

*Guarantees:* every edge is in the graph as it is now. Two anchors with the same name are one node, whoever described them. The
walk passes through the user, whom most memories are about, only if it starts there.

*But:* the graph reaches only two memories far. Anchors that more than 3 % of the memories mention are not followed; of the others,
the rarest come first, up to `MOST` mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.iris import MEM, user_of
from memento.model import Anchor
from memento.rank import Csr, push, rarity
from memento.retrieval.question import Question
from memento.retrieval.signals import Evidence, Law, Seeds, Signal, measure_signals, spread
from memento.search.arrays import distinct
from memento.search.indexes import View
from memento.search.links import COMMON, Joined
from memento.search.nodes import Ids
from memento.settings import ExpandSettings

MOST = 6_000
"""Maximum number of mentions that are followed."""
FEW = 12
"""Number of memories that may mention an anchor, however small the scope."""

Places = NDArray[np.int64]
Edges = tuple[Ids, Ids, NDArray[np.float64]]

_DAY_S = 86_400.0


def expand(question: Question, evidence: Evidence, settings: ExpandSettings, law: Law | None) -> Evidence:
    """
    Add what the best memories and the anchors lead to.

    Args:
        law: how a walk ranks, for the signal `walk`; None leaves the walk out.
    """
    assert evidence.seeds is not None
    found = {"steps": evidence.steps} if question.asking else {}
    sources = {
        **question.list_sources(),
        **found,
        "seeds": evidence.seeds,
        "anchors": evidence.anchors,
        "walking": settings,
    }
    return evidence.with_signals(measure_signals("expand", sources | ({"law": law} if law else {})), question.view)


def rank_by_pagerank(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """
    Return the personalised PageRank of the memories: a random walk with restarts along `mem:about` and `mem:mentions`,
    successions, neighbouring turns and associations.

    It starts at the anchors by their weights and at the seeds by the squares of their scores, and prefers rare neighbours. Retired
    memories are part of the walk but get no rank.

    Source: Gutiérrez, Shu, Gu, Yasunaga and Su 2025, "From RAG to Memory" (HippoRAG 2): entities and passages in the restart.
    """
    known = view.indexes.links.anchors
    numbers = {known.number(one.iri): one.weight for one in anchors}
    around = look_around(seeds[0], [*numbers], view, joined, settings)
    there = [(around.places[number], weight) for number, weight in numbers.items() if number in around.places]
    sources = np.concatenate([np.array([place for place, _ in there], dtype=np.int64), around.find_places(seeds[0])])
    mass = np.concatenate(
        [np.array([weight for _, weight in there]), settings.passages * seeds[1].astype(np.float64) ** 2]
    )
    if not sources.size or not mass.sum():
        return spread(seeds[0][:0], seeds[1][:0], view)
    places, start = np.unique(sources, return_inverse=True)
    nodes, ranks = push(
        around.csr,
        places,
        np.bincount(start.reshape(-1), weights=mass).astype(np.float64),
        settings.damping,
        settings.epsilon,
    )
    memories = nodes < len(around.memories)
    return _keep_visible(around.memories[nodes[memories]].astype(np.int64), ranks[memories], view)


def rank_by_activation(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """
    Return the rank of each memory that activation reaches from the anchors and the seeds, over names and associations: mostly its
    activation, and to a smaller part its recency and importance.

    *But:* a seed that starts fully active and a memory reached from several sides end up equally active, and are then not
    distinguished.

    Source: Collins and Loftus 1975, Psychological Review 82.
    """
    places, weights = _locate(anchors, view)
    nodes, active = rank.spread(
        view.matrix().rare,
        np.concatenate([places, seeds[0]]),
        settings.active * np.concatenate([weights, seeds[1].astype(np.float64) ** 2]),
        settings.steps,
        settings.decay,
        settings.threshold,
        beside=[view.association_matrix()],
    )
    numbers, known = view.indexes.numbers, view.indexes.nodes
    used = numbers.column(MEM.lastAccessedAt, nodes)
    used = np.where(np.isnan(used), known.creation_times(nodes) / 1000.0, used)
    important = numbers.column(MEM.importance, nodes)
    important[np.isnan(important)] = rank.MIDDLING
    days = np.maximum(view.now.timestamp() - used, 0.0) / _DAY_S
    return _keep_visible(nodes, rank.score_activation(active, days, important), view)


def rank_by_hops(
    seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, settings: ExpandSettings
) -> Signal:
    """
    Return the score of each memory: its own as a seed, plus shares from seeds with a common anchor, smaller the more memories share
    it.
    """
    csr = view.matrix()
    degrees = np.diff(csr.indptr)
    memories = view.indexes.nodes.within(view.graphs, "memory")
    through = np.where(memories, 0.0, 1.0 / np.maximum(degrees, 1))
    nodes, gained, _ = rank.hops(csr, seeds[0], seeds[1].astype(np.float64), settings.hops, through)
    return _keep_visible(nodes, gained, view)


WALKS: Mapping[str, Law] = {"ppr": rank_by_pagerank, "spread": rank_by_activation, "hops": rank_by_hops}
"""The walks that can rank alone, by the name of the engine."""


def _locate(anchors: Sequence[Anchor], view: View) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ids of the existing anchors, and their weights."""
    there = [(node, one.weight) for one in anchors if (node := view.indexes.nodes.find(one.iri)) is not None]
    return np.array([node for node, _ in there], dtype=np.int64), np.array([weight for _, weight in there])


def _keep_visible(nodes: NDArray[np.int64], values: NDArray[np.float64], view: View) -> Signal:
    """Return (ids,) the values of the memories that may be returned."""
    seen = view.visible[nodes]
    return spread(nodes[seen].astype(np.int32), values[seen].astype(np.float32), view)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A graph whose nodes are places: those of `memories` come first, then those of anchors."""

    memories: Ids  # (m,) ascending
    places: dict[int, int]  # number of an anchor → its place
    csr: Csr

    def find_places(self, memories: Ids) -> Places:
        """Return the places of some of its memories."""
        return np.searchsorted(self.memories, memories).astype(np.int64)


def look_around(
    seeds: Ids, anchors: Sequence[int], view: View, joined: Joined, weights: ExpandSettings
) -> Neighbourhood:
    """
    Return the neighbourhood of some memories and some anchors.

    Args:
        seeds: distinct memories.
        anchors: by number.
        weights: of the edges between memories; the weight of an edge to an anchor is the anchor's rarity.
    """
    links = view.links()
    beside = _link_beside(seeds, view, weights)
    near = distinct(np.concatenate([seeds, beside[1]]).astype(np.int32))
    leading = dict.fromkeys(anchors)
    for graph in links:
        leading |= dict.fromkeys(graph.gather(near)[1].tolist())
    groups = _join_anchors(leading, view)
    common = max(COMMON * joined.n, FEW)
    rarest = sorted(
        (sum(graph.frequency(one) for graph in links for one in some), place) for place, some in enumerate(groups)
    )
    reached, followed = [near], 0
    for df, place in rarest:
        followed += df
        if df > common or followed > MOST:
            break
        reached += [graph.mentioning(one) for graph in links for one in groups[place]]
    mine = _list_memories_of_user(leading, view)
    reached_by_anchors = distinct(np.concatenate([*reached, *(nodes[:MOST] for nodes in mine.values())]))
    successions = _follow_successions(reached_by_anchors, view, weights)
    memories = distinct(np.concatenate([reached_by_anchors, successions[1]]).astype(np.int32))
    memories = memories[view.indexes.nodes.among(memories, view.graphs, "memory")]
    first, second = (np.concatenate([beside[end], successions[end]]) for end in (0, 1))
    edges = first, second, np.concatenate([beside[2], successions[2]])
    return _build_neighbourhood(memories, groups, edges, mine, view, joined)


def _list_memories_of_user(anchors: dict[int, None], view: View) -> dict[int, Ids]:
    """Return the user's number and the memories about the user, if the user is among the anchors."""
    user = user_of(view.graphs[0])
    number, node = view.indexes.links.anchors.number(user), view.indexes.nodes.find(user)
    return {} if node is None or number not in anchors else {number: view.indexes.adjacency.memories(node)}


def _link_beside(seeds: Ids, view: View, weights: ExpandSettings) -> Edges:
    """Return the edges from some seeds to neighbouring turns and associated memories: (e,) from, to and weight."""
    indexes = view.indexes
    edges: list[tuple[int, int, float]] = []
    for seed in seeds.tolist():
        for _, arc in indexes.associations.arcs_of(seed):
            other = arc.target if arc.source == seed else arc.source
            edges.append((seed, other, weights.associations * arc.weight))
    if weights.turns:
        for passages in view.passages():
            turns = seeds[passages.session_of(seeds) >= 0]
            for row, turn in zip(passages.neighbours(turns), turns.tolist(), strict=True):
                edges += [(turn, int(other), weights.turns) for other in row.tolist() if other >= 0]
    return _to_columns(edges)


def _follow_successions(memories: Ids, view: View, weights: ExpandSettings) -> Edges:
    """Return the successions that begin or end at some memories: (e,) from, to and weight."""
    return _to_columns([(*pair, weights.successions) for pair in view.indexes.successions.pairs(memories)])


def _to_columns(edges: Iterable[tuple[int, int, float]]) -> Edges:
    kept = [edge for edge in edges if edge[2] > 0]
    columns = np.array([edge[:2] for edge in kept], dtype=np.int32).reshape(-1, 2)
    return columns[:, 0], columns[:, 1], np.array([edge[2] for edge in kept], dtype=np.float64)


def _join_anchors(anchors: dict[int, None], view: View) -> list[list[int]]:
    """Group anchors that share a label."""
    known = view.indexes.links.anchors
    group_of: dict[int, int] = {}
    groups: list[list[int]] = []
    for anchor in anchors:
        keys = known.label_keys(anchor)
        place = next((group_of[key] for key in keys if key in group_of), len(groups))
        if place == len(groups):
            groups.append([])
        groups[place].append(anchor)
        for key in keys:
            group_of.setdefault(key, place)
    for key, place in group_of.items():
        for other in known.find_key(key)[0].tolist():
            if other not in groups[place]:
                groups[place].append(other)
    return groups


def _build_neighbourhood(
    memories: Ids,
    groups: list[list[int]],
    beside: Edges,
    mine: dict[int, Ids],
    view: View,
    joined: Joined,
) -> Neighbourhood:
    """Return the graph of some memories, with the anchors that lead to them and those that two of them share."""
    m = len(memories)
    place_of = {anchor: place for place, some in enumerate(groups) for anchor in some}
    arcs = [
        (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)),
        *(graph.gather(memories) for graph in view.links()),
    ]
    for number, about in mine.items():
        inside = np.isin(memories, about)
        arcs.append((np.flatnonzero(inside), np.full(int(inside.sum()), number, dtype=np.int64)))
    rows, columns = (np.concatenate(column) for column in zip(*arcs, strict=True))
    numbers, inverse, times = np.unique(columns, return_inverse=True, return_counts=True)
    local = np.full(len(numbers), -1, dtype=np.int64)
    if place_of:
        known = np.array(sorted(place_of.items()), dtype=np.int64)
        rows_of = np.minimum(np.searchsorted(known[:, 0], numbers), len(known) - 1)
        local = np.where(known[rows_of, 0] == numbers, known[rows_of, 1], -1)
    shared = np.flatnonzero((local < 0) & (times > 1))
    local[shared] = len(groups) + shared
    place_of |= dict(zip(numbers[shared].tolist(), local[shared].tolist(), strict=True))
    places, compact = np.unique(local, return_inverse=True)
    shift = int(places.size > 0 and places[0] < 0)
    target = m + compact[inverse].reshape(-1) - shift
    kept = local[inverse].reshape(-1) >= 0
    rows, target = rows[kept], target[kept]
    of_place = {int(place): m + at - shift for at, place in enumerate(places.tolist()) if place >= 0}
    n = m + len(places) - shift
    degree = np.bincount(target, minlength=n)
    for place, some in enumerate(groups):
        if place in of_place:  # the number of all memories that mention it
            degree[of_place[place]] = sum(graph.frequency(one) for graph in view.links() for one in some)
            degree[of_place[place]] += sum(len(mine[one]) for one in some if one in mine)
    rare = rarity(np.maximum(degree, 1), max(joined.n, 1))
    strength = rare[target]
    source, other, weight = beside
    inside = np.isin(other, memories) & np.isin(source, memories)
    first, second = (np.searchsorted(memories, ends[inside]).astype(np.int64) for ends in (source, other))
    csr = Csr.of(
        n,
        np.concatenate([rows, first]),
        np.concatenate([target, second]),
        np.maximum(np.concatenate([strength, weight[inside]]), 1e-9),
    )
    return Neighbourhood(memories, {a: of_place[p] for a, p in place_of.items() if p in of_place}, csr)
