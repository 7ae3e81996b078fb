"""Anchors by the names they go by: exact look-ups on normalised labels, one table for each graph."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI
from memento.search.archive import Arrays, nested, part, strings, unpacked


def normalised(label: str) -> str:
    """
    A label as it is compared: NFKC, case folded, punctuation at word borders and runs of space gone.

    >>> normalised("  The “New York”  Times ")
    'the new york times'
    >>> normalised("C++") == normalised("C"), normalised("Node.js")
    (False, 'node.js')
    """
    text = unicodedata.normalize("NFKC", label).casefold()
    return " ".join(re.findall(r"[^\s\"'“”‘’«»,;:!?()\[\]{}]+", text))


class Labels:
    """Normalised label → anchors, by graph."""

    def __init__(self) -> None:
        self._tables: dict[IRI, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._placed: dict[int, tuple[IRI, tuple[str, ...]]] = {}

    def put(self, node: int, graph: IRI, labels: Iterable[str]) -> None:
        """Name an anchor, in place of what it was named before; the first label is its own name."""
        self.drop(node)
        keys = tuple(dict.fromkeys(key for key in map(normalised, labels) if key))
        for key in keys:
            self._tables[graph][key].append(node)
        self._placed[node] = (graph, keys)

    def drop(self, node: int) -> None:
        """Forget an anchor's names; harmless when it has none."""
        graph, keys = self._placed.pop(node, (None, ()))
        if graph is not None:
            for key in keys:
                self._tables[graph][key].remove(node)

    def items(self) -> Iterator[tuple[int, IRI, tuple[str, ...]]]:
        """Every anchor, its graph and its names, as they are compared."""
        return ((node, graph, keys) for node, (graph, keys) in self._placed.items())

    def arrays(self, graphs: Sequence[IRI]) -> Arrays:
        """What is to be kept; graphs are written as their places among `graphs`."""
        return nested(
            {
                "": {
                    "nodes": np.fromiter(self._placed, dtype=np.int32, count=len(self._placed)),
                    "graphs": np.array([graphs.index(graph) for graph, _ in self._placed.values()], dtype=np.int32),
                    "counts": np.array([len(keys) for _, keys in self._placed.values()], dtype=np.int32),
                },
                "keys": strings([key for _, keys in self._placed.values() for key in keys]),
            }
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], graphs: Sequence[IRI]) -> Self:
        """What `arrays` gave."""
        labels, keys, begin = cls(), unpacked(part(arrays, "keys")), 0
        columns = (arrays[name].tolist() for name in ("nodes", "graphs", "counts"))
        for node, number, count in zip(*columns, strict=True):
            graph, own = graphs[number], tuple(keys[begin : begin + count])
            table = labels._tables[graph]
            for key in own:
                table[key].append(node)
            labels._placed[node] = (graph, own)
            begin += count
        return labels

    def find(self, label: str, graphs: Sequence[IRI]) -> list[int]:
        """The anchors of some graphs that go by a label, in the order of the graphs and then of their ids."""
        key = normalised(label)
        return [node for graph in graphs if graph in self._tables for node in sorted(self._tables[graph].get(key, ()))]
