"""
What some memories share besides the entities that they are about: names in their texts, tags and keys, as links for a walk.

*But:* a name, tag or key that more than `COMMON` of all memories have leads nowhere; of the others the links of at most `MOST`
memories are followed, the nearest first.

*Because:* these links are looked up around the memories where a walk begins. A matrix of all of them would be built at each write,
for walks that follow a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from memento.iris import tag_iri
from memento.rank import Csr, rarity
from memento.search.indexes import View
from memento.search.links import COMMON
from memento.search.nodes import Ids
from memento.search.spellings import fold_text

FEW = 12
"""What so many memories share leads on, however few memories there are."""
MOST = 6_000
_USER = "urn:memento:user:"

Tie = tuple[str, str | int]
"""Something shared: a name by its number, or a tag or key by its text."""


def link_shared(view: View, memories: Ids, steps: int) -> Csr:
    """
    Return the links of the memories that some others lead to, in at most so many steps, to what they share.

    Its nodes are all ids, then places for names, tags and keys that have no id. Each link weighs as much as what is shared is rare,
    0..1. Use it under `indexes.lock`.
    """
    known = _SharedLinks(view)
    front, seen = memories.tolist(), set[int](memories.tolist())
    for _ in range(steps - 1):  # the last step ends at most at a name, tag or key
        reached = np.array([node for node in dict.fromkeys(known.follow(front)) if node not in seen], dtype=np.int32)
        front = reached[view.indexes.nodes.among(reached, view.graphs, "memory")].tolist()
        seen.update(front)
    return known.matrix()


class _SharedLinks:
    """The links found so far."""

    def __init__(self, view: View) -> None:
        self._view, self._indexes = view, view.indexes
        self._population = max(view.population, 1)
        self._common = max(COMMON * self._population, FEW)
        self._places: dict[Tie, int] = {}
        self._arcs: list[tuple[int, int, float]] = []
        self._followed = 0

    def follow(self, memories: Iterable[int]) -> Iterator[int]:
        """Add what some memories share with others; yield these, and those that they are linked to otherwise."""
        for memory in memories:
            yield from self._list_beside(memory)
            for tie in self._list_ties(memory):
                if tie not in self._places:
                    yield from self._add(tie)

    def matrix(self) -> Csr:
        source, target, weight = (np.array(column) for column in zip(*self._arcs, strict=True)) if self._arcs else _NONE
        return Csr.of(self._size + len(self._places), source.astype(np.int64), target.astype(np.int64), weight)

    @property
    def _size(self) -> int:
        return len(self._view.visible)

    def _list_beside(self, memory: int) -> Iterator[int]:
        """Yield the memories that the other links of a walk lead to."""
        adjacency = self._indexes.adjacency
        for anchor in adjacency.about(memory):
            if adjacency.degree(anchor) <= self._common:
                yield from adjacency.memories(anchor).tolist()
        for _, arc in self._indexes.associations.arcs_of(memory):
            yield arc.target if arc.source == memory else arc.source

    def _list_ties(self, memory: int) -> list[Tie]:
        node = np.array([memory], dtype=np.int32)
        found: list[Tie] = [
            ("name", number) for links in self._view.links() for number in links.gather(node)[1].tolist()
        ]
        keys = (self._indexes.keys.phrase(key) for key in self._indexes.keys.links(memory))
        words = [*map(fold_text, self._indexes.sorting.tags_of(memory)), *keys]
        return list(dict.fromkeys([*found, *(("word", word) for word in words if word)]))

    def _add(self, tie: Tie) -> list[int]:
        """Link what is shared to all memories that have it; return these."""
        self._places[tie] = self._size + len(self._places)
        place, members, about = self._places[tie], self._list_members(tie), set[int]()
        if isinstance(tie[1], int):
            iri = self._indexes.links.anchors.iri(tie[1])
            if iri.startswith(_USER):
                return []
            node = self._indexes.nodes.find(iri)
            if node is not None:  # an entity: memories about it have a link already
                place, about = node, set(self._indexes.adjacency.memories(node).tolist())
        if len(members) > self._common or self._followed + len(members) > MOST:
            return []
        self._followed += len(members)
        rare = float(rarity(np.array([max(len(members), 1)]), self._population)[0])
        self._arcs += [(member, place, rare) for member in members if rare > 0 and member not in about]
        return members

    def _list_members(self, tie: Tie) -> list[int]:
        if isinstance(tie[1], int):
            groups = [links.mentioning(tie[1]) for links in self._view.links()]
        else:
            keys = self._indexes.keys
            spelt = keys.find_exact(tie[1], self._view.graphs, self._indexes.labels)
            groups = [keys.led_to(key)[0] for key in spelt]
            groups.append(np.array(self._indexes.sorting.list_tagged(tag_iri(tie[1])), dtype=np.int32))
        members = np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *groups])).astype(np.int32)
        return list(members[self._indexes.nodes.among(members, self._view.graphs, "memory")].tolist())


_NONE: tuple[NDArray[np.float64], ...] = (np.zeros(0), np.zeros(0), np.zeros(0))
