"""
What a memory is read together with: the turns beside it, the session it belongs to, and the shape of its sentence.

A memory that belongs to no conversation is its own passage: title and content.

*Guarantees:* adding or removing a turn changes its neighbours' passages too, so the state depends on what is in, not on
how it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.search.archive import nested, part
from memento.search.nearest import VectorIndex
from memento.search.nodes import Mask
from memento.search.postings import Postings
from memento.search.ragged import Log
from memento.search.segment import Arrays, Segment
from memento.search.stems import tokens
from memento.search.turns import Turn, Turns
from memento.search.vocabulary import Vocabulary, pair, paired

_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|since|week(?:end)?s?|months?|years?|days?|morning|evening|noon|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|(?:19|20)\d\d|\d{1,2}(?::\d\d)?\s?[ap]m)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|once|twice|"
    r"couple|few|several|half)\b",
    re.IGNORECASE,
)

Shapes = NDArray[np.float32]
"""(n, 4): words / 40 at most 1, ends with a question mark, has a time word, has a number word."""


@dataclass(frozen=True, slots=True)
class Row:
    """A memory as `fill` takes it. The stems, by their numbers, are those of the content; with no turn, of the title before."""

    node: int
    content: str
    stems: Sequence[int]
    turn: Turn | None


class Passages:
    """The passages of the memories of one named graph."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self.turns = Turns()
        self.context = Postings(self.vocabulary)
        """Title and content, or the turn before and this one, without the names of the speakers."""
        self.pairs = Postings(self.vocabulary)
        """Pairs of neighbouring stems, over the turn before, this one and the next."""
        self._sessions = Postings(self.vocabulary)
        self._unread: set[int] = set()
        self._said = Log(np.int32)  # the stems of each turn, by their numbers
        self._shapes = np.zeros((0, 4), dtype=np.float32)
        self._beside = np.full((0, 2), -1, dtype=np.int32)
        self._known = np.zeros(0, dtype=np.bool_)
        self._used = 0  # one more than the largest id
        self.norms = np.full(0, np.nan, dtype=np.float32)
        """(n,) length of the sum of the three vectors of a window, where somebody has worked it out; else NaN."""

    def put(self, node: int, content: str, title: str, turn: Turn | None) -> None:
        """Take a memory in, or replace what it was; `turn` is its place in a conversation, if it has one."""
        self.drop(node)
        self._grow(node + 1)
        self._used = max(self._used, node + 1)
        self._shapes[node] = _shape(content)
        self._known[node] = True
        if turn is None:
            stems = self.vocabulary.numbers(tokens(f"{title}. {content}" if title else content))
            self.context.add_keys(node, stems)
            self.pairs.add_keys(node, [pair(a, b) for a, b in pairwise(stems)])
            return
        self.turns.put(turn)
        self._said.put(node, self.vocabulary.numbers(tokens(turn.content)))
        self._read(self.turns.session_of(node), [node, *self.turns.beside(node)])

    def drop(self, node: int) -> None:
        """Let a memory go; harmless when it is not there."""
        self.context.remove(node)
        self.pairs.remove(node)
        if node < len(self._beside):
            self._beside[node] = -1
            self._known[node] = False
        session, beside = self.turns.session_of(node), self.turns.beside(node)
        self.turns.drop(node)
        if session >= 0:
            self._said.put(node, [])
            self._read(session, beside)

    def fill(self, rows: Sequence[Row]) -> None:
        """Take in many memories where there are none: the same as `put` for each, in a fraction of the time."""
        nodes = np.array([row.node for row in rows], dtype=np.int32)
        self._grow(int(nodes.max(initial=-1)) + 1)
        self._known[nodes] = True
        self._used = int(nodes.max(initial=-1)) + 1
        self._shapes[nodes] = np.array([_shape(row.content) for row in rows], dtype=np.float32).reshape(-1, 4)
        spoken = self.turns.fill([row.turn for row in rows if row.turn])
        sessions = self.turns.sessions_of(spoken)
        same = sessions[1:] == sessions[:-1]
        self._beside[spoken[1:][same], 0] = spoken[:-1][same]
        self._beside[spoken[:-1][same], 1] = spoken[1:][same]
        self.norms[nodes] = np.nan
        counts = np.array([len(row.stems) for row in rows], dtype=np.int64)
        flat = np.fromiter((stem for row in rows for stem in row.stems), dtype=np.int32, count=int(counts.sum()))
        all_stems = Log.of(nodes, counts, flat)
        self._said = Log.of(spoken, all_stems.count(spoken), all_stems.gathered(spoken))
        nodes = np.sort(nodes)
        lead, tail = self._beside[nodes, 0], self._beside[nodes, 1]
        stems, lengths = all_stems.joined([lead, nodes])
        self.context = Postings(self.vocabulary, Segment.of(nodes, lengths, lengths, stems))
        stems, lengths = all_stems.joined([lead, nodes, tail])
        keys, lengths = _paired(stems, lengths)
        self.pairs = Postings(self.vocabulary, Segment.of(nodes, lengths, lengths, keys))
        self._fill_sessions(spoken, sessions)

    def _fill_sessions(self, spoken: NDArray[np.int32], sessions: NDArray[np.int32]) -> None:
        numbers = np.unique(sessions)
        lengths = np.bincount(sessions, weights=self._said.count(spoken))[numbers].astype(np.int64)
        stems = self._said.gathered(spoken).astype(np.int64)
        self._sessions = Postings(self.vocabulary, Segment.of(numbers, lengths, lengths, stems))

    @property
    def sessions(self) -> Postings:
        """Whole sessions, by their number. Read when they are asked for: a long one would be read anew with each turn."""
        for session in self._unread:
            turns = self.turns.session(session)
            if turns:
                self._sessions.add_keys(session, [key for node in turns for key in self._said.get(node).tolist()])
            else:
                self._sessions.remove(session)
        self._unread.clear()
        return self._sessions

    def measure(self, turns: NDArray[np.int32], vectors: VectorIndex) -> NDArray[np.float32]:
        """(len(turns),) lengths of the sums of three turns; worked out once for each window and kept until it changes."""
        missing = np.isnan(self.norms[turns])
        if missing.any():
            new = turns[missing]
            around = self._beside[new]
            summed = vectors.vectors(new)
            for side in (0, 1):
                there = around[:, side] >= 0
                summed[there] += vectors.vectors(around[there, side])
            self.norms[new] = np.maximum(np.linalg.norm(summed, axis=1), 1e-6)
        return self.norms[turns]

    def nodes(self) -> NDArray[np.int32]:
        """The ids that are in here, ascending."""
        return np.flatnonzero(self._known).astype(np.int32)

    def among(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of some nodes that are in here, in their order."""
        return nodes[self._known[np.minimum(nodes, len(self._known) - 1)] & (nodes < len(self._known))]

    def turn_nodes(self) -> NDArray[np.int32]:
        """The ids of the memories that are turns of a conversation, ascending."""
        return self.turns.nodes()

    def session_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """(len(nodes),) the number of the session that each memory belongs to, −1 for none."""
        return self.turns.sessions_of(nodes)

    def shapes(self, nodes: NDArray[np.int32]) -> Shapes:
        """(len(nodes), 4) what the sentences of some memories look like."""
        return self._shapes[nodes]

    def every_shape(self) -> tuple[Shapes, Mask]:
        """(n, 4) the shape of each id, and (n,) which of them are in here; n may be less than the ids there are."""
        return self._shapes[: self._used], self._known[: self._used]

    def beside(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """(len(nodes), 2) the memories before and after each in its conversation, −1 where there is none."""
        return self._beside[nodes]

    def arrays(self) -> Arrays:
        """What is to be kept; the terms of all postings are turned into arrays."""
        parts = {
            "turns": self.turns.arrays(),
            "context": self.context.settle(),
            "pairs": self.pairs.settle(),
            "sessions": self.sessions.settle(),
            "said": self._said.arrays(),
            "": {"shapes": self._shapes, "beside": self._beside, "known": self._known, "norms": self.norms},
        }
        return nested(parts)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Self:
        """What `arrays` gave; those of the single memories are written to."""
        passages = cls(vocabulary)
        passages.turns = Turns.from_arrays(part(arrays, "turns"))
        passages.context, passages.pairs, passages._sessions = (
            Postings(vocabulary, Segment.from_arrays(part(arrays, name))) for name in ("context", "pairs", "sessions")
        )
        passages._said = Log.from_arrays(part(arrays, "said"))
        passages._shapes, passages._beside = arrays["shapes"], arrays["beside"]
        passages._used = int(np.flatnonzero(arrays["known"]).max(initial=-1)) + 1
        passages._known, passages.norms = arrays["known"], arrays["norms"]
        return passages

    def _read(self, session: int, changed: Iterable[int]) -> None:
        """Read some turns anew, each with those beside it; their session later."""
        for node in changed:
            if node >= 0:
                before, after = self.turns.beside(node)
                self.norms[node] = np.nan
                self._beside[node] = (before, after)
                lead = self._said.get(before).tolist() if before >= 0 else []
                own = self._said.get(node).tolist()
                tail = self._said.get(after).tolist() if after >= 0 else []
                self.context.add_keys(node, [*lead, *own])
                self.pairs.add_keys(node, [pair(a, b) for a, b in pairwise([*lead, *own, *tail])])
        self._unread.add(session)

    def _grow(self, size: int) -> None:
        if size > len(self._shapes):
            more = max(size, 2 * len(self._shapes), 64) - len(self._shapes)
            self._shapes = np.concatenate([self._shapes, np.zeros((more, 4), dtype=np.float32)])
            self._beside = np.concatenate([self._beside, np.full((more, 2), -1, dtype=np.int32)])
            self._known = np.concatenate([self._known, np.zeros(more, dtype=np.bool_)])
            self.norms = np.concatenate([self.norms, np.full(more, np.nan, dtype=np.float32)])


def _paired(stems: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of neighbours within each list, and how many there are in each."""
    if not len(stems):
        return stems, lengths
    keys = paired(stems[:-1], stems[1:])
    inside = np.ones(len(stems), dtype=np.bool_)
    ends = np.cumsum(lengths)
    inside[ends[lengths > 0] - 1] = False  # the last of a list has no neighbour
    return keys[inside[:-1]], np.maximum(lengths - 1, 0)


def _shape(content: str) -> tuple[float, bool, bool, bool]:
    return (
        min(len(content.split()), 40) / 40,
        content.rstrip().endswith("?"),
        _TIME.search(content) is not None,
        _NUMBER.search(content) is not None,
    )
