"""
By which rule a draft ends something, and the endings that name no relation: a role that passes on, a taste that turns,
a habit given up.
"""

from __future__ import annotations

import re

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.relations import normal, occurs, speaks_of
from memento.consolidation.rules.values import names_the_same
from memento.consolidation.rules.verbs import base_of

_RULES = (
    (
        "took-over",
        r"\b(?:took|tak\w+)\s+over\s+from\b|\b(?:replace[sd]|succeed\w*)\s+\S+(?:\s\S+)?\s+as\b"
        r"|(?<!USER )\bstepped\s+down\b(?!\s+from\b)|\bleft\s+the\s+(?:company|team|firm|business|organi[sz]ation"
        r"|band|project)\b|\b(?:quit|resigned|has\s+left|retired)\b(?=[.!]?$|,|\s+(?:btw|yesterday|today|last|this|on"
        r"|in|so)\b)|\b(?:replaced|succeeded)\s+by\b",
    ),
    (
        "finished",
        r"\b(?:is|was|been|got)\s+(?:now\s+)?(?:done|finished|shipped|completed?|cancell?ed|abandoned|scrapped|killed|archived"
        r"|discontinued|shelved|shut\s+down|wound\s+down|dropped|retired)\b",
    ),
    (
        "returned",
        r"\b(?:came|come|comes|got|is|are|was|went)\s+(?:back\s+|home\s+|out\s+|just\s+|now\s+)*(?:home|back|out"
        r"|discharged|released)\s+(?:from|of)\b",
    ),
    (
        "recovered",
        r"\b(?:recovered|healed|came\s+off|went\s+away|cleared\s+up|got\s+over|is\s+over|(?:is|has)\s+gone"
        r"|is\s+(?:fixed|repaired|mended))\b",
    ),
    ("moved-out", r"\b(?:moved|moving)\s+out\b(?!\s+(?:of|to)\b)"),
    (
        "folded",
        r"\b(?:split\s+up|disbanded|folded|closed\s+down|shut\s+down|went\s+(?:bankrupt|bust|under)|dissolved"
        r"|closed\s+for\s+good|ceased|closed)\b(?!\s+(?:the|USER|an?)\b)(?!\s+with)",
    ),
    ("died", r"\b(?:died|passed\s+away)\b"),
    ("cancelled", r"\b(?:cancell?ed|called\s+off|backed\s+out|pulled\s+out)\b"),
    (
        "parted",
        rf"\band\s+(?:{USER}|\S+(?:\s[A-Z]\S+)?)\s+(?:have\s+|are\s+)?(?:broke|broken|split|separated|divorced|parted)\b",
    ),
    ("switched", r"\b(?:switch|mov|migrat|chang|went|convert|transition|relocat|transferr|upgrad)\w*\b.*\bfrom\b"),
    ("preferred", r"\b(?:over|instead of|rather than|in place of|more than)\b"),
    ("no-longer", r"\b(?:no longer|any ?more|any longer)\b"),
    ("stopped", r"\b(?:quit|stopped|gave up|finished)\s+\w+ing\b"),
    (
        "left",
        r"\b(?:contract|job|position|role|internship|membership|subscription)\b.*\b(?:ended"
        r"|over|ran\s+out|expired)\b|\b(?:left|dropped\s+out|quit|resigned|fired|laid off|lost|retired|let go"
        r"|last\s+day|graduated|unsubscribed|stepped\s+down\s+(?:as|from))\b",
    ),
    ("stopped", r"\b(?:stopped|gave up|finished|completed|submitted|shipped|delivered|wrapped up|done)\b"),
    (
        "replaced",
        r"\b(?:replaced|swapped|traded|dropped|ditched|dumped|wiped|scrapped"
        r"|binned|abandoned|uninstalled|rid of|sold|cancell?ed|broke up"
        r"|divorced)\b",
    ),
    ("reversed", rf"{USER} (?:hates|dislikes|can['’]t stand|loathes|can['’]t bear|loves|likes|enjoys|adores)\b"),
    ("never", r"\bnever\b"),
    ("negation", r"\b(?:not|\w+n['’]t)\b"),
)
_COMPILED = tuple((rule, re.compile(words, re.IGNORECASE)) for rule, words in _RULES)
_AS_ROLE = re.compile(r"\bas\s+(?:the\s+|an?\s+|our\s+|USER's\s+)?(?:new\s+)?([\w-]+(?:\s[\w-]+)?)", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:ceo|cto|cfo|coo|lead|leads|manager|boss|head|president|chair\w*"
    r"|captain|director|coach|owner|maintainer|editor|reports?\s+to|supervisor|mayor)\b",
    re.IGNORECASE,
)
_FEELS = re.compile(
    rf"\b{USER}\s+(?:really\s+|now\s+|actually\s+)?(?P<feels>hates|dislikes"
    rf"|can['’]t\s+stand|loathes|can['’]t\s+bear|loves|likes|enjoys|adores)\s+(?P<what>[^.!?]+)"
)
_DISLIKES = re.compile(r"hates|dislikes|can|loathes")


def rule_of(draft: Draft) -> str:
    """The name of the rule that the words of an ending follow."""
    return next((rule for rule, words in _COMPILED if words.search(draft.content)), "used-to")


def is_reversed(draft: Draft, old: Existing) -> bool:
    """Whether a memory says of the same thing that the user likes what they now say they hate, or the other way round."""
    known, new = _FEELS.search(old.memory.content), _FEELS.search(draft.content)
    if known is None or new is None or bool(_DISLIKES.match(known["feels"])) == bool(_DISLIKES.match(new["feels"])):
        return False
    return normal(known["what"]) == normal(new["what"])


def is_same_activity(phrase: str, content: str) -> bool:
    """Whether a memory tells of the activity that a phrase names: "smoking" and "USER smokes"."""
    words = phrase.split()
    base = base_of(words[0]) if len(words) == 1 and words[0].endswith("ing") else None
    return base is not None and base in {base_of(word) for word in re.findall(r"[a-z]+", content.lower())}


def held_the_role(phrase: str, draft: Draft, old: Existing) -> bool:
    """Whether a memory gives the one who was replaced the role that is spoken of, or any role when none is named."""
    memory = old.memory
    holds = (
        names_the_same(phrase, memory.slot_value or "")
        or (old.subject or speaks_of(memory.content) or "").casefold() == phrase.casefold()
        or bool(re.search(rf"\b(?:is|are)\s+(?:called\s+)?{re.escape(phrase)}\W*$", memory.content, re.IGNORECASE))
    )
    role = match[1].lower() if (match := _AS_ROLE.search(draft.content)) else ""
    content = f"{memory.content} {memory.slot or ''}"
    return holds and bool(occurs(role, content) if role else _ROLE.search(content))
