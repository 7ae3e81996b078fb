"""
Make decisions consistent with time and with each other, whether rules or a model made them.

A model may skip what has ended, retire what began later, or let two facts of one instant end each other. Each such decision is
corrected separately: the note is never lost because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memento.consolidation.agents import (
    USER,
    Add,
    Decision,
    Draft,
    Existing,
    Held,
    Invalidate,
    Mention,
    Skip,
    Successor,
    Target,
)
from memento.iris import IRI
from memento.model import Memory, Note, User

_FIRST_PERSON = frozenset(("i", "me", "my", "myself", "mine", "we", "us", "user", "the user"))


def settle_decisions(decisions: Sequence[Decision], known: Sequence[Existing], note: Note) -> list[Decision]:
    """
    Make the decisions, in their order, consistent with when things were true.

    - A fact that holds again after its interval has ended is a new memory, not a duplicate.
    - A memory that began after the draft does not end because of it: the draft ends where that memory begins.
    - Two facts of the same instant that change the same state cannot follow each other: both are kept, and flagged.
    """
    memories = {one.memory.iri: one.memory for one in known}
    claims = {held.iri: held for one in known for held in one.claims}
    return [_settle_decision(decision, memories, claims, note) for decision in decisions]


def drop_user(mentions: Sequence[Mention], user: User) -> tuple[Mention, ...]:
    """
    Remove the mentions of the user: pronouns, and the user's own name.

    >>> drop_user([Mention(name="Danny", kind="Person")], User(iri=IRI("urn:u"), name="Danny"))
    ()
    """
    return tuple(mention for mention in mentions if not is_user(mention.name, mention.kind, user.name))


def is_user(name: str, kind: str, called: str | None) -> bool:
    """
    Tell whether a name can only mean the user; "Danny Rose" is not a user called "Danny".

    >>> is_user("USER", "Person", None), is_user("Danny Rose", "Person", "Danny"), is_user("Danny", "Project", "Danny")
    (True, False, False)
    """
    plain = name.strip().casefold()
    if plain in _FIRST_PERSON or plain == USER.casefold():
        return True
    return bool(called) and kind == "Person" and plain == (called or "").strip().casefold()


def apply_introduction(drafts: Sequence[Draft], user: User) -> tuple[list[Draft], str | None]:
    """Move drafts about the name that the user has just given to the user, and return the drafts and that name."""
    called = next((draft.user_name for draft in drafts if draft.user_name), None) or user.name
    if called is None:
        return list(drafts), None
    return [replace(draft, about=_about_user(draft.about, called)) for draft in drafts], called


def _about_user(about: Sequence[str], called: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(USER if is_user(name, "Person", called) else name for name in about))


def _settle_decision(
    decision: Decision, memories: Mapping[IRI, Memory], claims: Mapping[IRI, Held], note: Note
) -> Decision:
    match decision:
        case Skip(draft=draft, duplicate=IRI() as duplicate) if duplicate in memories:
            old = memories[duplicate]
            if old.invalid_at is not None and old.invalid_at <= _start_of(draft, note):
                return Add(draft=draft, reason=f"again, as it was until {old.invalid_at.date()}")
            return decision
        case Invalidate():
            return _settle_order(decision, memories, claims, note)
    return decision


def _settle_order(
    decision: Invalidate, memories: Mapping[IRI, Memory], claims: Mapping[IRI, Held], note: Note
) -> Decision:
    draft = decision.draft
    targets: list[Target] = []
    contradicted: list[IRI] = []
    later: list[tuple[datetime, Target]] = []
    for target in decision.targets:
        old = memories.get(target.memory)
        if old is None:
            continue
        held, began = claims.get(target.claim) if target.claim else None, target.at or _start_of(draft, note)
        since, until = (held.since, held.until) if held else (old.valid_at, old.invalid_at)
        if target.mode == "correction":
            targets.append(target)
        elif until is not None and until <= began:
            continue
        elif since > began and note.at < since:
            later.append((since, target))
        elif since == began and _is_change_of_state(target, draft):
            contradicted.append(old.iri)
        else:
            targets.append(target)
    successors = decision.successors
    if later and not successors:
        first = min(later, key=lambda one: (one[0], one[1].memory))[1]
        successors = (Successor(memory=first.memory, reason=first.reason),)
    if targets:
        return replace(decision, targets=tuple(targets), successors=successors, contradicts=tuple(contradicted))
    reason = decision.targets[0].reason if decision.targets else ""
    return Add(
        draft=draft,
        reason=reason,
        successors=successors,
        contradicts=tuple(contradicted),
        rivals=decision.rivals,
    )


def _is_change_of_state(target: Target, draft: Draft) -> bool:
    """Tell whether one value replaces another, as opposed to a draft that says of itself that something is over."""
    claims = draft.claims if target.claim is None else draft.claims[target.by : target.by + 1]
    return not draft.corrects and not any(one.ends or one.instead or one.is_over or not one.polarity for one in claims)


def _start_of(draft: Draft, note: Note) -> datetime:
    return draft.valid_at or note.at
