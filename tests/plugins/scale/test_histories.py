"""Three nodes answer as one embedded memory that did the same, at once and in any order; a history that differs is shortened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import BINARY
from history import READS, WRITES, Difference, Step, StoreServer, compare, make_history, play, serve_store, shrink

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")

LENGTH = 20
"""Operations of each; `tests/bench/histories.py` plays 300, `tests/crash/test_histories.py` lets things fail meanwhile."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    if BINARY is None:
        pytest.skip("no `oxigraph`: pip install oxigraph")
    with serve_store(tmp_path_factory.mktemp("store") / "store") as server:
        yield server


@pytest.mark.parametrize("seed", range(3))
def test_three_nodes_answer_as_an_embedded_memory(seed: int, store: StoreServer, tmp_path: Path) -> None:
    play(make_history(seed, LENGTH), tmp_path, store)


def test_a_history_is_a_function_of_its_seed_and_has_every_operation() -> None:
    assert make_history(5, 40) == make_history(5, 300)[:40] != make_history(6, 40)
    assert {step.kind for step in make_history(5, 300)} == {*READS, *WRITES}


def test_a_difference_names_the_step_and_shows_both_answers() -> None:
    step = Step(7, "recall", ("Where is the tent?",), 0, (2, 0, 1))
    one, other, tied = (
        {"gated": False, "memories": [[text, score, 1] for text, score in told]}
        for told in ([("a", 0.5), ("b", 0.2)], [("a", 0.5), ("c", 0.1)], [("a", 0.5), ("c", 0.2)])
    )
    compare(step, 2, one, tied)
    with pytest.raises(Difference, match=r"step 7, node 2(.|\n)*Where is the tent(.|\n)*-.*b(.|\n)*\+.*c"):
        compare(step, 2, one, other)


def test_a_history_is_shortened_to_the_steps_that_matter() -> None:
    steps = make_history(1, 60)
    assert shrink(steps, lambda some: {steps[11], steps[40]} <= {*some}) == [steps[11], steps[40]]
