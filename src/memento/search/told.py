"""What the graph says of nodes as the indexes read it: their texts, what is called how, and the vectors of what they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from memento.graph.mapping import statements
from memento.model import Change, Value
from memento.ports import Embedder, Graph, Vectors
from memento.search.found import Found
from memento.search.nodes import Nodes
from memento.search.vectors import VectorFile, digest
from memento.vocabulary import IRI, MEM, TYPE


class Told:
    """Nodes as the graph tells of them, in the words that are embedded and searched for."""

    nodes: Nodes

    def __init__(self, graph: Graph, embedder: Embedder, file: VectorFile) -> None:
        self._graph = graph
        self.embedder = embedder
        self.file = file
        self.unlearn_names()

    def unlearn_names(self) -> None:
        """Forget what nodes are called, and which notes are turns."""
        self.names: dict[IRI, str] = {}
        """What each anchor and each key is called."""
        self._turn_of: dict[IRI, tuple[IRI, int] | None] = {}

    def read(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> list[Found]:
        """Some nodes as the graph has them now; one that it says nothing of is left out."""
        grouped: dict[IRI, tuple[IRI, dict[IRI, list[Value]]]] = {}
        for row in self._graph.select("search/statements", graphs, node=iris):
            _, said = grouped.setdefault(cast(IRI, row["node"]), (cast(IRI, row["graph"]), {}))
            said.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
        return [Found(iri, graph, said) for iri, (graph, said) in grouped.items()]

    def text(self, one: Found) -> str:
        """What is embedded and searched for of a node; anchors must be `named` before."""
        return one.text(self.names)

    def windows(self, one: Found, text: str) -> list[str]:
        """What is embedded of a node's text; nothing of one that is found by its spelling alone, or that says nothing."""
        return self.embedder.windows(text) if one.is_read and text.strip() else []

    def name(self, anchor: IRI) -> str:
        """What an anchor is called; empty for one that is not known."""
        return self.names.get(anchor, "")

    def named(self, found: Iterable[Found]) -> None:
        """Learn what anchors are called and which notes are turns: the texts and places of memories need it."""
        for one in found:
            if one.kind in ("anchor", "key"):
                self.names[one.iri] = one.name
            elif session := one.one(MEM.session):
                self._turn_of[one.iri] = (IRI(session), int(one.one(MEM.position) or 0))
            elif one.kind is None and MEM.Note in one.said.get(TYPE, ()):
                self._turn_of[one.iri] = None

    def anticipate(self, change: Change) -> None:
        """Embed what a change adds, before it is written: a write must not fail when half of it is done."""
        graphs = {subject: graph for subject, _, _, graph in change.adds}
        self.embedded([Found(iri, graphs[iri], said) for iri, said in statements(change.adds).items()])

    def embedded(self, found: Sequence[Found]) -> dict[IRI, Vectors]:
        """
        (windows, d) vectors of the nodes whose text is not yet searched for as it is: from the file where it has them, and else
        embedded in one call.
        """
        self.named(found)
        vectors: dict[IRI, Vectors] = {}
        texts: dict[IRI, list[str]] = {}
        for one in found:
            if one.kind is None:
                continue
            text = self.text(one)
            mark, node = self.file.digest(one.iri), self.nodes.find(one.iri)
            if mark != digest(text):
                texts[one.iri] = self.windows(one, text)
            elif node is None and (stored := self.file.stored(one.iri)):
                vectors[one.iri] = stored[1].reshape(len(stored[1]), self.embedder.dimensions)
        every = [window for windows in texts.values() for window in windows]
        flat = self.embedder.embed(every) if every else np.zeros((0, self.embedder.dimensions), dtype=np.float32)
        begin = 0
        for iri, windows in texts.items():
            vectors[iri] = flat[begin : begin + len(windows)]
            begin += len(windows)
        return vectors
