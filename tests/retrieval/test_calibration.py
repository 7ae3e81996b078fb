"""The relevance of a memory is the probability that it answers, and what is shown is worth it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from memento.python import Memento, open_memento
from memento.retrieval.calibration import LEAST_SHARE, calibrate
from memento.settings import EmbeddingSettings, GateSettings, Settings

FAMILY = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    # The gate keeps whatever fits at all, so that the tail is cut by its share of the best alone.
    chosen = Settings(embedding=EmbeddingSettings(cache=False), gate=GateSettings(base=0.01, keep=1e-9))
    with open_memento(tmp_path_factory.mktemp("calibration") / "home", configured=chosen) as memento:
        assert isinstance(memento, Memento)
        memento.note("My rent is 850 euros a month.", at="2025-03-03")
        memento.note("My rent is 850 euros a month. The caretaker is called Boris.", at="2025-04-03")
        for number, note in enumerate(("I walked the dog.", "The soup was salty.", "Ana bought a kayak in Oban.")):
            memento.note(note, at=f"2025-05-0{number + 1}")
        yield memento


def test_calibration_keeps_the_order_and_stays_a_probability() -> None:
    values = [calibrate(float(value), FAMILY) for value in np.linspace(0, 1, 200)]

    assert all(before < after for before, after in pairwise(values))
    assert values[0] >= 0 and values[-1] <= 1


def test_an_embedder_without_numbers_is_taken_as_it_is() -> None:
    assert calibrate(0.3, "nobody's embedder") == 0.3


def test_nothing_is_shown_below_a_tenth_of_the_best(told: Memento) -> None:
    found = told.recall("How much is my rent?", explain=True)
    shown = [one.relevance or 0.0 for one in found.memories]

    assert shown
    assert min(shown) >= LEAST_SHARE * max(shown)
    assert any(one.relevance < LEAST_SHARE * max(shown) for one in found.cut)


def test_a_memory_that_only_repeats_another_is_counted_and_not_shown(told: Memento) -> None:
    found = told.recall("How much is my rent?")
    [rent] = [one for one in found.memories if "850" in one.content]

    assert "Boris" in rent.content
    assert rent.count == 2
    assert len(rent.notes) == 2
