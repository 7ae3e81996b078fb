"""
Memories that say the same as one: the fullest of them, at the place of the best, with how many it stands for and all their notes.

Two say the same when their vectors are near, one has every telling word of the other, and neither a number, a name, a date nor a
"not" is in one alone. So nothing that was said is hidden.

*But:* paraphrases without a word in common stay two: a wrong merge hides a fact, a missed one costs a line.

*Because:* adaptive MMR, which thins out what is merely alike, cost 1 to 3 points of recall@10 on every set (docs/recall.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memento.assets import lexicon
from memento.model import NoteRef, Recalled
from memento.search.words import tokens
from memento.text.dates import is_date_word

ALIKE = 0.85
"""Cosine from which two memories may say the same."""

_LEAD = 5  # letters of a stem that are compared: "allergic" and "allergy"
_MARK = re.compile(r"\d+|\b[^\W\d_]+")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|except|hardly|cannot|used\s+to|longer|anymore)\b|n['’]t\b",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\[[^\[\]]{0,40}\]")


def find_twins(vectors: NDArray[np.float32]) -> int:
    """Return how many of some memories have one before them that may say the same, by (n, d) unit vectors."""
    if len(vectors) < 2:
        return 0
    alike = np.tril(vectors @ vectors.T, -1)
    return int((alike.max(axis=1) >= ALIKE).sum())


def merge(memories: Sequence[Recalled], vectors: NDArray[np.float32]) -> list[Recalled]:
    """Return the memories in their order, those that say the same as one."""
    groups: list[list[int]] = []
    marks = [_Marks.of(one.content) for one in memories]
    for place in range(len(memories)):
        group = next(
            (
                group
                for group in groups
                if all(float(vectors[place] @ vectors[other]) >= ALIKE for other in group)
                and any(marks[place].covers(marks[other]) or marks[other].covers(marks[place]) for other in group[:1])
            ),
            None,
        )
        if group is None:
            groups.append([place])
        elif marks[place].covers(marks[group[0]]) and not marks[group[0]].covers(marks[place]):
            group.insert(0, place)
        else:
            group.append(place)
    return [_join([memories[place] for place in group], min(group), memories) for group in groups]


def _join(group: Sequence[Recalled], place: int, memories: Sequence[Recalled]) -> Recalled:
    """Return the first of a group in the name of all, with the score of the best."""
    if len(group) == 1:
        return group[0]
    fullest, best = group[0], memories[place]
    ordered = sorted(group, key=lambda one: one.rank)
    notes: dict[str, NoteRef] = {one.note.iri: one.note for one in (fullest, *ordered) if one.note}
    return replace(
        fullest,
        score=best.score,
        source=best.source,
        relevance=best.relevance,
        count=len(group),
        notes=tuple(notes.values()),
        merged=tuple(one.iri for one in ordered if one is not fullest),
    )


@dataclass(frozen=True, slots=True)
class _Marks:
    """What must be the same in two texts that say the same, and the words of which one must have all."""

    words: frozenset[str]
    named: tuple[str, ...]  # numbers, and capitalised words that open no sentence, in their order
    days: frozenset[str]
    is_denied: bool

    @classmethod
    def of(cls, content: str) -> _Marks:
        text = _STAMP.sub(" ", content)
        named = [word for word in _MARK.findall(text)[1:] if word[0].isupper() or word.isdigit()]
        return cls(
            frozenset(term[:_LEAD] for term in tokens(text) if term not in _courtesy()),
            tuple(word.casefold() for word in named if word != "USER"),
            frozenset(word.casefold().rstrip("s") for word in _MARK.findall(text) if is_date_word(word.rstrip("s"))),
            _NOT.search(text) is not None,
        )

    def covers(self, other: _Marks) -> bool:
        return (
            other.words <= self.words
            and self.named == other.named
            and self.days == other.days
            and self.is_denied == other.is_denied
        )


@lru_cache(maxsize=1)
def _courtesy() -> frozenset[str]:
    return frozenset(term for line in lexicon("courtesy") for term in tokens(line))
