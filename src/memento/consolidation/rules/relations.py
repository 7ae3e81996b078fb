"""
Classify what a memory says about its subject: which relations ("work", "live", "use") its words express, who it is about, the
canonical name of a property, and when two of its values are equal. The words are in `data/relations.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import msgspec

from memento.consolidation.agents import USER
from memento.consolidation.rules.patterns import DATA, signs
from memento.text.kinds import COMPANY_SUFFIXES, is_part_of, is_short_form, lookup
from memento.text.tables import section, word_lists
from memento.text.words import BASES, WORD, base_of, occurs

_TABLE = DATA / "relations.toml"
_LISTS = word_lists(_TABLE)
_OF_PROPERTY = section(_TABLE, "of_property", dict[str, str])
_SAME = {
    word: name for name, words in section(_TABLE, "synonyms", dict[str, str]).items() for word in words.split(", ")
}
_MAIN_IS_PLAIN = frozenset(section(_TABLE, "properties", dict[str, list[str]])["main_is_plain"])


class Relation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relation and the bases of the words that express it, with a sentence that expresses it and one that does not."""

    name: str
    words: str
    example: str
    counter: str


@cache
def relation_rows() -> tuple[Relation, ...]:
    """Return the relations of the table."""
    return section(_TABLE, "relation", tuple[Relation, ...])


def relations(content: str, slot: str | None = None, rows: Iterable[Relation] | None = None) -> frozenset[str]:
    """
    Return the relations that a memory expresses; `rows` defaults to the whole table.

    >>> sorted(relations("USER works at Google")), sorted(relations("USER is vegan", "diet"))
    (['to work', 'work'], ['eat'])
    """
    bases = [base_of(word) or word for word in WORD.findall(signs()["turns-out"].sub("", content).lower())]
    found = {family for base in bases for family in (_families() if rows is None else _by_word(rows)).get(base, ())}
    found |= {f"to {base}" for base in bases if base in BASES and base not in _LISTS["plain_verbs"]}
    if slot in _OF_PROPERTY:
        found.add(_OF_PROPERTY[slot])
    elif slot and slot.startswith(("main ", "favourite ")):
        found.add("prefer")
    return frozenset(found)


def speaks_of(content: str) -> str | None:
    """
    Return the subject of the sentence as written; None unless it is the user, something of the user's, or a name.

    >>> speaks_of("Last year, USER moved to Oslo"), speaks_of("Anna Smith left"), speaks_of("USER's friend works at Google")
    ('USER', 'Anna Smith', "USER's friend")
    >>> speaks_of("Yesterday USER quit"), speaks_of("Anna said USER quit"), speaks_of("USER's friend Bo left")
    ('USER', 'Anna', 'Bo')
    """
    plain = signs()["leading"].sub("", content)
    if (kinsman := signs()["kinsman"].match(plain)) and USER not in kinsman[1]:
        return kinsman[1]
    match = signs()["subject"].match(plain)
    if match is None or match[1].endswith(("'s", "’s")):
        return None
    words = match[1].split()
    return " ".join(words[:2]) if words[0].startswith(f"{USER}'") else match[1]


def slot_name(attribute: str) -> str:
    """
    Return the canonical name of a property.

    >>> [slot_name(words) for words in ("boss", "favorite movie", "main editor", "work phone number", "main hobby")]
    ['manager', 'favourite movie', 'editor', 'work phone', 'main hobby']
    """
    words = " ".join(
        attribute.lower().replace("’", "'").replace("favorite", "favourite").replace("color", "colour").split()
    )
    words = signs()["newer"].sub("", words)
    plain = signs()["preferred"].sub("", words)
    same = _SAME.get(plain, plain)
    if same in _MAIN_IS_PLAIN:
        return same
    words = words if plain == words else signs()["preferred"].sub("main ", words)
    if words in _SAME:
        return _SAME[words]
    first, _, rest = words.partition(" ")
    return (
        f"{first} {_SAME[rest]}"
        if rest in _SAME and first in ("work", "private", "personal", "office", "favourite", "home")
        else words
    )


def is_single(attribute: str) -> bool:
    """
    Tell whether a property has one value at a time.

    >>> [is_single(words) for words in ("phone number", "favourite film", "sister", "monthly budget")]
    [True, True, False, True]
    """
    words = attribute.lower().replace("favorite", "favourite").split()
    if not words:
        return False
    if (
        words[0] in ("favourite", "main", "primary", "preferred", "go-to", "default", "native", "first")
        and len(words) > 1
        and not words[-1].endswith("s")
    ):
        return True
    return (
        words[-1] in _LISTS["single"]
        or (words[-1] in ("number", "tongue", "plate", "type", "date", "code") and len(words) > 1)
        or slot_name(" ".join(words)) in _SAME.values()
    )


def same_value(one: str, other: str) -> bool:
    """
    Tell whether two values mean the same.

    >>> same_value("Microsoft", "Microsoft Corporation"), same_value("VSCode", "VS Code"), same_value("Rome", "Oslo")
    (True, True, False)
    """
    return _plain(one) == _plain(other) or any(
        is_short_form(short, long, "Organization") for short, long in ((one, other), (other, one))
    )


def compatible(one: str, other: str) -> bool:
    """
    Tell whether two values can both be true because one is more exact.

    >>> compatible("Berlin", "Germany"), compatible("engineer", "senior engineer"), compatible("Berlin", "Paris")
    (True, False, False)
    """
    return same_value(one, other) or is_part_of(one, other) or is_part_of(other, one)


def names_the_same(phrase: str, value: str) -> bool:
    """
    Tell whether a phrase of the note names a value: they are equal, or one contains the other.

    >>> names_the_same("job at Acme", "Acme"), names_the_same("Java", "JavaScript")
    (True, False)
    """
    return same_value(phrase, value) or occurs(value, phrase) or occurs(phrase, value)


def without_suffix(name: str) -> str:
    """
    Return a company's name without "Inc", "GmbH" and the like.

    >>> without_suffix("Acme Labs Inc."), without_suffix("Labs")
    ('Acme', 'Labs')
    """
    words = name.split()
    while len(words) > 1 and words[-1].lower().rstrip(".") in COMPANY_SUFFIXES:
        words.pop()
    return " ".join(words)


def _plain(value: str) -> str:
    text = signs()["article"].sub("", value.strip()).strip(" .,!")
    known = lookup(text)
    return (known.name if known else without_suffix(text)).casefold()


@cache
def _families() -> dict[str, tuple[str, ...]]:
    return _by_word(relation_rows())


def _by_word(rows: Iterable[Relation]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for word in row.words.split():
            table[word] = (*table.get(word, ()), row.name)
    return table
