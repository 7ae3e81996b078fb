"""Whether what a draft ends is what a memory tells: the same subject, the same thing, and a relation that the ending is about."""

from __future__ import annotations

import re

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.ends import held_the_role, is_reversed, is_same_activity, rule_of
from memento.consolidation.rules.relations import names_the_same, relations, same_value, slot_name, speaks_of
from memento.text.kinds import lookup
from memento.text.mood import is_no_longer, reading
from memento.text.tokens import normal, occurs, stems
from memento.text.words import ONE_OF_A_KIND, RELATIVES

_OWN = (USER, f"{USER} and others")
_KIN = RELATIVES | ONE_OF_A_KIND | {"family", "kids", "children", "team", "friends"}
_THING = re.compile(r"The\s+([a-z]+)\s+(?=[a-z])")
_WORKS_ON = re.compile(
    r"\b(?:work(?:s|ing)?\s+on|maintain(?:s|ing)?|building|build(?:s)?|developing|writing|rewriting|leads?|leading"
    r"|runs?|running)\b",
    re.IGNORECASE,
)
_BELONGS = frozenset({"work", "learn", "member", "teach", "lead", "to attend", "to volunteer", "to study"})
_KEEPS = frozenset({"use", "have", "prefer", "drive", "member", "work", "play", "eat", "drink"})
_HAS = frozenset({"have", "drive", "use", "play", "to ride", "to wear", "to own", "to keep"})
_GIVES_AWAY = re.compile(
    r"\b(?:sold|traded|gave|donated|given\s+away|got\s+rid\s+of|returned|lost|ditched|scrapped)\b", re.IGNORECASE
)
_USE_ENDS = re.compile(
    r"\b(?:no\s+longer|stopped|quit|doesn['’]t|don['’]t)\s+us(?:e|es|ing)\b|\bgot\s+rid\s+of\b|\buninstalled\b",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:finished|completed|submitted|shipped|delivered|wrapped\s+up|done\s+with|finished\s+with)\b", re.IGNORECASE
)
_UNDER_WAY = re.compile(r"\b(?:is|are)\s+(?:currently\s+|still\s+|also\s+)?\w+ing\b", re.IGNORECASE)
_STATES_OF = ("returned", "folded", "recovered", "moved-out", "died")
_JOBS = ("job", "position", "role", "company")
_DOES = re.compile(rf"\b{USER}(?:\s+and\s+others)?\s+(?:does|do|follows?|practi[sc]es?|swears\s+by)\b")
_CEASES = re.compile(
    r"\b(?:g[ai]ven?\s+up|quit|no\s+more|goodbye|done\s+with|through\s+with|is\s+(?:off|over)|laps\w+|stepped\s+down"
    r"|resigned\s+as|got\s+\S+\s+\w+\s+off"
    r"|(?:does|do)n['’]t\s+need)\b",
    re.IGNORECASE,
)
_AILS = re.compile(
    r"\b(?:broke|broken|is\s+in|has|have|hurt|sprained|caught|ill|sick|sore|injured|twisted|down|leaking|stuck|with"
    r"|wears?|got|came\s+down)\b",
    re.IGNORECASE,
)
_SHARES_HOME = re.compile(
    r"\b(?:room-?mate|flat-?mate|house-?mate|live[sd]?\s+with|lodger|tenant|sublet|shar(?:es?|ing)|rents?)\b",
    re.IGNORECASE,
)
NEVER = re.compile(r"\bnever\b", re.IGNORECASE)


def shares_subject(draft: Draft, old: Existing) -> bool:
    """Whether both memories speak of one subject: the same slot's owner, or the same subject of the sentence."""
    new = draft.subject or speaks_of(draft.content)
    known = old.subject or speaks_of(old.memory.content)
    if known == USER and old.memory.slot and f"{USER}'s {old.memory.slot}" in draft.content:
        return True
    rule = rule_of(draft)
    if rule in ("took-over", "moved-out", "died", "folded") or (
        rule == "parted" and USER in draft.about and known == USER
    ):
        return True
    if rule == "parted" and USER not in draft.about:
        return len({*draft.about} & {*old.about} - {USER}) > 1
    if rule in ("finished", "cancelled") and new not in _OWN:
        if rule == "finished" and (new in old.about or draft.subject is not None):
            return draft.subject != known and bool(_WORKS_ON.search(old.memory.content))
        plans = reading(old.memory.content).mood == "plan" or old.memory.event_at is not None
        return plans and (known in _OWN or _is_own_thing(known)) and {*draft.about} - {USER, new} <= {*old.about}
    if draft.corrects and new is None:
        return True
    if (thing := _THING.match(old.memory.content)) and new in _OWN:
        return occurs(thing[1], draft.content)
    if rule == "left" and known == USER and _is_own_thing(new):
        return True
    return _same(new, known) or (new in _OWN and (known in _OWN or _is_own_thing(known)))


def _is_own_thing(subject: str | None) -> bool:
    """Whether a subject is something of the user's and nobody: "USER's backend", not "USER's wife"."""
    return subject is not None and subject.startswith(f"{USER}'s ") and subject.split()[-1] not in _KIN


def is_ended(phrase: str, draft: Draft, old: Existing) -> bool:
    """Whether the memory tells of the phrase what the draft says is over."""
    memory = old.memory
    denied = draft.corrects and bool(NEVER.search(draft.content))
    over = bool(NEVER.search(memory.content)) if denied else is_no_longer(memory.content)
    if over and rule_of(draft) in ("cancelled", "finished", "returned") and reading(memory.content).tense != "past":
        over = False
    if over or normal(memory.content) == normal(draft.content):
        return False
    rule = rule_of(draft)
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
        if phrase == "car" and "drive" in relations(memory.content) and _GIVES_AWAY.search(draft.content):
            return True
        if not (stems(phrase) and stems(phrase) <= stems(memory.content)):
            return is_same_activity(phrase, memory.content)
    if rule == "cancelled" and (memory.event_at is not None or reading(memory.content).mood == "plan"):
        return draft.event_at is None or memory.event_at is None or draft.event_at.date() == memory.event_at.date()
    if rule in ("finished", "cancelled", "parted") and named:
        return rule != "parted" or "partner" in relations(memory.content, memory.slot)
    if _is_own_thing(speaks_of(memory.content)) and re.search(
        rf"\bis\s+(?:an?\s+)?{re.escape(phrase)}\W*$", memory.content, re.IGNORECASE
    ):
        return True
    if rule == "stopped" and _FINISHED.search(draft.content):
        return bool(_UNDER_WAY.search(memory.content)) and not draft.slot
    if (
        _USE_ENDS.search(draft.content)
        and named
        and re.search(rf"\b(?:in|with|on|via|through|using)\s+{re.escape(phrase)}\b", memory.content, re.I)
    ):
        return True
    return _one_relation(phrase, draft, old, in_slot)


def _is_state_of(rule: str, phrase: str, old: Existing) -> bool:
    """Whether a memory tells of the state that such an ending ends: an illness that is over, a home that was shared."""
    content = old.memory.content
    match rule:
        case "returned":
            return bool(
                re.search(
                    rf"\b(?:is|are|['’]s)\b.*\b(?:in|at|on|to)\s+(?:the\s+|an?\s+)?{re.escape(phrase)}\b",
                    content,
                    re.IGNORECASE,
                )
            )
        case "folded":
            return bool(relations(content, old.memory.slot) & (_BELONGS | {"play", "go"}))
        case "recovered":
            return bool(_AILS.search(content))
        case "moved-out":
            return bool(_SHARES_HOME.search(content))
        case _:
            return reading(content).tense == "present"


def _one_relation(phrase: str, draft: Draft, old: Existing, in_slot: bool) -> bool:
    known = relations(old.memory.content, old.memory.slot)
    new = relations(draft.content)
    if rule_of(draft) == "preferred" and "prefer" in new:
        wanted = frozenset({"prefer", "like", "use"}) if reading(draft.content).changed else frozenset({"prefer"})
        return bool(known & wanted)
    rule = rule_of(draft)
    if rule == "replaced" and phrase in old.about and _DOES.search(old.memory.content):
        return True
    if _CEASES.search(draft.content) and not known & {"like"} and reading(old.memory.content).tense == "present":
        return True
    if _CEASES.search(draft.content) and "like" in known - new:
        return False
    if rule == "switched" and not reading(old.memory.content).additional:
        place = (found := lookup(phrase)) is not None and found.kind == "Location"
        kept = known & _KEEPS or re.search(r"\b(?:user|fan|customer)\b", old.memory.content)
        return bool(kept) if not place else "live" in known
    if rule == "left" and (
        known & _BELONGS or re.search(rf"\b(?:in|at|with|for)\s+(?:the\s+)?{re.escape(phrase)}\b", old.memory.content)
    ):
        return True
    if _GIVES_AWAY.search(draft.content) and known & _HAS:
        return True
    return bool(new & known) or (in_slot and not new) or (not new and not known)


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.casefold() == other.casefold()
