"""Whether a draft says what is known already, and of the same time; a second visit to Rome is not the first."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memento.consolidation.agents import Draft, Existing
from memento.consolidation.rules.relations import relations, same_value
from memento.consolidation.rules.reversals import stage
from memento.model import Note
from memento.text.mood import reading
from memento.text.sentences import is_readable
from memento.text.tokens import normal, stems

_DAY = timedelta(days=1)
_LASTING = re.compile(
    r"\b(?:born|grew up|graduated|founded|named|used to|was|were|had|worked|lived|studied|owned|raised|is|are"
    r"|has|have)\b"
)


def says_the_same(draft: Draft, old: Existing, note: Note) -> bool:
    """Whether the draft adds nothing to an existing memory: to one of the same time, or to one that holds at that time."""
    memory = old.memory
    began = draft.valid_at or note.at
    if memory.expired_at is not None:
        return False
    if began == memory.valid_at and _spelled(draft.content) == _spelled(memory.content):
        return True
    if memory.invalid_at is not None and memory.invalid_at <= began:
        return False
    if not _same_day(draft.event_at, memory.event_at):
        return False
    if memory.is_verbatim or not (is_readable(draft.content) and is_readable(memory.content)):
        return _spelled(draft.content) == _spelled(memory.content) and began >= memory.valid_at - _DAY
    if normal(draft.content) == normal(memory.content):
        return _same_time(draft, began, memory.valid_at)
    return _same_slot(draft, old) and _nothing_new(draft, memory.content) and began >= memory.valid_at - _DAY


def _spelled(content: str) -> str:
    return " ".join(content.casefold().split())


def _same_time(draft: Draft, began: datetime, known: datetime) -> bool:
    """A state that still holds is one state; an event is another one on another day."""
    if draft.valid_at is None and (reading(draft.content).tense != "past" or _LASTING.search(draft.content)):
        return began >= known - _DAY
    return abs(began - known) < _DAY


def _same_slot(draft: Draft, old: Existing) -> bool:
    return (
        draft.slot is not None
        and draft.slot == old.memory.slot
        and (draft.subject or "").casefold() == (old.subject or "").casefold()
        and (draft.slot != "partner" or stage(draft.content) == stage(old.memory.content))
        and same_value(draft.slot_value or "", old.memory.slot_value or "")
    )


def _nothing_new(draft: Draft, content: str) -> bool:
    """Whether the words of the draft that are not in the memory only express the relation that both have."""
    extra = stems(draft.content) - stems(content) - stems(f"{draft.slot} {draft.slot_value}")
    return not extra or all(
        relations(word) & relations(draft.content, draft.slot) for word in _words_of(draft.content, extra)
    )


def _words_of(content: str, wanted: frozenset[str]) -> list[str]:
    return [word for word in normal(content).split() if stems(word) & wanted]


def _same_day(one: datetime | None, other: datetime | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) < _DAY and one.date() == other.date()
