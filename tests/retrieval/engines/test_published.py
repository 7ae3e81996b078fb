"""The published phases keep their published promises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from conftest import OFFLINE, make_grains
from memento.errors import InputError
from memento.model import NoteRow, Scope, Scored
from memento.python import Memento, open_memento
from memento.retrieval.engines.published import anchor, distill, expand, land, weigh_entities
from memento.search.indexes import View
from memento.settings import (
    AnchorSettings,
    DistillSettings,
    ExpandSettings,
    FusionSettings,
    LandSettings,
    WordsSettings,
)
from memento.time import now

QUESTION = "Who climbed with Ana in Norway?"


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A hundred and fifty climbs, read and not changed by the tests."""
    opened = open_memento(tmp_path_factory.mktemp("peaks"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    people = ["Ana Silva", "Ben Okafor", "Cleo Marsh"]
    places = ["Norway", "Nepal", "Peru", "Kenya"]
    rows = [
        NoteRow(content=f"{people[n % 3]} climbed peak {n} in {places[n % 4]} with {people[(n + 1) % 3]}.")
        for n in range(150)
    ]
    with opened:
        opened.intake.import_notes(rows, consolidate=False)
        opened.note("I climbed with Ana Silva in Norway.")
        yield opened


@pytest.fixture(scope="module")
def view(peaks: Memento) -> View:
    return View.at(peaks.service.stores.indexes, Scope().memory_graphs, now(), None, None)


@pytest.fixture
def seeds(peaks: Memento, view: View) -> list[Scored[int]]:
    return land(QUESTION, asked(peaks), view, LandSettings(), FusionSettings(), WordsSettings())


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


def asked(peaks: Memento) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return peaks.service.stores.embedder.embed([QUESTION])


def anchors_of(peaks: Memento, view: View, seeds: list[Scored[int]], knobs: AnchorSettings) -> list[Scored[int]]:
    scope = Scope()
    return anchor(seeds, asked(peaks), view, peaks.service.stores.graph, scope.readable, scope.user, knobs)


def test_land_gives_at_most_a_hundred_seeds_best_first(seeds: list[Scored[int]]) -> None:
    scores = [seed.score for seed in seeds]

    assert len(seeds) == 100
    assert scores == sorted(scores, reverse=True)
    assert {seed.source for seed in seeds} <= {"vector", "fulltext", "multiple"}


def test_anchors_weigh_one_together_and_the_user_is_none(peaks: Memento, view: View, seeds: list[Scored[int]]) -> None:
    anchors = anchors_of(peaks, view, seeds, AnchorSettings())
    names = {view.indexes.nodes.iri(one.item) for one in anchors}

    assert sum(one.score for one in anchors) == pytest.approx(1)
    assert Scope().user not in names
    with_user = anchors_of(peaks, view, seeds, AnchorSettings(user=True))
    assert Scope().user in {view.indexes.nodes.iri(one.item) for one in with_user}


def test_an_entity_of_too_few_seeds_does_not_anchor(peaks: Memento, view: View, seeds: list[Scored[int]]) -> None:
    all_of_them = anchors_of(peaks, view, seeds, AnchorSettings())
    few = anchors_of(peaks, view, seeds, AnchorSettings(min_memories=50))

    assert 0 < len(few) < len(all_of_them)
    assert anchors_of(peaks, view, [], AnchorSettings()) == []


def test_the_share_of_the_walk_goes_from_pure_likeness_to_pure_rank(
    peaks: Memento, view: View, seeds: list[Scored[int]]
) -> None:
    anchors = anchors_of(peaks, view, seeds, AnchorSettings())
    likeness = view.indexes.vectors["memory"].likeness(asked(peaks), len(view.visible))
    pure = expand(anchors, asked(peaks), view, 100, ExpandSettings(structural_weight=0.0))
    walk = expand(anchors, asked(peaks), view, 100, ExpandSettings(structural_weight=1.0, normalise="max"))

    assert len(pure) == len(walk) == 100
    assert [one.score for one in pure] == pytest.approx([float(likeness[one.item]) for one in pure], abs=1e-5)
    assert max(one.score for one in walk) == pytest.approx(1.0)
    assert expand([], asked(peaks), view, 100, ExpandSettings()) == []


def test_distill_returns_no_more_than_asked_and_all_when_there_are_few(view: View, seeds: list[Scored[int]]) -> None:
    assert len(distill(seeds, seeds[50:], view, 7, DistillSettings(), FusionSettings())) == 7
    assert distill(seeds[:3], [], view, 7, DistillSettings(), FusionSettings()) == seeds[:3]


@pytest.mark.parametrize("profile", ["seed", "half", None])
def test_every_profile_answers(peaks: Memento, view: View, profile: str | None) -> None:
    found = peaks.recall(QUESTION, profile=profile)

    assert len(found.memories) == 10
    assert [one.rank for one in found.memories] == list(range(1, 11))
    assert all(0 <= one.score <= 1 for one in found.memories)
    assert found.total_candidates > 10
    assert set(found.timings_ms) >= {"embed", "land", "distill", "trace", "total"}


def test_history_is_two_steps_deep(memento: Memento) -> None:
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    for year, employer in enumerate(["Amber", "Basalt", "Cobalt", "Dolomite"]):
        memento.note(f"I work at {employer} now.", at=begin + timedelta(days=365 * year))
    newest = next(one for one in memento.recall("Where do I work?").memories if "Dolomite" in one.content)

    [one] = newest.invalidates
    [two] = one.invalidates
    assert "Cobalt" in one.content
    assert "Basalt" in two.content
    assert two.invalidates == ()


def test_all_of_the_trace_is_one_query(peaks: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    make_grains(peaks)
    asked_for: list[str] = []
    select = peaks.service.stores.graph.select

    def counted(query: str, *arguments: object, **slots: object) -> object:
        asked_for.append(query)
        return select(query, *arguments, **slots)  # type: ignore[arg-type]

    monkeypatch.setattr(peaks.service.stores.graph, "select", counted)
    peaks.recall(QUESTION, profile="seed")

    assert asked_for == ["retrieval/anchor", "retrieval/trace"]


def test_a_note_retires_nothing_in_a_namespace_it_does_not_belong_to(memento: Memento) -> None:
    memento.note("I live in Paris.")
    noted = memento.note("I moved to Lisbon.", namespace="work")

    assert noted.invalidated == ()
    assert [one.invalid_at for one in memento.list()] == [None]


def test_entity_weights_are_those_of_the_worked_example() -> None:
    weights = weigh_entities([0.8, 0.4], [0.6, 0.5], [10, 3], AnchorSettings())

    raw = [0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 1, 0.5 * 0.4 + 0.3 * 0.5 + 0.2 * math.log(4) / math.log(11)]
    assert raw == pytest.approx([0.78, 0.46563], abs=1e-5)
    assert weights == pytest.approx([0.62619, 0.37381], abs=1e-5)


def test_entity_weights_sum_to_one_and_a_worthless_set_weighs_nothing() -> None:
    assert sum(weigh_entities([0.1, 0.5, 0.9], [0.2] * 3, [1, 2, 3], AnchorSettings())) == pytest.approx(1)
    assert weigh_entities([-0.9, -0.9], [-0.9, -0.9], [1, 1], AnchorSettings()) == [0.0, 0.0]
