"""
Constants in a SPARQL text: literals and names as values, and the variables that a group binds to nothing else.

A constant is a string, a number, true or false, or an IRI, written out, or a variable that `BIND` or `VALUES` of the same group
binds to such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memento.iris import XSD
from memento.sparql.groups import Groups
from memento.sparql.guard import Reading
from memento.sparql.tokens import Token

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


@dataclass(frozen=True, slots=True)
class Constant:
    """
    A literal's text and the IRI of its datatype, or an IRI, which has none.

    `written` is how it stands in the text, `token` the first one of it.
    """

    value: str
    datatype: str | None
    written: str
    token: Token

    @property
    def suffix(self) -> str:
        """What stands behind the text of a string: its language or its datatype."""
        return self.written[len(self.token.text) :].strip()

    @property
    def is_iri(self) -> bool:
        return self.datatype is None

    @property
    def is_text(self) -> bool:
        """Whether it is a string, with or without a language."""
        return self.datatype == XSD.string


def constant(reading: Reading, place: int) -> tuple[Constant, int] | None:
    """The constant that begins with a token, and the place of the token after it; None where there is none."""
    found = reading.tokens
    if place >= len(found):
        return None
    token = found[place]
    sign = ""
    if token.text in ("+", "-") and place + 1 < len(found) and found[place + 1].kind == "number":
        sign, place = token.text, place + 1
    kind, text = found[place].kind, found[place].text
    last = place
    datatype: str | None = None
    if kind in ("iri", "name"):
        value = reading.named(found[place])
        if value is None:
            return None
    elif kind == "string":
        value, datatype, last = *_string(reading, place), place + _written_length(reading, place) - 1
    elif kind == "number":
        value = sign + text
        datatype = XSD.integer if text.isdecimal() else XSD.double if "e" in text.lower() else XSD.decimal
    elif kind == "word" and text.lower() in ("true", "false"):
        value, datatype = text.lower(), XSD.boolean
    else:
        return None
    return Constant(value, datatype, reading.sparql[token.start : found[last].end], token), last + 1


def unescaped(text: str) -> str:
    r"""
    What a string token stands for.

    >>> unescaped(r"'''it\'s \u00e9'''")
    "it's é"
    """
    width = 3 if text.startswith(('"""', "'''")) else 1
    return _ESCAPE.sub(_decoded, text[width:-width])


def bound(name: str, place: int, reading: Reading, groups: Groups) -> list[Constant] | None:
    """
    What the group of a token binds a variable to by BIND or VALUES, in order; None where it does not, or not to constants alone.

    Args:
        name: that of the variable, without its mark.
    """
    for around in groups.scope(place):
        if (found := _bound_in(name, around, reading)) is not None:
            return found
    return None


def _bound_in(name: str, places: Sequence[int], reading: Reading) -> list[Constant] | None:
    found = reading.tokens
    for at in places:
        word = found[at].text.upper() if found[at].kind == "word" else ""
        if word == "BIND" and (pair := constant(reading, at + 2)) is not None:
            one, after = pair
            named = [token.text for token in found[after : after + 2]]
            if len(named) == 2 and named[0].upper() == "AS" and named[1][1:] == name:
                return [one]
        elif word == "VALUES" and (rows := _column(name, at, reading)) is not None:
            return rows
    return None


def _column(name: str, at: int, reading: Reading) -> list[Constant] | None:
    """The constants of one column of the VALUES at a place; None when it has no such column or holds UNDEF there."""
    found = reading.tokens
    opening = next((place for place in range(at, len(found)) if found[place].text == "{"), len(found))
    columns = [token.text[1:] for token in found[at + 1 : opening] if token.kind == "variable"]
    if name not in columns:
        return None
    values: list[Constant | None] = []
    place = opening + 1
    while place < len(found) and found[place].text != "}":
        if found[place].text in ("(", ")"):
            place += 1
        elif pair := constant(reading, place):
            values.append(pair[0])
            place = pair[1]
        else:  # UNDEF
            values.append(None)
            place += 1
    column = values[columns.index(name) :: len(columns)]
    return None if None in column else [one for one in column if one is not None]


def _string(reading: Reading, place: int) -> tuple[str, str]:
    found = reading.tokens
    value = unescaped(found[place].text)
    if place + 2 < len(found) and found[place + 1].text == "^^":
        return value, reading.named(found[place + 2]) or ""
    return value, XSD.string


def _written_length(reading: Reading, place: int) -> int:
    """How many tokens a string takes with its language or datatype."""
    after = reading.tokens[place + 1] if place + 1 < len(reading.tokens) else None
    if after is not None and after.text == "^^":
        return 3
    return 2 if after is not None and after.kind == "tag" else 1


def _decoded(found: re.Match[str]) -> str:
    if digits := found.group(1) or found.group(2):
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return _ESCAPES[found.group(3)]
