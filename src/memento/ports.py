"""
The interfaces that backends implement: what the packages above need from an embedder.

A protocol is added with the second real implementation; vectors, words and adjacency have one each and stay classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, dimensions) unit rows."""

Progress = Callable[[int, int], None]
"""Called with (done, total) as long work goes on."""


class Embedder(Protocol):
    """Turns text into unit vectors."""

    fingerprint: str
    """Model, version and weights digest: vectors are comparable only when it is equal."""

    dimensions: int

    def windows(self, text: str) -> list[str]:
        """
        Return the text itself, or overlapping pieces that each fit the model, so that nothing is cut silently.

        Raises:
            EmbeddingError: the text is empty or blank.
        """
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        Return (len(texts), dimensions) unit rows, in the order of `texts`; each text must fit the model (see `windows`).

        Raises:
            EmbeddingError: a text is empty or blank, or the model failed.
        """
        ...
