"""How alike vectors are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """
    Scale vectors, (n, d) or (d,), to length 1; a zero vector stays zero.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    x = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def cosines(matrix: Vectors, asked: Vectors) -> NDArray[np.float32]:
    """
    Return how near each row, (n,), is to the question, -1..1: the best over the question's windows.

    Args:
        matrix: (n, d) unit rows; a row of zeros has cosine 0.
        asked: (w, d) unit rows, at least one: the windows of one question.

    >>> cosines(np.eye(2, dtype=np.float32), np.array([[0, 1]], dtype=np.float32)).tolist()
    [0.0, 1.0]
    """
    return np.asarray((matrix @ asked.T).max(axis=1), dtype=np.float32)
