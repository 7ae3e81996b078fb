"""
Find who holds a role of what, and who belongs to what: "⟨X⟩ took over as ⟨role⟩ of ⟨Y⟩" → the role of Y is X's.

*Because:* there are as many ways to say who holds an office as there are verbs, but all join a name, a role and an owner by
grammar. The rows are in `data/offices.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from memento.model import EntityKind
from memento.text.kinds import lookup
from memento.text.names import Mention
from memento.text.person import USER
from memento.text.sentences import sentences
from memento.text.tables import Entry, Row, alternatives, entries, named_patterns, section, word_lists
from memento.text.words import COMMON, FIRST_NAMES, FUNCTION_WORDS, MONTHS, NEVER, PRONOUNS, WEEKDAYS, base_of

TABLE = Path(__file__).parent / "data" / "offices.toml"
_FIRST_NAME_SIGN, _FIRST_ROLE_SIGN = 0xE000, 0xE800
HEADS = word_lists(TABLE)["heads"]
_SAME = {word: name for name, words in section(TABLE, "same", dict[str, str]).items() for word in words.split(", ")}


class OfficeRow(Row, frozen=True, kw_only=True):
    """`relation` is used if the words name no role; `sure` if the sentence asserts it; `club` if it is about membership."""

    relation: str = ""
    sure: bool = True
    club: bool = False


@cache
def office_rows() -> tuple[Entry[OfficeRow], ...]:
    """Return the rows that find who holds a role, in the order in which they are tried."""
    return entries(TABLE, OfficeRow, {"N": "[\ue000-\ue7ff]", "R": "[\ue800-\uefff]"}, flags=re.IGNORECASE)


@cache
def role_signs() -> Mapping[str, re.Pattern[str]]:
    """Return the signs for roles and their holders, by name."""
    return named_patterns(TABLE, {"N": "", "R": "", "HEADS": alternatives(HEADS)})


@dataclass(frozen=True, slots=True)
class Office:
    """A value for a relation of a subject; `sure` if the sentence asserts it and does not only mention it in passing."""

    subject: str
    relation: str
    value: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Masked:
    """A sentence with every name and every role replaced by a sign."""

    text: str
    names: tuple[str, ...]
    roles: tuple[str, ...]


@lru_cache(maxsize=2048)
def office(sentence: str) -> Office | None:
    """
    Return the role that a sentence says somebody holds, or None.

    >>> office("Ilse Brandt took over as treasurer of Orbital Choir on 3 May.")
    Office(subject='Orbital Choir', relation='treasurer', value='Ilse Brandt', sure=True)
    """
    if not role_signs()["role"].search(sentence) and not role_signs()["member"].search(sentence):
        return None
    return read_office(mask(sentence), office_rows())


def read_office(masked: Masked, rows: Iterable[Entry[OfficeRow]]) -> Office | None:
    """Return what the first matching row reads in a masked sentence."""
    if not masked.names:
        return None
    read = (_read(one.row, match, masked) for one in rows if (match := one.pattern.search(masked.text)))
    return next(filter(None, read), None)


@lru_cache(maxsize=2048)
def mask(sentence: str) -> Masked:
    """
    Replace names and roles in a sentence by signs; a genitive keeps its "s".

    >>> mask("Ilse Brandt is captain of Orbital.").names
    ('Ilse Brandt', 'Orbital')
    """
    roles: list[str] = []

    def role_sign(match: re.Match[str]) -> str:
        roles.append(match.group())
        return chr(_FIRST_ROLE_SIGN + len(roles) - 1)

    text = role_signs()["role"].sub(role_sign, re.sub(r"[\ue000-\uf8ff]", " ", sentence)[:2000])
    names: list[str] = []

    def name_sign(match: re.Match[str]) -> str:
        name = match.group()
        rest = ""
        if (
            name.endswith(".")
            and match.end() >= len(text.rstrip())
            and not role_signs()["ends-with-initial"].search(name)
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

    masked = role_signs()["whole-name"].sub(name_sign, text)
    return Masked(" ".join(masked.split()).rstrip(" .!"), tuple(names), tuple(roles))


def with_offices(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return the mentions of a text, without roles, and with the full names of who holds a role and of what."""
    held = [one for sentence in sentences(text) if (one := office(sentence))]
    people = {one.value.casefold() for one in held if one.relation != "employer"}
    found = [one for one in held if one.subject != USER]
    if not found:
        return tuple(_as_person(mention, people) for mention in mentions)
    whole = list(dict.fromkeys(name for one in found for name in (one.subject, one.value)))
    words = {word for sentence in sentences(text) for role in mask(sentence).roles for word in role.casefold().split()}
    known = {mention.name.casefold(): mention for mention in mentions}
    kept: list[Mention] = []
    for mention in mentions:
        name = mention.name.casefold()
        inside = any(name != other.casefold() and f" {name} " in f" {other.casefold()} " for other in whole)
        if not inside and not all(word in words for word in name.split()):
            kept.append(mention)
    people |= {one.subject.casefold() for one in found if one.relation == "employer"}
    for name in whole:
        if name.casefold() not in known:
            kind: EntityKind = "Person" if name.casefold() in people else _kind_of_owner(name)
            kept.append(Mention(name=name, kind=kind, is_well_known=lookup(name) is not None))
    return tuple(_as_person(mention, people) for mention in kept)


def _as_person(mention: Mention, people: Collection[str]) -> Mention:
    """Turn a mention into a person if it is one of some people and not known to be anything else."""
    known = mention.kind != "Concept" and (mention.is_well_known or mention.kind == "Location")
    return replace(mention, kind="Person") if mention.name.casefold() in people and not known else mention


def _kind_of_owner(name: str) -> EntityKind:
    known = lookup(name)
    return known.kind if known else "Organization"


def role_name(role: str) -> str:
    """
    Return the canonical name of a role.

    >>> role_name("CEO"), role_name("Chairwoman"), role_name("Prime Minister")
    ('ceo', 'chair', 'prime minister')
    """
    plain = role_signs()["which-holder"].sub("", " ".join(role.lower().split()))
    return _SAME.get(plain, plain)


def _read(row: OfficeRow, match: re.Match[str], masked: Masked) -> Office | None:
    group = match.groupdict()
    holder = _named(group["holder"], masked)
    owner = _named(group.get("owner"), masked) or ""
    role = row.relation or role_name(masked.roles[ord(group["role"]) - _FIRST_ROLE_SIGN])
    role = f"{role} of {what.lower()}" if (what := group.get("what")) and not owner else role
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
    """Tell whether a single capitalised word is an everyday word or a date, not a name."""
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
