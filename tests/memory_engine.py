"""An engine over vectors and postings in memory, which the others are compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI
from memento.plugins.scale.engine import Entry, Hit, Where
from memento.ports import Vectors
from memento.search.nearest import VectorIndex
from memento.search.postings import Postings
from memento.search.words import bm25_of_terms

K1, B = 1.2, 0.75


def is_current(times: Sequence[int], now: int) -> bool:
    """Return whether a memory with these `Entry.times` is valid and believed at an instant."""
    _, valid_until, _, believed_until, known_since = times
    return (now < valid_until or known_since > now) and now < believed_until


class MemoryEngine:
    """Holds entries until it is closed."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._lock = RLock()
        self._owner = ""
        self.clear()

    @property
    def owner(self) -> str:
        return self._owner

    def put(self, entries: Sequence[Entry], gone: Collection[IRI] = (), owner: str | None = None) -> None:
        with self._lock:
            self._owner = self._owner if owner is None else owner
            for iri in [*gone, *(one.iri for one in entries)]:
                self._drop(iri)
            for one in entries:
                node = self._ids.setdefault(one.iri, len(self._ids))
                self._entries[node] = one
                if len(one.vectors):
                    self._vectors.put([node], [one.vectors])
                self._words.setdefault(one.graph, Postings()).add_terms(node, one.text.split())
                for key in one.keys:
                    self._keys.setdefault(key, set()).add(node)

    def _drop(self, iri: IRI) -> None:
        node = self._ids.get(iri)
        known = self._entries.pop(node, None) if node is not None else None
        if node is None or known is None:
            return
        self._vectors.drop(node)
        self._words[known.graph].remove(node)
        for key in known.keys:
            self._keys[key].discard(node)

    def nearest(self, asked: Vectors, k: int, where: Where) -> list[Hit]:
        with self._lock:
            nodes, scores = self._vectors.search(asked, k, self._inside(where))
            return [
                Hit(self._entries[node].iri, score) for node, score in zip(nodes.tolist(), scores.tolist(), strict=True)
            ]

    def words(self, stems: Sequence[str], k: int, where: Where) -> list[Hit]:
        with self._lock:
            postings = [self._words[graph] for graph in where.graphs if graph in self._words]
            nodes, scores = bm25_of_terms(stems, postings, K1, B)
            inside = self._inside(where)[nodes]
            nodes, scores = nodes[inside], scores[inside]
            best = np.lexsort((nodes, -scores))[:k]
            return [
                Hit(self._entries[node].iri, float(score))
                for node, score in zip(nodes[best].tolist(), scores[best], strict=True)
            ]

    def linked(self, keys: Sequence[str], most: int, where: Where) -> list[Hit]:
        with self._lock:
            inside = self._inside(where)
            found = {node for key in keys for node in self._keys.get(key, ()) if inside[node]}
            return [Hit(self._entries[node].iri) for node in sorted(found)[:most]]

    def records(self, iris: Sequence[IRI] | None, graphs: Sequence[IRI] = ()) -> list[Entry]:
        with self._lock:
            iris = [one.iri for one in self._entries.values()] if iris is None else iris
            known = (self._entries.get(self._ids[iri]) for iri in dict.fromkeys(iris) if iri in self._ids)
            return [one for one in known if one is not None and (not graphs or one.graph in graphs)]

    def sample(self, most: int, where: Where) -> list[str]:
        with self._lock:
            return [self._entries[node].text for node in np.flatnonzero(self._inside(where))[:most].tolist()]

    def count(self, where: Where) -> int:
        with self._lock:
            return int(np.count_nonzero(self._inside(where)))

    def _inside(self, where: Where) -> NDArray[np.bool_]:
        """Return (ids,) the mask of the nodes that pass a filter."""
        inside = np.zeros(len(self._ids), dtype=np.bool_)
        for node, one in self._entries.items():
            inside[node] = (
                (not where.kinds or one.kind in where.kinds)
                and (not where.graphs or one.graph in where.graphs)
                and (where.current is None or is_current(one.times, where.current))
            )
        return inside

    def settle(self) -> None:
        return

    def purge(self) -> None:
        return

    def clear(self) -> None:
        with self._lock:
            self._ids: dict[IRI, int] = {}
            self._entries: dict[int, Entry] = {}
            self._vectors = VectorIndex(self.dimensions)
            self._words: dict[IRI, Postings] = {}
            self._keys: dict[str, set[int]] = {}
            self._owner = ""

    def close(self) -> None:
        return
