"""
An embedder that remembers: recent vectors in memory, all of them in one SQLite file per fingerprint.

*Guarantees:* the file holds digests and vectors, never text, and is readable by this user alone; a file that is broken or
cannot be written costs speed, nothing else.

*But:* the file only shrinks by `discard`; it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memento import telemetry
from memento.errors import EmbeddingError
from memento.ports import Embedder, Vectors
from memento.search.embedders.minilm import MiniLm

logger = logging.getLogger(__name__)

_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])")
REMEMBERED = 4096  # vectors in memory: 6 MB of 384 dimensions
PARAMETERS = 500  # in one statement; SQLite before 3.32 allows 999

Vector = NDArray[np.float32]


class Cached:
    """Another embedder behind a cache; itself an embedder."""

    def __init__(self, embedder: Embedder, path: Path | None) -> None:
        """
        Args:
            path: folder of the cache file, made when it is not there; None remembers in memory only.
        """
        self.embedder = embedder
        self.fingerprint = embedder.fingerprint
        self.dimensions = embedder.dimensions
        # Models of the family E5 are trained on texts that say which side they are on; it is no matter of the text itself.
        is_e5 = _E5.search(embedder.fingerprint.lower()) is not None
        self._question, self._passage = ("query: ", "passage: ") if is_e5 else ("", "")
        self._recent: OrderedDict[bytes, Vector] = OrderedDict()
        self._file = _File(path / f"embeddings-{embedder.fingerprint}.sqlite", self.dimensions) if path else None
        self._lock = threading.Lock()

    @property
    def runtime(self) -> str:
        """The library that runs the model, `torch` or `onnx`; empty where there is no model."""
        return self.embedder.runtime if isinstance(self.embedder, MiniLm) else ""

    def is_word(self, word: str) -> bool:
        """Return whether the model has a word whole, given in small letters; True where there is no telling."""
        return self.embedder.is_word(word) if isinstance(self.embedder, MiniLm) else True

    def windows(self, text: str) -> list[str]:
        """As the embedder's own."""
        return self.embedder.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder's own; a text that was seen before, or comes twice, is not embedded again."""
        return self._embed([self._passage + text for text in texts] if self._passage else texts)

    def embed_question(self, text: str) -> Vectors:
        """Return (windows, dimensions) rows of what is looked for, where the model tells that from what is kept."""
        return self._embed([self._question + window for window in self.windows(text)])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        digests = [_digest(text) for text in texts]
        known = self._look_up(dict.fromkeys(digests))
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        telemetry.count("embeddings.cached", len(known))
        telemetry.count("embeddings.computed", len(missing))
        if missing:
            rows = self.embedder.embed(list(missing.values()))  # outside the lock: others may be answered meanwhile
            fresh = dict(zip(missing, rows, strict=True))
            self._remember(fresh)
            known |= fresh
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, digest in zip(vectors, digests, strict=True):
            row[:] = known[digest]
        return vectors

    def discard(self, texts: Iterable[str]) -> None:
        """
        Forget these texts and their windows for good: what the file held is overwritten.

        Raises:
            EmbeddingError: the file could neither be changed nor deleted.
        """
        pieces = {piece for text in texts if text.strip() for piece in (text, *self.windows(text))}
        digests = [_digest(side + piece) for piece in pieces for side in {self._question, self._passage}]
        with self._lock:
            for digest in digests:
                self._recent.pop(digest, None)
            if self._file:
                self._file.remove(digests)

    def close(self) -> None:
        """Let go of the file and of connections; they are opened again when they are needed."""
        with self._lock:
            if self._file:
                self._file.close()
        if close := getattr(self.embedder, "close", None):  # only a remote one holds connections
            close()

    def _look_up(self, digests: Collection[bytes]) -> dict[bytes, Vector]:
        with self._lock:
            known = {digest: self._recent[digest] for digest in digests if digest in self._recent}
            for digest in known:
                self._recent.move_to_end(digest)
            sought = [digest for digest in digests if digest not in known]
            if self._file and sought:
                stored = self._file.get(sought)
                self._keep_recent(stored)
                known |= stored
            return known

    def _remember(self, vectors: dict[bytes, Vector]) -> None:
        with self._lock:
            self._keep_recent(vectors)
            if self._file:
                self._file.put(vectors)

    def _keep_recent(self, vectors: dict[bytes, Vector]) -> None:
        # A copy: a row that is a view would keep its whole batch in memory.
        self._recent.update((digest, vector.copy()) for digest, vector in vectors.items())
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)


class _File:
    """Digest → vector in SQLite; opened on first use, given up with one warning when it fails."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self._path, self._dimensions = path, dimensions
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def get(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        vectors: dict[bytes, Vector] = {}

        def read(connection: sqlite3.Connection) -> None:
            for chunk in _split(digests):
                marks = ",".join("?" * len(chunk))
                rows = connection.execute(f"SELECT digest, vector FROM embeddings WHERE digest IN ({marks})", chunk)
                for digest, blob in rows:
                    if len(blob) == 4 * self._dimensions:
                        vectors[digest] = np.frombuffer(blob, dtype="<f4")

        self._attempt(read)
        return vectors

    def put(self, vectors: dict[bytes, Vector]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            rows = ((digest, vector.astype("<f4").tobytes()) for digest, vector in vectors.items())
            connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)
            connection.commit()

        self._attempt(write)

    def remove(self, digests: Sequence[bytes]) -> None:
        """Overwrite and delete; a file that resists goes as a whole."""
        if not self._path.exists():
            return

        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM embeddings WHERE digest = ?", ((digest,) for digest in digests))
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log still holds what was deleted

        if not self._attempt(delete):
            self._delete_all()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _attempt(self, work: Callable[[sqlite3.Connection], None]) -> bool:
        """Return whether it worked; after the first failure nothing is tried any more."""
        if not self._usable:
            return False
        try:
            self._connection = self._connection or self._open()
            work(self._connection)
            return True
        except (sqlite3.Error, OSError) as error:
            self._usable = False
            logger.warning("embeddings.cache_unusable", extra={"error": type(error).__name__})
            self._abandon()
            return False

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, timeout=5.0, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")
            # With row ids: without them a vector of this size spills to a page of its own, three times the space.
            connection.execute("CREATE TABLE IF NOT EXISTS embeddings (digest BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _abandon(self) -> None:
        try:
            self.close()
        except sqlite3.Error:
            self._connection = None

    def _delete_all(self) -> None:
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise EmbeddingError(f"{self._path} still holds what was to be erased: delete it") from error


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _split(digests: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (digests[begin : begin + PARAMETERS] for begin in range(0, len(digests), PARAMETERS))
