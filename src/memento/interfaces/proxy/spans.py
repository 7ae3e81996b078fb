"""
Where values stand in the text of a JSON document, so that text can be put in without writing the rest anew.

*Guarantees:* taking out what `spliced` put in gives the document back, byte for byte. A document that two readers could
understand differently, as one with a key twice, is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

_scan = json.JSONDecoder().raw_decode
_blank = re.compile(r"[ \t\n\r]*").match


class Unreadable(Exception):
    """No JSON, or JSON that means nothing certain; it is left as it is."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value and its place in the text: `text[start:end]` is how it is written."""

    start: int
    end: int
    value: object


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Text to put in before the character at a position."""

    at: int
    text: str


def document(body: bytes) -> tuple[str, Span]:
    """The text of a UTF-8 body, a byte order mark included, and its one value; raises `Unreadable`."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("not UTF-8") from error
    span = _value(text, _after_blank(text, 1 if text.startswith("\ufeff") else 0))
    if _after_blank(text, span.end) != len(text):
        raise Unreadable("more than one value")
    return text, span


def members(text: str, span: Span) -> dict[str, Span]:
    """
    The values of an object by key; raises `Unreadable` when a key comes twice.

    >>> text, whole = document(b'{"a": [1, 2]}')
    >>> members(text, whole)["a"]
    Span(start=6, end=12, value=[1, 2])
    """
    found: dict[str, Span] = {}
    at = _after_blank(text, span.start + 1)
    while text[at] != "}":
        key = _value(text, at)
        one = _value(text, _after_blank(text, _after_blank(text, key.end) + 1))  # behind the colon
        if str(key.value) in found:
            raise Unreadable("a key comes twice")
        found[str(key.value)] = one
        at = _next(text, one.end)
    return found


def items(text: str, span: Span) -> list[Span]:
    """
    The values of an array, in their order.

    >>> text, whole = document(b'[1, "b"]')
    >>> [one.start for one in items(text, whole)]
    [1, 4]
    """
    found: list[Span] = []
    at = _after_blank(text, span.start + 1)
    while text[at] != "]":
        found.append(_value(text, at))
        at = _next(text, found[-1].end)
    return found


def spliced(text: str, splices: Iterable[Splice]) -> bytes:
    """
    The document with something put in at some places.

    >>> spliced('["b"]', [Splice(2, "a ")])
    b'["a b"]'
    """
    pieces, before = [], 0
    for splice in sorted(splices):
        pieces += [text[before : splice.at], splice.text]
        before = splice.at
    return "".join([*pieces, text[before:]]).encode("utf-8")


def _value(text: str, at: int) -> Span:
    try:
        value, end = _scan(text, at)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not JSON") from error
    return Span(at, end, value)


def _next(text: str, at: int) -> int:
    """Where the next member begins, or the bracket that closes."""
    at = _after_blank(text, at)
    return _after_blank(text, at + 1) if text[at] == "," else at


def _after_blank(text: str, at: int) -> int:
    found = _blank(text, at)
    return found.end() if found else at
