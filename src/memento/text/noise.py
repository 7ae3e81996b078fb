"""Tell why a text makes no memory: greetings, thanks, questions, commands to the assistant, one-word noise."""

from __future__ import annotations

import re
from functools import cache

from memento.text.sentences import sentences
from memento.text.tables import LEXICON, Entry, Row, entries, word_lists

_TABLE = LEXICON / "noise.toml"
_WORD = re.compile(r"[\w'’]+")
_TELLS = re.compile(
    r"^(?:\w+[,\s]+){0,2}(?:did|do|have|can|could|would|will)\s+(?:i|you)\s+(?:(?:not|ever|already|even|n['’]t)\s+)?"
    r"(?:tell|told|mention(?:ed)?|say|said|know|knew|believe|hear|heard|imagine|see|seen|remember)\b",
    re.IGNORECASE,
)


@cache
def noise_rows() -> tuple[Entry[Row], ...]:
    """Return the rows for sentences that make no memory; the second part of an example is the reason."""
    return entries(_TABLE, Row, {}, table="noise_row", flags=re.IGNORECASE)


def explain_noise(text: str) -> str:
    """
    Return why a text makes no memory, or "": each of its sentences is noise; the first reason counts.

    >>> explain_noise("Thanks a lot! Bye."), explain_noise("ok"), explain_noise("Where do I live?"), explain_noise("Hi. I row.")
    ('it is thanks', 'it says nothing by itself', 'it is a question', '')
    """
    if len(text) > 1000:
        return ""
    reasons = [_explain_sentence(sentence) for sentence in sentences(text)]
    return reasons[0] if reasons and all(reasons) else "" if reasons else "it has no words"


def _explain_sentence(sentence: str) -> str:
    plain = sentence.strip()
    words = _WORD.findall(plain)
    if not words:
        return "it has no words"
    for entry in noise_rows():
        if entry.pattern.match(plain) and not _TELLS.match(plain):
            return entry.row.example[1]
    if len(words) <= 3 and all(word.lower() in word_lists(_TABLE)["noise"] for word in words):
        return "it says nothing by itself"
    return ""
