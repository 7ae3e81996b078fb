"""
What rules add to a model's facts: the slot that a fact fills, and its place in the middle of history.

*Because:* models word facts freely, and slots are what recall and a later note go by. Where rules see none, nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memento.consolidation.agents import (
    Add,
    Agents,
    Decision,
    Draft,
    Existing,
    Invalidate,
    Mention,
    NotUnderstood,
    Skip,
)
from memento.model import Note, User


def with_slots(draft: Draft, note: Note, mentions: Sequence[Mention], user: User, rules: Agents) -> Draft:
    """The draft with the slot it fills, when rules read the one same fact in its words."""
    try:
        read = rules.extract_memories(replace(note, content=draft.content), mentions, user)
    except NotUnderstood:
        return draft
    if len(read) != 1:
        return draft
    [one] = read
    known = one.subject is not None and one.subject in draft.about
    return replace(
        draft,
        subject=one.subject if known else None,
        slot=one.slot if known else None,
        slot_value=one.slot_value if known else None,
        ends=one.ends,
        user_name=draft.user_name or one.user_name,
    )


def placed(decisions: Sequence[Decision], existing: Sequence[Existing], note: Note, rules: Agents) -> list[Decision]:
    """The decisions; one about the past with the memory that follows it in its slot, when the model has not named one."""
    return [_placed(decision, existing, note, rules) for decision in decisions]


def _placed(decision: Decision, existing: Sequence[Existing], note: Note, rules: Agents) -> Decision:
    if isinstance(decision, Skip) or not decision.draft.slot:
        return decision
    try:
        [by_rules] = rules.resolve_memories([decision.draft], existing, note)
    except NotUnderstood:
        return decision
    if isinstance(by_rules, Skip) or by_rules.successor is None:
        return decision
    successor = decision.successor or by_rules.successor
    # Told late, a fact also moves the end of what it followed: to its own beginning, from that of its successor.
    over = {one.memory.iri for one in existing if one.memory.invalid_at is not None}
    earlier = by_rules.targets if isinstance(by_rules, Invalidate) else ()
    targets = decision.targets if isinstance(decision, Invalidate) else ()
    targets += tuple(one for one in earlier if one.memory in over and one.memory not in {t.memory for t in targets})
    if targets:
        return Invalidate(draft=decision.draft, targets=targets, successor=successor)
    return Add(draft=decision.draft, reason=by_rules.successor.reason, successor=successor)
