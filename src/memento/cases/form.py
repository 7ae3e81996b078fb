"""
How a task is written, in a few numbers.

*Because:* a sentence embedder reads small letters and drops how a text is written. How long a task is, how it is capitalised and
whether it asks with a question mark tells kinds of tasks apart that the same words do not.
"""

from __future__ import annotations

import re
from math import log1p

import numpy as np
from numpy.typing import NDArray

FORM = 6
"""How many numbers."""
_DIGIT = re.compile(r"\d")


def form(text: str) -> NDArray[np.float32]:
    """
    (6,) how a text is written, each from 0 to about 1: its length, the share of words with a capital, whether it ends with a
    question mark, begins with a capital, has a digit; and the length of its words.

    >>> form("who won the cup").tolist()[1:5]
    [0.0, 0.0, 0.0, 0.0]
    >>> form("Who won the World Cup in 1998?").tolist()[2:5]
    [1.0, 1.0, 1.0]
    """
    words = text.split()
    count = max(len(words), 1)
    large = [word[0].isupper() for word in words]
    return np.array(
        [
            log1p(len(words)) / 4,
            sum(large) / count,
            bool(words) and words[-1].endswith("?"),
            bool(words) and large[0],
            _DIGIT.search(text) is not None,
            sum(map(len, words)) / count / 8,
        ],
        dtype=np.float32,
    )
