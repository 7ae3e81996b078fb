"""
Which phrases lead to which memories, and how strongly: keys, and the entities that act as keys, by dense id.

*But:* a memory is reachable from what it is about without an explicit link; those edges are in `adjacency`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE, anchor_of
from memento.model import KeyType
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, Index, Update, register
from memento.search.labels import Labels, pack_phrases, unpack_phrases
from memento.search.nodes import REMEMBERED, Edge, Ids, Mask, Record
from memento.search.postings import Postings, Segment, tokens
from memento.search.spellings import Spellings

UNIT = 10_000
"""The stored value of weight 1: postings count in whole numbers."""

Weights = NDArray[np.float64]

_TYPES: tuple[KeyType, ...] = ("concept", "name", "proper_noun")
_GIVEN = 9
_CODES = {name: code for code, name in enumerate(_TYPES, start=1)}
_TYPE_OF_KIND: Mapping[str, KeyType] = {
    "Person": "name",
    **dict.fromkeys(("Organization", "Project", "Location", "Event"), "proper_noun"),
    **dict.fromkeys(("Technology", "Concept"), "concept"),
}


def type_of_kind(kind: str) -> KeyType:
    """
    Return the key type of an entity from its kind; the user, who has no kind, matches as a name.

    >>> type_of_kind("Technology"), type_of_kind("Location"), type_of_kind("")
    ('concept', 'proper_noun', 'name')
    """
    return _TYPE_OF_KIND.get(kind, "name")


@register
class KeyGraph(Index):
    """The keys of one store and their links."""

    name = "keys"
    reads = frozenset({MEM.source})
    learns_from = frozenset({MEM.Key})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._types = np.zeros(0, dtype=np.int8)  # of keys and anchors; of a memory, whether it was saved with keys
        self._links = Postings()  # a key is a term of the memories it leads to; the weight is the term's count
        self._own = Spellings()  # of keys; of anchors, the spellings that their keys add
        self._stemmed = Spellings()  # concepts, by the stems of their words
        self._of_anchors: Spellings | None = None  # built when first needed
        self._denoted: dict[IRI, IRI] = {}  # what keys denote

    def put(self, node: int, graph: IRI, phrases: Sequence[str], of: KeyType) -> None:
        """Add a key, or replace it."""
        self._own.put(node, graph, phrases)
        self._stemmed.put(node, graph, map(_stems, phrases) if of == "concept" else ())
        self._set_type(node, _CODES[of])

    def put_anchor(self, node: int, graph: IRI, phrases: Sequence[str], kind: str) -> None:
        """Add an entity of some kind, or the user, as a key."""
        if self._of_anchors is not None:
            self._of_anchors.put(node, graph, phrases)
        self._set_type(node, _CODES[type_of_kind(kind)])

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "memory":
                self.put_memory(node, REMEMBERED in record.statements.get(MEM.source, ()))
            elif record.kind == "anchor":
                self.put_anchor(node, record.graph, record.labels, record.first(MEM.entityType).rsplit("/", 1)[-1])
            else:
                self.put(node, record.graph, record.labels, record.key_type)
        for record in update.others:
            self._learn(record)

    def fill(self, everything: Everything) -> None:
        self.apply(everything)
        self.fill_links(self._resolve(everything.edges))

    def follow_edges(self, memories: Sequence[IRI], edges: Sequence[Edge]) -> None:
        links = self._resolve(edges)
        for node in map(self.context.nodes.find, memories):
            if node is not None:
                self.link(node, links.get(node, {}))

    def _learn(self, record: Record) -> None:
        """Learn the phrases of a key that denotes an anchor, besides the anchor's own names; ignore all other records."""
        if MEM.denotes not in record.statements or MEM.Key not in record.statements.get(TYPE, ()):
            return
        nodes = self.context.nodes
        self._denoted[record.iri] = anchor = IRI(record.first(MEM.denotes))
        if (node := nodes.find(anchor)) is not None:
            self._own.put(node, nodes.graph(node), record.labels)
            stems = map(_stems, record.labels) if self.type(node) == "concept" else ()
            self._stemmed.put(node, nodes.graph(node), stems)

    def forget(self, iri: IRI) -> None:
        anchor = self._denoted.pop(iri, None)
        if anchor and (node := self.context.nodes.find(anchor)) is not None:
            self._own.drop(node)
            self._stemmed.drop(node)

    def find_dependents(self, iri: IRI) -> tuple[set[IRI], set[IRI]]:
        node = self.context.nodes.find(iri)
        key = self.id(iri) if node is None else node
        return set(), set() if key is None else {
            self.context.nodes.iri(memory) for memory in self.led_to(key)[0].tolist()
        }

    def id(self, key: IRI) -> int | None:
        """Return the id of a key, or of the entity or user that it denotes; None when it is missing."""
        nodes = self.context.nodes
        node = nodes.find(key)
        if node is None and (anchor := self._denoted.get(key) or anchor_of(key)):
            node = nodes.find(anchor)
        return None if node is None or nodes.kind(node) == "memory" else node

    def _resolve(self, edges: Iterable[Edge]) -> dict[int, dict[int, float]]:
        """Return the weights of links by the ids of memory and key; of duplicate links the heavier counts."""
        links: dict[int, dict[int, float]] = {}
        for key, memory, weight in edges:
            begin, end = self.id(key), self.context.nodes.find(memory)
            if begin is not None and end is not None:
                of = links.setdefault(end, {})
                of[begin] = max(of.get(begin, 0.0), weight)
        return links

    def drop(self, node: int) -> None:
        """Remove a key or a memory, and all its links; harmless when it is missing."""
        self._own.drop(node)
        self._stemmed.drop(node)
        if self._of_anchors is not None:
            self._of_anchors.drop(node)
        if node < len(self._types):
            self._types[node] = 0
        for memory in self.led_to(node)[0].tolist():
            self.link(memory, {key: weight for key, weight in self.links(memory).items() if key != node})
        self._links.remove(node)

    def link(self, memory: int, weights: Mapping[int, float]) -> None:
        """Replace the keys that lead to a memory, each with its weight."""
        if weights or memory in self._links:
            self._links.add_counts(memory, {key: round(weight * UNIT) for key, weight in weights.items()}, 0)

    def links(self, memory: int) -> dict[int, float]:
        """Return the keys that are linked to a memory, with their weights."""
        return {key: times / UNIT for key, times in self._links.counts(memory).items()}

    def links_of(self, memories: Ids) -> list[tuple[int, int, float]]:
        """Return the links to some memories: (memory, key, weight)."""
        links = []
        for memory in memories.tolist():
            if memory in self._links:
                links += [(memory, key, weight) for key, weight in self.links(memory).items()]
        return links

    def led_to(self, key: int) -> tuple[Ids, Weights]:
        """Return the memories that a key is linked to, unordered, and the weights."""
        having = self._links.having(key)
        if having is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0)
        return having[0].copy(), having[1].astype(np.float64) / UNIT

    def put_memory(self, node: int, is_given: bool) -> None:
        """Note whether a memory was saved with keys; it is then reached by these alone."""
        if is_given or (node < len(self._types) and self._types[node]):
            self._set_type(node, _GIVEN if is_given else 0)

    def have_given_keys(self, nodes: NDArray[np.integer]) -> Mask:
        """Return (n,) which memories were saved with keys."""
        given = np.zeros(len(nodes), dtype=np.bool_)
        known = np.flatnonzero(nodes < len(self._types))
        given[known] = self._types[nodes[known]] == _GIVEN
        return given

    def type(self, node: int) -> KeyType | None:
        """Return the key type of a key or an anchor; None for anything else."""
        code = int(self._types[node]) if node < len(self._types) else 0
        return _TYPES[code - 1] if 0 < code <= len(_TYPES) else None

    def phrase(self, key: int) -> str:
        """Return the normalised main phrase of a key; empty for an entity, or if it cannot be searched for."""
        return next(iter(self._own.phrases.get(key, ("", ()))[1]), "")

    def concepts(self, size: int) -> Mask:
        """Return (size,) the nodes that match by meaning."""
        concepts = np.zeros(size, dtype=np.bool_)
        known = min(size, len(self._types))
        concepts[:known] = self._types[:known] == _CODES["concept"]
        return concepts

    def find_in_text(self, text: str, graphs: Sequence[IRI], labels: Labels) -> dict[int, str]:
        """Return the keys and anchors of some graphs that a text names, each with the matching phrase."""
        phrases = self._anchors(labels).find_in_text(text, graphs)
        for node, phrase in self._own.find_in_text(text, graphs).items():
            if len(phrase) > len(phrases.get(node, "")):
                phrases[node] = phrase
        return phrases

    def find_exact(self, phrase: str, graphs: Sequence[IRI], labels: Labels) -> list[int]:
        """Return the keys and anchors of some graphs that have a phrase as a name, keys first."""
        both = [*self._own.find_exact(phrase, graphs), *self._anchors(labels).find_exact(phrase, graphs)]
        return list(dict.fromkeys(both))

    def find_by_stems(self, phrase: str, graphs: Sequence[IRI]) -> list[int]:
        """Return the concepts whose words have the same stems as those of a phrase."""
        return self._stemmed.find_exact(_stems(phrase), graphs) if self._stemmed else []

    def fill_links(self, links: Mapping[int, Mapping[int, float]]) -> None:
        """Link many memories where none is linked yet: the same as `link` for each, in a fraction of the time."""
        nodes = np.array(sorted(links), dtype=np.int32)
        counts = np.array([len(links[node]) for node in nodes.tolist()], dtype=np.int64)
        keys = np.array([key for node in nodes.tolist() for key in links[node]], dtype=np.int64)
        times = np.array([round(w * UNIT) for node in nodes.tolist() for w in links[node].values()], dtype=np.int64)
        lengths = np.zeros(len(nodes), dtype=np.int32)
        self._links = Postings(segment=Segment.of(nodes, lengths, counts, keys, times))

    def holds(self, node: int, record: Record) -> bool:
        return record.kind == "memory" or self.type(node) is not None

    def arrays(self) -> Arrays:
        return nest_arrays(
            {
                "": {"types": self._types},
                "phrases": pack_phrases(self._own.phrases),
                "links": self._links.merge_all(),
                "denoting": pack_strings(list(self._denoted)),
                "denoted": pack_strings(list(self._denoted.values())),
            }
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._types = arrays["types"]
        for node, graph, phrases in unpack_phrases(select_part(arrays, "phrases")):
            self._own.put(node, graph, phrases)
            if self.type(node) == "concept":
                self._stemmed.put(node, graph, map(_stems, phrases))
        denoting, denoted = (map(IRI, unpack_strings(select_part(arrays, name))) for name in ("denoting", "denoted"))
        self._denoted = dict(zip(denoting, denoted, strict=True))
        self._links = Postings(segment=Segment.from_arrays(select_part(arrays, "links")))

    def _set_type(self, node: int, code: int) -> None:
        if node >= len(self._types):
            more = max(node + 1, 2 * len(self._types), 64) - len(self._types)
            self._types = np.concatenate([self._types, np.zeros(more, dtype=np.int8)])
        self._types[node] = code

    def _anchors(self, labels: Labels) -> Spellings:
        """Return the spellings of the anchors, read from their labels on first use."""
        if self._of_anchors is None:
            made = Spellings()
            for node, graph, names in labels.items():
                made.put(node, graph, names)
            self._of_anchors = made
        return self._of_anchors


def _stems(phrase: str) -> str:
    return " ".join(tokens(phrase))
