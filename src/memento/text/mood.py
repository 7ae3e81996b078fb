"""
How a clause in the third person is meant: as a fact, as past, as a plan, as a mere possibility, as a question or a command.

Only facts fill slots and end beliefs; plans may still tell the date of something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memento.text.words import BASES, MODALS, PAST, base_of, is_adverb, is_past

Mood = Literal["fact", "past", "plan", "possible", "question", "command", "chatter"]
Tense = Literal["past", "present", "future"]


@dataclass(frozen=True, slots=True)
class Reading:
    """
    Mood and tense of a clause.

    `perfect`: a state that goes on ("has lived"); `additional`: it says that something else holds too; `changed`: it says that
    something is new ("now", "switched").
    """

    mood: Mood
    tense: Tense = "present"
    perfect: bool = False
    additional: bool = False
    changed: bool = False


Tone = Literal["fact", "past", "plan", "wish", "rumour", "joke", "quotation", "possible", "question"]
"""How a statement is meant, as the graph has it."""

_JOKE = re.compile(
    r"\b(?:jok(?:e[sd]?|ing|ingly)|kidding|haha\w*|lol|lmao|in\s+jest|jested|prank|satire|spoof|for\s+a\s+laugh|laughter|laughed"
    r"|tongue[\s-]in[\s-]cheek|yeah\s+right|just\s+teasing|banter|wind[\s-]up)\b|😂|🤣|😜",
    re.IGNORECASE,
)
_RUMOUR = re.compile(
    r"\b(?:rumou?r(?:s|ed)?\s+(?:has|have|says?|that|is|are|about|of|only|to|goes|mill)|(?:a|the|only|just|some)\s+rumou?rs?|rumou?r:"
    r"|gossip|hearsay|word\s+(?:is|has\s+it)|(?:people|they|folk|some)\s+say|speculat\w+|allegedly|supposedly|reportedly|unconfirmed"
    r"|nothing\s+(?:is\s+)?(?:decided|official|confirmed|signed)|not\s+(?:yet\s+)?(?:decided|official|confirmed)|not\s+a\s+decision)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:wish(?:es|ed)?|hop(?:e|es|ing)|want(?:s|ed|ing)?|would\s+(?:love|like)|dream(?:s|ing|ed)?)\b", re.IGNORECASE
)

_POSSIBLE = re.compile(
    r"""\b(?:if|unless|whether|might|would|could|should|maybe|perhaps|possibly|supposedly|allegedly|hypothetically
        |hopefully|imagine|suppose|wish(?:es|ed)?|hop(?:e|es|ing)
        |dream(?:s|ing|ed)?\s+(?:of|about)|want(?:s|ed|ing)?|like\s+to|love\s+to|consider(?:s|ing|ed)?|think(?:s
        |ing)?\s+(?:about|of)|thought\s+(?:about|of)
        |tempted|wonder(?:s|ing)?|not\s+sure|unsure|undecided|no\s+idea|debating|thinks\s+USER|guess(?:es)?|almost
        |nearly|pretend(?:s|ing|ed)?|as\s+though|in\s+case
        |interview(?:ed|ing|s)?\s+(?:at|with|for)|appl(?:y|ies|ied|ying)\s+(?:to|for|at)|offer(?:s|ed)?\s+(?:from|by
        |at|USER)|rumou?rs?|potential(?:ly)?|ideally|someday|one\s+day
        |looking\s+(?:for|to|into|at)|open\s+to|interested\s+in|doubts?|try(?:ing)?\s+to|tries\s+to
        |tried\s+to|refus\w+\s+to|declin\w+|turned\s+down|rejected|joked|kidding)\b
      |\bmay\s+(?-i:[a-z]+)\b(?!\s+\d)|\bcan(?:['’]t|not)?\s+(?:use|work|live|move)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_REPORTED = re.compile(
    r"^(?:\w+\s+){0,3}?(?:says?|said|claims?|claimed|thinks|thought|believes|told|heard|asked|suggested"
    r"|recommended)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"""\b(?:will|won['’]t|shall|going\s+to\s+(?!the\b|a\b)(?-i:[a-z]+)|gonna|plan(?:ning|ned)?\s+(?:to|on|for)
        |plans|intend(?:s|ing|ed)?|about\s+to|aim(?:s|ing)?\s+to|set\s+to|due\s+to\s+(?:start|move|join|leave)
        |scheduled\s+to|expects?\s+to|supposed\s+to|has\s+to|have\s+to|needs?\s+to|decided\s+to|agreed\s+to|promised\s+to|can['’]t\s+wait|look(?:s|ing)\s+forward)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SOON = re.compile(
    r"\b(?:is|are)\s+(?:\w+ly\s+)?(?:moving|starting|leaving|joining|switching|quitting|relocating|migrating"
    r"|getting|flying|travelling|traveling|visiting|meeting|giving|hosting)\b",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\b(?:used\s+to|formerly|previously|in\s+the\s+past|back\s+(?:then|when|in\s+(?:\d|the\s|my\s|college|school"
    r"|high|those))|at\s+(?:that|the)\s+time"
    r"|those\s+days|former|ex-\w+|once\s+(?:worked|lived|used|owned|had)"
    r"|before\s+(?:that|joining|moving|this)|as\s+a\s+(?:child|kid|teenager|student)|growing\s+up|had\s+been"
    r"|when\s+USER\s+was|a\s+long\s+time\s+ago)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?:until|till)\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\b(?:since|for\s+(?:\w+\s+){1,4}?(?:day|week|month|year|decade)s?|been\s+\w+ing|always|become)\b", re.IGNORECASE
)
_STATE_THEN = re.compile(
    r"\b(?:was|were|worked|lived|used|had|owned|loved|liked|hated|preferred|knew|studied|stayed|drove|spoke"
    r"|played|taught|served|managed|led|reported|ran|smoked|ate|did)\b(?!\s+(?:promoted|hired|appointed|named"
    r"|made|moved|changed|renamed|elected|accepted"
    r"|transferred|relocated|born|rescheduled|postponed|pushed|delayed|brought|laid|fired|let\s+go|set"
    r"|increased|raised|reduced|cut|diagnosed|delivered|released|replaced|archived|discontinued|shelved|scrapped"
    r"|cancell?ed|closed|sold|founded|merged|acquired|shut|ended|completed"
    r"|finished|shipped|killed|abandoned|stolen|repaired|fixed|published|rejected|approved|admitted|discharged|robbed"
    r"|towed|awarded|chosen|selected"
    r"|extended|shortened|confirmed|given|robbed|dissolved|demolished|adopted|retired|to\b))",
    re.IGNORECASE,
)
_ADDITIONAL = re.compile(
    r"\b(?:also|as\s+well|in\s+addition|additionally|second\s+(?:job|home|phone|e-?mail|editor|language|flat"
    r"|house|apartment)|another|part[- ]time|side\s+(?:job|project|gig)|on\s+the\s+side|besides|"
    r"one\s+of|sometimes|occasionally|plus|alongside|as\s+a\s+hobby|in\s+parallel|partly|half\s+the"
    r"|from\s+time\s+to\s+time|some\s+of)\b|\btoo\s*[.!]?$|\bboth\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:now|nowadays|these\s+days|anymore|any\s+more|any\s+longer|no\s+longer|instead|switched|changed"
    r"|moved|migrated|became|new|replaced|since|started|renamed|finally|just|recently|from\s+now\s+on|(?:went|gone"
    r"|returned|switched|moved)\s+back"
    r"|currently)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:who|whom|whose|what|when|where|why|how|which|do|does|did|am|is|are|was|were|can|could|would|will"
    r"|should|shall|may|have|has)\s+(?:\w+\s+)?(?:you|USER|we|I|it|he|she|they|there|the|a|an|any|this|that"
    r"|to)\b(?!['’]s)",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^(?:thanks?|thank\s+you|thx|hi|hello|hey|bye|goodbye|good\s+(?:morning|night|evening|luck)|ok|okay|yes"
    r"|no|yeah|yep|sure|great|cool|nice|wow|awesome|congrats|congratulations|see\s+you"
    r"|talk\s+(?:to\s+you\s+)?(?:soon|later)|"
    r"you['’]re\s+welcome|sounds\s+good|haha|lol|cheers|how\s+are\s+you|take\s+care)\b[^.]{0,40}[.!…]*$",
    re.IGNORECASE,
)
_PAST_TIME = re.compile(
    r"\b(?:yesterday|ago|last\s+(?:week|month|year|night|summer|winter|spring|fall|autumn|weekend|\w+day)|the\s+other\s+day)\b",
    re.I,
)
_WORD = re.compile(r"[\w'’]+")


@lru_cache(maxsize=8192)
def reading(clause: str) -> Reading:
    """
    How a clause in the third person is meant.

    >>> [reading(text).mood for text in ("USER lives in Oslo", "USER used to live in Oslo", "USER might go to Oslo")]
    ['fact', 'past', 'possible']
    >>> [reading(text).mood for text in ("USER will move to Oslo", "Is USER in Oslo?", "Buy milk")]
    ['plan', 'question', 'command']
    """
    tense, perfect = _tense(clause)
    return Reading(
        mood=_mood(clause, tense, perfect),
        tense=tense,
        perfect=perfect,
        additional=bool(_ADDITIONAL.search(clause)),
        changed=bool(_CHANGED.search(clause)),
    )


def tone(clause: str, how: Reading) -> Tone:
    """
    How a statement is meant: as a fact, or as something only planned, wished, told or said for fun.

    >>> [tone(text, reading(text)) for text in ("Ana left", "Gossip: Ana left", "Just kidding, Ana left", "USER wants to leave")]
    ['fact', 'rumour', 'joke', 'wish']
    """
    if how.mood == "question":
        return "question"
    if _JOKE.search(clause):
        return "joke"
    if _RUMOUR.search(clause):
        return "rumour"
    if how.mood in ("possible", "command"):
        return "quotation" if _REPORTED.search(clause) else "wish" if _WISH.search(clause) else "possible"
    return "plan" if how.mood == "plan" else "past" if how.mood == "past" else "fact"


def is_no_longer(clause: str) -> bool:
    """
    Whether a clause tells of something over, done or only possible: nothing of it can be ended again.

    >>> is_no_longer("USER no longer uses Vim"), is_no_longer("USER uses Vim")
    (True, False)
    """
    return reading(clause).mood in ("past", "possible", "plan") or bool(
        re.search(
            r"\b(?:no longer|any ?more|any longer|stopped|quit|gave up|left|never|not|\w+n['’]t|got rid of"
            r"|uninstalled)\b",
            clause,
            re.IGNORECASE,
        )
    )


def _mood(clause: str, tense: Tense, perfect: bool) -> Mood:
    if clause.rstrip("\"”') ").endswith(("?", "？")) or (_QUESTION.search(clause) and not clause.startswith("USER")):
        return "question"
    if _CHATTER.search(clause) or _is_exclamation(clause):
        return "chatter"
    if _is_command(clause):
        return "command"
    if _POSSIBLE.search(clause) or _REPORTED.search(clause):
        return "possible"
    if _PLAN.search(clause) or tense == "future":
        return "plan"
    if perfect and _GOES_ON.search(clause):
        return "fact"
    if tense == "past" and _UNTIL.search(clause):
        return "past"
    if _FORMER.search(clause) or (tense == "past" and _STATE_THEN.search(clause)):
        return "past"
    return "fact"


def _is_exclamation(clause: str) -> bool:
    """Whether a few words without a verb, a figure or the user say nothing: "Onward!", "Of course", "Jolene!"."""
    words = _WORD.findall(clause)
    return (
        0 < len(words) <= (3 if clause.rstrip().endswith("!") else 2)
        and "USER" not in clause
        and not re.search(r"\w\s*[:–—-]\s+\w", clause)
        and not any(base_of(word) or is_past(word) or word[0].isdigit() or "'" in word for word in words)
    )


def _is_command(clause: str) -> bool:
    """Whether the first word that counts is a bare verb: "Please call Ana", "Don't use tabs"."""
    words = [
        word for word in _WORD.findall(clause)[:4] if word.lower() not in ("please", "kindly") and not is_adverb(word)
    ]
    if not words:
        return False
    first = words[0].lower().replace("’", "'")
    return first in ("don't", "let's") or (
        first in BASES
        and first not in PAST
        and words[0] != "USER"
        and not _has_later_verb(words[1:])
        and first not in ("love", "hope", "last")
    )


def _has_later_verb(words: list[str]) -> bool:
    """Whether one of the next words is finite, so that the first is a noun: "Work is busy"."""
    return any(
        word.lower() in ("is", "was", "are", "were", "has", "had", "does", "did") or word.lower() in MODALS
        for word in words[:2]
    )


def _tense(clause: str) -> tuple[Tense, bool]:
    """The tense of the first finite verb, and whether it is a perfect."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(clause)]
    for index, word in enumerate(words):
        rest = [later for later in words[index + 1 : index + 5] if not is_adverb(later) and later != "not"]
        if (
            (word in ("has", "have", "hasn't", "haven't") or word.endswith("'s"))
            and rest
            and (is_past(rest[0]) or rest[0] == "been")
            and (not word.endswith("'s") or rest[0] == "been")
        ):
            return "past", True
        if word in ("will", "won't", "'ll"):
            return "future", False
        if (
            word
            in (
                "is",
                "are",
                "am",
                "has",
                "have",
                "does",
                "do",
                "isn't",
                "aren't",
                "doesn't",
                "don't",
                "hasn't",
                "haven't",
            )
            or word in MODALS
        ):
            return (
                "future" if _SOON.search(clause) and word in ("is", "are") and rest[:1] != ["using"] else "present"
            ), False
        if word in ("was", "were", "had", "did", "wasn't", "weren't", "hadn't", "didn't") or is_past(word):
            return "past", False
        if (
            index
            and word.endswith("s")
            and base_of(word)
            and words[index - 1] not in ("the", "a", "an", "my", "of", "user's")
        ):
            return "present", False
        if (
            word in ("split", "quit", "hurt", "hit", "cut", "put", "set", "let", "bet", "read")
            and (index or word in ("quit", "split", "cut", "hit"))
            and _PAST_TIME.search(clause)
        ):
            return "past", False
        if word in ("quit", "put", "cut", "let", "set", "hit") and _follows_user(words, index):
            return "past", False
    return "present", False


def _follows_user(words: list[str], index: int) -> bool:
    before = next((word for word in reversed(words[:index]) if not is_adverb(word)), "")
    return before == "user"
