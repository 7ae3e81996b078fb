"""
What comes of what was under way: who gave birth is no longer pregnant, who found a flat no longer looks for one.

*But:* only of the same person, and where a thing is named, of the same thing.
"""

from __future__ import annotations

import re

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.relations import speaks_of
from memento.text.mood import reading
from memento.text.tokens import stems

_HOME = r"(?:flat|apartment|house|place|room|home|studio)"
_TABLE = tuple(
    (re.compile(new, re.IGNORECASE), re.compile(old, re.IGNORECASE), thing)
    for new, old, thing in (
        (r"\b(?:had|has\s+had)\s+(?:her|a|the|our|their|USER's|twins)\b.*\b(?:baby|twins|boy|girl|son|daughter)\b"
            r"|\bgave\s+birth\b",
            r"\b(?:is|are)\s+(?:\w+\s+(?:weeks|months)\s+)?(?:pregnant|expecting)\b", False),
        (r"\b(?:is|are|came|got)\s+back\b|\breturned\b|\bcame\s+home\b",
            r"\b(?:is|are|['’]s)\s+(?:\w+\s+)?(?:on\s+(?:\w+\s+)?(?:leave|holiday|vacation|sabbatical)|away|abroad"
            r"|travelling|off\s+sick)\b", False),
        (r"\b(?:graduated|defended|got\s+USER's\s+(?:degree|diploma|phd))\b",
            r"\b(?:is|are)\s+(?:studying|writing\s+USER's\s+thesis|doing\s+(?:an?|USER's)\s+(?:phd|master|degree)"
            r"|an?\s+(?:\w+\s+)?student)\b|\bstudies\b", False),
        (r"\bpaid\b.*\bback\b|\bpaid\s+(?:off|back)\b|\bsettled\s+up\b|\bpaid\s+USER\b", r"\bowes?\b", None),
        (r"\b(?:resumed|running\s+again|unpaused|unblocked|back\s+on\s+track|back\s+up"
            r"|live\s+again)\b", r"\b(?:paused|on\s+hold|blocked|stalled|down|suspended)\b", None),
        (r"\b(?:is|are|was)\s+(?:now\s+)?(?:paused|on\s+hold|blocked|stalled|down|suspended)\b", r"\b(?:resumed"
            r"|running|back\s+up|unblocked|back\s+on\s+track)\b", None),
        (r"\b(?:found|signed|bought|rented|moved\s+into|got)\b.*\b" + _HOME + r"\b",
            r"\b(?:looking\s+for|flat-?hunting|house-?hunting|searching\s+for)\b.*(?:\b" + _HOME + r"\b|hunting)", False),
        (r"\b(?:found|got|landed|started|accepted)\b.*\b(?:job|role|position)\b|\bstarted\s+(?:at|as)\b|\bjoined\b",
            r"\b(?:unemployed|out\s+of\s+work|between\s+jobs|job-?\s?hunting"
            r"|looking\s+for\s+(?:an?\s+)?(?:new\s+)?(?:job|work|position|role))\b", False),
        (r"\bpassed\b.*\bdriving\b|\bgot\s+USER's\s+(?:driving\s+)?licen[cs]e\b",
            r"\b(?:learning\s+to\s+drive|driving\s+lessons|can['’]t\s+drive|no\s+driving\s+licen[cs]e)\b", False),
        (r"\b(?:passed|failed|sat|took|survived|aced)\b", r"\b(?:studying|revising|preparing|cramming)\s+for\b", True),
        (r"\b(?:found|recovered|turned\s+up|got\s+back)\b", r"\b(?:lost|can['’]t\s+find|is\s+missing|looking\s+for"
            r"|misplaced)\b", True),
        (r"\b(?:arrived|was\s+delivered|came|picked\s+up|received)\b", r"\b(?:waiting\s+for|ordered|pre-?ordered"
            r"|on\s+order)\b", True),
        (r"\b(?:fixed|repaired|mended|working\s+again|works\s+again)\b", r"\b(?:is|are)\s+(?:broken|down|leaking"
            r"|stuck)\b|\bbroke\b|\bdoesn['’]t\s+work\b", True),
        (r"\b(?:ran|finished|completed|did|rode|swam|won|survived|performed|played|gave|sang)\b",
            r"\b(?:training|preparing|practi[sc]ing|rehearsing|registered|signed\s+up)\s+for\b", True),
        (r"\b(?:rejected|turned\s+down|declined|hired|accepted|offered|heard\s+back|got\s+(?:in"
            r"|into))\b", r"\b(?:applied|applying)\b|\bwaiting\s+to\s+hear\b", True),
        (r"\b(?:is|are|feels?|got)\s+(?:\w+\s+)?(?:fine|better|well|healthy|ok|okay|recovered|back\s+to\s+normal)\b"
            r"|\brecovered\b",
            r"\b(?:is|are|feels?|got)\s+(?:\w+\s+)?(?:ill|sick|unwell|sore|poorly|injured)\b|\b(?:hurts?|aches?)\b"
            r"|\bin\s+hospital\b", False),
        (r"\bmarried\b", r"\b(?:is|are|got)\s+engaged\b", True),
        (r"\b(?:bought|got|ordered|found)\b", r"\b(?:wants?|saving(?:\s+up)?\s+for|looking\s+for|needs?)\b", True),
    )
)  # fmt: skip
_REFUSED = re.compile(r"\b(?:rejected|turned\s+down|declined)\b", re.IGNORECASE)
_PLAIN = stems(
    "new find found look get got want need job work back last week yesterday today finally day time year month one old take took"
)


def is_outcome(draft: Draft, old: Existing) -> bool:
    """Whether the draft tells how what a memory says to be under way has come out."""
    content = old.memory.content
    for new, known, thing in _TABLE:
        if not (new.search(draft.content) and known.search(content)):
            continue
        if (reading(draft.content).mood not in ("fact", "past") and not _REFUSED.search(draft.content)) or re.search(
            r"\b(?:not|never|\w+n['’]t)\b", draft.content
        ):
            continue
        if thing is None:
            if {*draft.about} & {*old.about} - {USER}:
                return True
        elif thing:
            shared = _near(known, content) & _near(new, draft.content) - _PLAIN - stems(speaks_of(content) or "")
            if shared and (_one_subject(draft.content, content) or _both_named(draft, old)):
                return True
        elif _one_subject(draft.content, content):
            return True
    return False


def _near(verb: re.Pattern[str], content: str) -> frozenset[str]:
    """What stands right behind a verb, or before it where nothing does: "ran the marathon", "the desk arrived"."""
    match = verb.search(content)
    behind = content[match.end() :].split()[:6] if match else []
    before = content[: match.start()].split()[-4:] if match else []
    return stems(" ".join((*before, *behind)))


def _one_subject(new: str, old: str) -> bool:
    one, other = speaks_of(new), speaks_of(old)
    return one is not None and other is not None and one.casefold() == other.casefold()


def _both_named(draft: Draft, old: Existing) -> bool:
    """Whether both speak of the user and of one and the same named thing."""
    return USER in draft.about and USER in old.about and bool({*draft.about} & {*old.about} - {USER})
