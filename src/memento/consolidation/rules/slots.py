"""
Find which single-valued property a clause fills, of whom, and with what: "USER works at Acme" → USER, employer, Acme.

A table of patterns over skeletons, tried in order. Relations that may have several values at once (likes, uses, knows, has visited,
speaks) have no slot.

*But:* mood is not checked here; the caller makes sure that the clause states a fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memento.consolidation.agents import USER
from memento.consolidation.rules.offices import office, role_name
from memento.consolidation.rules.patterns import DatedRow, SlotRow, dated_rows, role_beside, signs, slot_rows
from memento.consolidation.rules.relations import is_single, slot_name
from memento.consolidation.rules.skeleton import DATE, KIN, NAME, Skeleton
from memento.text.dates import Dated
from memento.text.kinds import lookup
from memento.text.tables import Entry
from memento.text.words import NUMBER_WORDS, PRONOUNS, RELATIVES, base_of, third_singular

CATEGORIES = {"code editor": "editor", "web browser": "browser", "operating system": "operating system"}
"""Categories of well-known tools that have one value at a time, and their slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A value for a slot; `date` is set if the slot holds a date; `role` is a job title named next to an employer."""

    subject: str
    slot: str
    value: str
    date: Dated | None = None
    role: str | None = None
    sure: bool = True


def held_in(sentence: str) -> Filled | None:
    """
    Return the role that a clause says somebody holds, as a slot of what the role belongs to, or None.

    >>> found = held_in("Ilse Brandt is now treasurer of Orbital Choir")
    >>> (found.subject, found.slot, found.value)
    ('Orbital Choir', 'treasurer', 'Ilse Brandt')
    """
    found = office(sentence)
    return Filled(subject=found.subject, slot=found.relation, value=found.value, sure=found.sure) if found else None


def slot_of(
    skeleton: Skeleton,
    rows: Sequence[Entry[SlotRow]] | None = None,
    dated: Sequence[Entry[DatedRow]] | None = None,
) -> Filled | None:
    """
    Return the slot that a clause fills, or None; `rows` and `dated` default to the whole tables.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> found = slot_of(reduced("USER's team has 5 people", [], []))
    >>> (found.subject, found.slot, found.value)
    ('USER', 'team size', '5')
    >>> slot_of(reduced("USER likes tea", [], [])) is None
    True
    """
    if filled := _date_slot(skeleton, dated_rows() if dated is None else dated):
        return filled
    for entry in slot_rows() if rows is None else rows:
        match = entry.pattern.search(skeleton.text)
        if match and (filled := _filled(entry.row, match, skeleton)):
            return filled
    return None


_SUPPOSED = re.compile(
    rf"(?<![\w'’])(?=(?P<s>(?:{USER}(?: and others)?|{NAME}|{KIN})(?:['’]s(?:\s[a-z-]+){{1,3}}?)?)\s+"
    r"(?:[a-z]+\s+(?:[a-z]+\s+){0,3}?(?:to|of|about)\s+(?P<aim>[a-z]+)"
    r"|(?:(?:might|could|would|may|should|will|can|must|had)\s+)?(?P<verb>[a-z]+))\b(?P<rest>.*))"
)


def suppose(skeleton: Skeleton) -> Filled | None:
    """
    Return the slot that a clause would fill if what it wishes, plans or reports were true, or None.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> from memento.consolidation.agents import Mention
    >>> porto = [Mention(name="Porto", kind="Location")]
    >>> [suppose(reduced(f"USER {said} in Porto", porto, [])).value for said in ("wishes USER lived", "hopes to live")]
    ['Porto', 'Porto']
    >>> suppose(reduced("USER hopes to sleep", [], [])) is None
    True
    """
    for match in reversed([*_SUPPOSED.finditer(skeleton.text)]):
        said = match["aim"] or match["verb"]
        base = "be" if said in ("were", "was", "be", "been") else base_of(said)
        if base is None:
            continue
        under_way = f"is {said}" if said.endswith("ing") else said
        for verb in dict.fromkeys(("is" if base == "be" else third_singular(base), under_way)):
            if filled := slot_of(replace(skeleton, text=f"{match['s']} {verb}{match['rest']}")):
                return filled
    return None


def _filled(pattern: SlotRow, match: re.Match[str], skeleton: Skeleton) -> Filled | None:
    group = match.groupdict()
    value = _value(pattern, group["v"], skeleton)
    subject = _subject(group["s"], skeleton)
    if not value or value.lower().startswith("not ") or subject is None or not _fits(group, skeleton):
        return None
    slot = _slot(pattern.slot, group, value, skeleton)
    if (
        slot is None
        or (slot == "employer" and signs()["no-employer"].match(value))
        or value.lower() == subject.lower()
        or value.lower() in PRONOUNS
    ):
        return None
    role = _role(group, skeleton) if slot == "employer" else None
    date = (
        next((skeleton.dated(sign) for sign in match.group() if skeleton.dated(sign)), None) if "date" in slot else None
    )
    slot = role_name(slot)
    return Filled(
        subject=subject, slot=f"{skeleton.kin} {slot}" if group["s"] == KIN else slot, value=value, role=role, date=date
    )


def _role(group: dict[str, str | None], skeleton: Skeleton) -> str | None:
    """Return the job title next to an employer, anywhere in the clause."""
    match = role_beside().search(skeleton.text)
    role = group.get("role") or (match["role"] if match else None)
    return skeleton.words(role) if role else None


def _fits(group: dict[str, str | None], skeleton: Skeleton) -> bool:
    """Tell whether the subject is of the kind that the pattern needs: an organisation has headquarters, a project a status."""
    subject = skeleton.named(group["s"] or "")
    if "org" in group:
        return subject is not None and subject.kind == "Organization"
    if "only_now" in group:
        return bool(signs()["now-beside"].search(skeleton.said))
    if "project" in group:
        return subject is not None and subject.kind in ("Project", "Concept")
    if "led" in group:
        return subject is not None and subject.kind in ("Project", "Organization", "Concept")
    return True


def _slot(template: str, group: dict[str, str | None], value: str, skeleton: Skeleton) -> str | None:
    if "{category}" in template:
        known = lookup(value)
        return CATEGORIES.get(known.what) if known else None
    if "{tool}" in template:
        return f"{skeleton.words(group['tool'] or '').lower()} version"
    if "{owned}" in template:
        owned = group["owned"] or ""
        return None if owned in RELATIVES or owned.endswith("s") else template.format(owned=owned)
    if template == "{role}":
        return slot_name(group["role"] or "")
    if not group.get("attr"):
        return template
    attribute = skeleton.words(group["attr"] or "")
    measured = (
        bool(re.match(r"[\d$€£~]", value)) and attribute.split()[-1] not in RELATIVES and not attribute.endswith("s")
    )
    if not measured and (not is_single(attribute) or signs()["vague"].match(value)):
        return None
    thing = group.get("thing")
    if (
        thing
        and thing.split()[-1] in RELATIVES
        and thing.split()[-1] not in ("wife", "husband", "partner", "mother", "father", "mom", "dad", "boss", "manager")
    ):
        return None
    return template.format(attr=slot_name(attribute), thing=skeleton.words(thing or "").lower())


def _value(pattern: SlotRow, text: str | None, skeleton: Skeleton) -> str:
    if not text:
        return ""
    if (mention := skeleton.named(text[0])) is not None and len(text) == 1:
        return mention.name if pattern.kinds == "?" or mention.kind in pattern.kinds else ""
    if "?" not in pattern.kinds:
        return ""
    if re.fullmatch(r"\d[\d\s().-]{5,}\d", text.strip()):
        return " ".join(text.split())
    if text[0].isdigit() or text.lower() in NUMBER_WORDS:
        whole = signs()["amount"].match(skeleton.words(text))
        return (whole.group().rstrip(".,") if whole else str(NUMBER_WORDS[text.lower()])).strip()
    if re.search(r"\S@\S", text) or text[0] in "+(":
        return skeleton.words(text.split(" and ")[0]).split(" " if "@" in text else ",")[0].rstrip(".,;")
    if re.fullmatch(DATE, text.strip()[:1]):
        dated = skeleton.dated(text.strip()[0])
        return (
            ""
            if dated is None
            else f"{dated.value.day} {dated.value:%B}"
            if "birthday" in skeleton.text
            else f"{dated.value:%Y-%m-%d}"
        )
    called = signs()["called-so"].match(text)
    if called and (mention := skeleton.named(called["v"])) is not None:
        return mention.name
    return skeleton.phrase(text)


def _subject(sign: str | None, skeleton: Skeleton) -> str | None:
    """Return the name of the owner of the slot; a slot of an unnamed relative belongs to the user."""
    if not sign or sign.startswith(USER) or sign == KIN:
        return USER
    mention = skeleton.named(sign)
    return mention.name if mention else None


def _date_slot(skeleton: Skeleton, rows: Sequence[Entry[DatedRow]]) -> Filled | None:
    """Return the slot for the date of something: "Orion's launch moved to June 1" → Orion, date of launch, 2024-06-01."""
    for entry in rows:
        match = entry.pattern.search(skeleton.text)
        if match is None or (date := skeleton.dated(match["d"])) is None or date.role in ("since", "for"):
            continue
        group = match.groupdict()
        if entry.row.of and not _schedules(group, entry.row.of, skeleton):
            continue
        subject, slot = _dated_of(group, skeleton)
        value = f"{date.value:%Y-%m-%d %H:%M}" if date.has_time else f"{date.value:%Y-%m-%d}"
        return Filled(subject=subject, slot=slot, value=value, date=date)
    return None


def _schedules(group: dict[str, str | None], of: str, skeleton: Skeleton) -> bool:
    """Tell whether the subject of "… is on Friday" or "… starts in May" can have a date."""
    subject = skeleton.named(group["s"] or "")
    if subject is None:
        return of == "verb" and bool(signs()["dates-itself"].search(group.get("verb") or ""))
    return subject.kind == "Event" or (
        of == "verb"
        and subject.kind in ("Project", "Technology", "Concept")
        and bool(signs()["dates-a-thing"].search(group.get("verb") or ""))
    )


def _dated_of(group: dict[str, str | None], skeleton: Skeleton) -> tuple[str, str]:
    attribute = (group.get("attr") or ("deadline" if group.get("verb") == "due" else "launch")).lower()
    owner, other = skeleton.named(group.get("s") or ""), group.get("of")
    if group.get("attr") is None and owner is not None and owner.kind == "Event":
        return owner.name, "date"
    slot = "deadline" if attribute in ("deadline", "due date") else f"date of {attribute}"
    if other and (mention := skeleton.named(other)) and group.get("link") not in ("with", "to", "in", "at"):
        return mention.name, slot
    if other:
        link = group.get("link") or "of"
        return (
            owner.name if owner else USER
        ), f"{slot} {link} {skeleton.words(signs()['owned-by-user'].sub('', other))}"
    if owner is None and (group.get("s") or "").startswith(USER):
        return USER, f"{slot} of {(group['s'] or '').split(' ', 1)[1]}"
    return (owner.name if owner else USER), slot
