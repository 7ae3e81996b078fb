"""When two values of a slot are one: "Microsoft" and "Microsoft Corporation", "Berlin" and "berlin"."""

from __future__ import annotations

import re

from memento.text.kinds import COMPANY_SUFFIXES, is_part_of, lookup
from memento.text.tokens import occurs

_ARTICLE = re.compile(r"^(?:the|an?|my|user's)\s+", re.IGNORECASE)


def same_value(one: str, other: str) -> bool:
    """
    Whether two values mean the same.

    >>> same_value("Microsoft", "Microsoft Corporation"), same_value("VSCode", "VS Code"), same_value("Rome", "Oslo")
    (True, True, False)
    """
    return _plain(one) == _plain(other)


def compatible(one: str, other: str) -> bool:
    """
    Whether two values can both be true because one is the more exact.

    >>> compatible("Berlin", "Germany"), compatible("engineer", "senior engineer"), compatible("Berlin", "Paris")
    (True, False, False)
    """
    return same_value(one, other) or is_part_of(one, other) or is_part_of(other, one)


def names_the_same(phrase: str, value: str) -> bool:
    """
    Whether a phrase of the note names a value: equal, or one within the other.

    >>> names_the_same("job at Acme", "Acme"), names_the_same("Java", "JavaScript")
    (True, False)
    """
    return same_value(phrase, value) or occurs(value, phrase) or occurs(phrase, value)


def without_suffix(name: str) -> str:
    """
    A company's name without "Inc", "GmbH" and the like.

    >>> without_suffix("Acme Labs Inc."), without_suffix("Labs")
    ('Acme', 'Labs')
    """
    words = name.split()
    while len(words) > 1 and words[-1].lower().rstrip(".") in COMPANY_SUFFIXES:
        words.pop()
    return " ".join(words)


def _plain(value: str) -> str:
    text = _ARTICLE.sub("", value.strip()).strip(" .,!")
    known = lookup(text)
    return (known.name if known else without_suffix(text)).casefold()
