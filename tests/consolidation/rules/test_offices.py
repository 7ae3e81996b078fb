"""Each row of the table of offices reads its example and not its counter-example."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from memento.consolidation.rules.offices import DATA, Office, mask, office
from telling import Life

ROWS = tomllib.loads((DATA / "offices.toml").read_text(encoding="utf-8"))["row"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_row_reads_its_example_and_not_its_counter_example(row: dict[str, Any]) -> None:
    sentence, subject, relation, value = row["example"]

    assert office(sentence) == Office(subject, relation, value, row.get("sure", True))
    assert office(row["counter"]) is None


def test_every_row_says_what_it_means() -> None:
    assert all(row["meaning"] and row["name"] for row in ROWS)
    assert len({row["name"] for row in ROWS}) == len(ROWS)


def test_names_with_initials_particles_and_full_stops_are_whole() -> None:
    assert mask("A. B. de la Cruz Jr. has joined F.C. Norden").names == ("A. B. de la Cruz Jr.", "F.C. Norden")


def test_a_holder_follows_another_and_is_told_late() -> None:
    life = Life("Ilse Brandt is treasurer of Orbital Choir.", "Milo Vance took over as treasurer of Orbital Choir.")
    assert life.believed == ["Milo Vance took over as treasurer of Orbital Choir."]

    life.tell("Only heard today: Oda Frey became treasurer of Orbital Choir on 20 January 2024.")
    assert life.believed == ["Milo Vance took over as treasurer of Orbital Choir."]


def test_a_mention_in_passing_ends_nothing() -> None:
    life = Life(
        "Ilse Brandt is treasurer of Orbital Choir.", "Milo Vance, the treasurer of Orbital Choir, sang a solo."
    )

    assert len(life.believed) == 2
