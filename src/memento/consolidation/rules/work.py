"""
The patterns of working life: who employs whom, who leads what, where a firm sits; with the fragments that all patterns share.

Rows are as in `patterns.py`, which tries these first.
"""

from __future__ import annotations

import re

from memento.consolidation.agents import USER
from memento.consolidation.rules.skeleton import DATE, KIN, NAME
from memento.text.words import JOBS

SUBJECT = rf"(?P<s>{USER}(?: and others)?|{NAME}|{KIN})"
WORDS = r"(?P<v>(?:[^,;!?()\[\]]|,(?=\d)){1,80})"
NAMED = rf"(?P<v>{NAME})"
ROLE = (
    rf"(?:[\w&/+-]+ ){{0,4}}?(?i:{'|'.join(sorted(map(re.escape, JOBS), key=len, reverse=True))})(?: (?:of|for) "
    r"(?-i:[A-Za-z]+)(?: [a-z]+)?)?"
)
_WORKS = r"(?:works|work|is working|are working|has worked|has been working|has been)"
"""What follows after "joined Spartan" where that is no employer."""


_NO_JOB = (
    r"'s\b| (?-i:[A-Z])| (?:gym|club|team|choir|band|class|course|group|league|society|community|meetup|server|channel"
    r"|challenge|forum|party|church|newsletter|call|meeting)\b"
    r"| (?:for|at|on|in) (?:an? |the )?(?:lunch|dinner|coffee|drinks?|breakfast|brunch|walk|run|trip|ride|call|game)\b"
)

WORK = (
    (
        "{role} ",
        rf"^(?P<v>{NAME}) (?:is|became|has become|was named|was appointed)(?: as)? (?:the )?(?:new "
        r")?(?P<role>CEO|CTO|CFO|COO|president|chairman|chairwoman|mayor|chancellor|prime minister|head coach"
        rf"|captain|owner|maintainer) of (?P<s>{NAME})",
        "Person Concept?",
    ),
    ("employer", rf"^{SUBJECT} {_WORKS}(?: as (?:an? |the )?(?P<role>{ROLE}))? (?:at|for) {WORDS}", "Organization?"),
    (
        "employer",
        rf"^{SUBJECT} is (?:working as )?(?:an?|the) (?P<role>{ROLE}) (?:at|of|for|with) (?:the company )?{NAMED}",
        "Organization",
    ),
    (
        "employer",
        rf"^{SUBJECT} (?:joined|has joined|joins) {NAMED}(?!{_NO_JOB})(?: as (?:an? |the |its |their )?(?P<role>{ROLE}))?",
        "Organization",
    ),
    (
        "employer",
        rf"^{SUBJECT} (?:was|is|got|has been|were) (?:hired|employed|recruited|poached) (?:at|by) {NAMED}(?: as (?:an? "
        rf"|the )?(?P<role>{ROLE}))?",
        "Organization",
    ),
    (
        "employer",
        rf"^{SUBJECT} (?:started|has started|starts|began|is starting)(?: working| work| (?:an?|{USER}'s|the) (?:new "
        rf")?(?:job|role|position))?(?: as (?:an? |the )?(?P<role>{ROLE}))? (?:at|with|for) {NAMED}",
        "Organization",
    ),
    (
        "employer",
        rf"^{SUBJECT} (?:got|has|landed|took|found|accepted|has got|has taken"
        rf"|has found|has accepted|has landed) (?:an?|the|{USER}'s) (?:\w+ )?(?:job"
        rf"|role|position) (?:at|with) {NAMED}",
        "Organization",
    ),
    (
        "employer",
        rf"^{SUBJECT} (?:moved|switched|went|transferred|has moved|has switched|changed)(?: (?:jobs|employers"
        rf"|companies))?(?: from {NAME})? to {NAMED}",
        "Organization",
    ),
    ("employer", rf"^{SUBJECT} is (?:an?|the) (?P<role>{ROLE}) at {WORDS}", "Organization?"),
    ("employer", rf"^{SUBJECT} (?P<only_now>is|works) (?:at|with) {NAMED}$", "Organization"),
    (
        "employer",
        rf"^(?P<s>)(?:{USER} (?:has|had) )?(?:{USER}'s |the )?[Ff]irst (?:day|week|shift) (?:at|with) {NAMED}(?=$| {DATE})",
        "Organization",
    ),
    ("employer", rf"^{SUBJECT} (?:is|went|has gone|is going) back (?:at|to) {NAMED}", "Organization"),
    (
        "employer",
        rf"^{SUBJECT} (?:left|quit|has left|has quit) {NAME} (?:for|to join|to work for|to work at) {NAMED}",
        "Organization",
    ),
    ("employer", rf"^(?P<s>{USER}|{NAME})'s (?:new |current )?(?:employer|company) is {NAMED}", "Organization"),
    ("headquarters", rf"^(?P<s>{NAME})(?P<org>) (?:is|are) (?:based|headquartered|located) in {NAMED}", "Location"),
    (
        "headquarters",
        rf"^(?P<s>{NAME})(?P<org>) (?:moved|has moved|relocated)(?: (?:its|their) (?:headquarters|hq|head office"
        rf"|offices?))?(?: from {NAME})? to {NAMED}",
        "Location",
    ),
    (
        "headquarters",
        rf"^(?P<s>{NAME})'s (?:headquarters|hq|head office) (?:is|are)(?: located)? (?:in )?{NAMED}",
        "Location",
    ),
    (
        "lead",
        rf"^{NAMED} (?:leads|heads|runs|manages|is leading|is heading|is running"
        rf"|is managing|is in charge of|is responsible for|owns"
        rf"|took over|has taken over|takes over|is taking over) (?:the )?(?P<s>{NAME})(?P<led>)(?: (?:team"
        rf"|project|migration|rollout|initiative|rewrite|launch))?(?: from {NAME})?(?=$| {DATE})",
        "Person Concept",
    ),
    (
        "lead",
        rf"^(?:[Tt]he )?(?P<s>{NAME})(?P<led>)(?: team)? (?:is|has been|was"
        rf"|got|will be) (?:being )?(?:(?:led|headed|run|managed|owned|taken over) by"
        rf"|(?:handed|passed|given|transferred|reassigned)(?: over)? to) {NAMED}",
        "Person Concept",
    ),
)
"""(slot, expression, kinds)"""
