"""
Find which existing memory a draft retires, why, and by which rule.

There are two ways. The draft fills the same slot of the same subject with another value (`slot:employer`). Or it says that what the
memory states has ended (`ends:no-longer`): for the same subject, the same thing, and a relation that the ending is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memento.consolidation.agents import USER, Draft, Existing, Target
from memento.consolidation.rules.ends import (
    corrects_figure,
    held_the_role,
    is_outcome,
    is_reversed,
    is_same_activity,
    rule_of,
)
from memento.consolidation.rules.offices import role_signs
from memento.consolidation.rules.patterns import replace_by_sign, signs
from memento.consolidation.rules.relations import (
    compatible,
    names_the_same,
    relations,
    same_value,
    slot_name,
    speaks_of,
)
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
from memento.text.kinds import lookup
from memento.text.mood import is_no_longer, reading
from memento.text.words import ONE_OF_A_KIND, RELATIVES, normal, occurs, stems

_TOOLS = ("editor", "browser", "operating system")
_NOW_THE = {
    "employer": "now works at",
    "home": "now lives in",
    "editor": "now uses",
    "browser": "now uses",
    "manager": "now reports to",
}
_OWN = (USER, f"{USER} and others")
_KIN = RELATIVES | ONE_OF_A_KIND | {"family", "kids", "children", "team", "friends"}
_BELONGS = frozenset({"work", "learn", "member", "teach", "lead", "to attend", "to volunteer", "to study"})
_KEEPS = frozenset({"use", "have", "prefer", "drive", "member", "work", "play", "eat", "drink"})
_HAS = frozenset({"have", "drive", "use", "play", "to ride", "to wear", "to own", "to keep"})
_STATES_OF = ("returned", "folded", "recovered", "moved-out", "died")
_JOBS = ("job", "position", "role", "company")


def succeeded_by(draft: Draft, old: Existing, existing: Sequence[Existing], note: Note) -> Target | None:
    """Return the memory as a target if the draft fills its slot with another value, or leaves the employer that it names."""
    if draft.slot is None or not draft.sure or not _same(draft.subject, old.subject) or old.memory.slot is None:
        return None
    if draft.slot == "employer" and old.memory.slot == "job title":
        return _job_there(draft, old, existing)
    if draft.slot == "home" and old.memory.slot == "address":
        return _moved_away(draft, old, note)
    if (
        draft.until is not None
        and draft.until > note.at
        and not draft.corrects
        and role_signs()["role"].search(draft.slot)
    ):
        return None  # a substitute until September does not replace the holder
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
    """Return the memory as a target if the draft says that it no longer holds, or corrects it."""
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
    """Return the memory as a target if the draft restates it with a difference and says that it corrects it."""
    wrong = [one for one in existing if corrects_figure(draft.content, one.memory.content)]
    if [one.memory.iri for one in wrong] == [old.memory.iri] and (draft.corrects or _speak_of_one(draft, old)):
        return _target(
            replace(draft, corrects=True), old, f"Corrected to: {draft.content.rstrip('.!')}", "correction:figure"
        )
    if not draft.corrects or draft.slot is not None or signs()["never-said"].search(draft.content):
        return None
    likeliest = _likeliest(draft, existing)
    if likeliest is not None and likeliest.memory.iri == old.memory.iri:
        return _target(draft, old, f"Corrected to: {draft.content.rstrip('.!')}", "correction:same-statement")
    return None


def _speak_of_one(draft: Draft, old: Existing) -> bool:
    """Tell whether two memories share a word that is not a figure."""
    return any(not word[0].isdigit() for word in stems(draft.content) & stems(old.memory.content))


def _one_slot(draft: Draft, old: Existing, existing: Sequence[Existing]) -> bool:
    """Tell whether both fill the same slot; "the flight was moved" is the flight to Tokyo if no other flight is known."""
    slot, known = draft.slot or "", old.memory.slot or ""
    if slot == known:
        return True
    if known.endswith(f" {slot}") and signs()["rescheduled"].search(draft.content):
        return sum((one.memory.slot or "").endswith(slot) and _same(one.subject, old.subject) for one in existing) == 1
    if not (_names_event(slot, known) and signs()["rescheduled"].search(draft.content)):
        return False
    return sum(_names_event(slot, one.memory.slot or "") and _same(one.subject, old.subject) for one in existing) == 1


def _names_event(slot: str, known: str) -> bool:
    """
    Tell whether one slot may be short for the other.

    "date of appointment" may mean "date of dentist appointment" or "date of appointment with Kim".
    """
    event = slot.removeprefix("date of ")
    return (
        event != slot and known.startswith("date of ") and (known.startswith(f"{slot} ") or known.endswith(f" {event}"))
    )


def _target(draft: Draft, old: Existing, reason: str, rule: str) -> Target:
    return Target(
        memory=old.memory.iri, reason=reason, mode="correction" if draft.corrects else "state-change", rule=rule
    )


def _differs(draft: Draft, old: Existing) -> bool:
    """Tell whether the two values exclude each other; a draft that also mentions the known value does not contradict it."""
    new, known = draft.slot_value or "", old.memory.slot_value or ""
    if not new or not known or compatible(new, known):
        return False
    if draft.event_at is not None and old.memory.event_at is not None:
        return draft.event_at != old.memory.event_at
    if draft.slot in ("home", "headquarters", "job title") and not draft.ends:
        return not occurs(known, draft.content) or occurs(f"from {known}", draft.content)
    return True


def _is_weak(draft: Draft) -> bool:
    """Tell whether the draft only says that a tool is used, not that it is the only one."""
    if draft.slot not in _TOOLS or draft.ends:
        return False
    return not reading(draft.content).changed and not signs()["says-which"].search(draft.content)


def _is_another_event(draft: Draft, old: Existing, note: Note) -> bool:
    """Tell whether the old date has passed and the event recurs: the next meeting does not move the last one."""
    if draft.event_at is None or old.memory.event_at is None or signs()["once"].search(draft.slot or ""):
        return False
    return old.memory.event_at < note.at and not (
        signs()["rescheduled"].search(draft.content) and old.memory.event_at.date() == note.at.date()
    )


def _job_there(draft: Draft, old: Existing, existing: Sequence[Existing]) -> Target | None:
    """Return a job title as a target if it names the employer that the user has just left."""
    left = [
        other.memory.slot_value or ""
        for other in existing
        if other.memory.slot == "employer" and _same(other.subject, draft.subject) and _differs(draft, other)
    ]
    if any(value and occurs(value, old.memory.content) for value in left):
        return _target(draft, old, _slot_reason(draft, old, "employer"), "slot:employer")
    return None


def _moved_away(draft: Draft, old: Existing, note: Note) -> Target | None:
    """Return an address as a target if somebody moved elsewhere; an address in the new place stays."""
    if (draft.valid_at or note.at) <= old.memory.valid_at or occurs(draft.slot_value or "", old.memory.content):
        return None
    if not reading(draft.content).changed:
        return None
    return _target(
        draft, old, f"{draft.content.rstrip('.!')}; until then: {old.memory.content.rstrip('.!')}", "slot:home"
    )


def _likeliest(draft: Draft, existing: Sequence[Existing]) -> Existing | None:
    """Find the memory that a correction most likely restates: the one with most words in common, at least half of them."""
    wanted = stems(draft.content)
    scored = [
        (len(wanted & stems(old.memory.content)) / max(1, len(wanted | stems(old.memory.content))), -at, old)
        for at, old in enumerate(existing)
        if shares_subject(draft, old) and normal(old.memory.content) != normal(draft.content)
    ]
    best = max(scored, key=lambda item: item[:2], default=None)
    return best[2] if best and best[0] >= 0.5 else None


def _slot_reason(draft: Draft, old: Existing, slot: str = "") -> str:
    """Return a sentence that says why a belief ended."""
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


def shares_subject(draft: Draft, old: Existing) -> bool:
    """Tell whether both memories have one subject: the owner of the slot, or the subject of the sentence."""
    new = draft.subject or speaks_of(draft.content)
    known = old.subject or speaks_of(old.memory.content)
    if known == USER and old.memory.slot and f"{USER}'s {old.memory.slot}" in draft.content:
        return True
    rule = rule_of(draft)
    if rule in ("took-over", "moved-out", "died", "folded") or (
        rule == "parted" and USER in draft.about and known == USER
    ):
        return True
    if rule == "swapped":
        return any(names_the_same(phrase, name) for phrase in draft.ends for name in old.about)
    if rule == "parted" and USER not in draft.about:
        return len({*draft.about} & {*old.about} - {USER}) > 1
    if rule in ("finished", "cancelled") and new not in _OWN:
        if rule == "finished" and (new in old.about or draft.subject is not None):
            return draft.subject != known and bool(signs()["works-on"].search(old.memory.content))
        plans = reading(old.memory.content).mood == "plan" or old.memory.event_at is not None
        return plans and (known in _OWN or _is_own_thing(known)) and {*draft.about} - {USER, new} <= {*old.about}
    if draft.corrects and new is None:
        return True
    if (thing := signs()["the-thing"].match(old.memory.content)) and new in _OWN:
        return occurs(thing[1], draft.content)
    if rule == "left" and known == USER and _is_own_thing(new):
        return True
    return _same(new, known) or (new in _OWN and (known in _OWN or _is_own_thing(known)))


def _is_own_thing(subject: str | None) -> bool:
    """Tell whether a subject is a thing of the user and not a person: "USER's backend", not "USER's wife"."""
    return subject is not None and subject.startswith(f"{USER}'s ") and subject.split()[-1] not in _KIN


def is_ended(phrase: str, draft: Draft, old: Existing) -> bool:
    """Tell whether the memory says of the phrase what the draft says has ended."""
    memory = old.memory
    denied = draft.corrects and bool(signs()["never-said"].search(draft.content))
    over = bool(signs()["never-said"].search(memory.content)) if denied else is_no_longer(memory.content)
    if over and rule_of(draft) in ("cancelled", "finished", "returned") and reading(memory.content).tense != "past":
        over = False
    if over or normal(memory.content) == normal(draft.content):
        return False
    rule = rule_of(draft)
    if (
        memory.slot == "home" and reading(draft.content).mood == "plan"
    ):  # somebody who leaves a town on Sunday may be back on Monday
        return False
    if rule == "took-over":
        return held_the_role(phrase, draft, old)
    if rule == "reversed":
        return is_reversed(draft, old)
    if rule in _STATES_OF:
        return occurs(phrase, memory.content) and _is_state_of(rule, phrase, old)
    if phrase.lower() in _JOBS:
        return memory.slot in ("employer", "job title")
    if memory.slot and slot_name(phrase) == memory.slot and occurs(memory.slot_value or "", draft.content):
        return True
    if draft.slot and draft.slot == memory.slot and same_value(draft.slot_value or "", memory.slot_value or ""):
        return False
    named = any(names_the_same(phrase, name) for name in old.about if name != USER)
    in_slot = bool(memory.slot_value) and names_the_same(phrase, memory.slot_value or "")
    if not named and not in_slot and not occurs(phrase, memory.content):
        if phrase == "car" and "drive" in relations(memory.content) and signs()["gives-away"].search(draft.content):
            return True
        if not (stems(phrase) and stems(phrase) <= stems(memory.content)):
            return is_same_activity(phrase, memory.content)
    if rule == "cancelled" and (memory.event_at is not None or reading(memory.content).mood == "plan"):
        return draft.event_at is None or memory.event_at is None or draft.event_at.date() == memory.event_at.date()
    if rule in ("finished", "cancelled", "parted") and named:
        return rule != "parted" or "partner" in relations(memory.content, memory.slot)
    if _is_own_thing(speaks_of(memory.content)) and signs()["is-this"].search(replace_by_sign(phrase, memory.content)):
        return True
    if rule == "stopped" and signs()["finished"].search(draft.content):
        return bool(signs()["under-way-now"].search(memory.content)) and not draft.slot
    if (
        signs()["use-ends"].search(draft.content)
        and named
        and signs()["by-means-of"].search(replace_by_sign(phrase, memory.content))
    ):
        return True
    return _one_relation(phrase, draft, old, in_slot)


def _is_state_of(rule: str, phrase: str, old: Existing) -> bool:
    """Tell whether a memory states what this kind of ending ends: an illness that is over, a home that was shared."""
    content = old.memory.content
    match rule:
        case "returned":
            return bool(signs()["is-there"].search(replace_by_sign(phrase, content)))
        case "folded":
            return bool(relations(content, old.memory.slot) & (_BELONGS | {"play", "go"}))
        case "recovered":
            return bool(signs()["ails"].search(content))
        case "moved-out":
            return bool(signs()["shares-home"].search(content))
        case _:
            return reading(content).tense == "present"


def _one_relation(phrase: str, draft: Draft, old: Existing, in_slot: bool) -> bool:
    known = relations(old.memory.content, old.memory.slot)
    new = relations(draft.content)
    if rule_of(draft) == "preferred" and "prefer" in new:
        wanted = frozenset({"prefer", "like", "use"}) if reading(draft.content).changed else frozenset({"prefer"})
        return bool(known & wanted)
    rule = rule_of(draft)
    if rule == "swapped":
        return bool(known & _KEEPS)
    if rule == "replaced" and phrase in old.about and signs()["does"].search(old.memory.content):
        return True
    if (
        signs()["ceases"].search(draft.content)
        and not known & {"like"}
        and reading(old.memory.content).tense == "present"
    ):
        return True
    if signs()["ceases"].search(draft.content) and "like" in known - new:
        return False
    if rule == "switched" and not reading(old.memory.content).additional:
        place = (found := lookup(phrase)) is not None and found.kind == "Location"
        kept = known & _KEEPS or signs()["customer"].search(old.memory.content)
        return bool(kept) if not place else "live" in known
    if rule == "left" and (known & _BELONGS or signs()["at-this"].search(replace_by_sign(phrase, old.memory.content))):
        return True
    if signs()["gives-away"].search(draft.content) and known & _HAS:
        return True
    return bool(new & known) or (in_slot and not new) or (not new and not known)
