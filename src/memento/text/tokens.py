"""Words of a text for comparison: what two texts share when case, punctuation and inflection are put aside."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from Stemmer import Stemmer

from memento.text.words import FUNCTION_WORDS

WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*[+#]*")


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """
    The text without case, punctuation and extra space: what two equal memories share.

    >>> normal("USER lives in  Berlin!") == normal("user lives in Berlin")
    True
    """
    return " ".join(WORD.findall(text.casefold()))


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """
    The stems of the words that carry meaning.

    >>> sorted(stems("USER is working at the Siemens offices"))
    ['offic', 'siemen', 'work']
    """
    words = [word for word in WORD.findall(text.casefold()) if word not in FUNCTION_WORDS and word != "user"]
    return frozenset(_stemmer().stemWords(words))


def occurs(phrase: str, text: str) -> bool:
    """
    Whether a phrase stands in a text as whole words.

    >>> occurs("Java", "USER writes JavaScript"), occurs("vs code", "USER uses VS Code.")
    (False, True)
    """
    return bool(phrase) and f" {normal(phrase)} " in f" {normal(text)} "


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english")
