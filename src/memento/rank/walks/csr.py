"""An undirected graph in compressed rows: what every walk goes over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Mass = NDArray[np.float64]
"""(n,) what a walk has brought to every node."""


@dataclass(frozen=True, eq=False)
class Csr:
    """
    An undirected graph over the nodes 0..n-1 as compressed rows: every link stands in the rows of both its ends.

    The neighbours of node v are `indices[indptr[v] : indptr[v + 1]]`, ascending; `weights` lies beside `indices`, or is
    None when all links count the same.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls,
        n: int,
        source: NDArray[np.integer],
        target: NDArray[np.integer],
        weights: NDArray[np.floating] | None = None,
    ) -> Csr:
        """
        The graph of links given once, in either direction. Repeated links count once, or add up where there are weights.

        Args:
            n: number of nodes.
            source, target: (m,) node ids in 0..n-1.
            weights: (m,) positive.

        >>> Csr.of(3, np.array([0, 0]), np.array([1, 2])).neighbours(0).tolist()
        [1, 2]
        """
        source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        loops = source == target
        rows = np.concatenate([source, target[~loops]])
        columns = np.concatenate([target, source[~loops]])
        arcs, place = np.unique(rows * n + columns, return_inverse=True)
        indptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(arcs // max(n, 1), minlength=n), out=indptr[1:])
        summed = None
        if weights is not None:
            both = np.concatenate([weights, np.asarray(weights)[~loops]])
            summed = np.bincount(place, weights=both, minlength=len(arcs)).astype(np.float32)
        return cls(indptr, (arcs % max(n, 1)).astype(np.int32), summed)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """Node ids, ascending."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    @cached_property
    def strength(self) -> Mass:
        """(n,) the number of links of each node, or the sum of their weights."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.row_sums(self.weights.astype(np.float64))

    @cached_property
    def rare(self) -> Csr:
        """
        The same links, each as heavy as both its ends are rare: a walker prefers the particular to the hub.

        Links count the same before; the rarity is that of a node's links among all linked nodes.
        """
        links = np.diff(self.indptr)
        rare = rarity(links, int(np.count_nonzero(links)))
        return Csr(self.indptr, self.indices, (np.repeat(rare, links) * rare[self.indices]).astype(np.float32))

    def row_sums(self, values: NDArray[np.float64]) -> Mass:
        """(n,) the sum over each row of `values`, which lie beside `indices`."""
        sums = np.zeros(len(self))
        filled = np.flatnonzero(np.diff(self.indptr))  # `reduceat` would give an empty row its successor's first value
        if filled.size:
            sums[filled] = np.add.reduceat(values, self.indptr[filled])
        return sums


def rarity(links: NDArray[np.integer], n: int) -> NDArray[np.float64]:
    """
    How much it says of something to be linked to a node with so many links, in 0..1: ln((n + 2) / (links + 1)) / ln(n + 2).

    Unlike the idf of words it is above 0 also for what everything is linked to: where all is about one thing, this one still leads.

    Args:
        links: of each node, 1 at least where it counts; more than `n` counts as `n`.
        n: how many could be linked.

    >>> rarity(np.array([1, 10, 98]), 98).round(2).tolist()
    [0.85, 0.48, 0.0]
    """
    return np.asarray(np.log((n + 2) / (np.minimum(links, n) + 1)) / np.log(n + 2))


def arcs_of(csr: Csr, nodes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the arcs of these nodes lie in `indices`, node after node, and how many each has."""
    begins = csr.indptr[nodes]
    sizes = csr.indptr[nodes + 1] - begins
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(begins - (ends - sizes), sizes), sizes
