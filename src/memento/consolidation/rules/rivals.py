"""
Which memories likely cannot hold together with a draft, though no table knows the relation: the second of three degrees.

Two sentences are rivals when they say different things of one topic ("Standup is at 9:30", "Standup was dropped"), or say
nearly the same of one named subject with another name or number. Both stay; recall lets time decide between them.

*But:* what merely happened (a walk, a talk, a purchase) is no rival of anything, and neither is what adds to what is known.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.rules.wording import as_read
from memento.text.mood import reading
from memento.text.sentences import introduced, sentences
from memento.text.tables import word_set
from memento.text.tokens import WORD, stems
from memento.text.words import BASES, DETERMINERS, MODALS, NUMBER_WORDS, PRONOUNS, base_of, is_adverb, is_past

LIKELY = 0.5
"""The least confidence of a rivalry that is written down."""

_ALIKE = 0.62
"""The cosine of two sentences of one subject above which they speak of the same thing."""

_OF_ONE_TOPIC = 0.25
_OF_ONE_NAME = 0.45
"""The least cosine of two sentences of one topic; what is said of somebody is about many things."""

_OF_ONE_MEASURE = 0.45
"""The least cosine of two sentences that give the same measure of the same thing."""

_PERHAPS = 0.55
"""The confidence of what speaks for a rivalry without naming the topic of the old memory."""

_GONE = re.compile(
    r"\b(?:retire[sd]?|left|leaves|leaving|quits?|resign(?:s|ed)?|stolen|sold|died|dead|passed\s+away|gone|replaced?|(?:switched|turned|taken"
    r"|came)\s+(?:\w+\s+)?off|shut|closed|hand(?:s|ed)?\s+(?:\w+\s+){0,3}over|t(?:ook|akes)\s+over|stop(?:s|ped)?|g[ai]ven?\s+up|no\s+longer"
    r"|any\s?more|cancell?ed|dropped|ended|finished|moved\s+(?:out|away|on)|fired|abandoned|scrapped|broken?|lost|expired|failed)\b",
    re.IGNORECASE,
)
"""Words that tell of somebody or something that it is no longer where or what it was."""
_MEASURE = re.compile(
    rf"(?<![\w.,])(\d[\d.,]*|{'|'.join(NUMBER_WORDS)})\s?(?:(?:an?|per|the)\s)?([^\W\d_]+(?:/[a-z]+)?|%|€)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^([^\W\d_][\w &'’/-]{1,40}?)(?:\s*[:=]\s+|\s+[–—-]\s+)(?=\S)")
_IS_THE = re.compile(
    r"^[A-Z\u00c0-\u00de][^,;:.!?]{0,60}?(?:\s(?:is|are|becomes|became|stays|remains)|['’]s)(?:\s(?:now|again|currently|still))?\s"
    r"(?:the|our|my|its|USER['’]s|acting|interim|back\sas)\s(?:(?:new|acting|interim|only|current)\s)?"
    r"(?P<role>[a-z][\w-]*(?:\s[a-z][\w-]*){0,2}?)(?=[.,;!?]|$|\s(?:of|for|at|in|on|from|until|till|since|as|and|now|again|while|who)\b)"
)
"""What somebody or something is said to be, where only one can be that: "Ilse is our treasurer now"."""
_GENERIC = word_set(
    "decision decided note notes update reminder correction fact info fyi todo plan question idea convention rule policy minutes "
    "retro incident audit follow-up ps news warning careful important new agreed example thing things people everybody somebody"
)
_FINITE = word_set(
    "is are was were has have had does do did will would can could isn't aren't wasn't weren't hasn't haven't doesn't don't didn't "
    "won't goes go went"
)
_OPENING = re.compile(
    r"^(?:(?:from|as\s+of|since|starting|until|after|before|in|on|at|for|with)\s+(?:[\w'’.-]+\s+){0,4}?(?:on|now|today|tomorrow"
    r"|week|month|year|\d{4}|\d+|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:\s+on)?,?\s+"
    r"|(?:now|today|yesterday|also|still|finally|currently|officially|there)\s+)+",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"^[€$£]?\d")
_MODIFIERS = word_set(
    "new old current former next last latest main usual own all whole other same our my their its his her the std"
)
_KIN = {
    "mum": "mother", "mom": "mother", "mama": "mother", "dad": "father", "papa": "father", "wife": "spouse", "husband": "spouse",
    "boss": "manager", "weans": "children", "kids": "children", "hrs": "hours", "tel": "phone", "std": "standard", "mths": "months",
}  # fmt: skip


def rivalry(draft: Draft, old: Existing, likeness: float) -> float:
    """
    How sure it is that a draft and a memory are rivals, 0..1.

    Args:
        likeness: the cosine of both contents.
    """
    if draft.noise or draft.remark or not _is_state(draft.reads or as_read(draft.content)):
        return 0.0
    new, known = draft.content, old.memory.content
    shared, is_name = _best(topics(new), topics(known), _names(draft, old))
    if shared:
        return shared if likeness >= (_OF_ONE_NAME if is_name else _OF_ONE_TOPIC) else 0.0
    if likeness >= _ALIKE and _differ(draft, old):
        return min(0.9, likeness)
    if likeness >= _OF_ONE_MEASURE and _measure_otherwise(new, known):
        return _PERHAPS
    if likeness >= _OF_ONE_TOPIC and _is_gone(draft, old):
        return _PERHAPS
    return 0.0


@lru_cache(maxsize=4096)
def topics(content: str) -> tuple[frozenset[str], ...]:
    """
    What each sentence of a memory is about: the stems of its subject, where that is a thing and not a person who acts.

    >>> [sorted(topic) for topic in topics("The rent goes up to 900. Standup: every day at nine.")]
    [['rent'], ['standup']]
    """
    found: list[frozenset[str]] = []
    for sentence in sentences(content)[:8]:
        found += _of_sentence(sentence)
    return tuple(dict.fromkeys(topic for topic in found if topic))


def _of_sentence(sentence: str) -> list[frozenset[str]]:
    body, _ = introduced(sentence)
    found: list[frozenset[str]] = []
    if role := _IS_THE.match(body):
        found.append(_topic(WORD.findall(role["role"].lower())))
    if label := _LABEL.match(body):
        words = WORD.findall(label[1].lower())
        if not set(words) <= _GENERIC:
            found.append(_topic(words))
        body = body[label.end() :]
    body = _OPENING.sub("", body)
    subject: list[str] = []
    tokens = re.findall(r"[€$£]?\d\S*|[^\W_][\w'’./#&-]*|=|[,;:(]", body)
    for at, token in enumerate(tokens[:9]):
        plain = token.lower().replace("’", "'").rstrip(".,")
        if plain in ("=", ":", ",", ";", "(") or _FIGURE.match(token):
            return [*found, _topic(subject)] if subject else found
        if at and (plain in _FINITE or plain in MODALS or _is_verb(plain, token, subject)):
            return [*found, _topic(subject)] if subject else found
        if plain in PRONOUNS and plain not in DETERMINERS:
            return found
        if is_adverb(plain) and plain not in BASES:
            continue
        subject.append(plain)
    return found


def _is_verb(plain: str, token: str, subject: list[str]) -> bool:
    """Whether a word behind a subject is its verb; a capital says that it is a name."""
    if token[:1].isupper() or not subject or subject[-1] in DETERMINERS:
        return False
    return (
        is_past(plain)
        or (plain.endswith("s") and base_of(plain) is not None and plain not in BASES)
        or (plain in BASES and subject[-1].endswith("s"))
    )


def _topic(words: list[str]) -> frozenset[str]:
    plain = [_KIN.get(word, word) for word in (word.removesuffix("'s").removesuffix("’s") for word in words)]
    kept = [word for word in plain if word not in DETERMINERS and word not in _MODIFIERS and word != USER.lower()]
    return frozenset() if not kept or kept[-1] in ("of", "for", "in", "at") else stems(" ".join(kept))


def _best(
    new: tuple[frozenset[str], ...], known: tuple[frozenset[str], ...], names: frozenset[str]
) -> tuple[float, bool]:
    """The confidence that two memories have a topic in common, and whether that is only the name of somebody or something."""
    best = (0.0, True)
    for one in new:
        for other in known:
            sure = 0.75 if one == other else 0.55 if one < other or other < one else 0.0
            if sure:
                best = max(best, (sure, (one & other) <= names), key=lambda found: (not found[1], found[0]))
    return best


def _names(draft: Draft, old: Existing) -> frozenset[str]:
    return frozenset(stem for name in (*draft.about, *old.about) if name != USER for stem in stems(name))


def _is_state(content: str) -> bool:
    how = reading(content)
    return how.mood in ("fact", "past", "plan", "command")


def _measure_otherwise(new: str, known: str) -> bool:
    """Whether both give another number of the same unit, and have a word in common beside it."""
    one, other = ({unit.lower(): number.lower() for number, unit in _MEASURE.findall(text)} for text in (new, known))
    shared = {unit for unit in one.keys() & other.keys() if one[unit] != other[unit]}
    return bool(shared) and bool((stems(new) & stems(known)) - stems(" ".join(shared)))


def _is_gone(draft: Draft, old: Existing) -> bool:
    """Whether a draft tells that somebody or something named is gone, which a memory has in its predicate: as holder or means."""
    if reading(old.memory.content).tense == "past" or not _GONE.search(draft.content):
        return False
    opening = " ".join(old.memory.content.casefold().split()[:2])
    return any(name != USER and name in old.about and name.casefold().split()[0] not in opening for name in draft.about)


def _differ(draft: Draft, old: Existing) -> bool:
    """Whether both are about one named thing or the user, and each has a name or a figure that the other lacks."""
    new, known = set(draft.about), set(old.about)
    if not new & known:
        return False
    figures, others = (set(re.findall(r"\d[\d.,:]*", text)) for text in (draft.content, old.memory.content))
    return bool((new - known or figures - others) and (known - new or others - figures))
