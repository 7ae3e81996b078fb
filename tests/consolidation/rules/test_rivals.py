"""Two memories that hardly hold together are linked though no table knows what they are about; both stay."""

from __future__ import annotations

import csv
import io

import pytest

from measure import fresh_memory
from memento.consolidation.rules.rivals import frames, kinds_of_frames, topics
from memento.graph.binding import load_query
from memento.python import Memento
from rivals import judge_pairs, list_senseless

RIVALS = (
    "PREFIX mem: <http://purl.org/memento/> SELECT ?one WHERE { ?r mem:rival ?m . ?m mem:content ?one } ORDER BY ?one"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Our optician is Dr. Varga.", "Dr. Varga has retired, as the optician's sign says."),
        ("Prints come from the shop of Milo Vance.", "The print shop of Milo Vance has closed."),
        ("The mooring costs 40 a metre here.", "The mooring here: the new list says 55 a metre."),
    ],
)
def test_what_hardly_holds_together_is_linked_and_both_stay(old: str, new: str) -> None:
    with fresh_memory("trigram") as memento:
        memento.note(old, at="2024-01-10")
        told = memento.note(new, at="2025-01-10")
        body, _ = memento.query(RIVALS, accept="text/csv")
        linked = [row["one"] for row in csv.DictReader(io.StringIO(body.decode()))]

    assert not told.invalidated
    assert any(old.split()[-1].rstrip(".") in one for one in linked)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Varga is my optician's name.", "Kolbe on the river sells paper."),
        ("Kolbe lives in Tarn.", "Kolbe has retired."),
        ("The mooring costs 40 a metre here.", "Bread costs 3 a loaf."),
    ],
)
def test_what_may_hold_together_is_not_linked(old: str, new: str) -> None:
    with fresh_memory("trigram") as memento:
        memento.note(old, at="2024-01-10")
        memento.note(new, at="2025-01-10")
        body, _ = memento.query(RIVALS, accept="text/csv")

    assert len(list(csv.DictReader(io.StringIO(body.decode())))) == 0


def test_who_is_the_holder_of_something_speaks_of_what_is_held() -> None:
    assert frozenset({"warden"}) in topics("Otis Lamb is our warden now.")
    assert topics("Otis Lamb is a warden.") == (frozenset({"oti", "lamb"}),)


def test_rivals_over_many_relations_are_found_and_what_may_hold_together_is_in_no_dispute() -> None:
    with fresh_memory("minilm") as memento:
        figures = judge_pairs(memento)

        assert figures.found >= 36, figures.misses
        assert figures.wrong == 0, figures.misses
        assert list_senseless(memento) == []


def test_a_dispute_says_what_differs() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("Dr Lund looks after the goats.", at="2026-01-10")
        memento.note("Dr Ferrar looks after the goats.", at="2026-03-10")
        [dispute] = memento.disputes()

    assert dispute.reason == "the same is said with “ferrar” in place of “lund”"


def test_what_is_only_of_one_topic_is_in_no_dispute_but_the_later_word_comes_first() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("Standup is at half past nine in the kitchen.", at="2026-01-10")
        memento.note("Standup was dropped.", at="2026-03-10")

        assert memento.disputes() == ()
        assert memento.recall("When is standup?").memories[0].content == "Standup was dropped."


def test_a_frame_has_a_word_for_each_name_figure_and_day() -> None:
    [frame] = frames("The clinic is at 14 Quay Street since March and asks 20 euros.", ("Quay Street",))

    assert frame.masked == "The clinic is at someone since some day and asks some euros"
    assert frame.days == {"march"}


def test_no_sentence_is_a_frame_of_both_kinds() -> None:
    single, several = kinds_of_frames()

    assert single and several and not set(single) & set(several)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Flour comes from Aldous Mill.", "Flour comes from Weir Mill now."),
        ("A seat of the crash plan costs 12 dollars.", "A seat of the crash plan costs 15 dollars from now on."),
    ],
)
def test_what_is_said_again_with_one_thing_otherwise_from_now_on_ends_what_was(old: str, new: str) -> None:
    with fresh_memory("trigram") as memento:
        memento.note(old, at="2026-01-10")
        told = memento.note(new, at="2026-03-10")

    assert set(told.contents.values()) == {old, new}
    assert told.invalidated


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Flour comes from Aldous Mill.", "Just kidding, flour comes from Weir Mill now."),
        ("Flour comes from Aldous Mill.", "Rumour has it that flour comes from Weir Mill now."),
        ("Flour comes from Aldous Mill.", "I wish flour came from Weir Mill now."),
        ("Flour comes from Aldous Mill.", "Flour comes from Weir Mill."),
        ("Jola is head of finance at Kurvo.", "Oskar was head of finance at Kurvo from 2020 to 2023."),
    ],
)
def test_nothing_is_ended_without_a_word_of_change_that_is_meant(old: str, new: str) -> None:
    with fresh_memory("trigram") as memento:
        memento.note(old, at="2026-01-10")

        assert not memento.note(new, at="2026-03-10").invalidated


def test_two_verbs_with_nothing_in_common_say_two_things_of_one_subject() -> None:
    pairs = (
        ("Team Kestrel is led by Priya.", "Team Kestrel uses Rust.", False),
        ("The bakery is run by Hugo.", "The bakery supplies Cafe Luna.", False),
        ("The server runs on Debian.", "The server hosts Gitea.", False),
        ("The office is cleaned by Omar.", "The office smells of Lavender.", False),
        ("The bakery is run by Hugo.", "Ines leads the bakery.", True),
        ("The bakery is run by Hugo.", "The bakery is led by Ines.", True),
    )
    with fresh_memory("minilm") as memento:
        for number, (old, new, is_disputed) in enumerate(pairs):
            memento.note(old, at="2024-01-10", namespace=f"n{number}")
            told = memento.note(new, at="2025-01-10", namespace=f"n{number}")
            found = bool(told.invalidated or memento.disputes(namespace=f"n{number}"))
            assert found == is_disputed, (old, new)


SUCCESSIONS = (("Ana", "Bo", "Cy"), ("Dee", "Ed", "Fay"), ("Gus", "Hal", "Joel"))


@pytest.mark.parametrize("count", [2, 3])
def test_a_relation_is_learnt_to_have_one_value_when_its_values_followed_one_another_three_times(count: int) -> None:
    with fresh_memory("minilm") as memento:
        for who, first, second in SUCCESSIONS[:count]:
            memento.note(f"{who}'s flatmate is {first}.", at="2024-01-01")
            memento.note(f"{who}'s flatmate is {second} now.", at="2024-03-01")
        memento.note("My flatmate Ines plays the oboe.", at="2024-04-01")
        memento.note("My flatmate Kim has a cold.", at="2024-06-01")
        learnt, _ = memento.query(load_query("library/functional").text, accept="text/csv")
        reasons = [dispute.reason for dispute in memento.disputes()]

    assert learnt.decode().split() == ["relation,times,subjects", *(["flatmate,3,3"] if count == 3 else [])]
    assert reasons == (["values of flatmate followed one another 3 times"] if count == 3 else [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana was born in Porto.", "Ana works at Google."),
        ("Gus's tutor is Hal.", "My tutor is Ines."),
        ("Dee lives in Lisbon.", "Dee works at Google."),
    ],
)
def test_other_relations_and_relations_of_others_are_no_rivals(old: str, new: str) -> None:
    with fresh_memory("minilm") as memento:
        memento.note(old, at="2024-01-10")
        memento.note(new, at="2025-01-10")
        body, _ = memento.query(RIVALS, accept="text/csv")

    assert len(list(csv.DictReader(io.StringIO(body.decode())))) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Milo does the night shift.", "Oda took over the night shift from Milo."),
        ("Piet Maas is the landlord.", "Piet Maas was never the landlord."),
        ("Our referee is Wouter and we play on Sundays.", "Wouter stepped down as referee."),
    ],
)
def test_what_is_taken_over_or_denied_is_over(old: str, new: str) -> None:
    with fresh_memory("minilm") as memento:
        memento.note(old, at="2024-01-10")
        told = memento.note(new, at="2025-01-10")

    assert len(told.invalidated) == 1


def test_what_was_done_twice_is_of_no_topic_and_a_memory_is_linked_with_the_three_surest_alone() -> None:
    with fresh_memory("trigram") as memento:
        for day, name in enumerate(("Ana Costa", "Ben Ruiz", "Ida Holm"), start=1):
            memento.note(f"I fixed the build of Project Aurora together with {name}.", at=f"2026-01-0{day}")
        assert rivalries(memento) == 0

        for day, hour in enumerate(("eight", "nine", "ten", "eleven", "noon"), start=1):
            memento.note(f"Standup, as of week {day}: {hour} in room {day}.", at=f"2026-02-0{day}")
        before = rivalries(memento)
        memento.note("Standup was dropped.", at="2026-03-10")

        assert rivalries(memento) - before == 3


def rivalries(memento: Memento) -> int:
    asked = "SELECT (COUNT(*) AS ?count) { ?rivalry a <http://purl.org/memento/Rivalry> }"
    return int(memento.query(asked, accept="text/csv")[0].decode().split()[1])
