"""
The patterns that slots are read by: one row for each way to say something, over skeletons.

A row is (slot, expression, kinds): the expression names its subject `s` and its value `v`; the slot may name other groups in
braces; the value must be a name of one of the kinds, a "?" lets plain words pass too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento.consolidation.agents import USER
from memento.consolidation.rules.common import JOBS
from memento.consolidation.rules.lexicon import NUMBER_WORDS
from memento.consolidation.rules.skeleton import DATE, KIN, NAME


@dataclass(frozen=True, slots=True)
class Pattern:
    """`slot` may name groups of the expression in braces; `kinds` are those of the value, "?" lets plain words pass."""

    slot: str
    expression: re.Pattern[str]
    kinds: str = "?"


_S = rf"(?P<s>{USER}(?: and others)?|{NAME}|{KIN})"
_V = r"(?P<v>(?:[^,;!?()\[\]]|,(?=\d)){1,80})"
_E = rf"(?P<v>{NAME})"
_N = rf"(?P<v>\d[\d,.]*|{'|'.join(NUMBER_WORDS)})"
_IS = (
    r"(?:is|are|has become|became|is set to|(?:has |have )?(?:been |was |is |were )?(?:changed|moved|set|raised"
    r"|increased|reduced|lowered|cut|bumped|updated|renamed)(?: from .{1,40}?)? to|went up to|went down to|grew "
    r"to|dropped to|rose to|fell to)"
)
_ROLE = (
    rf"(?:[\w&/+-]+ ){{0,4}}?(?i:{'|'.join(sorted(map(re.escape, JOBS), key=len, reverse=True))})(?: (?:of|for) "
    r"(?-i:[A-Za-z]+)(?: [a-z]+)?)?"
)
_WORKS = r"(?:works|work|is working|are working|has worked|has been working|has been)"
_PEOPLE = (
    r"(?:people|persons|members|engineers|developers|employees|designers|folks|staff|colleagues|of us|men|women"
    r"|analysts|researchers|scientists)"
)
_NO_JOB = (
    r"'s\b| (?-i:[A-Z])| (?:gym|club|team|choir|band|class|course|group|league|society|community|meetup|server|channel"
    r"|challenge|forum|party|church|newsletter|call|meeting)\b"
    r"| (?:for|at|on|in) (?:an? |the )?(?:lunch|dinner|coffee|drinks?|breakfast|brunch|walk|run|trip|ride|call|game)\b"
)
"""What follows after "joined Spartan" where that is no employer."""

_TECHNICAL = r"(?:(?i:ip|port|url|host|hostname|version|endpoint)(?: address| number)?)"
_DIETS = r"vegan|vegetarian|pescatarian|omnivore|flexitarian|carnivore|keto|paleo|gluten-free|halal|kosher"
_STATES = (
    r"done|finished|blocked|in progress|on hold|cancell?ed|delayed|shipped|live|in beta|in alpha|complete"
    r"|completed|paused|in review|on track|late|archived|deprecated|abandoned|unblocked|released|in production"
)

_TABLE = (
    (
        "{role} ",
        rf"^(?P<v>{NAME}) (?:is|became|has become|was named|was appointed)(?: as)? (?:the )?(?:new "
        r")?(?P<role>CEO|CTO|CFO|COO|president|chairman|chairwoman|mayor|chancellor|prime minister|head coach"
        rf"|captain|owner|maintainer) of (?P<s>{NAME})",
        "Person Concept?",
    ),
    ("employer", rf"^{_S} {_WORKS}(?: as (?:an? |the )?(?P<role>{_ROLE}))? (?:at|for) {_V}", "Organization?"),
    (
        "employer",
        rf"^{_S} is (?:working as )?(?:an?|the) (?P<role>{_ROLE}) (?:at|of|for|with) (?:the company )?{_E}",
        "Organization",
    ),
    (
        "employer",
        rf"^{_S} (?:joined|has joined|joins) {_E}(?!{_NO_JOB})(?: as (?:an? |the |its |their )?(?P<role>{_ROLE}))?",
        "Organization",
    ),
    (
        "employer",
        rf"^{_S} (?:was|is|got|has been|were) (?:hired|employed|recruited|poached) (?:at|by) {_E}(?: as (?:an? "
        rf"|the )?(?P<role>{_ROLE}))?",
        "Organization",
    ),
    (
        "employer",
        rf"^{_S} (?:started|has started|starts|began|is starting)(?: working| work| (?:an?|{USER}'s|the) (?:new "
        rf")?(?:job|role|position))?(?: as (?:an? |the )?(?P<role>{_ROLE}))? (?:at|with|for) {_E}",
        "Organization",
    ),
    (
        "employer",
        rf"^{_S} (?:got|has|landed|took|found|has got|has taken|has found) (?:an?|the|{USER}'s) (?:\w+ )?(?:job"
        rf"|role|position) (?:at|with) {_E}",
        "Organization",
    ),
    (
        "employer",
        rf"^{_S} (?:moved|switched|went|transferred|has moved|has switched|changed)(?: (?:jobs|employers"
        rf"|companies))?(?: from {NAME})? to {_E}",
        "Organization",
    ),
    ("employer", rf"^{_S} is (?:an?|the) (?P<role>{_ROLE}) at {_V}", "Organization?"),
    ("employer", rf"^{_S} (?P<only_now>is|works) (?:at|with) {_E}$", "Organization"),
    (
        "employer",
        rf"^(?P<s>)(?:{USER} (?:has|had) )?(?:{USER}'s |the )?[Ff]irst (?:day|week|shift) (?:at|with) {_E}(?=$| {DATE})",
        "Organization",
    ),
    ("employer", rf"^{_S} (?:is|went|has gone|is going) back (?:at|to) {_E}", "Organization"),
    (
        "employer",
        rf"^{_S} (?:left|quit|has left|has quit) {NAME} (?:for|to join|to work for|to work at) {_E}",
        "Organization",
    ),
    ("employer", rf"^(?P<s>{USER}|{NAME})'s (?:new |current )?(?:employer|company) is {_E}", "Organization"),
    ("headquarters", rf"^(?P<s>{NAME})(?P<org>) (?:is|are) (?:based|headquartered|located) in {_E}", "Location"),
    (
        "headquarters",
        rf"^(?P<s>{NAME})(?P<org>) (?:moved|has moved|relocated)(?: (?:its|their) (?:headquarters|hq|head office"
        rf"|offices?))?(?: from {NAME})? to {_E}",
        "Location",
    ),
    (
        "headquarters",
        rf"^(?P<s>{NAME})'s (?:headquarters|hq|head office) (?:is|are)(?: located)? (?:in )?{_E}",
        "Location",
    ),
    (
        "home",
        rf"^{_S} (?:lives|live|is living|has lived|has been living|have lived|resides|is based|has been based|is "
        r"residing) (?:(?:alone|together|with [\w' ]{2,30}|(?:back|over) there) )?in (?:downtown |central "
        rf"|the city of )?{_E}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{_S} (?:moved|has moved|have moved|relocated|has relocated|emigrated|moved back|is back)(?: (?:back"
        rf"|over|out|away))?(?: from {NAME})? to (?:(?:an?|the|{USER}'s) (?:new )?(?:apartment|flat|house|place"
        rf"|city|town|studio) in )?{_E}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{_S} (?:is back|is back home|has returned|returned|went back|is living back) (?:in|to) {_E}(?= {DATE}|$| for good)",
        "Location",
    ),
    ("home", rf"^{_S} (?:settled|has settled)(?: down)? in {_E}", "Location Concept"),
    (
        "home",
        rf"^(?P<s>{USER}|{NAME}|{KIN})'s (?:new |current )?(?:home|home city|city|city of residence|place of "
        rf"residence) is (?:in )?{_E}",
        "Location Concept",
    ),
    (
        "home",
        rf"^{_S} (?:lives|live|is living) with [^,]{{2,40}}? in (?:an? [a-z ]{{3,30}} in )?{_E}",
        "Location Concept",
    ),
    (
        "{attr}",
        rf"^(?P<s>{USER}|{NAME}) (?:changed|has changed|updated|has updated) (?:{USER}|his|her|their)(?:'s)? "
        rf"(?P<attr>(?:[a-z-]+ ){{0,2}}[a-z-]+)(?: from .{{1,40}}?)? to {_V}",
        "?",
    ),
    ("birthplace", rf"^{_S} (?:was|were) born in {_E}", "Location Concept"),
    (
        "job title",
        rf"^{_S} (?:was|got|has been|is|were) promoted(?: from [^,]{{2,40}}?)? to (?:be )?(?:an? |the )?{_V}",
        "?",
    ),
    (
        "job title",
        rf"^{_S} (?:is working as|works as|is|became|has become|was appointed|was named|got hired as|was hired as"
        rf"|started as) (?:an? |the |as )?(?P<v>{_ROLE})(?=$| (?:in|on|since|and|who|with)\b|,| {DATE})",
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
        rf"^{_S} (?:leads|manages|runs|heads|has|have|supervises|is leading|is managing|work in|works in|works on"
        rf"|is on|is in|are) (?:an? )?team of {_N}",
        "?",
    ),
    ("team size", rf"^[Tt]here are {_N} {_PEOPLE} (?:on|in) (?P<s>{USER})'s team", "?"),
    ("team size", rf"^(?P<s>{USER}) and others are {_N}(?: {_PEOPLE})?(?: (?:on|in) the team)?$", "?"),
    ("employees", rf"^(?P<s>{NAME}) (?:has|employs|have) {_N} (?:employees|people|staff|workers)", "?"),
    (
        "number of children",
        rf"^{_S} (?:has|have) {_N} (?:(?:small|little|young|grown|wonderful|beautiful) )?(?:children|kids)"
        r"(?=$|,| (?:and|with|aged|together)\b)",
        "?",
    ),
    ("manager", rf"^{_S} reports? to {_E}", "Person Concept"),
    (
        "lead",
        rf"^{_E} (?:leads|heads|runs|manages|is leading|is heading|is running|is managing|is in charge of|is responsible for|owns"
        rf"|took over|has taken over|takes over|is taking over) (?:the )?(?P<s>{NAME})(?P<led>)(?: (?:team|project|migration|rollout|initiative|rewrite|launch))?(?: from {NAME})?(?=$| {DATE})",
        "Person Concept",
    ),
    (
        "lead",
        rf"^(?:[Tt]he )?(?P<s>{NAME})(?P<led>)(?: team)? (?:is|has been|was|got|will be) (?:being )?(?:(?:led|headed|run|managed|owned|taken over) by"
        rf"|(?:handed|passed|given|transferred|reassigned)(?: over)? to) {_E}",
        "Person Concept",
    ),
    (
        "partner",
        rf"^{_S} (?:is married to|is engaged to|is dating|got engaged to|got married to|married|has been dating"
        rf"|has been married to) {_E}",
        "Person Concept",
    ),
    (
        "relationship status",
        rf"^{_S} (?:is|got|has been) (?P<v>single|married|divorced|engaged|widowed|separated)$",
        "?",
    ),
    (
        "diet",
        rf"^{_S} (?:is|became|went|turned|has become|has been|has gone) (?:an? )?(?:strict )?(?P<v>{_DIETS})\b",
        "?",
    ),
    (
        "theme",
        rf"^{_S} (?:uses|prefers|likes|switched to|wants|switched from \w+ \w+ to) (?:the )?(?P<v>dark|light) "
        r"(?:mode|theme)",
        "?",
    ),
    (
        "age",
        rf"^{_S} (?:is|turned|has turned) (?P<v>\d{{1,3}})(?: years old| years of age)?(?=$| (?:and|{DATE})|,| "
        rf"{DATE})",
        "?",
    ),
    (
        "{tool} version",
        rf"^{_S} (?:uses?|is on|are on|is using|are using|runs?|is running|are running|(?:has |have )?(?:upgraded"
        rf"|updated|moved|migrated|switched)(?: from .{{1,30}}?)? to) (?P<tool>{NAME}) (?:version "
        r")?v?(?P<v>\d[\w.]*)",
        "?",
    ),
    (
        "{tool} version",
        rf"^{_S} (?:has |have )?(?:upgraded|updated|bumped|migrated|moved) (?P<tool>{NAME})(?: from v?[\d.]+)? "
        r"to (?:version )?v?(?P<v>\d[\w.]*)",
        "?",
    ),
    ("version", rf"^(?P<s>{NAME}) (?:is|runs) (?:at|on) (?:version )?v?(?P<v>\d[\w.]*)", "?"),
    ("status", rf"^(?P<s>{NAME})(?P<project>) (?:is|was|has been|got|went) (?P<v>{_STATES})\b", "?"),
    (
        "{category}",
        rf"^{_S} (?:uses|prefers|codes in|writes code in|switched(?: over)?(?: from [^,]{{1,30}}?)? to|moved(?: "
        r"from [^,]{1,30}?)? to|migrated(?: from [^,]{1,30}?)? to|has switched(?: from [^,]{1,30}?)? to"
        rf"|replaced [^,]{{1,30}} with|went back to|runs) {_E}(?! (?:and|or)\b| for (?!everything|all|coding"
        r"|programming))",
        "Technology",
    ),
    (
        "{attr}",
        rf"^{_S} uses {_E} as (?:(?:{USER}'s|his|her|their|a|the) )?(?P<attr>(?:[a-z-]+ ){{0,2}}?(?:editor|IDE"
        r"|browser|OS|operating system|shell|terminal|database|note-taking app|search engine|email client"
        r"|calendar))",
        "?",
    ),
    ("{owned}'s name", rf"^(?P<s>{USER})'s (?P<owned>[a-z]+)(?:'s name is| is (?:called|named)) {_V}", "?"),
    ("name", rf"^(?P<s>{USER})'s (?:full |first )?name is {_V}", "?"),
    ("name", rf"^(?P<s>{USER}) (?:is called|goes by) {_V}", "?"),
    ("name", rf"^(?P<s>{USER}) wants to be called {_V}", "?"),
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
        rf"|set to )?{_V}",
        "?",
    ),
    (
        "{attr}",
        rf"^[Tt]he (?P<attr>(?:(?:[a-z-]+|{NAME}) ){{0,2}}(?!(?:is|was|were|are|has|had|been)\b)[A-Za-z-]+) "
        rf"(?:of|for|at) (?P<s>{NAME}) {_IS} (?:at |in )?{_V}",
        "?",
    ),
    (
        "{attr} of {thing}",
        rf"^[Tt]he (?P<attr>(?:[a-z-]+ ){{0,2}}[a-z-]+) (?:of|for) (?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?) "
        rf"{_IS} {_V}",
        "?",
    ),
    (
        "{thing} {attr}",
        rf"^(?P<s>{USER})'s (?P<thing>[a-z]+(?: [a-z]+)?)'s (?P<attr>(?:[a-z-]+ )?[a-z-]+|{_TECHNICAL}) {_IS} {_V}",
        "?",
    ),
    (
        "{thing} {attr}",
        rf"^[Tt]he (?P<s>)(?P<thing>(?:[\w-]+ |{NAME} )?[\w-]+)'s (?P<attr>{_TECHNICAL}) {_IS} (?:at )?{_V}",
        "?",
    ),
)

PATTERNS = tuple(Pattern(slot, re.compile(expression), kinds) for slot, expression, kinds in _TABLE)

AS_ROLE = re.compile(rf"\bas (?:an? |the |its |their )?(?P<role>{_ROLE})(?=$|[ ,.])")
