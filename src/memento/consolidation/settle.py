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
    Invalidate,
    Mention,
    Rival,
    Skip,
    Successor,
    Target,
)
from memento.consolidation.rules.rivals import SAME
from memento.consolidation.rules.wording import as_read
from memento.iris import IRI
from memento.model import Memory, Note, User
from memento.text.mood import reading

FOLLOWED = 0.9
"""
The confidence of two values of one relation, if values of it have replaced each other before; no other rival gets a higher one.
"""

_FIRST_PERSON = frozenset(("i", "me", "my", "myself", "mine", "we", "us", "user", "the user"))


def settle_decisions(decisions: Sequence[Decision], known: Sequence[Existing], note: Note) -> list[Decision]:
    """
    Make the decisions, in their order, consistent with when things were true.

    - A fact that holds again after its interval has ended is a new memory, not a duplicate.
    - A memory that began after the draft does not end because of it: the draft ends where that memory begins.
    - Two facts of the same instant that change the same state cannot follow each other: both are kept, and flagged.
    - For a relation whose values have replaced each other before, another value ends the earlier one if the draft says that
      something has changed; otherwise both are linked as likely rivals.
    """
    memories = {one.memory.iri: one.memory for one in known}
    learnt = [_link_followed(decision, place, known, note) for place, decision in enumerate(decisions)]
    return [_settle_decision(decision, memories, note) for decision in learnt]


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


def _link_followed(decision: Decision, place: int, known: Sequence[Existing], note: Note) -> Decision:
    """Add the memories whose value the draft replaces, by what was learnt of the relation: as ended or as rivals."""
    if isinstance(decision, Skip):
        return decision
    draft = decision.draft
    ended = {target.memory for target in decision.targets} if isinstance(decision, Invalidate) else set()
    found = {
        old.memory.iri: f"values of {relation} followed one another {times} times"
        for old in known
        for at, relation, times in old.followed
        if at == place and old.memory.iri not in ended and old.memory.valid_at < _start_of(draft, note)
    }
    how = reading(as_read(draft.content))
    if not found or how.additional:
        return decision
    says = {
        old.memory.iri
        for old in known
        for at, relation, _ in old.followed
        if at == place and _says_no_more(old, at, relation)
    }
    if how.changed and (certain := [iri for iri in found if iri in says]):
        targets = tuple(Target(memory=iri, reason=found.pop(iri), rule="followed") for iri in certain)
        earlier = decision.targets if isinstance(decision, Invalidate) else ()
        decision = Invalidate(
            draft=draft,
            targets=(*earlier, *targets),
            successor=decision.successor,
            contradicts=decision.contradicts,
            rivals=decision.rivals,
        )
    linked = tuple(Rival(memory=iri, confidence=FOLLOWED, reason=reason) for iri, reason in found.items())
    return replace(decision, rivals=(*linked, *(one for one in decision.rivals if one.memory not in found)))


def _says_no_more(old: Existing, place: int, relation: str) -> bool:
    """Tell whether a memory states only the relation of the draft, with another value, and does not mention it in passing."""
    return old.memory.slot == relation or (len(old.framed) > place and old.framed[place] >= SAME)


def _settle_decision(decision: Decision, memories: Mapping[IRI, Memory], note: Note) -> Decision:
    match decision:
        case Skip(draft=draft, duplicate=IRI() as duplicate) if duplicate in memories:
            old = memories[duplicate]
            if old.invalid_at is not None and old.invalid_at <= _start_of(draft, note):
                return Add(draft=draft, reason=f"again, as it was until {old.invalid_at.date()}")
            return decision
        case Invalidate():
            return _settle_order(decision, memories, note)
    return decision


def _settle_order(decision: Invalidate, memories: Mapping[IRI, Memory], note: Note) -> Decision:
    draft, began = decision.draft, _start_of(decision.draft, note)
    targets: list[Target] = []
    contradicted: list[IRI] = []
    later: list[tuple[datetime, Target]] = []
    for target in decision.targets:
        old = memories.get(target.memory)
        if old is None:
            continue
        if target.mode == "correction":
            targets.append(target)
        elif old.invalid_at is not None and old.invalid_at <= began:
            continue
        elif old.valid_at > began and note.at < old.valid_at:
            later.append((old.valid_at, target))
        elif old.valid_at == began and _is_change_of_state(target, draft):
            contradicted.append(old.iri)
        else:
            targets.append(target)
    successor = decision.successor
    if later and successor is None:
        first = min(later, key=lambda one: (one[0], one[1].memory))[1]
        successor = Successor(memory=first.memory, reason=first.reason)
    if targets:
        return replace(decision, targets=tuple(targets), successor=successor, contradicts=tuple(contradicted))
    reason = decision.targets[0].reason if decision.targets else ""
    return Add(draft=draft, reason=reason, successor=successor, contradicts=tuple(contradicted))


def _is_change_of_state(target: Target, draft: Draft) -> bool:
    """Tell whether one value replaces another, as opposed to a draft that says of itself that something is over."""
    return not draft.ends and not draft.corrects and not target.rule.startswith("ends:")


def _start_of(draft: Draft, note: Note) -> datetime:
    return draft.valid_at or note.at
