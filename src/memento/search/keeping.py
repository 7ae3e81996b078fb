"""
The indexes in a folder beside the vectors, so that a start need not read the graph: written when much has changed, brought up to
date by what the vector file says was touched since.

*Guarantees:* what does not fit the graph is not used. The folder counts when nobody but us has written to the store since, as
`traces` of its files tell after a clean end; after a kill the kernel still has all that was noted, unless it was started anew.
Deleting the folder costs a start that reads the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from memento import __version__
from memento.ports import Graph
from memento.search import archive
from memento.search.adjacency import Adjacency
from memento.search.archive import Arrays, nested, part, strings, unpacked
from memento.search.associations import Associations
from memento.search.fadings import Fadings
from memento.search.indexes import Indexes
from memento.search.keygraph import KeyGraph
from memento.search.labels import Labels
from memento.search.links import Links
from memento.search.nearest import VectorIndex
from memento.search.nodes import Kind, Nodes
from memento.search.numbers import Numbers
from memento.search.passages import Passages
from memento.search.postings import Postings
from memento.search.reconcile import is_indexed
from memento.search.segment import Segment
from memento.search.vocabulary import Vocabulary
from memento.vocabulary import IRI

FEWEST = 5_000
"""Nodes from which on it is worth it: fewer are read from the graph in less than a second or two."""
_LATE = 0.02  # share of the nodes that may be touched before the folder is written anew
_AT_ONCE = 500  # touched nodes that are read together
_TOO_LATE = 0.3  # share of the nodes above which reading the graph is quicker
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FORM = 3  # of the arrays: what was kept in another one is read anew from the graph
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def load(folder: Path, graph: Graph, indexes: Indexes) -> bool:
    """
    Fill the indexes from a folder and from what was touched since; False, and nothing is filled, when it does not fit.
    """
    with indexes.lock:
        if indexes.file.said("archive") is None:
            return False
        found = archive.read(folder)
        if found is None:
            return False
        arrays, about = found
        if about["id"] != indexes.file.said("archive") or about["made by"] != _maker(indexes):
            return False
        late = indexes.file.touched(about["touch"])
        if len(late) > max(FEWEST, _TOO_LATE * about["nodes"]):
            return False
        indexes.clear()
        try:
            _fill(indexes, arrays, [IRI(name) for name in about["graphs"]])
        except (KeyError, ValueError, IndexError):  # kept by code that kept something else
            indexes.clear()
            return False
        nodes = [node for node in map(indexes.nodes.find, late) if node is not None]
        late = list(dict.fromkeys([*late, *(iri for node in nodes for iri, _ in indexes.associations.of(node))]))
        for iri in late:
            indexes.drop(iri)
        graphs = [name for name in graph.graphs() if is_indexed(name)]
        for begin in range(0, len(late), _AT_ONCE):
            indexes.refresh(late[begin : begin + _AT_ONCE], graphs)
        return True


def save(folder: Path, indexes: Indexes) -> None:
    """Write the folder; raises `OSError` when there is no room."""
    with indexes.lock:
        mark, touch = uuid4().hex, indexes.file.last_touch()
        graphs = list(
            dict.fromkeys([*(graph for graph, _ in indexes.word_postings), *indexes.passages, *indexes.nodes.graphs()])
        )
        about = {
            "id": mark,
            "made by": _maker(indexes),
            "touch": touch,
            "nodes": len(indexes.nodes),
            "graphs": graphs,
        }
        archive.write(folder, _arrays(indexes, graphs), about)
        indexes.file.say("archive", mark)
        indexes.file.forget_touches(touch)


def save_if_late(folder: Path, indexes: Indexes) -> None:
    """Write the folder when there is none or much has changed; not for few nodes."""
    nodes = len(indexes.nodes)
    if nodes < FEWEST:
        discard(folder, indexes)
    elif indexes.file.said("archive") is None or indexes.file.touches() > _LATE * nodes:
        save(folder, indexes)


def discard(folder: Path, indexes: Indexes) -> None:
    """Keep nothing of what is known; the next start reads the graph."""
    if indexes.file.said("archive") is not None:
        indexes.file.unsay("archive")
        archive.discard(folder)


def traces(store: Path) -> str:
    """
    A digest of the names and sizes of a closed store's files: the engine begins new ones whenever it opens them. Where it still
    deletes some as this is called, a digest that fits nothing, so that the next start reads the graph.
    """
    try:
        found = sorted((path.name, path.stat().st_size) for path in store.iterdir()) if store.is_dir() else []
    except FileNotFoundError:
        return uuid4().hex
    return sha256(repr(found).encode()).hexdigest()


def began(indexes: Indexes, before: str) -> bool:
    """
    Note that the store is open from now on; says whether nobody but us has written to it since we noted anything.

    Args:
        before: the `traces` of the store before it was opened.
    """
    boot = _BOOT.read_text().strip() if _BOOT.exists() else ""
    state = indexes.file.said("store")
    indexes.file.say("store", f"open {boot}")
    return state == f"closed {before}" or (bool(boot) and state == f"open {boot}")


def ended(indexes: Indexes, after: str) -> None:
    """Note that the store is closed, and its `traces`."""
    indexes.file.say("store", f"closed {after}")


def _maker(indexes: Indexes) -> str:
    return f"memento {__version__}, form {_FORM}, {indexes.embedder.fingerprint}"


def _arrays(indexes: Indexes, graphs: Sequence[IRI]) -> Arrays:
    parts: dict[str, Mapping[str, NDArray[Any]]] = {
        "nodes": indexes.nodes.arrays(),
        "labels": indexes.labels.arrays(graphs),
        "adjacency": indexes.adjacency.arrays(),
        "keys": indexes.keys.arrays(graphs),
        "numbers": indexes.numbers.arrays(),
        "associations": indexes.associations.arrays(),
        "fadings": indexes.fadings.arrays(),
        "names/iris": strings(list(indexes.names)),
        "names/names": strings(list(indexes.names.values())),
        "slots/names": strings([name for name, _ in indexes.slots]),
        "slots": {
            "own": np.array([own for _, own in indexes.slots], dtype=np.bool_),
            "counts": np.array([len(filled) for filled in indexes.slots.values()], dtype=np.int64),
            "nodes": np.array([node for filled in indexes.slots.values() for node in filled], dtype=np.int32),
        },
        "retired/iris": strings(list(indexes.retired_at)),
        "retired": {"at": np.array([(at - _EPOCH) / timedelta(microseconds=1) for at in indexes.retired_at.values()])},
    }
    for kind, index in indexes.vectors.items():
        parts[f"vectors/{kind}"] = index.arrays()
    for (graph, kind), words in indexes.word_postings.items():
        parts[f"words/{graphs.index(graph)}/{kind}"] = words.settle()
    for graph, passages in indexes.passages.items():
        passages.measure(passages.turn_nodes(), indexes.vectors["memory"])
        parts[f"passages/{graphs.index(graph)}"] = passages.arrays()
    for graph, links in indexes.links.items():
        parts[f"links/{graphs.index(graph)}"] = links.arrays()
    parts["vocabulary"] = strings(indexes.vocabulary.words())  # last: to settle may learn
    return nested(parts)


def _fill(indexes: Indexes, arrays: Arrays, graphs: Sequence[IRI]) -> None:
    indexes.nodes = Nodes.from_arrays(part(arrays, "nodes"))
    indexes.labels = Labels.from_arrays(part(arrays, "labels"), graphs)
    indexes.adjacency = Adjacency.from_arrays(part(arrays, "adjacency"))
    indexes.keys = KeyGraph.from_arrays(part(arrays, "keys"), graphs)
    indexes.numbers = Numbers.from_arrays(part(arrays, "numbers"))
    indexes.associations = Associations.from_arrays(part(arrays, "associations"))
    indexes.fadings = Fadings.from_arrays(part(arrays, "fadings"))
    indexes.vocabulary = Vocabulary(unpacked(part(arrays, "vocabulary")))
    names = unpacked(part(arrays, "names/names"))
    indexes.names = dict(zip(map(IRI, unpacked(part(arrays, "names/iris"))), names, strict=True))
    begin = 0
    filled: list[int] = arrays["slots/nodes"].tolist()
    slots = zip(unpacked(part(arrays, "slots/names")), arrays["slots/own"].tolist(), strict=True)
    for slot, count in zip(slots, arrays["slots/counts"].tolist(), strict=True):
        indexes.slots[slot] = set(filled[begin : begin + count])
        begin += count
    for iri, at in zip(unpacked(part(arrays, "retired/iris")), arrays["retired/at"].tolist(), strict=True):
        indexes.retired_at[IRI(iri)] = _EPOCH + timedelta(microseconds=at)
    kinds: tuple[Kind, ...] = ("memory", "anchor", "key")
    for kind in kinds:
        found = part(arrays, f"vectors/{kind}")
        indexes.vectors[kind] = VectorIndex.from_arrays(found, indexes.embedder.dimensions, indexes.flat)
    for number, graph in enumerate(graphs):
        for kind in kinds:
            if found := part(arrays, f"words/{number}/{kind}"):
                indexes.word_postings[graph, kind] = Postings(indexes.vocabulary, Segment.from_arrays(found))
        if found := part(arrays, f"passages/{number}"):
            indexes.passages[graph] = Passages.from_arrays(found, indexes.vocabulary)
        if found := part(arrays, f"links/{number}"):
            indexes.links[graph] = Links.from_arrays(found)
