"""
Hashed character trigrams: the same vectors on every machine, no model.

*But:* spelling counts, meaning does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memento.errors import EmbeddingError
from memento.ports import Vectors
from memento.rank.mmr import unit


class Trigram:
    """
    Each word gives its trigrams with a space on either side; one that occurs n times adds ±(1 + ln n) to a dimension.

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
        """Return the text itself, however long; raises `EmbeddingError` when it is blank."""
        _refuse_blank([text])
        return [text]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimensions) unit rows; raises `EmbeddingError` when a text is blank."""
        _refuse_blank(texts)
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            hashes, times = np.unique(_trigrams(text), return_counts=True)
            places = (hashes % np.uint64(self.dimensions)).astype(np.int64)
            np.add.at(row, places, np.where(hashes >> np.uint64(63), -1.0, 1.0) * (1.0 + np.log(times)))
            if not row.any():  # trigrams of opposite sign fell together
                row[places[0]] = 1.0
        return unit(rows)


def _trigrams(text: str) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every trigram of every word; of the whole text when it has no word."""
    words = re.findall(r"\w+", text.lower()) or [text.strip()]
    padded = f" {' '.join(words)} ".encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(padded, dtype="<u4").astype(np.uint64)
    left, middle, right = codes[:-2], codes[1:-1], codes[2:]
    hashes = (
        (left << np.uint64(42)) ^ (middle << np.uint64(21)) ^ right
    )  # a code point has 21 bits: no two are the same
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # the finaliser of MurmurHash3
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(constant)
    hashes ^= hashes >> np.uint64(33)
    return np.asarray(hashes[middle != ord(" ")])


def _refuse_blank(texts: Sequence[str]) -> None:
    if any(not text or text.isspace() for text in texts):
        raise EmbeddingError("there is nothing to embed in an empty text")
