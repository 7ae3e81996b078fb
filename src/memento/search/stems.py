"""Words as they are compared: lower-cased stems without stop words, and pairs of neighbouring ones."""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from collections.abc import Sequence

import Stemmer

from memento.text.words import STOP_WORDS

_WORD = re.compile(r"[^\W_]+")
_of_thread = threading.local()  # PyStemmer keeps a cache that two threads must not touch at once


def tokens(text: str) -> list[str]:
    """
    Return the stems of a text's words in their order, stop words left out.

    >>> tokens("She's moving to São Paulo!")
    ['move', 'são', 'paulo']
    """
    return stem_words([word for word in words(text) if word not in STOP_WORDS])


def words(text: str) -> list[str]:
    """
    Return the words of a text in their order, lower-cased, stop words too.

    >>> words("She's moving")
    ['she', 's', 'moving']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # an accent is a part of its letter, a ligature two letters
    return _WORD.findall(text.lower())


def stem_words(words: list[str]) -> list[str]:
    """Return the stem of each of some lower-cased words."""
    stemmer = getattr(_of_thread, "stemmer", None)
    if stemmer is None:
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english")
    stems: list[str] = stemmer.stemWords(words)
    return stems


def pairs(stems: Sequence[str]) -> list[str]:
    """
    Return neighbouring stems as one term each, in order.

    >>> pairs(["green", "tea", "pot"])
    ['green tea', 'tea pot']
    """
    return [f"{a} {b}" for a, b in itertools.pairwise(stems)]
