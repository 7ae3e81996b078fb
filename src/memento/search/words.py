"""
Exact BM25 over postings that grow and shrink: which nodes share the telling words of a question.

*But:* stems and stop words are English; in a script without spaces a whole run counts as one word.

*Source:* Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"; idf as in Lucene, which never turns negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, Index, Placed, Update, register
from memento.search.nodes import Kind, Record
from memento.search.postings import Nodes, Postings, Scores, Segment, pairs, tokens
from memento.text.words import STOP_WORDS

__all__ = ["STOP_WORDS", "Nodes", "Postings", "Scores", "Words", "bm25", "bm25_of_terms", "pairs", "tokens"]


@register
class Words(Index):
    """The words of memories and anchors: postings for each named graph and kind."""

    name = "words"

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._postings: dict[tuple[IRI, Kind], Postings] = {}

    def postings(self, graphs: Sequence[IRI], kind: Kind) -> list[Postings]:
        """Return the postings of some graphs, for `bm25`."""
        return [self._postings[graph, kind] for graph in graphs if (graph, kind) in self._postings]

    def apply(self, update: Update) -> None:
        for node, record in update.fresh:
            if record.kind == "key":
                continue
            place = (record.graph, cast(Kind, record.kind))
            if place not in self._postings:
                self._postings[place] = Postings(self.context.vocabulary)
            self._postings[place].add(node, self.context.text(record))

    def fill(self, everything: Everything) -> None:
        for graph, some in everything.by_graph("anchor").items():
            texts = {node: everything.numbers.number_stems(self.context.text(record)) for node, record in some}
            self._postings[graph, "anchor"] = self._fill_postings(texts)
        for graph, some in everything.by_graph("memory").items():
            self._postings[graph, "memory"] = self._fill_postings(self._stem_memories(some, everything))

    def _stem_memories(self, memories: Sequence[Placed], everything: Everything) -> dict[int, list[int]]:
        """Return the stems of each memory, preceded by those of its speaker's name."""
        leads: dict[str, list[int]] = {}
        texts: dict[int, list[int]] = {}
        for node, record in memories:
            speaker = self.context.name(IRI(record.first(MEM.saidBy)))
            if speaker not in leads:
                leads[speaker] = everything.numbers.number_stems(speaker)
            title, content = everything.stem(node, record)
            texts[node] = [*leads[speaker], *title, *content]
        return texts

    def _fill_postings(self, texts: Mapping[int, Sequence[int]]) -> Postings:
        """Return the postings of some nodes, added by ascending id."""
        nodes = np.fromiter(texts, dtype=np.int32, count=len(texts))
        counts = np.fromiter(map(len, texts.values()), dtype=np.int64, count=len(texts))
        keys = np.fromiter((key for stems in texts.values() for key in stems), dtype=np.int64, count=int(counts.sum()))
        return Postings(self.context.vocabulary, Segment.of(nodes, counts.astype(np.int32), counts, keys))

    def drop(self, node: int) -> None:
        postings = self._postings.get((self.context.nodes.graph(node), self.context.nodes.kind(node)))
        if postings is not None:
            postings.remove(node)

    def holds(self, node: int, record: Record) -> bool:
        postings = self._postings.get((record.graph, cast(Kind, record.kind)))
        return record.kind == "key" or (postings is not None and node in postings)

    def arrays(self) -> Arrays:
        parts: dict[str, Mapping[str, NDArray[Any]]] = {
            str(number): postings.merge_all() for number, postings in enumerate(self._postings.values())
        }
        parts["graphs"] = pack_strings([graph for graph, _ in self._postings])
        parts["kinds"] = pack_strings([kind for _, kind in self._postings])
        return nest_arrays(parts)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        graphs, kinds = (unpack_strings(select_part(arrays, name)) for name in ("graphs", "kinds"))
        for number, (graph, kind) in enumerate(zip(graphs, kinds, strict=True)):
            segment = Segment.from_arrays(select_part(arrays, str(number)))
            self._postings[IRI(graph), cast(Kind, kind)] = Postings(self.context.vocabulary, segment)


def bm25(question: str, collections: Sequence[Postings], k1: float, b: float) -> tuple[Nodes, Scores]:
    """
    Return every node that shares a word with the question, ascending, and its score (positive, unbounded): (m,) each.

        score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length)),  idf = ln(1 + (N − df + ½) / (df + ½))

    summed over the words of the question, repeated ones counted again. N, df and the mean length are those of all collections
    together, so memories outside of them do not affect a reader's scores.

    Args:
        k1: how slowly repeated words stop counting, from 0.
        b: how much long texts are discounted, 0..1.

    >>> postings = Postings()
    >>> postings.add(1, "green tea")
    >>> postings.add(2, "black coffee")
    >>> nodes, scores = bm25("Any tea?", [postings], k1=1.2, b=0.75)
    >>> nodes.tolist(), scores.round(4).tolist()
    ([1], [0.6930999755859375])
    """
    return bm25_of_terms(tokens(question), collections, k1, b)


def bm25_of_terms(terms: Sequence[str], collections: Sequence[Postings], k1: float, b: float) -> tuple[Nodes, Scores]:
    """Do the same for a question given as terms, over postings that were filled by `add_terms`."""
    asked = Counter(terms)
    here, n = sum(map(len, collections)), sum(postings.population for postings in collections)
    mean = sum(postings.word_count for postings in collections) / here if here else 0.0
    nodes: list[Nodes] = []
    scores: list[Scores] = []
    for term, repeated in asked.items():
        df = sum(postings.document_frequency(term) for postings in collections)
        weight = np.float32(repeated * np.log1p((n - df + 0.5) / (df + 0.5)) * (k1 + 1.0))
        for found, tf, length in _postings_with(term, collections):
            nodes.append(found)
            norm = np.float32(k1 * (1.0 - b)) + np.float32(k1 * b / mean) * length
            scores.append(np.asarray(weight * tf / (tf + norm), dtype=np.float32))
    if not nodes:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    return _sum_scores(np.concatenate(nodes), np.concatenate(scores))


def _postings_with(term: str, collections: Sequence[Postings]) -> Iterator[tuple[Nodes, Scores, Scores]]:
    return (found for postings in collections if (found := postings.having(term)) is not None)


def _sum_scores(nodes: Nodes, scores: Scores) -> tuple[Nodes, Scores]:
    """Return distinct nodes, ascending, and the sum of the scores of each."""
    begin, end = int(nodes.min()), int(nodes.max()) + 1
    if end - begin > 16 * len(nodes):  # few nodes among many ids: sorting is cheaper than a slot for each id
        distinct, place = np.unique(nodes, return_inverse=True)
        return distinct, np.bincount(place, weights=scores).astype(np.float32)
    sums = np.bincount(nodes - begin, weights=scores)
    slots = np.flatnonzero(sums > 0)  # every score is above zero
    return (slots + begin).astype(np.int32), sums[slots].astype(np.float32)
