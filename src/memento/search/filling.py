"""
All indexes at once from everything that the graph says: the same as placing node after node, in a fraction of the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from memento.search.found import Found
from memento.search.indexes import Indexes
from memento.search.links.reading import Text
from memento.search.nodes import Kind
from memento.search.passages import Row
from memento.search.postings import Postings
from memento.search.segment import Segment
from memento.search.stems import Numbers
from memento.vocabulary import IRI, MEM


def fill(indexes: Indexes, held: Mapping[int, Found]) -> None:
    """
    Place every node where none is placed, but for its vectors.

    Args:
        held: by the id that the vector file gives; anchors and turns must be `named`, ends learnt.
    """
    ordered = dict(sorted(held.items()))
    retired_at = indexes.retired_at
    indexes.nodes.fill(
        [
            (node, one.iri, cast(Kind, one.kind), one.graph, one.lifetime(retired_at.get(one.iri)))
            for node, one in ordered.items()
        ]
    )
    numbers = Numbers(indexes.vocabulary)
    anchors: dict[IRI, dict[int, Found]] = defaultdict(dict)
    memories: dict[IRI, dict[int, Found]] = defaultdict(dict)
    for node, one in ordered.items():
        if one.kind == "key":
            indexes.keys.put(node, one.graph, one.labels, one.key_type)
        else:
            (memories if one.kind == "memory" else anchors)[one.graph][node] = one
    for graph, some in anchors.items():
        texts = {node: numbers.of(indexes.text(one)) for node, one in some.items()}
        indexes.word_postings[graph, "anchor"] = _postings(indexes, texts)
        for node, one in some.items():
            indexes.labels.put(node, graph, one.labels)
            indexes.keys.put_anchor(node, graph, one.labels, one.one(MEM.entityType).rsplit("/", 1)[-1])
    about: dict[int, Sequence[int]] = {}
    for graph, some in memories.items():
        _fill_graph(indexes, graph, some, numbers)
        for node, one in some.items():
            if linked := indexes.about(one):
                about[node] = linked
            if slot := indexes.slot(one):
                indexes.slots[slot].add(node)
            indexes.numbers.put(node, one.said)
            indexes.keys.put_memory(node, one.is_keyed)
    indexes.adjacency.fill(about)


def fill_links(indexes: Indexes, links: Iterable[tuple[IRI, IRI, float]]) -> None:
    """After `fill`: the links from keys to memories, as (key, memory, weight)."""
    indexes.keys.fill(indexes.keys.placed(links, indexes.nodes))


def _fill_graph(indexes: Indexes, graph: IRI, memories: Mapping[int, Found], numbers: Numbers) -> None:
    """The words, passages and links of the memories of one graph."""
    of_name: dict[str, list[int]] = {}
    words: dict[int, Sequence[int]] = {}
    rows, texts = [], []
    for node, one in memories.items():
        content, title, turn = one.one(MEM.content), one.one(MEM.title), indexes.turn(node, one)
        speaker = indexes.names.get(IRI(one.one(MEM.saidBy)), "")
        lead = of_name.get(speaker)
        if lead is None:
            lead = of_name[speaker] = numbers.of(speaker)
        said = numbers.of(content)
        whole = [*numbers.of(title), *said] if title else said
        words[node] = [*lead, *whole]
        rows.append(Row(node, content, said if turn else whole, turn))
        if turn is None:
            texts.append(Text(node, content, title or None, indexes.subject(one)))
    indexes.word_postings[graph, "memory"] = _postings(indexes, words)
    indexes.passages[graph].fill(rows)
    indexes.links[graph].fill(texts)


def _postings(indexes: Indexes, texts: Mapping[int, Sequence[int]]) -> Postings:
    """The postings of some nodes, by ascending id."""
    nodes = np.fromiter(texts, dtype=np.int32, count=len(texts))
    counts = np.fromiter(map(len, texts.values()), dtype=np.int64, count=len(texts))
    keys = np.fromiter((key for stems in texts.values() for key in stems), dtype=np.int64, count=int(counts.sum()))
    return Postings(indexes.vocabulary, Segment.of(nodes, counts.astype(np.int32), counts, keys))


def fill_vectors(indexes: Indexes) -> None:
    """After `fill`: take the vectors out of the file, those of each kind in one piece."""
    total = indexes.file.rows()
    rows = np.empty((total, indexes.embedder.dimensions), dtype=np.float32)
    owners = np.empty(total, dtype=np.int32)
    for place, (node, data) in enumerate(indexes.file.all()):
        rows[place], owners[place] = np.frombuffer(data, dtype=np.float32), node
    for kind, index in indexes.vectors.items():
        placed = np.isin(owners, np.flatnonzero(indexes.nodes.within(indexes.nodes.graphs(), kind)))
        some, counts = np.unique(owners[placed], return_counts=True)  # the file gives them by id
        if len(some):
            index.fill(some.astype(np.int32), counts, rows[placed])
