"""
The forward pass of all-MiniLM-L6-v2 in torch, as sentence-transformers runs it; loading takes 3 to 8 seconds.

*But:* it sets torch's number of threads, which is partly the whole process's.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memento.errors import MissingPart
from memento.ports import Vectors
from memento.search.embedders.weights import DIGESTS, REMEDY, check, model_folder, only_our_errors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from memento.search.embedders.minilm import Pieces


class TorchPass:
    """One forward pass after another, by torch on the CPU."""

    def __init__(self, threads: int) -> None:
        """
        Raises:
            MissingPart: the model or a library is not installed, or the files are not the published ones.
            EmbeddingError: the model cannot be loaded.
        """
        self._threads = threads
        self.model = loaded()

    def __call__(self, ids: Pieces, mask: Pieces) -> Vectors:
        """(n, 384) mean-pooled rows of n texts that are padded to one length."""
        import torch

        torch.set_num_threads(self._threads)  # each thread of this process has its own number
        with torch.inference_mode():
            pieces = torch.from_numpy(ids)
            features = {
                "input_ids": pieces,
                "attention_mask": torch.from_numpy(mask),
                "token_type_ids": torch.zeros_like(pieces),
            }
            rows: Vectors = self.model(features)["sentence_embedding"].numpy()
        return rows


def loaded() -> SentenceTransformer:
    """
    The model in float32 on the CPU, offline and without a word on stderr.

    Raises:
        MissingPart: the model or a library is not installed, or the files are not the published ones.
        EmbeddingError: the model cannot be loaded.
    """
    folder = model_folder()
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    with ThreadPoolExecutor(1) as aside, _quiet(), only_our_errors():
        digests = [aside.submit(check, folder / name) for name in DIGESTS]
        from sentence_transformers import SentenceTransformer

        for digest in digests:  # 0.2 s that the imports hide
            digest.result()
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


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
