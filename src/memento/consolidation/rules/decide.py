"""
What becomes of each draft: added, skipped because it is known, or added while it retires what it replaces.

A belief is retired only by a fact about the same subject and slot, or about the same subject, object and relation, that is not
older than itself. Whatever is in doubt is added beside what is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memento.consolidation.agents import Add, Decision, Draft, Existing, Invalidate, Skip, Target
from memento.consolidation.rules.duplicates import says_the_same
from memento.consolidation.rules.moods import reading
from memento.consolidation.rules.succession import ended_by, succeeded_by
from memento.model import Note
from memento.vocabulary import IRI

RECENT = timedelta(days=31)
"""How long after a change the user may tell of it and still mean the present: "I moved last month"."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """When a draft was said and when it began to hold."""

    said: datetime
    began: datetime


def resolve_memories(drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
    """
    One decision for each draft, in their order.

    A successor in the same slot comes before a mere ending, so that "I left Google and joined Microsoft" names Microsoft as what
    replaced Google; nothing is retired twice by one note.
    """
    skips = [_skip(draft, drafts[:at], existing, note) for at, draft in enumerate(drafts)]
    retired: set[IRI] = set()
    targets: list[list[Target]] = [[] for _ in drafts]
    for find in (succeeded_by, ended_by):
        for at, draft in enumerate(drafts):
            if skips[at] is not None:
                continue
            for old in existing:
                if old.memory.iri in retired or not _may_retire(draft, old, note):
                    continue
                if target := find(draft, old, existing, note):
                    targets[at].append(target)
                    retired.add(old.memory.iri)
    return [
        skip or _decision(draft, tuple(found), existing)
        for draft, skip, found in zip(drafts, skips, targets, strict=True)
    ]


def _decision(draft: Draft, targets: tuple[Target, ...], existing: Sequence[Existing]) -> Decision:
    if targets:
        return Invalidate(draft=draft, targets=targets)
    later = next(
        (old for old in existing if draft.slot and old.memory.slot == draft.slot and _same(old.subject, draft.subject)),
        None,
    )
    return Add(draft=draft, reason=f"beside “{later.memory.content}”, which it does not replace" if later else "")


def _skip(draft: Draft, earlier: Sequence[Draft], existing: Sequence[Existing], note: Note) -> Skip | None:
    for old in existing:
        if says_the_same(draft, old, note):
            return Skip(draft=draft, duplicate=old.memory.iri, reason=f"known already: “{old.memory.content}”")
    if any(
        other.content.casefold() == draft.content.casefold() and other.valid_at == draft.valid_at for other in earlier
    ):
        return Skip(draft=draft, duplicate=None, reason="the note says it twice")
    return None


def _may_retire(draft: Draft, old: Existing, note: Note) -> bool:
    """
    Whether the draft is the later word on the matter.

    A note from before the old belief is history. A note from after it that tells of an older change ("I moved to Paris in
    2015") is history too, unless the change is recent or the draft states what is the case now ("has lived there since 2015").
    """
    memory = old.memory
    moment = _Moment(said=note.at, began=draft.valid_at or note.at)
    if memory.expired_at is not None or (memory.invalid_at is not None and memory.invalid_at <= moment.began):
        return False
    if moment.began >= memory.valid_at:
        return True
    if moment.said < memory.valid_at:
        return False
    return (
        draft.corrects
        or reading(draft.content).tense != "past"
        or reading(draft.content).perfect
        or moment.said - moment.began <= RECENT
    )


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.casefold() == other.casefold()
