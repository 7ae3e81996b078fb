"""
What some memories share besides the entities that they are about: names in their texts, tags and keys, as links for a walk.

*But:* a name, tag or key that more than `COMMON` of all memories have leads nowhere; of the others the links of at most `MOST`
memories are followed, the nearest first.

*Because:* these links are looked up around the memories where a walk begins. A matrix of all of them would be built at each write,
for walks that follow a few.
"""

from __future__ import annotations

from collections.abc import Iterator

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
MOST = 2_000
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
    front = memories
    seen = set[int](memories.tolist())
    for _ in range(steps - 1):  # the last step ends at most at a name, tag or key
        reached = np.array([node for node in dict.fromkeys(known.follow(front)) if node not in seen], dtype=np.int32)
        front = reached[view.indexes.nodes.among(reached, view.graphs, "memory")]
        seen.update(front.tolist())
    return known.matrix()


class _SharedLinks:
    """The links found so far."""

    def __init__(self, view: View) -> None:
        self._view, self._indexes = view, view.indexes
        self._population = max(view.population, 1)
        self._common = max(COMMON * self._population, FEW)
        self._places: dict[Tie, int] = {}
        self._arcs: list[tuple[int, int, float]] = []
        self._crossed = set[int]()
        self._followed = 0

    def follow(self, memories: Ids) -> Iterator[int]:
        """Add what some memories share with others; yield these, and those that they are linked to otherwise."""
        yield from self._follow_others(memories)
        for tie in self._list_ties(memories):
            if tie not in self._places:
                yield from self._add(tie)

    def matrix(self) -> Csr:
        source, target, weight = (np.array(column) for column in zip(*self._arcs, strict=True)) if self._arcs else _NONE
        return Csr.of(self._size + len(self._places), source.astype(np.int64), target.astype(np.int64), weight)

    @property
    def _size(self) -> int:
        return len(self._view.visible)

    def _follow_others(self, memories: Ids) -> Iterator[int]:
        """Yield the memories that the other links of a walk lead to."""
        adjacency, associations = self._indexes.adjacency, self._indexes.associations
        for anchor in dict.fromkeys(adjacency.arcs(memories)[1].tolist()):
            if anchor not in self._crossed and self._may_follow(adjacency.degree(anchor)):
                self._crossed.add(anchor)
                yield from adjacency.memories(anchor).tolist()
        for memory in memories.tolist():
            for _, arc in associations.arcs_of(memory):
                yield arc.target if arc.source == memory else arc.source

    def _may_follow(self, members: int) -> bool:
        """Tell whether something that so many memories have leads on, and count them."""
        if members > self._common or self._followed + members > MOST:
            return False
        self._followed += members
        return True

    def _list_ties(self, memories: Ids) -> Iterator[Tie]:
        for links in self._view.links():
            yield from (("name", number) for number in dict.fromkeys(links.gather(memories)[1].tolist()))
        keys, sorting = self._indexes.keys, self._indexes.sorting
        for memory in memories.tolist():
            words = [*map(fold_text, sorting.tags_of(memory)), *map(keys.phrase, keys.links(memory))]
            yield from (("word", word) for word in dict.fromkeys(words) if word)

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
        if not self._may_follow(len(members)):
            return []
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
