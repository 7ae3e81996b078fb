"""
Memories for a question at once, over words, meaning and keys: `recall_memories`, for who does not want to walk.

*Flow:* words (BM25 that forgives) and keys with meaning give two rankings → fused by rank → what is named counts more, and depth
and age a little → hops over shared keys and links by hand → a gate → as many as were asked for.

*But:* it is not the recall of notes; over whole conversations and documents that one finds more (docs/keys.md has both measured).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM
from memento.keys.fuzzy import ranked
from memento.keys.gates import stands_out
from memento.keys.leads import Lead
from memento.keys.match import Asked, Candidate, Matched, matched, texts_of
from memento.keys.walk import Way, age_days, beside_of, step
from memento.model import DirectMemory, Effect, Read, Skipped
from memento.rank import laws
from memento.rank.fusion import rrf
from memento.rank.walks import Csr, hops
from memento.settings import KeysSettings, WordsSettings

_LISTED = 50  # candidates of each ranking
_KEYS = 10  # matched keys that lead on
_ALONE, _BESIDE = 0.8, 0.16  # what a cosine counts for a memory that no key led to, and for one that a key did
_RANKS = 61.0  # reciprocal rank fusion with k = 60, ranks from 1
_SURE = 0.999  # a key that is named, or is the question
_FARTHER = 0.7  # what is left of a score that only hops gave, when they are asked for at length
_FRONT = (
    5  # memories that hops start from: more of them blur what leads where, six to fourteen points of both gold in five
)
_CROWD = 100  # a key that leads to more memories says nothing of any one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    How direct recall is to go about it: memories at most, hops in all (1 leads nowhere on), and below what is left out.

    `expand` asks for twice as many and lets those that only hops found count less. `by_keys` is False for a comparison alone.
    """

    k: int = 5
    hops: int = 2
    expand: bool = False
    least_share: float = 0.0
    least_depth: float = 0.0
    min_score: float | None = None
    gate_z: float | None = None
    key_gate: float | None = None
    by_keys: bool = True


@dataclass(slots=True)
class Ranking:
    """Scores of memories by id, at which hop each came in, and the keys that led to it."""

    scores: dict[int, float] = field(default_factory=dict)
    hop: dict[int, int] = field(default_factory=dict)
    via: dict[int, list[Lead]] = field(default_factory=dict)
    keys: list[Candidate] = field(default_factory=list)


def recalled(
    asked: Asked, wanted: Wanted, way: Way, knobs: KeysSettings, words: WordsSettings
) -> tuple[list[DirectMemory], list[Effect]]:
    """The memories, best first, and what finding them does to them and to the links that led there. Ask under `indexes.lock`."""
    found = matched(asked, way.leads, way.graph, knobs) if wanted.by_keys else Matched()
    ranking = first(asked, found, way, words)
    if not is_anchored(asked, found, ranking, wanted, way, knobs):
        return [], []
    if wanted.hops > 1 and wanted.by_keys:
        walked(ranking, wanted, way)
    best = sorted(ranking.scores, key=lambda node: (-ranking.scores[node], node))
    floor = wanted.least_share * ranking.scores[best[0]] if best else 0.0
    depths = dict(zip(best, way.used.depths(np.array(best, dtype=np.int32)).tolist(), strict=True))
    kept = [n for n in best if ranking.scores[n] >= floor and depths[n] >= wanted.least_depth]
    kept = kept[: wanted.k * (2 if wanted.expand else 1)]
    return _shown(kept, depths, ranking, asked, way), _effects(kept, ranking, way)


def first(asked: Asked, found: Matched, way: Way, words: WordsSettings) -> Ranking:
    """What the question itself leads to: words and meaning, fused by rank; named keys, depth and age count beside."""
    leads, indexes = way.leads, way.leads.indexes
    ranking = Ranking(keys=_leading(found, way))
    nodes, scores = ranked(asked.text, indexes.words(leads.graphs, "memory"), words)
    shown = leads.visible[nodes]
    nodes, scores = nodes[shown], scores[shown]
    by_words = nodes[np.lexsort((nodes, -scores))[:_LISTED]].tolist()
    by_keys = _by_keys(asked, ranking, way)
    for one in rrf([by_words, by_keys], _RANKS):
        ranking.scores[one.item] = one.score
    for candidate in ranking.keys:
        if candidate.spelt is not None:
            bonus = leads.rarity(candidate.lead) / _RANKS
            for node, weight in zip(*(part.tolist() for part in leads.memories(candidate.lead)), strict=True):
                if node in ranking.scores:
                    ranking.scores[node] += bonus * min(weight, 1.0)
    there = np.fromiter(ranking.scores, dtype=np.int32, count=len(ranking.scores))
    depths = way.used.depths(there)
    factors = laws.depth_factor(depths) * laws.time_factor(age_days(there, way), depths)
    for node, factor in zip(there.tolist(), factors.tolist(), strict=True):
        ranking.scores[node] *= factor
        ranking.hop[node] = 1
    return ranking


def walked(ranking: Ranking, wanted: Wanted, way: Way) -> None:
    """What hops over shared keys, and over links by hand, add to a ranking. They start from the best of it."""
    graph, before = _Surroundings(way), dict(ranking.scores)
    best = sorted(before, key=lambda node: (-before[node], node))[:_FRONT]
    graph.grow(best, wanted.hops - 1)
    sources = np.arange(len(best), dtype=np.int64)
    base = np.array([before[node] for node in best])
    reached, gained, hop = hops(graph.csr(), sources, base, wanted.hops, graph.through())
    for place, score, at in zip(reached.tolist(), gained.tolist(), hop.tolist(), strict=True):
        if place >= len(graph.nodes):
            continue  # a key
        node = graph.nodes[place]
        known = before.get(node, 0.0) if place >= len(best) else 0.0
        ranking.hop.setdefault(node, at)
        is_far = wanted.expand and ranking.hop[node] > 1
        ranking.scores[node] = (known + score) * (_FARTHER if is_far else 1.0)
    for node, leads in graph.leading().items():
        if ranking.hop.get(node, 0) > 1:
            ranking.via.setdefault(node, leads)


def is_anchored(asked: Asked, found: Matched, ranking: Ranking, wanted: Wanted, way: Way, knobs: KeysSettings) -> bool:
    """Whether anything holds the question: a name in it, a key near enough, or a memory that is and stands out."""
    if any(_strength(one) >= _SURE for one in ranking.keys):
        return True
    key_gate = knobs.key_gate if wanted.key_gate is None else wanted.key_gate
    if key_gate > 0 and max((one.own for one in found.candidates.values()), default=0.0) >= key_gate:
        return True
    least = asked.limits.min_score if wanted.min_score is None else wanted.min_score
    index = way.leads.indexes.vectors["memory"]
    nodes = np.fromiter(ranking.scores, dtype=np.int32, count=len(ranking.scores))
    if not nodes.size or float(index.cosines(nodes, asked.vectors).max()) < least:
        return False
    z = knobs.gate_z if wanted.gate_z is None else wanted.gate_z
    if z <= 0:
        return True
    own = np.flatnonzero(way.leads.visible).astype(np.int32)
    return stands_out(index.cosines(own, asked.vectors), z)


class _Surroundings:
    """The memories around some others and the keys between them, as a graph of its own."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self.nodes: list[int] = []
        self._leads: dict[IRI, Lead] = {}
        self._edges: dict[tuple[int | IRI, int | IRI], float] = {}

    def grow(self, sources: Sequence[int], times: int) -> None:
        """Take in what so many hops lead to."""
        known = dict.fromkeys(sources)
        front = list(sources)
        for _ in range(times):
            new = [node for node in self._around(front) if node not in known]
            known |= dict.fromkeys(new)
            front = list(dict.fromkeys(new))
        self.nodes = list(known)

    def csr(self) -> Csr:
        """Memories first, in the order of `nodes`, then keys; each link as heavy as it is."""
        place: dict[int | IRI, int] = {node: at for at, node in enumerate(self.nodes)}
        place |= {iri: len(self.nodes) + at for at, iri in enumerate(self._leads)}
        there = [(place[a], place[b], w) for (a, b), w in self._edges.items() if a in place and b in place]
        columns = [np.array([edge[at] for edge in there]) for at in range(3)]
        return Csr.of(
            len(place), columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2].astype(np.float64)
        )

    def through(self) -> NDArray[np.float64]:
        """(n,) 0 for memories, for keys how rare they are."""
        rare = [self._way.leads.rarity(lead) for lead in self._leads.values()]
        return np.array([0.0] * len(self.nodes) + rare)

    def leading(self) -> dict[int, list[Lead]]:
        """The keys of each memory."""
        found: dict[int, list[Lead]] = {}
        for a, b in self._edges:
            if isinstance(a, int) and isinstance(b, IRI):
                found.setdefault(a, []).append(self._leads[b])
        return found

    def _around(self, front: Sequence[int]) -> list[int]:
        way, indexes = self._way, self._way.leads.indexes
        texts = texts_of(front, way.leads, way.graph)
        found: list[int] = []
        for node in front:
            content, title = texts.get(node, ("", None))
            for lead, _ in way.leads.leads_of(node, content, title):
                if lead.iri not in self._leads and way.leads.is_telling(lead):
                    found += self._hung(lead)
        beside = beside_of([indexes.nodes.iri(node) for node in front], way.graph, way.readable)
        for (memory, predicate), others in beside.items():
            one = indexes.nodes.find(memory)
            for other in map(indexes.nodes.find, others if predicate == MEM.relatedTo else ()):
                if one is not None and other is not None and way.leads.visible[other]:
                    self._edges[min(one, other), max(one, other)] = 1.0
                    found.append(other)
        return found

    def _hung(self, lead: Lead) -> list[int]:
        """Take in a key with all that hangs on it; one that says nothing of any memory is left out."""
        nodes, weights = self._way.leads.memories(lead)
        if len(nodes) > _CROWD:
            return []
        self._leads[lead.iri] = lead
        shown = self._way.leads.visible[nodes]
        for node, weight in zip(nodes[shown].tolist(), weights[shown].tolist(), strict=True):
            self._edges[node, lead.iri] = weight
        return list(nodes[shown].tolist())


def _leading(found: Matched, way: Way) -> list[Candidate]:
    """The keys that the question names or means, best first; no mere words."""
    named = [one for one in found.candidates.values() if one.spelt is not None or one.own]
    there = [one for one in named if way.leads.is_telling(one.lead)]
    return sorted(there, key=lambda one: -_strength(one))[:_KEYS]


def _strength(one: Candidate) -> float:
    return 1.0 if one.spelt is not None and one.lead.is_named else one.own


def _by_keys(asked: Asked, ranking: Ranking, way: Way) -> list[int]:
    """The memories that keys and meaning lead to, best first."""
    leads = way.leads
    sums: dict[int, float] = {}
    for one in ranking.keys:
        nodes, weights = leads.memories(one.lead)
        if len(nodes) > _CROWD:
            continue
        carried = _strength(one) * leads.rarity(one.lead)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            if leads.visible[node]:
                sums[node] = sums.get(node, 0.0) + carried * weight
                ranking.via.setdefault(node, []).append(one.lead)
    nodes, cosines = leads.indexes.vectors["memory"].near(asked.vectors, _LISTED, leads.visible)
    for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
        if cosine >= asked.limits.content_recall:
            sums[node] = sums[node] + _BESIDE * cosine if node in sums else _ALONE * cosine
    return sorted(sums, key=lambda node: (-sums[node], node))[:_LISTED]


def _shown(
    kept: Sequence[int], depths: Mapping[int, float], ranking: Ranking, asked: Asked, way: Way
) -> list[DirectMemory]:
    indexes = way.leads.indexes
    texts = texts_of(kept, way.leads, way.graph)
    beside = beside_of([indexes.nodes.iri(node) for node in kept], way.graph, way.readable)
    cosines = indexes.vectors["memory"].cosines(list(kept), asked.vectors).tolist()
    found = []
    for node, cosine in zip(kept, cosines, strict=True):
        iri = indexes.nodes.iri(node)
        found.append(
            DirectMemory(
                memory=iri,
                content=texts[node][0],
                score=round(ranking.scores[node], 9),
                relevance=round(cosine, 4),
                hop=ranking.hop[node],
                depth=round(depths[node], 9),
                created_at=way.created(node),
                via=tuple(dict.fromkeys(lead.name for lead in ranking.via.get(node, ()))),
                contradicts=tuple(beside.get((iri, MEM.contradicts), ())),
            )
        )
    return found


def _effects(kept: Sequence[int], ranking: Ranking, way: Way) -> list[Effect]:
    """What comes back grows deeper; the links that led to the best of it grow stronger, those that led to nothing weaker."""
    nodes = way.leads.indexes.nodes
    effects: list[Effect] = [Read(memory=nodes.iri(n), graph=nodes.graph(n), at=way.now) for n in kept]
    for candidate in ranking.keys:
        reached, weights = way.leads.memories(candidate.lead)
        for node, weight in zip(reached.tolist(), weights.tolist(), strict=True):
            if kept and node == kept[0]:
                effects.append(step(candidate.lead, nodes.iri(node), nodes.graph(node), weight, way))
            elif node not in kept and len(reached) <= _CROWD:
                effects.append(Skipped(key=candidate.lead.iri, memory=nodes.iri(node), graph=nodes.graph(node)))
    return effects
