"""Which memory comes before and after which in a conversation, and who said it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI
from memento.search.archive import nested, part, strings, unpacked
from memento.search.ragged import begins_of

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Turn:
    """One memory of a conversation: where it stands, who said it, and its text without the speaker's name."""

    node: int
    session: IRI
    position: int
    speaker: str
    content: str


class Turns:
    """
    The conversations of one named graph; sessions and speakers have numbers here.

    Order is by position, then by id: the memories of one note stand together.
    """

    def __init__(self) -> None:
        self._sessions: dict[IRI, int] = {}
        self._iris: list[IRI] = []
        self._names: list[str] = []
        self._speakers: dict[str, int] = {}
        self._spoken: list[int] = []  # turns of each speaker
        self._session = np.full(0, -1, dtype=np.int32)
        self._speaker = np.full(0, -1, dtype=np.int32)
        self._position = np.zeros(0, dtype=np.int64)
        self._begins = np.zeros(1, dtype=np.int64)
        self._nodes = np.zeros(0, dtype=np.int32)
        self._order: dict[int, list[tuple[int, int]]] = {}  # sessions that changed since `fill`
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, turn: Turn) -> None:
        """Take a turn in, or replace what it was."""
        self.drop(turn.node)
        self._grow(turn.node + 1)
        session = self.number(turn.session)
        insort(self._of(session), (turn.position, turn.node))
        self._session[turn.node], self._position[turn.node] = session, turn.position
        if turn.speaker:
            self._speaker[turn.node] = speaker = self._voice(turn.speaker)
            self._spoken[speaker] += 1
        self._count += 1

    def drop(self, node: int) -> None:
        """Let a turn go; harmless when it is not there."""
        session = self.session_of(node)
        if session < 0:
            return
        order = self._of(session)
        del order[bisect_left(order, (int(self._position[node]), node))]
        if (speaker := int(self._speaker[node])) >= 0:
            self._spoken[speaker] -= 1
        self._session[node] = self._speaker[node] = -1
        self._count -= 1

    def fill(self, turns: Collection[Turn]) -> Ids:
        """Take in many turns where there are none; returns their ids, conversation after conversation in order."""
        nodes = np.array([turn.node for turn in turns], dtype=np.int32)
        self._grow(int(nodes.max(initial=-1)) + 1)
        self._session[nodes] = [self.number(turn.session) for turn in turns]
        self._position[nodes] = [turn.position for turn in turns]
        self._speaker[nodes] = [self._voice(turn.speaker) if turn.speaker else -1 for turn in turns]
        return self._sorted()

    def _sorted(self) -> Ids:
        """Put every conversation into arrays, and count who spoke."""
        nodes = np.flatnonzero(self._session >= 0).astype(np.int32)
        nodes = nodes[np.lexsort((nodes, self._position[nodes], self._session[nodes]))]
        self._begins = begins_of(np.bincount(self._session[nodes], minlength=len(self._iris)))
        self._nodes, self._order, self._count = nodes, {}, len(nodes)
        voices = self._speaker[nodes]
        self._spoken = np.bincount(voices[voices >= 0], minlength=len(self._names)).tolist()
        return nodes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is to be kept."""
        return {
            "session": self._session,
            "speaker": self._speaker,
            "position": self._position,
            **nested({"iris": strings(self._iris), "names": strings(self._names)}),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave; they are written to."""
        turns = cls()
        turns._session, turns._speaker, turns._position = (arrays[name] for name in ("session", "speaker", "position"))
        turns._iris = [IRI(iri) for iri in unpacked(part(arrays, "iris"))]
        turns._names = unpacked(part(arrays, "names"))
        turns._sessions = {iri: number for number, iri in enumerate(turns._iris)}
        turns._speakers = {name: number for number, name in enumerate(turns._names)}
        turns._sorted()
        return turns

    @property
    def speakers(self) -> Counter[str]:
        """Who speaks in this graph, by the number of turns."""
        return Counter({name: n for name, n in zip(self._names, self._spoken, strict=True) if n})

    def place(self, node: int) -> tuple[IRI, int] | None:
        """The session and the position of a turn, or None for a memory of no conversation."""
        session = self.session_of(node)
        return None if session < 0 else (self._iris[session], int(self._position[node]))

    def beside(self, node: int) -> tuple[int, int]:
        """The turns before and after one, −1 where there is none; (−1, −1) for a memory of no conversation."""
        session = self.session_of(node)
        if session < 0:
            return -1, -1
        order = self._order.get(session)
        if order is None:
            nodes = self._nodes[int(self._begins[session]) : int(self._begins[session + 1])].tolist()
            place = nodes.index(node)
        else:
            nodes = [one for _, one in order]
            place = bisect_left(order, (int(self._position[node]), node))
        return (nodes[place - 1] if place else -1), (nodes[place + 1] if place + 1 < len(nodes) else -1)

    def session(self, number: int) -> list[int]:
        """The turns of a conversation, in order."""
        if number in self._order:
            return [node for _, node in self._order[number]]
        if number + 1 >= len(self._begins):
            return []
        found: list[int] = self._nodes[int(self._begins[number]) : int(self._begins[number + 1])].tolist()
        return found

    def said_by(self, names: Collection[str], among: Ids | None = None) -> Ids:
        """The turns of some speakers, ascending; or those among some memories."""
        codes = [self._speakers[name] for name in names if name in self._speakers]
        if among is None:
            return np.flatnonzero(np.isin(self._speaker, codes)).astype(np.int32)
        turns = among[self.sessions_of(among) >= 0]
        return turns[np.isin(self._speaker[turns], codes)]

    def number(self, session: IRI) -> int:
        """The number of a session, a new one when it is not known."""
        found = self._sessions.setdefault(session, len(self._iris))
        if found == len(self._iris):
            self._iris.append(session)
        return found

    def session_of(self, node: int) -> int:
        """The number of the session that a memory belongs to, −1 for none."""
        return int(self._session[node]) if node < len(self._session) else -1

    def sessions_of(self, nodes: NDArray[np.integer]) -> Ids:
        """(len(nodes),) the same for some memories."""
        found = np.full(len(nodes), -1, dtype=np.int32)
        known = np.flatnonzero(nodes < len(self._session))
        found[known] = self._session[nodes[known]]
        return found

    def nodes(self) -> Ids:
        """Every turn, ascending."""
        return np.flatnonzero(self._session >= 0).astype(np.int32)

    def _voice(self, name: str) -> int:
        found = self._speakers.setdefault(name, len(self._names))
        if found == len(self._names):
            self._names.append(name)
            self._spoken.append(0)
        return found

    def _of(self, session: int) -> list[tuple[int, int]]:
        """The order of a session, as a list that may be changed."""
        if session not in self._order:
            nodes = self.session(session)
            self._order[session] = [(int(self._position[node]), node) for node in nodes]
        return self._order[session]

    def _grow(self, size: int) -> None:
        if size > len(self._session):
            more = max(size, 2 * len(self._session), 64) - len(self._session)
            self._session = np.concatenate([self._session, np.full(more, -1, dtype=np.int32)])
            self._speaker = np.concatenate([self._speaker, np.full(more, -1, dtype=np.int32)])
            self._position = np.concatenate([self._position, np.zeros(more, dtype=np.int64)])
