"""What a memory says of its subject, coarsely: which relations ("work", "live", "use") its words express, and who it is about."""

from __future__ import annotations

import re
from functools import cache

from memento.consolidation.agents import USER
from memento.text.tables import word_set
from memento.text.tokens import WORD
from memento.text.words import BASES, RELATIVES, base_of

_FAMILIES = {
    "work": "work employ hire job join employer company colleague career contract internship intern "
    "resign quit leave fire fired sacked lay",
    "live": "live reside move home relocate settle base leave house flat apartment",
    "use": "use swear dump wipe scrap switch migrate editor browser ide install uninstall replace code run upgrade drop ditch "
    "abandon bank account subscribe pay swap trade "
    "database framework tool stack system convert write program rely",
    "prefer": "prefer favourite favorite favour favor choose pick main go-to preference default",
    "like": "like love enjoy fan adore hate dislike into",
    "have": "have own buy sell adopt get keep",
    "partner": "date marry partner wife husband girlfriend boyfriend engage divorce break separate split spouse",
    "learn": "learn study finish course class graduate complete degree student",
    "play": "play",
    "read": "read finish",
    "eat": "eat vegetarian vegan diet meat food cook",
    "drink": "drink coffee tea alcohol",
    "smoke": "smoke",
    "drive": "drive car",
    "lead": "lead manage run head team",
    "member": "member subscription membership account plan belong attend gym club leave quit join cancel subscribe unsubscribe",
    "report": "report manager boss",
    "project": "project build develop finish ship abandon",
    "speak": "speak language",
    "go": "go visit attend",
    "watch": "watch",
    "teach": "teach",
    "take": "take",
    "run": "jog marathon",
}
_OF_SLOT = {
    "employer": "work",
    "job title": "work",
    "home": "live",
    "editor": "use",
    "browser": "use",
    "operating system": "use",
    "theme": "use",
    "partner": "partner",
    "relationship status": "partner",
    "manager": "report",
    "diet": "eat",
}
_PLAIN = word_set(
    "be have do get go take make stop quit finish start begin come give keep put set let say tell switch change move"
)
_LEADING = re.compile(
    r"^(?:[^,]{1,40},\s+(?=USER\b|[A-Z])|(?i:(?:actually|turns\s+out(?:\s+that)?"
    r"|btw|fyi|well|so|yesterday|today|now|then|recently|finally|eventually|afterwards|later|also"
    r"|unfortunately|sadly|luckily|(?:last|this|next)\s+\w+|(?:back\s+)?(?:in|on|since|as\s+of)\s+(?:\w+\s+){0,2}?\w+"
    r"|for\s+(?:\w+\s+)?\w+|at\s+(?:work|home|school|the\s+\w+)|(?:\w+\s+){1,3}?ago)\s+){1,4}(?=USER\b|it\b|that\b))"
)
"""What may stand before a subject, four times at most: one text can be cut into such parts in many ways, and each is tried."""
_TURNS_OUT = re.compile(r"^turns\s+out\s+(?:that\s+)?", re.IGNORECASE)
_KINSMAN = re.compile(
    rf"^{USER}['’]s\s+(?:[a-z-]+\s+){{0,2}}?(?:{'|'.join(sorted(map(re.escape, RELATIVES), key=len, reverse=True))}),?\s+"
    rf"([A-Z][\w-]*(?:\s[A-Z][\w-]*)*)(?=,?\s)"
)
_SUBJECT = re.compile(
    rf"^({USER}(?!['’\w]| and\b)|{USER}['’]s\s+(?:[a-z-]+\s+)?[a-z-]+"
    r"|[A-Z][\w'’-]*(?:\s+(?:[a-z]{1,3}\s+)?[A-Z][\w'’-]*)*)(?=\s)"
)


def relations(content: str, slot: str | None = None) -> frozenset[str]:
    """
    The relations that a memory expresses.

    >>> sorted(relations("USER works at Google")), sorted(relations("USER is vegan", "diet"))
    (['to work', 'work'], ['eat'])
    """
    bases = [base_of(word) or word for word in WORD.findall(_TURNS_OUT.sub("", content).lower())]
    found = {family for base in bases for family in _families().get(base, ())}
    found |= {f"to {base}" for base in bases if base in BASES and base not in _PLAIN}
    if slot in _OF_SLOT:
        found.add(_OF_SLOT[slot])
    elif slot and slot.startswith(("main ", "favourite ")):
        found.add("prefer")
    return frozenset(found)


def speaks_of(content: str) -> str | None:
    """
    Who or what is the subject of the sentence, as written; None when it is none of the user, the user's own, and a name.

    >>> speaks_of("Last year, USER moved to Oslo"), speaks_of("Anna Smith left"), speaks_of("USER's friend works at Google")
    ('USER', 'Anna Smith', "USER's friend")
    >>> speaks_of("Yesterday USER quit"), speaks_of("Anna said USER quit"), speaks_of("USER's friend Bo left")
    ('USER', 'Anna', 'Bo')
    """
    plain = _LEADING.sub("", content)
    if (kinsman := _KINSMAN.match(plain)) and USER not in kinsman[1]:
        return kinsman[1]
    match = _SUBJECT.match(plain)
    if match is None or match[1].endswith(("'s", "’s")):
        return None
    words = match[1].split()
    return " ".join(words[:2]) if words[0].startswith(f"{USER}'") else match[1]


@cache
def _families() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for family, words in _FAMILIES.items():
        for word in words.split():
            table[word] = (*table.get(word, ()), family)
    return table
