"""
The patterns that slots are read by: one row for each way to say something, over skeletons.

A row is (slot, expression, kinds): the expression names its subject `s` and its value `v`; the slot may name other groups in
braces; the value must be a name of one of the kinds, a "?" lets plain words pass too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento.consolidation.agents import USER
from memento.consolidation.rules.skeleton import DATE, KIN, NAME
from memento.consolidation.rules.work import NAMED, ROLE, SUBJECT, WORDS, WORK
from memento.text.words import NUMBER_WORDS


@dataclass(frozen=True, slots=True)
class Pattern:
    """`slot` may name groups of the expression in braces; `kinds` are those of the value, "?" lets plain words pass."""

    slot: str
    expression: re.Pattern[str]
    kinds: str = "?"


_N = rf"(?P<v>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})"
_IS = (
    r"(?:is|are|has become|became|is set to|(?:has |have )?(?:been |was |is |were )?(?:changed|moved|set|raised"
    r"|increased|reduced|lowered|cut|bumped|updated|renamed)(?: from .{1,40}?)? to|went up to|went down to|grew "
    r"to|dropped to|rose to|fell to)"
)
_PEOPLE = (
    r"(?:people|persons|members|engineers|developers|employees|designers|folks|staff|colleagues|of us|men|women"
    r"|analysts|researchers|scientists)"
)
_TECHNICAL = r"(?:(?i:ip|port|url|host|hostname|version|endpoint)(?: address| number)?)"
_DIETS = r"vegan|vegetarian|pescatarian|omnivore|flexitarian|carnivore|keto|paleo|gluten-free|halal|kosher"
_STATES = (
    r"done|finished|blocked|in progress|on hold|cancell?ed|delayed|shipped|live|in beta|in alpha|complete"
    r"|completed|paused|in review|on track|late|archived|deprecated|abandoned|unblocked|released|in production"
)

_TABLE = (
    *WORK,
    (
        "home",
        rf"^{SUBJECT} (?:lives|live|is living|has lived|has been living|have lived|resides|is based|has been based|is "
        r"residing) (?:(?:alone|together|with [\w' ]{2,30}|(?:back|over) there) )?in (?:downtown |central "
        rf"|the city of )?{NAMED}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{SUBJECT} (?:moved|has moved|have moved|relocated|has relocated|emigrated|moved back|is back)(?: (?:back"
        rf"|over|out|away))?(?: from {NAME})? to (?:(?:an?|the|{USER}'s) (?:new )?(?:apartment|flat|house|place"
        rf"|city|town|studio) in )?{NAMED}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{SUBJECT} (?:lives|live|is living|is back living|is living back|rents|rent) (?:in )?(?:an?|the"
        rf"|{USER}'s) (?:[a-z-]+ ){{0,3}}"
        rf"(?:flat|apartment|house|room|studio|cottage|place|bedsit|loft) (?:in|near) {NAMED}",
        "Location Concept",
    ),
    ("home", rf"^{SUBJECT} (?:is back living|is living back|is living) in {NAMED}", "Location Concept"),
    ("home", rf"^{SUBJECT} (?:moved|has moved|is moving) in with [^,]{{2,30}}? in {NAMED}", "Location Concept"),
    (
        "home",
        rf"^{SUBJECT} (?:is back|is back home|has returned|returned|went back"
        rf"|is living back) (?:in|to) {NAMED}(?= {DATE}|$| for good)",
        "Location",
    ),
    ("home", rf"^{SUBJECT} (?:settled|has settled)(?: down)? in {NAMED}", "Location Concept"),
    (
        "home",
        rf"^(?P<s>{USER}|{NAME}|{KIN})'s (?:new |current )?(?:home|home city|city|city of residence|place of "
        rf"residence) is (?:in )?{NAMED}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{SUBJECT} (?:lives|live|is living) with [^,]{{2,40}}? in (?:an? [a-z ]{{3,30}} in )?{NAMED}",
        "Location Concept",
    ),
    (
        "{attr}",
        rf"^(?P<s>{USER}|{NAME}) (?:changed|has changed|updated|has updated) (?:{USER}|his|her|their)(?:'s)? "
        rf"(?P<attr>(?:[a-z-]+ ){{0,2}}[a-z-]+)(?: from .{{1,40}}?)? to {WORDS}",
        "?",
    ),
    ("birthplace", rf"^{SUBJECT} (?:was|were) born in {NAMED}", "Location Concept"),
    (
        "job title",
        rf"^{SUBJECT} (?:was|got|has been|is|were) promoted(?: from [^,]{{2,40}}?)? to (?:be )?(?:an? |the )?{WORDS}",
        "?",
    ),
    (
        "job title",
        rf"^{SUBJECT} (?:is working as|works as|is|became|has become|was appointed|was named|got hired as|was hired as"
        rf"|started as) (?:an? |the |as )?(?P<v>{ROLE})(?=$| (?:in|on|since|and|who|with)\b|,| {DATE})",
        "?",
    ),
    (
        "team size",
        rf"^(?P<s>{USER}|{NAME})'s team (?:has|is|are|consists of|counts|grew to|shrank to|has grown to|has "
        rf"shrunk to|went to|includes)(?: a team of)? {_N}(?: {_PEOPLE})?(?! (?:year|month|week|day|project"
        r"|meeting|goal)s?\b)",
        "?",
    ),
    (
        "team size",
        rf"^[Tt]he (?P<s>{NAME}) team (?:has|is|are|consists of|counts|grew to|shrank to|has grown to|has shrunk "
        rf"to) {_N}(?: {_PEOPLE})?(?! (?:year|month|week|day|project|meeting|goal)s?\b)",
        "?",
    ),
    (
        "team size",
        rf"^{SUBJECT} (?:leads|manages|runs|heads|has|have|supervises|is leading|is managing|work in|works in|works on"
        rf"|is on|is in|are) (?:an? )?team of {_N}",
        "?",
    ),
    ("team size", rf"^[Tt]here are {_N} {_PEOPLE} (?:on|in) (?P<s>{USER})'s team", "?"),
    ("team size", rf"^(?P<s>{USER}) and others are {_N}(?: {_PEOPLE})?(?: (?:on|in) the team)?$", "?"),
    ("employees", rf"^(?P<s>{NAME}) (?:has|employs|have) {_N} (?:employees|people|staff|workers)", "?"),
    (
        "number of children",
        rf"^{SUBJECT} (?:has|have) {_N} (?:(?:small|little|young|grown|wonderful|beautiful) )?(?:children|kids)"
        r"(?=$|,| (?:and|with|aged|together)\b)",
        "?",
    ),
    ("manager", rf"^{SUBJECT} reports? to {NAMED}", "Person Concept"),
    (
        "partner",
        rf"^{SUBJECT} (?:is married to|is engaged to|is dating|got engaged to|got married to|married|has been dating"
        rf"|has been married to) {NAMED}",
        "Person Concept",
    ),
    (
        "relationship status",
        rf"^{SUBJECT} (?:is|got|has been) (?P<v>single|married|divorced|engaged|widowed|separated)$",
        "?",
    ),
    (
        "diet",
        rf"^{SUBJECT} (?:is|became|went|turned|has become|has been|has gone) (?:an? )?(?:strict )?(?P<v>{_DIETS})\b",
        "?",
    ),
    (
        "{attr}",
        rf"^(?P<s>{USER}|{NAME})(?: and others)? (?:has|have|got|gets"
        rf"|has got) an? new (?P<attr>[A-Za-z-]+(?: [a-z]+)?)(?: {DATE})?"
        rf"(?:,| called| named|:| -| –| —)? {NAMED}",
        "?",
    ),
    (
        "place of {owned}",
        rf"^(?P<s>{USER})(?: and others)?(?:'s|') (?P<owned>office|studio|workshop|shop|lab|clinic|school|gym|desk"
        rf"|choir|class|club|daycare|nursery|practice"
        rf"|allotment|stall|garage|storage) (?:is|are|is located|is based|moved|has moved|relocated|has relocated"
        rf"|is moving)(?: in| at| on| to| into)+"
        rf" (?:the )?(?P<v>{NAME}|[a-z]+ (?:floor|building|wing|corner)[^,;]{{0,20}})",
        "?",
    ),
    (
        "diet",
        rf"^{SUBJECT} (?:eats|is eating|has started eating|started eating|has gone back to eating"
        rf"|went back to eating) (?P<v>meat)\b",
        "?",
    ),
    ("partner", rf"^{NAMED} and (?P<s>{USER}) (?:got|are|have got|is) (?:married|engaged|dating)\b", "Person Concept"),
    ("partner", rf"^(?P<s>{NAME}) and {NAMED} (?:got|are|have got) (?:married|engaged)\b", "Person Concept"),
    (
        "{attr}",
        rf"^[Tt]he (?P<s>)(?P<attr>(?:[a-z-]+ ){{1,3}}(?:password|passcode|code|pin|combination|extension|number"
        rf"|deadline|budget|price|fee|limit|url|port)) "
        rf"{_IS} {WORDS}",
        "?",
    ),
    (
        "theme",
        rf"^{SUBJECT} (?:uses|prefers|likes|switched to|wants|switched from \w+ \w+ to) (?:the )?(?P<v>dark|light) "
        r"(?:mode|theme)",
        "?",
    ),
    (
        "age",
        rf"^{SUBJECT} (?:is|turned|has turned) (?P<v>\d{{1,3}})(?: years old| years of age)?(?=$| (?:and|{DATE})|,| "
        rf"{DATE})",
        "?",
    ),
    (
        "{tool} version",
        rf"^{SUBJECT} (?:uses?|is on|are on|is using|are using|runs?|is running|are running|(?:has |have )?(?:upgraded"
        rf"|updated|moved|migrated|switched)(?: from .{{1,30}}?)? to) (?P<tool>{NAME}) (?:version "
        r")?v?(?P<v>\d[\w.]*)",
        "?",
    ),
    (
        "{tool} version",
        rf"^{SUBJECT} (?:has |have )?(?:upgraded|updated|bumped|migrated|moved) (?P<tool>{NAME})(?: from v?[\d.]+)? "
        r"to (?:version )?v?(?P<v>\d[\w.]*)",
        "?",
    ),
    ("version", rf"^(?P<s>{NAME}) (?:is|runs) (?:at|on) (?:version )?v?(?P<v>\d[\w.]*)", "?"),
    ("status", rf"^(?P<s>{NAME})(?P<project>) (?:is|was|has been|got|went) (?P<v>{_STATES})\b", "?"),
    (
        "{category}",
        rf"^{SUBJECT} (?:uses|prefers|codes in|writes code in|switched(?: over)?(?: from [^,]{{1,30}}?)? to|moved(?: "
        r"from [^,]{1,30}?)? to|migrated(?: from [^,]{1,30}?)? to|has switched(?: from [^,]{1,30}?)? to"
        rf"|replaced [^,]{{1,30}} with|went back to|runs) {NAMED}(?! (?:and|or)\b| for (?!everything|all|coding"
        r"|programming))",
        "Technology",
    ),
    (
        "{attr}",
        rf"^{SUBJECT} uses {NAMED} as (?:(?:{USER}'s|his|her|their|a|the) )?(?P<attr>(?:[a-z-]+ ){{0,2}}?(?:editor|IDE"
        r"|browser|OS|operating system|shell|terminal|database|note-taking app|search engine|email client"
        r"|calendar))",
        "?",
    ),
    ("{owned}'s name", rf"^(?P<s>{USER})'s (?P<owned>[a-z]+)(?:'s name is| is (?:called|named)) {WORDS}", "?"),
    ("name", rf"^(?P<s>{USER})'s (?:full |first )?name is {WORDS}", "?"),
    ("name", rf"^(?P<s>{USER}) (?:is called|goes by) {WORDS}", "?"),
    ("name", rf"^(?P<s>{USER}) wants to be called {WORDS}", "?"),
    (
        "{attr}",
        rf"^(?P<v>{NAME}|[\w' -]{{2,30}}) is (?P<s>{USER}|{NAME}|{KIN})'s (?P<attr>(?:favou?rite|main|preferred"
        r"|go-to|primary|default) [a-z ]{3,30}|(?:new )?(?:manager|boss|supervisor|wife|husband|spouse|partner"
        r"|girlfriend|boyfriend|landlord|dentist|therapist|employer|CEO|CTO|editor|hometown)"
        r"|(?:new |current )?(?:[a-z-]+ )?(?:master|lead|coach|captain|head|director|owner|accountant|lawyer|GP|doctor))$",
        "?",
    ),
    (
        "{attr}",
        rf"^(?P<s>{USER}|{NAME}|{KIN})'s (?P<attr>(?:(?:[a-z-]+|{NAME}) ){{0,2}}(?!(?:is|was|were|are|has|had"
        rf"|been)\b)[A-Za-z-]+) {_IS} (?:at |in |called |named "
        rf"|set to )?{WORDS}",
        "?",
    ),
    (
        "{attr}",
        rf"^[Tt]he (?P<attr>(?:(?:[a-z-]+|{NAME}) ){{0,2}}(?!(?:is|was|were|are|has|had|been)\b)[A-Za-z-]+) "
        rf"(?:of|for|at) (?P<s>{NAME}) {_IS} (?:at |in )?{WORDS}",
        "?",
    ),
    (
        "{attr} of {thing}",
        rf"^[Tt]he (?P<attr>(?:[a-z-]+ ){{0,2}}[a-z-]+) (?:of|for) (?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?) "
        rf"{_IS} {WORDS}",
        "?",
    ),
    (
        "{thing} {attr}",
        rf"^(?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?)'s (?P<attr>(?:[a-z-]+ )?[a-z-]+|{_TECHNICAL}) {_IS} {WORDS}",
        "?",
    ),
    (
        "{thing} {attr}",
        rf"^[Tt]he (?P<s>)(?P<thing>(?:[\w-]+ |{NAME} )?[\w-]+)'s (?P<attr>{_TECHNICAL}) {_IS} (?:at )?{WORDS}",
        "?",
    ),
)

PATTERNS = tuple(Pattern(slot, re.compile(expression), kinds) for slot, expression, kinds in _TABLE)

AS_ROLE = re.compile(rf"\bas (?:an? |the |its |their )?(?P<role>{ROLE})(?=$|[ ,.])")
