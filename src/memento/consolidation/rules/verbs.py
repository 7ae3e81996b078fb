"""Inflection: the third person of a verb, its stem, and whether a word is a past form."""

from __future__ import annotations

import re
from functools import lru_cache

from memento.consolidation.rules.lexicon import BASES, MODALS, PARTICIPLES, PAST, UNCHANGING, word_set

_AUXILIARY = {
    "am": "is",
    "are": "is",
    "is": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "was": "was",
    "were": "was",
    "ain't": "isn't",
    "be": "is",
    "dont": "doesn't",
}
_LOOKS_PAST = word_set("need feed speed bleed breed embed exceed proceed succeed seed heed weed shed wed indeed")


def third_singular(verb: str) -> str:
    """
    The present form that follows "she"; modals and past forms stay as they are.

    >>> [third_singular(verb) for verb in ("study", "go", "have", "don't", "watch", "play", "can", "moved", "quit")]
    ['studies', 'goes', 'has', "doesn't", 'watches', 'plays', 'can', 'moved', 'quit']
    """
    lowered = verb.lower()
    if lowered in _AUXILIARY:
        return _AUXILIARY[lowered]
    if (
        lowered in MODALS
        or lowered in UNCHANGING - {"read", "put", "cost", "let", "set"}
        or is_past(lowered)
        or lowered.endswith("n't")
    ):
        return verb
    if re.search(r"[^aeiou]y$", lowered):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o|go)$", lowered) else f"{verb}s"


def is_past(word: str) -> bool:
    """
    Whether a word looks like a past form; past participles that differ ("gone") count too.

    >>> [is_past(word) for word in ("worked", "went", "gone", "need", "work")]
    [True, True, True, False, False]
    """
    lowered = word.lower()
    if lowered in UNCHANGING or lowered in BASES:
        return False
    return lowered in PAST or lowered in PARTICIPLES or (lowered.endswith("ed") and lowered not in _LOOKS_PAST)


@lru_cache(maxsize=4096)
def base_of(word: str) -> str | None:
    """
    The base of an inflected form of a verb that the lexicon has, or None.

    >>> [base_of(word) for word in ("uses", "studying", "went", "stopped", "table", "moving")]
    ['use', 'study', 'go', 'stop', None, 'move']
    """
    lowered = word.lower()
    if lowered in ("is", "are", "am"):
        return "be"
    if lowered in ("has", "does", "goes"):
        return {"has": "have", "does": "do", "goes": "go"}[lowered]
    known = PAST.get(lowered) or PARTICIPLES.get(lowered)
    if known or lowered in BASES:
        return known or lowered
    return next((guess for guess in _guesses(lowered) if guess in BASES), None)


def _guesses(word: str) -> list[str]:
    for ending in ("ies", "ied"):
        if word.endswith(ending):
            return [f"{word[:-3]}y", word[:-1]]
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: -len(ending)]
            doubled = [stem[:-1]] if len(stem) > 2 and stem[-1] == stem[-2] else []
            more = [word[:-1]] if ending in ("ed", "es") else []
            return [stem, f"{stem}e", *doubled, *more]
    return []
