"""The published phases keep their published promises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from conftest import OFFLINE, make_grains
from memento.model import NoteRow, Scope, Scored
from memento.plugins.published.phases import anchor, distill, expand, land, weigh_entities
from memento.plugins.published.settings import PublishedSettings
from memento.python import Memento, open_memento
from memento.search.indexes import View
from memento.settings import WordsSettings
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
    return land(QUESTION, asked(peaks), view, PublishedSettings(), WordsSettings())


def asked(peaks: Memento) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return peaks.service.stores.embedder.embed([QUESTION])


def anchors_of(peaks: Memento, view: View, seeds: list[Scored[int]], knobs: PublishedSettings) -> list[Scored[int]]:
    scope = Scope()
    return anchor(seeds, asked(peaks), view, peaks.service.stores.graph, scope.readable, scope.user, knobs)


def test_land_gives_at_most_a_hundred_seeds_best_first(seeds: list[Scored[int]]) -> None:
    scores = [seed.score for seed in seeds]

    assert len(seeds) == 100
    assert scores == sorted(scores, reverse=True)
    assert {seed.source for seed in seeds} <= {"vector", "fulltext", "multiple"}


def test_anchors_weigh_one_together_and_the_user_is_none(peaks: Memento, view: View, seeds: list[Scored[int]]) -> None:
    anchors = anchors_of(peaks, view, seeds, PublishedSettings())
    names = {view.indexes.nodes.iri(one.item) for one in anchors}

    assert sum(one.score for one in anchors) == pytest.approx(1)
    assert Scope().user not in names
    with_user = anchors_of(peaks, view, seeds, PublishedSettings(user=True))
    assert Scope().user in {view.indexes.nodes.iri(one.item) for one in with_user}


def test_an_entity_of_too_few_seeds_does_not_anchor(peaks: Memento, view: View, seeds: list[Scored[int]]) -> None:
    all_of_them = anchors_of(peaks, view, seeds, PublishedSettings())
    few = anchors_of(peaks, view, seeds, PublishedSettings(min_memories=50))

    assert 0 < len(few) < len(all_of_them)
    assert anchors_of(peaks, view, [], PublishedSettings()) == []


def test_the_share_of_the_walk_goes_from_pure_likeness_to_pure_rank(
    peaks: Memento, view: View, seeds: list[Scored[int]]
) -> None:
    anchors = anchors_of(peaks, view, seeds, PublishedSettings())
    likeness = view.indexes.vectors["memory"].likeness(asked(peaks), len(view.visible))
    pure = expand(anchors, asked(peaks), view, 100, PublishedSettings(structural_weight=0.0))
    walk = expand(anchors, asked(peaks), view, 100, PublishedSettings(structural_weight=1.0, normalise="max"))

    assert len(pure) == len(walk) == 100
    assert [one.score for one in pure] == pytest.approx([float(likeness[one.item]) for one in pure], abs=1e-5)
    assert max(one.score for one in walk) == pytest.approx(1.0)
    assert expand([], asked(peaks), view, 100, PublishedSettings()) == []


def test_distill_returns_no_more_than_asked_and_all_when_there_are_few(view: View, seeds: list[Scored[int]]) -> None:
    assert len(distill(seeds, seeds[50:], view, 7, PublishedSettings())) == 7
    assert distill(seeds[:3], [], view, 7, PublishedSettings()) == seeds[:3]


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

    assert asked_for == ["plugins/published/anchor", "retrieval/trace"]


def test_a_note_retires_nothing_in_a_namespace_it_does_not_belong_to(memento: Memento) -> None:
    memento.note("I live in Paris.")
    noted = memento.note("I moved to Lisbon.", namespace="work")

    assert noted.invalidated == ()
    assert [one.invalid_at for one in memento.list()] == [None]


def test_entity_weights_are_those_of_the_worked_example() -> None:
    weights = weigh_entities([0.8, 0.4], [0.6, 0.5], [10, 3], PublishedSettings())

    raw = [0.5 * 0.8 + 0.3 * 0.6 + 0.2 * 1, 0.5 * 0.4 + 0.3 * 0.5 + 0.2 * math.log(4) / math.log(11)]
    assert raw == pytest.approx([0.78, 0.46563], abs=1e-5)
    assert weights == pytest.approx([0.62619, 0.37381], abs=1e-5)


def test_entity_weights_sum_to_one_and_a_worthless_set_weighs_nothing() -> None:
    assert sum(weigh_entities([0.1, 0.5, 0.9], [0.2] * 3, [1, 2, 3], PublishedSettings())) == pytest.approx(1)
    assert weigh_entities([-0.9, -0.9], [-0.9, -0.9], [1, 1], PublishedSettings()) == [0.0, 0.0]
