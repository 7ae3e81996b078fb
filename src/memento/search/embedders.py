"""
Text in, unit vectors out, behind a cache: all-MiniLM-L6-v2 on this machine (in torch or onnxruntime), a sentence-transformers model
from a folder, hashed trigrams where no model is allowed, or a remote service.

*Flow:* `embedder_of` picks `MiniLm`, `FolderModel`, `Trigram` or `Remote` by the settings and wraps it in a `Cached`.

*Guarantees:* nothing here uses the network unless the settings name a provider; importing this module imports no model library and
no HTTP client; threads may share any embedder.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from memento import telemetry
from memento.breaker import Breaker
from memento.errors import EmbeddingError, MissingPart
from memento.llm import UNFIT, Endpoint, Limits, error_message
from memento.ports import Embedder, Vectors
from memento.rank import unit
from memento.search.minilm import MiniLm, translate_errors
from memento.settings import EmbeddingSettings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class Trigram:
    """
    Hashed character trigrams, the same on every machine, without a model: similar spelling counts, meaning does not.

    Each word gives its trigrams with a space on either side; a trigram that occurs n times adds ±(1 + ln n) to one dimension.

    Source: Weinberger et al. 2009, ICML (signed feature hashing).

    >>> trigram = Trigram()
    >>> near, far = trigram.embed(["green tea", "blue sky"]) @ trigram.embed(["some green tea"])[0]
    >>> bool(near > 0.6 > 0.2 > far)
    True
    """

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.fingerprint = f"trigram-{dimensions}"

    def windows(self, text: str) -> list[str]:
        """Return the text itself, however long; raise `EmbeddingError` when it is blank."""
        _refuse_blank([text])
        return [text]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimensions) unit rows; raise `EmbeddingError` when a text is blank."""
        _refuse_blank(texts)
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            hashes, times = np.unique(_trigrams(text), return_counts=True)
            places = (hashes % np.uint64(self.dimensions)).astype(np.int64)
            np.add.at(row, places, np.where(hashes >> np.uint64(63), -1.0, 1.0) * (1.0 + np.log(times)))
            if not row.any():  # trigrams of opposite sign cancelled each other out
                row[places[0]] = 1.0
        return unit(rows)


def _trigrams(text: str) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every trigram of every word, or of the whole text when it has no word."""
    words = re.findall(r"\w+", text.lower()) or [text.strip()]
    padded = f" {' '.join(words)} ".encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(padded, dtype="<u4").astype(np.uint64)
    left, middle, right = codes[:-2], codes[1:-1], codes[2:]
    hashes = (
        (left << np.uint64(42)) ^ (middle << np.uint64(21)) ^ right
    )  # a code point has 21 bits, so no two trigrams share a number
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # the finaliser of MurmurHash3
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(constant)
    hashes ^= hashes >> np.uint64(33)
    return np.asarray(hashes[middle != ord(" ")])


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")


ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "cohere": "https://api.cohere.ai/compatibility/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434",
}
SHORTENING = ("openai", "google")  # providers that shorten a vector to the requested dimensions
OVERLAP = 8  # neighbouring windows share about 1/8 of their characters


class Remote:
    """
    An embedding service over HTTP: OpenAI's `/embeddings`, which many others offer too, or Ollama's `/api/embed`. Texts leave this
    machine.

    Threads may share it; it connects when the first text comes.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        """
        Args:
            settings: with a provider other than `local`, a model and its dimensions.
        """
        provider = settings.provider
        base_url = (settings.base_url or ADDRESSES[provider]).rstrip("/")
        self.dimensions = settings.dimensions
        self.fingerprint = _fingerprint(provider, settings.model, self.dimensions, urlsplit(base_url).hostname or "")
        self._model = settings.model
        self._ollama = provider == "ollama"
        self._shortens = provider in SHORTENING
        self._batch = settings.batch
        self._max_chars = settings.max_chars
        self._retries = settings.max_retries
        self._call_s = settings.timeout_s * (settings.max_retries + 1)
        self._endpoint = Endpoint(
            base_url.removesuffix("/api") if self._ollama else base_url,
            headers={"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {},
            secret=settings.api_key,
            called=f"the embedder {settings.provider_name or provider}:{settings.model}",
            error=EmbeddingError,
            limits=Limits(silence_s=settings.timeout_s, retry_wait_s=settings.retry_wait_s),
            breaker=Breaker(settings.breaker_failures, settings.breaker_rest_s),
        )

    def windows(self, text: str) -> list[str]:
        """
        Return the text itself, or overlapping pieces of at most `max_chars` characters, cut between words where possible.

        Raises:
            EmbeddingError: the text is blank.
        """
        _refuse_blank([text])
        return [piece for piece in split_text(text, self._max_chars) if not piece.isspace()]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        Return (len(texts), dimensions) unit rows, in the order of `texts`, whatever the order of the response.

        Raises:
            EmbeddingError: a text is blank; or the service is unreachable, refuses, or returns other vectors than requested.
        """
        _refuse_blank(texts)
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for begin in range(0, len(texts), self._batch):
            rows[begin : begin + self._batch] = self._request(texts[begin : begin + self._batch])
        return rows

    def close(self) -> None:
        """Close the connections; the next text opens new ones."""
        self._endpoint.close()

    def _request(self, texts: Sequence[str]) -> Vectors:
        until = time.monotonic() + self._call_s
        while True:
            body: dict[str, Any] = {"model": self._model, "input": list(texts)}
            if self._shortens:
                body["dimensions"] = self.dimensions
            if self._ollama:
                body["truncate"] = False  # a text that is too long is an error: do not embed its beginning alone
            path = "/api/embed" if self._ollama else "/embeddings"
            answer = self._endpoint.post(path, body, retries=self._retries, until=until)
            if answer.status not in UNFIT:
                return self._parse_rows(answer.body, len(texts))
            why = error_message(answer.body)
            if not (self._shortens and "dimension" in why.lower()):
                fix = "; if a text is too long for the model, lower max_chars of [embedding]"
                raise EmbeddingError(self._endpoint.complaint(answer.status, why) + fix)
            self._shortens = False  # an older model, whose vectors have a fixed length

    def _parse_rows(self, body: Mapping[str, Any], wanted: int) -> Vectors:
        """Return unit rows in the order of the texts."""
        try:
            if self._ollama:
                rows = list(body["embeddings"])
            else:
                by_index = {entry["index"]: entry["embedding"] for entry in body["data"]}
                rows = [by_index[place] for place in range(len(by_index))]
            lengths = {len(row) for row in rows}
            if len(rows) != wanted or len(lengths) != 1:
                raise ValueError(f"{len(rows)} vectors for {wanted} texts")
            vectors = np.asarray(rows, dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise EmbeddingError(f"{self._endpoint.called} answered in an unknown format: {error}") from error
        (length,) = lengths
        if length != self.dimensions:
            raise EmbeddingError(
                f"{self._endpoint.called} answers with vectors of {length} numbers, not {self.dimensions}: "
                f"set dimensions of [embedding] to {length}"
            )
        if vectors.ndim != 2 or not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise EmbeddingError(f"{self._endpoint.called} answered with a vector that is zero or not finite")
        return unit(vectors)


def split_text(text: str, most: int) -> list[str]:
    """
    Return the text in overlapping pieces of at most `most` characters; every character is in one.

    >>> split_text("one two three four five six", 16)
    ['one two three', 'three four five', 'five six']
    """
    pieces, begin = [], 0
    while len(text) - begin > most:
        end = _find_gap(text, begin + most // 2, begin + most) or begin + most
        pieces.append(text[begin:end])
        begin = (
            _find_gap(text, end - most // OVERLAP - most // 4, end - most // OVERLAP, after=True)
            or end - most // OVERLAP
        )
    return [*pieces, text[begin:]]


def _find_gap(text: str, least: int, most: int, *, after: bool = False) -> int | None:
    """Return the last place in least..most before a blank, or `after` one; None when there is none."""
    blanks = [found.end() if after else found.start() for found in re.finditer(r"\s+", text[least : most + 1])]
    fitting = [least + place for place in blanks if 0 < place <= most - least]
    return fitting[-1] if fitting else None


def _fingerprint(provider: str, model: str, dimensions: int, host: str) -> str:
    """
    Return a name that is safe in file names: forbidden characters are replaced, and a digest keeps names apart that would become
    equal.

    >>> _fingerprint("ollama", "nomic/embed:v1.5", 768, "localhost")
    'ollama-nomic_embed_v1.5-768-localhost-f444722c'
    """
    exact = f"{provider} {model} {dimensions} {host}"
    readable = re.sub(r"[^\w.-]", "_", f"{provider}-{model}-{dimensions}-{host}", flags=re.ASCII)[:100]
    return f"{readable}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


_REMEDY = "install sentence-transformers, or choose another model"
_LARGE = 1 << 20  # bytes that the fingerprint reads from either end of a file
_SHARED = 8  # neighbouring windows share about 1/8 of their words


class FolderModel:
    """
    Any sentence-transformers model in a folder on this machine, run by torch on the CPU. It is loaded on first use, and one thread
    at a time runs it. Nothing is downloaded, and no code from the folder is run.

    *But:* the fingerprint contains the folder's name and a digest of its files, so the vectors of two folders never compare, even
    if both hold the same model.
    """

    def __init__(self, folder: Path, threads: int = 1, batch: int = 16) -> None:
        """
        Raises:
            MissingPart: the folder holds no model.
        """
        self._folder, self._threads, self._batch = folder, threads, batch
        self.dimensions = _read_dimensions(folder)
        self.fingerprint = f"folder-{folder.name}-{self.dimensions}-{_digest_files(folder)}"
        self._lock = threading.Lock()

    def windows(self, text: str) -> list[str]:
        """
        Return the text itself if the model reads it whole, else overlapping runs of words that it does read whole; raise as `embed`
        does.

        A word that is too long for the model gets a window by itself.
        """
        _refuse_blank([text])
        most = self._model.max_seq_length or 512
        if len(text.encode("utf-8", errors="replace")) <= most // 2:
            return [text]
        words = text.split()
        pieces = [max(count - 2, 1) for count in self._count_pieces(words)]
        if sum(pieces) + 2 <= most:
            return [text]
        found: list[str] = []
        begin = 0
        while begin < len(words):
            end, room = begin, most - 2
            while end < len(words) and (room := room - pieces[end]) >= 0:
                end += 1
            end = max(end, begin + 1)
            found.append(" ".join(words[begin:end]))
            begin = end if end == len(words) else max(end - (end - begin) // _SHARED, begin + 1)
        return found

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        Return (len(texts), dimensions) unit rows, in the order of `texts`; the part of a text beyond the model's length is not
        read.

        Raises:
            EmbeddingError: a text is blank, or the model failed.
            MissingPart: a library is not installed.
        """
        _refuse_blank(texts)
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        model = self._model
        with self._lock, translate_errors(_REMEDY, str(self._folder)):
            import torch

            torch.set_num_threads(self._threads)
            rows = model.encode(list(texts), batch_size=self._batch, show_progress_bar=False, convert_to_numpy=True)
        return unit(np.asarray(rows, dtype=np.float32))

    @cached_property
    def _model(self) -> SentenceTransformer:
        with translate_errors(_REMEDY, str(self._folder)):
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True, trust_remote_code=False)

    def _count_pieces(self, words: Sequence[str]) -> list[int]:
        tokenizer: Any = self._model.tokenizer
        with translate_errors(_REMEDY, str(self._folder)):
            return [len(ids) for ids in tokenizer(list(words))["input_ids"]]


def _read_dimensions(folder: Path) -> int:
    """Read the length of a model's vectors from the configuration of the last module that states it."""
    try:
        parts = [folder / one["path"] for one in json.loads((folder / "modules.json").read_text(encoding="utf-8"))]
        described = [
            json.loads(file.read_text(encoding="utf-8")) for one in parts if (file := one / "config.json").is_file()
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MissingPart(
            f"{folder} is no folder of a sentence-transformers model: its modules.json cannot be read"
        ) from error
    for names in ("out_features", "embedding_dimension", "word_embedding_dimension", "hidden_size"):
        for one in reversed(described):
            if isinstance(one.get(names), int):
                return int(one[names])
    raise MissingPart(f"{folder} does not say how long its vectors are: config.json of its pooling is missing")


def _digest_files(folder: Path) -> str:
    """Digest a model's files: small ones whole, large ones by their length and both ends."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in (".json", ".txt", ".safetensors", ".bin", ".model"):
            size = file.stat().st_size
            digest.update(f"{file.relative_to(folder)} {size} ".encode())
            with file.open("rb") as source:
                digest.update(source.read(_LARGE))
                if size > _LARGE:
                    source.seek(max(size - _LARGE, _LARGE))
                    digest.update(source.read())
    return digest.hexdigest()[:12]


logger = logging.getLogger(__name__)

REMEMBERED = 4096  # vectors in memory: 6 MB at 384 dimensions
PARAMETERS = 500  # per statement; SQLite before 3.32 allows 999

Vector = NDArray[np.float32]


_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])")


class Cached:
    """
    An embedder that caches the vectors of another: recent ones in memory, all of them in one SQLite file per fingerprint.

    *Guarantees:* the file holds digests and vectors, never text, and only this user may read it; a damaged or read-only file costs
    speed, nothing else.

    *But:* the file shrinks only through `discard`; you may delete it at any time.
    """

    def __init__(self, embedder: Embedder, path: Path | None, settings: EmbeddingSettings | None = None) -> None:
        """
        Args:
            path: folder of the cache file, created when missing; None caches in memory only.
            settings: the settings that the embedder was built from.
        """
        self.embedder = embedder
        self.settings = settings or EmbeddingSettings()
        self.fingerprint = embedder.fingerprint
        self.dimensions = embedder.dimensions
        # Models of the E5 family are trained on texts that begin with `query:` or `passage:`; this prefix is no part of the text
        # itself.
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
        """Return whether the model's vocabulary has a lower-case word whole; True where that cannot be told."""
        return self.embedder.is_word(word) if isinstance(self.embedder, MiniLm) else True

    def windows(self, text: str) -> list[str]:
        """Return the windows that the embedder cuts."""
        return self.embedder.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return what the embedder returns; a text that was seen before, or comes twice, is not embedded again."""
        return self._embed([self._passage + text for text in texts] if self._passage else texts)

    def find_known(self, texts: Sequence[str]) -> Vectors | None:
        """Return what `embed` returns if every text is in the cache, else None."""
        digests = [_digest(self._passage + text) for text in texts]
        known = self._look_up(dict.fromkeys(digests))
        if len(known) < len(set(digests)):
            return None
        return np.array([known[digest] for digest in digests]).reshape(-1, self.dimensions)

    def embed_aside(self, texts: Sequence[str]) -> Vectors:
        """Do the same as `embed`, but leave the cache alone: for vectors that are stored at once, and asked for once."""
        pieces = [self._passage + text for text in texts]
        return self.embedder.embed(pieces) if pieces else np.zeros((0, self.dimensions), dtype=np.float32)

    def embed_afresh(self, texts: Sequence[str]) -> Vectors:
        """Do the same as `embed`, but ignore and replace cached vectors: another model may now have the same name."""
        pieces = [self._passage + text for text in texts]
        rows = self.embedder.embed(pieces)
        self._remember(dict(zip(map(_digest, pieces), rows, strict=True)))
        return rows

    def embed_question(self, text: str) -> Vectors:
        """Return (windows, dimensions) rows of a question; some models embed questions differently from stored texts."""
        return self.embed_questions(self.windows(text))

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Do the same for a question that is already cut into windows."""
        return self._embed([self._question + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        digests = [_digest(text) for text in texts]
        known = self._look_up(dict.fromkeys(digests))
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        telemetry.count("embeddings.cached", len(known))
        telemetry.count("embeddings.computed", len(missing))
        if missing:
            rows = self.embedder.embed(
                list(missing.values())
            )  # outside the lock, so that other threads are answered meanwhile
            fresh = dict(zip(missing, rows, strict=True))
            self._remember(fresh)
            known |= fresh
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, digest in zip(vectors, digests, strict=True):
            row[:] = known[digest]
        return vectors

    def discard(self, texts: Iterable[str]) -> None:
        """
        Delete these texts and their windows for good: their bytes in the file are overwritten.

        Raises:
            EmbeddingError: the file could be neither changed nor deleted.
        """
        pieces = {piece for text in texts if text.strip() for piece in (text, *self.windows(text))}
        digests = [_digest(side + piece) for piece in pieces for side in {self._question, self._passage}]
        with self._lock:
            for digest in digests:
                self._recent.pop(digest, None)
            if self._file:
                self._file.remove(digests)

    def close(self) -> None:
        """Close the file and the connections; they are opened again when needed."""
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
                stored = self._file.load_vectors(sought)
                self._keep_recent(stored)
                known |= stored
            return known

    def _remember(self, vectors: dict[bytes, Vector]) -> None:
        with self._lock:
            self._keep_recent(vectors)
            if self._file:
                self._file.save_vectors(vectors)

    def _keep_recent(self, vectors: dict[bytes, Vector]) -> None:
        # A copy: a view would keep the whole batch of the row in memory.
        self._recent.update((digest, vector.copy()) for digest, vector in vectors.items())
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)


class _File:
    """Digest → vector in SQLite; opened on first use, disabled with one warning when it fails."""

    def __init__(self, path: Path, dimensions: int) -> None:
        self._path, self._dimensions = path, dimensions
        self._connection: sqlite3.Connection | None = None
        self._usable = True

    def load_vectors(self, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        vectors: dict[bytes, Vector] = {}

        def select_rows(connection: sqlite3.Connection) -> None:
            for chunk in _split(digests):
                marks = ",".join("?" * len(chunk))
                rows = connection.execute(f"SELECT digest, vector FROM embeddings WHERE digest IN ({marks})", chunk)
                for digest, blob in rows:
                    if len(blob) == 4 * self._dimensions:
                        vectors[digest] = np.frombuffer(blob, dtype="<f4")

        self._attempt(select_rows)
        return vectors

    def save_vectors(self, vectors: dict[bytes, Vector]) -> None:
        def insert_rows(connection: sqlite3.Connection) -> None:
            rows = ((digest, vector.astype("<f4").tobytes()) for digest, vector in vectors.items())
            connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)
            connection.commit()

        self._attempt(insert_rows)

    def remove(self, digests: Sequence[bytes]) -> None:
        """Overwrite and delete some vectors; if that fails, delete the whole file."""
        if not self._path.exists():
            return

        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM embeddings WHERE digest = ?", ((digest,) for digest in digests))
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the write-ahead log still holds what was deleted

        if not self._attempt(delete):
            self._delete_all()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _attempt(self, work: Callable[[sqlite3.Connection], None]) -> bool:
        """Run `work` and return whether it succeeded; after the first failure nothing is tried any more."""
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
            # With row ids: without them a vector of this size overflows to a page of its own, which takes three times the space.
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


def embedder_of(settings: EmbeddingSettings, cache_folder: Path | None) -> Cached:
    """
    Return the embedder that the settings name, behind its cache; nothing is loaded or opened before it is needed.

    Args:
        cache_folder: holds the vectors, if the settings cache them on disk.

    >>> embedder_of(EmbeddingSettings(model="trigram"), None).embed(["tea"]).shape
    (1, 256)
    """
    folder = cache_folder if settings.cache else None
    if settings.provider != "local":
        return Cached(Remote(settings), folder, settings)
    if settings.model == "trigram":
        # Computing a trigram vector is faster than looking it up in a file.
        return Cached(Trigram(settings.dimensions or 256), None, settings)
    if settings.model != "minilm":
        place = Path(settings.model).expanduser()
        return Cached(FolderModel(place, settings.threads, settings.batch), folder, settings)
    return Cached(MiniLm(settings.threads, settings.batch, settings.runtime), folder, settings)
