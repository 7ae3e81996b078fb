"""
Which of the seven kinds a name is, and what the note says it is.

Order of trust: who is called a relative or a colleague is a person whatever the name; then the well-known names; then
the words of the name itself ("Acme GmbH"), the words around it ("moved to …", "… said"), a known first name; else a
Concept.
"""

from __future__ import annotations

import re
from typing import cast

from memento.consolidation.rules.common import LANGUAGES, RELATIVES, TITLES
from memento.consolidation.rules.gazetteer import COMPANY_SUFFIXES, EVENT_WORDS, FIRST_NAMES, Known
from memento.model import EntityKind

_RELATIVE = "|".join(sorted(map(re.escape, RELATIVES), key=len, reverse=True))
_PERSON = re.compile(
    rf"\b(?:{_RELATIVE})(?:\s+(?:is|was|named|called)|['’]s\s+name\s+is|,)?\s*$"
    rf"|\b(?:{'|'.join(TITLES)})\.?\s+$|(?-i:\b(?:CEO|CTO|CFO|COO|VP|[Dd]irector|[Ff]ounder|[Aa]uthor"
    r"|[Aa]ctor|[Ss]inger))\s+$",
    re.IGNORECASE,
)
_BEFORE: tuple[tuple[EntityKind, re.Pattern[str]], ...] = tuple(
    (cast(EntityKind, kind), re.compile(rf"(?:^|[\s(\"“])(?:{words})\s+(?:the\s+|a\s+|an\s+)?[\"“]?$", re.IGNORECASE))
    for kind, words in (
        (
            "Project",
            r"project(?:s)?(?:\s+(?:called|named|is|:))?|codenamed|code[- ]named|working\s+on|works?\s+on"
            r"|worked\s+on|the\s+launch\s+of|the\s+release\s+of|"
            r"launched|launching|shipping|shipped|side\s+project|repo(?:sitory)?|app\s+called"
            r"|product\s+called|building|roadmap\s+(?:of|for)|the\s+deadline\s+(?:of|for)",
        ),
        (
            "Event",
            r"conference(?:\s+called)?|attend(?:ed|ing|s)?|(?:speak|speaks|spoke|speaking|talk|keynote|panel"
            r"|poster|presented|presenting|present)\s+at|workshop\s+at|register(?:ed)?\s+for"
            r"|tickets?\s+(?:for|to)",
        ),
        (
            "Organization",
            r"(?:work|works|worked|working|job|role|position|internship|interned|intern|interview|interviewed"
            r"|interviewing|offer|employed|hired|career|engineer|"
            r"developer|designer|manager|scientist|analyst|consultant|researcher|professor|teacher|nurse|lead"
            r"|colleague|colleagues|director|started|starting|start|studied|study|studying|studies|student"
            r"|enrolled)\s+(?:at|for|with|by|from)|"
            r"joined|joining|joins|join|hired\s+by|left|quit|employer\s+is|company(?:\s+(?:is|called|named))?"
            r"|startup(?:\s+called)?|(?:ceo|cto|cfo|founder|co-founder|owner|head)\s+of|founded|co-founded|as\s+[\w\s]{2,40}?\s+at|"
            r"acquired(?:\s+by)?|client(?:\s+is)?|customer|graduated\s+from|degree\s+from|resigned\s+from"
            r"|fired\s+from|laid\s+off\s+(?:from|by)|partnered\s+with|employees\s+of|shares\s+of"
            r"|invested\s+in|volunteer(?:s|ed|ing)?\s+(?:at|for)|now\s+at",
        ),
        (
            "Location",
            r"(?:live|lives|lived|living|based|born|raised|grew\s+up|located|headquartered|resides?|residing"
            r"|stay|stayed|staying|office|apartment|flat|house|home|vacation|holiday|arrived|landed|settled"
            r"|headquarters|hq|conference|meetup)\s+(?:is\s+)?in|"
            r"(?:move|moves|moved|moving|relocate|relocated|relocating|travel|travels|traveled|travelled"
            r"|traveling|travelling|trip|flew|fly|flying|flight|drive|drove|driving|emigrated|immigrated"
            r"|going|went|been|train|tickets?)\s+(?:back\s+)?(?:to|from)|"
            r"visit|visits|visited|visiting|city\s+of|capital\s+of|(?:i['’]m|i\s+am|is|are|comes?|came"
            r"|originally)\s+from|near|outside|around",
        ),
        (
            "Technology",
            r"use|uses|used|using|code\s+in|coding\s+in|written\s+in|write|program\s+in|programming\s+in"
            r"|install|installed|installing|deploy(?:ed|s)?\s+(?:on|to|with)|built\s+(?:with|on|in)|"
            r"(?:switched|switching|migrated|migrating|upgraded)\s+(?:\w+\s+){0,2}?(?:to|from)"
            r"|editor(?:\s+is)?|database(?:\s+is)?|framework(?:\s+is)?|library|language(?:\s+is)?|runs\s+on"
            r"|version\s+of|powered\s+by|stack\s+is|uninstalled|laptop\s+is",
        ),
        (
            "Person",
            r"met|meet|meets|meeting|met\s+with|meeting\s+with|call\s+with|lunch\s+with|dinner\s+with"
            r"|coffee\s+with|married|married\s+to|dating|told|asked|thanked|called|named|name\s+is"
            r"|talked\s+to|talked\s+with|spoke\s+(?:to|with)|reports?\s+to|"
            r"mentored\s+by|taught\s+by|by\s+author|author|hired|interviewed|emailed|texted|works?\s+with"
            r"|working\s+with|worked\s+with|with\s+my|played\s+by|written\s+by|painted\s+by|composed\s+by",
        ),
    )
)
_AFTER: tuple[tuple[EntityKind, re.Pattern[str]], ...] = tuple(
    (cast(EntityKind, kind), re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "Project",
            r"\s+(?:project|initiative|repo|repository|codebase|roadmap|milestone|rollout)\b"
            r"|(?:['’]s)?\s+(?:launch|launches|ships|release\s+date|deadline|go-live|beta|backlog|sprint)\b",
        ),
        ("Event", rf"\s+(?:{'|'.join(map(re.escape, sorted(EVENT_WORDS)))})\b"),
        (
            "Technology",
            r"\s+(?:v?\d+(?:\.\d+)+|api|sdk|library|framework|database|cluster|server|plugin|extension|cli"
            r"|editor|ide|package|module|compiler|programming\s+language)\b",
        ),
        (
            "Organization",
            r"\s+(?:moved|opened|closed|announced|launched|cut|raised)\s+its\b|\s+(?:hired|acquired|employees|laid\s+off|headquarters|office|shares|has\s+\d+\s+employees"
            r"|offered|announced)\b|['’]s\s+(?:ceo|cto|headquarters|hq|employees|office)\b",
        ),
        (
            "Person",
            r"(?:\s*,\s*(?:my|our|the|a|an|his|her)\s+(?:\w+\s+){0,2}?"
            rf"(?:{_RELATIVE}|author|painter|singer|actor))\b|\s+(?:(?:now|also|just|still|really"
            r"|has)\s+)?(?:works?|worked|lives?|lived|said|says|told|likes?|loves?|hates?|thinks?|joined"
            r"|moved|wants?|asked|helped|knows|plays?|studies|studied|teaches|taught|called|"
            r"married|left|quit|turned|prefers?|recommended|suggested|introduced|invited|gave|speaks"
            r"|graduated|got|was\s+born|is\s+(?:my|our|a|an|the|\d+)\s*(?:new\s+)?"
            rf"(?:{_RELATIVE}|years|designer|engineer|developer|nurse|vegetarian|vegan))\b"
            rf"|['’]s\s+(?:{_RELATIVE}|birthday|wedding|dog|cat|house|place|email|phone|name|job|age"
            rf"|number)\b|\s+and\s+(?:I|me|my\s+(?:{_RELATIVE}))\b",
        ),
    )
)
_EMPLOYS = re.compile(
    r"\b(?:work|works|worked|working|job|role|position|intern(?:ed|ship)?|employed|hired|started|starting"
    r"|career|engineer|developer|designer|manager|director|lead)\s+(?:at|by)\s+$|\bjoin(?:ed|ing|s)?\s+$",
    re.I,
)
_MET = re.compile(
    r"\b(?:met|married(?:\s+to)?|dating|told|asked|called|engaged\s+to|kissed|hugged|texted|emailed)\s+$", re.IGNORECASE
)
_CALLED_A = re.compile(r"^(?:,|\s+is|\s+\()\s*(an?|the|our|my)\s+([^,.;:()!?]{3,70})", re.IGNORECASE)
_STOP = re.compile(
    r"\s+(?:and|but|that|which|who|where|at|in|on|with|because|since|when|now|he|she|it|is|was|has)\b", re.IGNORECASE
)
_OF_USER = re.compile(rf"\bmy\s+((?:\w+\s+)?(?:{_RELATIVE}))(?:\s+(?:is|named|called)|,)?\s*$", re.IGNORECASE)


def kind_of(before: str, name: str, after: str, known: Known | None) -> EntityKind:
    """
    The kind of a name from itself and the words on either side.

    >>> kind_of("I work at ", "Orion", ".", None), kind_of("my friend ", "Jordan", " says", None)
    ('Organization', 'Person')
    """
    before = before[-60:]
    if _PERSON.search(before) and (known is None or known.kind == "Location"):
        return "Person"
    if known is not None:
        return _of_known(before, name, after, known)
    return _by_shape(name) or _by_context(before, name, after) or ("Person" if _is_first_name(name) else "Concept")


def _of_known(before: str, name: str, after: str, known: Known) -> EntityKind:
    """The kind of a well-known name, unless the words around it say that here it is a company, a project or a person."""
    if known.kind == "Technology" and _EMPLOYS.search(before):
        return "Organization"
    if known.plain or " " in name:
        return known.kind
    if _MET.search(before):
        return "Person"
    return "Project" if re.match(r"\s+project\b", after) and known.kind == "Technology" else known.kind


def description(before: str, name: str, after: str, known: Known | None) -> str:
    """
    What the note says the thing is, else what everybody knows; never what the user thinks of it.

    >>> description("", "Orion", " is an internal search engine that we use", None)
    'internal search engine'
    >>> description("I met my manager ", "Ana", ".", None)
    "USER's manager"
    """
    if match := _OF_USER.search(before):
        return f"USER's {match[1].lower()}"
    if match := _CALLED_A.match(after):
        phrase = _STOP.split(match[2])[0].strip()
        if len(phrase) > 2 and not re.match(
            r"(?:great|good|bad|nice|terrible|pain|mess|lot|best|worst|bit|same|only|one)\b", phrase, re.IGNORECASE
        ):
            return f"USER's {phrase}" if match[1].lower() in ("my", "our") else phrase
    if known is None:
        return ""
    return f"place in {known.what}" if known.kind == "Location" and known.what else known.what


def _by_shape(name: str) -> EntityKind | None:
    words = name.lower().split()
    if len(words) > 1 and (
        words[-1] in COMPANY_SUFFIXES
        or words[0] in ("university", "institute", "bank", "ministry", "department", "college")
    ):
        return "Organization"
    if "&" in name:
        return "Organization"
    if any(word in EVENT_WORDS for word in words[1:]) or re.search(
        r"[A-Za-z](?:Con|Conf|Fest|CON)(?:\s*(?:20)?\d\d)?$|\s20\d\d$", name
    ):
        return "Event"
    if words[0] == "project" and len(words) > 1:
        return "Project"
    if re.search(r"\s(?:van|von|bin|del|de la|der)\s", name):
        return "Person"
    if words[0] in LANGUAGES:
        return "Concept"
    if re.search(r"\.(?:js|io|py|net|ai)$", name.lower()) or re.search(r"(?:SQL|DB|JS|API|Lang|OS)$", name):
        return "Technology"
    return None


def _by_context(before: str, name: str, after: str) -> EntityKind | None:
    found_after = next((kind for kind, pattern in _AFTER if pattern.match(after)), None)
    found_before = next((kind for kind, pattern in _BEFORE if pattern.search(before)), None)
    if found_after in ("Project", "Event") or (found_after == "Person" and found_before is None):
        return found_after
    if (
        found_before in ("Organization", "Project", "Technology")
        and _is_first_name(name)
        and re.search(r"(?:left|quit|join(?:ed|ing|s)?|with|working on|called|hired|use)\s*$", before)
    ):
        return "Person"
    if (
        found_before is None
        and re.search(r"(?:^|\s)(?:in|to)\s+$", before)
        and not _is_first_name(name)
        and found_after is None
        and not name.isupper()
    ):
        return (
            "Location"
            if re.search(
                r"\b(?:stay|weeks?|days?|months?|weekend|years?|weather|spring|summer)\s+(?:in|to)\s+$", before
            )
            else None
        )
    return found_before or found_after


def _is_first_name(name: str) -> bool:
    return name.split()[0].split("-")[0] in FIRST_NAMES
