"""Which properties have one value at a time, and the one name that each of them goes by."""

from __future__ import annotations

import re

from memento.text.tables import word_set

SINGLE = word_set("""
    name nickname surname username handle address phone email mobile birthday birthdate age height weight nationality
    citizenship hometown employer manager boss supervisor partner wife husband spouse girlfriend boyfriend fiancé
    fiancée fiance fiancee landlord landlady therapist dentist job role title position profession occupation salary
    wage income rent budget price cost fee mortgage deadline status version capital population ceo cto cfo coo
    president chairman chairwoman mayor chancellor headquarters hq owner maintainer editor ide browser os shell
    terminal timezone time-zone language diet religion pronouns pin port url homepage license licence theme colour
    color size headcount password passcode gpa major degree thesis-topic topic motto goal quota target limit rate
    bedtime curfew pseudonym host provider isp bank hostname codename slogan logo revenue valuation runway
    codebase-size ip endpoint coverage temperature distance capacity duration length width website residence
    home sponsor captain coach lead master gp doctor accountant lawyer
    """)
"""Last words of properties that have one value at a time."""

EVENTS = (
    r"(?:launch|release|deadline|due date|meeting|appointment|interview|wedding|conference|party|trip|flight"
    r"|exam|presentation|demo|review|call|dinner|lunch|"
    r"talk|keynote|workshop|surgery|operation|go-live|kick-?off|stand-?up|retro(?:spective)?|game|match"
    r"|concert|vacation|holiday|visit|lesson|class|defen[sc]e|graduation|election|hearing|"
    r"anniversary|offsite|ceremony|session|event|migration|rollout|hackathon|marathon|race|delivery|move"
    r"|check-?up|show|performance|audition|recital|competition|tournament|festival|retreat|"
    r"webinar|test|checkup|inspection|closing|opening|premiere|submission|start date|end date|move-in date"
    r"|summit|sync|one-on-one|milestone|beta|cutover|audit)"
)
"""Nouns that have a date."""

ONCE = re.compile(
    r"launch|release|deadline|due|wedding|go-live|graduation|defen[sc]e|migration|rollout|delivery|surgery"
    r"|election|premiere|submission|start date|end date|beta|cutover",
    re.IGNORECASE,
)
"""What takes place once, so that a later date for it is a new date and not the next occurrence."""

_SYNONYMS = {
    "manager": "boss, supervisor, line manager",
    "partner": "wife, husband, spouse, girlfriend, boyfriend, fiancé, fiancée, fiance, fiancee",
    "job title": "job, role, title, position, profession, occupation",
    "editor": "ide, text editor, code editor",
    "browser": "web browser",
    "operating system": "os",
    "phone": "phone number, mobile, mobile number, cell, cell number, cell phone, telephone number",
    "email": "email address, e-mail, e-mail address, mail address",
    "native language": "mother tongue, first language",
    "headquarters": "hq, head office",
    "employer": "company",
    "home": "residence",
    "address": "home address",
    "timezone": "time zone, time-zone",
    "deadline": "due date",
    "license": "licence",
    "theme": "color scheme, colour scheme",
    "team size": "headcount",
    "birth date": "birthdate, date of birth",
    "name": "full name, first name",
    "ip": "ip address",
    "port": "port number",
}
_SAME = {word: name for name, words in _SYNONYMS.items() for word in words.split(", ")}
_PREFERRED = re.compile(r"^(?:main|primary|preferred|go-to|default|current|usual|daily|new|latest)\s+")
_KEEP_MAIN = frozenset(
    (
        "editor",
        "browser",
        "operating system",
        "job title",
        "employer",
        "manager",
        "version",
        "address",
        "phone",
        "email",
        "partner",
        "home",
    )
)


def slot_name(attribute: str) -> str:
    """
    The one name of a property.

    >>> [slot_name(words) for words in ("boss", "favorite movie", "main editor", "work phone number", "main hobby")]
    ['manager', 'favourite movie', 'editor', 'work phone', 'main hobby']
    """
    words = " ".join(
        attribute.lower().replace("’", "'").replace("favorite", "favourite").replace("color", "colour").split()
    )
    words = re.sub(r"^(?:new|current|latest|present)\s+", "", words)
    plain = _PREFERRED.sub("", words)
    same = _SAME.get(plain, plain)
    if same in _KEEP_MAIN:
        return same
    words = words if plain == words else _PREFERRED.sub("main ", words)
    if words in _SAME:
        return _SAME[words]
    first, _, rest = words.partition(" ")
    return (
        f"{first} {_SAME[rest]}"
        if rest in _SAME and first in ("work", "private", "personal", "office", "favourite", "home")
        else words
    )


def is_single(attribute: str) -> bool:
    """
    Whether a property has one value at a time.

    >>> [is_single(words) for words in ("phone number", "favourite film", "sister", "monthly budget")]
    [True, True, False, True]
    """
    words = attribute.lower().replace("favorite", "favourite").split()
    if not words:
        return False
    if (
        words[0] in ("favourite", "main", "primary", "preferred", "go-to", "default", "native", "first")
        and len(words) > 1
        and not words[-1].endswith("s")
    ):
        return True
    return (
        words[-1] in SINGLE
        or (words[-1] in ("number", "tongue", "plate", "type", "date", "code") and len(words) > 1)
        or slot_name(" ".join(words)) in _SAME.values()
    )
