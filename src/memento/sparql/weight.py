"""
How heavy a query is by its shape: 0 answers at once, 1 most likely does, 2 may take as long as it likes.

*But:* a guess, which decides only who goes first where all workers are busy (`lanes`). One that is wrong costs a slice of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memento.sparql.guard import Reading
from memento.sparql.tokens import Token

LIGHT, LIKELY, UNKNOWN = 0, 1, 2

FEW_ROWS = 1_000
MOST_TOKENS = 80
MOST_PATTERNS = 8

_HEAVY_WORDS = frozenset(
    ("ORDER", "GROUP", "HAVING", "DISTINCT", "REDUCED", "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
) | {"REGEX", "REPLACE", "CONTAINS", "STRSTARTS", "STRENDS", "MINUS", "UNION", "EXISTS", "BIND", "LATERAL"}
_HEAVY_SIGNS = frozenset(("/", "|", "^", "+", "<<", "<<(", "!"))
_SEPARATORS = frozenset((".", ";", ","))


def weight(reading: Reading) -> int:
    """The weight of a query that the guard has read: 0, 1 or 2."""
    found = reading.tokens
    if reading.form == "update" or len(found) > MOST_TOKENS:
        return UNKNOWN
    words = [token.text.upper() for token in found if token.kind == "word"]
    if not _HEAVY_WORDS.isdisjoint(words) or words.count("SELECT") > 1:
        return UNKNOWN
    opening = next((place for place, token in enumerate(found) if token.text == "{"), None)
    if opening is None:
        return LIKELY if reading.form == "describe" else UNKNOWN
    inside = found[opening + 1 :]
    if any(token.text in _HEAVY_SIGNS or token.text == "*" for token in inside):
        return UNKNOWN
    is_short = reading.form == "ask" or _limit(found) <= FEW_ROWS
    patterns = _patterns(inside)
    if patterns == 0:
        return LIGHT
    variables = [token.text[1:] for token in inside if token.kind == "variable"]
    is_constant = inside[0].kind in ("iri", "name")
    if patterns == 1 and "FILTER" not in words and len(set(variables)) == len(variables) and (is_short or is_constant):
        return LIGHT
    return LIKELY if patterns <= MOST_PATTERNS and (is_short or is_constant) else UNKNOWN


def _patterns(inside: Sequence[Token]) -> int:
    """Triple patterns, counted by what separates them."""
    terms = sum(token.kind in ("iri", "name", "variable", "string", "number", "blank") for token in inside)
    separators = sum(token.text in _SEPARATORS and after.text != "}" for token, after in pairwise(inside))
    return separators + 1 if terms else 0


def _limit(found: Sequence[Token]) -> int:
    for token, after in pairwise(found):
        if token.kind == "word" and token.text.upper() == "LIMIT" and after.text.isdecimal() and len(after.text) < 8:
            return int(after.text)
    return FEW_ROWS + 1
