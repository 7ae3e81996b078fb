"""
The signs of vectors, 48 bytes for 384 numbers: which rows may be near, in a millisecond for a hundred thousand.

*But:* the order of what is near is only guessed; who asks compares the rows themselves.

*Source:* Charikar 2002, STOC: the share of signs that differ estimates the angle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memento.ports import Vectors

_WORD = 64


class Sketch:
    """
    Rows that only grow.

    >>> sketch = Sketch(2)
    >>> sketch.follow(np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], dtype=np.float32))
    >>> sketch.nearest(np.array([0.9, 0.8], dtype=np.float32), 1, np.ones(3, dtype=np.bool_)).tolist()
    [0]
    """

    def __init__(self, dimensions: int) -> None:
        self._words = -(-dimensions // _WORD)
        self._columns = np.zeros((self._words, 0), dtype=np.uint64)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def follow(self, rows: Vectors) -> None:
        """Take in more rows (n, d)."""
        end = self._used + len(rows)
        if end > self._columns.shape[1]:
            more = max(end, 2 * self._columns.shape[1], 1024) - self._columns.shape[1]
            spare = np.zeros((self._words, more), dtype=np.uint64)
            self._columns = np.concatenate([self._columns, spare], axis=1)
        self._columns[:, self._used : end] = self._signs(rows).T
        self._used = end

    def nearest(self, asked: Vectors, count: int, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """
        The `count` rows whose signs differ least from those of `asked` (d,), ascending, and those that differ as little as these.

        Args:
            allowed: (rows,) those that may be found; fewer come back where fewer are allowed.
        """
        distances = np.zeros(self._used, dtype=np.uint16)
        for column, signs in zip(self._columns, self._signs(asked[None, :])[0], strict=True):
            distances += np.bitwise_count(column[: self._used] ^ signs)
        distances[~allowed] = self._words * _WORD + 1
        # Distances are few different numbers: to count them is quicker than to sort.
        within = np.cumsum(np.bincount(distances, minlength=self._words * _WORD + 2)[:-1])
        most = int(np.searchsorted(within, min(count, int(within[-1]))))
        near = np.flatnonzero(distances <= most)
        return np.asarray(near[distances[near] <= self._words * _WORD], dtype=np.int64)

    def _signs(self, rows: Vectors) -> NDArray[np.uint64]:
        bits = np.packbits(np.asarray(rows) > 0, axis=1)
        padded = np.zeros((len(bits), self._words * _WORD // 8), dtype=np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)
