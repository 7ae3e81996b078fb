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

from memento.ports import Embedder, Graph, Vectors
from memento.search.adjacency import Adjacency
from memento.search.associations import Associations
from memento.search.fadings import Fadings
from memento.search.found import Found
from memento.search.keygraph import KeyGraph
from memento.search.labels import Labels
from memento.search.links import Links
from memento.search.nearest import FLAT, VectorIndex
from memento.search.nodes import Kind, Nodes
from memento.search.numbers import Numbers
from memento.search.passages import Passages
from memento.search.told import Told
from memento.search.turns import Turn
from memento.search.vectors import VectorFile, digest
from memento.search.vocabulary import Vocabulary
from memento.search.words import Postings
from memento.vocabulary import IRI, MEM, TYPE, user_of


class Indexes(Told):
    """Nodes, vectors, words, labels, keys and links of one store. Hold `lock` while reading several of them together."""

    def __init__(self, graph: Graph, embedder: Embedder, file: VectorFile, flat: int = FLAT) -> None:
        """
        Args:
            flat: vectors of a kind up to which a search looks at every one.
        """
        super().__init__(graph, embedder, file)
        self.flat = flat
        self.lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        """Forget what is in memory; the vector file keeps what it has."""
        self.unlearn_names()
        self.nodes = Nodes()
        self.labels = Labels()
        self.adjacency = Adjacency()
        self.vectors: dict[Kind, VectorIndex] = {
            kind: VectorIndex(self.embedder.dimensions, self.flat) for kind in ("memory", "anchor", "key")
        }
        self.keys = KeyGraph()
        self.associations = Associations()
        self.fadings = Fadings()
        self.numbers = Numbers()
        self.vocabulary = Vocabulary()
        self.word_postings: dict[tuple[IRI, Kind], Postings] = defaultdict(lambda: Postings(self.vocabulary))
        self.passages: dict[IRI, Passages] = defaultdict(lambda: Passages(self.vocabulary))
        self.links: dict[IRI, Links] = defaultdict(Links)
        self.slots: dict[tuple[str, bool], set[int]] = defaultdict(set)
        """The memories that fill each slot: its name, and whether it is the user's or somebody else's."""
        self.retired_at: dict[IRI, datetime] = {}

    def blank(self) -> Indexes:
        """Indexes of the same kind with nothing in them, and a vector file in memory."""
        return Indexes(self._graph, self.embedder, VectorFile(None, self.embedder.fingerprint), self.flat)

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
        self._name_notes(found, graphs)
        described = {one.iri for one in found}
        self.absorb(found, [iri for iri in iris if iri not in described], self.embedded(found))
        self.link(sorted(_linked(found)), graphs)

    def _name_notes(self, found: Iterable[Found], graphs: Sequence[IRI]) -> None:
        """Learn which of the notes that some memories are from are turns."""
        notes = {IRI(one.one(MEM.extractedFrom)) for one in found if one.kind == "memory"}
        if unread := sorted(note for note in notes if note and note not in self._turn_of):
            self.named(self.read(unread, graphs))

    def recount(self, memories: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """Set the numbers of some memories, and the links to them, as the graph has them now; nothing else of them has changed."""
        if not graphs:
            return
        for one in self.read(memories, graphs):
            if (node := self.nodes.find(one.iri)) is not None:
                self.numbers.put(node, one.said)
        self.link(memories, graphs)

    def link(self, memories: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """Set the links from keys to some memories as the graph has them now."""
        rows = self._graph.select("search/links", graphs, memory=memories) if memories else []
        with self.lock:
            links = [(IRI(str(row["key"])), IRI(str(row["memory"])), float(str(row["weight"]))) for row in rows]
            linked = self.keys.placed(links, self.nodes)
            for node in map(self.nodes.find, memories):
                if node is not None:
                    self.keys.link(node, linked.get(node, {}))

    def revise(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """
        Set all that derives from some nodes anew, whatever was known of them: for a write that need not be a note's.

        Args:
            iris: every node that was written of, with the invalidations of each memory among them.
            graphs: where the nodes may be described; those that are known from elsewhere are left alone.
        """
        if not iris:
            return
        with self.lock:
            mine = [iri for iri in iris if (node := self.nodes.find(iri)) is None or self.nodes.graph(node) in graphs]
            known = [iri for iri in mine if self.file.id(iri) is not None]
            arcs, led = self._hanging_on(mine)
            mine = [*mine, *sorted(arcs.difference(mine))]
            for iri in mine:
                self.drop(iri)
                self.names.pop(iri, None)
                self.retired_at.pop(iri, None)
                self._turn_of.pop(iri, None)
            found = self.read(mine, graphs) if mine else []
            self.named(found)
            self._name_notes(found, graphs)
            held = {one.iri for one in found if one.kind is not None}
            self.absorb(found, [iri for iri in known if iri not in held], self.embedded(found))
            self.link(sorted(_linked(found) | led), graphs)

    def _hanging_on(self, iris: Sequence[IRI]) -> tuple[set[IRI], set[IRI]]:
        """What is dropped together with some nodes: their associations, and the links of the memories that they lead to."""
        arcs: set[IRI] = set()
        led: set[IRI] = set()
        for iri in iris:
            node = self.keys.id(iri, self.nodes) if (found := self.nodes.find(iri)) is None else found
            if node is not None:
                arcs |= {name for name, _ in self.associations.of(node)}
                led |= {self.nodes.iri(memory) for memory in self.keys.led_to(node)[0].tolist()}
        return arcs, led

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
            for one in found:
                self.keys.learn(one, self.nodes)
                self.associations.learn(one, self.nodes)
                self.fadings.learn(one)

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
        if kind != "key":
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
            self.keys.put_anchor(node, one.graph, one.labels, one.one(MEM.entityType).rsplit("/", 1)[-1])
        elif kind == "key":
            self.keys.put(node, one.graph, one.labels, one.key_type)
        else:
            self.numbers.put(node, one.said)
            self.keys.put_memory(node, one.is_keyed)
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
            self.keys.unlearn(iri, self.nodes)
            self.associations.unlearn(iri)
            self.fadings.unlearn(iri)
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
        self.keys.drop(node)
        self.associations.drop(node)
        self.numbers.drop(node)
        self.adjacency.drop(node)
        self.nodes.drop(node)


def _linked(found: Iterable[Found]) -> set[IRI]:
    """The memories that a read has met, and those that links among it lead to."""
    ends = {one.link[1] for one in found if one.link}
    return {one.iri for one in found if one.kind == "memory"} | ends
