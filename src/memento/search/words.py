"""
Exact BM25 over postings that grow and shrink: which nodes share the telling words of a question.

*But:* English stems and stop words; a script without spaces gives one word a run.

*Source:* Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"; idf as in Lucene, which never turns negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from memento.search.postings import Nodes, Postings, Scores
from memento.search.stems import STOP_WORDS, pairs, tokens

__all__ = ["STOP_WORDS", "Nodes", "Postings", "Scores", "bm25", "bm25_of_terms", "pairs", "tokens"]


def bm25(question: str, collections: Sequence[Postings], k1: float, b: float) -> tuple[Nodes, Scores]:
    """
    Every node that shares a word with the question, ascending, and its score (positive, unbounded): (m,) each.

        score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length)),  idf = ln(1 + (N − df + ½) / (df + ½))

    over the words of the question, repeated ones counting again. N, df and the mean length are those of all collections
    together: what else is stored elsewhere does not move a reader's scores.

    Args:
        k1: how soon repeated words stop counting, from 0.
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
    """The same for a question given as terms, for postings that were filled by `add_terms`."""
    asked = Counter(terms)
    n = sum(map(len, collections))
    mean = sum(postings.words for postings in collections) / n if n else 0.0
    nodes: list[Nodes] = []
    scores: list[Scores] = []
    for term, repeated in asked.items():
        df = sum(postings.frequency(term) for postings in collections)
        weight = np.float32(repeated * np.log1p((n - df + 0.5) / (df + 0.5)) * (k1 + 1.0))
        for found, tf, length in _found(term, collections):
            nodes.append(found)
            norm = np.float32(k1 * (1.0 - b)) + np.float32(k1 * b / mean) * length
            scores.append(np.asarray(weight * tf / (tf + norm), dtype=np.float32))
    if not nodes:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    return _summed(np.concatenate(nodes), np.concatenate(scores))


def _found(term: str, collections: Sequence[Postings]) -> Iterator[tuple[Nodes, Scores, Scores]]:
    return (found for postings in collections if (found := postings.having(term)) is not None)


def _summed(nodes: Nodes, scores: Scores) -> tuple[Nodes, Scores]:
    """Distinct nodes, ascending, and the sum of the scores of each."""
    begin, end = int(nodes.min()), int(nodes.max()) + 1
    if end - begin > 16 * len(nodes):  # few among many ids: sorting is cheaper than a slot for each id
        distinct, place = np.unique(nodes, return_inverse=True)
        return distinct, np.bincount(place, weights=scores).astype(np.float32)
    sums = np.bincount(nodes - begin, weights=scores)
    slots = np.flatnonzero(sums > 0)  # a score is never zero
    return (slots + begin).astype(np.int32), sums[slots].astype(np.float32)
