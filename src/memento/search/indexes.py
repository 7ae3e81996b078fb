"""
All indexes together, and how they follow the graph: what the graph says of a node is read, and everything derived from it is set.

`refresh` after a write and `reconcile.reconcile` at start give the same indexes: they are one function of the graph however they
came about.

*But:* readers and the writer share one lock; a search of a hundred thousand memories holds it for some ten milliseconds.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from memento.graph.mapping import statements
from memento.model import Change, Value
from memento.ports import Embedder, Graph, Vectors
from memento.search.adjacency import Adjacency
from memento.search.found import Found
from memento.search.labels import Labels
from memento.search.links import Links
from memento.search.nearest import FLAT, VectorIndex
from memento.search.nodes import Kind, Nodes
from memento.search.passages import Passages
from memento.search.turns import Turn
from memento.search.vectors import VectorFile, digest
from memento.search.vocabulary import Vocabulary
from memento.search.words import Postings
from memento.vocabulary import IRI, MEM, TYPE, user_of


class Indexes:
    """Nodes, vectors, words, labels and links of one store. Hold `lock` while reading several of them together."""

    def __init__(self, graph: Graph, embedder: Embedder, file: VectorFile, flat: int = FLAT) -> None:
        """
        Args:
            flat: vectors of a kind up to which a search looks at every one.
        """
        self._graph = graph
        self.embedder = embedder
        self.file = file
        self.flat = flat
        self.lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        """Forget what is in memory; the vector file keeps what it has."""
        self.nodes = Nodes()
        self.labels = Labels()
        self.adjacency = Adjacency()
        self.vectors: dict[Kind, VectorIndex] = {
            "memory": VectorIndex(self.embedder.dimensions, self.flat),
            "anchor": VectorIndex(self.embedder.dimensions, self.flat),
        }
        self.vocabulary = Vocabulary()
        self.word_postings: dict[tuple[IRI, Kind], Postings] = defaultdict(lambda: Postings(self.vocabulary))
        self.passages: dict[IRI, Passages] = defaultdict(lambda: Passages(self.vocabulary))
        self.links: dict[IRI, Links] = defaultdict(Links)
        self.slots: dict[tuple[str, bool], set[int]] = defaultdict(set)
        """The memories that fill each slot: its name, and whether it is the user's or somebody else's."""
        self.names: dict[IRI, str] = {}
        """What each anchor is called."""
        self.retired_at: dict[IRI, datetime] = {}
        self._turn_of: dict[IRI, tuple[IRI, int] | None] = {}

    def words(self, graphs: Sequence[IRI], kind: Kind) -> list[Postings]:
        """The postings of some graphs, for `words.bm25`."""
        return [self.word_postings[graph, kind] for graph in graphs if (graph, kind) in self.word_postings]

    def participants(self, graphs: Sequence[IRI]) -> list[str]:
        """Who takes part in the conversations of some graphs, the most talkative first."""
        counted: Counter[str] = Counter()
        for graph in graphs:
            if graph in self.passages:
                counted.update(self.passages[graph].turns.speakers)
        return [name for name, _ in counted.most_common()]

    def refresh(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """
        Bring the indexes up to what the graph now says of some nodes; one it says nothing of is removed.

        Args:
            graphs: where the nodes may be described.
        """
        if not iris:
            return
        found = self.read(iris, graphs)
        self.named(found)
        notes = {IRI(one.one(MEM.extractedFrom)) for one in found if one.kind == "memory"} - self._turn_of.keys() - {""}
        if notes:
            self.named(self.read(sorted(notes), graphs))
        described = {one.iri for one in found}
        self.absorb(found, [iri for iri in iris if iri not in described], self.embedded(found))

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

    def name(self, anchor: IRI) -> str:
        """What an anchor is called; empty for one that is not known."""
        return self.names.get(anchor, "")

    def named(self, found: Iterable[Found]) -> None:
        """Learn what anchors are called and which notes are turns: the texts and places of memories need it."""
        for one in found:
            if one.kind == "anchor":
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
                texts[one.iri] = self.embedder.windows(text)
            elif node is None and (stored := self.file.stored(one.iri)):
                vectors[one.iri] = stored[1]
        flat = self.embedder.embed([window for windows in texts.values() for window in windows]) if texts else None
        begin = 0
        for iri, windows in texts.items():
            assert flat is not None
            vectors[iri] = flat[begin : begin + len(windows)]
            begin += len(windows)
        return vectors

    def absorb(self, found: Sequence[Found], gone: Sequence[IRI], vectors: Mapping[IRI, Vectors]) -> None:
        """Set everything that derives from some nodes; `vectors` are those of `embedded`."""
        with self.lock:
            held = [one for one in found if one.kind is not None]
            fresh = [one for one in held if one.iri in vectors]
            ids = self.file.write([(one.iri, digest(self.text(one)), vectors[one.iri]) for one in fresh], gone)
            for one in found:
                self.learn_end(one)
            for iri in gone:
                self.drop(iri)
            for one, node in zip(fresh, ids, strict=True):
                self.put_text(node, one)
            for kind, index in self.vectors.items():
                of_kind = [(node, vectors[one.iri]) for one, node in zip(fresh, ids, strict=True) if one.kind == kind]
                index.put([node for node, _ in of_kind], [rows for _, rows in of_kind])
            # Anchors before memories: a memory's links need the ids of what it is about.
            for one in sorted(held, key=lambda one: one.kind == "memory"):
                self.put(one)

    def turn(self, node: int, one: Found) -> Turn | None:
        """A memory's place in a conversation, when its note has one."""
        place = self._turn_of.get(IRI(one.one(MEM.extractedFrom)))
        if place is None:
            return None
        speaker = self.names.get(IRI(one.one(MEM.saidBy)), "")
        return Turn(node=node, session=place[0], position=place[1], speaker=speaker, content=one.one(MEM.content))

    def subject(self, one: Found) -> tuple[str, ...]:
        """The name of a memory's subject. It mentions much that it is not about in the sense of a link."""
        name = self.names.get(IRI(one.one(MEM.subject)))
        return (name,) if name else ()

    def learn_end(self, one: Found) -> None:
        """Before its memory is placed: an Invalidation says when Memento learned that a memory was over; the first one counts."""
        if MEM.Invalidation not in one.said.get(TYPE, ()):
            return
        at = one.time_of(MEM.at)
        for value in one.said.get(MEM.invalidated, ()):
            if at is not None and isinstance(value, IRI):
                self.retired_at[value] = min(at, self.retired_at.get(value, at))

    def put_text(self, node: int, one: Found) -> None:
        """Place a node that has an id: its words, its kind and its time. Its vector is put apart, in bulk."""
        kind = cast(Kind, one.kind)
        if self.nodes.find(one.iri) is not None:
            self.word_postings[self.nodes.graph(node), self.nodes.kind(node)].remove(node)
        self.word_postings[one.graph, kind].add(node, self.text(one))
        if kind == "memory":
            turn, content, title = self.turn(node, one), one.one(MEM.content), one.one(MEM.title)
            self.passages[one.graph].put(node, content, title, turn)
            extra = self.subject(one)
            self.links[one.graph].put(node, content, title or None, extra, is_turn=turn is not None)
        self.nodes.put(node, one.iri, kind, one.graph, one.lifetime(self.retired_at.get(one.iri)))

    def put(self, one: Found) -> None:
        """Set the time, names and links of a node that is placed; anchors must come before the memories about them."""
        node = self.nodes.find(one.iri)
        assert node is not None
        kind = cast(Kind, one.kind)
        if MEM.invalidAt not in one.said:
            self.retired_at.pop(one.iri, None)  # the invalidation may have been taken back
        self.nodes.put(node, one.iri, kind, one.graph, one.lifetime(self.retired_at.get(one.iri)))
        if kind == "anchor":
            self.labels.put(node, one.graph, one.labels)
        else:
            if slot := self.slot(one):
                self.slots[slot].add(node)
            self.adjacency.put(node, self.about(one))

    def slot(self, one: Found) -> tuple[str, bool] | None:
        """Which slot a memory fills, and whether it is the user's."""
        name = one.one(MEM.slot)
        return (name, one.one(MEM.subject) in ("", user_of(one.graph))) if name else None

    def about(self, one: Found) -> list[int]:
        """The ids of what a memory is about, as far as they are placed."""
        found = (self.nodes.find(IRI(str(anchor))) for anchor in one.said.get(MEM.about, ()))
        return [anchor for anchor in found if anchor is not None]

    def drop(self, iri: IRI) -> None:
        """Let a node be found no more; harmless when it is not there. Its vector stays in the file."""
        node = self.nodes.find(iri)
        if node is None:
            return
        graph, kind = self.nodes.graph(node), self.nodes.kind(node)
        self.word_postings[graph, kind].remove(node)
        if kind == "memory":
            self.passages[graph].drop(node)
            for filled in self.slots.values():
                filled.discard(node)
            self.links[graph].drop(node)
        self.vectors[kind].drop(node)
        self.labels.drop(node)
        self.adjacency.drop(node)
        self.nodes.drop(node)
