"""
Find memories for a question in one call, over words, meaning and keys: `recall_memories`, for callers who do not want to walk.

*Flow:* words (fuzzy BM25) and keys with meaning give two rankings → fused by rank → named keys count more, and depth and age a
little → hops over shared keys and manual links → a gate → as many memories as requested.

*But:* it is not the recall of notes, which finds more over whole conversations and documents (docs/measurements.md has both).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.iris import IRI, MEM
from memento.model import Effect, Read, Skipped
from memento.plugins.keys.match import Candidate, KeyQuery, Matches, match_keys, read_texts
from memento.plugins.keys.nouns import DirectMemory
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.keys.view import KeyEntry
from memento.plugins.keys.walk import Traversal, age_in_days, list_neighbours, record_traversal
from memento.rank import Csr, hops, rrf
from memento.search.postings import Postings, tokens
from memento.search.words import bm25_of_terms
from memento.settings import WordsSettings
from memento.text.spelling import count_edits

_LISTED = 50  # candidates of each ranking
_KEYS = 10  # matched keys that are followed
_ALONE, _BESIDE = 0.8, 0.16  # the factor of a cosine for a memory that no key led to, and for one that a key led to
_RANKS = 61.0  # reciprocal rank fusion with k = 60, ranks from 1
_SURE = 0.999  # the score of a key that the question names, or that is the whole question
_FARTHER = 0.7  # factor of a score that comes from hops alone, when the caller asks for an expanded answer
_FRONT = 5  # memories that hops start from: more of them blur the result, by six to fourteen points of both gold memories in five
_CROWD = 100  # a key that leads to more memories than this says nothing about any single one


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectOptions:
    """
    The options of direct recall: maximum number of memories, number of hops (1 follows no link), and the thresholds of the gate.

    `expand` returns twice as many, and gives memories that only hops found a lower score. `by_keys` is False only for comparisons.
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
class DirectRanking:
    """Scores of memories by id, the hop at which each was found, and the keys that led to it."""

    scores: dict[int, float] = field(default_factory=dict)
    hop: dict[int, int] = field(default_factory=dict)
    via: dict[int, list[KeyEntry]] = field(default_factory=dict)
    keys: list[Candidate] = field(default_factory=list)
    is_only_word_found: bool = False
    """Whether the question is a single word that a memory contains, exactly or but for a slip."""


def rank_directly(
    query: KeyQuery, options: DirectOptions, traversal: Traversal, settings: KeysSettings, words: WordsSettings
) -> tuple[list[DirectMemory], list[Effect]]:
    """
    Return the memories, best first, and the effects of this retrieval on them and on the links that led to them. Call it under
    `indexes.lock`.
    """
    found = match_keys(query, traversal.view, traversal.graph, settings) if options.by_keys else Matches()
    ranking = rank_by_words_and_keys(query, found, traversal, words)
    if not is_anchored(query, found, ranking, options, traversal, settings):
        return [], []
    if options.hops > 1 and options.by_keys:
        add_hops(ranking, options, traversal)
    best = sorted(ranking.scores, key=lambda node: (-ranking.scores[node], node))
    floor = options.least_share * ranking.scores[best[0]] if best else 0.0
    depths = dict(zip(best, traversal.strengths.depths(np.array(best, dtype=np.int32)).tolist(), strict=True))
    kept = [n for n in best if ranking.scores[n] >= floor and depths[n] >= options.least_depth]
    kept = kept[: options.k * (2 if options.expand else 1)]
    return _describe(kept, depths, ranking, query, traversal), _list_effects(kept, ranking, traversal)


def rank_by_words_and_keys(
    query: KeyQuery, found: Matches, traversal: Traversal, words: WordsSettings
) -> DirectRanking:
    """
    Score the memories that the question itself leads to: words and meaning, fused by rank; named keys, depth and age count too.
    """
    view, indexes = traversal.view, traversal.view.indexes
    ranking = DirectRanking(keys=_pick_keys(found, traversal))
    postings = indexes.words(view.graphs, "memory")
    meant, _ = bm25_of_terms(read_only_word(query.text, postings), postings, words.k1, words.b)
    ranking.is_only_word_found = bool(view.visible[meant].any())
    nodes, scores = rank_fuzzily(query.text, postings, words)
    shown = view.visible[nodes]
    nodes, scores = nodes[shown], scores[shown]
    by_words = nodes[np.lexsort((nodes, -scores))[:_LISTED]].tolist()
    by_keys = _rank_by_keys(query, ranking, traversal)
    for one in rrf([by_words, by_keys], _RANKS):
        ranking.scores[one.item] = one.score
    for candidate in ranking.keys:
        if candidate.spelt is not None:
            bonus = view.rarity(candidate.entry) / _RANKS
            for node, weight in zip(*(part.tolist() for part in view.weigh_memories(candidate.entry)), strict=True):
                if node in ranking.scores:
                    ranking.scores[node] += bonus * min(weight, 1.0)
    there = np.fromiter(ranking.scores, dtype=np.int32, count=len(ranking.scores))
    depths = traversal.strengths.depths(there)
    factors = rank.depth_factor(depths) * rank.time_factor(age_in_days(there, traversal), depths)
    for node, factor in zip(there.tolist(), factors.tolist(), strict=True):
        ranking.scores[node] *= factor
        ranking.hop[node] = 1
    return ranking


def add_hops(ranking: DirectRanking, options: DirectOptions, traversal: Traversal) -> None:
    """Add to a ranking what hops over shared keys and manual links find, starting from its best memories."""
    graph, before = _Neighbourhood(traversal), dict(ranking.scores)
    best = sorted(before, key=lambda node: (-before[node], node))[:_FRONT]
    graph.grow(best, options.hops - 1)
    sources = np.arange(len(best), dtype=np.int64)
    base = np.array([before[node] for node in best])
    reached, gained, hop = hops(graph.csr(), sources, base, options.hops, graph.through())
    for place, score, at in zip(reached.tolist(), gained.tolist(), hop.tolist(), strict=True):
        if place >= len(graph.nodes):
            continue  # a key
        node = graph.nodes[place]
        known = before.get(node, 0.0) if place >= len(best) else 0.0
        ranking.hop.setdefault(node, at)
        is_far = options.expand and ranking.hop[node] > 1
        ranking.scores[node] = (known + score) * (_FARTHER if is_far else 1.0)
    for node, entries in graph.entries().items():
        if ranking.hop.get(node, 0) > 1:
            ranking.via.setdefault(node, entries)


def is_anchored(
    query: KeyQuery,
    found: Matches,
    ranking: DirectRanking,
    options: DirectOptions,
    traversal: Traversal,
    settings: KeysSettings,
) -> bool:
    """
    Tell whether the question has an anchor: a named key, a key that is near enough, its only word in a memory, or a memory that is
    near enough and stands out.
    """
    if any(_strength_of(one) >= _SURE for one in ranking.keys):
        return True
    key_gate = settings.key_gate if options.key_gate is None else options.key_gate
    if key_gate > 0 and max((one.own for one in found.candidates.values()), default=0.0) >= key_gate:
        return True
    if ranking.is_only_word_found and options.min_score is None:  # a misspelt word alone has no meaning to compare
        return True
    least = query.limits.min_score if options.min_score is None else options.min_score
    index = traversal.view.indexes.vectors["memory"]
    nodes = np.fromiter(ranking.scores, dtype=np.int32, count=len(ranking.scores))
    if not nodes.size or float(index.cosines(nodes, query.vectors).max()) < least:
        return False
    z = settings.gate_z if options.gate_z is None else options.gate_z
    if z <= 0:
        return True
    own = np.flatnonzero(traversal.view.visible).astype(np.int32)
    return stands_out(index.cosines(own, query.vectors), z)


class _Neighbourhood:
    """The memories around some others and the keys between them, as a small graph."""

    def __init__(self, traversal: Traversal) -> None:
        self._traversal = traversal
        self.nodes: list[int] = []
        self._entries: dict[IRI, KeyEntry] = {}
        self._edges: dict[tuple[int | IRI, int | IRI], float] = {}

    def grow(self, sources: Sequence[int], times: int) -> None:
        """Add what this number of hops leads to."""
        known = dict.fromkeys(sources)
        front = list(sources)
        for _ in range(times):
            new = [node for node in self._list_around(front) if node not in known]
            known |= dict.fromkeys(new)
            front = list(dict.fromkeys(new))
        self.nodes = list(known)

    def csr(self) -> Csr:
        """
        Return the matrix of the graph: memories first, in the order of `nodes`, then keys; each entry is the weight of a link.
        """
        place: dict[int | IRI, int] = {node: at for at, node in enumerate(self.nodes)}
        place |= {iri: len(self.nodes) + at for at, iri in enumerate(self._entries)}
        there = [(place[a], place[b], w) for (a, b), w in self._edges.items() if a in place and b in place]
        columns = [np.array([edge[at] for edge in there]) for at in range(3)]
        return Csr.of(
            len(place), columns[0].astype(np.int64), columns[1].astype(np.int64), columns[2].astype(np.float64)
        )

    def through(self) -> NDArray[np.float64]:
        """Return (n,) 0 for memories and the rarity for keys."""
        rare = [self._traversal.view.rarity(entry) for entry in self._entries.values()]
        return np.array([0.0] * len(self.nodes) + rare)

    def entries(self) -> dict[int, list[KeyEntry]]:
        """Return the keys of each memory."""
        found: dict[int, list[KeyEntry]] = {}
        for a, b in self._edges:
            if isinstance(a, int) and isinstance(b, IRI):
                found.setdefault(a, []).append(self._entries[b])
        return found

    def _list_around(self, front: Sequence[int]) -> list[int]:
        traversal, indexes = self._traversal, self._traversal.view.indexes
        texts = read_texts(front, traversal.view, traversal.graph)
        found: list[int] = []
        for node in front:
            content, title = texts.get(node, ("", None))
            for entry, _ in traversal.view.list_entries(node, content, title):
                if entry.iri not in self._entries and traversal.view.is_telling(entry):
                    found += self._take_in(entry)
        neighbours = list_neighbours([indexes.nodes.iri(node) for node in front], traversal.graph, traversal.readable)
        for (memory, predicate), others in neighbours.items():
            one = indexes.nodes.find(memory)
            for other in map(indexes.nodes.find, others if predicate == MEM.relatedTo else ()):
                if one is not None and other is not None and traversal.view.visible[other]:
                    self._edges[min(one, other), max(one, other)] = 1.0
                    found.append(other)
        return found

    def _take_in(self, entry: KeyEntry) -> list[int]:
        """Add a key and all memories that it leads to; skip a key that leads to too many."""
        nodes, weights = self._traversal.view.weigh_memories(entry)
        if len(nodes) > _CROWD:
            return []
        self._entries[entry.iri] = entry
        shown = self._traversal.view.visible[nodes]
        for node, weight in zip(nodes[shown].tolist(), weights[shown].tolist(), strict=True):
            self._edges[node, entry.iri] = weight
        return list(nodes[shown].tolist())


def _pick_keys(found: Matches, traversal: Traversal) -> list[Candidate]:
    """Return the keys that the question names or means, best first, without keys that match by words alone."""
    named = [one for one in found.candidates.values() if one.spelt is not None or one.own]
    there = [one for one in named if traversal.view.is_telling(one.entry)]
    return sorted(there, key=lambda one: -_strength_of(one))[:_KEYS]


def _strength_of(one: Candidate) -> float:
    return 1.0 if one.spelt is not None and one.entry.is_named else one.own


def _rank_by_keys(query: KeyQuery, ranking: DirectRanking, traversal: Traversal) -> list[int]:
    """Return the memories that keys and meaning lead to, best first."""
    view = traversal.view
    sums: dict[int, float] = {}
    for one in ranking.keys:
        nodes, weights = view.weigh_memories(one.entry)
        if len(nodes) > _CROWD:
            continue
        carried = _strength_of(one) * view.rarity(one.entry)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            if view.visible[node]:
                sums[node] = sums.get(node, 0.0) + carried * weight
                ranking.via.setdefault(node, []).append(one.entry)
    nodes, cosines = view.indexes.vectors["memory"].near(query.vectors, _LISTED, view.visible)
    for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
        if cosine >= query.limits.content_recall:
            sums[node] = sums[node] + _BESIDE * cosine if node in sums else _ALONE * cosine
    return sorted(sums, key=lambda node: (-sums[node], node))[:_LISTED]


def _describe(
    kept: Sequence[int], depths: Mapping[int, float], ranking: DirectRanking, query: KeyQuery, traversal: Traversal
) -> list[DirectMemory]:
    indexes = traversal.view.indexes
    texts = read_texts(kept, traversal.view, traversal.graph)
    neighbours = list_neighbours([indexes.nodes.iri(node) for node in kept], traversal.graph, traversal.readable)
    cosines = indexes.vectors["memory"].cosines(list(kept), query.vectors).tolist()
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
                created_at=traversal.created_at(node),
                via=tuple(dict.fromkeys(entry.name for entry in ranking.via.get(node, ()))),
                contradicts=tuple(neighbours.get((iri, MEM.contradicts), ())),
            )
        )
    return found


def _list_effects(kept: Sequence[int], ranking: DirectRanking, traversal: Traversal) -> list[Effect]:
    """
    Return the effects: returned memories grow deeper; links that led to the best of them grow stronger, other followed links
    weaker.
    """
    nodes = traversal.view.indexes.nodes
    effects: list[Effect] = [Read(memory=nodes.iri(n), graph=nodes.graph(n), at=traversal.now) for n in kept]
    for candidate in ranking.keys:
        reached, weights = traversal.view.weigh_memories(candidate.entry)
        for node, weight in zip(reached.tolist(), weights.tolist(), strict=True):
            if kept and node == kept[0]:
                effects.append(record_traversal(candidate.entry, nodes.iri(node), nodes.graph(node), weight, traversal))
            elif node not in kept and len(reached) <= _CROWD:
                effects.append(Skipped(key=candidate.entry.iri, memory=nodes.iri(node), graph=nodes.graph(node)))
    return effects


FUZZY = 0.2
_AS_PREFIX, _AS_SLIP = 0.375, 0.45
_SHORTEST = 3  # minimum length of a prefix, in letters
_MOST = 20  # maximum number of words that one word may stand for


def rank_fuzzily(
    question: str, postings: Sequence[Postings], settings: WordsSettings
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return every memory that shares a word with a question, exactly or nearly, ascending, and its score (positive)."""
    known: list[str] = []
    sums: dict[int, float] = {}
    for term in tokens(question):
        if any(some.frequency(term) for some in postings):
            known.append(term)
            continue
        for word, weight in expand_word(term, _list_words(postings)):
            _add_scores(sums, [word], weight, postings, settings)
    _add_scores(sums, known, 1.0, postings, settings)
    nodes = np.fromiter(sorted(sums), dtype=np.int32, count=len(sums))
    return nodes, np.array([sums[node] for node in nodes.tolist()])


def read_only_word(question: str, postings: Sequence[Postings]) -> list[str]:
    """
    Return the words of memories that the only word of a question is or was meant to be, with at most one letter in five wrong;
    nothing for a longer question.
    """
    terms = tokens(question)
    if len(terms) != 1 or any(some.frequency(terms[0]) for some in postings):
        return terms if len(terms) == 1 else []
    most = int(FUZZY * len(terms[0]))
    near = (word for word in _list_words(postings) if abs(len(word) - len(terms[0])) <= most) if most else ()
    return [word for word in near if count_edits(terms[0], word, most) <= most]


def expand_word(term: str, words: Iterable[str]) -> list[tuple[str, float]]:
    """
    Return the words that a word may stand for, with their weights, the likeliest first; each letter of difference lowers the
    weight.

    >>> [word for word, _ in expand_word("strawbery", ["strawberi", "straw", "berri", "strawberyfield"])]
    ['strawberi', 'strawberyfield']
    """
    most = round(FUZZY * len(term))
    found: list[tuple[str, float]] = []
    for word in words:
        more = len(word) - len(term)
        if more > 0 and len(term) >= _SHORTEST and word.startswith(term):
            found.append((word, _AS_PREFIX * len(word) / (len(word) + 0.3 * more)))
        elif most and abs(more) <= most and (edits := count_edits(term, word, most)) <= most:
            found.append((word, _AS_SLIP * len(word) / (len(word) + edits)))
    return sorted(found, key=lambda one: (-one[1], one[0]))[:_MOST]


def _list_words(postings: Sequence[Postings]) -> Iterator[str]:
    seen = {id(some.vocabulary): some.vocabulary for some in postings}
    return (word for vocabulary in seen.values() for word in vocabulary.word_list() if " " not in word)


def _add_scores(
    sums: dict[int, float], terms: Sequence[str], weight: float, postings: Sequence[Postings], settings: WordsSettings
) -> None:
    nodes, scores = bm25_of_terms(terms, postings, settings.k1, settings.b)
    for node, score in zip(nodes.tolist(), scores.tolist(), strict=True):
        sums[node] = sums.get(node, 0.0) + weight * score


FEWEST = 8
"""Minimum number of memories for deciding what stands out."""
_NORMAL = 1.4826  # factor from the median absolute deviation of a normal distribution to its standard deviation


def robust_z(cosines: NDArray[np.floating]) -> float | None:
    """
    Return how far the best cosine stands out from the others, in robust standard deviations; None when there is too little data.

    >>> round(robust_z(np.array([0.2, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.9])), 4)
    22.4268

    Source: Iglewicz and Hoaglin 1993, the median and the median absolute deviation.
    """
    x = np.asarray(cosines, dtype=np.float64)
    if x.size < FEWEST:
        return None
    middle = float(np.median(x))
    spread = float(np.median(np.abs(x - middle)))
    return None if spread == 0 else (float(x.max()) - middle) / (_NORMAL * spread)


def stands_out(cosines: NDArray[np.floating], least: float) -> bool:
    """
    Tell whether the best of all cosines stands out by at least `least`; True when there is too little data or nothing is required.
    """
    if least <= 0:
        return True
    found = robust_z(cosines)
    return found is None or found >= least
