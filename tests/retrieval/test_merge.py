"""What several memories say alike comes back once; what differs in anything that counts never does."""

from __future__ import annotations

import numpy as np
import pytest

from memento.iris import IRI
from memento.model import NoteRef, NoteRow, Recalled
from memento.python import Memento
from memento.retrieval.distill import ALIKE, find_twins, merge_twins
from memento.time import now

SAME = [
    ("I moved to Lisbon.", "I have moved to Lisbon."),
    ("USER is allergic to peanuts.", "USER has a peanut allergy."),
    ("Thanks, the code is kestrel 42!", "The code is kestrel 42."),
    ("Mum comes on 5 May.", "Mum comes on 5 May, by train."),
]
DIFFERENT = [
    ("Rent is 500 euros.", "Rent is 550 euros."),
    ("The meeting is on Monday.", "The meeting is on Tuesday."),
    ("Anna is Ben's boss.", "Ben is Anna's boss."),
    ("I like tea.", "I do not like tea."),
    ("Deploys happen on Fridays.", "Deploys no longer happen on Fridays."),
    ("Backups run every night.", "Backups run every Friday night."),
    ("Ben has left Acme.", "Ben has joined Acme."),
    ("My sister lives in Oslo.", "My sister lives in Bergen."),
]


def recalled(*contents: str) -> list[Recalled]:
    return [
        Recalled(
            rank=rank,
            iri=IRI(f"urn:memory:{rank}"),
            content=content,
            score=1 / rank,
            source="meaning",
            note=NoteRef(iri=IRI(f"urn:note:{rank}"), content=content, at=now()),
        )
        for rank, content in enumerate(contents, start=1)
    ]


def near(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Vectors of memories that are as like as can be."""
    return np.tile(np.eye(1, 4, dtype=np.float32), (count, 1))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_is_one_with_both_notes(one: str, other: str) -> None:
    (found,) = merge_twins(recalled(one, other), near(2))

    assert found.count == 2
    assert {note.iri for note in found.notes} == {"urn:note:1", "urn:note:2"}
    assert found.score == 1.0


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_a_word_that_counts_stays_two(one: str, other: str) -> None:
    assert [found.count for found in merge_twins(recalled(one, other), near(2))] == [1, 1]


def test_the_fullest_stands_for_all_at_the_place_of_the_best() -> None:
    first, second = merge_twins(recalled("Mum comes on 5 May.", "It rains.", "Mum comes on 5 May, by train."), near(3))

    assert (first.content, first.score, first.merged) == ("Mum comes on 5 May, by train.", 1.0, ("urn:memory:1",))
    assert (second.content, second.count, second.notes) == ("It rains.", 1, ())


def test_memories_with_distant_vectors_are_never_one() -> None:
    apart = np.eye(2, dtype=np.float32)

    assert find_twins(apart) == 0
    assert find_twins(near(3)) == 2
    assert len(merge_twins(recalled("I like tea.", "I like green tea."), apart)) == 2
    assert ALIKE < 1


def test_four_ways_to_say_it_leave_room_for_something_else(memento: Memento) -> None:
    for text in (
        "My bicycle is stolen.",
        "My bicycle is stolen!",
        "My bicycle was stolen.",
        "My bicycle is stolen…",
        "The stolen thing was red.",
    ):
        memento.intake.import_notes([NoteRow(content=text)], consolidate=False)

    first, *others = memento.recall("Which bicycle is stolen?", k=2).memories

    assert first.count == len({note.iri for note in first.notes}) == 4
    assert all("My bicycle" not in one.content for one in others)
    assert [one.count for one in memento.recall("Which bicycle is stolen?", k=4, gate=False).memories] == [1] * 4
