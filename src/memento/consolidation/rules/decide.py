"""
Decide on each draft: add it, skip it because it is known, or add it and retire what it replaces.

A belief is retired only by a fact about the same subject and slot, or about the same subject, object and relation, that is not
older than itself. In doubt, a draft is added and retires nothing. If a note tells late about a time before a known successor, its
draft is added as ended when the successor began. A draft that is already known for the same time is skipped; a second visit to Rome
is not the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memento.consolidation.agents import Add, Decision, Draft, Existing, Invalidate, Rival, Skip, Successor, Target
from memento.consolidation.rules.relations import relations, same_value
from memento.consolidation.rules.reversals import stage
from memento.consolidation.rules.rivals import is_changed, rivalry
from memento.consolidation.rules.succession import ended_by, succeeded_by
from memento.consolidation.rules.wording import as_read
from memento.iris import IRI
from memento.model import Memory, Note
from memento.text.mood import reading
from memento.text.sentences import is_readable, sentences
from memento.text.words import normal, stems

MOST_RIVALS = 3
"""
The most rivals that are stored for one memory, the surest first.

*Because:* news replaces one earlier statement, or two or three that said the same. Each link costs four statements, and what many
memories have in common is a habit.
"""

RECENT = timedelta(days=31)
"""
How long after a change the user may tell of it and still mean the present: "I moved last month".

For an end it is three times as long: "I quit in March".
"""
_DAY = timedelta(days=1)
_LASTING = re.compile(
    r"\b(?:born|grew up|graduated|founded|named|used to|was|were|had|worked|lived|studied|owned|raised|is|are"
    r"|has|have)\b"
)


def resolve_memories(drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
    """
    Return one decision for each draft, in their order.

    A successor in the same slot is tried before a mere ending, so that "I left Google and joined Microsoft" names Microsoft as what
    replaced Google. One note retires no memory twice. Texts that are too long for rules, or that rules gave up before, are only
    checked for repetition.
    """
    said, known = drafts, existing
    drafts = [replace(draft, content=draft.reads or as_read(draft.content)) for draft in said]
    clauses = {old.memory.iri: _clauses(old) for old in existing}
    existing = [replace(old, memory=replace(old.memory, content=as_read(old.memory.content))) for old in existing]
    skips = [_skip(draft, drafts[:at], existing, note) for at, draft in enumerate(drafts)]
    existing = [old for old in existing if is_readable(old.memory.content) and not old.memory.is_verbatim]
    retired: set[IRI] = set()
    targets: list[list[Target]] = [[] for _ in drafts]
    for find in (succeeded_by, ended_by):
        for at, draft in enumerate(drafts):
            if skips[at] is not None or not is_readable(draft.content):
                continue
            for old in existing:
                if old.memory.iri in retired or not _may_retire(draft, old, note):
                    continue
                forms = (old,) if find is succeeded_by else clauses[old.memory.iri]
                if target := next(filter(None, (find(draft, form, existing, note) for form in forms)), None):
                    targets[at].append(target)
                    retired.add(old.memory.iri)
    decisions = [
        skip or _decision(draft, tuple(found), existing, note)
        for draft, skip, found in zip(drafts, skips, targets, strict=True)
    ]
    decisions = [replace(decision, draft=draft) for decision, draft in zip(decisions, said, strict=True)]
    if note.session is not None:  # in a conversation, every second turn is on the same topic
        return decisions
    decisions = [_with_changed(decision, at, known, retired, note) for at, decision in enumerate(decisions)]
    return [_with_rivals(decision, at, known) for at, decision in enumerate(decisions)]


def _with_changed(decision: Decision, at: int, known: Sequence[Existing], retired: set[IRI], note: Note) -> Decision:
    """Add the memories that the draft retires because it says the same with one difference that holds from now on."""
    if isinstance(decision, Skip) or decision.successor is not None:
        return decision
    draft = decision.draft
    found = [
        Target(
            memory=old.memory.iri,
            reason=f"{draft.content.rstrip('.!')}; until then: {old.memory.content.rstrip('.!')}",
            rule="same-but-one",
        )
        for old in known
        if old.memory.iri not in retired and is_changed(draft, old, at) and _may_retire(draft, old, note)
    ]
    retired |= {target.memory for target in found}
    if not found:
        return decision
    earlier = decision.targets if isinstance(decision, Invalidate) else ()
    return Invalidate(draft=draft, targets=(*earlier, *found), contradicts=decision.contradicts)


def _with_rivals(decision: Decision, at: int, known: Sequence[Existing]) -> Decision:
    """Add the memories that likely cannot be true together with the draft and are not retired by it."""
    if isinstance(decision, Skip):
        return decision
    retired = {target.memory for target in decision.targets} if isinstance(decision, Invalidate) else set()
    found: list[tuple[float, float, Rival]] = []
    for old in known:
        if old.memory.iri not in retired and len(old.likeness) > at:
            rival = rivalry(decision.draft, old, at)
            if rival is not None:
                found.append((rival.confidence, old.likeness[at], rival))
    surest = sorted(found, key=lambda one: one[:2], reverse=True)[:MOST_RIVALS]
    return replace(decision, rivals=tuple(rival for _, _, rival in surest))


def _clauses(old: Existing) -> tuple[Existing, ...]:
    """Split a memory into its sentences, each as patterns read it."""
    texts = dict.fromkeys(as_read(sentence) for sentence in sentences(old.memory.content))
    return tuple(replace(old, memory=replace(old.memory, content=text)) for text in texts)


def _decision(draft: Draft, targets: tuple[Target, ...], existing: Sequence[Existing], note: Note) -> Decision:
    rivals = [
        old for old in existing if draft.slot and old.memory.slot == draft.slot and _same(old.subject, draft.subject)
    ]
    later = _successor(draft, rivals, note)
    if targets:
        return Invalidate(draft=draft, targets=targets, successor=later)
    if later:
        return Add(draft=draft, reason=later.reason, successor=later)
    beside = next((old for old in rivals if old.memory.invalid_at is None), None)
    return Add(draft=draft, reason=f"beside “{beside.memory.content}”, which it does not replace" if beside else "")


def _successor(draft: Draft, rivals: Sequence[Existing], note: Note) -> Successor | None:
    """Find the earliest later memory that would have retired the draft if both had been told in order, and the reason."""
    known = Existing(
        memory=Memory(
            iri=IRI(""),
            content=draft.content,
            extracted_from=note.iri,
            valid_at=draft.valid_at or note.at,
            created_at=note.at,
            event_at=draft.event_at,
            slot=draft.slot,
            slot_value=draft.slot_value,
        ),
        about=draft.about,
        subject=draft.subject,
    )
    later = [old for old in rivals if old.memory.expired_at is None and _is_history(draft, old, note)]
    for old in sorted(later, key=lambda one: (one.memory.valid_at, one.memory.iri)):
        if target := succeeded_by(_as_draft(old), known, (known,), replace(note, at=old.memory.valid_at)):
            return Successor(memory=old.memory.iri, reason=target.reason)
    return None


def _as_draft(known: Existing) -> Draft:
    memory = known.memory
    return Draft(
        content=memory.content,
        about=known.about,
        valid_at=memory.valid_at,
        event_at=memory.event_at,
        subject=known.subject,
        slot=memory.slot,
        slot_value=memory.slot_value,
    )


def _skip(draft: Draft, earlier: Sequence[Draft], existing: Sequence[Existing], note: Note) -> Skip | None:
    if draft.noise:
        return Skip(draft=draft, duplicate=None, reason=draft.noise)
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
    Tell whether the draft is the later word on the matter.

    The end of a memory that has already ended may only move earlier, to where the draft begins.
    """
    memory = old.memory
    began = draft.valid_at or note.at
    if memory.expired_at is not None:
        return False
    if memory.invalid_at is not None:
        return memory.valid_at <= began < memory.invalid_at
    return not _is_history(draft, old, note)


def _is_history(draft: Draft, old: Existing, note: Note) -> bool:
    """
    Tell whether the draft is about a time before a memory.

    A note from before the old memory is history. A later note about an older change ("I moved to Paris in 2015") is history too,
    unless the change is recent or the draft states what holds now ("has lived there since 2015").
    """
    memory, began = old.memory, draft.valid_at or note.at
    if began >= memory.valid_at:
        return False
    if note.at < memory.valid_at:
        return True
    how = reading(draft.content)
    return not (
        draft.corrects
        or how.tense != "past"
        or how.perfect
        or note.at - began <= (3 * RECENT if draft.ends else RECENT)
    )


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.casefold() == other.casefold()


def says_the_same(draft: Draft, old: Existing, note: Note) -> bool:
    """Tell whether the draft adds nothing to a known memory of the same time, or one that holds at that time."""
    memory = old.memory
    began = draft.valid_at or note.at
    if memory.expired_at is not None:
        return False
    if began == memory.valid_at and _fold_spelling(draft.content) == _fold_spelling(memory.content):
        return True
    if memory.invalid_at is not None and memory.invalid_at <= began:
        return False
    if not _same_day(draft.event_at, memory.event_at):
        return False
    if memory.is_verbatim or not (is_readable(draft.content) and is_readable(memory.content)):
        return _fold_spelling(draft.content) == _fold_spelling(memory.content) and began >= memory.valid_at - _DAY
    if normal(draft.content) == normal(memory.content):
        return _same_time(draft, began, memory.valid_at)
    return _same_slot(draft, old) and _nothing_new(draft, memory.content) and began >= memory.valid_at - _DAY


def _fold_spelling(content: str) -> str:
    return " ".join(content.casefold().split())


def _same_time(draft: Draft, began: datetime, known: datetime) -> bool:
    """
    Tell whether two times are of one statement: a state that still holds is one state, an event on another day is another event.
    """
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
    """Tell whether the words of the draft that the memory lacks only express the relation that both state."""
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
