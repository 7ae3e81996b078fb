"""What people are to each other: the words for it, which of them mean one, and which follow from others."""

from __future__ import annotations

import re

from memento.text.words import RELATIVES

_SAME = {
    **dict.fromkeys(("mom", "mum", "mama"), "mother"),
    **dict.fromkeys(("dad", "papa"), "father"),
    **dict.fromkeys(("grandma", "granny", "gran", "nan", "nana"), "grandmother"),
    **dict.fromkeys(("grandpa", "grandad", "granddad"), "grandfather"),
    **dict.fromkeys(("spouse", "wife", "husband", "girlfriend", "boyfriend"), "partner"),
    **dict.fromkeys(("fiancé", "fiancée", "fiance", "fiancee"), "partner"),
    **dict.fromkeys(("boss", "supervisor"), "manager"),
    **dict.fromkeys(("roommate", "housemate"), "flatmate"),
    **dict.fromkeys(("coworker", "co-worker", "teammate"), "colleague"),
    **dict.fromkeys(("kid", "baby"), "child"),
    "auntie": "aunt",
    "neighbor": "neighbour",
    "adviser": "advisor",
    "gp": "doctor",
    "vet": "veterinarian",
    "buddy": "friend",
    "landlady": "landlord",
}
_PLURALS = {"children": "child", "wives": "wife", "grandchildren": "grandchild"}
_GENERAL = {
    "child": ("son", "daughter"),
    "parent": ("mother", "father"),
    "sibling": ("brother", "sister"),
    "grandparent": ("grandmother", "grandfather"),
}
_TURNED = {
    **dict.fromkeys(("mother", "father", "parent"), ("son", "daughter", "child")),
    **dict.fromkeys(("son", "daughter", "child"), ("mother", "father", "parent")),
    "partner": ("partner",),
    "cousin": ("cousin",),
    "twin": ("twin",),
    **dict.fromkeys(("brother", "sister", "sibling"), ("brother", "sister", "sibling")),
}
_BY_TWO = {
    "nephew": tuple((one, other) for one in ("brother", "sister", "sibling") for other in ("son", "child")),
    "niece": tuple((one, other) for one in ("brother", "sister", "sibling") for other in ("daughter", "child")),
    "grandson": tuple((one, "son") for one in ("son", "daughter", "child")),
    "granddaughter": tuple((one, "daughter") for one in ("son", "daughter", "child")),
    "grandchild": tuple((one, other) for one in ("son", "daughter", "child") for other in ("son", "daughter", "child")),
    "grandmother": tuple((one, "mother") for one in ("mother", "father", "parent")),
    "grandfather": tuple((one, "father") for one in ("mother", "father", "parent")),
    "uncle": tuple((one, "brother") for one in ("mother", "father", "parent")),
    "aunt": tuple((one, "sister") for one in ("mother", "father", "parent")),
    "cousin": tuple((one, other) for one in ("uncle", "aunt") for other in ("son", "daughter", "child")),
}
"""What follows from two steps: a niece is the daughter of a brother or a sister."""
_WORDS = RELATIVES | frozenset(
    [
        "gp",
        "vet",
        "stepbrother",
        "stepsister",
        "grandchild",
        "grandchildren",
        "parent",
        "parents",
        "sibling",
        "grandparent",
        "in-law",
        "children",
        "wives",
    ]
)
PATTERN = (
    r"(?:(?:step|half|great)-?)?(?:"
    + "|".join(sorted((re.escape(word) for word in _WORDS), key=len, reverse=True))
    + r")s?(?:-in-law)?"
)
"""Any of the words, for a pattern that does not mind capitals."""


def kin_name(word: str) -> str:
    """
    Return the one name of what somebody is to somebody.

    >>> kin_name("Mum"), kin_name("wife"), kin_name("kids"), kin_name("brother-in-law")
    ('mother', 'partner', 'child', 'brother-in-law')
    """
    plain = word.lower()
    plain = _PLURALS.get(plain, plain)
    if plain not in _WORDS and plain.endswith("s"):
        plain = plain[:-1]
    return _SAME.get(plain, plain)


def derive_kin(relation: str) -> list[tuple[tuple[str, bool], ...]]:
    """
    Return the ways from somebody to who is that to them, each step the name of a relation and whether it is turned round.

    >>> derive_kin("child")
    [(('child', False),), (('son', False),), (('daughter', False),), (('mother', True),), (('father', True),), (('parent', True),)]
    >>> (("partner", False), ("brother", False)) in derive_kin("brother-in-law")
    True
    """
    found: list[tuple[tuple[str, bool], ...]] = [((relation, False),)]
    found += [((one, False),) for one in _GENERAL.get(relation, ())]
    found += [((one, True),) for one in _TURNED.get(relation, ())]
    found += [((one, False), (other, False)) for one, other in _BY_TWO.get(relation, ())]
    if relation.endswith("-in-law"):
        own = relation.removesuffix("-in-law")
        found += [(way, *step) for way in (("partner", False), ("partner", True)) for step in derive_kin(own)]
        if own in ("brother", "sister"):
            found += [((one, False), ("partner", False)) for one in ("brother", "sister")]
        if own in ("son", "daughter"):
            found += [((one, False), ("partner", False)) for one in ("son", "daughter", "child")]
    return found
