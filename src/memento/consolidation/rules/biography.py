"""What a note says of the user's role, employer, place, expertise and education, and a description that gathers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memento.consolidation.agents import USER, Mention
from memento.consolidation.rules.statements import Statement, statements
from memento.iris import IRI
from memento.model import Note, User
from memento.text.names import mentions as named
from memento.text.tokens import normal

SLOTS = frozenset(
    (
        "employer",
        "job title",
        "home",
        "native language",
        "nationality",
        "major",
        "degree",
        "hometown",
        "profession",
        "birthplace",
    )
)
_TELLS = re.compile(
    rf"^{USER}\s+(?:has\s+(?:an?\s+)?(?:\w+\s+)?(?:\w+['’]s\s+)?(?:degree|phd|bachelor|master|mba|diploma"
    r"|\d+\s+years?\s+of\s+experience)|(?:has\s+)?(?:studied|graduated|majored)|is\s+(?:studying"
    r"|an?\s+(?:\w+\s+){0,2}?(?:expert|student|specialist))"
    r"|speciali[sz]es\s+in|is\s+fluent\s+in|was\s+born\s+in|grew\s+up\s+in|comes\s+from"
    r"|is\s+(?:originally\s+)?from)\b",
    re.IGNORECASE,
)


def biography(found: Iterable[Statement]) -> str | None:
    """The biographical statements about the user, one sentence each, or None."""
    told = [statement.content for statement in found if _is_biographical(statement)]
    return " ".join(content if content.endswith((".", "!")) else f"{content}." for content in told) or None


def merged(description: str, added: str) -> str:
    """
    The description with new sentences at its end; an old one about the same property goes.

    >>> merged("USER works at Google. USER lives in Rome.", "USER works at Acme.")
    'USER lives in Rome. USER works at Acme.'
    """
    new = _parts(added)
    slots = {slot for slot, _ in new if slot}
    said = {normal(sentence) for _, sentence in new}
    kept = (
        [sentence for slot, sentence in _parts(description) if slot not in slots and normal(sentence) not in said]
        if description.strip()
        else []
    )
    return " ".join([*kept, *(sentence for _, sentence in new)])


def _is_biographical(statement: Statement) -> bool:
    if statement.filled is not None:
        return statement.filled.subject == USER and statement.filled.slot in SLOTS
    return statement.reading.mood in ("fact", "past") and bool(_TELLS.search(statement.content))


def _parts(description: str) -> list[tuple[str | None, str]]:
    """(slot, sentence) of each sentence of a description."""
    user = User(iri=IRI("urn:memento:user"))
    note = Note(iri=IRI("urn:memento:note"), content=description, at=datetime(2000, 1, 1, tzinfo=UTC))
    mentions: Sequence[Mention] = named(description, user)
    return [
        (statement.filled.slot if statement.filled else None, statement.content)
        for statement in statements(note, mentions, user)
    ]
