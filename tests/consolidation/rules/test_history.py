"""Notes told out of order, twice, or of what is yet to come: where each takes its place in history."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memento.consolidation.agents import Add, Invalidate, Skip
from telling import START, Life, ended


def test_a_back_dated_note_takes_its_place_before_what_is_known_already() -> None:
    life = Life("I work at Microsoft.")
    life.tell("I work at Google.", at=START - timedelta(days=400))

    (decision,) = life.decisions
    assert isinstance(decision, Add)
    assert decision.successor is not None
    assert decision.successor.memory == life.known[0].memory.iri
    assert decision.reason == "USER now works at Microsoft; employer was Google"
    assert life.believed == ["USER works at Microsoft."]
    assert life.believed_of(START - timedelta(days=1)) == ["USER works at Google."]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0)], ids=str)
def test_a_history_is_the_same_in_whatever_order_it_is_told(order: tuple[int, ...]) -> None:
    cities, life = ("Rome", "Oslo", "Bern"), Life()
    for year in order:
        life.tell(f"I live in {cities[year]}.", at=START + timedelta(days=365 * year))

    held = [life.believed_of(START + timedelta(days=365 * year)) for year in range(3)]
    assert life.believed == ["USER lives in Bern."]
    assert held == [["USER lives in Rome."], ["USER lives in Oslo."], ["USER lives in Bern."]]


def test_what_came_between_two_beliefs_ends_the_first_where_it_begins() -> None:
    life = Life()
    for city, year in (("Rome", 0), ("Bern", 2), ("Oslo", 1)):
        life.tell(f"I live in {city}.", at=START + timedelta(days=365 * year))

    (decision,) = life.decisions
    assert isinstance(decision, Invalidate)
    assert [target.memory for target in decision.targets] == [life.known[0].memory.iri]
    assert life.known[0].memory.invalid_at == START + timedelta(days=365)


def test_an_old_change_told_late_is_over_since_the_belief_it_precedes() -> None:
    assert Life("I live in Berlin.", "In 2015 I moved to Paris.").believed == ["USER lives in Berlin."]


def test_the_end_of_a_belief_moves_forward_when_something_turns_out_to_have_come_between() -> None:
    life = Life()
    life.tell("I use VS Code.", at=START)
    life.tell("I switched to Zed.", at=START + timedelta(days=365))
    life.tell("I no longer use VS Code.", at=START + timedelta(days=100))

    (decision,) = life.decisions
    assert isinstance(decision, Invalidate)
    assert life.known[0].memory.invalid_at == START + timedelta(days=100)


def test_what_ended_before_a_draft_began_is_not_ended_again() -> None:
    life = Life("I live in Rome.", "I live in Oslo.", "I live in Bern.")
    (decision,) = life.decisions

    assert isinstance(decision, Invalidate)
    assert [target.memory for target in decision.targets] == [life.known[1].memory.iri]


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("I work at Microsoft.", "Anna works at Google."),
        ("I use Vim for quick edits.", "I use VS Code."),
        ("I live in Berlin.", "I live in Germany."),
        ("The meeting with Ana is on January 12.", "The meeting with Ana is on January 1."),
    ],
)
def test_what_would_not_have_replaced_a_back_dated_fact_is_no_successor(later: str, earlier: str) -> None:
    life = Life(later)
    life.tell(earlier, at=START - timedelta(days=20))

    assert len(life.believed) == 2


def test_what_has_gone_on_since_before_a_belief_is_over_is_not_history() -> None:
    life = Life("I live in Rome.")
    life.known = [ended(life.known[0], START + timedelta(days=1))]
    life.tell("I have lived in Oslo since 2020.")

    assert life.decisions == [Add(draft=life.decisions[0].draft)]


def test_the_same_notes_told_again_add_nothing() -> None:
    told = [
        ("I work at Siemens as an engineer.", 0),
        ("I live in Rome.", 10),
        ("I joined Google.", 300),
        ("I work at Google.", 320),
        ("I left Google and joined Microsoft in March.", 500),
        ("I moved to Oslo last week.", 520),
        ("I no longer work at Siemens.", 530),
        ("I live in Rome.", 800),
    ]
    life = Life()
    for text, days in told:
        life.tell(text, at=START + timedelta(days=days))
    known = list(life.known)
    for text, days in told:
        life.tell(text, at=START + timedelta(days=days))
        assert all(isinstance(decision, Skip) for decision in life.decisions)

    assert life.known == known


def test_a_belief_that_has_ended_may_begin_again() -> None:
    life = Life("I live in Berlin.")
    life.known = [ended(life.known[0], START + timedelta(days=10))]
    life.tell("I live in Berlin.")

    assert len(life.known) == 2


@pytest.mark.parametrize(
    ("now", "coming", "after"),
    [
        ("I work at Siemens.", "I start at Acme next month.", "USER starts at Acme next month [2024-03]."),
        ("I work at Siemens.", "I'm starting at Acme in March.", "USER is starting at Acme in March."),
        ("I live in Rome.", "I will move to Berlin next month.", "USER will move to Berlin next month [2024-03]."),
    ],
)
def test_what_is_yet_to_come_ends_the_present_only_then(now: str, coming: str, after: str) -> None:
    life = Life(now, coming)
    present = life.known[0].memory.content

    assert life.believed_of(START + timedelta(days=31)) == [present]
    assert life.believed_of(START + timedelta(days=100)) == [after]


def test_what_is_the_case_until_something_to_come_is_over_when_that_begins() -> None:
    life = Life("I start at Acme next month.")
    life.tell("I work at Siemens.", at=START + timedelta(days=1))

    assert life.believed_of(START + timedelta(days=2)) == ["USER works at Siemens."]
    assert life.believed_of(START + timedelta(days=60)) == ["USER starts at Acme next month [2024-02]."]
