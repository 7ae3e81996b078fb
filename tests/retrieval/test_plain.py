"""The three plain searches rank by what they say they rank by, within what may be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from conftest import OFFLINE
from memento.errors import InputError
from memento.model import NoteRow
from memento.python import Memento, open_memento

MODES = ("vector", "keyword", "hybrid")


@pytest.fixture(scope="module")
def drinks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("drinks"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    texts = (
        "tea tea tea tea Silva",
        "Ana Silva drinks greenish teas",
        "Any tea for Ana",
        "Norway is cold",
        "Ben has tea",
    )
    with opened:
        opened.intake.import_notes([NoteRow(content=text) for text in texts], consolidate=False)
        yield opened


def contents(memento: Memento, mode: str, **details: Any) -> list[str]:
    return [one.content for one in memento.recall("Which tea does Ana Silva drink?", mode=mode, **details).memories]


def test_the_three_plain_searches_put_the_same_memories_in_three_orders(drinks: Memento) -> None:
    orders = [contents(drinks, mode) for mode in MODES]

    assert len({tuple(order) for order in orders}) == 3
    assert "Norway is cold" not in orders[1]


def test_a_hybrid_search_is_seventy_parts_of_its_cosine_and_thirty_of_its_words(drinks: Memento) -> None:
    of = {
        mode: {one.content: one.score for one in drinks.recall("Which tea does Ana Silva drink?", mode=mode).memories}
        for mode in MODES
    }

    for content, score in of["hybrid"].items():
        assert score == pytest.approx(0.7 * of["vector"][content] + 0.3 * of["keyword"].get(content, 0.0), abs=2e-6)
    assert max(of["keyword"].values()) == 1


def test_a_plain_search_brings_the_best_k_relevant_or_not_unless_the_gate_is_asked_for(drinks: Memento) -> None:
    unsaid = "What is the molar mass of tungsten?"

    assert len(drinks.recall(unsaid, mode="vector", k=2).memories) == 2
    assert drinks.recall(unsaid, mode="vector", k=2, gate=True).gated


@pytest.mark.parametrize("mode", MODES)
def test_a_plain_search_stays_within_what_may_be_seen(drinks: Memento, mode: str) -> None:
    drinks.note("Ana Silva drinks secret tea.", namespace="elsewhere")
    drinks.note("Ana Silva drinks tea that was forgotten.")
    [gone] = [one for one in contents(drinks, mode, gate=False) if "forgotten" in one]
    drinks.forget(next(one.iri for one in drinks.recall(gone, k=1, gate=False).memories))

    assert not [one for one in contents(drinks, mode) if "forgotten" in one or "secret" in one]


@pytest.mark.parametrize("mode", MODES)
def test_a_plain_search_of_a_large_memory_ranks_as_one_of_a_small_one(drinks: Memento, mode: str) -> None:
    whole = contents(drinks, mode, k=3)
    plain = drinks.service.settings
    drinks.service.settings = replace(plain, land=replace(plain.land, whole=0))
    try:
        assert contents(drinks, mode, k=3) == whole
    finally:
        drinks.service.settings = plain


def test_a_mode_that_there_is_not_and_a_mode_beside_an_engine_are_refused(drinks: Memento) -> None:
    with pytest.raises(InputError, match="unknown mode 'steam': choose one of vector, keyword, hybrid"):
        drinks.recall("Who?", mode="steam")
    with pytest.raises(InputError, match="mode=vector ranks in place of engine=ppr: give one of them"):
        drinks.recall("Who?", mode="vector", engine="ppr")
