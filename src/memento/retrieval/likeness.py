"""Compute the similarity of everything that a reader may see to a text or a memory: a table for `mem:similarity`."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.graph.similarity import digest_iri
from memento.iris import IRI
from memento.model import Scope
from memento.ports import Vectors
from memento.search.indexes import Indexes
from memento.search.nodes import Kind

Keys = NDArray[np.uint64]

KINDS: tuple[Kind, ...] = ("memory", "anchor")

_KEYS: WeakKeyDictionary[Indexes, Keys] = WeakKeyDictionary()
"""The digest of the IRI of each id, 0 for ids that are not in use; an id keeps its IRI."""


def build_table(text: str, scope: Scope, stores: Backends) -> bytes:
    """
    Return a table of the cosines between a text and every memory and entity of a scope, past ones included. The best window counts.

    Raises:
        EmbeddingError: the text cannot be embedded.
    """
    return _compare(stores.embedder.embed_question(text), scope, stores.indexes)


def build_table_of(iri: IRI, scope: Scope, stores: Backends) -> bytes:
    """Do the same for the text of a memory or an entity of the scope; return an empty table when there is none with this IRI."""
    indexes = stores.indexes
    with indexes.lock:
        node = indexes.nodes.find(iri)
        if node is None or not any(_mask_scope(scope, indexes, kind)[node] for kind in KINDS):
            return b""
        own = indexes.vectors[indexes.nodes.kind(node)].vectors([node])
        return _compare(own, scope, indexes)


def _compare(vectors: Vectors, scope: Scope, indexes: Indexes) -> bytes:
    with indexes.lock:
        keys, scores = [], []
        for kind in KINDS:
            nodes = np.flatnonzero(_mask_scope(scope, indexes, kind))
            cosines = indexes.vectors[kind].likeness(vectors, indexes.nodes.size)[nodes]
            keys.append(_digest(nodes, indexes))
            scores.append(cosines)
    every, cosine = np.concatenate(keys), np.concatenate(scores)
    order = np.argsort(every)
    return every[order].astype("<u8").tobytes() + cosine[order].astype("<f4").tobytes()


def _mask_scope(scope: Scope, indexes: Indexes, kind: Kind) -> NDArray[np.bool_]:
    graphs = (*scope.memory_graphs, *scope.user_graphs)
    return indexes.nodes.within(graphs, kind)


def _digest(nodes: NDArray[np.integer[Any]], indexes: Indexes) -> Keys:
    """Return (len(nodes),) the digests of the IRIs of some ids in use."""
    known: Keys = _KEYS.get(indexes, np.zeros(0, dtype=np.uint64))
    if len(known) < indexes.nodes.size:
        known = np.concatenate([known, np.zeros(indexes.nodes.size - len(known), dtype=np.uint64)])
        _KEYS[indexes] = known
    for node in nodes[known[nodes] == 0].tolist():
        known[node] = digest_iri(indexes.nodes.iri(node))
    return np.asarray(known[nodes])
