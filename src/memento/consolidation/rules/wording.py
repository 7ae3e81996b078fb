"""
How a memory is worded: as its note says it, with USER for the person who speaks.

*Because:* words that are changed are words that a question no longer finds, and every change may be a false one. Only what is
certain changes: "I" and "my", the verb that agrees with them, and a day that is named by its distance gains its date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo
from functools import lru_cache

from memento.consolidation.rules.diary import with_subject
from memento.text.dates import Dated
from memento.text.person import third_person
from memento.text.sentences import sentences
from memento.text.tables import word_set
from memento.text.words import BASES, base_of, is_past

_GREETING = re.compile(
    r"^(?:hi|hello|hey|hiya|howdy|yo|good\s+(?:morning|afternoon|evening|night|day)|greetings|welcome|bye|goodbye|cheers"
    r"|see\s+you|talk\s+soon|take\s+care)\b(?:,?\s+(?:there|all|everyone|everybody|team|folks|again|back|you|later|soon"
    r"|memento|[A-Z]\w+)){0,3}\s*[!.,…)]*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^(?:many\s+)?(?:thanks?|thank\s+you|thx|ty|cheers|much\s+appreciated|appreciate\s+it|you['’]re\s+welcome|no\s+problem"
    r"|no\s+worries)\b(?:\s+(?:so|very|a|lot|much|you|again|for|all|the|your|that|this|help|everything|in|advance|lots"
    r"|bunch|million)){0,6}\s*[!.…]*$",
    re.IGNORECASE,
)
_NOISE = word_set(
    "ok okay k kk yes yeah yep yup no nope nah sure right fine great good nice cool wow awesome amazing perfect lovely brilliant "
    "exactly absolutely totally agreed done test testing hm hmm mhm ah oh aha haha hahaha lol lmao omg ugh yay huh what "
    "please sorry oops damn congrats congratulations excellent super well anyway so sounds looks got it understood noted"
)
_QUESTION_WORDS = r"(?:who|whom|whose|what|when|where|why|how|which)"
_QUESTION = re.compile(
    rf"^(?:(?:and|so|but|ok|okay|hey|well|sorry|btw)[,\s]+)*(?:{_QUESTION_WORDS}(?:['’]s|['’]re)?|do|does|did|am|is|are|was"
    r"|were|can|could|would|will|should|shall|may|have|has|had|any|anyone|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t"
    r"|won['’]t)\b.*\?[\"'”’)\s]*$",
    re.IGNORECASE | re.DOTALL,
)
_TELLING = re.compile(
    r"^(?:\w+[,\s]+){0,2}(?:did|do|have|can|could|would|will)\s+(?:i|you)\s+(?:(?:not|ever|already|even|n['’]t)\s+)?"
    r"(?:tell|told|mention(?:ed)?|say|said|know|knew|believe|hear|heard|imagine|see|seen|remember)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:(?:and|but|so|then|also|plus|or|still|now|anyway|meanwhile|instead)[,\s]+)*"
    r"(?:he|she|it|they|them|this|that|these|those|both|his|her|hers|its|their|there|one\s+of\s+(?:them|those)|the\s+(?:other|others"
    r"|same|latter|former|first|second|rest))\b(?!\s+(?:are|is|was|were)\s+(?:an?\s+)?\w+\s+(?:in|at|on)\b(?<=there))",
    re.IGNORECASE,
)
_ELLIPTIC = word_set(
    "still also back never always only just not no until till since from for at on in with by after before"
)
_CONJUNCTION = re.compile(
    r"^(?:and|but|so|then|because|since|though|although|which|who|or|plus|hence|therefore|otherwise)\b", re.IGNORECASE
)
_WORD = re.compile(r"[\w'’]+")
_RELATIVE = re.compile(
    r"\b(?:yesterday|tomorrow|tonight|last\s+night|the\s+(?:day\s+before\s+yesterday|day\s+after\s+tomorrow|other\s+day)"
    r"|(?:last|next|this|this\s+coming|this\s+past)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\w+\s+(?:\w+\s+)?(?:days?|weeks?|months?|years?)\s+ago|(?:last|next)\s+(?:week|month|year|weekend))\b",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\s?\[\d{4}(?:-\d\d){0,2}\]")
_COARSE = re.compile(r"\b(?:months?|years?)\b", re.IGNORECASE)


def with_user(text: str) -> str:
    """
    The text as it was said, with USER for the one who says it; "we" and "our" stay, and so do names.

    >>> with_user("I've moved and I love my new flat; we're happy.")
    "USER has moved and USER loves USER's new flat; we're happy."
    """
    return third_person(text, plural=False)


@lru_cache(maxsize=8192)
def as_read(content: str) -> str:
    """
    A memory in the third person throughout, without the dates in brackets: what patterns compare.

    >>> as_read("We moved yesterday [2026-03-02].")
    'USER and others moved yesterday.'
    """
    return " ".join(third_person(with_subject(sentence)) for sentence in sentences(_STAMP.sub("", content)))


def noise(sentence: str) -> str:
    """
    Why a sentence is worth no memory, or "".

    >>> noise("Thanks a lot!"), noise("ok"), noise("Where do I live?"), noise("I like tea.")
    ('it is thanks', 'it says nothing by itself', 'it is a question', '')
    """
    plain = sentence.strip()
    words = _WORD.findall(plain)
    if not words:
        return "it has no words"
    if _GREETING.match(plain):
        return "it is a greeting"
    if _THANKS.match(plain):
        return "it is thanks"
    if len(words) <= 3 and all(word.lower() in _NOISE for word in words):
        return "it says nothing by itself"
    if _QUESTION.match(plain) and not _TELLING.match(plain):
        return "it is a question"
    return ""


def leans(piece: str) -> bool:
    """
    Whether a clause or sentence needs what stands before it: it begins with a pronoun or a conjunction, or is a fragment.

    >>> leans("She still teaches."), leans("Two bedrooms."), leans("Mum still teaches.")
    (True, True, False)
    """
    if _PRONOUN.match(piece) or _CONJUNCTION.match(piece):
        return True
    words = _WORD.findall(piece)
    first = words[0].lower() if words else ""
    if (
        is_past(first) or (first.endswith("s") and base_of(first) and first not in BASES) or first in _ELLIPTIC
    ) and len(words) > 1:
        return words[1][0].islower() or not has_verb(words[1:])
    return len(words) <= 4 and not has_verb(words) and not re.search(r"\d|[:=]", piece)


def has_verb(words: Sequence[str]) -> bool:
    """Whether one of some words is a finite verb or an imperative."""
    for at, word in enumerate(words):
        plain = word.lower().replace("’", "'")
        if plain in ("is", "are", "am", "was", "were", "has", "have", "had", "does", "do", "did") or "'" in plain:
            return True
        if is_past(plain) or (at and base_of(plain) and not plain.endswith("ing")) or (not at and plain in BASES):
            return True
    return False


def with_dates(content: str, dates: Sequence[Dated], zone: tzinfo) -> str:
    """
    The content with the date behind each day that is named by its distance: "yesterday" becomes "yesterday [2026-03-02]".

    `dates` are those of this content, by their place in it.
    """
    text, shift = content, 0
    for one in sorted(dates, key=lambda found: found.end):
        phrase = content[one.start : one.end]
        if not _RELATIVE.search(phrase) or content[one.end :].lstrip().startswith("["):
            continue
        day = one.value.astimezone(zone)
        stamp = (
            f" [{day:%Y}]"
            if "year" in phrase.lower()
            else f" [{day:%Y-%m}]"
            if _COARSE.search(phrase)
            else f" [{day:%Y-%m-%d}]"
        )
        at = one.end + shift
        text, shift = f"{text[:at]}{stamp}{text[at:]}", shift + len(stamp)
    return text
