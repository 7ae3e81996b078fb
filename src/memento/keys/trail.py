"""
Which questions led over which keys to a memory, for a few minutes: from what recurs, keys learn names.

*But:* it is kept in memory alone; what is not learned yet is forgotten when the process ends.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memento.iris import IRI
from memento.keys.match import Matched, is_short
from memento.search.spellings import folded

_LENGTH = 32  # questions
_LIFETIME = timedelta(seconds=300)
_COUNTED = 4096  # pairs of key and question


@dataclass(slots=True)
class _Asked:
    """One question, and the keys that it led to without naming them; by its own words, those that it named."""

    at: datetime
    graph: IRI
    text: str
    likeness: dict[IRI, float]
    spelt: dict[IRI, str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a key may learn: the question that led over it often enough, and its cosine to the key."""

    phrase: str
    likeness: float


@dataclass(slots=True)
class Trail:
    """The last questions of all readers; each finds only those of its own namespace."""

    _questions: deque[_Asked] = field(default_factory=lambda: deque(maxlen=_LENGTH))
    _counts: dict[tuple[IRI, IRI, str], int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, text: str, graph: IRI, found: Matched, at: datetime) -> None:
        """A question was asked in a namespace, and led to some keys, or nearly."""
        likeness = {iri: one.own for iri, one in found.candidates.items() if one.spelt is None and one.own}
        if is_short(text):
            likeness |= found.missed
        spelt = {iri: one.spelt for iri, one in found.candidates.items() if one.spelt}
        with self._lock:
            self._questions.append(_Asked(at, graph, text, likeness, spelt))

    def named(self, key: IRI, graph: IRI, at: datetime) -> str | None:
        """By which phrase the latest question that named a key did."""
        with self._lock:
            return next((one.spelt[key] for one in self._latest(graph, at) if key in one.spelt), None)

    def taken(self, key: IRI, graph: IRI, at: datetime, enough: int) -> Lesson | None:
        """Somebody came over a key: the latest question that led to it counts; what there is to learn, when it did often enough."""
        with self._lock:
            asked = next((one for one in self._latest(graph, at) if key in one.likeness), None)
            if asked is None:
                return None
            likeness = asked.likeness.pop(key)
            pair = (graph, key, folded(asked.text))
            count = self._counts.pop(pair, 0) + 1
            if count >= enough:
                return Lesson(" ".join(asked.text.split()), likeness) if is_short(asked.text) else None
            self._counts[pair] = count
            while len(self._counts) > _COUNTED:
                self._counts.pop(next(iter(self._counts)))
        return None

    def _latest(self, graph: IRI, at: datetime) -> list[_Asked]:
        return [one for one in reversed(self._questions) if one.graph == graph and at - one.at < _LIFETIME]
