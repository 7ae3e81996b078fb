"""
Which pairs of facts are reported as rivals, and which unrelated notes are reported as disputed?

Data: 80 pairs of invented sentences (`tests/consolidation/notes/pairs.jsonl`), half of them rivals over many relations and half
near misses, each pair in a separate namespace; and 40 notes of a daily life (`daily.txt`), none of which disputes another.
Run: `.venv/bin/python tests/bench/rivals.py [--misses] [--model minilm] [--record]`, some seconds.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure import fresh_memory, record
from memento.python import Memento

NOTES = Path(__file__).parents[1] / "consolidation" / "notes"


@dataclass(slots=True)
class Figures:
    """How many rivals were found, how many pairs were wrongly taken for rivals, and what is senselessly in dispute."""

    found: int = 0
    expected: int = 0
    wrong: int = 0
    misses: list[str] = field(default_factory=list)
    senseless: list[str] = field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> Figures:
    """Print the figures; returns them."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--misses", action="store_true", help="print the pairs that are judged wrongly")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    with fresh_memory(chosen.model) as memento:
        figures = judge_pairs(memento)
        figures.senseless = list_senseless(memento)
    print(
        f"rivals found {figures.found} of {figures.expected}, near misses taken for rivals {figures.wrong},"
        f" senseless disputes among 40 notes {len(figures.senseless)}"
    )
    if chosen.misses:
        print("\n".join([*figures.misses, *figures.senseless]))
    record(
        "rivals", {"found": figures.found, "wrong": figures.wrong, "senseless": len(figures.senseless)}, chosen.record
    )
    return figures


def judge_pairs(memento: Memento) -> Figures:
    """Tell each pair to a namespace of its own, and count what became of it."""
    figures = Figures()
    for line in (NOTES / "pairs.jsonl").read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        memento.note(pair["old"], at="2026-01-10", namespace=pair["id"])
        told = memento.note(pair["new"], at="2026-03-10", namespace=pair["id"])
        linked = bool(told.invalidated or memento.review.disputes(namespace=pair["id"]))
        figures.expected += pair["rivals"]
        figures.found += linked and pair["rivals"]
        figures.wrong += linked and not pair["rivals"]
        if linked != pair["rivals"]:
            figures.misses.append(f"{pair['id']} {pair['relation']}: {pair['old']} · {pair['new']}")
    return figures


def list_senseless(memento: Memento) -> list[str]:
    """List what is in dispute after a daily life that disputes nothing."""
    for line in (NOTES / "daily.txt").read_text(encoding="utf-8").splitlines():
        day, text = line.split(" ", 1)
        memento.note(text, at=day, namespace="daily")
    return [" · ".join(one.contents) for one in memento.review.disputes(namespace="daily")]


if __name__ == "__main__":
    main()
