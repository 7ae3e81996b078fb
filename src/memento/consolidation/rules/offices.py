"""
Who holds a role of what, and who belongs to what: "⟨X⟩ took over as ⟨role⟩ of ⟨Y⟩" → the role of Y is X's.

*Because:* who holds an office is said in as many ways as there are verbs, but always with a name, a role and an owner that the
grammar joins. The rows stand in `data/offices.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from memento.model import EntityKind
from memento.text.kinds import lookup
from memento.text.names import Mention
from memento.text.person import USER
from memento.text.sentences import sentences
from memento.text.tables import word_set
from memento.text.words import COMMON, FIRST_NAMES, FUNCTION_WORDS, MONTHS, NEVER, PRONOUNS, WEEKDAYS, base_of

DATA = Path(__file__).parent / "data"

HEADS = word_set("""
    president minister chancellor premier monarch king queen emperor empress sultan pope governor mayor ambassador speaker
    secretary secretary-general officer ceo cto cfo coo cio chair chairman chairwoman chairperson director manager head chief
    captain coach lead leader owner maintainer principal headteacher headmaster headmistress dean rector provost editor
    conductor commander treasurer superintendent foreman supervisor boss warden abbot bishop archbishop commissioner
    curator harbourmaster master keeper steward delegate representative spokesperson librarian registrar executive
    """)
_MODIFIERS = (
    r"(?:prime|vice|deputy|chief|executive|managing|general|federal|first|foreign|interior|finance|defen[cs]e|senior|lead|head|state"
    r"|national|regional|executive|operating|technology|technical|financial|marketing|product|engineering|project|team|tech|music"
    r"|artistic|creative|editorial|choir|board|club|school|shift|ward|charge|store|shop|harbour|station|night|site|acting|interim|supreme|co)"
)
_ROLE = re.compile(
    rf"\b(?:{_MODIFIERS}[ -]){{0,4}}(?:{'|'.join(sorted(map(re.escape, HEADS), key=len, reverse=True))})(?:[ -]general)?\b",
    re.IGNORECASE,
)
_NAME_WORD = r"(?:[A-Z\u00c0-\u00de\u0100-\u024f][\w’'&.-]*[\w&]|[A-Z]\.?|\d{2,4}(?= [A-Z])|&)"
_PARTICLE = "(?:de|da|di|do|dos|das|del|della|van|von|der|den|ten|bin|ibn|al|el|la|le|y|zu|af|av|e)"
_NAMES = re.compile(
    rf"{_NAME_WORD}(?:,? (?:Jr|Sr)\.|(?<=\.[A-Z])\.|(?: {_PARTICLE}){{0,2}}[ -]{_NAME_WORD})*(?: (?:men|women)['’]s [a-z]+)?"
)
_ADVERB = r"(?:now|officially|finally|just|currently|again|today|already|recently|still|once again|also|first|then)"
_OF = r"(?:of|at|for|in|over|with)(?: the)?"
_FIRST_NAME_SIGN = 0xE000
_FIRST_ROLE_SIGN = 0xE800
_N, _R = "[\ue000-\ue7ff]", "[\ue800-\uefff]"
_SAME = {
    "chief executive officer": "ceo",
    "chief executive": "ceo",
    "chief technology officer": "cto",
    "chief financial officer": "cfo",
    "chief operating officer": "coo",
    "secretary-general": "secretary general",
    "general secretary": "secretary general",
    "chairman": "chair",
    "chairwoman": "chair",
    "chairperson": "chair",
    "boss": "manager",
    "premier": "prime minister",
    "headmaster": "head teacher",
    "headteacher": "head teacher",
    "headmistress": "head teacher",
}


@dataclass(frozen=True, slots=True)
class Office:
    """That a relation of a subject is filled by a value; `sure` when the sentence says so, not in passing."""

    subject: str
    relation: str
    value: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    pattern: re.Pattern[str]
    relation: str
    sure: bool
    club: bool


@dataclass(frozen=True, slots=True)
class Masked:
    """A sentence in which every name and every role is one sign."""

    text: str
    names: tuple[str, ...]
    roles: tuple[str, ...]


@lru_cache(maxsize=2048)
def office(sentence: str) -> Office | None:
    """
    The role that a sentence says somebody holds, or None.

    >>> office("Ilse Brandt took over as treasurer of Orbital Choir on 3 May.")
    Office(subject='Orbital Choir', relation='treasurer', value='Ilse Brandt', sure=True)
    """
    if not _ROLE.search(sentence) and not _MEMBER.search(sentence):
        return None
    masked = mask(sentence)
    if not masked.names:
        return None
    for row in _ROWS:
        if (match := row.pattern.search(masked.text)) and (found := _read(row, match, masked)):
            return found
    return None


_MEMBER = re.compile(
    r"\b(?:play|join|sign|transfer|mov|switch|return|rejoin|work|driv|rid|tak|took)\w*\s+(?:\w+\s+)?(?:for|to|with|at|over|(?=[A-Z]))"
)


@lru_cache(maxsize=2048)
def mask(sentence: str) -> Masked:
    """
    A sentence with signs for names and roles; a genitive keeps its "s".

    >>> mask("Ilse Brandt is captain of Orbital.").names
    ('Ilse Brandt', 'Orbital')
    """
    roles: list[str] = []

    def role_sign(match: re.Match[str]) -> str:
        roles.append(match.group())
        return chr(_FIRST_ROLE_SIGN + len(roles) - 1)

    text = _ROLE.sub(role_sign, re.sub(r"[\ue000-\uf8ff]", " ", sentence)[:2000])
    names: list[str] = []

    def name_sign(match: re.Match[str]) -> str:
        name = match.group()
        rest = ""
        if (
            name.endswith(".")
            and match.end() >= len(text.rstrip())
            and not re.search(r"\b(?:[A-Z]\.[A-Z]|[JS]r)\.$", name)
        ):
            name, rest = name[:-1], "."
        genitive = re.search(r"['’]s?$", name)
        if genitive:
            name, rest = name[: genitive.start()], "s"
        if " " not in name and _is_word(name):
            return match.group()
        first, _, others = name.partition(" ")
        if others and match.start() == 0 and first.lower() in FUNCTION_WORDS:
            names.append(others)
            return f"{first} {chr(_FIRST_NAME_SIGN + len(names) - 1)}{rest}"
        names.append(name)
        return f"{chr(_FIRST_NAME_SIGN + len(names) - 1)}{rest}"

    masked = _NAMES.sub(name_sign, text)
    return Masked(" ".join(masked.split()).rstrip(" .!"), tuple(names), tuple(roles))


_ROWS = tuple(
    _Row(
        row["name"],
        re.compile(
            row["pattern"].replace("{N}", _N).replace("{R}", _R).replace("{ADV}", _ADVERB).replace("{OF}", _OF),
            re.IGNORECASE,
        ),
        row.get("relation", ""),
        row.get("sure", True),
        row.get("club", False),
    )
    for row in tomllib.loads((DATA / "offices.toml").read_text(encoding="utf-8"))["row"]
)


def with_offices(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions of a text, with whoever it says holds a role and of what, each by the whole name, and without the roles."""
    found = [one for sentence in sentences(text) if (one := office(sentence)) and one.subject != USER]
    if not found:
        return tuple(mentions)
    whole = list(dict.fromkeys(name for one in found for name in (one.subject, one.value)))
    words = {word for sentence in sentences(text) for role in mask(sentence).roles for word in role.casefold().split()}
    known = {mention.name.casefold(): mention for mention in mentions}
    kept: list[Mention] = []
    for mention in mentions:
        name = mention.name.casefold()
        inside = any(name != other.casefold() and f" {name} " in f" {other.casefold()} " for other in whole)
        if not inside and not all(word in words for word in name.split()):
            kept.append(mention)
    people = {one.value.casefold() for one in found if one.relation != "employer"}
    people |= {one.subject.casefold() for one in found if one.relation == "employer"}
    for name in whole:
        if name.casefold() not in known:
            kind: EntityKind = "Person" if name.casefold() in people else _kind_of_owner(name)
            kept.append(Mention(name=name, kind=kind, is_well_known=lookup(name) is not None))
    return tuple(
        replace(mention, kind="Person") if mention.name.casefold() in people and mention.kind == "Concept" else mention
        for mention in kept
    )


def _kind_of_owner(name: str) -> EntityKind:
    known = lookup(name)
    return known.kind if known else "Organization"


def role_name(role: str) -> str:
    """
    The one name of a role.

    >>> role_name("CEO"), role_name("Chairwoman"), role_name("Prime Minister")
    ('ceo', 'chair', 'prime minister')
    """
    plain = re.sub(r"^(?:acting|interim|new|current) ", "", " ".join(role.lower().split()))
    return _SAME.get(plain, plain)


def _read(row: _Row, match: re.Match[str], masked: Masked) -> Office | None:
    group = match.groupdict()
    holder = _named(group["holder"], masked)
    owner = _named(group.get("owner"), masked) or ""
    role = row.relation or role_name(masked.roles[ord(group["role"]) - _FIRST_ROLE_SIGN])
    if not holder or holder == owner or (row.relation and not owner):
        return None
    if row.club and ((known := lookup(holder)) is not None and known.kind not in ("Organization",)):
        return None
    if row.club and (owner == USER or holder.split()[0] in FIRST_NAMES):
        return None
    return Office(owner or USER, role, holder, row.sure)


def _named(sign: str | None, masked: Masked) -> str | None:
    return masked.names[ord(sign) - _FIRST_NAME_SIGN] if sign else None


def _is_word(name: str) -> bool:
    """Whether a lone capitalised word is an everyday word or a date, and no name."""
    lowered = name.lower().rstrip(".")
    return (
        lowered in FUNCTION_WORDS
        or re.split("['’]", lowered)[0] in PRONOUNS
        or lowered in MONTHS
        or lowered in WEEKDAYS
        or lowered in NEVER
        or (lowered in COMMON and lookup(name) is None)
        or (base_of(lowered) is not None and lookup(name) is None)
    ) and name != USER
