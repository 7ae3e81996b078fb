"""
Vectors from a service: OpenAI's `/embeddings`, which many others offer too, or Ollama's `/api/embed`.

*But:* texts leave this machine; only the settings can bring that about.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from memento.breaker import Breaker
from memento.errors import EmbeddingError
from memento.llm.endpoint import UNFIT, Endpoint, Limits, error_message
from memento.ports import Vectors
from memento.rank.mmr import unit
from memento.settings import EmbeddingSettings

ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "cohere": "https://api.cohere.ai/compatibility/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434",
}
SHORTENING = ("openai", "google")  # providers that shorten a vector to the dimensions asked for
OVERLAP = 8  # neighbouring windows share about one part in so many


class Remote:
    """An embedder behind HTTP. May be shared by threads; nothing is connected before the first text."""

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
        Return the text itself, or overlapping pieces of at most `max_chars` characters, cut between words where there are any.

        Raises:
            EmbeddingError: the text is blank.
        """
        _refuse_blank([text])
        return [piece for piece in split_text(text, self._max_chars) if not piece.isspace()]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        Return (len(texts), dimensions) unit rows, in the order of `texts`, whatever the order of the answer.

        Raises:
            EmbeddingError: a text is blank; or the service is away, refuses, or answers with other vectors than were asked for.
        """
        _refuse_blank(texts)
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for begin in range(0, len(texts), self._batch):
            rows[begin : begin + self._batch] = self._request(texts[begin : begin + self._batch])
        return rows

    def close(self) -> None:
        """Let go of connections; the next text opens new ones."""
        self._endpoint.close()

    def _request(self, texts: Sequence[str]) -> Vectors:
        until = time.monotonic() + self._call_s
        while True:
            body: dict[str, Any] = {"model": self._model, "input": list(texts)}
            if self._shortens:
                body["dimensions"] = self.dimensions
            if self._ollama:
                body["truncate"] = False  # a text that is too long is an error, not a vector of its beginning
            path = "/api/embed" if self._ollama else "/embeddings"
            answer = self._endpoint.post(path, body, retries=self._retries, until=until)
            if answer.status not in UNFIT:
                return self._parse_rows(answer.body, len(texts))
            why = error_message(answer.body)
            if not (self._shortens and "dimension" in why.lower()):
                fix = "; if a text is too long for the model, lower max_chars of [embedding]"
                raise EmbeddingError(self._endpoint.complaint(answer.status, why) + fix)
            self._shortens = False  # an older model: its vectors have one length

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
            raise EmbeddingError(f"{self._endpoint.called} answered in no form that is known: {error}") from error
        (length,) = lengths
        if length != self.dimensions:
            raise EmbeddingError(
                f"{self._endpoint.called} answers with vectors of {length} numbers, not {self.dimensions}: "
                f"set dimensions of [embedding] to {length}"
            )
        if vectors.ndim != 2 or not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise EmbeddingError(f"{self._endpoint.called} answered with a vector that has no direction")
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
    Return a name for files too: what may not stand in one is replaced, and a digest keeps apart what would then be the same.

    >>> _fingerprint("ollama", "nomic/embed:v1.5", 768, "localhost")
    'ollama-nomic_embed_v1.5-768-localhost-f444722c'
    """
    exact = f"{provider} {model} {dimensions} {host}"
    readable = re.sub(r"[^\w.-]", "_", f"{provider}-{model}-{dimensions}-{host}", flags=re.ASCII)[:100]
    return f"{readable}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")
