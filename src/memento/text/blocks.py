"""
A text cut into what is read in one way: prose, and what is kept whole, as code, lists, tables and minutes are.

*But:* a list whose items are sentences of their own ("- I live in Rome") is prose with a bullet before each sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memento.assets import lexicon
from memento.text.words import base_of, is_past

Kind = Literal["prose", "code", "list", "table", "minutes"]

LARGEST = 1500
"""Characters of a block that is kept whole; a longer one is cut between its lines."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a text and how it is read."""

    text: str
    kind: Kind


_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*•–+]|\d{1,2}[.)]|\[[ xX]\])\s+\S")
_ROW = re.compile(r"^[^|\n]*\|[^|\n]*\||^[^\t\n]*\t[^\t\n]*\t")
_COMMAND = re.compile(r"^\s*(?:`[^`]+`\.?|\$ \S.*|>>> .*|(?:ERROR|WARN|INFO|DEBUG)\b.*)$")
_MINUTES = re.compile(
    r"^\W*(?:\w+\s+){0,2}(?:minutes|meeting\s+notes|protocol|protokoll|retro(?:spective)?\s+notes|agenda)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"^\W*(?:present|attendees|attending|participants|in\s+the\s+room)\s*:", re.IGNORECASE | re.MULTILINE
)
_SUBJECT = re.compile(
    r"^\s*(?:[-*•–+]|\d{1,2}[.)]|\[[ xX]\])\s+"
    r"(?:(?:I|I['’]\w+|we|we['’]\w+|my|our|he|she|they|it|the|there)\s+\w|[A-Z][\w'’-]*\s+\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def blocks(text: str) -> list[Block]:
    """
    The blocks of a text in order; a line that announces a block ("The steps:") belongs to it.

    >>> [block.kind for block in blocks("I like tea.\\nTo buy:\\n- milk\\n- flour")]
    ['prose', 'list']
    """
    if "\n" not in text.strip():
        return [Block(text.strip(), "prose")] if text.strip() else []
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if "```" not in text and (_PRESENT.search(text) or (_MINUTES.match(first) and len(lines) > 2)):
        return [Block(part, "minutes") for part in _cut(text.strip())]
    found: list[Block] = []
    for kind, part in _grouped(lines):
        body = "\n".join(part).strip("\n")
        if not body.strip():
            continue
        if kind != "prose" and found and found[-1].kind == "prose" and (split := _announced(found[-1].text)):
            before, announcement = split
            found[-1:] = [Block(before, "prose")] if before.strip() else []
            body = f"{announcement}\n{body}"
        found += [Block(one, kind) for one in (_cut(body) if kind != "prose" else [body])]
    return found


def language(text: str) -> str:
    """
    The language of a text as a code: "en" also where too little is said to tell; "xx" for a script that is not Latin.

    >>> language("Ich wohne jetzt in Köln und arbeite nicht mehr."), language("We moved to Köln."), language("ok")
    ('de', 'en', 'en')
    """
    letters = [letter for letter in text if letter.isalpha()]
    if letters and sum(ord(letter) > 0x24F for letter in letters) > len(letters) / 2:
        return "xx"
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < 3:
        return "en"
    scores = {code: sum(word in known for word in words) for code, known in _languages().items()}
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    english = sum(word in _languages()["en"] or _is_english_verb(word) for word in words)
    if best == "en" or scores[best] < 2 or scores[best] <= english:
        return "en"
    return best if scores[best] / len(words) >= 0.2 else "en"


def _is_english_verb(word: str) -> bool:
    return len(word) > 3 and (base_of(word) is not None or is_past(word))


def _grouped(lines: list[str]) -> Iterator[tuple[Kind, list[str]]]:
    """Runs of lines that are read in one way."""
    at = 0
    while at < len(lines):
        start, kind = at, _kind_at(lines, at)
        if kind == "code" and _FENCE.match(lines[at]):
            at += 1
            while at < len(lines) and not _FENCE.match(lines[at]):
                at += 1
            at = min(at + 1, len(lines))
        else:
            at += 1
            while at < len(lines) and (_kind_at(lines, at) == kind or (kind != "prose" and _continues(lines, at))):
                if _FENCE.match(lines[at]):
                    break
                at += 1
        run = lines[start:at]
        if kind == "list" and _is_of_sentences(run):
            kind = "prose"
        yield kind, run


def _kind_at(lines: list[str], at: int) -> Kind:
    line = lines[at]
    if _FENCE.match(line) or _COMMAND.match(line):
        return "code"
    beside = [lines[other] for other in (at - 1, at + 1) if 0 <= other < len(lines)]
    if _ITEM.match(line) and any(_ITEM.match(other) for other in beside):
        return "list"
    if _ROW.match(line) and any(_ROW.match(other) for other in beside):
        return "table"
    return "prose"


def _continues(lines: list[str], at: int) -> bool:
    """Whether a line is the indented rest of an item, or blank between two."""
    return bool(lines[at].strip()) and lines[at].startswith(("  ", "\t"))


def _is_of_sentences(run: list[str]) -> bool:
    items = [line for line in run if _ITEM.match(line)]
    whole = [line for line in items if _SUBJECT.match(line) and _has_finite_verb(line)]
    return len(whole) * 2 > len(items)


def _has_finite_verb(line: str) -> bool:
    words = _WORD.findall(line)
    return any(
        is_past(word) or word.lower() in ("is", "are", "am", "was", "were", "has", "have") or "'" in word or "’" in word
        for word in words[:6]
    ) or bool(len(words) > 1 and base_of(words[1].lower()))


def _announced(text: str) -> tuple[str, str] | None:
    """(what comes before, the line that announces what follows) where a text ends with such a line."""
    before, _, last = text.rstrip().rpartition("\n")
    if len(last) <= 200 and (last.rstrip().endswith(":") or not last.rstrip().endswith((".", "!", "?"))):
        return before, last
    sentence = re.search(r"(?<=[.!?])\s+([^.!?]*:)\s*$", last)
    return (f"{before}\n{last[: sentence.start()]}", sentence[1]) if sentence else None


def _cut(text: str) -> list[str]:
    """The text whole, or in parts of at most `LARGEST` characters that end where lines end."""
    if len(text) <= LARGEST:
        return [text]
    parts: list[str] = []
    for line in text.splitlines():
        if parts and len(parts[-1]) + len(line) < LARGEST:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
    return [part for part in parts if part.strip()]


@cache
def _languages() -> dict[str, frozenset[str]]:
    return {line.split()[0]: frozenset(line.split()[1:]) for line in lexicon("languages")}
