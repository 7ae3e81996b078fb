"""Each row of the table of offices reads its example and not its counter-example, and no other row does its work."""

from __future__ import annotations

import pytest

from memento.consolidation.rules.offices import Office, OfficeRow, mask, office, office_rows, read_office
from memento.text.tables import Entry
from telling import Life


@pytest.mark.parametrize("entry", office_rows(), ids=lambda entry: entry.row.name)
def test_a_row_reads_its_example_and_not_its_counter_example(entry: Entry[OfficeRow]) -> None:
    sentence, subject, relation, value = entry.row.example
    others = [other for other in office_rows() if other is not entry]

    assert office(sentence) == Office(subject, relation, value, entry.row.sure)
    assert read_office(mask(sentence), others) != office(sentence)
    assert office(entry.row.counter) is None


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
