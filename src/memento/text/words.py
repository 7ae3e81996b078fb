"""
Load the word lists of English and compare words: verbs with their past forms, the small closed classes, everyday words, and the
stems of a text, without case, punctuation and inflection.

*But:* the verbs are a few hundred everyday ones, not a dictionary; a missing verb is still inflected, but not recognised by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from Stemmer import Stemmer

from memento.assets import lexicon
from memento.text.tables import LEXICON, section, word_lists

WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*[+#]*")


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """
    Return a text without case, punctuation and extra space: equal memories have the same normal form.

    >>> normal("USER lives in  Berlin!") == normal("user lives in Berlin")
    True
    """
    return " ".join(WORD.findall(text.casefold()))


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """
    Return the stems of the words that carry meaning.

    >>> sorted(stems("USER is working at the Siemens offices"))
    ['offic', 'siemen', 'work']
    """
    words = [word for word in WORD.findall(text.casefold()) if word not in FUNCTION_WORDS and word != "user"]
    return frozenset(_stemmer().stemWords(words))


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english")


WORDS = word_lists(LEXICON / "words.toml")
"""The lists of words, by their names in the file."""
_VERBS = word_lists(LEXICON / "verbs.toml")
_FORMS = {base: tuple(forms.split(",")) for base, _, forms in (entry.partition(":") for entry in _VERBS["irregular"])}
REGULAR = _VERBS["regular"]

BASES = REGULAR | frozenset(_FORMS)
"""Verbs in the form that follows "to"."""

PAST = {past: base for base, (past, _) in sorted(_FORMS.items())} | {"were": "be"}
PARTICIPLES = {participle: base for base, (_, participle) in sorted(_FORMS.items())}
UNCHANGING = frozenset(base for base, (past, _) in _FORMS.items() if base == past)
"""Verbs whose present and past look alike: "I quit"."""

MODALS = WORDS["modals"]
ADVERBS = WORDS["adverbs"]
PREPOSITIONS = WORDS["prepositions"]
DETERMINERS = WORDS["determiners"]
CONJUNCTIONS = WORDS["conjunctions"]
PRONOUNS = WORDS["pronouns"]
_BE = frozenset({"am", "is", "are", "was", "were", "be", "been"})
FUNCTION_WORDS = PREPOSITIONS | DETERMINERS | CONJUNCTIONS | PRONOUNS | ADVERBS | MODALS | _BE


def _number_words(names: Iterable[str], first: int) -> dict[str, int]:
    return {name: number for number, spellings in enumerate(names, start=first) for name in spellings.split()}


_IN_ORDER = section(LEXICON / "words.toml", "in_order", dict[str, list[str]])
_AUXILIARIES = section(LEXICON / "words.toml", "auxiliaries", dict[str, str])
NUMBER_WORDS: Mapping[str, int] = _number_words(_IN_ORDER["numbers"], 0) | section(
    LEXICON / "words.toml", "more_numbers", dict[str, int]
)
MONTHS: Mapping[str, int] = _number_words(_IN_ORDER["months"], 1)
WEEKDAYS: Mapping[str, int] = _number_words(_IN_ORDER["weekdays"], 0)

RELATIVES = WORDS["relatives"]
ONE_OF_A_KIND = WORDS["one_of_a_kind"]
JOBS = WORDS["jobs"]
PEOPLES = WORDS["peoples"]
BIOGRAPHICAL = section(LEXICON / "words.toml", "biographical", dict[str, tuple[str, ...]])["relations"]
"""Properties with one value at a time that say who somebody is."""
LANGUAGES = PEOPLES - WORDS["no_languages"]
COMMON = WORDS["common"]
STOP_WORDS = WORDS["stop"]
NEVER = (
    FUNCTION_WORDS
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | WORDS["titles"]
    | WORDS["roles"]
    | RELATIVES
    | WORDS["abbreviated"]
    | WORDS["greetings"]
    | {"has", "have", "had", "do", "does", "did"}
)
"""Words that are never a name."""
FIRST_NAMES = frozenset(name for line in lexicon("first_names") for name in line.split())


def name_pattern(label: str) -> str:
    """
    Return a pattern for a name by its label, whatever joins its words.

    >>> re.sub(name_pattern("ana costa"), "someone", "Ana-Costa sings", flags=re.IGNORECASE)
    'someone sings'
    """
    return r"[\W_]+".join(map(re.escape, label.split()))


def is_past(word: str) -> bool:
    """
    Tell whether a word looks like a past form; past participles that differ ("gone") count too.

    >>> [is_past(word) for word in ("worked", "went", "gone", "need", "work")]
    [True, True, True, False, False]
    """
    lowered = word.lower()
    if lowered in UNCHANGING or lowered in BASES:
        return False
    return lowered in PAST or lowered in PARTICIPLES or (lowered.endswith("ed") and lowered not in _VERBS["looks_past"])


@lru_cache(maxsize=4096)
def base_of(word: str) -> str | None:
    """
    Return the base of an inflected form of a verb in the lexicon, or None.

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
