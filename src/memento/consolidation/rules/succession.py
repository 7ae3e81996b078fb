"""
Which existing memory a draft retires, why, and by which rule.

Two ways: the draft fills the same slot of the same subject with another value (`slot:employer`), or it says that something the
memory is about no longer holds (`ends:no-longer`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memento.consolidation.agents import Draft, Existing, Target
from memento.consolidation.rules.ends import is_outcome, rule_of
from memento.consolidation.rules.matches import NEVER, is_ended, shares_subject
from memento.consolidation.rules.relations import ONCE, compatible
from memento.consolidation.rules.reversals import (
    changes_status,
    has_come_true,
    is_given_up,
    is_put_otherwise,
    is_short,
    is_taken_up_again,
    is_turned_round,
    keeps_other_hours,
)
from memento.model import Note
from memento.text.mood import is_no_longer, reading
from memento.text.tokens import normal, occurs, stems

_SAYS_WHICH = re.compile(
    r"\b(?:as|main|only|primary|default|editor|browser|ide|os|system|everything|full[- ]time)\b", re.IGNORECASE
)
_RESCHEDULED = re.compile(
    r"\b(?:moved|postponed|rescheduled|delayed|pushed|changed|brought|slipped|shifted|now|instead|new date)\b",
    re.IGNORECASE,
)
_TOOLS = ("editor", "browser", "operating system")
_NOW_THE = {
    "employer": "now works at",
    "home": "now lives in",
    "editor": "now uses",
    "browser": "now uses",
    "manager": "now reports to",
}


def succeeded_by(draft: Draft, old: Existing, existing: Sequence[Existing], note: Note) -> Target | None:
    """The memory as a target, if the draft fills its slot with another value (or leaves the employer it is a job at)."""
    if draft.slot is None or not draft.sure or not _same(draft.subject, old.subject) or old.memory.slot is None:
        return None
    if draft.slot == "employer" and old.memory.slot == "job title":
        return _job_there(draft, old, existing)
    if changes_status(draft, old) and not reading(draft.content).additional:
        return _target(
            draft, old, f"{draft.content.rstrip('.!')}; until then: {old.memory.content.rstrip('.!')}", "slot:partner"
        )
    if not _one_slot(draft, old, existing) or not _differs(draft, old):
        return None
    if not draft.corrects and (_is_weak(draft) or _is_another_event(draft, old, note)):
        return None
    if is_no_longer(old.memory.content) and reading(old.memory.content).mood == "past":
        return None
    return _target(draft, old, _slot_reason(draft, old), f"slot:{draft.slot}")


def ended_by(draft: Draft, old: Existing, existing: Sequence[Existing], note: Note) -> Target | None:
    """The memory as a target, if the draft says that what it is about no longer holds, or corrects the same statement."""
    if draft.ends and shares_subject(draft, old) and any(is_ended(phrase, draft, old) for phrase in draft.ends):
        return _target(
            draft,
            old,
            f"{draft.content.rstrip('.!')}; until then: {old.memory.content.rstrip('.!')}",
            f"ends:{rule_of(draft)}",
        )
    if not (is_short(draft.content) and is_short(old.memory.content)):
        return _corrected(draft, old, existing)
    for rule, found in (
        ("again", is_taken_up_again(draft, old)),
        ("came-true", has_come_true(draft, old)),
        ("other-hours", draft.slot is None and keeps_other_hours(draft, old)),
        ("outcome", is_outcome(draft, old)),
        ("given-up", is_given_up(draft, old)),
        ("turned-round", is_turned_round(draft, old)),
        ("otherwise", draft.slot is None and is_put_otherwise(draft, old, note.at)),
    ):
        if found:
            return _target(
                draft,
                old,
                f"{draft.content.rstrip('.!')}; until then: {old.memory.content.rstrip('.!')}",
                f"ends:{rule}",
            )
    return _corrected(draft, old, existing)


def _corrected(draft: Draft, old: Existing, existing: Sequence[Existing]) -> Target | None:
    """The memory as a target, if the draft restates it with a difference and says that this corrects it."""
    if not draft.corrects or draft.slot is not None or NEVER.search(draft.content):
        return None
    likeliest = _likeliest(draft, existing)
    if likeliest is not None and likeliest.memory.iri == old.memory.iri:
        return _target(draft, old, f"Corrected to: {draft.content.rstrip('.!')}", "correction:same-statement")
    return None


def _one_slot(draft: Draft, old: Existing, existing: Sequence[Existing]) -> bool:
    """Whether both fill the same slot; "the flight was moved" speaks of the flight to Tokyo if no other flight is known."""
    slot, known = draft.slot or "", old.memory.slot or ""
    if slot == known:
        return True
    if known.endswith(f" {slot}") and _RESCHEDULED.search(draft.content):
        return sum((one.memory.slot or "").endswith(slot) and _same(one.subject, old.subject) for one in existing) == 1
    if not (_names_event(slot, known) and _RESCHEDULED.search(draft.content)):
        return False
    return sum(_names_event(slot, one.memory.slot or "") and _same(one.subject, old.subject) for one in existing) == 1


def _names_event(slot: str, known: str) -> bool:
    """Whether "date of appointment" may be short for "date of dentist appointment" or "date of appointment with Kim"."""
    event = slot.removeprefix("date of ")
    return (
        event != slot and known.startswith("date of ") and (known.startswith(f"{slot} ") or known.endswith(f" {event}"))
    )


def _target(draft: Draft, old: Existing, reason: str, rule: str) -> Target:
    return Target(
        memory=old.memory.iri, reason=reason, mode="correction" if draft.corrects else "state-change", rule=rule
    )


def _differs(draft: Draft, old: Existing) -> bool:
    """Whether both values cannot hold together; neither contradicts a memory that already speaks of the other's value."""
    new, known = draft.slot_value or "", old.memory.slot_value or ""
    if not new or not known or compatible(new, known):
        return False
    if draft.event_at is not None and old.memory.event_at is not None:
        return draft.event_at != old.memory.event_at
    if draft.slot in ("home", "headquarters", "job title") and not draft.ends:
        return not occurs(known, draft.content) or occurs(f"from {known}", draft.content)
    return True


def _is_weak(draft: Draft) -> bool:
    """Whether the draft only says that a tool is used, which does not say that it is the only one."""
    if draft.slot not in _TOOLS or draft.ends:
        return False
    return not reading(draft.content).changed and not _SAYS_WHICH.search(draft.content)


def _is_another_event(draft: Draft, old: Existing, note: Note) -> bool:
    """Whether the old date has passed and the thing happens again and again: the next meeting does not move the last one."""
    if draft.event_at is None or old.memory.event_at is None or ONCE.search(draft.slot or ""):
        return False
    return old.memory.event_at < note.at and not (
        _RESCHEDULED.search(draft.content) and old.memory.event_at.date() == note.at.date()
    )


def _job_there(draft: Draft, old: Existing, existing: Sequence[Existing]) -> Target | None:
    """A job title that names the employer that the user has just left."""
    left = [
        other.memory.slot_value or ""
        for other in existing
        if other.memory.slot == "employer" and _same(other.subject, draft.subject) and _differs(draft, other)
    ]
    if any(value and occurs(value, old.memory.content) for value in left):
        return _target(draft, old, _slot_reason(draft, old, "employer"), "slot:employer")
    return None


def _likeliest(draft: Draft, existing: Sequence[Existing]) -> Existing | None:
    """The one memory that the correction restates with a difference: most words in common, and more than half of them."""
    wanted = stems(draft.content)
    scored = [
        (len(wanted & stems(old.memory.content)) / max(1, len(wanted | stems(old.memory.content))), -at, old)
        for at, old in enumerate(existing)
        if shares_subject(draft, old) and normal(old.memory.content) != normal(draft.content)
    ]
    best = max(scored, key=lambda item: item[:2], default=None)
    return best[2] if best and best[0] >= 0.5 else None


def _slot_reason(draft: Draft, old: Existing, slot: str = "") -> str:
    """A sentence for whoever asks why a belief ended."""
    slot = slot or draft.slot or ""
    subject, value, known = draft.subject or "", draft.slot_value or "", old.memory.slot_value or ""
    if draft.corrects:
        return f"Corrected: {_owned(subject, slot)} is {value}, not {known}"
    if verb := _NOW_THE.get(slot):
        return f"{subject} {verb} {value}; {old.memory.slot} was {known}"
    return f"{_owned(subject, slot)} is now {value}; it was {known}"


def _owned(subject: str, slot: str) -> str:
    return f"The {slot} of {subject}" if slot.startswith(("date of", "deadline of")) else f"{subject}'s {slot}"


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.casefold() == other.casefold()
