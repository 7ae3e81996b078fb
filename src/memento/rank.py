"""
Ranking formulas as pure functions: the laws of strength, the fusion of scores and ranks, and walks over a graph.

**Laws** say how the four numbers of a memory and its links change. Nothing here reads a clock or a store. Times are numbers of
days; each law states its range. Laws for many memories take columns.

| number | says | moved by | with time |
| --- | --- | --- | --- |
| importance | how valuable when stored | feedback: `adjust_importance` | aged by who uses it: `age_importance` |
| depth | how well established | a full read: `deepen`; a correction: `correct_depth` | stays, and slows ageing: `time_factor` |
| energy | how active now | feedback: `adjust_energy` | halves, as far as `Decay` has been asked for: `decay_energies` |
| usefulness | how often it helped | feedback: `usefulness` | stays |

**Fusion** merges two ranked lists into one: `blend` by their scores, `rrf` by their ranks.

**Walks** find near nodes, by three laws over one undirected graph, a `Csr`. `ppr` distributes the mass of the sources: a node gets
as much as a walker who restarts at the sources visits it. It is the power iteration, exact, and its time grows with the graph.
`push` finds nearly the same near nodes at a cost that does not depend on the size of the graph. `spread` adds up and saturates at
1; `hops` subtracts a fixed price for each step. Their numbers are not comparable. In `ppr` and `push` a node without links passes
nothing on; a source without links keeps its (1 − damping), and the rest of its mass is lost.

*Source:* Ebbinghaus 1885 for exponential decay; Hebb 1949 for links that grow by use.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored

F = TypeVar("F", float, NDArray[np.float64])
Numbers = NDArray[np.floating]


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the nearest number in low..high."""
    return min(max(value, low), high)


# Importance

MIDDLING = 0.5
"""The importance of a memory that was never rated."""

_BY_SOURCE = {"explicit": 1.0, "import": 0.8, "hook:stop": 0.7, "hook:post_tool_use": 0.5}
_BY_TAG = {
    "decision": 1.0,
    "architecture": 1.0,
    "error": 0.9,
    "config": 0.8,
    "dependency": 0.7,
    "code": 0.7,
    "todo": 0.6,
    "conversation": 0.4,
}
_OTHER_TAG = 0.5
_BY_PRIORITY = {"high": 1.0, "normal": 0.7, "low": 0.4}


def usual_priority(source: str | None) -> Literal["high", "normal"]:
    """
    Return the priority of a text that states none, by its source: high if it was given on purpose.

    >>> usual_priority(None), usual_priority("import")
    ('high', 'normal')
    """
    return "high" if source in (None, "", "explicit") else "normal"


def rate_importance(source: str, tags: Iterable[str], priority: str) -> float:
    """
    Rate how valuable something is when it is stored, 0..1, from its source, its weightiest tag, and its priority.

    Args:
        source: "explicit", "import", "hook:stop" or "hook:post_tool_use"; any other counts as an import.
        tags: any; an unknown tag counts .5, and so does having none.
        priority: "high", "normal" or "low".

    Raises:
        KeyError: an unknown priority.

    >>> rate_importance("import", ["error"], "normal")
    0.504
    """
    tag = max((_BY_TAG.get(tag, _OTHER_TAG) for tag in tags), default=_OTHER_TAG)
    return round(clamp(_BY_SOURCE.get(source, _BY_SOURCE["import"]) * tag * _BY_PRIORITY[priority]), 12)


def age_importance(importance: float, days: float) -> float:
    """Return the importance reduced by age, 0..1: .2 % less each day, half after 346 days."""
    return float(importance * 0.998**days)


def adjust_importance(importance: float, helped: bool) -> float:
    """Adjust an importance, 0..1, after feedback: .02 more if the memory helped, .01 less if it did not."""
    return clamp(importance + (0.02 if helped else -0.01))


def usefulness(successes: int, failures: int) -> float | None:
    """Return how often a memory helped, 0..1; None before the first feedback."""
    return successes / (successes + failures) if successes + failures else None


# Depth

READ = 0.05
RESISTS = 0.7


def deepen(depth: float) -> float:
    """Return a depth, 0..1, increased after the memory was read in full."""
    return clamp(depth + READ)


def correct_depth(depth: float) -> float:
    """
    Return the depth of a memory after it was corrected, 0..1: a deep memory, from .7 on, keeps four fifths.

    >>> round(correct_depth(0.69), 3), round(correct_depth(0.7), 3)
    (0.207, 0.56)
    """
    return depth * (0.8 if depth >= RESISTS else 0.3)


def depth_band(depth: float) -> str:
    """Name the range of a depth: "shallow" below .3, "deep" above .7, "medium" between."""
    return "shallow" if depth < 0.3 else "deep" if depth > RESISTS else "medium"


def time_factor(days: F, depth: F) -> F:
    """
    Return the factor for memories of some age, .5..1: half is constant, the rest decays over 30 days, 3.3 times as slowly when
    deep.

    >>> round(time_factor(30, 0), 5), round(time_factor(90, 1), 5)
    (0.68394, 0.70328)
    """
    fading: F = math.e ** (-days * (1 - 0.7 * depth) / 30)
    return 0.5 + 0.5 * fading


def depth_factor(depth: F) -> F:
    """Return the factor for a memory's depth, .9..1."""
    return 0.9 + 0.1 * depth


# Links from keys to memories

LIGHTEST, HEAVIEST = 0.1, 3.0


def reinforce_link(weight: float) -> float:
    """Return the weight of a link, .1..3, after it was traversed."""
    return clamp(weight + 0.1, LIGHTEST, HEAVIEST)


def weaken_link(weight: float) -> float:
    """Return the weight of a link, .1..3, after it was shown and not followed."""
    return clamp(weight - 0.005, LIGHTEST, HEAVIEST)


def key_rarity(links: int, named: bool) -> float:
    """
    Return how much a key says about a memory that it leads to, 0..1: one over the number of its links, half of that for a name.

    Args:
        links: all links of the key, including those to retired memories.
        named: whether the key is a name or a proper noun, which matches literally and says less about the topic.

    >>> [round(key_rarity(n, named=False), 4) for n in (0, 1, 2, 3, 10)], key_rarity(2, named=True)
    ([1.0, 1.0, 0.5, 0.3333, 0.1], 0.25)
    """
    return 1.0 if links <= 1 else (0.5 if named else 1.0) / links


# Energy, and the weights of associations: they decay only when a caller requests it

GONE = 0.01
"""Smaller energies count as zero."""


@dataclass(frozen=True, slots=True)
class Decay:
    """
    How far the energies of a graph have decayed: up to which instants, and with which half-life since the previous one.

    Requesting the same span twice decays it once, so the frequency of requests does not matter.
    """

    marks: tuple[tuple[datetime, float], ...] = ()
    """(instant, half-life in days), ascending; consecutive entries have different half-lives."""

    def until(self, now: datetime, half_life_days: float) -> Decay:
        """
        Extend the decay up to `now`; an instant before the last one changes nothing.

        Raises:
            ValueError: a half-life not above 0.
        """
        if half_life_days <= 0:
            raise ValueError(f"a half-life must be above 0 days, not {half_life_days}")
        if self.marks and now <= self.marks[-1][0]:
            return self
        kept = self.marks[:-1] if self.marks and self.marks[-1][1] == half_life_days else self.marks
        return Decay((*kept, (now, half_life_days)))

    def half_lives(self, since_s: Numbers) -> Numbers:
        """
        Return the number of half-lives, (n,) and 0 or more, from some times, in seconds since 1970, to the last requested instant.
        """
        passed, begin = np.zeros(len(since_s)), np.asarray(since_s, dtype=np.float64)
        for at, half_life_days in self.marks:
            passed += np.maximum(at.timestamp() - begin, 0.0) / (half_life_days * 86_400)
            begin = np.maximum(begin, at.timestamp())
        return passed


def decay_energies(values: Numbers, at_s: Numbers, decay: Decay) -> Numbers:
    """
    Return the decayed values of some energies, (n,) in 0..1: half after each elapsed half-life; below .01 they become 0.

    Args:
        values: (n,) 0..1.
        at_s: (n,) the times of these values, in seconds since 1970.
    """
    left = values * 0.5 ** decay.half_lives(at_s)
    return np.where(left >= GONE, left, 0.0)


def decay_energy(value: float, at: datetime, decay: Decay) -> float:
    """
    Return the decayed value of one energy, as `decay_energies` does.

    >>> from datetime import UTC, timedelta
    >>> then = datetime(2026, 1, 1, tzinfo=UTC)
    >>> round(decay_energy(0.8, then, Decay().until(then + timedelta(days=3), 7)), 6)
    0.594398
    """
    return float(decay_energies(np.array([value]), np.array([at.timestamp()]), decay)[0])


def decay_associations(weights: Numbers, at_s: Numbers, decay: Decay) -> Numbers:
    """Return the decayed weights of associations, (n,) in 0..1: a twentieth less for each half-life; `at_s` as above."""
    return np.asarray(weights * 0.95 ** decay.half_lives(at_s))


def decay_association(weight: float, at_s: float, decay: Decay) -> float:
    """Return the decayed weight of one association, as `decay_associations` does."""
    return float(decay_associations(np.array([weight]), np.array([at_s]), decay)[0])


def strengthen_association(weight: float, again: float) -> float:
    """Return the weight of an association, 0..1, after it was added again with the weight `again`."""
    return clamp(weight + 0.1 * again)


def adjust_energy(energy: float, helped: bool) -> float:
    """Adjust an energy, 0..1, after feedback: a tenth more if the memory helped, a tenth less if it did not."""
    return clamp(energy * (1.1 if helped else 0.9))


def days_until(energy: float, spent: float, half_life_days: float) -> float:
    """
    Return the days after which an unused energy, 0..1, has decayed to `spent`; 0 if it has already.

    >>> days_until(0.8, 0.2, 7), days_until(0.1, 0.2, 7)
    (14.0, 0.0)
    """
    least = max(spent, GONE)
    return max(half_life_days * math.log2(energy / least), 0.0) if energy > least else 0.0


def outlives(energy: Numbers, accesses: Numbers, spent: float = 0.05, few: int = 5) -> NDArray[np.bool_]:
    """
    Tell which memories, (n,), archiving keeps: those that still have energy, or were used more than a few times.

    >>> outlives(np.array([0.06, 0.05, 0.0]), np.array([0, 5, 6])).tolist()
    [True, False, True]
    """
    return (energy > spent) | (accesses > few)


# Rankings by what memories are, rather than by a question

HALF_LIFE_DAYS = 7.0


def recency(days: F) -> F:
    """Return how recent a use is, 0..1: half after a week."""
    halved: F = 0.5 ** (days / HALF_LIFE_DAYS)
    return halved


def score_activation(activation: F, days: F, importance: F) -> F:
    """
    Score memories that activation reached, 0..1.

    Args:
        activation: 0..1.
        days: since its last use.
        importance: 0..1.

    >>> round(score_activation(0.5, 7, 0.9), 4)
    0.56
    """
    return 0.6 * activation + 0.25 * recency(days) + 0.15 * importance


_RERANK_SOURCE = {"hook:stop": 0.8, "hook:post_tool_use": 0.6}
_RERANK_TAG = {"decision": 1.2, "architecture": 1.2, "error": 1.1, "conversation": 0.8}
_RERANK_PRIORITY = {"high": 1.3, "low": 0.7}


def rerank_factor(days: float, source: str, tags: Sequence[str], accesses: int, priority: str) -> float:
    """
    Return the factor, above 0, by which a similarity is multiplied for a memory's age, source, tags, uses and priority.

    Only the tag with the largest factor counts; unknown values count 1.

    >>> round(0.8 * rerank_factor(30, "explicit", ["decision"], 5, "high"), 6)
    1.355495
    """
    tag = max((_RERANK_TAG.get(tag, 1.0) for tag in tags), default=1.0)
    used = 1 + 0.1 * math.log1p(accesses)
    return math.exp(-days / 365) * _RERANK_SOURCE.get(source, 1.0) * tag * used * _RERANK_PRIORITY.get(priority, 1.0)


class Season(StrEnum):
    """The stage of a memory's life; the first that applies, in this order."""

    EMERGING = "emerging"
    ACTIVE = "active"
    STABLE = "stable"
    DECAYING = "decaying"
    OTHER = "other"


def find_seasons(
    created_days: Numbers, used_days: Numbers, changed_days: Numbers, energy: Numbers, accesses: NDArray[np.integer]
) -> NDArray[np.int8]:
    """
    Return the season of each memory, (n,), as its position in `Season`.

    Emerging: created within a day. Active: used within a week. Stable: unchanged for 30 days and with energy left. Decaying:
    without energy, and hardly used.

    Args:
        created_days, used_days, changed_days: (n,) since it was created, last used (or created) and last changed.
        energy: (n,) 0..1.
        accesses: (n,) number of uses.
    """
    return np.select(
        [created_days < 1, used_days < 7, (changed_days > 30) & (energy > 0.1), (energy < 0.1) & (accesses < 3)],
        [np.int8(0), np.int8(1), np.int8(2), np.int8(3)],
        np.int8(4),
    )


T = TypeVar("T", bound=Hashable)

Scores = NDArray[np.float64]
"""(n,) scores of one list."""


def blend(cosines: NDArray[np.floating], words: NDArray[np.floating], vector_weight: float = 0.7) -> Scores:
    """
    Return (n,) `vector_weight` of each cosine plus the rest of its BM25, divided by the largest BM25.

    >>> blend(np.array([0.2, 0.9]), np.array([12.0, 3.0])).round(3).tolist()
    [0.44, 0.705]
    """
    most = max(float(words.max(initial=0.0)), 1e-9)
    return np.asarray(vector_weight * cosines + (1.0 - vector_weight) * (words / most), dtype=np.float64)


def rrf(rankings: Sequence[Sequence[T]], k: float = 1.0) -> list[Scored[T]]:
    """
    Merge lists by reciprocal rank fusion: Σ 1 / (rank + k) over the lists with an item, ranks from 0; best first, ties by first
    appearance.

    Source: Cormack, Clarke and Büttcher 2009, SIGIR (there k = 60 and ranks from 1).

    >>> [(hit.item, hit.score) for hit in rrf([["a", "b"], ["b"]])]
    [('b', 1.5), ('a', 1.0)]
    """
    sums: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            sums[item] = sums.get(item, 0.0) + 1.0 / (rank + k)
    return sorted((Scored(item, score) for item, score in sums.items()), key=lambda hit: -hit.score)


Vectors = NDArray[np.float32]


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """
    Return (n, d) or (d,) the vectors scaled to length 1; a zero vector stays zero.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    x = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def cosines(matrix: Vectors, asked: Vectors) -> NDArray[np.float32]:
    """
    Return (n,) the cosine of each row with the question, -1..1: the best over the question's windows.

    Args:
        matrix: (n, d) unit rows; a row of zeros has cosine 0.
        asked: (w, d) unit rows, at least one: the windows of one question.

    >>> cosines(np.eye(2, dtype=np.float32), np.array([[0, 1]], dtype=np.float32)).tolist()
    [0.0, 1.0]
    """
    return np.asarray((matrix @ asked.T).max(axis=1), dtype=np.float32)


Mass = NDArray[np.float64]
"""(n,) the result of a walk for every node."""


@dataclass(frozen=True, eq=False)
class Csr:
    """
    An undirected graph over the nodes 0..n-1 as compressed rows: every link is in the rows of both its ends.

    The neighbours of node v are `indices[indptr[v] : indptr[v + 1]]`, ascending; `weights` is parallel to `indices`, or None if all
    links count the same.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls,
        n: int,
        source: NDArray[np.integer],
        target: NDArray[np.integer],
        weights: NDArray[np.floating] | None = None,
    ) -> Csr:
        """
        Return the graph of links given once, in either direction. Repeated links count once, or are summed if there are weights.

        Args:
            n: number of nodes.
            source, target: (m,) node ids in 0..n-1.
            weights: (m,) positive.

        >>> Csr.of(3, np.array([0, 0]), np.array([1, 2])).neighbours(0).tolist()
        [1, 2]
        """
        source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        loops = source == target
        rows = np.concatenate([source, target[~loops]])
        columns = np.concatenate([target, source[~loops]])
        arcs, place = np.unique(rows * n + columns, return_inverse=True)
        indptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(arcs // max(n, 1), minlength=n), out=indptr[1:])
        summed = None
        if weights is not None:
            both = np.concatenate([weights, np.asarray(weights)[~loops]])
            summed = np.bincount(place, weights=both, minlength=len(arcs)).astype(np.float32)
        return cls(indptr, (arcs % max(n, 1)).astype(np.int32), summed)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """Return the neighbours of a node, ascending."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    @cached_property
    def strength(self) -> Mass:
        """Return (n,) the number of links of each node, or the sum of their weights."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.row_sums(self.weights.astype(np.float64))

    @cached_property
    def rare(self) -> Csr:
        """
        Return the same links, each weighted by the rarity of both ends: a walk then prefers specific nodes to hubs.

        Links must be unweighted; the rarity is that of a node's links among all linked nodes.
        """
        links = np.diff(self.indptr)
        rare = rarity(links, int(np.count_nonzero(links)))
        return Csr(self.indptr, self.indices, (np.repeat(rare, links) * rare[self.indices]).astype(np.float32))

    def row_sums(self, values: NDArray[np.float64]) -> Mass:
        """Return (n,) the sum of each row of `values`, which are parallel to `indices`."""
        sums = np.zeros(len(self))
        filled = np.flatnonzero(
            np.diff(self.indptr)
        )  # `reduceat` would give an empty row the first value of its successor
        if filled.size:
            sums[filled] = np.add.reduceat(values, self.indptr[filled])
        return sums


def rarity(links: NDArray[np.integer], n: int) -> NDArray[np.float64]:
    """
    Return how much a link to a node with so many links says about something, 0..1: ln((n + 2) / (links + 1)) / ln(n + 2).

    Unlike the idf of words it is above 0 even for a node that everything links to: if all is about one thing, that thing still
    leads.

    Args:
        links: of each node, at least 1 where it matters; more than `n` counts as `n`.
        n: number of things that could be linked.

    >>> rarity(np.array([1, 10, 98]), 98).round(2).tolist()
    [0.85, 0.48, 0.0]
    """
    return np.asarray(np.log((n + 2) / (np.minimum(links, n) + 1)) / np.log(n + 2))


def arcs_of(csr: Csr, nodes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the arcs of these nodes in `indices`, node after node, and the number of arcs of each."""
    begins = csr.indptr[nodes]
    sizes = csr.indptr[nodes + 1] - begins
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(begins - (ends - sizes), sizes), sizes


def ppr(
    csr: Csr,
    restart: NDArray[np.floating],
    damping: float,
    iterations: int,
    tolerance: float = 1e-7,
    weighted: bool = False,
) -> Mass:
    """
    Return (n,) personalised PageRank by power iteration: `r = (1 − damping) · p + damping · Wᵀ r`.

    Equal sources (`weighted=False`): p is 1 at every node with `restart > 0` and the walk starts with (1 − damping) · p,
    so that ranks sum to just under the number of sources. This is how the Neo4j Graph Data Science engine counts.
    Weighted: p is `restart` scaled to sum to 1 and the walk starts with p, so that ranks sum to 1.

    Args:
        restart: (n,) not negative; all zero gives all zero.
        damping: share of the rank that follows links, 0..1.
        iterations: maximum number of steps; it stops earlier when no rank changes by `tolerance` any more.

    Source: Page, Brin, Motwani and Winograd 1999; Haveliwala 2002, WWW.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> ppr(path, np.array([1.0, 0, 0]), damping=0.5, iterations=50).round(4).tolist()
    [0.5833, 0.3333, 0.0833]
    """
    p = _sources(restart, weighted)
    share = damping * _reciprocal(csr.strength)
    ranks = p if weighted else (1.0 - damping) * p
    for _ in range(iterations):
        flow = (ranks * share)[csr.indices]
        if csr.weights is not None:
            flow *= csr.weights
        fresh = (1.0 - damping) * p + csr.row_sums(flow)
        moved = np.abs(fresh - ranks).max(initial=0.0)
        ranks = fresh
        if moved < tolerance:
            break
    return ranks


def push(
    csr: Csr,
    sources: NDArray[np.integer],
    mass: NDArray[np.floating],
    damping: float,
    epsilon: float = 1e-5,
) -> tuple[NDArray[np.int64], Mass]:
    """
    Return the nodes that mass reaches, ascending, and their ranks, which approach those of converged weighted `ppr` from below.

    Each rank is too small by at most `epsilon · strength`. Mass waits at nodes; while more than that waits at a node, the node
    keeps (1 − damping) of it and passes on the rest. Hubs need much mass before they pass any on, which keeps the walk local.

    Args:
        sources: (s,) distinct nodes where the walk restarts.
        mass: (s,) how often the walk restarts at each, not negative; scaled to sum to 1. All zeros reach nothing.
        epsilon: smaller is more exact and slower; 1e-5 finds 94 to 99 of the first hundred nodes.

    Source: Andersen, Chung and Lang 2006, FOCS.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> nodes, ranks = push(path, np.array([0]), np.array([1.0]), damping=0.5, epsilon=1e-9)
    >>> nodes.tolist(), ranks.round(4).tolist()
    ([0, 1, 2], [0.5833, 0.3333, 0.0833])
    """
    # Pages of zeros cost nothing until they are written to, so neither array makes the time depend on the size of the graph.
    ranks, waiting = np.zeros(len(csr)), np.zeros(len(csr))
    front = np.asarray(sources, dtype=np.int64)
    waiting[front] = _scale(mass)
    kept: list[NDArray[np.int64]] = []
    front = front[waiting[front] > epsilon * csr.strength[front]]
    while front.size:
        kept.append(front)
        arriving = waiting[front]
        waiting[front] = 0.0
        ranks[front] += (1.0 - damping) * arriving
        arcs, sizes = arcs_of(csr, front)
        reached = csr.indices[arcs]
        flow = np.repeat(damping * arriving * _reciprocal(csr.strength[front]), sizes)
        if csr.weights is not None:
            flow *= csr.weights[arcs]
        np.add.at(waiting, reached, flow)
        front = np.sort(reached[waiting[reached] > epsilon * csr.strength[reached]]).astype(np.int64)
        front = front[np.diff(front, prepend=-1) > 0]
    nodes = np.unique(np.concatenate(kept)) if kept else np.zeros(0, dtype=np.int64)
    return nodes, ranks[nodes]


def _sources(restart: NDArray[np.floating], weighted: bool) -> Mass:
    p = np.asarray(restart, dtype=np.float64)
    if not weighted:
        return (p > 0).astype(np.float64)
    return _scale(p)


def _scale(mass: NDArray[np.floating]) -> Mass:
    """Scale mass to sum to 1; all zeros stay as they are."""
    total = float(np.sum(mass, dtype=np.float64))
    return np.asarray(mass, dtype=np.float64) / (total if total > 0 else 1.0)


def _reciprocal(strength: Mass) -> Mass:
    """Return 1 / strength, and 0 for a node without links."""
    return np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)


def spread(
    csr: Csr,
    seeds: NDArray[np.integer],
    activation: NDArray[np.floating],
    steps: int = 3,
    decay: float = 0.85,
    threshold: float = 0.1,
    *,
    beside: Sequence[Csr] = (),
) -> tuple[NDArray[np.int64], Mass]:
    """
    Return the nodes that activation reaches, ascending, and their activation, 0..1.

    In each step every node above the threshold sends `activation · weight · decay` to each neighbour; all of it is added at once,
    and values above 1 are cut to 1. Nodes keep their activation.

    Args:
        seeds: (s,) distinct nodes.
        activation: (s,) of the seeds, clamped to 0..1.
        steps: how often activation is passed on, 0 or more.
        decay: share that arrives over a link of weight 1, 0..1.
        threshold: nodes that are not above it pass nothing on, 0..1.
        beside: further links between the same nodes, and perhaps more; if several have a link, its weights are summed.

    Source: Collins and Loftus 1975, Psychological Review 82; Crestani 1997, Artificial Intelligence Review 11.

    >>> path = Csr.of(3, np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> nodes, active = spread(path, np.array([0]), np.array([1.0]), steps=1)
    >>> nodes.tolist(), active.tolist()
    ([0, 1], [1.0, 0.425])
    """
    # Pages of zeros cost nothing until they are written to: the time depends on the walked arcs only.
    active = np.zeros(max(map(len, (csr, *beside))))
    touched = np.unique(np.asarray(seeds, dtype=np.int64))
    active[np.asarray(seeds, dtype=np.int64)] = np.clip(activation, 0.0, 1.0)
    for _ in range(steps):
        senders = touched[active[touched] > threshold]
        flows = []
        for links in (csr, *beside):
            inside = senders[senders < len(links)]
            flows.append(_flow(links, inside, decay * active[inside]))
        reached, flow = (np.concatenate(parts) for parts in zip(*flows, strict=True))
        if not reached.size:
            break
        np.add.at(active, reached, flow)
        touched = np.union1d(touched, reached)
        active[touched] = np.minimum(active[touched], 1.0)
    return touched, active[touched]


def hops(
    csr: Csr,
    sources: NDArray[np.integer],
    scores: NDArray[np.floating],
    most: int,
    through: NDArray[np.floating],
    decay: float = 0.3,
) -> tuple[NDArray[np.int64], Mass, NDArray[np.int64]]:
    """
    Return the nodes reached within `most` hops, ascending, what the hops brought to each, and the hop at which each was reached.

    A hop leads to a neighbour, or through a connector to all other nodes linked to it. It brings `score · decay · weight`, over a
    connector also multiplied by `through`; of the two links over a connector the weight of the second counts. Only nodes first
    reached in one hop continue in the next, each with the score it has by then. Sources are at hop 1, because the question found
    them directly.

    Args:
        sources: (s,) distinct nodes, none of them a connector.
        scores: (s,) not negative.
        most: hops in total, including the sources' own: 1 leads nowhere.
        through: (n,) for a connector its factor above 0, such as a key's idf; 0 for a node to be reached.
        decay: the share of a score that is left after one hop.

    >>> star = Csr.of(4, np.array([3, 3, 3]), np.array([0, 1, 2]))  # three memories on the key 3
    >>> nodes, gained, hop = hops(star, np.array([0]), np.array([0.0325]), 2, np.array([0, 0, 0, 0.5]))
    >>> nodes.tolist(), gained.round(6).tolist(), hop.tolist()
    ([0, 1, 2], [0.0325, 0.004875, 0.004875], [1, 2, 2])
    """
    gained, came = np.zeros(len(csr)), np.zeros(len(csr), dtype=np.int64)
    front = np.asarray(sources, dtype=np.int64)
    gained[front], came[front] = scores, 1
    touched = [np.sort(front)]
    for hop in range(2, most + 1):
        direct, flow = _flow(csr, front, decay * gained[front], to=through == 0)
        given = [(direct, flow), *_over_connectors(csr, front, decay * gained[front], through)]
        reached = np.concatenate([nodes for nodes, _ in given])
        np.add.at(gained, reached, np.concatenate([flow for _, flow in given]))
        new = np.unique(reached)
        front = new[came[new] == 0]
        came[front] = hop
        touched.append(front)
        if not front.size:
            break
    nodes = np.unique(np.concatenate(touched))
    return nodes, gained[nodes], came[nodes]


def _over_connectors(
    csr: Csr, front: NDArray[np.int64], sent: Mass, through: NDArray[np.floating]
) -> list[tuple[NDArray[np.int64], Mass]]:
    """Return the mass that reaches the others on each connector, and the share that is each sender's own echo, to be subtracted."""
    arcs, sizes = arcs_of(csr, front)
    connectors, senders = csr.indices[arcs].astype(np.int64), np.repeat(front, sizes)
    carried = np.repeat(sent, sizes) * through[connectors]
    heavy = carried > 0
    arcs, connectors, senders, carried = arcs[heavy], connectors[heavy], senders[heavy], carried[heavy]
    held, place = np.unique(connectors, return_inverse=True)
    sums: Mass = np.bincount(place, weights=carried, minlength=len(held)).astype(np.float64)
    echo: Mass = carried if csr.weights is None else (carried * csr.weights[arcs]).astype(np.float64)
    return [_flow(csr, held, sums), (senders, -echo)]


def _flow(
    csr: Csr, senders: NDArray[np.int64], sent: Mass, to: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], Mass]:
    """Return the targets of each sender's links, and what flows over each: the sent mass times the weight."""
    arcs, sizes = arcs_of(csr, senders)
    reached, flow = csr.indices[arcs].astype(np.int64), np.repeat(sent, sizes)
    if csr.weights is not None:
        flow = flow * csr.weights[arcs]
    if to is None:
        return reached, flow
    return reached[to[reached]], flow[to[reached]]
