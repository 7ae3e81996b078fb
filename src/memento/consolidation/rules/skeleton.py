"""
A clause reduced to what patterns look at: names and dates become one sign each, adverbs and side remarks go.

"In May my friend Anna finally moved to Lisbon" → "① moved to ②". Patterns then need neither know how a name is
spelled nor how a date is written; `Skeleton.named` and `Skeleton.dated` give both back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memento.consolidation.agents import USER, Mention
from memento.text.dates import Dated
from memento.text.kinds import lookup
from memento.text.names import name_in_lower_case
from memento.text.words import ONE_OF_A_KIND, RELATIVES

NAME = "[\ue000-\ue7ff]"
DATE = "[\uf000-\uf0ff]"
KIN = "\uf800"
"""Stands for "my wife" and the like when nobody is named."""

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_ADVERB = re.compile(
    r"(?:,\s*)?\b(?:now|currently|presently|just|recently|still|actually|really|finally|already|officially"
    r"|today|tonight|nowadays|these\s+days|lately|at\s+the\s+moment|right"
    r"|full[- ]time|remotely|happily|permanently|temporarily|definitely|basically|mostly|mainly|usually"
    r"|generally|also|only|about|around|roughly|approximately|this\s+(?:morning|week|month|year|evening"
    r"|afternoon)|as\s+of|again|then"
    r"|however|luckily|unfortunately|apparently|so|instead(?!\s+of)|from\s+now\s+on|anymore|any\s+more"
    r"|any\s+longer|(?:from|as\s+of|starting)\s+(?:today|tomorrow|now))\b(?:\s*,)?(?=\s|$|[.!])",
    re.IGNORECASE,
)
_KIN_WORD = "|".join(sorted(map(re.escape, RELATIVES), key=len, reverse=True))
_OPENING = re.compile(
    rf"^(?:after|at|in|on|during|because of|thanks to|for|besides)\s[^,]{{2,40}},\s+(?={USER}\b|{NAME})", re.IGNORECASE
)
_INTRODUCED = re.compile(
    rf"\b{USER}['’]s\s+(?:[a-z-]+\s+){{0,2}}?(?:{_KIN_WORD}),?\s+(?=(?P<name>{NAME}))(?!{NAME}\s+is\b(?=\s+{NAME}))",
    re.IGNORECASE,
)
_STYLED = re.compile(
    rf"\b(?:an?\s+)?(?:auntie|aunt|uncle|grandma|grandpa|granny|nana|dr|mr|mrs|ms|prof|professor)\.?\s+(?={NAME})",
    re.IGNORECASE,
)
_APPOSED = re.compile(rf"({NAME}),\s+(?:{USER}['’]s|an?|the)\s+[^,]{{2,40}},\s+")
_KIN_SUBJECT = re.compile(
    rf"^{USER}['’]s\s+(?:new\s+)?({'|'.join(map(re.escape, ONE_OF_A_KIND))})(?!\s+(?:is|was"
    rf"|became)\s+(?:called\s+|named\s+)?{NAME})(?=\s+(?!and\b)[a-z]|['’]s\b)",
    re.IGNORECASE,
)
_STOPS = re.compile(
    r"\s+(?:as|in|since|for|now|and|but|because|where|who|which|that|with|from|on|until|till|after|before|at"
    r"|while|when|so|though|although|if|by|to|again|instead|than|via"
    rf"|he|she|it|they|{USER}|this|last|next|over|rather|yet|too|alongside|including|due|per|during|about"
    rf"|through)\b|[,;:.!?()\[\]\"“”](?:\s|$)|\s[–—-]\s|\s*[;()\[\]\"“”…!?]|\s*{DATE}",
)
_NOT_THEN = re.compile(rf",? (?:and |but )?not {DATE}")
_IS = re.compile(rf"^((?:[Tt]he|USER's) [a-z]+(?: [a-z]+)?)'s (?=on |at |in |moved|been|now|{DATE})")
_DATES_FIRST = re.compile(rf"^(?:{DATE},?\s*)+(?=\S)")
_ARTICLE = re.compile(rf"^(?:the|an?|{USER}['’]s|{USER} and others['’]|its|his|her|their|some|my)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The reduced clause, what its signs stand for, the relative it speaks of ("wife"), if any, and the clause itself."""

    text: str
    names: tuple[Mention, ...]
    dates: tuple[Dated, ...]
    kin: str = ""
    said: str = ""

    def named(self, sign: str) -> Mention | None:
        """The mention that a sign stands for."""
        at = ord(sign) - 0xE000 if len(sign) == 1 else -1
        return self.names[at] if 0 <= at < len(self.names) else None

    def dated(self, sign: str) -> Dated | None:
        """The date that a sign stands for."""
        at = ord(sign) - 0xF000 if len(sign) == 1 else -1
        return self.dates[at] if 0 <= at < len(self.dates) else None

    def words(self, text: str) -> str:
        """The text with its names written out."""
        return _PRIVATE.sub(lambda sign: found.name if (found := self.named(sign.group())) else "", text).strip()

    def phrase(self, text: str) -> str:
        """The name or the noun phrase that a text begins with, without its article."""
        text = _ARTICLE.sub("", text.strip())
        if text and self.named(text[0]):
            return self.words(text[0])
        cut = _STOPS.split(" " + text, maxsplit=1)[0].strip()
        return self.words(cut).strip(" .,'’\"-")


def mention_pattern(mentions: Sequence[Mention]) -> re.Pattern[str] | None:
    """
    Finds any spelling of any of the mentions.

    >>> mention_pattern([Mention(name="VS Code", kind="Technology", aliases=("VSCode",))]).findall("vscode or VS Code")
    ['vscode', 'VS Code']
    """
    spellings = sorted(
        {spelling for mention in mentions for spelling in (mention.name, *mention.aliases)}, key=len, reverse=True
    )
    if not spellings:
        return None
    return re.compile(rf"(?<![\w])(?:{'|'.join(map(re.escape, spellings))})(?!\w|['’](?!s\b)\w)", re.IGNORECASE)


def found_mentions(
    text: str, mentions: Sequence[Mention], pattern: re.Pattern[str] | None = None
) -> list[tuple[int, int, int]]:
    """(start, end, index of the mention) of each occurrence in a text; "go" is not the language Go."""
    pattern = pattern or mention_pattern(mentions)
    if pattern is None:
        return []
    index = {
        spelling.lower(): at
        for at, mention in reversed(list(enumerate(mentions)))
        for spelling in (mention.name, *mention.aliases)
    }
    return [
        (match.start(), match.end(), index[match.group().lower()])
        for match in pattern.finditer(text)
        if match.group().lower() in index
        and (
            any(letter.isupper() for letter in match.group())
            or (known := lookup(match.group())) is None
            or not known.everyday
            or name_in_lower_case(
                text[max(0, match.start() - 60) : match.start()], match.group(), text[match.end() :][:30]
            )[0]
        )
    ]


def skeleton(
    clause: str, mentions: Sequence[Mention], dates: Sequence[Dated], pattern: re.Pattern[str] | None = None
) -> Skeleton:
    """
    The reduced form of a clause in the third person.

    >>> anna = Mention(name="Anna", kind="Person")
    >>> skeleton("USER's friend Anna now works at a bank.", [anna], []).text == "\\ue000 works at a bank"
    True
    """
    clause = _PRIVATE.sub(" ", clause)
    spans = [(start, end, chr(0xE000 + at)) for start, end, at in found_mentions(clause, mentions[:2000], pattern)]
    spans += [(one.start, one.end, chr(0xF000 + at)) for at, one in enumerate(dates[:250])]
    text, last = "", 0
    for start, end, sign in sorted(spans):
        if start < last:
            continue
        text += clause[last:start] + sign
        last = end
    text = _STYLED.sub("", _tidied(text + clause[last:]))
    kin = ""
    if match := _KIN_SUBJECT.match(text):
        kin, text = match[1].lower(), KIN + text[match.end() :]
    return Skeleton(text, tuple(mentions), tuple(dates), kin, clause)


def _tidied(text: str) -> str:
    text = " ".join(_ADVERB.sub("", text.replace("’", "'")).split()).strip(" .!,;:")
    text = re.sub(r"(?<=[a-z]) (?:there|here)(?= (?:is|was|are)\b)", "", text)
    text = _NOT_THEN.sub("", text)
    text = _IS.sub(r"\1 is ", text)
    text = _DATES_FIRST.sub("", text)
    text = _OPENING.sub("", text)
    text = re.sub(r"^(?:that|and|but|then|at work,|for work,)\s+", "", text, flags=re.IGNORECASE)
    text = re.sub(
        rf"\b(?:the\s+)?project\s+(?={NAME})|^the\s+(?={NAME}\s+project\b)|(?<={NAME})\s+project\b",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = _APPOSED.sub(r"\1 ", text)
    return _INTRODUCED.sub("", text).strip()
