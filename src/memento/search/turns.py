"""Which memory comes before and after which in a conversation, and what each says."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from memento.vocabulary import IRI


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
    The conversations of one named graph.

    Order is by position, then by id: the memories of one note stand together.
    """

    def __init__(self) -> None:
        self._turns: dict[int, Turn] = {}
        self._order: dict[IRI, list[tuple[int, int]]] = {}
        self._spoken: dict[str, set[int]] = {}

    def __len__(self) -> int:
        return len(self._turns)

    def put(self, turn: Turn) -> None:
        """Take a turn in, or replace what it was."""
        self.drop(turn.node)
        self._turns[turn.node] = turn
        insort(self._order.setdefault(turn.session, []), (turn.position, turn.node))
        if turn.speaker:
            self._spoken.setdefault(turn.speaker, set()).add(turn.node)

    def drop(self, node: int) -> None:
        """Let a turn go; harmless when it is not there."""
        turn = self._turns.pop(node, None)
        if turn is None:
            return
        order = self._order[turn.session]
        del order[bisect_left(order, (turn.position, node))]
        if not order:
            del self._order[turn.session]
        if turn.speaker:
            self._spoken[turn.speaker].discard(node)

    @property
    def speakers(self) -> Counter[str]:
        """Who speaks in this graph, by the number of turns."""
        return Counter({name: len(nodes) for name, nodes in self._spoken.items() if nodes})

    def get(self, node: int) -> Turn | None:
        """The turn that a memory is, or None when it belongs to no conversation."""
        return self._turns.get(node)

    def beside(self, node: int) -> tuple[Turn | None, Turn | None]:
        """The turns before and after one; (None, None) for a memory of no conversation."""
        turn = self._turns.get(node)
        if turn is None:
            return None, None
        order = self._order[turn.session]
        place = bisect_left(order, (turn.position, node))
        before = self._turns[order[place - 1][1]] if place else None
        after = self._turns[order[place + 1][1]] if place + 1 < len(order) else None
        return before, after

    def session(self, session: IRI) -> list[Turn]:
        """The turns of a conversation, in order."""
        return [self._turns[node] for _, node in self._order.get(session, ())]

    def said_by(self, names: Collection[str]) -> list[int]:
        """The turns of some speakers, in no order."""
        return [node for name in names for node in self._spoken.get(name, ())]
