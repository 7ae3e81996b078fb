"""
Which phrases lead to which memories, and how strongly: keys, and the entities that are keys by themselves, by dense id.

*But:* what a memory is about leads to it without a link being written; those edges are in `adjacency`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE, anchor_of
from memento.model import KeyType
from memento.search.archive import Arrays, nested, part, strings, unpacked
from memento.search.found import Found
from memento.search.labels import Labels
from memento.search.nodes import Ids, Mask, Nodes
from memento.search.postings import Postings
from memento.search.segment import Segment
from memento.search.spellings import Spellings
from memento.search.words import tokens

UNIT = 10_000
"""What a weight of 1 is kept as: postings count in whole numbers."""

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
    As what the key of an entity matches, by the entity's kind; the user, who has none, by name.

    >>> type_of_kind("Technology"), type_of_kind("Location"), type_of_kind("")
    ('concept', 'proper_noun', 'name')
    """
    return _TYPE_OF_KIND.get(kind, "name")


class KeyGraph:
    """The keys of one store and their links."""

    def __init__(self) -> None:
        self._types = np.zeros(0, dtype=np.int8)  # of keys and anchors; of a memory, whether its keys were given
        self._links = Postings()  # a key is a term of the memories it leads to, its weight how often they have it
        self._own = Spellings()  # of keys; of anchors those that their keys have learned
        self._stemmed = Spellings()  # concepts, by the stems of their words
        self._of_anchors: Spellings | None = None  # made when somebody asks
        self._denoted: dict[IRI, IRI] = {}  # what keys denote

    def put(self, node: int, graph: IRI, phrases: Sequence[str], of: KeyType) -> None:
        """Let a key be found, or replace what is known of it."""
        self._own.put(node, graph, phrases)
        self._stemmed.put(node, graph, map(_stems, phrases) if of == "concept" else ())
        self._typed(node, _CODES[of])

    def put_anchor(self, node: int, graph: IRI, phrases: Sequence[str], kind: str) -> None:
        """The same for an entity of some kind, or the user."""
        if self._of_anchors is not None:
            self._of_anchors.put(node, graph, phrases)
        self._typed(node, _CODES[type_of_kind(kind)])

    def learn(self, one: Found, nodes: Nodes) -> None:
        """What the key of an anchor is called beside the anchor's own names; nothing for anything else. Anchors must be placed."""
        if MEM.denotes not in one.said or MEM.Key not in one.said.get(TYPE, ()):
            return
        self._denoted[one.iri] = anchor = IRI(one.one(MEM.denotes))
        if (node := nodes.find(anchor)) is not None:
            self._own.put(node, nodes.graph(node), one.labels)
            self._stemmed.put(node, nodes.graph(node), map(_stems, one.labels) if self.type(node) == "concept" else ())

    def unlearn(self, key: IRI, nodes: Nodes) -> None:
        """Forget what the key of an anchor is called; harmless for any other."""
        anchor = self._denoted.pop(key, None)
        if anchor and (node := nodes.find(anchor)) is not None:
            self._own.drop(node)
            self._stemmed.drop(node)

    def id(self, key: IRI, nodes: Nodes) -> int | None:
        """The id of a key; of one that denotes an entity, or the user, it is theirs. None when it is not there."""
        node = nodes.find(key)
        if node is None and (anchor := self._denoted.get(key) or anchor_of(key)):
            node = nodes.find(anchor)
        return None if node is None or nodes.kind(node) == "memory" else node

    def placed(self, links: Iterable[tuple[IRI, IRI, float]], nodes: Nodes) -> dict[int, dict[int, float]]:
        """Links as (key, memory, weight) by id, by memory and key; where one is written twice the heavier counts."""
        found: dict[int, dict[int, float]] = {}
        for key, memory, weight in links:
            begin, end = self.id(key, nodes), nodes.find(memory)
            if begin is not None and end is not None:
                of = found.setdefault(end, {})
                of[begin] = max(of.get(begin, 0.0), weight)
        return found

    def drop(self, node: int) -> None:
        """Forget a key or a memory, and all links of it; harmless when it is not there."""
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
        """Say which keys lead to a memory and how strongly, in place of what was said before."""
        if weights or memory in self._links:
            self._links.add_counts(memory, {key: round(weight * UNIT) for key, weight in weights.items()}, 0)

    def links(self, memory: int) -> dict[int, float]:
        """The keys that lead to a memory by a link, and its weight."""
        return {key: times / UNIT for key, times in self._links.counts(memory).items()}

    def every(self, memories: Ids) -> list[tuple[int, int, float]]:
        """The links to some memories: (memory, key, weight)."""
        found = []
        for memory in memories.tolist():
            if memory in self._links:
                found += [(memory, key, weight) for key, weight in self.links(memory).items()]
        return found

    def led_to(self, key: int) -> tuple[Ids, Weights]:
        """The memories that a key leads to by a link, in no order, and the weights."""
        found = self._links.having(key)
        if found is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0)
        return found[0].copy(), found[1].astype(np.float64) / UNIT

    def put_memory(self, node: int, is_given: bool) -> None:
        """Say whether a memory came with keys of its own, by which alone it is then reached."""
        if is_given or (node < len(self._types) and self._types[node]):
            self._typed(node, _GIVEN if is_given else 0)

    def given(self, nodes: NDArray[np.integer]) -> Mask:
        """(n,) which memories came with keys of their own."""
        found = np.zeros(len(nodes), dtype=np.bool_)
        known = np.flatnonzero(nodes < len(self._types))
        found[known] = self._types[nodes[known]] == _GIVEN
        return found

    def type(self, node: int) -> KeyType | None:
        """As what a key or an anchor matches; None for anything else."""
        code = int(self._types[node]) if node < len(self._types) else 0
        return _TYPES[code - 1] if 0 < code <= len(_TYPES) else None

    def concepts(self, size: int) -> Mask:
        """(size,) the nodes that match by meaning."""
        found = np.zeros(size, dtype=np.bool_)
        known = min(size, len(self._types))
        found[:known] = self._types[:known] == _CODES["concept"]
        return found

    def find(self, text: str, graphs: Sequence[IRI], labels: Labels) -> dict[int, str]:
        """The keys and anchors of some graphs that a text names, each with the phrase that stands there."""
        found = self._anchors(labels).find(text, graphs)
        for node, phrase in self._own.find(text, graphs).items():
            if len(phrase) > len(found.get(node, "")):
                found[node] = phrase
        return found

    def named(self, phrase: str, graphs: Sequence[IRI], labels: Labels) -> list[int]:
        """The keys and anchors of some graphs that go by a phrase, keys first."""
        both = [*self._own.named(phrase, graphs), *self._anchors(labels).named(phrase, graphs)]
        return list(dict.fromkeys(both))

    def worded(self, phrase: str, graphs: Sequence[IRI]) -> list[int]:
        """The concepts whose words are those of a phrase but for their endings."""
        return self._stemmed.named(_stems(phrase), graphs) if self._stemmed else []

    def fill(self, links: Mapping[int, Mapping[int, float]]) -> None:
        """Link many memories where none is linked: the same as `link` for each, in a fraction of the time."""
        nodes = np.array(sorted(links), dtype=np.int32)
        counts = np.array([len(links[node]) for node in nodes.tolist()], dtype=np.int64)
        keys = np.array([key for node in nodes.tolist() for key in links[node]], dtype=np.int64)
        times = np.array([round(w * UNIT) for node in nodes.tolist() for w in links[node].values()], dtype=np.int64)
        lengths = np.zeros(len(nodes), dtype=np.int32)
        self._links = Postings(segment=Segment.of(nodes, lengths, counts, keys, times))

    def arrays(self, graphs: Sequence[IRI]) -> Arrays:
        """What is to be kept; graphs are written as their places among `graphs`."""
        placed = list(self._own.items())
        return nested(
            {
                "": {
                    "types": self._types,
                    "nodes": np.array([node for node, _, _ in placed], dtype=np.int32),
                    "graphs": np.array([graphs.index(graph) for _, graph, _ in placed], dtype=np.int32),
                    "counts": np.array([len(texts) for _, _, texts in placed], dtype=np.int32),
                },
                "phrases": strings([text for _, _, texts in placed for text in texts]),
                "links": self._links.settle(),
                "denoting": strings(list(self._denoted)),
                "denoted": strings(list(self._denoted.values())),
            }
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], graphs: Sequence[IRI]) -> Self:
        """What `arrays` gave; they are written to."""
        found, texts, begin = cls(), unpacked(part(arrays, "phrases")), 0
        found._types = arrays["types"]
        for node, number, count in zip(*(arrays[name].tolist() for name in ("nodes", "graphs", "counts")), strict=True):
            found._own.put(node, graphs[number], texts[begin : begin + count])
            if found.type(node) == "concept":
                found._stemmed.put(node, graphs[number], map(_stems, texts[begin : begin + count]))
            begin += count
        denoted = map(IRI, unpacked(part(arrays, "denoted")))
        found._denoted = dict(zip(map(IRI, unpacked(part(arrays, "denoting"))), denoted, strict=True))
        found._links = Postings(segment=Segment.from_arrays(part(arrays, "links")))
        return found

    def _typed(self, node: int, code: int) -> None:
        if node >= len(self._types):
            more = max(node + 1, 2 * len(self._types), 64) - len(self._types)
            self._types = np.concatenate([self._types, np.zeros(more, dtype=np.int8)])
        self._types[node] = code

    def _anchors(self, labels: Labels) -> Spellings:
        """How the anchors are spelt: read from their labels when it is first asked for."""
        if self._of_anchors is None:
            made = Spellings()
            for node, graph, names in labels.items():
                made.put(node, graph, names)
            self._of_anchors = made
        return self._of_anchors


def _stems(phrase: str) -> str:
    return " ".join(tokens(phrase))
