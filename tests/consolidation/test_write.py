"""The turns of a conversation hang together in their order, however they arrive and whatever is forgotten."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.model import NoteRow
from memento.python import Memento, open_memento

TEXTS = ["Tea is green.", "Milk is white.", "Coal is black.", "Snow is cold.", "Rain is wet."]


def told(memento: Memento, *places: int | None, session: str = "Monday") -> dict[str, str]:
    """Notes of one conversation at these places; their IRIs by text."""
    rows = [NoteRow(content=TEXTS[n], session=session, position=place) for n, place in enumerate(places)]
    notes = memento.intake.import_notes(rows, consolidate=False).notes
    return {str(note): row.content for note, row in zip(notes, rows, strict=True)}


def chain(memento: Memento, session: str = "Monday") -> list[str]:
    """The texts of a conversation from the last turn back to the first, as a property path walks it."""
    walk = """
        PREFIX mem: <http://purl.org/memento/>
        SELECT ?turn ?text (COUNT(?later) AS ?behind) WHERE {
          ?session mem:name "%s" . ?turn mem:session ?session ; mem:content ?text . ?later mem:follows* ?turn .
        } GROUP BY ?turn ?text ORDER BY ?behind
    """
    body, _ = memento.graphs.query_bytes(walk % session, accept="application/sparql-results+json")
    rows = json.loads(body)["results"]["bindings"]
    assert [int(row["behind"]["value"]) for row in rows] == list(range(1, len(rows) + 1))  # one line, no fork
    return [row["text"]["value"] for row in rows]


@given(places=st.permutations(range(5)))
@settings(max_examples=8)
def test_turns_follow_each_other_in_whatever_order_they_arrive(
    places: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    opened = open_memento(tmp_path_factory.mktemp("talk"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened as memento:
        told(memento, *places)

        assert chain(memento) == [TEXTS[places.index(place)] for place in range(4, -1, -1)]
        assert memento.admin.check() == ()


def test_turns_without_a_place_follow_each_other_as_they_come(memento: Memento) -> None:
    told(memento, None, 7, None, 3, None)

    assert chain(memento) == [TEXTS[n] for n in (4, 2, 1, 3, 0)]
    assert memento.admin.check() == ()


def test_turns_of_the_same_place_stand_as_they_came(memento: Memento) -> None:
    told(memento, 1, 1, 0, 1)

    assert chain(memento) == [TEXTS[n] for n in (3, 1, 0, 2)]


def test_conversations_do_not_follow_each_other(memento: Memento) -> None:
    told(memento, 0, 1)
    memento.note("I like tea.")
    memento.note("It is Tuesday and I like coffee.", session="Tuesday")

    assert chain(memento) == [TEXTS[1], TEXTS[0]]
    assert len(chain(memento, "Tuesday")) == 1


def test_what_is_forgotten_keeps_its_place_and_what_is_erased_leaves_no_gap(memento: Memento) -> None:
    notes = {text: note for note, text in told(memento, 0, 1, 2, 3, 4).items()}
    memento.forget(notes[TEXTS[2]])
    assert chain(memento) == TEXTS[::-1]

    memento.forget(notes[TEXTS[1]], erase=True)
    memento.forget(notes[TEXTS[2]], erase=True)
    assert chain(memento) == [TEXTS[4], TEXTS[3], TEXTS[0]]

    memento.forget(notes[TEXTS[0]], erase=True)
    memento.forget(notes[TEXTS[4]], erase=True)
    memento.note("Snow melts in the sun.", session="Monday", position=9)
    assert chain(memento) == ["Snow melts in the sun.", TEXTS[3]]
    assert memento.admin.check() == ()


def test_rows_that_are_kept_read_the_user_and_what_they_name_once_a_batch(memento: Memento) -> None:
    memento.note("I am called Ola.")
    memento.intake.import_notes(
        [NoteRow(content="Porto is on the Douro.", title="Porto", speaker="Ola")], consolidate=False
    )
    read: list[str] = []
    store = memento.service.stores.graph
    select = store.select

    def count(name: str, *arguments: Any, **named: Any) -> Any:
        read.append(name)
        return select(name, *arguments, **named)

    rows = [
        NoteRow(content=f"Porto has bridge number {n} by Eva Lund.", title="Porto", speaker="Eva Lund")
        for n in range(20)
    ]
    with patch.object(store, "select", count):
        kept = memento.intake.import_notes(rows, consolidate=False)

    entities = [one.name for one in memento.graphs.entities()]
    assert kept.memories == 20
    assert sorted(entities).count("Porto") == sorted(entities).count("Eva Lund") == 1
    assert read.count("search/statements") < len(rows)
