"""The graph for people: neighbours with the links among them, and the shortest way between two things."""

from __future__ import annotations

import pytest

from memento.errors import InputError, NotFound
from memento.python import Memento


@pytest.fixture
def told(memento: Memento) -> Memento:
    for content in (
        "I live in Lisbon.",
        "I work at Google.",
        "My sister is Maria Silva.",
        "Maria Silva works at Google.",
    ):
        memento.note(content)
    memento.note("Atlantis is secret.", namespace="hidden")
    return memento


def test_a_way_over_other_things_is_taken_before_one_over_the_user(told: Memento) -> None:
    found = told.graphs.find_path("Maria Silva", "Google")
    assert len(found.links) == 2
    assert found.nodes[0].label == "Maria Silva" and found.nodes[-1].label == "Google"
    assert "User" not in [one.kind for one in found.nodes]

    over_user = told.graphs.find_path("Lisbon", "Google")
    assert "User" in [one.kind for one in over_user.nodes]
    assert len(over_user.links) == 4


def test_no_way_is_an_answer_without_links(told: Memento) -> None:
    found = told.graphs.find_path("Lisbon", "Google", steps=1)
    assert found.links == () and [one.label for one in found.nodes] == ["Lisbon", "Google"]


def test_neighbours_come_with_the_links_among_them_and_say_what_is_left_out(told: Memento) -> None:
    found = told.graphs.neighbours(["Google"])
    shown = {one.iri for one in found.nodes}
    assert all(one.source in shown and one.target in shown for one in found.links)
    assert "I work at Google." in [one.label for one in found.nodes]
    few = told.graphs.neighbours(["Google"], limit=1)
    assert len(few.nodes) == 2 and few.left_out == len(found.nodes) - 2


def test_what_the_reader_may_not_see_is_no_neighbour(told: Memento) -> None:
    labels = [one.label for one in told.graphs.neighbours(["me"], limit=100).nodes]
    assert "I live in Lisbon." in labels and not any("Atlantis" in label for label in labels)


def test_a_retired_memory_is_shown_as_past(told: Memento) -> None:
    told.note("I work at Microsoft.")
    near = told.graphs.neighbours(["Google", "Microsoft"]).nodes
    past = {one.label: one.is_past for one in near if one.kind == "Memory"}  # a note may have the same words
    assert past["I work at Google."] and not past["I work at Microsoft."]


def test_a_claim_is_named_by_its_words_and_past_once_it_ended(told: Memento) -> None:
    told.note("I work at Siemens. My dentist is Ana.")
    told.note("I work at Microsoft.")
    ended = [one.iri for memory in told.timeline("me").memories for one in memory.ended if one.iri]
    nodes = told.graphs.neighbours(ended).nodes
    assert ("I work at Siemens", "Claim", True) in [(one.label, one.kind, one.is_past) for one in nodes]
    assert ("I work at Microsoft", "Claim", False) in [(one.label, one.kind, one.is_past) for one in nodes]


def test_an_unknown_name_and_no_node_are_refused(told: Memento) -> None:
    with pytest.raises(NotFound, match="Nowhere"):
        told.graphs.neighbours(["Nowhere"])
    with pytest.raises(InputError, match="from 1 to 500"):
        told.graphs.neighbours([])
