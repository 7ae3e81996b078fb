"""What one reader may find at one moment: the indexes, cut to some graphs and to the memories that held then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memento.iris import IRI
from memento.model import Scored
from memento.ports import Vectors
from memento.rank.laws import decay_associations
from memento.rank.walks import Csr
from memento.search.indexes import Indexes
from memento.search.links import Links
from memento.search.nodes import Mask
from memento.search.passages import Passages
from memento.search.words import bm25
from memento.settings import WordsSettings


@dataclass(frozen=True, slots=True)
class View:
    """
    A reader's share of the indexes. Nodes are dense ids.

    Use it under `indexes.lock`: a write in between would make its masks stale.
    """

    indexes: Indexes
    graphs: Sequence[IRI]
    visible: Mask  # (ids,) the memories that may come back
    now: datetime

    @property
    def count(self) -> int:
        """How many memories may come back."""
        return int(np.count_nonzero(self.visible))

    @classmethod
    def at(
        cls,
        indexes: Indexes,
        graphs: Sequence[IRI],
        now: datetime,
        as_of: datetime | None,
        believed_at: datetime | None,
    ) -> View:
        """Return the memories of some graphs that were true at `as_of` as far as was believed at `believed_at`."""
        visible = indexes.nodes.current(graphs, now=now, as_of=as_of, believed_at=believed_at)
        return cls(indexes, graphs, visible, now)

    def nearest(self, asked: Vectors, k: int, label: str) -> list[Scored[int]]:
        """Return the `k` memories most like any row of `asked` (w, d) by cosine, best first."""
        nodes, scores = self.indexes.vectors["memory"].search(asked, k, self.visible)
        return [Scored(node, score, label) for node, score in zip(nodes.tolist(), scores.tolist(), strict=True)]

    def wordiest(self, question: str, k: int, knobs: WordsSettings, label: str) -> list[Scored[int]]:
        """Return the `k` memories that share the most telling words with a question, by BM25, best first; equal ones by id."""
        nodes, scores = bm25(question, self.indexes.words(self.graphs, "memory"), knobs.k1, knobs.b)
        seen = self.visible[nodes]
        nodes, scores = nodes[seen], scores[seen]
        best = np.lexsort((nodes, -scores))[:k]
        return [
            Scored(node, score, label) for node, score in zip(nodes[best].tolist(), scores[best].tolist(), strict=True)
        ]

    def passages(self) -> list[Passages]:
        """Return what the memories of each graph are read together with."""
        return self.indexes.passages.among(self.graphs)

    def links(self) -> list[Links]:
        """Return the names in the memories of each graph."""
        return self.indexes.links.among(self.graphs)

    def participants(self) -> list[str]:
        """Return who takes part in the conversations of these graphs, the most talkative first."""
        return self.indexes.participants(self.graphs)

    def matrix(self) -> Csr:
        """Return the links of every memory in these graphs, retired ones included: they carry a walk, they do not come back."""
        return self.indexes.adjacency.matrix(self.indexes.nodes.within(self.graphs, "memory"))

    def association_matrix(self) -> Csr:
        """Return the associations between what may come back, as they have faded: what a walk goes over beside the `matrix`."""
        arcs = self.indexes.associations.among(self.visible)
        weights = np.zeros(len(arcs.source))
        for graph, of in self.indexes.nodes.by_graph(arcs.source):
            weights[of] = decay_associations(arcs.weight[of], arcs.at[of], self.indexes.fadings.of(graph))
        return self.indexes.associations.csr(arcs, weights, len(self.visible))

    def iris(self, nodes: Sequence[int]) -> list[IRI]:
        """Return the IRIs of some nodes, in their order."""
        return [self.indexes.nodes.iri(node) for node in nodes]
