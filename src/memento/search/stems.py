"""Words as they are compared: lower-cased stems without stop words, and pairs of neighbouring ones."""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from collections.abc import Sequence

import Stemmer

_WORD = re.compile(r"[^\W_]+")
# No names and no months (will, may, us), no negations, and nothing that says where or when (before, over, since).
STOP_WORDS = frozenset(
    _WORD.findall(
        "a about am an and any are as at be because been being both but by can could d did do does doing each few for from had "
        "has have having he her hers him his how i if in into is it its itself ll m me more most my myself of on once or other "
        "our ours own re s same she should so some such t than that the their theirs them then there these they this those to "
        "too ve very was we were what when where which while who whom why with would you your yours yourself"
    )
)
_of_thread = threading.local()  # PyStemmer keeps a cache that two threads must not touch at once


def tokens(text: str) -> list[str]:
    """
    The stems of a text's words in their order, stop words left out.

    >>> tokens("She's moving to São Paulo!")
    ['move', 'são', 'paulo']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # an accent is a part of its letter, a ligature two letters
    words = [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
    stemmer = getattr(_of_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    stems: list[str] = stemmer.stemWords(words)
    return stems


def pairs(stems: Sequence[str]) -> list[str]:
    """
    Neighbouring stems as one term each, in order.

    >>> pairs(["green", "tea", "pot"])
    ['green tea', 'tea pot']
    """
    return [f"{a} {b}" for a, b in itertools.pairwise(stems)]
