"""What the rules make of the labelled notes that were read while they were written; the bench prints the other half too."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from labelled import NOTES, Score, scenarios, tagged

BENCH = Path(__file__).parents[2] / "bench" / "consolidation.py"


@pytest.fixture(scope="module")
def development() -> Score:
    return tagged("development")["all"]


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        ("entities", 0.97, 0.97),
        ("memories", 0.8, 0.95),
        ("validAt", 0.97, 0.97),
        ("eventAt", 0.95, 0.95),
        ("invalidations", 0.97, 0.9),
    ],
)
def test_the_development_half_is_understood(development: Score, measure: str, precision: float, recall: float) -> None:
    assert development.precision(measure) >= precision
    assert development.recall(measure) >= recall


def test_nothing_becomes_a_fact_that_is_none(development: Score) -> None:
    assert development.found["must not"] == 0


def test_the_development_half_covers_what_its_readme_names() -> None:
    told = scenarios("development")
    tags = {tag for scenario in told for tag in scenario["tags"]}
    readme = (NOTES / "README.md").read_text(encoding="utf-8").rpartition("## Tags")[2]

    assert len(told) >= 150
    assert {tag.strip("`") for tag in readme.replace("·", " ").split()} <= tags
    assert all(len(scenario["notes"]) == len(scenario["expect"]) for scenario in told)


def test_the_bench_prints_both_tables_and_records_nothing_unasked(capsys: pytest.CaptureFixture[str]) -> None:
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
