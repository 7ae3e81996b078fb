"""
Exact BM25 over postings that grow and shrink: which nodes share the telling words of a question.

*But:* English stems and stop words; a script without spaces gives one word a run. Not for several threads at once: whoever
owns the postings holds a lock.

*Source:* Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"; idf as in Lucene, which never turns negative.
"""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import Stemmer
from numpy.typing import NDArray

Nodes = NDArray[np.int32]
Scores = NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+")
# No names and no months (will, may, us), no negations, and nothing that says where or when (before, over, since).
STOP_WORDS = frozenset(
    _WORD.findall(
        "a about am an and any are as at be because been being both but by can could d did do does doing each few for from had "
        "has have having he her hers him his how i if in into is it its itself ll m me more most my myself of on once or other "
        "our ours own re s same she should so some such t than that the their theirs them then there these they this those to "
        "too ve very was we were what when where which while who whom why with would you your yours yourself"
    )
)
_of_thread = threading.local()  # PyStemmer keeps a cache that two threads must not touch at once


def tokens(text: str) -> list[str]:
    """
    The stems of a text's words in their order, stop words left out.

    >>> tokens("She's moving to São Paulo!")
    ['move', 'são', 'paulo']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # an accent is a part of its letter, a ligature two letters
    words = [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
    stemmer = getattr(_of_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    stems: list[str] = stemmer.stemWords(words)
    return stems


def pairs(stems: Sequence[str]) -> list[str]:
    """
    Neighbouring stems as one term each, in order.

    >>> pairs(["green", "tea", "pot"])
    ['green tea', 'tea pot']
    """
    return [f"{a} {b}" for a, b in itertools.pairwise(stems)]


@dataclass(slots=True)
class _Row:
    """The nodes that have one word, in no order: how often, and how many words each node has in all."""

    nodes: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=lambda: array("i"))

    def append(self, node: int, times: int, length: int) -> None:
        self.nodes.append(node)
        self.times.append(times)
        self.lengths.append(length)

    def remove(self, node: int) -> None:
        """The last node takes the place of the one that goes."""
        place = int(np.flatnonzero(np.frombuffer(self.nodes, dtype=np.int32) == node)[0])  # `index` is 20 times slower
        for column in (self.nodes, self.times, self.lengths):
            last = column.pop()
            if place < len(column):
                column[place] = last


class Postings:
    """
    The words of the nodes of one named graph and kind.

    >>> postings = Postings()
    >>> postings.add(7, "green tea")
    >>> len(postings), postings.frequency("tea")
    (1, 1)
    """

    def __init__(self) -> None:
        self.words = 0
        """Words in all, each as often as it occurs."""
        self._rows: dict[str, _Row] = {}
        self._terms: dict[int, tuple[str, ...]] = {}
        self._lengths: dict[int, int] = {}

    def __len__(self) -> int:
        """Nodes, also those without a word."""
        return len(self._terms)

    def __contains__(self, node: int) -> bool:
        return node in self._terms

    def add(self, node: int, text: str) -> None:
        """Take in a node, or replace its text."""
        self.add_terms(node, tokens(text))

    def add_terms(self, node: int, stems: Sequence[str]) -> None:
        """Take in a node by its terms, or replace them; a term is a stem, or whatever else is asked for."""
        self.remove(node)
        counts = Counter(stems)
        for term, times in counts.items():
            row = self._rows.get(term)
            if row is None:
                row = self._rows[term] = _Row()
            row.append(node, times, len(stems))
        self._terms[node] = tuple(counts)
        self._lengths[node] = len(stems)
        self.words += len(stems)

    def remove(self, node: int) -> None:
        """Let a node go; harmless when it is not there."""
        for term in self._terms.pop(node, ()):
            row = self._rows[term]
            row.remove(node)
            if not row.nodes:
                del self._rows[term]
        self.words -= self._lengths.pop(node, 0)

    def frequency(self, term: str) -> int:
        """How many nodes have a word, given as its stem."""
        row = self._rows.get(term)
        return len(row.nodes) if row else 0

    def terms(self, node: int) -> tuple[str, ...]:
        """The terms of a node, each once; none when it is not there."""
        return self._terms.get(node, ())

    def having(self, term: str) -> tuple[Nodes, Scores, Scores] | None:
        """
        The nodes that have a word, how often, and how many words each has in all: (m,) each, or None.

        The arrays are views: let go of them before the next `add` or `remove`.
        """
        row = self._rows.get(term)
        if row is None:
            return None
        nodes, times, lengths = (
            np.frombuffer(column, dtype=np.int32) for column in (row.nodes, row.times, row.lengths)
        )
        return nodes, times.astype(np.float32), lengths.astype(np.float32)


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
    slots = np.flatnonzero(sums)  # a score is never zero
    return (slots + begin).astype(np.int32), sums[slots].astype(np.float32)
