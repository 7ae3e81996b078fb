"""
Reorder the best texts of an answer with a cross-encoder of the user's own, which reads question and text together.

*Guarantees:* nothing is downloaded, and no code from the folder is run: the model is `model.onnx` (or `onnx/model.onnx`) with
`tokenizer.json`, or `model.safetensors` with `config.json` beside it. Missing files are reported when the memory is opened. If the
model fails on a question, the order stays unchanged and the failure is logged.
"""

from __future__ import annotations

import logging
import threading
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.errors import EmbeddingError, SettingsError
from memento.search.minilm import open_session, translate_errors
from memento.settings import RerankSettings

logger = logging.getLogger(__name__)

Scores = NDArray[np.float64]

_CHARS = 512  # characters of a memory that are read, as published
_PIECES = 512  # word pieces of question and memory together
_TOKENIZER = "tokenizer.json"
_ONNX = ("model.onnx", "onnx/model.onnx")
_REMEDY = "install what its model needs, or leave rerank.folder empty"


class CrossEncoder:
    """A model in a folder that scores how well texts answer a question. Loaded on first use; threads may share it."""

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            SettingsError: the folder is missing, or its files are not a model; the message names the missing files.
        """
        self.folder = folder.expanduser()
        if not self.folder.is_dir():
            raise SettingsError(f"rerank.folder: there is no folder {self.folder}")
        self._onnx = next((path for name in _ONNX if (path := self.folder / name).is_file()), None)
        wanted = (_TOKENIZER,) if self._onnx else ("model.safetensors", "config.json", _TOKENIZER)
        if missing := [name for name in wanted if not (self.folder / name).is_file()]:
            kinds = "model.onnx with tokenizer.json, or model.safetensors with config.json and tokenizer.json"
            raise SettingsError(f"rerank.folder: {self.folder} lacks {', '.join(missing)}; a cross-encoder is {kinds}")
        self._lock = threading.Lock()
        self._score: Callable[[str, Sequence[str]], Any] | None = None

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """
        Return (n,) how well each text answers a question: the model's logit, higher is better.

        Raises:
            EmbeddingError: the model cannot be loaded, or failed.
            MissingPart: a library is not installed.
        """
        with self._lock, translate_errors(_REMEDY, f"the cross-encoder in {self.folder}"):
            if self._score is None:
                self._score = self._load_onnx(self._onnx) if self._onnx else self._load_torch()
            logits = np.asarray(self._score(question, [text[:_CHARS] for text in texts]), dtype=np.float64)
            logits = logits.reshape(len(texts), -1)
        # Of two classes the second means "it answers"; a single class is the score itself.
        scores: Scores = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
        if not np.isfinite(scores).all():
            raise EmbeddingError(f"the cross-encoder in {self.folder} gives no numbers")
        return scores

    def _load_onnx(self, file: Path) -> Callable[[str, Sequence[str]], Any]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / _TOKENIZER))
        tokenizer.enable_truncation(_PIECES, strategy="only_second")
        tokenizer.enable_padding()
        session = open_session(str(file), threads=1)
        names = [one.name for one in session.get_inputs()]

        def score_pairs(question: str, texts: Sequence[str]) -> Any:
            read = tokenizer.encode_batch([(question, text) for text in texts])
            parts = {
                "input_ids": [one.ids for one in read],
                "attention_mask": [one.attention_mask for one in read],
                "token_type_ids": [one.type_ids for one in read],
            }
            return session.run(None, {name: np.array(parts[name], dtype=np.int64) for name in names})[0]

        return score_pairs

    def _load_torch(self) -> Callable[[str, Sequence[str]], Any]:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(str(self.folder), **where)
        model = AutoModelForSequenceClassification.from_pretrained(
            str(self.folder), use_safetensors=True, **where
        ).eval()

        def score_pairs(question: str, texts: Sequence[str]) -> Any:
            read = tokenizer(
                [question] * len(texts),
                list(texts),
                padding=True,
                truncation="only_second",
                max_length=_PIECES,
                return_tensors="pt",
            )
            with torch.inference_mode():
                return model(**read).logits.numpy()

        return score_pairs


class Reranker:
    """Reorders the best memories of every answer, by the settings of a service."""

    def __init__(self, settings: RerankSettings) -> None:
        """
        Raises:
            SettingsError: the folder has no cross-encoder.
        """
        self._settings = settings
        self._model = CrossEncoder(Path(settings.folder)) if settings.folder else None

    @property
    def pool(self) -> int:
        """The number of best memories that are reordered; 0 for none."""
        return self._settings.pool if self._model or self._settings.factors else 0

    @property
    def by_factors(self) -> bool:
        """Whether the factors of the published design apply."""
        return self._settings.factors

    @property
    def has_model(self) -> bool:
        """Whether a cross-encoder reorders them."""
        return self._model is not None

    def order(self, question: str, texts: Sequence[str]) -> list[int] | None:
        """
        Return the positions of some texts, the best answer first and those beyond the pool in their order; an empty list when even
        the best is below `rerank.floor`, so that no text answers; None when there is no model, or it fails.
        """
        some = texts[: self._settings.pool]
        if self._model is None or not some:
            return None
        try:
            scores = self._model.score(question, some)
        except Exception as error:  # whatever a user's model raises, the answer exists without it
            logger.warning("rerank.failed", extra={"folder": str(self._model.folder), "error": type(error).__name__})
            return None
        best = np.argsort(-scores, kind="stable").tolist()
        floor = self._settings.floor
        if floor is not None and scores[best[0]] < floor and share_script(question, some[best[0]]):
            return []
        return [*best, *range(len(some), len(texts))]


def share_script(one: str, other: str) -> bool:
    """
    Return whether two texts have letters of a common script: a model for one language gives low scores to texts in another,
    whatever they say.

    >>> share_script("Where is tea?", "Tea is here"), share_script("차는 어디에?", "Tea is here")
    (True, False)
    """
    first, second = ({unicodedata.name(c, "?").split()[0] for c in text if c.isalpha()} for text in (one, other))
    return not (first and second) or bool(first & second)
