"""
Find which entity of the graph each mention means.

Only reliable evidence counts: the same name or alias, with or without a company's suffix; an acronym; or a first name that only one
person has.
"""

from __future__ import annotations

from collections.abc import Sequence

from memento.consolidation.agents import NEW, Candidate, Mention, Resolution, Resolved
from memento.consolidation.rules.relations import without_suffix
from memento.model import Entity
from memento.text.kinds import is_short_form
from memento.text.tables import word_set

_SMALL = word_set("of the and for de di von van der")


def resolve_entities(mentions: Sequence[tuple[Mention, Sequence[Candidate]]]) -> Resolved:
    """Return one resolution for each mention, in their order; the user's description is left as it is."""
    return Resolved(resolutions=tuple(_resolution(mention, candidates) for mention, candidates in mentions))


def acronym(name: str) -> str:
    """
    Return the initials of the words that count; "" for a single word.

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
    return Resolution(mention=mention, entity=None, reason=NEW)


def _kinds_agree(mention: Mention, entity: Entity) -> bool:
    """Tell whether the kinds are compatible; a Concept may be a guess on either side."""
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
    """Tell whether one name is the short form of the other, whose entity has no other long form yet."""
    kind = entity.kind if mention.kind == "Concept" else mention.kind
    if is_short_form(mention.name, entity.name, kind):
        return True
    taken = any(is_short_form(entity.name, alias, kind) for alias in entity.aliases)
    return not taken and is_short_form(entity.name, mention.name, kind)


def _is_first_name_of(mention: Mention, entity: Entity) -> bool:
    """Tell whether one name is the first name of the other's full name."""
    if entity.kind != "Person":
        return False
    one, other = mention.name.casefold().split(), entity.name.casefold().split()
    return one[:1] == other[:1] and 1 in (len(one), len(other)) and len(one) != len(other)


def _better(mention: Mention, entity: Entity) -> str | None:
    """Return the note's description if it says more than the known one."""
    return mention.description if len(mention.description) > len(entity.description) else None
