"""
Weigh the words of a question, and tell which of them, and which of its names, memories have.

Words that only say what kind of answer is wanted (`text/lexicon/asking.txt`) count little, words of courtesy (`courtesy.txt`)
hardly at all, and everyday synonyms (`synonyms.txt`) count as the same word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import log1p

import numpy as np
from numpy.typing import NDArray

from memento.assets import lexicon
from memento.retrieval.question import list_names, list_short_forms
from memento.search.postings import Postings, tokens

_ASKING, _COURTESY = 0.4, 0.1
"""The weight of a question word and of a word of courtesy relative to a word that names something."""
_SPARE = 0.5
"""Weight added to every question's words, so that a single word decides nothing."""

_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def weigh_words(question: str, postings: Sequence[Postings]) -> dict[str, float]:
    """
    Return the stems of a question with their weights: their idf, less for question words and words of courtesy.

    >>> words = Postings()
    >>> words.add(1, "green tea"); words.add(2, "black tea")
    >>> {stem: round(weight, 2) for stem, weight in weigh_words("Which kind of green tea, please?", [words]).items()}
    {'kind': 0.72, 'green': 0.69, 'tea': 0.18, 'pleas': 0.18}
    """
    n = sum(words.population for words in postings)
    weights = {}
    for term in dict.fromkeys(tokens(question)):
        if not _SPACELESS.search(term):
            df = _frequency(term, postings)
            share = _COURTESY if term in stems_of("courtesy") else _ASKING if term in stems_of("asking") else 1.0
            weights[term] = share * log1p((n - df + 0.5) / (df + 0.5))  # a word that no memory has weighs most
    return weights


def find_topic(question: str) -> str:
    """
    Return a question without its names, or the whole question if little else is left: a common name alone makes texts similar.

    >>> find_topic("When is Angela's birthday?"), find_topic("Who is Bob?")
    ('When is birthday?', 'Who is Bob?')
    """
    names = list_names(question)
    if not names:
        return question
    forms = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    rest = " ".join(re.sub(rf"\b(?:{forms})\b(?:['’]s)?", " ", question).split())
    return rest if tokens(rest) else question


def measure_names(question: str, people: Collection[str], postings: Sequence[Postings]) -> float:
    """
    Return the share of the capitalised words after the first that occur in a scope; 1 when there are none. Dates are not names.

    >>> words = Postings()
    >>> words.add(1, "Anna likes tea.")
    >>> measure_names("Did Anna meet Bob in May?", [], [words]), measure_names("Who is Ben?", ["Ben Ray"], [words])
    (0.5, 1.0)
    >>> measure_names("who?", [], [])
    1.0
    """
    names = list_names(question)
    if not names:
        return 1.0
    forms = {part.casefold() for form in list_short_forms(people) for part in form.split()}
    heard = [
        name.casefold() in forms or any(words.frequency(term) for term in tokens(name) for words in postings)
        for name in names
    ]
    return sum(heard) / len(heard)


def measure_share(weights: Mapping[str, float], some: Collection[str]) -> float:
    """Return the share of some weighed words that a memory has, more than 0."""
    return (sum(weights[term] for term in weights if term in some) + _SPARE) / (sum(weights.values()) + _SPARE)


def list_held(terms: Collection[str], nodes: NDArray[np.int32], postings: Sequence[Postings]) -> list[set[str]]:
    """Return for each memory which of the terms it has in some form."""
    held: list[set[str]] = [set() for _ in nodes]
    for words in postings:
        forms = {term: {words.vocabulary.key(form) for form in _forms(term)} for term in terms}
        for some, node in zip(held, nodes.tolist(), strict=True):
            keys = set(words.keys(node))
            some |= {term for term, known in forms.items() if not known.isdisjoint(keys)}
    return held


def _frequency(term: str, postings: Sequence[Postings]) -> int:
    return sum(words.document_frequency(term) for words in postings)


def _forms(term: str) -> frozenset[str]:
    return _synonyms().get(term, frozenset((term,)))


@lru_cache(maxsize=1)
def _synonyms() -> Mapping[str, frozenset[str]]:
    """Return each stem of the table with its synonyms."""
    found: dict[str, frozenset[str]] = {}
    for line in lexicon("synonyms"):
        group = frozenset(tokens(line))
        for term in group:
            found[term] = found.get(term, frozenset()) | group
    return found


@lru_cache(maxsize=4)
def stems_of(name: str) -> frozenset[str]:
    """Return the stems of a list of words."""
    return frozenset(term for line in lexicon(name) for term in tokens(line))
