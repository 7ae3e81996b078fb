"""
Which nodes have which terms, as nodes come and go, and the terms of a text. The state at the last start is in arrays, later changes
are in small tables.

*Flow:* `tokens` returns the stems of a text, without stop words; a `Vocabulary` numbers them; a `Segment` is the larger part of
some postings, in fixed arrays that can be mapped into memory from a file; `Postings` joins it with later changes.

*But:* not thread-safe: the owner of the postings holds a lock.
"""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import numpy as np
import Stemmer
from numpy.typing import NDArray

from memento.search.arrays import Arrays, begins_of, places_of
from memento.text.words import STOP_WORDS

_WORD = re.compile(r"[^\W_]+")
_of_thread = threading.local()  # PyStemmer has a cache that two threads must not use at once


def tokens(text: str) -> list[str]:
    """
    Return the stems of a text's words in their order, without stop words.

    >>> tokens("She's moving to São Paulo!")
    ['move', 'são', 'paulo']
    """
    return stem_words([word for word in split_words(text) if word not in STOP_WORDS])


def split_words(text: str) -> list[str]:
    """
    Return the words of a text in their order, lower-cased, with stop words.

    >>> split_words("She's moving")
    ['she', 's', 'moving']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # join an accent with its letter, split a ligature into two letters
    return _WORD.findall(text.lower())


@lru_cache(maxsize=20_000)
def _read_words(text: str) -> tuple[str, ...]:
    """Return the words of a text; cached, because other pools read the same texts."""
    return tuple(split_words(text))


def stem_words(words: list[str]) -> list[str]:
    """Return the stem of each of some lower-cased words."""
    stemmer = getattr(_of_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    stems: list[str] = stemmer.stemWords(words)
    return stems


def pairs(stems: Sequence[str]) -> list[str]:
    """
    Return each pair of neighbouring stems as one term, in order.

    >>> pairs(["green", "tea", "pot"])
    ['green tea', 'tea pot']
    """
    return [f"{a} {b}" for a, b in itertools.pairwise(stems)]


Keys = NDArray[np.int64]


class Vocabulary:
    """
    Words numbered in the order in which they came. A number is never reused; a word that no node has any more keeps its number.

    >>> known = Vocabulary()
    >>> known.learn("green"), known.learn("tea"), known.learn("green tea") == known.key("green tea")
    (0, 1, True)
    >>> known.key("pot"), known.term(known.key("green tea"))
    (None, 'green tea')
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = list(words)
        self._numbers = {word: number for number, word in enumerate(self._words)}

    def __len__(self) -> int:
        return len(self._words)

    def key(self, term: str) -> int | None:
        """Return the number of a word, or of a pair of words separated by a space; None when a word is unknown."""
        number = self._numbers.get(term)
        if number is not None or " " not in term:
            return number
        first, second = term.split(" ", 1)
        one, other = self._numbers.get(first), self._numbers.get(second)
        return None if one is None or other is None else pair(one, other)

    def learn(self, term: str) -> int:
        """Do the same, and number unknown words."""
        if " " in term:
            first, second = term.split(" ", 1)
            return pair(self.learn(first), self.learn(second))
        number = self._numbers.setdefault(term, len(self._words))
        if number == len(self._words):
            self._words.append(term)
        return number

    def number(self, label: str) -> int | None:
        """Return the number of a label of any length that was learnt as one term; None when it was not."""
        return self._numbers.get(label)

    def whole(self, label: str) -> int:
        """Return the number of a label of any length as one term, and learn it if it is unknown."""
        number = self._numbers.setdefault(label, len(self._words))
        if number == len(self._words):
            self._words.append(label)
        return number

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of some words, none of them a pair, and number the unknown ones."""
        known, listed = self._numbers, self._words
        numbers = []
        for word in words:
            number = known.get(word)
            if number is None:
                number = known[word] = len(listed)
                listed.append(word)
            numbers.append(number)
        return numbers

    def term(self, key: int) -> str:
        """Return the term with a number; raise `IndexError` when there is none."""
        if key < 1 << 32:
            return self._words[key]
        return f"{self._words[(key >> 32) - 1]} {self._words[key & 0xFFFFFFFF]}"

    def word_list(self) -> list[str]:
        """Return all words in the order of their numbers."""
        return self._words


class StemNumbers:
    """Stem numbers of many texts: each distinct word is stemmed once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._known = _Known(vocabulary)

    def number_stems(self, text: str) -> list[int]:
        """
        Return `vocabulary.numbers(tokens(text))`.

        >>> StemNumbers(Vocabulary()).number_stems("the teas and the tea")
        [0, 0]
        """
        known = self._known
        return [number for word in _read_words(text) if (number := known[word]) >= 0]


class _Known(dict[str, int]):
    """Word → the number of its stem, −1 for a stop word."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(dict.fromkeys(STOP_WORDS, -1))
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        (number,) = self._vocabulary.numbers([_stem_word(word)])
        self[word] = number
        return number


@lru_cache(maxsize=100_000)  # pools share most of their words
def _stem_word(word: str) -> str:
    return stem_words([word])[0]


def pair(first: int, second: int) -> int:
    """Return the number of two neighbouring words; no single word has such a number."""
    return (first + 1) << 32 | second


def pair_arrays(first: NDArray[np.integer], second: NDArray[np.integer]) -> Keys:
    """Return (n,) the same numbers for arrays."""
    return np.asarray((first.astype(np.int64) + 1) << 32 | second.astype(np.int64))


Ids = NDArray[np.int32]

_KEPT = ("members", "lengths", "keys", "begins", "places", "times", "firsts", "terms")


@dataclass(slots=True, eq=False)
class Segment:
    """
    Which nodes have which terms. A term is given by its number, a place is a row of `members`.

    The nodes of `keys[i]` are `members[places[begins[i]:begins[i + 1]]]`, ascending; `times` says how often each has the term. The
    terms of `members[p]` are `keys[terms[firsts[p]:firsts[p + 1]]]`.
    """

    members: Ids  # (n,) ascending
    lengths: Ids  # (n,) words of each node, repeated ones counted again
    keys: NDArray[np.int64]  # (v,) ascending
    begins: NDArray[np.int64]  # (v + 1,)
    places: Ids  # (p,)
    times: NDArray[np.uint16]  # (p,)
    firsts: NDArray[np.int64]  # (n + 1,)
    terms: Ids  # (p,)
    here: NDArray[np.bool_] = field(init=False)  # (n,) False for removed nodes
    left: int = field(init=False)
    words: int = field(init=False)
    lost: dict[int, int] = field(init=False)  # place of a key → number of removed nodes that had it

    def __post_init__(self) -> None:
        self.here = np.ones(len(self.members), dtype=np.bool_)
        self.left = len(self.members)
        self.words = int(self.lengths.sum(dtype=np.int64))
        self.lost = {}

    @classmethod
    def of(
        cls,
        members: Ids,
        lengths: NDArray[np.integer],
        counts: NDArray[np.integer],
        keys: NDArray[np.int64],
        times: NDArray[np.integer] | None = None,
    ) -> Self:
        """
        Build the segment of some nodes.

        Args:
            members: (n,) ascending.
            lengths: (n,) number of words of each.
            counts: (n,) how many of `keys` belong to each node.
            keys: (m,) terms, node after node; repeated ones are counted again.
            times: (m,) how often each node has the term; once when not given.
        """
        places = np.repeat(np.arange(len(members), dtype=np.int32), counts)
        order = np.argsort(keys, kind="stable")  # places stay ascending within a key
        keys, places = keys[order], places[order]
        is_key = np.ones(len(keys), dtype=np.bool_)
        is_key[1:] = keys[1:] != keys[:-1]
        is_new = is_key.copy()
        is_new[1:] |= places[1:] != places[:-1]
        starts = np.flatnonzero(is_new)
        if times is None:
            summed = np.diff(np.append(starts, len(keys)))
        else:
            summed = np.add.reduceat(times[order].astype(np.int64), starts) if starts.size else np.zeros(0, np.int64)
        of_key = np.flatnonzero(is_key[starts])
        places, key_of = places[starts], np.cumsum(is_key[starts], dtype=np.int32) - np.int32(1)
        by_member = np.argsort(places, kind="stable")
        return cls(
            members=np.asarray(members, dtype=np.int32),
            lengths=np.asarray(lengths, dtype=np.int32),
            keys=keys[starts][of_key],
            begins=np.append(of_key, len(starts)).astype(np.int64),
            places=places,
            times=np.minimum(summed, 0xFFFF).astype(np.uint16),
            firsts=begins_of(np.bincount(places, minlength=len(members))),
            terms=np.asarray(key_of[by_member], dtype=np.int32),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """Restore from what `arrays` returned."""
        return cls(**{name: arrays[name] for name in _KEPT})  # type: ignore[arg-type]  # dtypes are those of the file

    def arrays(self) -> Arrays:
        """Return the arrays to store; call it only while no node is removed."""
        return {name: getattr(self, name) for name in _KEPT}

    def find_row(self, node: int) -> int | None:
        """Return the row of a node, or None when it is missing."""
        place = int(self.members.searchsorted(np.int32(node)))  # with another type, numpy would copy all members
        return place if place < len(self.members) and self.members[place] == node and self.here[place] else None

    def frequency(self, key: int) -> int:
        """Return the number of nodes that have a term."""
        at = self._key(key)
        return 0 if at is None else int(self.begins[at + 1] - self.begins[at]) - self.lost.get(at, 0)

    def nodes(self, key: int) -> Ids:
        """Return the nodes that have a term, ascending."""
        at = self._key(key)
        places = self.places[:0] if at is None else self.places[int(self.begins[at]) : int(self.begins[at + 1])]
        return self.members[places[self.here[places]] if at in self.lost else places]

    def having(self, key: int) -> tuple[Ids, NDArray[np.uint16], Ids]:
        """Return the nodes that have a term, ascending, how often, and the number of words of each: (m,) each."""
        at = self._key(key)
        begin, end = (0, 0) if at is None else (int(self.begins[at]), int(self.begins[at + 1]))
        places, times = self.places[begin:end], self.times[begin:end]
        if at in self.lost:
            seen = self.here[places]
            places, times = places[seen], times[seen]
        return self.members[places], times, self.lengths[places]

    def keys_of(self, node: int) -> list[int]:
        """Return each term of a node; empty when it is missing."""
        place = self.find_row(node)
        keys: list[int] = [] if place is None else self.keys[self._terms(place)].tolist()
        return keys

    def counts(self, node: int) -> dict[int, int]:
        """Return each term of a node, and how often it has it; empty when it is missing."""
        place = self.find_row(node)
        counts: dict[int, int] = {}
        if place is None:
            return counts
        for at in self._terms(place).tolist():
            begin, end = int(self.begins[at]), int(self.begins[at + 1])
            row = begin + int(self.places[begin:end].searchsorted(np.int32(place)))
            counts[int(self.keys[at])] = int(self.times[row])
        return counts

    def remove(self, node: int) -> bool:
        """Remove a node; return False when it is missing."""
        place = self.find_row(node)
        if place is None:
            return False
        for at in self._terms(place).tolist():
            self.lost[at] = self.lost.get(at, 0) + 1
        self.here[place] = False
        self.left -= 1
        self.words -= int(self.lengths[place])
        return True

    def flat(self) -> tuple[Ids, Ids, NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]:
        """Return (members, lengths, counts, keys, times) of the remaining nodes, as `of` takes them."""
        by_member = np.argsort(self.places, kind="stable")
        kept = np.flatnonzero(self.here)
        rows = places_of(self.firsts, kept)
        counts = np.diff(self.firsts)[kept]
        return self.members[kept], self.lengths[kept], counts, self.keys[self.terms[rows]], self.times[by_member[rows]]

    def _terms(self, place: int) -> Ids:
        return self.terms[int(self.firsts[place]) : int(self.firsts[place + 1])]

    def _key(self, key: int) -> int | None:
        if 0 <= key < len(self.keys) and self.keys[key] == key:  # nearly every number is in use
            return key
        at = int(np.searchsorted(self.keys, key))
        return at if at < len(self.keys) and self.keys[at] == key else None


_SHORT = 256  # number of nodes up to which a linear search is faster
Nodes = NDArray[np.int32]
Scores = NDArray[np.float32]


@dataclass(slots=True)
class _Row:
    """The nodes that have one term, unordered: how often each has it, and its number of words."""

    nodes: array[int] = field(default_factory=lambda: array("i"))
    times: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=lambda: array("i"))

    def append(self, node: int, times: int, length: int) -> None:
        self.nodes.append(node)
        self.times.append(times)
        self.lengths.append(length)

    def remove(self, node: int) -> None:
        """Remove a node; the last one takes its position."""
        if len(self.nodes) <= _SHORT:
            place = self.nodes.index(node)
        else:  # `index` is 20 times slower there
            place = int(np.flatnonzero(np.frombuffer(self.nodes, dtype=np.int32) == node)[0])
        for column in (self.nodes, self.times, self.lengths):
            last = column.pop()
            if place < len(column):
                column[place] = last


@dataclass(frozen=True, slots=True)
class Frequencies:
    """
    Statistics of a large set of nodes of which the postings hold a part: the number of nodes, and the terms of a sample of them.
    """

    nodes: int
    sampled: int
    """At least 1."""
    of: Mapping[str, int]
    """The number of sampled nodes that have each stem."""

    def estimate(self, term: str) -> int:
        """Estimate how many of all nodes have a stem; 0 where the sample lacks it."""
        return round(self.of.get(term, 0) * self.nodes / self.sampled)


class Postings:
    """
    The terms of the nodes of one named graph and kind. A term is a word, a pair of words separated by a space, or a number.

    >>> postings = Postings()
    >>> postings.add(7, "green tea")
    >>> len(postings), postings.frequency("tea")
    (1, 1)
    """

    def __init__(self, vocabulary: Vocabulary | None = None, segment: Segment | None = None) -> None:
        """
        Args:
            vocabulary: shared with other postings whose terms use the same word numbers.
            segment: the initial content.
        """
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self._segment = segment
        self._rows: dict[int, _Row] = {}
        self._terms: dict[int, tuple[int, ...]] = {}
        self._lengths: dict[int, int] = {}
        self._words = 0
        self.beyond: Frequencies | None = None
        """Set where these postings hold only a part of the nodes to count."""

    @property
    def population(self) -> int:
        """The number of nodes, including those that are not loaded here."""
        return len(self) if self.beyond is None else max(len(self), self.beyond.nodes)

    def document_frequency(self, term: str) -> int:
        """
        Return how many nodes of the population have a term: rare terms are all here, the others are estimated from the sample.
        """
        return self.frequency(term) if self.beyond is None else max(self.frequency(term), self.beyond.estimate(term))

    def __len__(self) -> int:
        """Return the number of nodes, including those without a word."""
        return len(self._terms) + (self._segment.left if self._segment else 0)

    def __contains__(self, node: int) -> bool:
        return node in self._terms or (self._segment is not None and self._segment.find_row(node) is not None)

    @property
    def word_count(self) -> int:
        """The total number of words, repeated ones counted again."""
        return self._words + (self._segment.words if self._segment else 0)

    def add(self, node: int, text: str) -> None:
        """Add a node, or replace its text."""
        self.add_terms(node, tokens(text))

    def add_terms(self, node: int, stems: Sequence[str]) -> None:
        """Add a node by its terms, or replace them; a term is a stem or any other string."""
        self.add_keys(node, [self.vocabulary.learn(term) for term in stems])

    def add_keys(self, node: int, keys: Sequence[int]) -> None:
        """Do the same for terms given as numbers."""
        self.add_counts(node, Counter(keys), len(keys))

    def add_counts(self, node: int, counts: Mapping[int, int], length: int) -> None:
        """Do the same for distinct terms, each with how often the node has it."""
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
        """Remove a node; harmless when it is missing."""
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
        """Return the number of nodes that have a term."""
        key = self.vocabulary.key(term) if isinstance(term, str) else term
        if key is None:
            return 0
        row = self._rows.get(key)
        return (len(row.nodes) if row else 0) + (self._segment.frequency(key) if self._segment else 0)

    def has(self, term: str, node: int) -> bool:
        """Return whether one node has a term."""
        key = self.vocabulary.key(term)
        return key is not None and key in self.keys(node)

    def terms(self, node: int) -> tuple[str, ...]:
        """Return the distinct terms of a node; empty when it is missing."""
        return tuple(self.vocabulary.term(key) for key in self.keys(node))

    def keys(self, node: int) -> Sequence[int]:
        """Return the numbers of a node's distinct terms; empty when it is missing."""
        if node in self._terms:
            return self._terms[node]
        return self._segment.keys_of(node) if self._segment is not None else ()

    def gather(self, nodes: Nodes) -> tuple[NDArray[np.int64], Keys]:
        """Return (n,) the number of terms of each node, and the number of each term, node after node."""
        counts = np.zeros(len(nodes), dtype=np.int64)
        parts: list[Keys | Sequence[int]] = [()] * len(nodes)
        for place, node in enumerate(nodes.tolist() if self._terms else ()):
            if (own := self._terms.get(node)) is not None:
                parts[place], counts[place] = own, len(own)
        if self._segment is None:
            return counts, np.array([key for part in parts for key in part], dtype=np.int64)
        segment = self._segment
        places = np.minimum(segment.members.searchsorted(nodes), max(len(segment.members) - 1, 0))
        here = np.zeros(len(nodes), dtype=np.bool_)
        if segment.members.size:
            here = (segment.members[places] == nodes) & segment.here[places] & (counts == 0)
        rows = places[here].astype(np.int64)
        counts[here] = segment.firsts[rows + 1] - segment.firsts[rows]
        keys = np.zeros(int(counts.sum()), dtype=np.int64)
        ends = np.cumsum(counts)
        owner = np.repeat(here, counts)
        keys[owner] = segment.keys[segment.terms[places_of(segment.firsts, rows)]]
        for place in np.flatnonzero((counts > 0) & ~here).tolist():
            keys[ends[place] - counts[place] : ends[place]] = parts[place]
        return counts, keys

    def counts(self, node: int) -> dict[int, int]:
        """Return the number of each term of a node, and how often it has it; empty when it is missing."""
        if node in self._terms:
            return {key: self._times(key, node) for key in self._terms[node]}
        return self._segment.counts(node) if self._segment is not None else {}

    def having(self, term: str | int) -> tuple[Nodes, Scores, Scores] | None:
        """
        Return the nodes that have a term, how often, and the number of words of each: (m,) each, or None.

        The arrays may be views: do not use them after the next `add` or `remove`.
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
        """Return the nodes that have a term, unordered; possibly a view. The same as the first part of `having`, in less time."""
        key = self.vocabulary.key(term) if isinstance(term, str) else term
        parts = [] if key is None or self._segment is None else [self._segment.nodes(key)]
        if key is not None and (row := self._rows.get(key)):
            parts.append(np.frombuffer(row.nodes, dtype=np.int32))
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *parts])

    def merge_all(self) -> Arrays:
        """Merge everything into one segment, and return the arrays to store. Takes some seconds for a million nodes."""
        if self._segment is None or self._terms or self._segment.left < len(self._segment.members):
            self._segment = self._merge()
            self._rows, self._terms, self._lengths, self._words = {}, {}, {}, 0
        return self._segment.arrays()

    def _merge(self) -> Segment:
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
