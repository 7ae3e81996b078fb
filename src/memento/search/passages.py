"""
What a memory is read together with: the turns beside it, the session it belongs to, and the shape of its sentence.

A memory that belongs to no conversation is its own passage: title and content.

*Guarantees:* adding or removing a turn changes its neighbours' passages too, so the state depends on what is in, not on
how it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memento.search.turns import Turn, Turns
from memento.search.words import Postings, pairs, tokens
from memento.vocabulary import IRI

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


class Passages:
    """The passages of the memories of one named graph."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.context = Postings()
        """Title and content, or the turn before and this one, without the names of the speakers."""
        self.pairs = Postings()
        """Pairs of neighbouring stems, over the turn before, this one and the next."""
        self._sessions = Postings()
        self._unread: set[IRI] = set()
        self._numbers: dict[IRI, int] = {}
        self._shapes = np.zeros((0, 4), dtype=np.float32)
        self._beside = np.full((0, 2), -1, dtype=np.int32)
        self._known = np.zeros(0, dtype=np.bool_)
        self._session = np.full(0, -1, dtype=np.int32)
        self.norms = np.full(0, np.nan, dtype=np.float32)
        """(n,) length of the sum of the three vectors of a window, where somebody has worked it out; else NaN."""

    def put(self, node: int, content: str, title: str, turn: Turn | None) -> None:
        """Take a memory in, or replace what it was; `turn` is its place in a conversation, if it has one."""
        self.drop(node)
        self._grow(node + 1)
        self._shapes[node] = _shape(content)
        self._known[node] = True
        if turn is None:
            stems = tokens(f"{title}. {content}" if title else content)
            self.context.add_terms(node, stems)
            self.pairs.add_terms(node, pairs(stems))
            return
        self.turns.put(turn)
        self._session[node] = self._numbers.setdefault(turn.session, len(self._numbers))
        self._read(turn.session, [turn, *self.turns.beside(node)])

    def drop(self, node: int) -> None:
        """Let a memory go; harmless when it is not there."""
        self.context.remove(node)
        self.pairs.remove(node)
        if node < len(self._beside):
            self._beside[node] = -1
            self._known[node] = False
            self._session[node] = -1
        turn, beside = self.turns.get(node), self.turns.beside(node)
        self.turns.drop(node)
        if turn is not None:
            self._read(turn.session, beside)

    @property
    def sessions(self) -> Postings:
        """Whole sessions, by their number. Read when they are asked for: a long one would be read anew with each turn."""
        for session in self._unread:
            turns = self.turns.session(session)
            self._sessions.add(self._numbers[session], " ".join(turn.content for turn in turns))
            if not turns:
                self._sessions.remove(self._numbers[session])
        self._unread.clear()
        return self._sessions

    def nodes(self) -> NDArray[np.int32]:
        """The ids that are in here, ascending."""
        return np.flatnonzero(self._known).astype(np.int32)

    def turn_nodes(self) -> NDArray[np.int32]:
        """The ids of the memories that are turns of a conversation, ascending."""
        return np.flatnonzero(self._session >= 0).astype(np.int32)

    def session_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """(len(nodes),) the number of the session that each memory belongs to, −1 for none."""
        return self._session[nodes]

    def shapes(self, nodes: NDArray[np.int32]) -> Shapes:
        """(len(nodes), 4) what the sentences of some memories look like."""
        return self._shapes[nodes]

    def beside(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """(len(nodes), 2) the memories before and after each in its conversation, −1 where there is none."""
        return self._beside[nodes]

    def _read(self, session: IRI, changed: Iterable[Turn | None]) -> None:
        """Read some turns anew, each with those beside it; their session later."""
        for turn in changed:
            if turn is not None:
                before, after = self.turns.beside(turn.node)
                self.norms[turn.node] = np.nan
                self._beside[turn.node] = (before.node if before else -1, after.node if after else -1)
                lead = [*tokens(before.content)] if before else []
                own = tokens(turn.content)
                tail = tokens(after.content) if after else []
                self.context.add_terms(turn.node, [*lead, *own])
                self.pairs.add_terms(turn.node, pairs([*lead, *own, *tail]))
        self._unread.add(session)

    def _grow(self, size: int) -> None:
        if size > len(self._shapes):
            more = max(size, 2 * len(self._shapes), 64) - len(self._shapes)
            self._shapes = np.concatenate([self._shapes, np.zeros((more, 4), dtype=np.float32)])
            self._beside = np.concatenate([self._beside, np.full((more, 2), -1, dtype=np.int32)])
            self._known = np.concatenate([self._known, np.zeros(more, dtype=np.bool_)])
            self._session = np.concatenate([self._session, np.full(more, -1, dtype=np.int32)])
            self.norms = np.concatenate([self.norms, np.full(more, np.nan, dtype=np.float32)])


def _shape(content: str) -> tuple[float, bool, bool, bool]:
    return (
        min(len(content.split()), 40) / 40,
        content.rstrip().endswith("?"),
        _TIME.search(content) is not None,
        _NUMBER.search(content) is not None,
    )
