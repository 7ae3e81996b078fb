"""
Reduce a clause to what patterns look at: each name and date becomes one sign, adverbs and side remarks are removed.

"In May my friend Anna finally moved to Lisbon" → "① moved to ②". Patterns then need not know how a name is spelled or a date is
written; `Skeleton.named` and `Skeleton.dated` return both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memento.consolidation.agents import USER, Mention
from memento.text.dates import Dated
from memento.text.kinds import lookup
from memento.text.names import name_in_lower_case
from memento.text.tables import alternatives, named_patterns
from memento.text.words import ONE_OF_A_KIND, RELATIVES

FIRST_NAME = "\ue000"
NAME = "[\ue000-\ue7ff]"
DATE = "[\uf000-\uf0ff]"
KIN = "\uf800"
"""The sign for "my wife" and the like if they are not named."""

_PRIVATE = re.compile("[\ue000-\uf8ff]")


TABLE = Path(__file__).parent / "data" / "skeleton.toml"


@cache
def cuts() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns for what is cut from a clause, by name."""
    relatives = {"RELATIVE": alternatives(RELATIVES), "ONE_OF_A_KIND": alternatives(ONE_OF_A_KIND)}
    return named_patterns(TABLE, {"USER": USER, "NAME": NAME, "DATE": DATE, **relatives}, flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The reduced clause, what its signs stand for, the unnamed relative in it ("wife"), if any, and the clause itself."""

    text: str
    names: tuple[Mention, ...]
    dates: tuple[Dated, ...]
    kin: str = ""
    said: str = ""

    def named(self, sign: str) -> Mention | None:
        """Return the mention that a sign stands for."""
        at = ord(sign) - 0xE000 if len(sign) == 1 else -1
        return self.names[at] if 0 <= at < len(self.names) else None

    def dated(self, sign: str) -> Dated | None:
        """Return the date that a sign stands for."""
        at = ord(sign) - 0xF000 if len(sign) == 1 else -1
        return self.dates[at] if 0 <= at < len(self.dates) else None

    def words(self, text: str) -> str:
        """Return a text with its names written out."""
        return _PRIVATE.sub(lambda sign: found.name if (found := self.named(sign.group())) else "", text).strip()

    def phrase(self, text: str) -> str:
        """Return the name or the noun phrase at the beginning of a text, without its article."""
        text = cuts()["own-article"].sub("", text.strip())
        if text and self.named(text[0]):
            return self.words(text[0])
        cut = cuts()["stops"].split(" " + text, maxsplit=1)[0].strip()
        return self.words(cut).strip(" .,'’\"-")


def mention_pattern(mentions: Sequence[Mention]) -> re.Pattern[str] | None:
    """
    Build a pattern that finds any spelling of any of the mentions.

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
    """Return (start, end, index of the mention) of each occurrence in a text; the verb "go" is not the language Go."""
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
    Reduce a clause in the third person to its skeleton.

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
    text = cuts()["styled"].sub("", _tidied(text + clause[last:]))
    kin = ""
    if match := cuts()["kin-subject"].match(text):
        kin, text = match[1].lower(), KIN + text[match.end() :]
    return Skeleton(text, tuple(mentions), tuple(dates), kin, clause)


def _tidied(text: str) -> str:
    text = " ".join(cuts()["adverb"].sub("", text.replace("’", "'")).split()).strip(" .!,;:")
    text = cuts()["there-before-verb"].sub("", text)
    text = cuts()["not-then"].sub("", text)
    text = cuts()["is-short"].sub(r"\1 is ", text)
    text = cuts()["dates-first"].sub("", text)
    text = cuts()["opening-phrase"].sub("", text)
    text = cuts()["opens-with"].sub("", text)
    text = cuts()["project-beside"].sub("", text)
    text = cuts()["apposed-name"].sub(r"\1 ", text)
    return cuts()["introduced"].sub("", text).strip()
