"""
Find relationships between people that a sentence mentions in passing: "USER's sister Angela rents a flat" → Angela is USER's
sister.

*Because:* a question asks about "my sister's landlord", and the notes name Angela.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memento.consolidation.agents import USER, Stated
from memento.text.kin import PATTERN, kin_name

_NAME = "[\ue000-\uf8ff]"
_OWNER = rf"(?<![\w'’])(?:{USER}['’]s|(?-i:[Oo]ur|[Mm]y)|{_NAME}['’]s?)"
_KIN = rf"(?P<kin>{PATTERN})"
_ADJECTIVE = r"(?:(?:new|old|older|elder|younger|little|big|twin|best|good|former|late|own|eldest|youngest)\s+)?"
_ROWS = tuple(
    re.compile(f"(?={pattern})", re.IGNORECASE)  # finds both in "USER's brother Tom's daughter Ada"
    for pattern in (
        rf"(?P<owner>{_OWNER})\s+{_ADJECTIVE}{_KIN},?\s+(?P<name>{_NAME})",
        rf"(?P<owner>{_OWNER})\s+{_ADJECTIVE}{_KIN}\s+\((?P<name>{_NAME})",
        rf"(?P<owner>{_OWNER})\s+{_ADJECTIVE}{_KIN}(?:['’]s|\s+is|\s*[=:])\s+(?:(?:called|named|an?)\s+)?(?P<name>{_NAME})(?!['’]s)",
        rf"(?P<owner>{_NAME}|\b{USER})\s+(?:has|have|had|got)\s+(?:an?|one)\s+{_ADJECTIVE}{_KIN}(?:,|:|\s+called|\s+named)?\s+(?P<name>{_NAME})",
        rf"(?P<name>{_NAME}),\s+(?P<owner>{_OWNER})\s+{_ADJECTIVE}{_KIN}\b",
        rf"(?P<name>{_NAME})(?:['’]s)?\s+\((?:(?P<owner>{_OWNER})\s+)?{_ADJECTIVE}{_KIN}\b",
        rf"(?P<name>{_NAME})(?:\s+is|['’]s|\s*=)\s+(?P<owner>{_OWNER})\s+{_ADJECTIVE}{_KIN}\b",
        rf"(?P<name>{_NAME})(?:\s+is|['’]s|\s*=)\s+(?:the\s+|an?\s+)?{_KIN}\s+of\s+(?P<owner>{_NAME}|{USER})",
        rf"(?:^|[.!?]\s+)(?-i:(?=[A-Z])){_KIN}\s+\((?P<name>{_NAME})",
    )
)
_PARTED = re.compile(
    r"\b(?:broke\s+up|broken\s+up|split\s+up|separated|divorced|dumped|left\s+(?:USER|her|him)|died|passed\s+away|used\s+to\s+be)\b",
    re.IGNORECASE,
)
_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sr|Sra|Doctor)\.?\s+)?"


def read_ties(content: str, about: Sequence[str]) -> tuple[Stated, ...]:
    """
    Return the relationships that a memory mentions in passing, between the people it is about.

    >>> found = read_ties("USER's sister Ilse met Milo (Ilse's boss).", ["Ilse", "Milo"])
    >>> [(one.subject, one.relation, one.value) for one in found]
    [('USER', 'sister', 'Ilse'), ('Ilse', 'manager', 'Milo')]
    """
    names = sorted((name for name in about if name != USER), key=len, reverse=True)
    if not names:
        return ()
    text = content
    for at, name in enumerate(names[:200]):
        text = re.sub(rf"(?<!\w){_TITLE}{re.escape(name)}(?!\w)", chr(0xE000 + at), text)
    found = {(one.subject, one.relation, one.value): one for one in _read(text, names)}
    return tuple(found.values())


def _read(text: str, names: Sequence[str]) -> Iterator[Stated]:
    for row in _ROWS:
        for match in row.finditer(text):
            sign = (match.groupdict().get("owner") or USER)[0]
            owner = names[ord(sign) - 0xE000] if "\ue000" <= sign <= "\uf8ff" else USER
            name = names[ord(match["name"]) - 0xE000]
            if owner != name:
                relation = kin_name(match["kin"])
                is_over = relation == "partner" and _PARTED.search(text)
                yield Stated(subject=owner, relation=relation, value=name, mood="past" if is_over else "fact")
