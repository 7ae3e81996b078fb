"""The map of a real memory: what is on it, what is not, and that it is the same when it is drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memento import open_memento
from memento.manifest import draw_manifest
from memento.model import Manifest
from memento.python import Memento
from memento.time import now

NOTES = (
    "I work at Google.",
    "Anna Meyer plays chess with Paul Klein in Berlin.",
    "Paul Klein lives in Berlin.",
    "Anna Meyer works at Siemens.",
    "Siemens is based in Munich.",
    "I like tea.",
)


@pytest.fixture
def memento(tmp_path: Path) -> Iterator[Memento]:
    memento = open_memento(tmp_path)
    assert isinstance(memento, Memento)
    with memento:
        for text in NOTES:
            memento.note(text)
        yield memento


def mapped(memento: Memento) -> Manifest:
    return draw_manifest(memento.context.scope(None), now(), memento.service.stores)


def test_what_hangs_together_is_a_region_and_the_user_is_not_on_the_map(memento: Memento) -> None:
    found = mapped(memento)
    names = {place.text for region in found.regions for place in region.places}

    assert (found.layout.memories, found.energy) == (6, 50)
    assert any({"Berlin", "Paul Klein"} <= {place.text for place in region.places} for region in found.regions)
    assert not any(place.iri.startswith("urn:memento:user:") for region in found.regions for place in region.places)
    assert {"Siemens", "Berlin"} <= names
    assert found.layout.clustering > 0
    assert found.text.startswith("Memory: 6 items, ")
    assert found.recent == "told: I like tea."


def test_the_same_memory_gives_the_same_map(memento: Memento) -> None:
    first, second = mapped(memento), mapped(memento)

    assert replace(first, at=second.at) == second


def test_what_is_forgotten_or_of_another_namespace_is_not_on_it(memento: Memento) -> None:
    tea = next(one.iri for one in memento.list() if "tea" in one.content)
    memento.forget(tea)
    memento.note("Zoe Quill collects stamps.", namespace="other")

    assert mapped(memento).layout.memories == 5
    assert "Zoe" not in mapped(memento).text


def test_an_association_draws_two_memories_together(memento: Memento) -> None:
    by_text = {one.content: one.iri for one in memento.list()}
    before = mapped(memento).layout.links
    memento.living.associate(by_text["I like tea."], by_text["Paul Klein lives in Berlin."], weight=1.0)

    assert mapped(memento).layout.links == before + 1


def test_seasons_follow_the_lives_of_the_memories(memento: Memento) -> None:
    assert {name: len(some) for name, some in mapped(memento).seasons.items()} == {
        "emerging": 3,
        "active": 0,
        "stable": 0,
        "decaying": 0,
    }


def test_an_empty_memory_has_a_map_too(tmp_path: Path) -> None:
    with open_memento(tmp_path) as memento:
        assert isinstance(memento, Memento)
        found = mapped(memento)

    assert (found.layout.memories, found.regions, found.keys) == (0, (), ())
    assert found.text.startswith("Memory: nothing yet.")


def test_recent_tells_what_was_done_last_whatever_it_was(memento: Memento) -> None:
    by_text = {one.content: one.iri for one in memento.list()}
    tea, paul = by_text["I like tea."], by_text["Paul Klein lives in Berlin."]
    memento.living.associate(tea, paul, weight=1.0)
    assert (
        memento.graphs.manifest(fresh=True).text.splitlines()[-1]
        == "Recent: associated: I like tea. → Paul Klein lives in Berlin."
    )
    memento.living.decay()
    assert memento.graphs.manifest(fresh=True).recent == "energies faded"
    memento.living.feedback(tea, True)
    assert memento.graphs.manifest(fresh=True).recent == "feedback, helped: I like tea."
    memento.living.feedback(paul, False)
    assert memento.graphs.manifest(fresh=True).recent == "feedback, misled: Paul Klein lives in Berlin."
    memento.forget(tea)
    assert memento.graphs.manifest(fresh=True).recent == "forgot 1"
    memento.note("I like coffee.")
    assert memento.graphs.manifest(fresh=True).recent == "told: I like coffee."


def test_what_an_expression_recalls_stands_there_as_recalled_not_as_feedback(memento: Memento) -> None:
    memento.living.evaluate('(recall "chess" 1)')
    memento.service.reinforcement.write_effects()
    [drawn] = memento.living.evaluate('(get (stats) "manifest")').values
    assert drawn.splitlines()[-1] == "Recent: recalled: Anna Meyer plays chess with Paul Klein in Berlin."

    memento.living.evaluate('(feedback (get (first (recall "tea" 1)) "id") "fail")')
    [drawn] = memento.living.evaluate('(get (stats) "manifest")').values
    assert drawn.splitlines()[-1] == "Recent: feedback, misled: I like tea."


def test_tags_of_an_expression_become_keywords_and_edges(memento: Memento) -> None:
    before = mapped(memento).layout.links
    for text in ("The lighthouse was painted.", "The pier was mended."):
        memento.living.evaluate(f'(remember "{text}" "event" 0.5 nil (list "harbour" "Works"))')
    found = mapped(memento)
    [region] = [
        one
        for one in found.regions
        if {"harbour", "works"} & {word.casefold() for word in (*one.keywords, one.label)} or "harbour" in one.label
    ]

    assert found.layout.links >= before + 4
    assert {"harbour", "Works"} <= {*region.label.split("/"), *region.keywords}
    assert {one.name for one in memento.keys.find("harbour").keys} >= {"harbour"}


def test_a_region_is_named_by_what_was_done_as_well_as_who_did_it(memento: Memento) -> None:
    line = next(line for line in mapped(memento).text.splitlines() if line.startswith("Communities: "))

    assert ' items, as "' in line
