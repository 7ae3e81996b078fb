"""The patterns that tell the date of something: "the launch moved to ①", "Orion ships ①", "USER moved the meeting ①"."""

from __future__ import annotations

import re

from memento.consolidation.agents import USER
from memento.consolidation.rules.attributes import EVENTS
from memento.consolidation.rules.skeleton import DATE, NAME

_MOVED = (
    r"(?:is|are|will be|(?:is|was|were|has been|have been|got|gets|are) (?:re)?(?:scheduled|moved|set"
    r"|postponed|planned|pushed|delayed|brought|booked|due|confirmed|changed|shifted|booked in)|moved|has "
    r"moved|slipped|has slipped|takes place|"
    r"will take place|starts|will start|begins|falls|shifted|changed|happens|will happen|comes)(?: (?:back"
    r"|out|forward|up))?(?: (?:to|for|on|at|till|until|till|in))?"
)
DATED = (
    re.compile(
        rf"^(?:(?P<s>{NAME})'s|{USER}'s|{USER} and others'|[Tt]he|[Tt]his|[Aa]n?)?\s*(?P<attr>(?:[A-Za-z][\w-]* "
        rf"){{0,3}}?{EVENTS})(?: date| day)?(?: (?P<link>of|for|with|at|to|in) (?P<of>(?:{USER}'s |the )?"
        rf"{NAME}(?: [a-z]+)?|(?:{USER}'s |the )?[a-z]+(?: [a-z]+)?))? {_MOVED}(?: (?P<d0>{DATE}))*? (?P<d>{DATE})$",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:[Tt]he )?(?P<of>{NAME}) (?P<attr>{EVENTS})(?: date)? {_MOVED}(?: {DATE})*? (?P<d>{DATE})$"),
    re.compile(
        rf"^(?P<s>{NAME}|{USER}'s [a-z]+(?: [a-z]+)?) (?:is |are |will |will be |has been |was "
        r")?(?P<verb>launches|launch|launching|launched|ships|ship|shipping|shipped|released|releases|goes live"
        r"|go live|due|starts|start|begins|takes place|take place|scheduled|postponed|moved|rescheduled|delayed"
        rf"|pushed|slipped|happening)(?: back)?(?: (?:to|for))?(?: {DATE})*? (?P<d>{DATE})$"
    ),
    re.compile(rf"^(?P<s>{NAME}) (?:is|are|will be) (?P<d>{DATE})$"),
    re.compile(
        rf"^(?:{USER}(?: and others)?|[Tt]hey|[Tt]he [a-z]+|{NAME}) (?:has "
        rf"|have )?(?:re)?(?:moved|scheduled|postponed|pushed|shifted|delayed|changed|brought)"
        rf"(?: back| out| forward)? (?:the |an? |{USER}'s )?(?:(?P<s>{NAME})(?:'s)? )?(?P<attr>(?:[A-Za-z][\w-]*"
        rf" ){{0,3}}?{EVENTS})"
        rf"(?: (?P<link>of|for|with|at|to|in) (?P<of>{NAME}|(?:{USER}'s |the )?[a-z]+(?: [a-z]+)?))?"
        rf"(?: back| out| forward)?(?: from {DATE})?(?: to| until| till)?(?: {DATE})*? (?P<d>{DATE})$",
        re.IGNORECASE,
    ),
)
"""The third and the fourth need a subject that has a date; the others name what has one."""
