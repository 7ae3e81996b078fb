"""A memory as its links need it: its words, its own names, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from zlib import crc32

from memento.search.links.names import is_telling, label_of, read
from memento.search.subjects import UNSURE, aliases

UNIT = 10_000
"""What a weight of 1 is kept as: whole numbers, so that sums do not depend on their order."""
_SLOTS = 1 << 16
"""Lists that the first words of names are spread over: short enough at a million memories, few enough at ten."""


@dataclass(frozen=True, slots=True)
class Text:
    """A memory as `Links.fill` takes it; `extra` are the names of the entities that the graph says it is about."""

    node: int
    content: str
    title: str | None
    extra: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """What is kept of a memory: its words as one text between spaces, and the names that are always its own."""

    node: int
    text: bytes
    starts: Sequence[int]
    own: frozenset[str]  # its spans and subjects
    subjects: Mapping[str, int]  # label → weight
    slots: frozenset[int]

    @classmethod
    def of(cls, text: Text) -> Self:
        subjects = _subjects(text.content, text.title, text.extra)
        found = read(f"{text.title}. {text.content}" if text.title else text.content)
        return cls(
            node=text.node,
            text=f" {' '.join(found.words)} ".encode("utf-8", errors="surrogatepass"),
            starts=found.starts,
            own=found.spans | {label for label, _ in subjects},
            subjects={label: max(round(weight * UNIT), 1) for label, weight in subjects},
            slots=slots_of(found.words, found.starts),
        )


def _subjects(content: str, title: str | None, extra: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """A memory's labels as its subjects, each once with its largest weight."""
    best: dict[str, float] = {}
    for name, weight in (*aliases(content, title), *((name, UNSURE) for name in extra)):
        label = label_of(name)
        if is_telling(label):
            best[label] = max(best.get(label, 0.0), weight)
    return tuple(best.items())


def slots_of(words: Sequence[str], starts: Sequence[int]) -> frozenset[int]:
    """Where a memory is listed: under each word that may begin a name, alone and with the next."""
    return frozenset(slot(words[start : start + n]) for start in starts for n in (1, 2))


def slot(words: Sequence[str]) -> int:
    """The list for names that begin with these words, by the first two of them."""
    return crc32(" ".join(words[:2]).encode("utf-8", errors="surrogatepass")) & (_SLOTS - 1)
