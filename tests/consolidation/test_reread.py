"""Memories that are in the graph are read once more: it is explained why they ended nothing."""

from __future__ import annotations

import pytest

from conftest import at
from memento.python import Memento


@pytest.mark.parametrize(
    ("known", "told", "why"),
    [
        ("I work at Acme.", "I plan to work at Zeta.", "a plan"),
        ("My phone is 555-01.", "Rumour has it my phone is 555-02.", "a report"),
        ("I work at Acme.", "I might work at Zeta.", "a possibility"),
        ("Bought a Koga for 350.", "Bought a Trek for 200.", "an event"),
        ("We use Redis.", "We use Postgres.", "may stand together"),
        ("My supplier is Molino.", "My supplier is Alpenkorn until May.", "for a time"),
        ("My manager is Ana Ruiz.", "His manager is Douwe Postma.", "no owner"),
    ],
)
def test_it_is_explained_why_a_claim_did_not_end(known: str, told: str, why: str, memento: Memento) -> None:
    memento.note(known, at=at("2026-01-05"))
    foreseen = memento.note(told, at=at("2026-02-05"), dry_run=True)
    noted = memento.note(told, at=at("2026-02-05"))
    assert noted.note
    [memory] = noted.memories

    spared = memento.get(memory, explain=True).spared

    assert not noted.invalidated and not noted.ended
    assert why in [one.reason for one in spared]
    assert all(one.words in known for one in spared)
    assert memento.get(noted.note, explain=True).spared == spared
    assert memento.get(memory).spared == ()
    assert why == "no owner" or foreseen.readings[0].spared == spared


def test_what_ended_and_what_has_nothing_in_common_is_not_explained(memento: Memento) -> None:
    for day, text in (("2026-01-05", "My boss is Ana Ruiz."), ("2026-01-06", "I like tea.")):
        memento.note(text, at=at(day))
    noted = memento.note("My boss is Ben Olsen now.", at=at("2026-02-05"))

    assert len(noted.invalidated) == 1
    assert memento.get(noted.memories[0], explain=True).spared == ()
