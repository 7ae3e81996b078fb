"""
Lists of different lengths in one flat array, and several named groups of arrays and texts packed into one mapping.

An index is stored between two starts as a set of named arrays; `cache.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray


def distinct(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """
    Return the distinct ids, ascending: like `np.unique` for some thousands of ids, in a fraction of the time.

    >>> distinct(np.array([3, 1, 3], dtype=np.int32)).tolist()
    [1, 3]
    """
    ordered = np.sort(ids)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def begins_of(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """
    Return (n + 1,) the offset where each list begins, and the end of the last one.

    >>> begins_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    begins = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=begins[1:])
    return begins


def places_of(begins: NDArray[np.int64], rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """
    Return the positions in the flat array of the given lists, list after list.

    >>> places_of(np.array([0, 2, 2, 3]), np.array([2, 0])).tolist()
    [2, 0, 1]
    """
    first = begins[rows]
    return spans(first, begins[np.asarray(rows) + 1] - first)


def spans(first: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """
    Return `first[0], first[0] + 1, …`, `counts[0]` numbers in all, then the same for the next entry.

    >>> spans(np.array([5, 1]), np.array([2, 1])).tolist()
    [5, 6, 1]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    places: NDArray[np.int64] = np.repeat(np.asarray(first, dtype=np.int64) - (ends - counts), counts)
    places += np.arange(total, dtype=np.int64)
    return places


class Log:
    """
    A list for each node, in an array that only grows; a replaced list stays as waste until the array is packed.

    >>> log = Log(np.int32)
    >>> log.put(3, [7, 8]); log.put(1, [9])
    >>> log.get(3).tolist(), log.get(1).tolist(), log.get(0).tolist()
    ([7, 8], [9], [])
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._flat: NDArray[Any] = np.zeros(0, dtype=dtype)
        self._first = np.zeros(0, dtype=np.int64)
        self._count = np.zeros(0, dtype=np.int32)
        self._used = 0

    @classmethod
    def of(cls, nodes: NDArray[np.integer], counts: NDArray[np.integer], flat: NDArray[Any]) -> Self:
        """Build a log from the lists of some nodes, stored one after the other in `flat`."""
        log = cls(flat.dtype)
        size = int(nodes.max(initial=-1)) + 1
        log._flat, log._used = flat, len(flat)
        log._first, log._count = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int32)
        log._first[nodes], log._count[nodes] = begins_of(counts)[:-1], counts
        return log

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the log from what `arrays` returned."""
        return cls.of(np.arange(len(arrays["count"])), arrays["count"], arrays["flat"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store, packed."""
        return {"flat": self._flat[spans(self._first, self._count)], "count": self._count}

    def put(self, node: int, values: Any) -> None:
        """Replace a node's list; an empty one removes it."""
        count = len(values)
        if node >= len(self._first):
            if not count:
                return
            more = max(node + 1, 2 * len(self._first), 64) - len(self._first)
            self._first = np.concatenate([self._first, np.zeros(more, dtype=np.int64)])
            self._count = np.concatenate([self._count, np.zeros(more, dtype=np.int32)])
        if self._used + count > len(self._flat):
            more = max(self._used + count, 2 * len(self._flat), 256) - len(self._flat)
            self._flat = np.concatenate([self._flat, np.zeros(more, dtype=self._flat.dtype)])
        if count:  # else an array from a file is not written to
            self._flat[self._used : self._used + count] = values
        self._first[node], self._count[node] = self._used, count
        self._used += count

    def get(self, node: int) -> NDArray[Any]:
        """Return a node's list, empty when it has none. The result is a view."""
        if node >= len(self._first):
            return self._flat[:0]
        first = int(self._first[node])
        return self._flat[first : first + int(self._count[node])]

    def count_values(self, nodes: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return (n,) the lengths of the lists of the given nodes."""
        counts = np.zeros(len(nodes), dtype=np.int32)
        known = np.flatnonzero(nodes < len(self._count))
        counts[known] = self._count[nodes[known]]
        return counts

    def gather(self, nodes: NDArray[np.integer]) -> NDArray[Any]:
        """Return the lists of those of the given nodes that have one, one after the other."""
        return np.asarray(self._flat[spans(self._first[nodes], self._count[nodes])])

    def join_columns(
        self, columns: Sequence[NDArray[np.integer]], cuts: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """
        Concatenate, for each row of some columns of nodes, the lists of its nodes; −1 is no node. All nodes must be known.

        Args:
            cuts: how much to take of the lists of each column: 3 the first three values, −3 the last three, 0 all.

        Returns:
            the values, row after row, and the number of values in each row.

        >>> log = Log.of(np.array([0, 1]), np.array([3, 2]), np.array([7, 8, 9, 5, 6]))
        >>> [found.tolist() for found in log.join_columns([np.array([0, -1]), np.array([1, 0])], [-1, 0])]
        [[9, 5, 6, 7, 8, 9], [3, 3]]
        """
        nodes, cut = np.stack(columns, axis=1), np.array(cuts, dtype=np.int64)
        whole = np.where(nodes >= 0, self._count[nodes], 0).astype(np.int64)
        counts = np.where(cut == 0, whole, np.minimum(whole, np.abs(cut)))
        firsts = np.where(nodes >= 0, self._first[nodes], 0) + np.where(cut < 0, whole - counts, 0)
        flat = self._flat[spans(firsts.ravel(), counts.ravel())].astype(np.int64)
        return flat, counts.sum(axis=1, dtype=np.int64)


Arrays = dict[str, NDArray[Any]]


def nest_arrays(parts: Mapping[str, Mapping[str, NDArray[Any]]]) -> Arrays:
    """
    Combine the arrays of several parts into one mapping, named `part/name`.

    >>> sorted(nest_arrays({"a": {"x": np.zeros(1)}, "": {"y": np.zeros(1)}}))
    ['a/x', 'y']
    """
    return {f"{part}/{name}" if part else name: array for part, some in parts.items() for name, array in some.items()}


def select_part(arrays: Mapping[str, NDArray[Any]], name: str) -> Arrays:
    """Return the arrays of one part, by their names within it."""
    return {key[len(name) + 1 :]: array for key, array in arrays.items() if key.startswith(f"{name}/")}


def pack_strings(texts: Sequence[str]) -> Arrays:
    """
    Pack texts into arrays.

    >>> unpack_strings(pack_strings(["tea", "", "São Paulo"]))
    ['tea', '', 'São Paulo']
    """
    blob = "".join(texts).encode("utf-8", errors="surrogatepass")
    return {
        "text": np.frombuffer(blob, dtype=np.uint8),
        "lengths": np.fromiter(map(len, texts), dtype=np.int32, count=len(texts)),
    }


def unpack_strings(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return the texts that `pack_strings` packed, in order."""
    text = arrays["text"].tobytes().decode("utf-8", errors="surrogatepass")
    ends = np.cumsum(arrays["lengths"]).tolist()
    return [text[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []
