"""
Which single-valued property a clause fills, of whom, and with what: "USER works at Acme" → USER, employer, Acme.

A table of patterns over skeletons, tried in order. Relations that may have several values at once (likes, uses, knows, has
visited, speaks) have no slot.

*But:* says nothing about mood; whoever asks makes sure that the clause states a fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento.consolidation.agents import USER
from memento.consolidation.rules.attributes import EVENTS, is_single, slot_name
from memento.consolidation.rules.common import JOBS, RELATIVES
from memento.consolidation.rules.dates import Dated
from memento.consolidation.rules.gazetteer import lookup
from memento.consolidation.rules.lexicon import NUMBER_WORDS, PRONOUNS
from memento.consolidation.rules.skeleton import DATE, KIN, NAME, Skeleton

CATEGORIES = {"code editor": "editor", "web browser": "browser", "operating system": "operating system"}
"""Well-known tools of which one is the user's at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A value for a slot; `date` is set when the slot holds a date; `role` is a job title that the clause names beside an employer."""

    subject: str
    slot: str
    value: str
    date: Dated | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """`slot` may name groups of the expression in braces; `kinds` are the kinds that the value must be, a "?" lets plain words pass."""

    slot: str
    expression: re.Pattern[str]
    kinds: str = "?"


_S = rf"(?P<s>{USER}(?: and others)?|{NAME}|{KIN})"
_V = r"(?P<v>(?:[^,;!?()\[\]]|,(?=\d)){1,80})"
_E = rf"(?P<v>{NAME})"
_N = rf"(?P<v>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})"
_IS = r"(?:is|are|has become|became|is set to|(?:has |have )?(?:been |was |is |were )?(?:changed|moved|set|raised|increased|reduced|lowered|cut|bumped|updated|renamed)(?: from .{1,40}?)? to|went up to|went down to|grew to|dropped to|rose to|fell to)"
_ROLE = rf"(?:[\w&/+-]+ ){{0,4}}?(?:{'|'.join(sorted(map(re.escape, JOBS), key=len, reverse=True))})(?: (?:of|for) [a-z]+(?: [a-z]+)?)?"
_WORKS = r"(?:works|work|is working|are working|has worked|has been working|has been)"
_PEOPLE = r"(?:people|persons|members|engineers|developers|employees|designers|folks|staff|colleagues|of us|men|women|analysts|researchers|scientists)"
_DIETS = r"vegan|vegetarian|pescatarian|omnivore|flexitarian|carnivore|keto|paleo|gluten-free|halal|kosher"
_STATES = r"done|finished|blocked|in progress|on hold|cancell?ed|delayed|shipped|live|in beta|in alpha|complete|completed|paused|in review|on track|late|archived|deprecated|abandoned|unblocked|released|in production"

_TABLE = (
    ("employer", rf"^{_S} {_WORKS}(?: as (?:an? |the )?(?P<role>{_ROLE}))? (?:at|for) {_V}", "Organization?"),
    ("employer", rf"^{_S} is (?:working as )?(?:an?|the) (?P<role>{_ROLE}) (?:at|of|for|with) (?:the company )?{_E}", "Organization"),
    ("employer", rf"^{_S} (?:joined|has joined|joins) {_E}(?: as (?:an? |the |its |their )?(?P<role>{_ROLE}))?", "Organization"),
    ("employer", rf"^{_S} (?:was|is|got|has been|were) (?:hired|employed|recruited|poached) (?:at|by) {_E}(?: as (?:an? |the )?(?P<role>{_ROLE}))?", "Organization"),
    ("employer", rf"^{_S} (?:started|has started|starts|began|is starting)(?: working| work| (?:an?|{USER}'s|the) (?:new )?(?:job|role|position))?(?: as (?:an? |the )?(?P<role>{_ROLE}))? (?:at|with|for) {_E}", "Organization"),
    ("employer", rf"^{_S} (?:got|has|landed|took|found|has got|has taken|has found) (?:an?|the|{USER}'s) (?:\w+ )?(?:job|role|position) (?:at|with) {_E}", "Organization"),
    ("employer", rf"^{_S} (?:moved|switched|went|transferred|has moved|has switched|changed)(?: (?:jobs|employers|companies))?(?: from {NAME})? to {_E}", "Organization"),
    ("employer", rf"^{_S} is (?:an?|the) (?P<role>{_ROLE}) at {_V}", "Organization?"),
    ("employer", rf"^{_S} (?P<only_now>is|works) (?:at|with) {_E}$", "Organization"),
    ("employer", rf"^(?P<s>{USER}|{NAME})'s (?:new |current )?(?:employer|company) is {_E}", "Organization"),
    ("headquarters", rf"^(?P<s>{NAME})(?P<org>) (?:is|are) (?:based|headquartered|located) in {_E}", "Location"),
    ("headquarters", rf"^(?P<s>{NAME})(?P<org>) (?:moved|has moved|relocated)(?: (?:its|their) (?:headquarters|hq|head office|offices?))?(?: from {NAME})? to {_E}", "Location"),
    ("headquarters", rf"^(?P<s>{NAME})'s (?:headquarters|hq|head office) (?:is|are)(?: located)? (?:in )?{_E}", "Location"),
    ("home", rf"^{_S} (?:lives|live|is living|has lived|has been living|have lived|resides|is based|has been based|is residing) (?:(?:alone|together|with [\w' ]{{2,30}}|(?:back|over) there) )?in (?:downtown |central |the city of )?{_E}", "Location Concept"),
    ("home", rf"^{_S} (?:moved|has moved|have moved|relocated|has relocated|emigrated|moved back|is back)(?: (?:back|over|out|away))?(?: from {NAME})? to (?:(?:an?|the|{USER}'s) (?:new )?(?:apartment|flat|house|place|city|town|studio) in )?{_E}", "Location Concept"),
    ("home", rf"^{_S} (?:settled|has settled)(?: down)? in {_E}", "Location Concept"),
    ("home", rf"^(?P<s>{USER}|{NAME}|{KIN})'s (?:new |current )?(?:home|home city|city|city of residence|place of residence) is (?:in )?{_E}", "Location Concept"),
    ("birthplace", rf"^{_S} (?:was|were) born in {_E}", "Location Concept"),
    ("{role} ", rf"^(?P<v>{NAME}|{USER}) (?:is|became|has become|was named|was appointed)(?: as)? (?:the )?(?:new )?(?P<role>CEO|CTO|CFO|COO|president|chairman|chairwoman|mayor|chancellor|prime minister|head coach|captain|owner|maintainer) of (?P<s>{NAME})", "Person Concept?"),
    ("job title", rf"^{_S} (?:was|got|has been|is|were) promoted(?: from [^,]{{2,40}}?)? to (?:be )?(?:an? |the )?{_V}", "?"),
    ("job title", rf"^{_S} (?:is working as|works as|is|became|has become|was appointed|was named|got hired as|was hired as|started as) (?:an? |the |as )?(?P<v>{_ROLE})(?=$| (?:in|on|since|and|who|with)\b|,| {DATE})", "?"),
    ("team size", rf"^(?P<s>{USER}|{NAME})'s team (?:has|is|are|consists of|counts|grew to|shrank to|has grown to|has shrunk to|went to|includes)(?: a team of)? {_N}(?: {_PEOPLE})?(?! (?:year|month|week|day|project|meeting|goal)s?\b)", "?"),
    ("team size", rf"^[Tt]he (?P<s>{NAME}) team (?:has|is|are|consists of|counts|grew to|shrank to|has grown to|has shrunk to) {_N}(?: {_PEOPLE})?(?! (?:year|month|week|day|project|meeting|goal)s?\b)", "?"),
    ("team size", rf"^{_S} (?:leads|manages|runs|heads|has|have|supervises|is leading|is managing|work in|works in|works on|is on|is in|are) (?:an? )?team of {_N}", "?"),
    ("team size", rf"^[Tt]here are {_N} {_PEOPLE} (?:on|in) (?P<s>{USER})'s team", "?"),
    ("team size", rf"^(?P<s>{USER}) and others are {_N}(?: {_PEOPLE})?(?: (?:on|in) the team)?$", "?"),
    ("employees", rf"^(?P<s>{NAME}) (?:has|employs|have) {_N} (?:employees|people|staff|workers)", "?"),
    ("manager", rf"^{_S} reports? to {_E}", "Person Concept"),
    ("partner", rf"^{_S} (?:is married to|is engaged to|is dating|got engaged to|got married to|married|has been dating|has been married to) {_E}", "Person Concept"),
    ("relationship status", rf"^{_S} (?:is|got|has been) (?P<v>single|married|divorced|engaged|widowed|separated)$", "?"),
    ("diet", rf"^{_S} (?:is|became|went|turned|has become|has been|has gone) (?:an? )?(?:strict )?(?P<v>{_DIETS})\b", "?"),
    ("theme", rf"^{_S} (?:uses|prefers|likes|switched to|wants|switched from \w+ \w+ to) (?:the )?(?P<v>dark|light) (?:mode|theme)", "?"),
    ("age", rf"^{_S} (?:is|turned|has turned) (?P<v>\d{{1,3}})(?: years old| years of age)?(?=$| (?:and|{DATE})|,| {DATE})", "?"),
    ("{tool} version", rf"^{_S} (?:uses?|is on|are on|is using|are using|runs?|is running|are running|(?:has |have )?(?:upgraded|updated|moved|migrated|switched)(?: from .{{1,30}}?)? to) (?P<tool>{NAME}) (?:version )?v?(?P<v>\d[\w.]*)", "?"),
    ("{tool} version", rf"^{_S} (?:has |have )?(?:upgraded|updated|bumped|migrated|moved) (?P<tool>{NAME})(?: from v?[\d.]+)? to (?:version )?v?(?P<v>\d[\w.]*)", "?"),
    ("version", rf"^(?P<s>{NAME}) (?:is|runs) (?:at|on) (?:version )?v?(?P<v>\d[\w.]*)", "?"),
    ("status", rf"^(?P<s>{NAME})(?P<project>) (?:is|was|has been|got|went) (?P<v>{_STATES})\b", "?"),
    ("{category}", rf"^{_S} (?:uses|prefers|codes in|writes code in|switched(?: over)?(?: from [^,]{{1,30}}?)? to|moved(?: from [^,]{{1,30}}?)? to|migrated(?: from [^,]{{1,30}}?)? to|has switched(?: from [^,]{{1,30}}?)? to|replaced [^,]{{1,30}} with|went back to|runs) {_E}(?! (?:and|or)\b| for (?!everything|all|coding|programming))", "Technology"),
    ("{attr}", rf"^{_S} uses {_E} as (?:(?:{USER}'s|his|her|their|a|the) )?(?P<attr>(?:[a-z-]+ ){{0,2}}?(?:editor|IDE|browser|OS|operating system|shell|terminal|database|note-taking app|search engine|email client|calendar))", "?"),
    ("{owned}'s name", rf"^(?P<s>{USER})'s (?P<owned>[a-z]+)(?:'s name is| is (?:called|named)) {_V}", "?"),
    ("name", rf"^(?P<s>{USER})'s (?:full |first )?name is {_V}", "?"),
    ("name", rf"^(?P<s>{USER}) (?:is called|goes by) {_V}", "?"),
    ("name", rf"^(?:[Pp]lease )?[Cc]all (?P<s>{USER}) {_V}", "?"),
    ("{attr}", rf"^(?P<v>{NAME}|[\w' -]{{2,30}}) is (?P<s>{USER}|{NAME}|{KIN})'s (?P<attr>(?:favou?rite|main|preferred|go-to|primary|default) [a-z ]{{3,30}}|(?:new )?(?:manager|boss|supervisor|wife|husband|spouse|partner|girlfriend|boyfriend|landlord|dentist|therapist|employer|CEO|CTO|editor|hometown))$", "?"),
    ("{attr}", rf"^(?P<s>{USER}|{NAME}|{KIN})'s (?P<attr>(?:[a-z-]+ ){{0,2}}[A-Za-z-]+) {_IS} (?:at |in |called |named |set to )?{_V}", "?"),
    ("{attr}", rf"^[Tt]he (?P<attr>(?:[a-z-]+ ){{0,2}}[A-Za-z-]+) (?:of|for|at) (?P<s>{NAME}) {_IS} (?:at |in )?{_V}", "?"),
    ("{attr} of {thing}", rf"^[Tt]he (?P<attr>(?:[a-z-]+ ){{0,2}}[a-z-]+) (?:of|for) (?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?) {_IS} {_V}", "?"),
    ("{thing} {attr}", rf"^(?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?)'s (?P<attr>(?:[a-z-]+ )?[a-z-]+) {_IS} {_V}", "?"),
)  # fmt: skip

_MOVED = (
    r"(?:is|are|will be|(?:is|was|were|has been|have been|got|gets|are) (?:re)?(?:scheduled|moved|set|postponed|planned|pushed|delayed|brought|booked|due|confirmed|changed|shifted|booked in)|moved|has moved|slipped|has slipped|takes place|"
    r"will take place|starts|will start|begins|falls|shifted|changed|happens|will happen|comes)(?: (?:back|out|forward|up))?(?: (?:to|for|on|at|till|until|till|in))?"
)
_DATED = (
    re.compile(rf"^(?:(?P<s>{NAME})'s|{USER}'s|{USER} and others'|[Tt]he|[Tt]his|[Aa]n?)?\s*(?P<attr>(?:[A-Za-z][\w-]* ){{0,3}}?{EVENTS})(?: date| day)?(?: (?P<link>of|for|with|at|to) (?P<of>{NAME}|(?:{USER}'s |the )?[a-z]+(?: [a-z]+)?))? {_MOVED}(?: (?P<d0>{DATE}))*? (?P<d>{DATE})$", re.IGNORECASE),
    re.compile(rf"^(?:[Tt]he )?(?P<of>{NAME}) (?P<attr>{EVENTS})(?: date)? {_MOVED}(?: {DATE})*? (?P<d>{DATE})$"),
    re.compile(rf"^(?P<s>{NAME}|{USER}'s [a-z]+(?: [a-z]+)?) (?:is |are |will |will be |has been |was )?(?P<verb>launches|launch|launching|launched|ships|ship|shipping|shipped|released|releases|goes live|go live|due|starts|start|begins|takes place|take place|scheduled|postponed|moved|rescheduled|delayed|pushed|slipped|happening)(?: back)?(?: (?:to|for))?(?: {DATE})*? (?P<d>{DATE})$"),
    re.compile(rf"^(?P<s>{NAME}) (?:is|are|will be) (?P<d>{DATE})$"),
)  # fmt: skip

_PATTERNS = tuple(Pattern(slot, re.compile(expression), kinds) for slot, expression, kinds in _TABLE)
_AS_ROLE = re.compile(rf"\bas (?:an? |the |its |their )?(?P<role>{_ROLE})(?=$|[ ,.])")
_NO_EMPLOYER = re.compile(
    r"^(?:home|nights?|weekends?|least|times?|all|USER\b|it|this|that|them|him|her|hours?|free|myself|himself|herself|days?|a while|now|work|school|heart|best|first|\d.*|(?:many|several|a few|some).*|long.*|years?|months?)$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:not|no|very|too|so|really|quite|great|good|bad|nice|fine|ok|okay|broken|gone|here|there|unknown|unclear|important|changing|going|being|getting|still|always|never|in|on|at|under|up|down|like|what|how|why|when|that|to|because|because|ready|difficult|hard|easy|amazing|awesome|terrible|crazy|funny|only|just|more|less|much|way|pretty|all|everything|nothing|something|growing|killing)\b|^\w+ing\b(?! )",
    re.IGNORECASE,
)


def slot_of(skeleton: Skeleton) -> Filled | None:
    """
    The slot that a clause fills, or None.

    >>> from memento.consolidation.rules.skeleton import skeleton as reduced
    >>> found = slot_of(reduced("USER's team has 5 people", [], []))
    >>> (found.subject, found.slot, found.value)
    ('USER', 'team size', '5')
    >>> slot_of(reduced("USER likes tea", [], [])) is None
    True
    """
    if dated := _date_slot(skeleton):
        return dated
    for pattern in _PATTERNS:
        match = pattern.expression.search(skeleton.text)
        if match and (filled := _filled(pattern, match, skeleton)):
            return filled
    return None


def _filled(pattern: Pattern, match: re.Match[str], skeleton: Skeleton) -> Filled | None:
    group = match.groupdict()
    value = _value(pattern, group["v"], skeleton)
    subject = _subject(group["s"], skeleton)
    if not value or subject is None or not _fits(group, skeleton):
        return None
    slot = _slot(pattern.slot, group, value, skeleton)
    if (
        slot is None
        or (slot == "employer" and _NO_EMPLOYER.match(value))
        or value.lower() == subject.lower()
        or value.lower() in PRONOUNS
    ):
        return None
    role = _role(group, skeleton) if slot == "employer" else None
    date = (
        next((skeleton.dated(sign) for sign in match.group() if skeleton.dated(sign)), None) if "date" in slot else None
    )
    return Filled(
        subject=subject, slot=f"{skeleton.kin} {slot}" if group["s"] == KIN else slot, value=value, role=role, date=date
    )


def _role(group: dict[str, str | None], skeleton: Skeleton) -> str | None:
    """The job title that stands beside an employer, wherever in the clause."""
    match = _AS_ROLE.search(skeleton.text)
    role = group.get("role") or (match["role"] if match else None)
    return skeleton.words(role) if role else None


def _fits(group: dict[str, str | None], skeleton: Skeleton) -> bool:
    """Whether the subject is of the kind that the pattern is about: an organisation has headquarters, a project a status."""
    subject = skeleton.named(group["s"] or "")
    if "org" in group:
        return subject is not None and subject.kind == "Organization"
    if "only_now" in group:
        return bool(re.search(r"\b(?:now|currently|these days)\b", skeleton.said, re.IGNORECASE))
    if "project" in group:
        return subject is not None and subject.kind == "Project"
    return True


def _slot(template: str, group: dict[str, str | None], value: str, skeleton: Skeleton) -> str | None:
    if "{category}" in template:
        known = lookup(value)
        return CATEGORIES.get(known.what) if known else None
    if "{tool}" in template:
        return f"{skeleton.words(group['tool'] or '').lower()} version"
    if "{owned}" in template:
        owned = group["owned"] or ""
        return None if owned in RELATIVES or owned.endswith("s") else f"{owned}'s name"
    if template == "{role} ":
        return slot_name(group["role"] or "")
    attribute = group.get("attr")
    if not attribute:
        return template
    measured = (
        bool(re.match(r"[\d$€£~]", value)) and attribute.split()[-1] not in RELATIVES and not attribute.endswith("s")
    )
    if not measured and (not is_single(attribute) or _VAGUE.match(value)):
        return None
    thing = group.get("thing")
    if (
        thing
        and thing.split()[-1] in RELATIVES
        and thing.split()[-1] not in ("wife", "husband", "partner", "mother", "father", "mom", "dad", "boss", "manager")
    ):
        return None
    return template.format(attr=slot_name(attribute), thing=thing)


def _value(pattern: Pattern, text: str | None, skeleton: Skeleton) -> str:
    if not text:
        return ""
    if (mention := skeleton.named(text[0])) is not None and len(text) == 1:
        return mention.name if pattern.kinds == "?" or mention.kind in pattern.kinds else ""
    if "?" not in pattern.kinds:
        return ""
    if text[0].isdigit() or text.lower() in NUMBER_WORDS:
        whole = re.match(
            r"\d[\w.,:%/-]*(?:\s?(?:%|(?!every|each|on|in|for|and|per|or|at|with|this|of|to)[a-zA-Z€$£]+))?",
            skeleton.words(text),
        )
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
    return skeleton.phrase(text)


def _subject(sign: str | None, skeleton: Skeleton) -> str | None:
    """The name of who or what the slot belongs to; a nameless relative's slots are kept with the user."""
    if sign is None or sign.startswith(USER) or sign == KIN:
        return USER
    mention = skeleton.named(sign)
    return mention.name if mention else None


def _date_slot(skeleton: Skeleton) -> Filled | None:
    """The date of something: "Orion's launch moved to June 1" → Orion, date of launch, 2024-06-01."""
    for index, expression in enumerate(_DATED):
        match = expression.search(skeleton.text)
        if match is None or (date := skeleton.dated(match["d"])) is None or date.role in ("since", "for"):
            continue
        group = match.groupdict()
        if index >= 2 and not _schedules(group, index, skeleton):
            continue
        subject, slot = _dated_of(group, skeleton)
        value = f"{date.value:%Y-%m-%d %H:%M}" if date.has_time else f"{date.value:%Y-%m-%d}"
        return Filled(subject=subject, slot=slot, value=value, date=date)
    return None


def _schedules(group: dict[str, str | None], index: int, skeleton: Skeleton) -> bool:
    """Whether the subject of "… is on Friday" or "… starts in May" is something that has a date."""
    subject = skeleton.named(group["s"] or "")
    if subject is None:
        return index == 2 and bool(re.search(r"launch|ship|releas|live|due", group.get("verb") or ""))
    return subject.kind == "Event" or (
        index == 2
        and subject.kind in ("Project", "Technology", "Concept")
        and bool(
            re.search(
                r"launch|ship|releas|live|due|postponed|scheduled|moved|delayed|pushed|slipped", group.get("verb") or ""
            )
        )
    )


def _dated_of(group: dict[str, str | None], skeleton: Skeleton) -> tuple[str, str]:
    attribute = (group.get("attr") or ("deadline" if group.get("verb") == "due" else "launch")).lower()
    owner, other = skeleton.named(group.get("s") or ""), group.get("of")
    if group.get("attr") is None and owner is not None and owner.kind == "Event":
        return owner.name, "date"
    slot = "deadline" if attribute in ("deadline", "due date") else f"date of {attribute}"
    if other and (mention := skeleton.named(other)) and group.get("link") != "with":
        return mention.name, slot
    if other:
        link = group.get("link") or "of"
        return (
            owner.name if owner else USER
        ), f"{slot} {link} {skeleton.words(re.sub(rf'^(?:{USER}.s|the) ', '', other))}"
    if owner is None and (group.get("s") or "").startswith(USER):
        return USER, f"{slot} of {(group['s'] or '').split(' ', 1)[1]}"
    return (owner.name if owner else USER), slot
