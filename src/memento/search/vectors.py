"""
Vectors: one SQLite file keyed by IRI, which also gives the dense ids, and a FAISS index for each kind, filled from it.

A text that the model must see in several windows has several vectors; the best of them counts.

*Guarantees:* a node's row and its vectors are committed together; an id is never given twice.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import faiss
import numpy as np

from memento.errors import GraphError, StaleIndex
from memento.ports import Vectors
from memento.rank.similarity import cosines
from memento.search.nodes import Ids, Mask
from memento.vocabulary import IRI

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY AUTOINCREMENT, iri TEXT NOT NULL UNIQUE, digest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vector (
  node INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE, part INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (node, part)
);
"""


def digest(text: str) -> bytes:
    """What a stored vector is compared with, to see whether its text has changed."""
    return sha256(text.encode("utf-8", errors="surrogatepass")).digest()


class VectorFile:
    """The SQLite file: IRI → id, digest of the embedded text, vectors. Derived; deleting it costs a rebuild."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """
        Args:
            path: the file, made if it is not there; None keeps it in memory.

        Raises:
            StaleIndex: the file holds the vectors of another embedder.
            GraphError: the file cannot be opened or is no such file.
        """
        self._lock = threading.RLock()
        with _failures(path):
            self._db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            # A power cut may lose the last rows, never damage the file; start-up makes them again from the graph.
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(_SCHEMA)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('fingerprint', ?)", (fingerprint,))
            (made_by,) = self._db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        if made_by != fingerprint:
            self._db.close()
            raise StaleIndex(
                f"the vectors were made by {made_by}, the embedder is {fingerprint}: run `memento rebuild`"
            )

    def known(self) -> dict[IRI, tuple[int, bytes]]:
        """IRI → (id, digest) of everything in the file."""
        with self._lock:
            return {
                IRI(iri): (node, found) for node, iri, found in self._db.execute("SELECT id, iri, digest FROM node")
            }

    def all(self) -> Iterator[tuple[int, bytes]]:
        """(id, vector as float32 bytes) of every vector, by id and part."""
        with self._lock:
            yield from self._db.execute("SELECT node, data FROM vector ORDER BY node, part").fetchall()

    def write(self, entries: Sequence[tuple[IRI, bytes, Vectors]], gone: Sequence[IRI] = ()) -> list[int]:
        """
        Store (IRI, digest, (windows, d) vectors) in place of what is there, and remove what is gone, all or nothing.

        Returns:
            the id of each entry, in their order; a known IRI keeps its id.
        """
        ids = []
        with self._transaction():
            self._db.executemany("DELETE FROM node WHERE iri = ?", [(iri,) for iri in gone])
            for iri, mark, vectors in entries:
                (node,) = self._db.execute(
                    "INSERT INTO node (iri, digest) VALUES (?, ?) "
                    "ON CONFLICT (iri) DO UPDATE SET digest = excluded.digest RETURNING id",
                    (iri, mark),
                ).fetchone()
                self._db.execute("DELETE FROM vector WHERE node = ?", (node,))
                rows = [(node, part, row.tobytes()) for part, row in enumerate(vectors)]
                self._db.executemany("INSERT INTO vector VALUES (?, ?, ?)", rows)
                ids.append(node)
        return ids

    def clear(self, fingerprint: str) -> None:
        """Remove everything, and note who makes what comes next."""
        with self._transaction():
            self._db.execute("DELETE FROM vector")
            self._db.execute("DELETE FROM node")
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'fingerprint'", (fingerprint,))

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, _failures(None):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


class VectorIndex:
    """The vectors of one kind of node in memory, for search by likeness. Rows only grow; removed ones are masked out."""

    def __init__(self, dimensions: int) -> None:
        self._index = faiss.IndexFlatIP(dimensions)
        self._owner = np.zeros(0, dtype=np.int32)
        self._rows: dict[int, range] = {}
        self._used = 0

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, nodes: Sequence[int], vectors: Sequence[Vectors]) -> None:
        """Add nodes with their (windows, d) unit vectors, in place of what they had."""
        if not nodes:
            return
        for node in nodes:
            self.drop(node)
        counts = [len(found) for found in vectors]
        ends = self._used + np.cumsum(counts)
        total = int(ends[-1])
        if total > len(self._owner):
            spare = np.full(max(total, 2 * len(self._owner)) - len(self._owner), -1, dtype=np.int32)
            self._owner = np.concatenate([self._owner, spare])
        self._owner[self._used : total] = np.repeat(np.asarray(nodes, dtype=np.int32), counts)
        for node, count, end in zip(nodes, counts, ends.tolist(), strict=True):
            self._rows[node] = range(end - count, end)
        self._index.add(np.ascontiguousarray(np.concatenate(list(vectors)), dtype=np.float32))
        self._used = total

    def drop(self, node: int) -> None:
        """Let a node be found no more; harmless when it has no vector."""
        if rows := self._rows.pop(node, None):
            self._owner[rows.start : rows.stop] = -1

    def vectors(self, nodes: Sequence[int] | Ids) -> Vectors:
        """(len(nodes), d): the first vector of each node, zeros where it has none; for comparing nodes to each other."""
        found = np.zeros((len(nodes), self._index.d), dtype=np.float32)
        rows = np.fromiter(
            (self._rows[n].start if n in self._rows else -1 for n in map(int, nodes)), np.int64, len(nodes)
        )
        there = np.flatnonzero(rows >= 0)
        if there.size:
            found[there] = self._index.reconstruct_batch(rows[there])
        return found

    def cosines(self, nodes: Sequence[int], asked: Vectors) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """
        (len(nodes),) the best cosine of any window of a node to any row of `asked` (w, d); 0 where it has no vector.
        """
        rows = [row for node in nodes for row in self._rows.get(node, ())]
        best = np.full(len(nodes), -np.inf, dtype=np.float32)
        if rows:
            place = np.repeat(np.arange(len(nodes)), [len(self._rows.get(node, ())) for node in nodes])
            np.maximum.at(best, place, cosines(self._index.reconstruct_batch(np.asarray(rows)), asked))
        best[np.isneginf(best)] = 0
        return best

    def likeness(self, asked: Vectors, size: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """
        (size,) for each id the best cosine of any of its windows to any row of `asked` (w, d); −1 where it has no vector.

        Looks at every vector: some ten milliseconds for a hundred thousand.
        """
        best = np.full(size, -1.0, dtype=np.float32)
        if self._used:
            stored = faiss.rev_swig_ptr(self._index.get_xb(), self._used * self._index.d).reshape(self._used, -1)
            rows = np.flatnonzero(self._owner[: self._used] >= 0)
            owners, scores = self._owner[rows], (stored @ asked.T).max(axis=1)[rows]
            if len(rows) == len(self._rows):  # one window each
                best[owners] = scores
            else:
                np.maximum.at(best, owners, scores)
        return best

    def search(self, asked: Vectors, k: int, inside: Mask) -> tuple[Ids, np.ndarray[tuple[int], np.dtype[np.float32]]]:
        """
        The `k` nodes that `inside` (ids,) allows whose best window is nearest to any row of `asked` (w, d).

        Returns:
            (≤ k,) ids and cosines, best first. Exactly k when that many are allowed.
        """
        owner = self._owner[: self._used]
        allowed = np.zeros(self._used, dtype=np.bool_)
        if self._used and len(inside):
            allowed = (owner >= 0) & inside[np.minimum(owner, len(inside) - 1)] & (owner < len(inside))
        count = int(allowed.sum())
        if not count:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        bits = np.packbits(allowed, bitorder="little")
        selector = faiss.IDSelectorBitmap(self._used, faiss.swig_ptr(bits))
        params = faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]
        wanted = k
        # Windows of one text crowd each other out: ask for more rows until k different nodes have come.
        while True:
            wanted = min(wanted, count)
            found, rows = self._index.search(asked, wanted, params=params)
            # Each row of the question needs k different nodes of its own: the best of all is the best of one of them.
            if wanted == count or min(len(np.unique(owner[row])) for row in rows) >= k:
                nodes, scores = _best_of(owner[rows.ravel()], found.ravel())
                return nodes[:k], scores[:k]
            wanted *= 2


def _best_of(nodes: Ids, scores: Vectors) -> tuple[Ids, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Each node once with its best score, best first; equal scores by id."""
    order = np.lexsort((nodes, -scores))
    _, first = np.unique(nodes[order], return_index=True)
    kept = order[np.sort(first)]
    return nodes[kept], scores[kept]


@contextmanager
def _failures(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise GraphError(f"the vector file {path or ''} failed: {error}; deleting it loses nothing") from error
