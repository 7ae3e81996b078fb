"""
What a draft undoes without saying that it ends: an end taken back ("back at Acme"), a wish come true, a habit put otherwise.

*But:* only where both memories name the same thing, or are the same sentence but for one complement.
"""

from __future__ import annotations

import re
from datetime import datetime

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.relations import relations, same_value, speaks_of
from memento.text.mood import reading
from memento.text.tokens import normal, stems
from memento.text.words import PREPOSITIONS

_AGAIN = re.compile(
    r"\b(?:rejoin\w*|(?:is|are|went|gone|got|came|goes|going|switched|moved|started|returned"
    r"|been)\s+back\b(?!\s+(?:from|home)\b)|returned\s+to|resumed?"
    r"|restarted|reinstalled|resubscribed|renewed|re-?opened|picked\s+up\s+\w+\s+again|again|together\s+again"
    r"|made\s+up|reconciled|remarried)\b",
    re.IGNORECASE,
)
_OVER = (
    r"(?:left|quit|resigned|stopped|gave\s+up|given\s+up|dropped|ditched|cancell?ed|abandoned|uninstalled|(?:switched"
    r"|moved|migrated|changed)\s+(?:\w+\s+)?from"
    r"|no\s+longer|stepped\s+down|broke\s+up|split(?:\s+up)?|separated|got\s+rid\s+of|paused|retired|closed|sold"
    r"|on\s+(?:leave|hold|break)"
    r"|(?:isn|doesn|aren|don)['’]t)"
)
_WISHES = re.compile(
    r"\b(?:would\s+(?:love|like)\s+to|wants?\s+to|hop(?:es|ing)\s+to|wish(?:es)?\s+to|plan(?:s|ning)?\s+(?:to|on)"
    r"|thinking\s+(?:of|about)"
    r"|considering|dream(?:s|ing)?\s+(?:of|about)|looking\s+forward|is\s+going\s+to|will|intends?\s+to)\b",
    re.IGNORECASE,
)
_DID = re.compile(r"\b(?:after\s+all|finally|at\s+last|in\s+the\s+end|did\s+it)\b", re.IGNORECASE)
_DECIDED = re.compile(
    r"\b(?:not\s+\w+ing|decided\s+(?:against|not\s+to)|won['’]t|changed\s+\S+\s+mind|dropped\s+the\s+(?:idea|plan)"
    r"|staying\s+put|isn['’]t\s+\w+ing|aren['’]t\s+\w+ing)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:(?:do|does|is|are|can|has|have)(?:n['’]t|\s+not)|cannot|no\s+longer|not)\b", re.IGNORECASE)
_STAGES = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (r"\bmarried\b", r"\bengaged\b", r"\b(?:dating|girlfriend|boyfriend|seeing)\b")
)
_UNATTACHED = frozenset({"single", "divorced", "widowed", "separated"})
_LOOSE = re.compile(
    r"\b(?:instead\s+of|rather\s+than|not)\b.*$|\b(?:now|nowadays|currently|just|recently|these\s+days"
    r"|at\s+the\s+moment|mostly|usually|always|actually|still|really|from\s+now\s+on|instead|anymore)\b"
    r"|\b(?:because|since|so\s+that|due\s+to|as\s+I|which|until)\b.*$|[,;(—–].*$|[.!…]+$",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:from|as\s+of|since|starting)\s+(?:now(?:\s+on)?|today|tomorrow|(?:next\s+)?\w+),?|these\s+days,?"
    r"|nowadays,?|now,?)\s+",
    re.IGNORECASE,
)
_COPULA = frozenset(
    {"is", "are", "costs", "cost", "starts", "ends", "begins", "opens", "closes", "expires", "runs", "takes"}
)
_NUMBER = re.compile(
    r"^[$€£]?\d[\d.,:]*(?:am|pm|%|kg|km|mg|k|h|€)?$|^(?:once|twice|one|two|three|four|five|six|seven|eight|nine|ten|twelve)$"
)
_WHEN = (
    re.compile(r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"),
    re.compile(r"\b(morning|afternoon|evening|night|lunchtime|weekend|weekday)s?\b"),
    re.compile(
        r"\b(?:at|to|from)\s+((?:half\s+past\s+|quarter\s+(?:to|past)\s+)?\d{1,2}(?:[:.]\d\d)?)(?:\s?(?:am"
        r"|pm))?\b(?!\s+\w+(?:s|ies)\b)"
    ),
)
_MOVED = re.compile(r"\b(?:moved|shifted|changed|switched|was|been)\b")
_MOVING = stems("moved shifted changed switched now is are on at to has been")
_REPEATED = frozenset({"every", "each", "once", "twice"})


def is_short(content: str) -> bool:
    """Whether a memory is one sentence: what several sentences have in common may be said in passing."""
    return len(content.split()) <= 22 and not re.search(r"[.!?]\s+\S", content)


def is_taken_up_again(draft: Draft, old: Existing) -> bool:
    """Whether a memory tells of the end of what the draft says has begun anew: "USER left Acme" and "USER is back at Acme"."""
    if not _AGAIN.search(draft.content) or draft.ends:
        return False
    content = old.memory.content
    if reading(draft.content).mood != "fact" or reading(content).mood == "plan":
        return False
    shared = [name for name in draft.about if name != USER and name in old.about]
    return any(_is_over(name, content) for name in shared)


def _is_over(name: str, content: str) -> bool:
    """Whether a memory says that the thing was left, or that the person stepped back."""
    known = re.escape(name)
    return bool(
        re.search(rf"\b{_OVER}\s+(?:\w+\s+){{0,3}}?(?:['’]s\s+)?{known}\b", content, re.IGNORECASE)
        or re.search(rf"\b{known}\s+(?:has\s+|is\s+|and\s+{USER}\s+)?(?!\w+n['’]t){_OVER}", content, re.IGNORECASE)
        or re.search(rf"\b{USER}\s+and\s+{known}\s+(?:have\s+)?{_OVER}", content, re.IGNORECASE)
    )


def has_come_true(draft: Draft, old: Existing) -> bool:
    """Whether a memory is a wish or a plan of the user to do with a named thing what the draft says is done."""
    content = old.memory.content
    known = reading(content)
    if known.mood not in ("possible", "plan") or not _WISHES.search(content) or not _speaks_of_user(content):
        return False
    now = reading(draft.content)
    if now.mood != "fact" or now.tense != "past" or not _speaks_of_user(draft.content) or draft.ends:
        return False
    shared = {name for name in draft.about if name != USER} & {name for name in old.about if name != USER}
    if not shared:
        return bool(_DID.search(draft.content)) and len(stems(content) & stems(draft.content)) >= 2
    return bool(relations(content) & relations(draft.content))


def is_given_up(draft: Draft, old: Existing) -> bool:
    """Whether a memory is a plan or a thought of the user that the draft says will come to nothing."""
    content = old.memory.content
    if reading(content).mood not in ("possible", "plan") or not _DECIDED.search(draft.content):
        return False
    if not _speaks_of_user(content) or not _speaks_of_user(draft.content):
        return False
    shared = {*draft.about} & {*old.about} - {USER}
    return bool(shared and relations(content) & relations(draft.content))


def is_turned_round(draft: Draft, old: Existing) -> bool:
    """Whether both are one sentence, of which one is denied, and the draft says that it is now so."""
    how = reading(draft.content)
    if not how.changed or how.mood != "fact" or how.tense != "present":
        return False
    new, known = draft.content, old.memory.content
    if bool(_DENIED.search(new)) == bool(_DENIED.search(known)):
        return False
    one, other = (stems(_DENIED.sub("", _LOOSE.sub("", text))) for text in (new, known))
    return len(one) >= 2 and one == other


def _speaks_of_user(content: str) -> bool:
    return (speaks_of(content) or "").startswith(USER)


def is_put_otherwise(draft: Draft, old: Existing, now: datetime) -> bool:
    """
    Whether both memories are one sentence about a lasting state that differs in its last complement.

    "USER prefers calls in the morning" and "USER now prefers calls in the afternoon": a habit, so the new one must say that it
    is a change; "the desk is on the third floor" and "… on the fifth" cannot both be so.
    """
    how, known = reading(draft.content), reading(old.memory.content)
    if how.mood != "fact" or known.mood != "fact" or how.additional or "present" not in (how.tense, known.tense):
        return False
    if how.tense != known.tense or (old.memory.event_at and old.memory.event_at < now):
        return False
    one, other = _plain(draft.content), _plain(old.memory.content)
    common = next(
        (at for at, (new, before) in enumerate(zip(one, other, strict=False)) if new != before),
        min(len(one), len(other)),
    )
    if common < 3 or common == len(one) or common == len(other):
        return False
    left, right = one[common:], other[common:]
    if (
        len(left) > 4
        or len(right) > 4
        or set(left) & set(right) - {"the", "a", "of", "floor", "week", "times", "o'clock"}
    ):
        return False
    copula = common >= 3 and any(word in _COPULA for word in one[:common]) and one[common - 1] in PREPOSITIONS | _COPULA
    numbers = bool(_NUMBER.match(left[0]) and _NUMBER.match(right[0]))
    if copula and (one[0] in ("the", "user's") or numbers):
        return how.changed or draft.corrects or numbers or one[common - 1] in ("in", "on", "at")
    placed = (
        one[common - 1] in PREPOSITIONS | _REPEATED | {"the"}
        or numbers
        or (left[0] in PREPOSITIONS and left[0] == right[0])
    )
    return (how.changed or draft.corrects) and placed


def keeps_other_hours(draft: Draft, old: Existing) -> bool:
    """Whether both tell when the same thing recurs, on other days or hours, and the draft says that this is new."""
    how, known = reading(draft.content), reading(old.memory.content)
    if how.mood != "fact" or not (how.changed or draft.corrects) or known.mood != "fact" or known.tense == "past":
        return False
    if how.additional or (how.tense == "past" and not _MOVED.search(draft.content)):
        return False
    for when in _WHEN:
        new, before = {*when.findall(draft.content.lower())}, {*when.findall(old.memory.content.lower())}
        if new and before and before - new:
            one = stems(when.sub("", _LOOSE.sub("", draft.content.lower()))) - _MOVING
            shared = one & stems(old.memory.content)
            return len(shared) >= 2 or (bool(one) and one <= shared and _speaks_of_user(draft.content))
    return False


def _plain(content: str) -> list[str]:
    """The words of a memory without what may be said beside it."""
    return normal(_LOOSE.sub("", _OPENING.sub("", content))).split()


def stage(content: str) -> int:
    """How far two people are: 1 seeing each other, 2 engaged, 3 married; 0 when nothing is said of it."""
    return next((3 - at for at, words in enumerate(_STAGES) if words.search(content)), 0)


def changes_status(draft: Draft, old: Existing) -> bool:
    """Whether being with somebody and being single are told of one person, or the engaged have married."""
    if draft.slot == old.memory.slot == "partner" and same_value(draft.slot_value or "", old.memory.slot_value or ""):
        return stage(draft.content) > stage(old.memory.content) > 1
    pair = (draft.slot or "", old.memory.slot or "")
    status, other = (draft, old.memory) if pair[0] == "relationship status" else (old.memory, draft)
    if set(pair) != {"relationship status", "partner"}:
        return False
    value = (status.slot_value or "").lower()
    return value in _UNATTACHED and (other.slot_value or "") != ""
