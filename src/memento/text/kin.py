"""Read what people are to each other: the words for it, their synonyms, and what follows from them, by `lexicon/kin.toml`."""

from __future__ import annotations

from memento.text.tables import LEXICON, alternatives, section, word_lists
from memento.text.words import RELATIVES

_TABLE = LEXICON / "kin.toml"
_LISTS = word_lists(_TABLE)
_SAME = {word: name for name, words in section(_TABLE, "same", dict[str, str]).items() for word in words.split()}
_GENERAL = section(_TABLE, "general", dict[str, str])
_TURNED = section(_TABLE, "turned", dict[str, str])
_BY_MARRIAGE = section(_TABLE, "by_marriage", dict[str, list[str]])
_WORDS = RELATIVES | _LISTS["more"]
_BY_TWO = section(_TABLE, "by_two", dict[str, list[str]])
PATTERN = rf"(?:(?:step|half|great)-?)?(?:{alternatives(_WORDS)})s?(?:-in-law)?"
"""Any of the words, for a pattern that ignores case."""


def kin_name(word: str) -> str:
    """
    Return the canonical name of a relationship.

    >>> kin_name("Mum"), kin_name("wife"), kin_name("kids"), kin_name("brother-in-law")
    ('mother', 'partner', 'child', 'brother-in-law')
    """
    plain = word.lower()
    if plain not in _WORDS and plain.endswith("s"):
        plain = plain[:-1]
    return _SAME.get(plain, plain)


def derive_kin(relation: str) -> list[tuple[tuple[str, bool], ...]]:
    """
    Return the paths from a person to their relatives of some kind.

    Each step is the name of a relation, and whether it is followed backwards.

    >>> derive_kin("child")
    [(('child', False),), (('son', False),), (('daughter', False),), (('mother', True),), (('father', True),), (('parent', True),)]
    >>> (("partner", False), ("brother", False)) in derive_kin("brother-in-law")
    True
    """
    found: list[tuple[tuple[str, bool], ...]] = [((relation, False),)]
    found += [((one, False),) for one in _GENERAL.get(relation, "").split()]
    found += [((one, True),) for one in _TURNED.get(relation, "").split()]
    found += [tuple((one, False) for one in steps.split()) for steps in _BY_TWO.get(relation, ())]
    if relation.endswith("-in-law"):
        own = derive_kin(relation.removesuffix("-in-law"))
        found += [(way, *steps) for way in (("partner", False), ("partner", True)) for steps in own]
        found += [tuple((one, False) for one in steps.split()) for steps in _BY_MARRIAGE.get(relation, ())]
    return found
