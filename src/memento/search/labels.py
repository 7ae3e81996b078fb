"""Anchors by name: exact look-ups of normalised labels, one table for each graph."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI
from memento.search.arrays import Arrays, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Index, Update, register
from memento.search.nodes import Record


def normalise_label(label: str) -> str:
    """
    Normalise a label for comparison: NFKC, case folded, without punctuation at word borders, with single spaces.

    >>> normalise_label("  The “New York”  Times ")
    'the new york times'
    >>> normalise_label("C++") == normalise_label("C"), normalise_label("Node.js")
    (False, 'node.js')
    """
    text = unicodedata.normalize("NFKC", label).casefold()
    return " ".join(re.findall(r"[^\s\"'“”‘’«»,;:!?()\[\]{}]+", text))


@register
class Labels(Index):
    """Normalised label → anchors, by graph."""

    name = "labels"

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self._tables: dict[IRI, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._placed: dict[int, tuple[IRI, tuple[str, ...]]] = {}

    def put(self, node: int, graph: IRI, labels: Iterable[str]) -> None:
        """Set the names of an anchor, replacing earlier ones; the first label is its main name."""
        self.drop(node)
        keys = tuple(dict.fromkeys(key for key in map(normalise_label, labels) if key))
        for key in keys:
            self._tables[graph][key].append(node)
        self._placed[node] = (graph, keys)

    def apply(self, update: Update) -> None:
        for node, record in update.nodes:
            if record.kind == "anchor":
                self.put(node, record.graph, record.labels)

    def drop(self, node: int) -> None:
        """Remove an anchor's names; harmless when it has none."""
        graph, keys = self._placed.pop(node, (None, ()))
        if graph is not None:
            for key in keys:
                self._tables[graph][key].remove(node)

    def items(self) -> Iterator[tuple[int, IRI, tuple[str, ...]]]:
        """Return every anchor, its graph and its normalised names."""
        return ((node, graph, keys) for node, (graph, keys) in self._placed.items())

    def holds(self, node: int, record: Record) -> bool:
        return record.kind != "anchor" or node in self._placed

    def arrays(self) -> Arrays:
        return pack_phrases(self._placed)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for node, graph, keys in unpack_phrases(arrays):
            for key in keys:
                self._tables[graph][key].append(node)
            self._placed[node] = (graph, keys)

    def find_exact(self, label: str, graphs: Sequence[IRI]) -> list[int]:
        """Return the anchors of some graphs that have a label, in the order of the graphs, then of their ids."""
        key = normalise_label(label)
        return [node for graph in graphs if graph in self._tables for node in sorted(self._tables[graph].get(key, ()))]

    def find_longer(self, label: str, graphs: Sequence[IRI]) -> Iterator[tuple[int, str]]:
        """Yield the anchors of some graphs that have a label with all words of this one and more, and that label."""
        words = set(normalise_label(label).split())
        for node, (graph, keys) in self._placed.items():
            if words and graph in graphs:
                yield from ((node, key) for key in keys if words < set(key.split()))

    def find_containing(self, label: str, graphs: Sequence[IRI]) -> Iterator[tuple[int, str]]:
        """
        Yield the anchors of some graphs that have a label with a part of a word in place of each word of this one, and that label.

        A part of a word is its beginning, from three characters on, or what stands inside it, from four on.
        """
        words = normalise_label(label).split()
        for node, (graph, keys) in self._placed.items():
            if words and graph in graphs:
                yield from ((node, key) for key in keys if all(_is_part(word, key.split()) for word in words))


def _is_part(part: str, words: Sequence[str]) -> bool:
    return any(
        part == word or (len(part) > 2 and word.startswith(part)) or (len(part) > 3 and part in word) for word in words
    )


def pack_phrases(placed: Mapping[int, tuple[IRI, tuple[str, ...]]]) -> Arrays:
    """
    Pack the graph and the phrases of some nodes.

    >>> list(unpack_phrases(pack_phrases({3: (IRI("urn:g"), ("tea", "pot"))})))
    [(3, 'urn:g', ('tea', 'pot'))]
    """
    numbers = {graph: number for number, graph in enumerate(dict.fromkeys(graph for graph, _ in placed.values()))}
    return nest_arrays(
        {
            "": {
                "nodes": np.fromiter(placed, dtype=np.int32, count=len(placed)),
                "in": np.array([numbers[graph] for graph, _ in placed.values()], dtype=np.int32),
                "counts": np.array([len(phrases) for _, phrases in placed.values()], dtype=np.int32),
            },
            "graphs": pack_strings(list(numbers)),
            "phrases": pack_strings([phrase for _, phrases in placed.values() for phrase in phrases]),
        }
    )


def unpack_phrases(arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[int, IRI, tuple[str, ...]]]:
    """Return each node, its graph and its phrases, as they were packed."""
    graphs = [IRI(graph) for graph in unpack_strings(select_part(arrays, "graphs"))]
    phrases, begin = unpack_strings(select_part(arrays, "phrases")), 0
    for node, number, count in zip(*(arrays[name].tolist() for name in ("nodes", "in", "counts")), strict=True):
        yield node, graphs[number], tuple(phrases[begin : begin + count])
        begin += count
