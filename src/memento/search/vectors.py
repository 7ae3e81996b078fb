"""
Vectors on disk: one SQLite file keyed by IRI, which also assigns the dense ids and notes which nodes writes have touched.

The states of cases have vectors too, in a separate table: recall never finds them, and they get no dense id.

A text that exceeds the model's window has several vectors; the best of them counts. They are stored in half precision, which
changes a cosine by less than a thousandth; vectors that an earlier version stored in single precision are read as they are.

*Guarantees:* a node's row and its vectors are committed together; an id is never reused.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memento.errors import GraphError, StaleIndex
from memento.iris import IRI
from memento.ports import Vectors

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS node (id INTEGER PRIMARY KEY AUTOINCREMENT, iri TEXT NOT NULL UNIQUE, digest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vector (
  node INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE, part INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (node, part)
);
CREATE TABLE IF NOT EXISTS grain (
  node INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE, part INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (node, part)
);
CREATE TABLE IF NOT EXISTS state (iri TEXT PRIMARY KEY, digest BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS touched (number INTEGER PRIMARY KEY AUTOINCREMENT, iri TEXT NOT NULL);
"""


def digest(text: str) -> bytes:
    """Return the digest stored with a vector, which shows whether its text has changed."""
    return sha256(text.encode("utf-8", errors="surrogatepass")).digest()


_HALF = b"\x02"
"""Appended to each vector in half precision: its byte count is then odd, that of single precision a multiple of four."""


def round_vectors(vectors: Vectors) -> Vectors:
    """
    Return vectors with the precision that the file has.

    >>> round_vectors(np.array([[0.1, 0.5]], dtype=np.float32)).tolist()
    [[0.0999755859375, 0.5]]
    """
    return vectors.astype(np.float16).astype(np.float32)


def _unpack(data: bytes) -> NDArray[np.float32]:
    if len(data) % 2:
        return np.frombuffer(data, dtype=np.float16, count=len(data) // 2).astype(np.float32)
    return np.frombuffer(data, dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """
    The differences between one vector file and another: the (id, IRI) of nodes and the IRIs of states whose current text has no
    vector here; the entries here that the other file lacks; and the numbers of nodes and states in the other.
    """

    nodes: tuple[tuple[int, IRI], ...]
    states: tuple[IRI, ...]
    gone: tuple[IRI, ...]
    gone_states: tuple[IRI, ...]
    total: int

    @property
    def missing(self) -> int:
        """The number of texts to embed."""
        return len(self.nodes) + len(self.states)

    @property
    def done(self) -> int:
        """The number of texts embedded."""
        return self.total - self.missing


UPGRADED = "names"
"""The key under which the file stores how far the edges by text have been added to a folder of an earlier version."""


CLAIMED = "claims"
"""The key under which the file stores that the claims of memories of an earlier version have been read."""


class VectorFile:
    """The SQLite file: IRI → id, digest of the embedded text, vectors. Derived data; deleting it costs a rebuild."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """
        Args:
            path: the file, created if missing; None keeps it in memory.

        Raises:
            StaleIndex: the file holds vectors of another embedder.
            GraphError: the file cannot be opened, or is not a vector file.
        """
        self._lock = threading.RLock()
        self._path = path
        with _translate_failures(path):
            self._db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(
                "PRAGMA wal_autocheckpoint = 250"
            )  # WAL pages of 4 KiB, after which a checkpoint restarts the log
            # A power cut may lose the last rows but never damages the file; the next start computes them again from the graph.
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(_SCHEMA)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('fingerprint', ?)", (fingerprint,))
            (made_by,) = self._db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        if made_by != fingerprint:
            self._db.close()
            raise StaleIndex(
                f"the vectors were made by {made_by}, the embedder is {fingerprint}: run `memento care rebuild`"
            )

    def read_digests(self) -> dict[IRI, tuple[int, bytes]]:
        """Return IRI → (id, digest) of everything in the file."""
        with self._lock:
            return {
                IRI(iri): (node, found) for node, iri, found in self._db.execute("SELECT id, iri, digest FROM node")
            }

    def find(self, iri: IRI) -> tuple[bytes, Vectors] | None:
        """
        Return the digest and the (windows, d) vectors of a node or a case, or None when it is not in the file. For a node without
        vectors, because it is found by its spelling alone, d is 0.
        """
        with self._lock:
            row = self._db.execute("SELECT id, digest FROM node WHERE iri = ?", (iri,)).fetchone()
            if row is None:
                states = self.find_states([iri])
                return (states[iri][0], states[iri][1][np.newaxis]) if states else None
            rows = self._db.execute("SELECT data FROM vector WHERE node = ? ORDER BY part", (row[0],)).fetchall()
        return row[1], np.stack([_unpack(data) for (data,) in rows]) if rows else np.zeros((0, 0), dtype=np.float32)

    def find_id(self, iri: IRI) -> int | None:
        """Return the id of a node, or None when it is not in the file."""
        with self._lock:
            row = self._db.execute("SELECT id FROM node WHERE iri = ?", (iri,)).fetchone()
        return None if row is None else int(row[0])

    def find_digest(self, iri: IRI) -> bytes | None:
        """Return the digest of the text that a node's vectors were computed from, or None when it is not in the file."""
        with self._lock:
            row = self._db.execute("SELECT digest FROM node WHERE iri = ?", (iri,)).fetchone()
        return None if row is None else bytes(row[0])

    def touch(self, iris: Iterable[IRI]) -> None:
        """Note that a write is about to change some nodes, as long as stored indexes exist that it would outdate."""
        if self.get_mark("archive") is None:
            return
        with self._transaction():
            self._db.executemany("INSERT INTO touched (iri) VALUES (?)", [(iri,) for iri in iris])

    def touched_since(self, after: int) -> list[IRI]:
        """Return the nodes noted after a number, each once, the earliest first."""
        with self._lock:
            rows = self._db.execute("SELECT iri FROM touched WHERE number > ? ORDER BY number", (after,)).fetchall()
        return list(dict.fromkeys(IRI(iri) for (iri,) in rows))

    def last_touch(self) -> int:
        """Return the number of the last note, 0 when there was never one."""
        with self._lock:
            row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'touched'").fetchone()
        return int(row[0]) if row else 0

    def count_touches(self) -> int:
        """Return the number of notes."""
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM touched").fetchone()[0])

    def forget_touches(self, until: int) -> None:
        """Delete the notes up to a number; note numbers are never reused."""
        with self._transaction():
            self._db.execute("DELETE FROM touched WHERE number <= ?", (until,))

    def get_mark(self, key: str) -> str | None:
        """Return the value last stored under a key."""
        with self._lock:
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_mark(self, key: str, value: str) -> None:
        """Store a value under a key, replacing the earlier one."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def delete_mark(self, key: str) -> None:
        """Delete the value under a key."""
        with self._transaction():
            self._db.execute("DELETE FROM meta WHERE key = ?", (key,))

    def count_texts(self) -> int:
        """Return the number of nodes and states."""
        with self._lock:
            return int(
                self._db.execute("SELECT (SELECT count(*) FROM node) + (SELECT count(*) FROM state)").fetchone()[0]
            )

    def count_vectors(self) -> int:
        """Return the number of vectors."""
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM vector").fetchone()[0])

    def read_all(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield (id, vector) of every vector, by id and part; nobody may write meanwhile."""
        with self._lock:
            for node, data in self._db.execute("SELECT node, data FROM vector ORDER BY node, part"):
                yield node, _unpack(data)

    def write_entries(self, entries: Sequence[tuple[IRI, bytes, Vectors]], gone: Sequence[IRI] = ()) -> list[int]:
        """
        Store (IRI, digest, (windows, d) vectors), replacing earlier entries, and remove those in `gone`, all or nothing.

        Returns:
            the id of each entry, in order; a known IRI keeps its id.
        """
        with self._transaction():
            self._db.executemany("DELETE FROM node WHERE iri = ?", [(iri,) for iri in gone])
            if not entries:
                return []
            self._db.executemany(
                "INSERT INTO node (iri, digest) VALUES (?, ?) ON CONFLICT (iri) DO UPDATE SET digest = excluded.digest",
                [(iri, mark) for iri, mark, _ in entries],
            )
            ids: list[int] = [
                node
                for (node,) in self._db.execute(
                    "SELECT node.id FROM json_each(?) AS asked CROSS JOIN node ON node.iri = asked.value ORDER BY asked.key",
                    (json.dumps([iri for iri, _, _ in entries]),),
                )
            ]
            for table in ("vector", "grain"):  # new texts have no grains yet
                self._db.executemany(f"DELETE FROM {table} WHERE node = ?", [(node,) for node in ids])
            self._insert_vectors((node, vectors) for node, (_, _, vectors) in zip(ids, entries, strict=True))
        return ids

    def adopt(self, entries: Sequence[tuple[int, IRI, bytes, Vectors]], gone: Sequence[IRI] = ()) -> None:
        """Store (id, IRI, digest, (windows, d) vectors) under the ids that another file assigned, and remove those in `gone`."""
        with self._transaction():
            self._db.executemany("DELETE FROM node WHERE iri = ?", [(iri,) for iri in gone])
            self._db.executemany("DELETE FROM node WHERE id = ? OR iri = ?", [(one[0], one[1]) for one in entries])
            self._db.executemany("INSERT INTO node VALUES (?, ?, ?)", [one[:3] for one in entries])
            self._insert_vectors((node, vectors) for node, _, _, vectors in entries)

    def _insert_vectors(self, entries: Iterable[tuple[int, Vectors]]) -> None:
        self._db.executemany(
            "INSERT INTO vector VALUES (?, ?, ?)",
            (
                (node, part, row.astype(np.float16).tobytes() + _HALF)
                for node, vectors in entries
                for part, row in enumerate(vectors)
            ),
        )

    def count_grains(self) -> int:
        """Return the number of vectors of grains."""
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM grain WHERE data != x''").fetchone()[0])

    def read_grains(self) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
        """Yield (id, part, vector) of every grain that has a vector, by id and part; part 0 is the masked text."""
        with self._lock:
            rows = self._db.execute("SELECT node, part, data FROM grain WHERE data != x'' ORDER BY node, part")
            for node, part, data in rows:
                yield node, part, _unpack(data)

    def list_without_grains(self) -> list[int]:
        """Return the nodes that have a vector and no grain, ascending."""
        with self._lock:
            rows = self._db.execute(
                "SELECT DISTINCT node FROM vector WHERE node NOT IN (SELECT node FROM grain) ORDER BY node"
            ).fetchall()
        return [int(node) for (node,) in rows]

    def write_grains(self, entries: Sequence[tuple[int, Vectors]]) -> None:
        """Store the grains of some nodes, replacing earlier ones, all or nothing; a row of zeros stands for none."""
        with self._transaction():
            self._db.executemany("DELETE FROM grain WHERE node = ?", [(node,) for node, _ in entries])
            self._db.executemany(
                "INSERT INTO grain VALUES (?, ?, ?)",
                (
                    (node, part, row.astype(np.float16).tobytes() + _HALF if row.any() else b"")
                    for node, rows in entries
                    for part, row in enumerate(rows)
                ),
            )

    def compare(self, path: Path) -> Lag:
        """Compare with another file, which may be written to meanwhile: return what this file lacks, and what only it has."""
        with self._lock, _translate_failures(self._path):
            self._db.execute("ATTACH DATABASE ? AS served", (str(path),))
            try:
                nodes = self._db.execute(
                    "SELECT served.id, served.iri FROM served.node AS served LEFT JOIN main.node AS own "
                    "ON own.id = served.id AND own.iri = served.iri WHERE own.digest IS NOT served.digest ORDER BY served.id"
                ).fetchall()
                states = self._db.execute(
                    "SELECT served.iri FROM served.state AS served LEFT JOIN main.state AS own ON own.iri = served.iri "
                    "WHERE own.digest IS NOT served.digest"
                ).fetchall()
                gone, gone_states = (
                    self._db.execute(f"SELECT iri FROM main.{table} EXCEPT SELECT iri FROM served.{table}").fetchall()
                    for table in ("node", "state")
                )
                (total,) = self._db.execute(
                    "SELECT (SELECT count(*) FROM served.node) + (SELECT count(*) FROM served.state)"
                ).fetchone()
            finally:
                self._db.execute("DETACH DATABASE served")
        return Lag(
            nodes=tuple((node, IRI(iri)) for node, iri in nodes),
            states=tuple(IRI(iri) for (iri,) in states),
            gone=tuple(IRI(iri) for (iri,) in gone),
            gone_states=tuple(IRI(iri) for (iri,) in gone_states),
            total=int(total),
        )

    def take_marks(self, other: VectorFile) -> None:
        """Copy the values that another file stores under its keys, except those about its embedder and its stored indexes."""
        with other._lock:
            marks = other._db.execute("SELECT * FROM meta WHERE key NOT IN ('fingerprint', 'archive')").fetchall()
            numbers = other._db.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", marks)
            for name, seq in numbers:  # an id is never reused
                self._db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                self._db.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, seq))

    def flush(self) -> None:
        """Write everything to disk, into the file itself."""
        with self._lock, _translate_failures(self._path):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def find_states(self, iris: Sequence[IRI]) -> dict[IRI, tuple[bytes, NDArray[np.float32]]]:
        """Return the digest and the (d,) vector of those states of cases and retrievals that have one."""
        with self._lock:
            rows = self._db.execute(
                "SELECT state.iri, digest, data FROM json_each(?) AS asked CROSS JOIN state ON state.iri = asked.value",
                (json.dumps(list(iris)),),
            ).fetchall()
        return {IRI(iri): (mark, np.frombuffer(data, dtype=np.float32)) for iri, mark, data in rows}

    def read_state_digests(self) -> dict[IRI, bytes]:
        """Return the digest of every state that has a vector, by its case or retrieval."""
        with self._lock:
            return {IRI(iri): mark for iri, mark in self._db.execute("SELECT iri, digest FROM state")}

    def write_states(self, entries: Sequence[tuple[IRI, bytes, NDArray[np.float32]]], gone: Sequence[IRI] = ()) -> None:
        """Store (IRI, digest, (d,) vector) of states, replacing earlier ones, and remove those in `gone`, all or nothing."""
        with self._transaction():
            self._db.executemany("DELETE FROM state WHERE iri = ?", [(iri,) for iri in gone])
            self._db.executemany(
                "INSERT OR REPLACE INTO state VALUES (?, ?, ?)",
                [(iri, mark, vector.tobytes()) for iri, mark, vector in entries],
            )

    def clear(self, fingerprint: str) -> None:
        """Remove everything, and note the embedder of the vectors to come."""
        with self._transaction():
            self._db.execute("DELETE FROM state")
            self._db.execute("DELETE FROM vector")
            self._db.execute("DELETE FROM grain")
            self._db.execute("DELETE FROM node")
            self._db.execute("DELETE FROM meta WHERE key = 'archive'")
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'fingerprint'", (fingerprint,))

    @contextmanager
    def pin(self) -> Iterator[Pinned]:
        """
        Yield a snapshot of the file, taken when `Pinned.hold` is called and valid until the block ends; writers need not wait.
        """
        with _translate_failures(self._path):
            if self._path is None:
                raise GraphError("vectors in memory have no file to be copied")
            db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            try:
                yield Pinned(db)
            finally:
                db.close()

    @staticmethod
    def count_nodes(path: Path) -> int:
        """Return the number of nodes with vectors in a file that nobody has open."""
        with _translate_failures(path), closing(sqlite3.connect(path)) as db:
            return int(db.execute("SELECT count(*) FROM node").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, _translate_failures(None):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


def examine_vector_file(path: Path) -> tuple[str, str]:
    """
    Return the embedder of a file that nobody writes to, and the damage found in it; an empty text where unknown, or undamaged.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            row = db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    except sqlite3.Error as error:
        return "", str(error)
    return row[0] if row else "", "" if found == "ok" else str(found)


class Pinned:
    """A snapshot of a vector file."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def hold(self) -> None:
        """Take the snapshot now."""
        self._db.execute("BEGIN")
        self._db.execute("SELECT count(*) FROM meta").fetchone()  # the first read fixes the snapshot

    def copy(self, path: Path) -> None:
        """Write the snapshot to a new file, without data of the running store and without deleted data."""
        with closing(sqlite3.connect(path, isolation_level=None)) as target:
            self._db.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("DELETE FROM meta WHERE key IN ('archive', 'store')")
            target.execute("DELETE FROM touched")
            target.execute("VACUUM")


@contextmanager
def _translate_failures(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise GraphError(f"the vector file {path or ''} failed: {error}; deleting it loses nothing") from error


def open_vector_file(path: Path, fingerprint: str) -> VectorFile:
    """Open the file; if another embedder made it or it is damaged, replace it by a new one, as it is derived data."""
    try:
        return VectorFile(path, fingerprint)
    except (StaleIndex, GraphError):
        delete_vector_file(path)
        return VectorFile(path, fingerprint)


def delete_vector_file(path: Path) -> None:
    """Delete a vector file that nobody has open; harmless when it is missing."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def read_marks(path: Path) -> dict[str, str]:
    """Return the values that a vector file stores under its keys while nobody has it open; empty if it is missing or damaged."""
    if not path.is_file():
        return {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
        return {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
    return {}


def replace_vector_file(path: Path, beside: Path) -> None:
    """Replace a vector file by the one built beside it; nobody has either open."""
    with closing(sqlite3.connect(beside)) as db:  # a killed process may have left its log
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    delete_vector_file(path)
    beside.replace(path)
    delete_vector_file(beside)


def finish_replacing(path: Path, beside: Path, fingerprint: str) -> None:
    """
    Put the file that a migration built in place, if it is that of the embedder and the present file is not: the migration was about
    to do so, and every vector already in it saves embedding that text again. Any other file stays, without data that is gone
    meanwhile.
    """
    if not beside.is_file():
        return
    made_by = read_marks(beside).get("fingerprint")
    if made_by is None:
        delete_vector_file(beside)
    elif made_by == fingerprint != read_marks(path).get("fingerprint"):
        replace_vector_file(path, beside)
    elif path.is_file():
        with closing(VectorFile(beside, made_by)) as file:
            lag = file.compare(path)
            file.write_entries([], lag.gone)
            file.write_states([], lag.gone_states)
