"""
The larger part of some postings: arrays that do not grow, so that they can be kept in a file and mapped into memory.

Nodes can be taken out: they are masked, and no longer counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from memento.search.ragged import begins_of, places_of

Ids = NDArray[np.int32]
Arrays = dict[str, NDArray[np.generic]]

_KEPT = ("members", "lengths", "keys", "begins", "places", "times", "firsts", "terms")


@dataclass(slots=True, eq=False)
class Segment:
    """
    Which nodes have which terms. A term is its number, a place a row of `members`.

    The nodes of `keys[i]` are `members[places[begins[i]:begins[i + 1]]]`, ascending; how often each has it lies in `times`. The
    terms of `members[p]` are `keys[terms[firsts[p]:firsts[p + 1]]]`.
    """

    members: Ids  # (n,) ascending
    lengths: Ids  # (n,) words of each, repeated ones counting again
    keys: NDArray[np.int64]  # (v,) ascending
    begins: NDArray[np.int64]  # (v + 1,)
    places: Ids  # (p,)
    times: NDArray[np.uint16]  # (p,)
    firsts: NDArray[np.int64]  # (n + 1,)
    terms: Ids  # (p,)
    here: NDArray[np.bool_] = field(init=False)  # (n,) False for what was taken out
    left: int = field(init=False)
    words: int = field(init=False)
    lost: dict[int, int] = field(init=False)  # place of a key → nodes taken out that had it

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
        The segment of some nodes.

        Args:
            members: (n,) ascending.
            lengths: (n,) words of each.
            counts: (n,) how many of `keys` are each node's.
            keys: (m,) terms, node after node; repeated ones count again.
            times: (m,) how often each; once when not given.
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
        """What `arrays` gave."""
        return cls(**{name: arrays[name] for name in _KEPT})  # type: ignore[arg-type]  # dtypes are those of the file

    def arrays(self) -> Arrays:
        """What is to be kept, as long as nothing was taken out."""
        return {name: getattr(self, name) for name in _KEPT}

    def place(self, node: int) -> int | None:
        """The row of a node, or None when it is not here."""
        place = int(self.members.searchsorted(np.int32(node)))  # of another type, all members would be copied
        return place if place < len(self.members) and self.members[place] == node and self.here[place] else None

    def frequency(self, key: int) -> int:
        """How many nodes have a term."""
        at = self._key(key)
        return 0 if at is None else int(self.begins[at + 1] - self.begins[at]) - self.lost.get(at, 0)

    def nodes(self, key: int) -> Ids:
        """The nodes that have a term, ascending."""
        at = self._key(key)
        places = self.places[:0] if at is None else self.places[int(self.begins[at]) : int(self.begins[at + 1])]
        return self.members[places[self.here[places]] if at in self.lost else places]

    def having(self, key: int) -> tuple[Ids, NDArray[np.uint16], Ids]:
        """The nodes that have a term, ascending, how often, and how many words each has in all: (m,) each."""
        at = self._key(key)
        begin, end = (0, 0) if at is None else (int(self.begins[at]), int(self.begins[at + 1]))
        places, times = self.places[begin:end], self.times[begin:end]
        if at in self.lost:
            seen = self.here[places]
            places, times = places[seen], times[seen]
        return self.members[places], times, self.lengths[places]

    def keys_of(self, node: int) -> list[int]:
        """Each term of a node; none when it is not here."""
        place = self.place(node)
        found: list[int] = [] if place is None else self.keys[self._terms(place)].tolist()
        return found

    def counts(self, node: int) -> dict[int, int]:
        """Each term of a node, and how often it has it; none when it is not here."""
        place = self.place(node)
        found: dict[int, int] = {}
        if place is None:
            return found
        for at in self._terms(place).tolist():
            begin, end = int(self.begins[at]), int(self.begins[at + 1])
            row = begin + int(self.places[begin:end].searchsorted(np.int32(place)))
            found[int(self.keys[at])] = int(self.times[row])
        return found

    def remove(self, node: int) -> bool:
        """Take a node out; False when it is not here."""
        place = self.place(node)
        if place is None:
            return False
        for at in self._terms(place).tolist():
            self.lost[at] = self.lost.get(at, 0) + 1
        self.here[place] = False
        self.left -= 1
        self.words -= int(self.lengths[place])
        return True

    def flat(self) -> tuple[Ids, Ids, NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]]:
        """(members, lengths, counts, keys, times) of what is here, as `of` takes them."""
        by_member = np.argsort(self.places, kind="stable")
        kept = np.flatnonzero(self.here)
        rows = places_of(self.firsts, kept)
        counts = np.diff(self.firsts)[kept]
        return self.members[kept], self.lengths[kept], counts, self.keys[self.terms[rows]], self.times[by_member[rows]]

    def _terms(self, place: int) -> Ids:
        return self.terms[int(self.firsts[place]) : int(self.firsts[place + 1])]

    def _key(self, key: int) -> int | None:
        if key < len(self.keys) and self.keys[key] == key:  # nearly every number is in use
            return key
        at = int(np.searchsorted(self.keys, key))
        return at if at < len(self.keys) and self.keys[at] == key else None
