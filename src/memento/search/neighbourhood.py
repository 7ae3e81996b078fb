"""
What is around some memories in the graph, as a small graph of its own to walk over: one bounded look, however much there is in all.

    memories ── mem:about, mem:mentions ── anchors ── memories ── …
        └── successions, neighbouring turns, associations ── memories

*Guarantees:* every edge is one of the graph as it is now. Two anchors that go by one name are one place, whoever described them.
The user, whom most is about, leads on only where the walk starts there.

*But:* it reaches two memories far. An anchor that more than 3 % of the memories mention leads nowhere, and of all others the rarest
first, up to `MOST` mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memento.iris import user_of
from memento.rank import Csr, rarity
from memento.search.arrays import distinct
from memento.search.indexes import View
from memento.search.links import COMMON, Joined
from memento.search.nodes import Ids
from memento.settings import ExpandSettings

MOST = 6_000
"""Mentions that are followed."""
FEW = 12
"""Memories that may mention an anchor in however small a scope."""

Places = NDArray[np.int64]
Edges = tuple[Ids, Ids, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A graph over places: those of `memories` come first, then those of anchors."""

    memories: Ids  # (m,) ascending
    places: dict[int, int]  # number of an anchor → its place
    csr: Csr

    def find(self, memories: Ids) -> Places:
        """Return the places of some of its memories."""
        return np.searchsorted(self.memories, memories).astype(np.int64)


def look_around(
    seeds: Ids, anchors: Sequence[int], view: View, joined: Joined, weights: ExpandSettings
) -> Neighbourhood:
    """
    Return what is around some memories and some anchors.

    Args:
        seeds: distinct memories.
        anchors: by number.
        weights: of the edges that lead to no anchor; one that does weighs as much as the anchor is rare.
    """
    links = view.links()
    beside = _beside(seeds, view, weights)
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
    mine = _memories_of_user(leading, view)
    reached_by_anchors = distinct(np.concatenate([*reached, *(nodes[:MOST] for nodes in mine.values())]))
    successions = _follow_successions(reached_by_anchors, view, weights)
    memories = distinct(np.concatenate([reached_by_anchors, successions[1]]).astype(np.int32))
    memories = memories[view.indexes.nodes.among(memories, view.graphs, "memory")]
    first, second = (np.concatenate([beside[end], successions[end]]) for end in (0, 1))
    edges = first, second, np.concatenate([beside[2], successions[2]])
    return _build(memories, groups, edges, mine, view, joined)


def _memories_of_user(anchors: dict[int, None], view: View) -> dict[int, Ids]:
    """Return the user's number and the memories about them, where the user is among some anchors."""
    user = user_of(view.graphs[0])
    number, node = view.indexes.links.anchors.number(user), view.indexes.nodes.find(user)
    return {} if node is None or number not in anchors else {number: view.indexes.adjacency.memories(node)}


def _beside(seeds: Ids, view: View, weights: ExpandSettings) -> Edges:
    """Return the turns beside some seeds and what they are associated with: (e,) from, to and weight."""
    indexes = view.indexes
    edges: list[tuple[int, int, float]] = []
    for seed in seeds.tolist():
        for _, arc in indexes.associations.of(seed):
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
    """Return the anchors by what they go by: two that share a label are together."""
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


def _build(
    memories: Ids,
    groups: list[list[int]],
    beside: Edges,
    mine: dict[int, Ids],
    view: View,
    joined: Joined,
) -> Neighbourhood:
    """Return the graph of some memories: the anchors that lead to them, and those that two of them share."""
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
        if place in of_place:  # how many memories mention it in all
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
