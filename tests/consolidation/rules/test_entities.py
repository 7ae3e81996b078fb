"""Which entity a mention means."""

from __future__ import annotations

import pytest

from memento.consolidation.agents import Candidate, Mention
from memento.consolidation.rules import RuleAgents
from memento.iris import mint, user_iri
from memento.model import Entity, EntityKind, User

USER = User(iri=user_iri("local"), description="USER works at Google. USER lives in Rome.")


def entity(name: str, kind: EntityKind, aliases: tuple[str, ...] = ()) -> Entity:
    return Entity(iri=mint("entity"), name=name, kind=kind, aliases=aliases)


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("Microsoft", "Organization", entity("Microsoft", "Organization")),
        ("microsoft", "Organization", entity("Microsoft", "Organization")),
        ("Microsoft", "Organization", entity("Microsoft Corporation", "Organization")),
        ("Acme Inc.", "Organization", entity("Acme", "Organization")),
        ("MIT", "Organization", entity("Massachusetts Institute of Technology", "Organization")),
        ("VSCode", "Technology", entity("VS Code", "Technology", ("VSCode",))),
        ("Anna", "Person", entity("Anna Smith", "Person")),
        ("Anna Smith", "Person", entity("Anna", "Person")),
        ("Orion", "Concept", entity("Orion", "Project")),
        ("Orion", "Project", entity("Orion", "Concept")),
        ("Brandt", "Organization", entity("Brandt Logistics", "Organization")),
        ("Brandt Logistics", "Organization", entity("Brandt", "Organization")),
        ("Brandt", "Concept", entity("Brandt Logistics GmbH", "Organization")),
        ("Quillon", "Technology", entity("Skoda Quillon", "Technology")),
    ],
)
def test_a_mention_finds_its_entity(name: str, kind: EntityKind, known: Entity) -> None:
    pair = (Mention(name=name, kind=kind), [Candidate(entity=known, similarity=1.0)])

    assert RuleAgents().resolve_entities([pair], None, USER).resolutions[0].entity == known.iri


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("Jordan", "Person", [entity("Jordan", "Location")]),
        ("Anna", "Person", [entity("Anna Smith", "Person"), entity("Anna Costa", "Person")]),
        ("Anna Smith", "Person", [entity("Anna Costa", "Person")]),
        ("Microsoft", "Organization", [entity("Micron", "Organization")]),
        ("Java", "Technology", [entity("JavaScript", "Technology")]),
        ("Orion", "Project", []),
        (
            "Brandt",
            "Organization",
            [entity("Brandt Logistics", "Organization"), entity("Brandt Bakery", "Organization")],
        ),
        ("Brandt", "Location", [entity("Brandt Logistics", "Organization")]),
        ("Brandt Bakery", "Organization", [entity("Brandt", "Organization", ("Brandt Logistics",))]),
        ("York", "Location", [entity("New York", "Location")]),
        ("React", "Technology", [entity("React Native", "Technology")]),
        ("Fairphone", "Technology", [entity("Fairphone 5", "Technology")]),
    ],
)
def test_in_doubt_a_mention_is_new(name: str, kind: EntityKind, known: list[Entity]) -> None:
    candidates = [Candidate(entity=one, similarity=1.0) for one in known]
    resolved = RuleAgents().resolve_entities([(Mention(name=name, kind=kind), candidates)], None, USER)

    assert resolved.resolutions[0].entity is None
