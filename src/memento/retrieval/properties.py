"""
Tell which property that is often asked for, such as a phone number or a birthday, a question asks for, and which texts tell it.

The question is read by its noun phrases ("Ada's shoe size") and clauses (Ada, weigh, ?). What the properties are, and by which
words a text tells them, is in `text/lexicon/properties.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from memento.search.postings import split_words, stem_words
from memento.text.asking import list_phrases, read_form
from memento.text.claims import Reading
from memento.text.tables import LEXICON, load, section


class Property(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A property that is often asked for; the fields are those of the table.

    `opens`: a memory about the user that tells it answers a question of the user about it, whatever else the memory is about.
    """

    asked: str = ""
    does: str = ""
    whether: bool = False
    filled: str = ""
    form: str = ""
    opens: bool = False
    example: tuple[str, str]
    counter: str
    lacks: str

    def is_asked_by(self, text: str, reading: Reading) -> bool:
        """Tell whether a noun phrase or a clause of a question asks for it."""
        if self.whether and not read_form(text).is_whether:
            return False
        phrases = [_list_stems(phrase) for phrase in list_phrases(text)]
        clauses = [_list_stems(f"{one.owner} {one.relation} {one.value}") for one in reading.clauses]
        return _has_any(self.asked, "/", phrases) or _has_any(self.does, "/", clauses)

    def is_told_by(self, text: str) -> bool:
        """Tell whether a text tells it."""
        if _has_any(self.filled, " ", [_list_stems(text)]):
            return True
        return bool(self.form) and _forms()[self.form].search(text) is not None


def find_property(text: str, reading: Reading) -> Property | None:
    """
    Return the first property of the table that a question asks for.

    >>> from memento.text.claims import read_question
    >>> question = "What is Ada's shoe size?"
    >>> find_property(question, read_question(question)).is_told_by("Ada takes size 39.")
    True
    """
    return next((row for row in list_properties().values() if row.is_asked_by(text, reading)), None)


@cache
def list_properties() -> Mapping[str, Property]:
    """Return the properties of the table by name, in its order."""
    return section(LEXICON / "properties.toml", "property", dict[str, Property])


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    patterns: Mapping[str, str] = load(LEXICON / "properties.toml")["forms"]
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}


def _has_any(alternatives: str, separator: str, texts: Sequence[frozenset[str]]) -> bool:
    """Tell whether one of some texts has all words of one of some alternatives."""
    return any(words <= text for words in _split(alternatives, separator) for text in texts)


@lru_cache(maxsize=4096)
def _list_stems(text: str) -> frozenset[str]:
    return frozenset(stem_words(split_words(text)))


@cache
def _split(text: str, separator: str) -> tuple[frozenset[str], ...]:
    parts = text.replace("\n", " ").split(separator)
    return tuple(_list_stems(part.replace("_", " ")) for part in parts if part.strip())
