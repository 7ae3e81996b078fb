"""
Dense integer ids for everything that can be found, and the arrays that say who may see it and when it was true.

An id is shared by vectors, words and links. All filters (namespace, kind, the two time axes) are one boolean array over ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memento.vocabulary import IRI

Kind = Literal["memory", "anchor"]
Mask = NDArray[np.bool_]
Ids = NDArray[np.int32]

_KINDS: dict[Kind, int] = {"memory": 1, "anchor": 2}
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """
    When a node was true and when it was believed; None is "not yet over".

    `retired_at` is when Memento learned of `invalid_at`: before that instant it believed that the node still held.
    """

    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    expired_at: datetime | None = None
    retired_at: datetime | None = None


class Nodes:
    """The ids in use and their filters. Ids are given by `search/vectors.py`, which keeps them."""

    def __init__(self) -> None:
        self._iris: dict[int, IRI] = {}
        self._ids: dict[IRI, int] = {}
        self._graphs: dict[IRI, int] = {}
        self._kind = np.zeros(0, dtype=np.int8)
        self._graph = np.zeros(0, dtype=np.int32)
        # milliseconds since 1970: valid from, valid until, believed from, believed until, end known since
        self._times = np.zeros((5, 0), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._iris)

    @property
    def size(self) -> int:
        """One more than the largest id ever used: the length of every mask."""
        return len(self._kind)

    def put(self, node: int, iri: IRI, kind: Kind, graph: IRI, lifetime: Lifetime) -> None:
        """Add a node, or replace what is known of it."""
        self._grow(node + 1)
        self._iris[node], self._ids[iri] = iri, node
        self._kind[node] = _KINDS[kind]
        self._graph[node] = self._graphs.setdefault(graph, len(self._graphs))
        starts = (_ms(lifetime.valid_at, 0), _ms(lifetime.created_at, 0))
        ends = (_ms(lifetime.invalid_at, NEVER), _ms(lifetime.expired_at, NEVER))
        self._times[:, node] = (starts[0], ends[0], starts[1], ends[1], _ms(lifetime.retired_at, 0))

    def drop(self, node: int) -> None:
        """Let a node be found no more; harmless when there is none."""
        if iri := self._iris.pop(node, None):
            del self._ids[iri]
            self._kind[node] = 0

    def iri(self, node: int) -> IRI:
        """The IRI of an id; raises `KeyError` when the id is not in use."""
        return self._iris[node]

    def find(self, iri: IRI) -> int | None:
        """The id of an IRI, or None."""
        return self._ids.get(iri)

    def iris(self) -> list[IRI]:
        """Every IRI that can be found, in no order."""
        return list(self._ids)

    def within(self, graphs: Sequence[IRI], kind: Kind) -> Mask:
        """(size,) True for the nodes of a kind in some graphs, whatever their time."""
        codes = [self._graphs[graph] for graph in graphs if graph in self._graphs]
        inside: Mask = (self._kind == _KINDS[kind]) & np.isin(self._graph, codes)
        return inside

    def current(
        self,
        graphs: Sequence[IRI],
        *,
        now: datetime,
        as_of: datetime | None = None,
        believed_at: datetime | None = None,
    ) -> Mask:
        """
        (size,) True for the memories in some graphs that were true at `as_of` as far as was believed at `believed_at`.

        Without `as_of` a memory counts unless it is already over: a fact about next month is known today.
        """
        valid_from, valid_until, believed_from, believed_until, known_since = self._times
        believed = _ms(believed_at, _ms(now, 0))
        true_at = _ms(as_of, believed)
        ends = np.where(known_since <= believed, valid_until, NEVER)
        mask = self.within(graphs, "memory") & (true_at < ends)
        # Without a question about the past, what was written this very millisecond is believed already.
        mask &= believed < believed_until
        if believed_at is not None:
            mask &= believed_from <= believed
        if as_of is not None:
            mask &= valid_from <= true_at
        return np.asarray(mask, dtype=np.bool_)

    def told(self, graphs: Sequence[IRI], *, now: datetime, believed_at: datetime | None = None) -> Mask:
        """
        (size,) True for the memories in some graphs that history tells of at `believed_at`: those that were over or corrected by
        then are among them, those that were forgotten are not.
        """
        _, _, believed_from, believed_until, known_since = self._times
        believed = _ms(believed_at, _ms(now, 0))
        mask = self.within(graphs, "memory")
        # A correction ends a belief at the very instant at which it is known; forgetting ends it alone.
        mask &= (believed < believed_until) | (known_since == believed_until)
        if believed_at is not None:
            mask &= believed_from <= believed
        return np.asarray(mask, dtype=np.bool_)

    def days(self) -> NDArray[np.int64]:
        """(size,) the day since 1970 from which each node was true."""
        return np.asarray(self._times[0] // 86_400_000, dtype=np.int64)

    def newest(self, mask: Mask) -> Ids:
        """The ids that a (size,) mask allows, the latest believed first; of the same instant, the latest id."""
        nodes = np.flatnonzero(mask[: self.size]).astype(np.int32)
        return nodes[np.lexsort((-nodes, -self._times[2, nodes]))]

    def _grow(self, size: int) -> None:
        if size > len(self._kind):
            more = max(size, len(self._kind) * 2, 64) - len(self._kind)
            self._kind = np.concatenate([self._kind, np.zeros(more, dtype=np.int8)])
            self._graph = np.concatenate([self._graph, np.full(more, -1, dtype=np.int32)])
            self._times = np.concatenate([self._times, np.zeros((5, more), dtype=np.int64)], axis=1)


def _ms(at: datetime | None, otherwise: int) -> int:
    return otherwise if at is None else round(at.timestamp() * 1000)
