"""The only file that picks concrete parts: which store, which embedder, which indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import faiss

from memento import assets
from memento.errors import GraphError, StaleIndex
from memento.graph.oxigraph import Oxigraph, rewrite
from memento.home import Home, cache_folder
from memento.model import Change, Scope, Value
from memento.ports import Embedder, Graph
from memento.search.embedders import Cached, embedder_of
from memento.search.indexes import Indexes
from memento.search.reconcile import reconcile
from memento.search.vectors import VectorFile
from memento.settings import Settings
from memento.vocabulary import IRI, MEM, ONTOLOGY

_ONTOLOGY_FILES = ("ontology/memento.ttl", "ontology/alignment.ttl")


@dataclass(slots=True)
class Backends:
    """The parts that everything above works with."""

    graph: Graph
    embedder: Cached
    indexes: Indexes
    home: Home
    warm: bool = field(default=False)

    def warm_up(self) -> None:
        """Load the embedder; raises `MissingPart` or `EmbeddingError` when it cannot be."""
        # The model itself, not its cache: what is cached would load nothing.
        self.embedder.embedder.embed(["warm"])
        self.warm = True

    def commit(self, change: Change, scope: Scope) -> None:
        """
        Write a change, then let the indexes follow: when this returns, the next recall sees it.

        Should the process die between the two, start-up mends the indexes from the graph.

        Raises:
            EmbeddingError: what the change adds cannot be embedded; nothing was written.
            GraphError: the store refused; nothing was written.
        """
        self.indexes.anticipate(change)
        self.graph.apply(change)
        # What lies elsewhere, as provenance does, no index holds.
        touched = dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds) if quad[3] in scope.readable)
        self.indexes.refresh(list(touched), scope.readable)

    def erase(self, change: Change, scope: Scope, texts: Sequence[str]) -> None:
        """
        Remove quads and every copy of some texts.

        The vectors are overwritten at once; the store's own files are written anew at the next start.
        """
        self.home.erased.touch()
        self.commit(change, scope)
        self.embedder.discard(texts)

    def close(self) -> None:
        """Let go of files; calling it twice is harmless."""
        self.indexes.file.close()
        self.graph.close()


def open_backends(home: Home, settings: Settings) -> Backends:
    """
    The embedded parts of a data folder that this process owns; indexes fit the graph when this returns.

    Raises:
        GraphError: store or vector file cannot be opened.
        MissingPart: the ontology or the embedder's files are not installed.
    """
    # Threads that spin on the two cores of a small machine make each other several times slower.
    faiss.omp_set_num_threads(settings.embedding.threads)
    if home.erased.exists():
        rewrite(home.store)
        home.erased.unlink()
    graph = Oxigraph(home.store)
    try:
        load_ontology(graph)
        embedder = embedder_of(settings.embedding, cache_folder())
        indexes = Indexes(graph, embedder, _vector_file(home.vectors, embedder))
        reconcile(graph, indexes)
    except BaseException:
        graph.close()
        raise
    return Backends(graph, embedder, indexes, home)


def load_ontology(graph: Graph) -> None:
    """Put the ontology into its graph when it is not this version's; doing it twice changes nothing."""
    documents = [assets.read(name) for name in _ONTOLOGY_FILES]
    mark = sha256(b"".join(documents)).hexdigest()
    if _stated(graph, ONTOLOGY, MEM.contentHash) == [mark]:
        return
    note = f'\n<{ONTOLOGY}> <{MEM.contentHash}> "{mark}" .\n'.encode()
    graph.load(b"\n".join([*documents, note]), ONTOLOGY)


def _stated(graph: Graph, subject: IRI, predicate: IRI) -> Sequence[Value]:
    rows = graph.select("search/statements", [ONTOLOGY], node=subject)
    return [row["value"] for row in rows if row["predicate"] == predicate]


def _vector_file(path: Path, embedder: Embedder) -> VectorFile:
    """The file, or a new one in its place when it was made by another embedder or is damaged: it is derived data."""
    try:
        return VectorFile(path, embedder.fingerprint)
    except (StaleIndex, GraphError):
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return VectorFile(path, embedder.fingerprint)
