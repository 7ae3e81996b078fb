"""What the rules make of the labelled notes that were read while they were written; the bench prints the unseen ones too."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from labelled import MAY_BE_READ, NOTES, Score, scenarios, tagged

BENCH = Path(__file__).parents[2] / "bench" / "consolidation.py"


FLOORS = {
    "development": {
        "entities": (0.98, 0.975),
        "memories": (0.86, 0.92),
        "validAt": (0.98, 0.98),
        "eventAt": (0.96, 0.96),
        "invalidations": (0.98, 0.95),
    },
    "second": {
        "entities": (0.96, 0.94),
        "memories": (0.78, 0.74),
        "validAt": (0.94, 0.94),
        "eventAt": (0.85, 0.85),
        "invalidations": (0.98, 0.9),
    },
}
"""The least precision and recall of each measure, by file: what the rules reach, minus a little."""


@pytest.fixture(scope="module", params=MAY_BE_READ)
def read(request: pytest.FixtureRequest) -> tuple[str, Score]:
    return request.param, tagged(request.param)["all"]


@pytest.mark.parametrize("measure", ["entities", "memories", "validAt", "eventAt", "invalidations"])
def test_the_notes_that_may_be_read_are_understood(read: tuple[str, Score], measure: str) -> None:
    file, score = read
    precision, recall = FLOORS[file][measure]

    assert score.precision(measure) >= precision
    assert score.recall(measure) >= recall


def test_nothing_becomes_a_fact_that_is_none(read: tuple[str, Score]) -> None:
    assert read[1].found["must not"] == 0


@pytest.mark.parametrize("file", MAY_BE_READ)
def test_each_file_covers_what_the_readme_names(file: str) -> None:
    told = scenarios(file)
    tags = {tag for scenario in told for tag in scenario["tags"]}
    readme = (NOTES / "README.md").read_text(encoding="utf-8").rpartition("## Tags")[2]

    assert len(told) >= 150
    assert {tag.strip("`") for tag in readme.replace("·", " ").split()} <= tags
    assert all(len(scenario["notes"]) == len(scenario["expect"]) for scenario in told)


def test_the_bench_prints_its_tables_and_records_nothing_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("bench_of_consolidation", BENCH)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)

    score = Score()
    score.count("entities", 4, 2, 1)
    bench.show("development", {"all": score, "person": score})

    printed = capsys.readouterr().out
    assert "entities" in printed
    assert "50.0   25.0   33.3" in printed
