"""
The things a note names, with their kinds: `mentions("I moved to Lisbon with Anna Smith", user)` → Lisbon, Anna Smith.

The user is never among them, nor are dates, roles, titles or words that merely open a sentence.

*But:* names are seen by their capitals; in lower case only well-known technologies and fields are, and what
`lowered.py` is sure of.
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

from memento.consolidation.agents import Mention
from memento.consolidation.rules.common import COMMON, LANGUAGES, NEVER
from memento.consolidation.rules.cues import JOB
from memento.consolidation.rules.first_names import FIRST_NAMES
from memento.consolidation.rules.gazetteer import Known, lookup
from memento.consolidation.rules.kinds import description, kind_of
from memento.consolidation.rules.lexicon import FUNCTION_WORDS
from memento.consolidation.rules.sentences import introduced, is_readable, sentences
from memento.consolidation.rules.spans import CONNECTORS, found_names
from memento.model import User

LONGEST = 20_000
"""Characters of a note that are searched for names."""

LONGEST_NAME = 60
"""Characters of a name; what is longer is a headline or shouting."""

_TITLE = re.compile(r"[\"“”]([A-Z][^\"“”]{2,60})[\"“”]")
_SELF = re.compile(
    r"(?:\bmy\s+(?:full\s+|first\s+)?name(?:['’]s|\s+is)(?:\s+now)?|(?<!not )(?<!n['’]t )(?<!never )\bcall\s+me"
    r"|\bI\s+want\s+to\s+be\s+called|\bI\s+(?:am\s+called|go\s+by)|\bI['’]m\s+called)"
    r"\s+((?-i:[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*))",
    re.IGNORECASE,
)
_SELF_SHORT = re.compile(r"\bI(?:['’]m|\s+am)\s+([A-Z][\w'’-]+)(?=\s*(?:[,.!;]|$|and\b))")
_STUDIED = re.compile(
    r"\b(?i:studied|studies|study|studying|learning|practi[sc](?:e|es|ing|ed)|took\s+up|taken\s+up|(?:degree|phd"
    r"|master['’]?s|bachelor['’]?s|major(?:ed|ing)?"
    r"|diploma|specialis\w+|specializ\w+|expert|expertise)\s+in"
    r"|research\s+on)\s+([a-z][\w-]*(?:\s+[a-z][\w-]*){0,2})"
)


_HOLIDAY = re.compile(
    r"^(?:(?:boxing|christmas|new\s+year(?:['’]?s)?|mother['’]?s|father['’]?s|valentine['’]?s|independence|labou?r"
    r"|memorial|veterans|australia|canada"
    r"|bastille|all\s+saints['’]?|st\.?\s+patrick['’]?s|groundhog|republic|armistice|remembrance|columbus"
    r"|presidents['’]?|leap|may)\s+(?:day|eve)"
    r"|(?:good|black|easter|maundy|ash|palm|whit|shrove)\s+(?:friday|monday|thursday|wednesday|sunday|tuesday)|bank\s+holiday"
    r"|bonfire\s+night|golden\s+week|pancake\s+day|spring\s+bank|new\s+year|day)$",
    re.IGNORECASE,
)
"""Days of the year, which are dates and not things."""
_TITLED = re.compile(r"\b((?:mr|mrs|ms|miss|dr|prof|professor|father|sister|sir)\.?)\s+$", re.IGNORECASE)
_HEAD = re.compile(r"\s(?:technique|method|diet|theory|principle|paradox|effect|meditation)\b")
_FIELD = re.compile(
    r"\b(?i:into|interested\s+in|fascinated\s+by|passionate\s+about|obsessed\s+with|fan\s+of|reading\s+up\s+on)\s+"
    r"([a-z]{4,}(?:ology|onomy|graphy|istry|osophy|ometry|keeping|working|matics|istics|onics))\b"
)
_MISSPELT = re.compile(r",?\s+(?:and\s+)?not\s+")
_EXCHANGED = re.compile(
    r"\b(?:from|replac\w+|swapp\w+|exchang\w+|trad\w+|ditched|dropped)\s+(?:the\s+|my\s+|our\s+)?$", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(?:,|,?\s+(?:and|or)|&|/)\s*(?:the\s+)?|\s*\(\d+\)(?:,|\s+and)\s*")
_JOB_NEXT = re.compile(rf"\s+(?:{JOB}|writer|lead|folks|people|stuff)s?\b", re.IGNORECASE)


def normalised_name(name: str) -> str:
    """
    The name with a capital for each part that has none; parts with capitals stay as they are.

    Particles between capitals stay small.

    >>> [normalised_name(name) for name in ("machine learning", "AWS", "TypeScript", "jean-luc godard", "Bank of America")]
    ['Machine Learning', 'AWS', 'TypeScript', 'Jean-Luc Godard', 'Bank of America']
    """
    parts = re.split(r"([\s-]+)", " ".join(name.split()))
    particles = CONNECTORS | {"the"} if parts[0][:1].isupper() and parts[-1][:1].isupper() else frozenset()
    return "".join(part[:1].upper() + part[1:] if part.islower() and part not in particles else part for part in parts)


def mentions(text: str, user: User) -> tuple[Mention, ...]:
    """
    What a note names, in order, each once; a first name alone is an alias of the one full name that begins with it.

    >>> from memento.iris import user_iri
    >>> found = mentions("Anna Smith left Acme Labs. Anna uses vim.", User(iri=user_iri("a")))
    >>> [(mention.name, mention.kind) for mention in found]
    [('Anna Smith', 'Person'), ('Acme Labs', 'Organization'), ('Vim', 'Technology')]
    """
    text = text[:LONGEST]
    said = [sentence for sentence in sentences(text) if is_readable(sentence)]
    own = _own_names(said, user)
    elsewhere = _seen_inside(text)
    found: dict[str, Mention] = {}
    for sentence in said:
        body, _ = introduced(sentence)
        for mention in _in_sentence(body, elsewhere):
            if mention.name.lower() in own or len(mention.name) > LONGEST_NAME or _HOLIDAY.search(mention.name):
                continue
            key = mention.name.lower()
            found[key] = _merged(found[key], mention) if key in found else mention
    return _folded(list(found.values()))


def self_name(text: str) -> str | None:
    """
    The name that the writer gives as their own.

    >>> self_name("Hi, my name is Ana Silva."), self_name("I'm Priya, a product manager"), self_name("I'm Italian.")
    ('Ana Silva', 'Priya', None)
    """
    if match := _SELF.search(text):
        words = [word for word in match[1].split() if word.lower() not in NEVER]
        return " ".join(words).removesuffix("'s") or None
    match = _SELF_SHORT.search(text)
    return match[1] if match and match[1] in FIRST_NAMES else None


def _own_names(said: list[str], user: User) -> frozenset[str]:
    names = {"user"} | ({user.name.lower(), user.name.split()[0].lower()} if user.name and user.name.strip() else set())
    for own in filter(None, map(self_name, said)):
        names |= {own.lower(), own.split()[0].lower()}
    return frozenset(names)


def _seen_inside(text: str) -> frozenset[str]:
    """Capitalised words that stand inside a sentence somewhere: there the capital means a name."""
    return frozenset(re.findall(r"(?<=[a-z,] )[A-Z][\w-]+", text))


def _merged(old: Mention, new: Mention) -> Mention:
    kind = new.kind if old.kind == "Concept" else old.kind
    return replace(
        old,
        kind=kind,
        description=old.description or new.description,
        aliases=tuple(dict.fromkeys(old.aliases + new.aliases)),
    )


def _folded(found: list[Mention]) -> tuple[Mention, ...]:
    """Without the first names that stand for one full name of the same note."""
    full: dict[str, list[Mention]] = {}
    for mention in found:
        if (
            mention.kind in ("Person", "Concept")
            and " " in mention.name
            and mention.name.split()[0] in FIRST_NAMES | {"Ludwig"}
        ):
            full.setdefault(mention.name.split()[0].lower(), []).append(mention)
    alone = {
        mention.name.lower(): mention
        for mention in found
        if " " not in mention.name and mention.kind in ("Person", "Concept", "Location")
    }
    short = {name: alone[name].name for name, people in full.items() if len(people) == 1 and name in alone}
    return tuple(
        replace(mention, kind="Person", aliases=(*mention.aliases, short[first]))
        if (first := mention.name.split()[0].lower()) in short
        else mention
        for mention in found
        if mention.name.lower() not in short
    )


def _in_sentence(sentence: str, elsewhere: frozenset[str]) -> list[Mention]:
    found: list[tuple[int, int, Mention]] = []
    taken: list[tuple[int, int]] = []
    for match in _TITLE.finditer(sentence):
        if _is_title(match[1]):
            found.append((match.start(), match.end(), _mention(sentence, match.start(1), match.end(1), None)))
            taken.append(match.span())
    fields = {
        match.span(1): phrase
        for match in (*_STUDIED.finditer(sentence), *_FIELD.finditer(sentence))
        if (phrase := _field(match[1]))
    }
    for start, end, known in found_names(sentence, elsewhere, taken):
        in_field = any(begin <= start and end <= begin + len(phrase) for (begin, _), phrase in fields.items())
        field_word = known is not None and known.kind == "Concept" and (in_field or _JOB_NEXT.match(sentence[end:]))
        if not field_word:
            found.append((start, end, _mention(sentence, start, end, known)))
    for (begin, _), phrase in fields.items():
        if not any(mention.name.lower() in phrase or phrase in mention.name.lower() for _, _, mention in found):
            known = lookup(phrase)
            name = normalised_name(known.name if known else phrase)
            found.append(
                (begin, begin + len(phrase), Mention(name=name, kind="Concept", is_well_known=known is not None))
            )
    found = _one_practice(sentence, sorted(found, key=lambda item: item[0]))
    return _side_by_side(sentence, _without_misspelt(sentence, found))


def _one_practice(sentence: str, found: list[tuple[int, int, Mention]]) -> list[tuple[int, int, Mention]]:
    """A name right before a well-known field is its kind, and both are one: "Vipassana meditation"."""
    joined = found[:1]
    for item in found[1:]:
        start, end, before = joined[-1]
        field = sentence[item[0] : item[1]]
        if item[2].kind == before.kind == "Concept" and field.islower() and sentence[end : item[0]] == " ":
            joined[-1] = (start, item[1], replace(before, name=f"{before.name} {field}"))
        else:
            joined.append(item)
    return joined


def _without_misspelt(sentence: str, found: list[tuple[int, int, Mention]]) -> list[tuple[int, int, Mention]]:
    """Without the wrong spelling of the name before it: "Tamsin Brady, not Brody"."""
    kept = found[:1]
    for before, item in pairwise(found):
        one, other = before[2].name.split()[-1], item[2].name.split()[-1]
        corrected = " " in before[2].name and _MISSPELT.fullmatch(sentence[before[1] : item[0]])
        if not (corrected and SequenceMatcher(None, one, other).ratio() >= 0.6):
            kept.append(item)
    return kept


def _side_by_side(sentence: str, found: list[tuple[int, int, Mention]]) -> list[Mention]:
    """The mentions; one of which nothing is known is what its neighbours in a list are: "Nino and Bice", "Kotlin, Ktor"."""
    mentions = [mention for _, _, mention in found]
    for order in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        for at in order:
            other = at - 1 if order.step > 0 else at + 1
            first, last = min(at, other), max(at, other)
            gap = sentence[found[first][1] : found[last][0]]
            if gap in (" to ", " with ", " for ") and _EXCHANGED.search(sentence[: found[first][0]]):
                if mentions[other].is_well_known and not mentions[at].is_well_known:
                    mentions[at] = replace(mentions[at], kind=mentions[other].kind)
                continue
            if (
                mentions[at].kind == "Concept"
                and not mentions[at].is_well_known
                and _LISTED.fullmatch(gap)
                and mentions[other].kind != "Event"
            ):
                mentions[at] = replace(mentions[at], kind=mentions[other].kind)
    return mentions


def _mention(sentence: str, start: int, end: int, known: Known | None) -> Mention:
    full = sentence[start:end]
    said = full if known is not None and lookup(full) is known else re.sub(r"['’]s?$", "", full)
    before, after = sentence[max(0, start - 80) : start], sentence[start + len(said) : end + 80]
    name = normalised_name(known.name if known and known.name.lower() == said.lower() else said)
    kind = kind_of(before, name, after, known)
    what = known if known and known.kind == kind else None
    aliases = (known.name,) if what and known and known.name.lower() != name.lower() else ()
    if kind == "Concept" and known is None and (head := _HEAD.match(after)) and not lookup(head.group().strip()):
        name += head.group()
    if kind == "Person" and (title := _TITLED.search(before)) and title[1][0].isupper():
        aliases = (*aliases, f"{title[1]} {name}")
    if name.startswith("Project ") and kind == "Project":
        aliases = (name.removeprefix("Project "),)
    return Mention(
        name=name,
        kind=kind,
        description=description(before, name, after, what),
        is_well_known=known is not None and kind in (known.kind, "Organization"),
        aliases=aliases,
    )


def _is_title(text: str) -> bool:
    """Whether quoted words are a title and not speech: every word that counts has its capital, and no sentence ends inside."""
    words = text.split()
    return (
        len(words) <= 7
        and not text.endswith((".", "!", "?", ","))
        and all(word[0].isupper() or word.lower() in FUNCTION_WORDS or word[0].isdigit() for word in words)
        and any(word.lower() not in NEVER for word in words)
    )


def _field(phrase: str) -> str:
    """The field of study in what follows "studying": up to the first word that cannot belong to it."""
    words: list[str] = []
    for word in phrase.split():
        if (
            word in FUNCTION_WORDS
            or word in COMMON
            or word in LANGUAGES
            or word in ("how", "new", "lot", "abroad")
            or (words and word.endswith("ing"))
        ):
            break
        words.append(word)
    return " ".join(words) if len(" ".join(words)) > 2 else ""
