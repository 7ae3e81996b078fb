"""
Which entity of the graph each mention means, and what a note says of the user's role, employer, place, expertise and education.

Sure signs only: the same name or alias, a company's suffix more or less, an acronym, a first name that only one person has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memento.consolidation.agents import USER, Candidate, Mention, Resolution, Resolved
from memento.consolidation.rules.relations import without_suffix
from memento.consolidation.rules.statements import Statement, statements
from memento.iris import IRI
from memento.model import Entity, Note, User
from memento.text.kinds import is_short_form
from memento.text.names import mentions as named
from memento.text.tables import word_set
from memento.text.tokens import normal

_SMALL = word_set("of the and for de di von van der")
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


def resolve_entities(
    mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
) -> Resolved:
    """One resolution for each mention, in their order, and the user's new description if the note changes it."""
    description = merged(user.description, biography) if biography else None
    return Resolved(
        resolutions=tuple(_resolution(mention, candidates) for mention, candidates in mentions),
        user_description=description if description != user.description else None,
    )


def acronym(name: str) -> str:
    """
    The first letters of the words that count.

    >>> acronym("University of California Los Angeles"), acronym("Siemens")
    ('UCLA', '')
    """
    words = [word for word in name.replace("-", " ").split() if word.lower() not in _SMALL]
    return "".join(word[0] for word in words).upper() if len(words) > 1 else ""


def _resolution(mention: Mention, candidates: Sequence[Candidate]) -> Resolution:
    fitting = [candidate.entity for candidate in candidates if _kinds_agree(mention, candidate.entity)]
    tests = (
        (_same_name, "the same name"),
        (_same_company, "the same name but for the company's suffix"),
        (_same_acronym, "one abbreviates the other"),
    )
    for test, why in tests:
        for entity in fitting:
            if test(mention, entity):
                return Resolution(mention=mention, entity=entity.iri, reason=why, description=_better(mention, entity))
    alike = [entity for entity in fitting if _is_short_form(mention, entity)]
    if len(alike) == 1:
        return Resolution(
            mention=mention,
            entity=alike[0].iri,
            reason="one is the short form of the other, and nothing else known has it",
            description=_better(mention, alike[0]),
        )
    people = [entity for entity in fitting if _is_first_name_of(mention, entity)]
    if len(people) == 1:
        return Resolution(
            mention=mention,
            entity=people[0].iri,
            reason="the only known person of that first name",
            description=_better(mention, people[0]),
        )
    return Resolution(mention=mention, entity=None, reason="nothing known has this name")


def _kinds_agree(mention: Mention, entity: Entity) -> bool:
    """A Concept may be a guess on either side: nothing told what the thing is."""
    guessed = mention.kind == "Concept" and not mention.is_well_known
    was_guessed = entity.kind == "Concept" and not entity.is_well_known
    return mention.kind == entity.kind or guessed or was_guessed


def _names(names: tuple[str, ...]) -> set[str]:
    return {" ".join(name.casefold().split()) for name in names if name.strip()}


def _same_name(mention: Mention, entity: Entity) -> bool:
    return bool(_names((mention.name, *mention.aliases)) & _names((entity.name, *entity.aliases)))


def _same_company(mention: Mention, entity: Entity) -> bool:
    if "Organization" not in (mention.kind, entity.kind):
        return False
    return without_suffix(mention.name).casefold() == without_suffix(entity.name).casefold()


def _same_acronym(mention: Mention, entity: Entity) -> bool:
    if "Person" in (mention.kind, entity.kind):
        return False
    one, other = mention.name, entity.name
    return (len(one) > 1 and one == acronym(other)) or (len(other) > 1 and other == acronym(one))


def _is_short_form(mention: Mention, entity: Entity) -> bool:
    """Whether one name is the short form of the other, which goes by no other long form yet."""
    kind = entity.kind if mention.kind == "Concept" else mention.kind
    if is_short_form(mention.name, entity.name, kind):
        return True
    taken = any(is_short_form(entity.name, alias, kind) for alias in entity.aliases)
    return not taken and is_short_form(entity.name, mention.name, kind)


def _is_first_name_of(mention: Mention, entity: Entity) -> bool:
    """Whether one is the first name alone of the other's full name."""
    if entity.kind != "Person":
        return False
    one, other = mention.name.casefold().split(), entity.name.casefold().split()
    return one[:1] == other[:1] and 1 in (len(one), len(other)) and len(one) != len(other)


def _better(mention: Mention, entity: Entity) -> str | None:
    """The note's description, where it says more than the known one."""
    return mention.description if len(mention.description) > len(entity.description) else None


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
