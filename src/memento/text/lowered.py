"""
Names that the writer did not capitalise: "met priya in bangalore", "my sister mirela is pregnant", "switched to vivaldi".

*But:* only right behind words that a name follows, and only what is known or can be nothing else there; whatever else stands in
lower case is a word.
"""

from __future__ import annotations

import re

from memento.text.common import COMMON, NEVER, PEOPLES, RELATIVES
from memento.text.cues import RELATIVE
from memento.text.first_names import FIRST_NAMES
from memento.text.gazetteer import Known, lookup
from memento.text.words import FUNCTION_WORDS, MODALS, base_of, is_past, word_set

_PLACE = re.compile(
    r"\b(?:in|to|from|near|around|visit(?:s|ed|ing)?|via|leaving|love|of|outside|at|between|and|or)\s+(?:\w+,?\s+and\s+)?$",
    re.IGNORECASE,
)
_FIRM = re.compile(r"\b(?:at|for|with|joined|join|joining|from|left|quit|leaving|by|to|bought)\s+$", re.IGNORECASE)
_TOOL = re.compile(
    r"\b(?:switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing))\s+(?:\S+\s+){0,3}?(?:to|from)\s+$|\b(?:use|uses|used"
    r"|using|install(?:ed|ing)?|ditched|dropped"
    r"|uninstalled|learn(?:ing)?|love|try(?:ing)?|tried|(?:written|built|coded?|coding|rewrit\w+"
    r"|programm?\w*)\s+(?:\w+\s+){0,2}?in)\s+$|\b(?:ditched|dropped|replaced|swapped|left)\s+\S+(?:\s\S+)?\s+(?:for"
    r"|with|by)\s+$",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b(?:with|met|meet|meeting|told|tell|asked|ask|call(?:ed)?|texted|emailed|dating|married|invited|hired|and"
    r"|visit(?:ed|ing)?|from|for|to"
    rf"|thanks|hi|hey|named|saw|by|{RELATIVE}|is|than|like|miss)\s+$",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"\b(?:my|our|his|her|their)\s+(?:[a-z]+\s+)?(?:brother|sister|son|daughter|cousin|nephew|niece|wife|husband"
    r"|boyfriend|girlfriend|fiancée?|friend"
    r"|buddy|roommate|flatmate|housemate|neighbou?r|colleague|co-?worker|teammate|uncle|aunt|twin|grandson|granddaughter)\s+$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\b(?:apparently|that|because|but|so|when|if|while|oh|then|today|yesterday|glad|since)\s+$", re.IGNORECASE
)
_WORKS_AT = re.compile(r"\bi\s+(?:now\s+)?(?:work|worked|started)\s+(?:at|for)\s+$")
_CALLED = re.compile(r"\b(?:is\s+called|is\s+named|named|called|name\s+is|name['’]s)\s+$", re.IGNORECASE)
_AUXILIARY = word_set("is was has had will does did can is's isn't hasn't won't and who")
_NO_NAME = word_set("""
    group tongue downstairs upstairs company side team will mark rose rich grace hope joy faith may art bill frank pat drew
    sue rob jack ray dean grant guy penny holly ivy poppy ruby pearl olive amber max summer autumn dawn eve carol chase
    miles lance cliff dale glen heath reed ross wade basil ginger sandy misty candy chip buck gene earl jean jo lee
    """)


def name_in_lower_case(before: str, word: str, after: str) -> tuple[bool, Known | None]:
    """
    Whether a word in lower case is a name where it stands, and what is known of it.

    >>> [name_in_lower_case("we moved to ", word, "")[0] for word in ("bangalore", "nice")]
    [True, False]
    >>> name_in_lower_case("my friend ", "carlos", " lent me a tent")
    (True, None)
    """
    if word in FUNCTION_WORDS or word in NEVER - PEOPLES or word in PEOPLES or word in RELATIVES:
        return False, None
    known = lookup(word)
    if known is None and word.capitalize() not in FIRST_NAMES and not _may_name(before):
        return False, None
    if known is not None and not known.everyday and _cue(known).search(before):
        return True, known
    if (
        known is not None
        and known.kind == "Technology"
        and _TOOL.search(before)
        and word not in COMMON
        and not base_of(word)
        and len(word) > 2
    ):
        return True, known
    if known is None and _WORKS_AT.search(before):
        return word.isalpha() and len(word) > 2 and word not in COMMON and not base_of(word) and not is_past(word), None
    return _is_person(before, word, after), None


def _may_name(before: str) -> bool:
    """Whether the last word announces a name of which nothing is known; asked of nearly every word, so no pattern."""
    last = before.rsplit(maxsplit=1)[-1].lower() if before.strip() else ""
    return (
        last in RELATIVES or _WORKS_AT.search(before) is not None
        if last in ("at", "for")
        else last in RELATIVES or last in ("called", "named", "is", "name's", "name’s")
    )


def _cue(known: Known) -> re.Pattern[str]:
    return {"Location": _PLACE, "Organization": _FIRM}.get(known.kind, _TOOL)


def _is_person(before: str, word: str, after: str) -> bool:
    if not word.isalpha() or len(word) < 2 or word in _NO_NAME or word in COMMON or base_of(word) or is_past(word):
        return False
    if _CALLED.search(before) and len(word) > 2:
        return not after.lstrip().startswith(("by", "for", "off", "in"))
    following = match.group().lower() if (match := re.match(r"\s*([\w'’]+)", after)) else ""
    following = following.strip()
    verbal = following in _AUXILIARY or following in MODALS or bool(base_of(following)) or is_past(following)
    if word.capitalize() in FIRST_NAMES:
        if verbal and _CLAUSE.search(before):
            return True
        return bool(_PERSON.search(before)) or (not before.strip() and verbal)
    ends = word.endswith(("ly", "ing", "ed", "s", "ness", "tion", "er"))
    return bool(_KIN.search(before)) and verbal and not ends and len(word) > 2
