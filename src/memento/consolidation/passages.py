"""
Cut a note into passages, word for word, and find its sentences.

A note of up to `WHOLE` words is one passage. A longer one is cut where its topic changes, never between a sentence and what it
leans on: a pronoun, "there", "so", an answer, an item of a list under its heading. Code and tables stay whole.

*Guarantees:* every passage is a span of the note. Together they hold every word of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memento.text.claims import words as listed
from memento.text.parse import parse

if TYPE_CHECKING:
    from spacy.tokens import Span

WHOLE = 60
"""The most words of a note that is one passage."""

LEAST, MOST = 20, 90
"""A passage of a longer note has at least and at most so many words, unless its sentences lean on each other."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|\|)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage: its span in the note, and the spans of its sentences in the passage."""

    text: str
    start: int
    end: int
    sentences: tuple[tuple[int, int], ...]


def cut_note(text: str) -> list[Passage]:
    """
    Cut a note into passages, in order; none if it has no words.

    >>> [one.text for one in cut_note("I moved to Oslo. It rains there.")]
    ['I moved to Oslo. It rains there.']
    """
    stripped = text.strip()
    if not stripped:
        return []
    begin = text.index(stripped[0])
    spans = [(begin, begin + len(stripped))]
    if len(stripped.split()) > WHOLE:
        spans = [span for block in _blocks(text) for span in _cut_block(text, *block)]
        spans = _join_short(text, spans)
    return [
        Passage(text=text[start:end], start=start, end=end, sentences=find_sentences(text[start:end]))
        for start, end in spans
        if text[start:end].strip()
    ]


def find_sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Find the spans of the sentences of a passage; a line break ends one too."""
    found: list[tuple[int, int]] = []
    for sentence in parse(text).sents:
        start = sentence.start_char
        for line in sentence.text.splitlines(keepends=True):
            if line.strip():
                left = start + len(line) - len(line.lstrip())
                found.append((left, start + len(line.rstrip())))
            start += len(line)
    return tuple(found)


def _blocks(text: str) -> list[tuple[int, int]]:
    """Split a text at blank lines outside of code fences; a heading and a colon belong to what follows."""
    edges, start = [], 0
    fences = [match.start() for match in _FENCE.finditer(text)]
    for gap in _PARAGRAPH.finditer(text):
        if sum(fence < gap.start() for fence in fences) % 2:
            continue
        before = text[start : gap.start()].strip()
        if before.endswith(":") or (before and len(before.split()) <= 8 and before[-1] not in ".!?"):
            continue
        edges.append((start, gap.start()))
        start = gap.end()
    edges.append((start, len(text)))
    return [_trim(text, *edge) for edge in edges if text[edge[0] : edge[1]].strip()]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _cut_block(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut one paragraph where the next sentence neither leans on the one before nor shares a noun with the passage so far."""
    block = text[start:end]
    if len(block.split()) <= WHOLE or _FENCE.match(block) or _is_list(block):
        return [(start, end)]
    sentences = list(parse(block).sents)
    spans: list[tuple[int, int]] = []
    first, nouns = 0, _nouns(sentences[0])
    for at in range(1, len(sentences)):
        words = sum(len(one.text.split()) for one in sentences[first:at])
        upcoming = sentences[at]
        shared = nouns & _nouns(upcoming)
        if _leans(upcoming) and words < 2 * MOST:
            nouns |= _nouns(upcoming)
            continue
        if words >= MOST or (words >= LEAST and not shared):
            spans.append((start + sentences[first].start_char, start + sentences[at].start_char))
            first, nouns = at, set()
        nouns |= _nouns(upcoming)
    spans.append((start + sentences[first].start_char, end))
    return [_trim(text, *span) for span in spans]


def _join_short(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join a passage of a few words to the next one, or to the one before if it leans on it or is the last."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        words = len(text[start:end].split())
        before = joined[-1] if joined else None
        if before is not None:
            short = len(text[before[0] : before[1]].split())
            opening = (text[start:end].split() or [""])[0].strip(".,;:!?").lower()
            if (min(words, short) < LEAST // 2 and words + short <= MOST) or (
                opening in listed("leaning") and words + short <= MOST
            ):
                joined[-1] = (before[0], end)
                continue
        joined.append((start, end))
    return joined


def _is_list(block: str) -> bool:
    lines = [line for line in block.splitlines() if line.strip()]
    return len(lines) > 2 and sum(bool(_ITEM.match(line)) for line in lines) >= len(lines) - 2


def _nouns(sentence: Span) -> set[str]:
    return {token.lemma_.lower() for token in sentence if token.pos_ in ("NOUN", "PROPN")}


def _leans(sentence: Span) -> bool:
    """Tell whether a sentence cannot be understood without the one before."""
    words = [token for token in sentence if not token.is_punct and not token.is_space]
    if not words or words[0].lower_ in listed("leaning"):
        return True
    if not any(token.pos_ in ("VERB", "AUX") for token in words) and len(words) <= 6:
        return True
    subject = next((token for token in sentence if token.dep_ in ("nsubj", "nsubjpass")), None)
    return subject is not None and subject.lower_ in listed("leaning")
