"""
Who mentions what and who is about what, in one named graph, as memories come and go.

*Guarantees:* what is known depends only on the memories that are there, not on their order: a name that becomes somebody's
subject is found in the memories that came before.

*But:* a frequent word that becomes a name, or ceases to be one, costs 20 µs for every memory it stands in. Not for several
threads at once: whoever owns the links holds a lock.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np
from numpy.typing import NDArray

from memento.search.links.names import Known, is_telling, label_of, read
from memento.search.subjects import UNSURE, aliases

Nodes = NDArray[np.int32]
Weights = NDArray[np.float32]

_SLOTS = 1 << 16
"""Lists that the first words of names are spread over: short enough at a million memories, few enough at ten."""


@dataclass(slots=True, eq=False)
class Entity:
    """A name: the nodes that mention it, and those whose subject it is."""

    label: str
    mentioned: array[int] = field(default_factory=lambda: array("i"))
    subject_of: dict[int, float] = field(default_factory=dict)  # node → weight in 0..1

    def mentions(self) -> Nodes:
        """(df,) in no order; a view, to be let go of before the next write."""
        return np.frombuffer(self.mentioned, dtype=np.int32) if self.mentioned else np.zeros(0, dtype=np.int32)

    def subjects(self) -> tuple[Nodes, Weights]:
        """The nodes whose subject it is, and how surely: (m,) each, in no order."""
        n = len(self.subject_of)
        return (
            np.fromiter(self.subject_of.keys(), dtype=np.int32, count=n),
            np.fromiter(self.subject_of.values(), dtype=np.float32, count=n),
        )

    @property
    def weight(self) -> float:
        """Sum of the weights of the nodes whose subject it is; the same whatever order they came in."""
        return fsum(self.subject_of.values())

    def unmention(self, node: int) -> None:
        """The last node takes the place of the one that goes."""
        place = (
            self.mentioned.index(node) if len(self.mentioned) < 64 else int(np.flatnonzero(self.mentions() == node)[0])
        )
        last = self.mentioned.pop()
        if place < len(self.mentioned):
            self.mentioned[place] = last


@dataclass(slots=True)
class _Node:
    """What is kept of a memory: its words as one string between spaces, and the names that are always its own."""

    text: str
    starts: array[int]
    own: frozenset[str]  # its spans and subjects
    subjects: tuple[tuple[str, float], ...]
    slots: frozenset[int]
    matched: set[str] = field(default_factory=set)


class Links:
    """
    The names of one named graph.

    >>> links = Links()
    >>> links.put(1, "Anna moved to Faro.", None)
    >>> links.put(2, "Faro is a town in Algarve, Portugal.", None)
    >>> sorted(links.mentions(1)), links.entity("faro portugal").subject_of
    (['anna', 'faro'], {2: 0.8})
    """

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {}
        self._entities: dict[str, Entity] = {}
        self._known = Known()
        self._slots: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))

    def __len__(self) -> int:
        """Memories that take part."""
        return len(self._nodes)

    def __contains__(self, node: int) -> bool:
        return node in self._nodes

    def entity(self, label: str) -> Entity | None:
        """What is known of a name, given as `names.label_of` writes it."""
        return self._entities.get(label)

    def entities(self) -> Iterator[Entity]:
        """Every name that a memory has, in no order."""
        return iter(self._entities.values())

    def mentions(self, node: int) -> set[str]:
        """The labels that a memory mentions; none when it takes no part."""
        kept = self._nodes.get(node)
        return {*kept.own, *kept.matched} if kept else set()

    def put(
        self, node: int, content: str, title: str | None, extra: Sequence[str] = (), *, is_turn: bool = False
    ) -> None:
        """
        Take in a memory, or replace what is known of it.

        Args:
            extra: names of the entities that the graph says it is about.
            is_turn: a turn of a conversation: its first words are no subject, so it takes no part.
        """
        self.drop(node)
        if is_turn:
            return
        subjects = _subjects(content, title, extra)
        found = read(f"{title}. {content}" if title else content)
        kept = self._nodes[node] = _Node(
            text=f" {' '.join(found.words)} ",
            starts=array("i", found.starts),
            own=found.spans | {label for label, _ in subjects},
            subjects=subjects,
            slots=_slots_of(found.words, found.starts),
        )
        for slot in kept.slots:
            self._slots[slot].append(node)
        for label in kept.own:
            self._entity(label).mentioned.append(node)
        new = []
        for label, weight in subjects:
            entity = self._entity(label)
            if not entity.subject_of:
                self._known.add(label)
                new.append(label)
            entity.subject_of[node] = weight
        self._rematch(kept, node)
        for label in new:
            self._reread(label)

    def drop(self, node: int) -> None:
        """Let a memory go; harmless when it is not there."""
        kept = self._nodes.pop(node, None)
        if kept is None:
            return
        for slot in kept.slots:
            self._slots[slot].remove(node)
        for label in kept.own | kept.matched:
            self._entities[label].unmention(node)
        old = []
        for label, _ in kept.subjects:
            entity = self._entities[label]
            del entity.subject_of[node]
            if not entity.subject_of:
                self._known.remove(label)
                old.append(label)
        for label in old:
            self._reread(label)
        for label in kept.own | kept.matched:
            self._forget(label)

    def _entity(self, label: str) -> Entity:
        entity = self._entities.get(label)
        if entity is None:
            entity = self._entities[label] = Entity(label)
        return entity

    def _forget(self, label: str) -> None:
        entity = self._entities.get(label)
        if entity and not entity.mentioned and not entity.subject_of:
            del self._entities[label]

    def _reread(self, label: str) -> None:
        """A label became known, or is no more: match the memories anew in whose words it stands."""
        between = f" {label} "
        for node in tuple(self._slots.get(_slot(label.split()), ())):
            kept = self._nodes[node]
            if between in kept.text:
                self._rematch(kept, node)

    def _rematch(self, kept: _Node, node: int) -> None:
        matched = self._known.found(kept.text.split(), kept.starts) - kept.own
        for label in matched - kept.matched:
            self._entity(label).mentioned.append(node)
        for label in kept.matched - matched:
            self._entities[label].unmention(node)
            self._forget(label)
        kept.matched = matched


def _subjects(content: str, title: str | None, extra: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """A memory's labels as its subjects, each once with its largest weight."""
    best: dict[str, float] = {}
    for name, weight in (*aliases(content, title), *((name, UNSURE) for name in extra)):
        label = label_of(name)
        if is_telling(label):
            best[label] = max(best.get(label, 0.0), weight)
    return tuple(best.items())


def _slots_of(words: Sequence[str], starts: Sequence[int]) -> frozenset[int]:
    """Where a memory is listed: under each word that may begin a name, alone and with the next."""
    return frozenset(_slot(words[start : start + n]) for start in starts for n in (1, 2))


def _slot(words: Sequence[str]) -> int:
    """The list for names that begin with these words, by the first two of them; another one in every process."""
    return hash(tuple(words[:2])) & (_SLOTS - 1)
