"""
Which nodes have which terms, as nodes come and go: arrays for what was there at the last start, small tables for what came since.

*But:* not for several threads at once: whoever owns the postings holds a lock.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memento.search.ragged import begins_of, places_of
from memento.search.segment import Arrays, Segment
from memento.search.stems import tokens
from memento.search.vocabulary import Vocabulary

Nodes = NDArray[np.int32]
Scores = NDArray[np.float32]


@dataclass(slots=True)
class _Row:
    """The nodes that have one term, in no order: how often, and how many words each node has in all."""

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
    The terms of the nodes of one named graph and kind. A term is a word, or two with a space between, or a number.

    >>> postings = Postings()
    >>> postings.add(7, "green tea")
    >>> len(postings), postings.frequency("tea")
    (1, 1)
    """

    def __init__(self, vocabulary: Vocabulary | None = None, segment: Segment | None = None) -> None:
        """
        Args:
            vocabulary: shared with other postings whose terms are numbers of the same words.
            segment: what is in from the beginning.
        """
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self._segment = segment
        self._rows: dict[int, _Row] = {}
        self._terms: dict[int, tuple[int, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._words = 0

    def __len__(self) -> int:
        """Nodes, also those without a word."""
        return len(self._terms) + (self._segment.left if self._segment else 0)

    def __contains__(self, node: int) -> bool:
        return node in self._terms or (self._segment is not None and self._segment.place(node) is not None)

    @property
    def words(self) -> int:
        """Words in all, each as often as it occurs."""
        return self._words + (self._segment.words if self._segment else 0)

    def add(self, node: int, text: str) -> None:
        """Take in a node, or replace its text."""
        self.add_terms(node, tokens(text))

    def add_terms(self, node: int, stems: Sequence[str]) -> None:
        """Take in a node by its terms, or replace them; a term is a stem, or whatever else is asked for."""
        self.add_keys(node, [self.vocabulary.learnt(term) for term in stems])

    def add_keys(self, node: int, keys: Sequence[int]) -> None:
        """The same for terms that are numbers."""
        self.add_counts(node, Counter(keys), len(keys))

    def add_counts(self, node: int, counts: Mapping[int, int], length: int) -> None:
        """The same, each term once with how often the node has it."""
        self.remove(node)
        for key, times in counts.items():
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = _Row()
            row.append(node, times, length)
        self._terms[node] = tuple(counts)
        self._lengths[node] = length
        self._words += length

    def remove(self, node: int) -> None:
        """Let a node go; harmless when it is not there."""
        if node not in self._terms:
            if self._segment is not None:
                self._segment.remove(node)
            return
        for key in self._terms.pop(node):
            row = self._rows[key]
            row.remove(node)
            if not row.nodes:
                del self._rows[key]
        self._words -= self._lengths.pop(node)

    def frequency(self, term: str | int) -> int:
        """How many nodes have a term."""
        key = self.vocabulary.key(term) if isinstance(term, str) else term
        if key is None:
            return 0
        row = self._rows.get(key)
        return (len(row.nodes) if row else 0) + (self._segment.frequency(key) if self._segment else 0)

    def has(self, term: str, node: int) -> bool:
        """Whether one node has a term."""
        key = self.vocabulary.key(term)
        return key is not None and key in self.keys(node)

    def terms(self, node: int) -> tuple[str, ...]:
        """The terms of a node, each once; none when it is not there."""
        return tuple(self.vocabulary.term(key) for key in self.keys(node))

    def keys(self, node: int) -> Sequence[int]:
        """The number of each term of a node, once; none when it is not there."""
        if node in self._terms:
            return self._terms[node]
        return self._segment.keys_of(node) if self._segment is not None else ()

    def counts(self, node: int) -> dict[int, int]:
        """The number of each term of a node, and how often it has it; none when it is not there."""
        if node in self._terms:
            return {key: self._times(key, node) for key in self._terms[node]}
        return self._segment.counts(node) if self._segment is not None else {}

    def having(self, term: str | int) -> tuple[Nodes, Scores, Scores] | None:
        """
        The nodes that have a term, how often, and how many words each has in all: (m,) each, or None.

        The arrays may be views: let go of them before the next `add` or `remove`.
        """
        key = self.vocabulary.key(term) if isinstance(term, str) else term
        if key is None:
            return None
        parts = []
        if self._segment is not None:
            nodes, times, lengths = self._segment.having(key)
            if nodes.size:
                parts.append((nodes, times.astype(np.float32), lengths.astype(np.float32)))
        if row := self._rows.get(key):
            columns = [np.frombuffer(column, dtype=np.int32) for column in (row.nodes, row.times, row.lengths)]
            parts.append((columns[0], columns[1].astype(np.float32), columns[2].astype(np.float32)))
        if len(parts) < 2:
            return parts[0] if parts else None
        first, second = parts
        return (
            np.concatenate([first[0], second[0]]),
            np.concatenate([first[1], second[1]]),
            np.concatenate([first[2], second[2]]),
        )

    def nodes(self, term: str | int) -> Nodes:
        """The nodes that have a term, in no order; a view, as for `having`, of which this is the first part in less time."""
        key = self.vocabulary.key(term) if isinstance(term, str) else term
        parts = [] if key is None or self._segment is None else [self._segment.nodes(key)]
        if key is not None and (row := self._rows.get(key)):
            parts.append(np.frombuffer(row.nodes, dtype=np.int32))
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *parts])

    def settle(self) -> Arrays:
        """Turn all of it into one segment, and give the arrays to keep. Takes some seconds for a million nodes."""
        if self._segment is None or self._terms or self._segment.left < len(self._segment.members):
            self._segment = self._merged()
            self._rows, self._terms, self._lengths, self._words = {}, {}, {}, 0
        return self._segment.arrays()

    def _merged(self) -> Segment:
        nodes = np.array(sorted(self._terms), dtype=np.int32)
        lengths = np.array([self._lengths[node] for node in nodes.tolist()], dtype=np.int32)
        counts = np.array([len(self._terms[node]) for node in nodes.tolist()], dtype=np.int64)
        keys = np.array([key for node in nodes.tolist() for key in self._terms[node]], dtype=np.int64)
        times = self._times_of(nodes, keys, counts)
        if self._segment is None or not self._segment.left:
            return Segment.of(nodes, lengths, counts, keys, times)
        old = self._segment.flat()
        members = np.concatenate([old[0], nodes])
        order = np.argsort(members, kind="stable")
        both = np.concatenate([old[2], counts])
        rows = places_of(begins_of(both), order)
        return Segment.of(
            members[order],
            np.concatenate([old[1], lengths])[order],
            both[order],
            np.concatenate([old[3], keys])[rows],
            np.concatenate([old[4], times])[rows],
        )

    def _times_of(self, nodes: Nodes, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        tables = {
            key: dict(zip(row.nodes.tolist(), row.times.tolist(), strict=True)) for key, row in self._rows.items()
        }
        owners = np.repeat(nodes, counts).tolist()
        return np.array([tables[key][node] for key, node in zip(keys.tolist(), owners, strict=True)], dtype=np.int64)

    def _times(self, key: int, node: int) -> int:
        row = self._rows[key]
        return row.times[int(np.flatnonzero(np.frombuffer(row.nodes, dtype=np.int32) == node)[0])]
