"""
Find memories that likely cannot be true together with a draft, though no table knows the relation: the second of three degrees.

Two sentences are rivals if they are the same once names, figures and days are masked ("⟨X⟩ looks after the goats"), if they differ
in exactly one of those, and if only one such statement can be true at a time. Both are kept; recall decides by time. Memories that
are only about the same topic ("Standup is at 9:30", "Standup was dropped") are linked with less confidence: they are not in
dispute, but recall ranks the later one first.

*But:* an event (a walk, a talk, a purchase) is no rival of anything, and neither is a statement that adds to what is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from memento.consolidation.agents import USER, Draft, Existing, Rival
from memento.consolidation.rules.patterns import DATA
from memento.consolidation.rules.wording import as_read
from memento.text.mood import is_no_longer, reading, tone
from memento.text.sentences import introduced, sentences
from memento.text.tables import load, word_set
from memento.text.words import (
    BASES,
    DETERMINERS,
    FUNCTION_WORDS,
    MODALS,
    MONTHS,
    NUMBER_WORDS,
    PARTICIPLES,
    PRONOUNS,
    WEEKDAYS,
    WORD,
    base_of,
    is_adverb,
    is_past,
    occurs,
    stems,
)

LIKELY = 0.5
"""The confidence from which two memories are in dispute; with less, recall only ranks the later one first."""

_ALIKE = 0.62
"""The cosine of two sentences of one subject above which they are about the same thing."""

ALIKE = 0.68
ALIKE_BY_WORDS = 0.78
"""The least cosine of two masked sentences that say the same of something; the second applies if other words differ too."""

SAME = 0.95
"""The least cosine of two masked sentences that say exactly the same, so that a word of change retires the earlier one."""

SEVERAL = -0.15
"""The least margin, by cosine, between a sentence's likeness to statements with one value and to those with several."""

_OF_ONE_TOPIC = 0.25
_OF_ONE_NAME = _OF_ONE_MEASURE = 0.45
"""
The least cosine of two sentences on one topic; it is higher if the topic is only a name or a measure, which many things share.
"""

_ONE_TOPIC = 0.4
"""The confidence of two memories on one topic that may both be true: recall only ranks the later one first."""
_PERHAPS = 0.3
"""The same for weaker evidence of one topic: one topic is part of the other, a measure changed, or something is gone."""

RELATED = 0.4
"""The least cosine of two memories whose masked sentences are compared."""

_GONE = re.compile(
    r"\b(?:retire[sd]?|left|leaves|leaving|quits?|resign(?:s|ed)?|stolen|sold|died|dead|passed\s+away|gone|replaced?|(?:switched|turned|taken"
    r"|came)\s+(?:\w+\s+)?off|shut|closed|(?:hand(?:s|ed)?|t(?:ook|akes))\s+(?:\w+\s+){0,4}over|stop(?:s|ped)?|g[ai]ven?\s+up|no\s+longer"
    r"|any\s?more|cancell?ed|dropped|ended|finished|moved\s+(?:out|away|on)|fired|abandoned|scrapped|broken?|lost|expired|failed)\b",
    re.IGNORECASE,
)
"""Words that say that somebody or something is no longer where or what it was."""
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
"""What somebody or something is said to be, if only one can be that: "Ilse is our treasurer now"."""
_GENERIC = word_set(
    "decision decided note notes update reminder correction fact info fyi todo plan question idea convention rule policy minutes "
    "retro incident audit follow-up ps news warning careful important new agreed example thing things people everybody somebody"
)
_FINITE = word_set(
    "is are was were has have had does do did will would can could isn't aren't wasn't weren't hasn't haven't doesn't don't didn't "
    "won't goes go went"
)
_BE = word_set("is are was were")
_LIGHT = word_set("be have do get go come become stay remain keep make take put let need want give")
"""Verbs that say little by themselves, so that another verb may say the same."""
_LINKS = word_set(
    "about after against as at between by for from in into of off on onto out over through to under via with"
)
_OPENING = re.compile(
    r"^(?:(?:from|as\s+of|since|starting|until|after|before|in|on|at|for|with)\s+(?:[\w'’.-]+\s+){0,4}?(?:on|now|today|tomorrow"
    r"|week|month|year|\d{4}|\d+|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:\s+on)?,?\s+"
    r"|(?:now|today|yesterday|also|still|finally|currently|officially|there)\s+)+",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"^[€$£]?\d")
_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+)?"
_FIGURE_OF = re.compile(
    rf"[€$£]?\d(?:[\w.,:/%-]*[\w%])?|\b(?:{'|'.join(sorted({*NUMBER_WORDS} - {'a', 'an', 'one', 'no'}, key=len, reverse=True))}"
    r"|one(?=\s+[a-z]+))\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"\b(?:{'|'.join(sorted({day.capitalize() for day in (*WEEKDAYS, *MONTHS)}, key=len, reverse=True))})s?\b"
)
_NAME = re.compile(rf"(?<=\s){_TITLE}(?!I\b|Some\b)[A-Z][\w&+#'’-]*(?:\s[A-Z][\w&+#-]*)*(?=[\s.,;:!?)]|$)")
_FROM_NOW_ON = re.compile(
    r"\s*,?\b(?:from\s+now\s+on|(?:from|as\s+of|since)\s+(?:today|now)|no\s+longer|any\s?more|nowadays|these\s+days|now)\b",
    re.IGNORECASE,
)
_PLAIN_NAME = re.compile(r"^(?:mr|mrs|ms|dr|prof)\.?\s+|['’]s$")
_MASKS = stems("someone some day")
MOST_SENTENCES = 3
"""The most sentences of a memory that can be a rival; a longer one says too much."""
_ALIGNED = 0.5
"""The least share of common words, in the same order, of two masked sentences that are compared word for word."""
_MODIFIERS = word_set(
    "new old current former next last latest main usual own all whole other same our my their its his her the std"
)
_KIN = {
    "mum": "mother", "mom": "mother", "mama": "mother", "dad": "father", "papa": "father", "wife": "spouse", "husband": "spouse",
    "boss": "manager", "weans": "children", "kids": "children", "hrs": "hours", "tel": "phone", "std": "standard", "mths": "months",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """
    A sentence with its names, figures and days replaced by placeholders, and what these were.

    >>> frame = frames("Omar keeps 2 keys on Mondays.", ("Omar",))[0]
    >>> frame.masked, sorted(frame.names), sorted(frame.figures), sorted(frame.days)
    ('someone keeps some keys on some day', ['omar'], ['2'], ['monday'])
    """

    masked: str
    names: frozenset[str]
    figures: frozenset[str]
    days: frozenset[str]
    says: str

    @property
    def tells_of_change(self) -> bool:
        """Tell whether the sentence says that something has changed."""
        return reading(self.says).changed or _GONE.search(self.says) is not None


@lru_cache(maxsize=4096)
def frames(content: str, about: tuple[str, ...]) -> tuple[Frame, ...]:
    """Return the masked sentences of a memory, given the names it is about; none if it is longer than three sentences."""
    told = sentences(as_read(content))
    return tuple(_frame(sentence, about) for sentence in told) if len(told) <= MOST_SENTENCES else ()


def _frame(sentence: str, about: tuple[str, ...]) -> Frame:
    kept: dict[str, list[str]] = {"\0": [], "\1": [], "\2": []}

    def mask(pattern: re.Pattern[str], sign: str, text: str) -> str:
        def keep(match: re.Match[str]) -> str:
            kept[sign].append(match.group())
            return sign + ("'s" if match.group().endswith(("'s", "’s")) else "")

        return pattern.sub(keep, text)

    text = _FROM_NOW_ON.sub("", sentence.replace("\0", "").strip(" .!…"))
    text = re.sub(rf"^{USER} and others\b", "we", text).replace(f"{USER} and others", "us")
    named = sorted((name for name in about if name != USER), key=len, reverse=True)[:20]
    if named:
        known = "|".join(map(re.escape, named))
        text = mask(re.compile(rf"(?<!\w){_TITLE}(?:{known})(?!\w)", re.IGNORECASE), "\0", text)
    text = mask(_DAY, "\1", text)
    text = mask(_NAME, "\0", text.replace(f"{USER}'s", "my").replace(USER, "I"))
    text = mask(_FIGURE_OF, "\2", text)
    # "14 Quay Street" and "20 MB" are one thing each.
    text = re.sub("\2 \0", "\0", text)
    joined = " ".join(kept["\2"]) if "\2" not in text and kept["\2"] else ""
    names = {_PLAIN_NAME.sub("", name.casefold()) for name in kept["\0"]}
    return Frame(
        masked=text.replace("\0", "someone").replace("\1", "some day").replace("\2", "some"),
        names=frozenset({f"{joined} {' '.join(sorted(names))}"} if joined and len(names) == 1 else names),
        figures=frozenset() if joined and len(names) == 1 else frozenset(one.casefold() for one in kept["\2"]),
        days=frozenset(one.casefold().removesuffix("s") for one in kept["\1"]),
        says=sentence,
    )


def list_masked(draft: Draft) -> tuple[str, ...]:
    """
    List the texts of a draft that are embedded for the comparison: its masked sentences, and the sample sentences of the kinds.
    """
    masked = () if draft.noise or draft.remark else tuple(frame.masked for frame in frames(draft.content, draft.about))
    return (*masked, *(text for kind in kinds_of_frames() for text in kind)) if masked else ()


def comparable_frames(draft: Draft, old: Existing) -> Iterator[tuple[Frame, Frame, float]]:
    """Yield the sentences of a draft and of a memory that may differ in one thing only, with the least cosine that shows it."""
    if draft.noise or draft.remark or not _may_be_rivals(draft.content, old.memory.content):
        return
    for new in frames(draft.content, _with_names_of(old.about, draft.content, draft.about)):
        for known in frames(old.memory.content, _with_names_of(draft.about, old.memory.content, old.about)):
            if _differ_once(new, known) and not _have_other_verbs(new, known):
                yield new, known, ALIKE_BY_WORDS if _other_things(new, known) else ALIKE


def _with_names_of(others: tuple[str, ...], content: str, about: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that a memory is about, and those in its text that the other memory is about."""
    return (*about, *(name for name in others if name not in about and occurs(name, content)))


def _may_be_rivals(new: str, known: str) -> bool:
    """Tell whether the old memory states something lasting, and the new one a fact or an arrangement."""
    how = reading(as_read(known))
    is_state = _mood(known) == "fact" and (how.tense != "past" or how.perfect) and not is_no_longer(known)
    mood = _mood(new)
    return is_state and (mood in ("fact", "plan") or (mood == "past" and reading(as_read(new)).changed))


def _mood(content: str) -> str:
    """Return the mood of a memory; an apparent command with a subject is a statement: "Pull requests go to Ana"."""
    said = as_read(content)
    how = reading(said)
    return "fact" if how.mood == "command" and topics(content) else tone(said, how)


def _differ_once(new: Frame, known: Frame) -> bool:
    """Tell whether two sentences have something in common, and differ in exactly one name, figure, day or thing."""
    if not (new.names & known.names or stems(new.masked) & stems(known.masked) - _MASKS):
        return False
    figures_and_days = (new.figures, known.figures), (new.days, known.days)
    owned = (new.names | _owner(new), known.names | _owner(known)), *figures_and_days
    if sum(_count_other(one, other, most=max) for one, other in owned) > 1:  # "Gus's tutor is Hal", "My tutor is Ines"
        return False
    named = (new.names, known.names), *figures_and_days
    count = sum(_count_other(one, other, most=min) for one, other in named) + _other_things(new, known)
    if not count and new.names > known.names:  # "Tariq took it over from Sanne"
        return new.tells_of_change
    return count == 1


def _have_other_verbs(new: Frame, known: Frame) -> bool:
    """
    Tell whether two sentences with one subject state unrelated relations: other verbs, with the object in another position.

    "The bakery is run by Hugo." · "The bakery supplies Cafe Luna." A sentence that states a change may use any verb.
    """
    if new.tells_of_change:
        return False
    one, other = find_predicate(new.says), find_predicate(known.says)
    if one is None or other is None or one[0] != other[0]:
        return False
    return one[1] != other[1] and one[2] != other[2]


@lru_cache(maxsize=4096)
def find_predicate(sentence: str) -> tuple[str, str, str] | None:
    """
    Find the subject of a sentence, the base of its main verb, and the word before its complement ("" if there is none).

    Return None if the verb says little, as "is" and "has" do, or is not in the lexicon.

    >>> find_predicate("The team is led by Priya."), find_predicate("The team uses Rust.")
    (('the team', 'lead', 'by'), ('the team', 'use', ''))
    >>> find_predicate("The dentist is at 14 Quay Street.") is None
    True
    """
    subject: list[str] = []
    words = [word for word in WORD.findall(_OPENING.sub("", sentence)) if not is_adverb(word.lower())]
    for at, word in enumerate(words[:9]):
        plain = word.lower().replace("’", "'")
        is_passive = plain in _BE and bool(subject)
        if is_passive or (subject and _is_verb(plain, word, subject)):
            rest = [one.lower() for one in words[at + is_passive :]]
            is_told = rest and (not is_passive or rest[0].endswith("ed") or rest[0] in PARTICIPLES)
            verb = (base_of(rest[0]) or rest[0]) if is_told else None
            link = rest[1] if len(rest) > 1 and rest[1] in _LINKS else ""
            return (" ".join(subject), verb, link) if verb and verb not in _LIGHT else None
        if plain in MODALS or plain in _FINITE:
            return None
        subject.append(plain)
    return None


def _count_other(one: frozenset[str], other: frozenset[str], most: Callable[[int, int], int]) -> int:
    """Count the members of one set that replace members of the other; 0 if one set contains the other."""
    return most(len(one - other), len(other - one)) if one - other and other - one else 0


def _owner(frame: Frame) -> frozenset[str]:
    """Return the user if the sentence is about them."""
    return frozenset({USER}) if {"I", "my"} & {*WORD.findall(frame.masked)} else frozenset()


def _other_things(new: Frame, known: Frame) -> int:
    """Count the words that replace others where two masked sentences are aligned word for word."""
    one, other = ([word.casefold() for word in WORD.findall(frame.masked)] for frame in (new, known))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < _ALIGNED:
        return 0
    return sum(
        bool(_things(one[a:b], other[c:d]) and _things(other[c:d], one[a:b]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind == "replace"
    )


def _things(words: list[str], others: list[str]) -> bool:
    """Tell whether some words name a thing that the others do not: a word that is neither a verb nor a function word."""
    known = stems(" ".join(others)) | _MASKS
    return any(
        word not in FUNCTION_WORDS
        and not (is_past(word) or is_adverb(word) or (word.endswith("s") and base_of(word) is not None))
        and not stems(word) <= known
        for word in words
    )


@cache
def kinds_of_frames() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sample sentences for relations with one value at a time, and those for relations with several."""
    table = load(DATA / "frames.toml")
    return tuple(table["single"]), tuple(table["several"])


def rivalry(draft: Draft, old: Existing, at: int) -> Rival | None:
    """
    Tell whether a draft, given its index, and a memory are likely rivals: with what confidence and why; None if they are not.

    `Existing.likeness` has the cosine of both contents, `Existing.framed` that of their masked sentences.
    """
    if (
        draft.noise
        or draft.remark
        or not _is_state(draft.reads or as_read(draft.content))
        or _state_other_relations(draft, old)
    ):
        return None
    framed = old.framed[at] if len(old.framed) > at else 0.0
    if framed >= ALIKE:
        sure = LIKELY + 0.4 * (framed - ALIKE) / (1 - ALIKE)
        return Rival(memory=old.memory.iri, confidence=round(min(0.9, sure), 3), reason=_explain(draft, old))
    sure = _of_one_topic(draft, old, old.likeness[at])
    return Rival(memory=old.memory.iri, confidence=sure) if sure else None


def _state_other_relations(draft: Draft, old: Existing) -> bool:
    """Tell whether each states a relation that the other does not: where Ana was born does not replace where she works."""
    return bool(draft.slot and old.memory.slot) and draft.slot != old.memory.slot


def is_changed(draft: Draft, old: Existing, at: int) -> bool:
    """
    Tell whether a draft, given its index, says the same as a memory except for one thing, and that this holds from now on.

    This is certain: "Flour comes from Aldous Mill." · "Flour comes from Weir Mill now."
    """
    if len(old.framed) <= at or old.framed[at] < SAME or _mood(draft.content) != "fact":
        return False
    how = reading(as_read(draft.content))
    return not how.additional and _FROM_NOW_ON.search(draft.content) is not None


def _of_one_topic(draft: Draft, old: Existing, likeness: float) -> float:
    """Return the confidence that a later memory is news on the topic of an earlier one; 0 without evidence."""
    new, known = draft.content, old.memory.content
    shared, is_name = _best(topics(new), topics(known), _names(draft, old))
    if shared:
        return shared if likeness >= (_OF_ONE_NAME if is_name else _OF_ONE_TOPIC) else 0.0
    if likeness >= _ALIKE and _differ(draft, old) and not (_merely_happened(new) and _merely_happened(known)):
        return _ONE_TOPIC
    if likeness >= _OF_ONE_MEASURE and _measure_otherwise(new, known):
        return _PERHAPS
    return _PERHAPS if likeness >= _OF_ONE_TOPIC and _is_gone(draft, old) else 0.0


def _explain(draft: Draft, old: Existing) -> str:
    """Describe in what the two sentences differ."""
    for new, known, _ in comparable_frames(draft, old):
        for one, other in ((new.names, known.names), (new.figures, known.figures), (new.days, known.days)):
            if one - other and other - one:
                return f"the same is said with {_listed(one - other)} in place of {_listed(other - one)}"
    return "the same is said with another word in one place"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"“{word}”" for word in sorted(words))


@lru_cache(maxsize=4096)
def topics(content: str) -> tuple[frozenset[str], ...]:
    """
    Return what each sentence of a memory is about: the stems of its subject, if that is a thing and not a person who acts.

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
    """Tell whether a word after a subject is its verb; a capital marks a name."""
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
    """Return the confidence that two memories share a topic, and whether that topic is only a name."""
    best = (0.0, True)
    for one in new:
        for other in known:
            sure = _ONE_TOPIC if one == other else _PERHAPS if one < other or other < one else 0.0
            if sure:
                best = max(best, (sure, (one & other) <= names), key=lambda found: (not found[1], found[0]))
    return best


def _names(draft: Draft, old: Existing) -> frozenset[str]:
    return frozenset(stem for name in (*draft.about, *old.about) if name != USER for stem in stems(name))


def _is_state(content: str) -> bool:
    how = reading(content)
    return how.mood in ("fact", "past", "plan", "command")


def _merely_happened(content: str) -> bool:
    """Tell whether a memory says that something was done once and is over ("USER reviewed three requests"): it may happen again."""
    how = reading(as_read(content))
    return how.tense == "past" and not (how.perfect or how.changed)


def _measure_otherwise(new: str, known: str) -> bool:
    """Tell whether both give another number of the same unit, and share another word."""
    one, other = ({unit.lower(): number.lower() for number, unit in _MEASURE.findall(text)} for text in (new, known))
    shared = {unit for unit in one.keys() & other.keys() if one[unit] != other[unit]}
    return bool(shared) and bool((stems(new) & stems(known)) - stems(" ".join(shared)))


def _is_gone(draft: Draft, old: Existing) -> bool:
    """Tell whether a draft says that somebody or something is gone that a memory names in its predicate."""
    if reading(old.memory.content).tense == "past" or not _GONE.search(draft.content):
        return False
    opening = " ".join(old.memory.content.casefold().split()[:2])
    return any(name != USER and name in old.about and name.casefold().split()[0] not in opening for name in draft.about)


def _differ(draft: Draft, old: Existing) -> bool:
    """Tell whether both are about the same named thing or the user, and each has a name or a figure that the other lacks."""
    new, known = set(draft.about), set(old.about)
    if not new & known:
        return False
    figures, others = (set(re.findall(r"\d[\d.,:]*", text)) for text in (draft.content, old.memory.content))
    return bool((new - known or figures - others) and (known - new or others - figures))
