"""
all-MiniLM-L6-v2 on the CPU: texts in, rows of one length out, whichever library runs the forward pass.

*Guarantees:* offline; the weights are the published ones, or nothing is embedded; the vectors are the same in both libraries,
so they share a fingerprint.

*But:* the model reads at most 256 word pieces; a longer text goes in as the windows that `windows` gives.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memento.errors import EmbeddingError, MissingPart
from memento.ports import Vectors
from memento.rank.similarity import unit
from memento.search.embedders import onnx, weights
from memento.search.embedders.onnx import OnnxPass
from memento.search.embedders.torch import TorchPass
from memento.search.embedders.weights import PIECES, only_our_errors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

logger = logging.getLogger(__name__)

OVERLAP = 64  # what a window cuts off stands whole in the next one, unless it is longer than this
MANY = 32  # texts from which on all cores are worth waking

Pieces = NDArray[np.int64]
"""(n, length) ids of word pieces, or 1 where there is one; 0 is padding."""

Forward = Callable[[Pieces, Pieces], Vectors]
"""Ids and mask of n texts to n rows."""


class MiniLm:
    """The model, loaded on first use; the tokenizer by itself takes 0.1 s."""

    fingerprint: str = weights.FINGERPRINT
    dimensions: int = weights.DIMENSIONS

    def __init__(self, threads: int = 1, batch: int = 16, runtime: str = "auto", folder: Path | None = None) -> None:
        """
        Args:
            threads: for one forward pass; on a busy machine two are many times slower than one.
            batch: texts in one forward pass.
            runtime: `torch`, `onnx`, or `auto`: onnxruntime when it is installed.
            folder: where the model is kept as onnxruntime reads it; without one `auto` is torch.
        """
        self._threads, self._batch = threads, batch
        self._wanted, self._folder = runtime, folder
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._forward: Forward | None = None

    @property
    def runtime(self) -> str:
        """What runs the forward pass, `torch` or `onnx`; before it is loaded, what will if nothing fails."""
        if self._forward is not None:
            return "torch" if isinstance(self._forward, TorchPass) else "onnx"
        if self._wanted == "auto":
            return "onnx" if self._folder and onnx.is_possible(self._folder) else "torch"
        return self._wanted

    def windows(self, text: str) -> list[str]:
        """
        The text itself if the model reads it whole, else overlapping pieces of it, cut between words; every character is in one.

        Raises:
            EmbeddingError: the text is blank, or not Unicode.
            MissingPart: the tokenizer or its file is not installed.
        """
        _refuse_blank([text])
        if _surely_fits(text):
            return [text]
        tokenizer = self._loaded_tokenizer()
        with only_our_errors():
            encoding = tokenizer.encode(text, add_special_tokens=False)
        begins = [begin for begin, _ in encoding.offsets]
        if len(begins) <= PIECES:
            return [text]
        begins[0] = 0  # what comes before the first piece or after the last belongs to a window too
        begins.append(len(text))
        return [text[begins[first] : begins[last]] for first, last in _spans(encoding.word_ids)]

    def is_word(self, word: str) -> bool:
        """
        Whether a word in small letters is one of the 30,000 that the tokenizer does not take apart.

        Raises:
            MissingPart: the tokenizer or its file is not installed.
        """
        return self._loaded_tokenizer().token_to_id(word) is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        (len(texts), 384) unit rows, in the order of `texts`; what a text has beyond 256 pieces is not read.

        Raises:
            EmbeddingError: a text is blank or not Unicode, or the model failed.
            MissingPart: the model or a library is not installed, or the files are not the published ones.
        """
        _refuse_blank(texts)
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        forward, tokenizer = self._loaded_pass(), self._loaded_tokenizer()
        with only_our_errors():
            pieces = [_cut(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
            by_length = sorted(
                range(len(texts)), key=lambda place: -len(pieces[place])
            )  # padding costs as much as text

            def fill(places: list[int]) -> None:
                rows[places] = forward(*_padded([pieces[place] for place in places]))

            # Passes side by side, each on its own threads: threads that share one pass wait for each other at every layer,
            # and where the cores are busy with something else that takes ten times as long.
            workers = max(_cores() // self._threads, 1) if len(texts) >= MANY else 1
            size = min(self._batch, -(-len(texts) // workers))
            batches = [by_length[begin : begin + size] for begin in range(0, len(texts), size)]
            if workers == 1:
                for places in batches:
                    fill(places)
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(fill, batches))
        return unit(rows)

    def _loaded_tokenizer(self) -> Tokenizer:
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = weights.tokenizer()
            return self._tokenizer

    def _loaded_pass(self) -> Forward:
        with self._loading:
            if self._forward is None:
                self._forward = self._onnx_pass() or TorchPass(self._threads)
            return self._forward

    def _onnx_pass(self) -> Forward | None:
        """None where torch is wanted, or is what is left."""
        if self.runtime == "torch":
            return None
        if self._folder is None:
            raise EmbeddingError("onnxruntime needs a folder to keep the model in")
        try:
            return OnnxPass(self._threads, self._folder)
        except (EmbeddingError, MissingPart) as error:
            if self._wanted == "onnx":
                raise
            logger.warning("embedding.runtime_unusable", extra={"error": str(error)})
            return None


def _surely_fits(text: str) -> bool:
    """
    Whether so short a text fits without asking the tokenizer.

    A piece has at least one normalised character, and the normaliser makes at most three of one (a Hangul syllable), one of
    an ASCII character.
    """
    return len(text) <= (PIECES if text.isascii() else PIECES // 3)


def _spans(words: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """
    Pieces [first, last) of each window, given the word that each piece belongs to.

    Cuts fall between words, because half a word is split into other, perhaps more pieces than it was as a part of the whole.
    No word has more than 100 pieces, the tokenizer's own limit, so every window gets further.
    """
    first = 0
    while True:
        last = min(first + PIECES, len(words))
        while last < len(words) and words[last] == words[last - 1]:
            last -= 1
        yield first, last
        if last == len(words):
            return
        first = last - OVERLAP
        while words[first] == words[first - 1]:
            first += 1


def _cut(ids: list[int]) -> list[int]:
    """No more pieces than the model reads, the mark of the end kept."""
    return ids if len(ids) <= PIECES + 2 else [*ids[: PIECES + 1], ids[-1]]


def _padded(pieces: Sequence[Sequence[int]]) -> tuple[Pieces, Pieces]:
    """(n, longest) ids and mask of one forward pass."""
    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(pieces):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return ids, mask


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")
