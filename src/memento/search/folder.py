"""
Any model of sentence-transformers in a folder on this machine, run by torch on the CPU.

*Guarantees:* nothing is fetched, and no code of the folder is run. The fingerprint names the folder and what is in its files.

*But:* vectors of two folders are never comparable, were they of one model.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memento.errors import EmbeddingError, MissingPart
from memento.ports import Vectors
from memento.rank import unit
from memento.search.minilm import translate_errors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_REMEDY = "install sentence-transformers, or choose another model"
_LARGE = 1 << 20  # bytes of either end that are read of a file for the fingerprint
_SHARED = 8  # neighbouring windows share about one word in so many


class FolderModel:
    """The model, loaded on first use. May be shared by threads; one passes at a time."""

    def __init__(self, folder: Path, threads: int = 1, batch: int = 16) -> None:
        """
        Raises:
            MissingPart: the folder is none of a model.
        """
        self._folder, self._threads, self._batch = folder, threads, batch
        self.dimensions = _read_dimensions(folder)
        self.fingerprint = f"folder-{folder.name}-{self.dimensions}-{_digest_files(folder)}"
        self._lock = threading.Lock()

    def windows(self, text: str) -> list[str]:
        """
        Return the text itself if the model reads it whole, else overlapping runs of its words that it does; raises as `embed`.

        A word that is longer than the model reads stands in a window of its own.
        """
        if not text.strip():
            raise EmbeddingError("there is nothing to embed in an empty text")
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
        Return (len(texts), dimensions) unit rows, in the order of `texts`; what a text has beyond the model's length is not read.

        Raises:
            EmbeddingError: a text is blank, or the model failed.
            MissingPart: a library is not installed.
        """
        if any(not text.strip() for text in texts):
            raise EmbeddingError("there is nothing to embed in an empty text")
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
    """Read the length of a model's vectors from the description of its last part that says it."""
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
    """Digest what is in the files of a model: small ones whole, of large ones their length and both ends."""
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
