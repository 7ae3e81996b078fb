"""
Makes the indexes fit the graph at start, tells where they do not, and makes them anew.

Reads every graph once. A vector is kept when the file has the digest of the text that the graph has now; everything else
is embedded, and what the graph no longer has goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from memento.model import Difference, Value
from memento.ports import Graph, Progress
from memento.search.filling import fill, fill_links, fill_vectors
from memento.search.found import READ, Found
from memento.search.indexes import Indexes
from memento.search.vectors import digest
from memento.vocabulary import IRI, MEM

_BATCH = 256


def reconcile(graph: Graph, indexes: Indexes, progress: Progress | None = None) -> int:
    """
    Fill the indexes from the graph, reusing the vectors that still fit.

    Returns:
        how many nodes had to be embedded.
    """
    with indexes.lock:
        indexes.clear()
        held: dict[IRI, Found] = {}
        links: list[tuple[IRI, IRI, float]] = []
        later: list[Found] = []
        for one in everything(graph):
            indexes.named([one])
            indexes.learn_end(one)
            indexes.fadings.learn(one)
            if one.kind is not None:
                held[one.iri] = one
            elif link := one.link:
                links.append(link)
            elif MEM.denotes in one.said or MEM.relation in one.said:
                later.append(one)
        known = indexes.file.known()
        # By IRI, which is by age: ids come out in the order in which they were first given, and ties in recall stay as they were.
        stale = [iri for iri in sorted(held) if iri not in known or known[iri][1] != digest(indexes.text(held[iri]))]
        indexes.file.write([], [iri for iri in known if iri not in held])
        for begin in range(0, len(stale), _BATCH):
            batch = stale[begin : begin + _BATCH]
            _embed([held[iri] for iri in batch], indexes)
            if progress:
                progress(begin + len(batch), len(stale))
        ids = sorted(
            (node, iri) for iri, (node, _) in (indexes.file.known() if stale else known).items() if iri in held
        )
        fill(indexes, {node: held.pop(iri) for node, iri in ids})
        for one in later:
            indexes.keys.learn(one, indexes.nodes)
            indexes.associations.learn(one, indexes.nodes)
        fill_links(indexes, links)
        fill_vectors(indexes)  # when the texts are gone: neither is small
        return len(stale)


def _embed(found: Sequence[Found], indexes: Indexes) -> None:
    """Put the vectors of some nodes into the file."""
    texts = [indexes.text(one) for one in found]
    windows = [indexes.windows(one, text) for one, text in zip(found, texts, strict=True)]
    every = [window for some in windows for window in some]
    flat = indexes.embedder.embed(every) if every else np.zeros((0, indexes.embedder.dimensions), dtype=np.float32)
    ends = np.cumsum([len(some) for some in windows])
    vectors = np.split(flat, ends[:-1])
    rows = zip(found, texts, vectors, strict=True)
    indexes.file.write([(one.iri, digest(text), vector) for one, text, vector in rows])


def rebuild(graph: Graph, indexes: Indexes, progress: Progress | None = None) -> int:
    """Throw every vector away and make all indexes from the graph; returns how many nodes were embedded."""
    with indexes.lock:
        indexes.file.clear(indexes.embedder.fingerprint)
        return reconcile(graph, indexes, progress)


def differences(graph: Graph, indexes: Indexes) -> list[Difference]:
    """Where the indexes are not what the graph says: missing, orphaned or outdated; changes nothing."""
    with indexes.lock:
        held = {one.iri: one for one in everything(graph) if one.kind is not None}
        names = {one.iri: one.name for one in held.values() if one.kind == "anchor"}
        known = indexes.file.known()
        in_memory = set(indexes.nodes.iris())
    found = [Difference(what="missing-vector", iri=iri, detail="no vector in the file") for iri in held.keys() - known]
    found += [
        Difference(what="orphan-vector", iri=iri, detail="the graph has no such node") for iri in known.keys() - held
    ]
    found += [
        Difference(what="outdated-vector", iri=iri, detail="the text has changed since it was embedded")
        for iri in held.keys() & known.keys()
        if known[iri][1] != digest(held[iri].text(names))
    ]
    found += [
        Difference(what="not-indexed", iri=iri, detail="in the graph, not in the indexes in memory")
        for iri in held.keys() - in_memory
    ]
    found += [
        Difference(what="orphan-index", iri=iri, detail="in the indexes in memory, not in the graph")
        for iri in in_memory - held.keys()
    ]
    return sorted(found, key=lambda difference: (difference.what, difference.iri))


def is_indexed(graph: IRI) -> bool:
    """Whether a named graph holds memories or anchors."""
    return graph.startswith(("urn:memento:graph:", "urn:memento:self:"))


def everything(graph: Graph, graphs: Sequence[IRI] | None = None) -> Iterator[Found]:
    """Every subject of every graph, or of some, with what the indexes take from it; one at a time."""
    for name in graph.graphs() if graphs is None else graphs:
        if not is_indexed(name):
            continue
        for iri, quads in groupby(graph.quads(name), key=itemgetter(0)):
            if iri.startswith("_:"):  # no IRI: nobody can ask for it
                continue
            said: dict[IRI, list[Value]] = {}
            for _, predicate, value, _ in quads:
                if predicate in READ:
                    said.setdefault(predicate, []).append(value)
            yield Found(iri, name, said)
