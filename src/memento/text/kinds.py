"""
Decide which of the seven kinds a name is, and what the note says it is.

Evidence in order of trust: anybody called a relative or a colleague is a person, whatever the name; then well-known names; then the
words of the name itself ("Acme GmbH"), the words around it ("moved to …", "… said"), and a known first name; otherwise the name is
a Concept. Well-known names are in `lexicon/gazetteer.toml`, words and cues in `lexicon/kinds.toml`.

*But:* the gazetteer is a modest list of frequent names; every other name gets its kind from the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from memento.model import EntityKind
from memento.text.tables import (
    LEXICON,
    Row,
    alternatives,
    compile_pattern,
    entries,
    fill,
    named_patterns,
    section,
    word_set,
)
from memento.text.words import COMMON, FIRST_NAMES, JOBS, LANGUAGES, NEVER, RELATIVES

_TABLE = LEXICON / "kinds.toml"
_GAZETTEER = LEXICON / "gazetteer.toml"
PARTS: Mapping[str, frozenset[str]] = {
    name: word_set(text) for name, text in section(_TABLE, "parts", dict[str, str]).items()
}
COMPANY_SUFFIXES = PARTS["company_suffix"]
EVENT_WORDS = PARTS["event"]
_NOUNS = section(_TABLE, "nouns", dict[EntityKind, str])
_NOUNS["Event"] = " ".join((*sorted(EVENT_WORDS), _NOUNS["Event"]))
_FIRM_WORDS = COMPANY_SUFFIXES | PARTS["company_last"]
KIND_OF_NOUN: Mapping[str, EntityKind] = {
    noun: kind for kind, nouns in reversed(list(_NOUNS.items())) for noun in word_set(nouns)
} | dict.fromkeys(RELATIVES | JOBS - {"lead", "head", "model", "principal", "officer"}, "Person")
"""The kind of a thing that the note calls "a …"; if a noun has several kinds, the first in the table wins."""


@dataclass(frozen=True, slots=True)
class Known:
    """
    A well-known name as it is usually written.

    `plain` if it is meant even in lower case; `everyday` if it is then another word or a first name.
    """

    name: str
    kind: EntityKind
    what: str
    plain: bool = False
    everyday: bool = False


def _entries(text: str) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return (name, [(spelling, plain)]) for each item between commas."""
    found = []
    for item in (" ".join(part.split()) for part in text.split(",") if part.strip()):
        spellings = [(part.rstrip("!"), not part.endswith("!")) for part in item.split("=")]
        found.append((spellings[0][0], spellings))
    return found


@cache
def _table() -> dict[str, Known]:
    table: dict[str, Known] = {}

    def enter(text: str, kind: EntityKind, what: str, plain: bool) -> None:
        for name, spellings in _entries(text):
            for spelling, unambiguous in spellings:
                table.setdefault(spelling.lower(), Known(name, kind, what, plain and unambiguous, not unambiguous))

    others = section(_GAZETTEER, "others", dict[str, str])
    for what, text in section(_GAZETTEER, "technologies", dict[str, str]).items():
        enter(text, "Technology", what, plain=True)
    enter(others["organizations"], "Organization", "", plain=False)
    for country, cities in section(_GAZETTEER, "places", dict[str, str]).items():
        enter(country, "Location", "", plain=False)
        enter(cities, "Location", country.split("=")[0].rstrip("!"), plain=False)
    enter(others["concepts"], "Concept", "", plain=True)
    return table


def lookup(name: str) -> Known | None:
    """
    Return what is known of a name, ignoring case; None if it is unknown.

    >>> lookup("vscode"), lookup("Lisbon").what, lookup("Orion")
    (Known(name='VS Code', kind='Technology', what='code editor', plain=True, everyday=False), 'Portugal', None)
    """
    return _table().get(name.lower())


@cache
def plain_names() -> frozenset[str]:
    """Return the names that are meant even in lower case, of at most three words."""
    return frozenset(name for name, known in _table().items() if known.plain)


class Cue(Row, frozen=True, kw_only=True):
    """Words on one side of a name that show its kind; the example has the name in brackets."""

    kind: EntityKind
    side: Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of each kind as one expression, in the order in which they are tried."""

    before: tuple[tuple[EntityKind, re.Pattern[str]], ...]
    after: tuple[tuple[EntityKind, re.Pattern[str]], ...]


@cache
def _fragments() -> Mapping[str, str]:
    return {
        "RELATIVE": alternatives(RELATIVES),
        "JOB": alternatives(JOBS),
        "NOUN": alternatives(frozenset(KIND_OF_NOUN)),
        "EVENT": alternatives(EVENT_WORDS),
    }


def join_cues(rows: Iterable[Cue]) -> Cues:
    """Compile rows: adjacent rows with the same kind and side become one expression."""
    grouped: dict[str, list[tuple[EntityKind, str]]] = {"before": [], "after": []}
    for row in rows:
        side = grouped[row.side]
        text = fill(row.pattern, _fragments())
        if side and side[-1][0] == row.kind:
            side[-1] = (row.kind, f"{side[-1][1]}|{text}")
        else:
            side.append((row.kind, text))
    opens = r"(?:^|[\s(\"“])(?:{})\s+(?:(?:the|an?|our|their)\s+)?[\"“]?$"
    return Cues(
        tuple((kind, compile_pattern(opens.replace("{}", text), re.IGNORECASE)) for kind, text in grouped["before"]),
        tuple((kind, compile_pattern(text, re.IGNORECASE)) for kind, text in grouped["after"]),
    )


@cache
def cue_rows() -> tuple[Cue, ...]:
    """Return the rows of cues, in order."""
    return tuple(entry.row for entry in entries(_TABLE, Cue, _fragments(), table="cue"))


@cache
def cues() -> Cues:
    """Return the compiled cues."""
    return join_cues(cue_rows())


@cache
def signs() -> Mapping[str, re.Pattern[str]]:
    """Return the single signs by name."""
    return named_patterns(_TABLE, _fragments(), flags=re.IGNORECASE)


def kind_of(before: str, name: str, after: str, known: Known | None) -> EntityKind:
    """
    Return the kind of a name, from the name itself and the words on either side.

    >>> kind_of("I work at ", "Orion", ".", None), kind_of("my friend ", "Jordan", " says", None)
    ('Organization', 'Person')
    >>> kind_of("we had tapas at ", "Casa Lola", ", a tiny bar", None), kind_of("", "Zephyr", " is a build tool", None)
    ('Organization', 'Technology')
    """
    before = before[-60:]
    if known is None and " " not in name and name in FIRST_NAMES and signs()["article-before"].search(before):
        return _by_noun(before, name, after) or "Concept"  # "the Octavia": people have no article
    if known is None and not _is_first_name(name):
        if signs()["read"].search(before) or (name.startswith("The ") and signs()["read"].search(f"{before}The ")):
            return "Concept"
        if (
            signs()["made"].search(before)
            and signs()["called-something"].search(before)
            and not signs()["relative-called"].search(before)
        ):
            return "Project"
    if signs()["person-before"].search(before) and (known is None or known.kind == "Location" or _is_first_name(name)):
        return "Person" if _is_first_name(name) else _by_shape(name) or "Person"
    if known is not None:
        return _of_known(before, name, after, known)
    words = name.split()
    maker = lookup(words[0]) if len(words) > 1 else None
    if (
        maker is not None
        and maker.kind in ("Organization", "Technology")
        and signs()["a-thing"].search(before)
        and _by_shape(name) is None
    ):
        return "Technology"
    kind = _of_unknown(before, name, after)
    return "Concept" if kind == "Person" and any(letter.isdigit() for letter in name) else kind


def _of_unknown(before: str, name: str, after: str) -> EntityKind:
    """Return the kind of an unknown name, from its shape and the words around it."""
    shape, around = _by_shape(name), kind_by_context(before, name, after)
    if shape == "Technology" and around in ("Event", "Organization"):
        return around
    if shape is None and not name[-1:].isdigit() and signs()["numbered"].search(before):
        return "Location"
    return (
        shape
        or _by_noun(before, name, after)
        or around
        or ("Person" if _is_first_name(name) or _is_full_name(name) else None)
        or _by_place(before, name, after)
    )


def is_short_form(short: str, long: str, kind: EntityKind) -> bool:
    """
    Tell whether a name may stand for a longer one of its kind: a company by its first word, a product by its last.

    Well-known names and everyday words only stand for themselves, and so does the first name of a company's founder.

    >>> is_short_form("Brandt", "Brandt Logistics", "Organization"), is_short_form("Quillon", "Skoda Quillon", "Technology")
    (True, True)
    >>> is_short_form("York", "New York", "Location"), is_short_form("Brandt", "Brandt 2", "Technology")
    (False, False)
    """
    words = long.casefold().split()
    one = short.casefold()
    if (
        len(short) < 4
        or " " in short
        or not short.isalpha()
        or len(words) < 2
        or not all(word.isalpha() for word in words)
    ):
        return False
    if one in COMMON or one in NEVER or lookup(short) or lookup(long):
        return False
    if kind == "Organization":
        return (
            words[0] == one
            and one not in _FIRM_WORDS
            and short not in FIRST_NAMES
            and _FIRM_WORDS.issuperset(words[1:])
        )
    return kind == "Technology" and len(words) == 2 and words[1] == one


def _of_known(before: str, name: str, after: str, known: Known) -> EntityKind:
    """Return the kind of a well-known name, unless the words around it show that it is a company, a project or a person here."""
    if known.kind == "Technology" and signs()["employs"].search(before) and not signs()["moves-between"].search(before):
        return "Organization"
    if name in FIRST_NAMES and known.kind != "Person" and not signs()["used"].search(before):
        found = kind_by_context(before, name, after)
        return "Person" if found in (None, "Person") and known.kind != "Location" else found or known.kind
    if known.plain or " " in name:
        return known.kind
    if signs()["met"].search(before):
        return "Person"
    return "Project" if signs()["project-behind"].match(after) and known.kind == "Technology" else known.kind


def description(before: str, name: str, after: str, known: Known | None) -> str:
    """
    Return what the note says the thing is, else what is generally known; never the user's opinion of it.

    >>> description("", "Orion", " is an internal search engine that we use", None)
    'internal search engine'
    >>> description("I met my manager ", "Ana", ".", None)
    "USER's manager"
    """
    if match := signs()["of-user"].search(before):
        return f"USER's {match[1].lower()}"
    if match := signs()["called-a"].match(after):
        phrase = signs()["phrase-ends"].split(match[2])[0].strip()
        if len(phrase) > 2 and not signs()["opinion"].match(phrase):
            return f"USER's {phrase}" if match[1].lower() in ("my", "our") else phrase
    if known is None:
        return ""
    return f"place in {known.what}" if known.kind == "Location" and known.what else known.what


def _by_shape(name: str) -> EntityKind | None:
    """Return the kind that the name itself shows: "Acme GmbH", "Mill Street", "Project Orion", "DevConf 2026", "Fairphone 5"."""
    words = name.lower().split()
    if words[0] == "project" and len(words) > 1:
        return "Project"
    if len(words) > 1 and (
        words[-1] in COMPANY_SUFFIXES or words[0] in PARTS["company_first"] or words[-1] in PARTS["company_last"]
    ):
        return "Organization"
    if "&" in name or signs()["german-firm"].search(name):
        return "Organization"
    if (
        any(word in EVENT_WORDS for word in words[1:])
        or (len(words) > 1 and words[-1] in PARTS["happening_last"])
        or signs()["event-name"].search(name)
    ):
        return "Event"
    if (len(words) > 1 and (words[-1] in PARTS["place_last"] or words[0] in PARTS["place_first"])) or signs()[
        "street-name"
    ].search(name):
        return "Location"
    if signs()["name-particle"].search(name):
        return "Person"
    if words[0] in LANGUAGES:
        return "Concept"
    return "Technology" if signs()["technical-name"].search(name) else None


def _by_noun(before: str, name: str, after: str) -> EntityKind | None:
    """Return the kind that the note states: "a café called …", "…, a consultancy in Bonn", "the … app"."""
    if (match := signs()["noun-next"].match(after)) and (len(name.split()) < 3):
        kind = KIND_OF_NOUN[match["noun"].lower()]
        # "the Acme engineer" is a person of that company.
        return "Organization" if kind == "Person" else kind
    called_out = _is_first_name(name) and before.rstrip().endswith(",")  # "Congrats on your store, Gina"
    if (match := signs()["noun-before"].search(before)) and not called_out:
        kind = KIND_OF_NOUN[match["noun"].lower()]
        return "Project" if kind == "Technology" and signs()["made"].search(before) else kind
    calls = (_is_first_name(name) and not before.strip(" ,")) or before.lower().endswith(
        ("hey ", "hi ", "hello ", "thanks ")
    )
    if (match := signs()["noun-after"].match(after)) and not (
        calls and after.startswith(", my ")
    ):  # "Hey Jon, my shop …"
        return KIND_OF_NOUN[match["noun"].lower()]
    if signs()["called-something"].search(before) and not _is_first_name(name):
        return "Project" if signs()["made"].search(before) else "Concept"
    return None


def kind_by_context(before: str, name: str, after: str, beside: Cues | None = None) -> EntityKind | None:
    """
    Return the kind that the words around a name show.

    >>> kind_by_context("we moved to ", "Orion", ""), kind_by_context("", "Orion", " finally forgot it")
    ('Location', 'Person')
    """
    beside = beside or cues()
    found_after = next((kind for kind, pattern in beside.after if pattern.match(after)), None)
    found_before = next((kind for kind, pattern in beside.before if pattern.search(before)), None)
    if found_after in ("Project", "Event") or (found_after == "Person" and found_before is None):
        return found_after
    if (
        found_before in ("Organization", "Project", "Technology", "Location")
        and _is_first_name(name)
        and signs()["dealt-with"].search(before)
    ):
        return "Person"
    return found_before or found_after


def _by_place(before: str, name: str, after: str) -> EntityKind:
    """Return the kind by the preposition alone if nothing else shows it: one works *at*, lives *in* and goes *with*."""
    if signs()["at-the"].search(before):
        return "Location"
    if signs()["at"].search(before):
        return "Organization"
    if signs()["handed"].search(before):
        return "Person"
    if signs()["stayed"].search(before) or (signs()["in"].search(before) and not name.isupper()):
        return "Location"
    if signs()["with"].search(before) and not name.isupper():
        return "Person"
    if signs()["place-name"].search(name):
        return "Location"
    if signs()["one-of-many"].search(before):
        return "Technology"
    if not before.strip() and (signs()["pronoun-later"].match(after) or signs()["from-somewhere"].match(after)):
        return "Person"
    return "Technology" if re.search(r"[a-z][A-Z]", name) else "Concept"


def _is_first_name(name: str) -> bool:
    return name.split()[0].split("-")[0] in FIRST_NAMES


def _is_full_name(name: str) -> bool:
    """Tell whether two or three words look like a first name and a surname: "Margit Olsen", "Bao Nguyen"."""
    words = name.split()
    return (
        1 < len(words) < 4 and all(word[1:].islower() for word in words) and bool(signs()["surname"].search(words[-1]))
    )
