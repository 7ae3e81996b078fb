"""
What does it take to understand a note with a model: how many model calls, how much of their time in parallel, how long is the
write, how soon is a note acknowledged that no client waits for, and how long does its SHACL validation take?

Data: a synthetic memory (`synthetic.py`, seeded, random vectors), and a scripted model on loopback whose every answer takes
`--delay` seconds. Baseline: the sum of those delays, the time of running the branches one after the other. Run:
`.venv/bin/python tests/bench/consolidation_model.py [--memories 100000] [--record]`, some minutes on two cores.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest.mock import patch

from measure import record, shown, spread, timed
from memento import backends
from memento.consolidation.write import raise_if_invalid
from memento.datadir import DataFolder
from memento.python import Memento, open_memento
from memento.search.embedders import Cached
from memento.service import understanding
from memento.settings import ConsolidationSettings, GateSettings, ModelSettings, Settings
from recall_scale import written
from scripted import Asked, ScriptedModel, Slow
from synthetic import RandomVectors, World
from understanding import Understanding

T = TypeVar("T")


class Delayed:
    """Answers after a delay, once it has one; counts the questions of each note."""

    def __init__(self) -> None:
        self.delay_s = 0.0
        self.asked = 0
        self._understanding = Understanding()

    def __call__(self, asked: Asked) -> Any:
        self.asked += 1
        return Slow(self.delay_s, self._understanding(asked))


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--notes", type=int, default=20, help="notes of each kind that are timed")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds of each answer")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    script = Delayed()
    with TemporaryDirectory(prefix="memento-bench-") as name, ScriptedModel(script) as model:
        home = DataFolder(Path(name))
        with home:
            written(World(chosen.memories).quads(), home)
        with opened(home.path, model) as memento:
            figures = {
                "memories": chosen.memories,
                **side_by_side(memento, script, chosen.notes, chosen.delay),
                **acknowledged(memento, script, chosen.notes),
            }
    for key, value in figures.items():
        print(shown(key, value) if isinstance(value, dict) else f"{key:<28} {value}")
    record("consolidation_model", figures, chosen.record)
    return figures


def opened(folder: Path, model: ScriptedModel) -> Memento:
    """The memory, with the scripted model, and vectors that need none."""
    configured = Settings(
        gate=GateSettings(on=False),
        model=ModelSettings(provider="openai-compatible", model="slow", base_url=model.openai),
        consolidation=ConsolidationSettings(retries=1000),
    )
    with patch.object(backends, "embedder_of", lambda *_: Cached(RandomVectors(), None)):
        memento = open_memento(folder, configured=configured)
    assert isinstance(memento, Memento)
    return memento


def side_by_side(memento: Memento, script: Delayed, notes: int, delay_s: float) -> dict[str, Any]:
    """Questions a note, wall time over the sum of delays, and the phases that are our own."""
    memento.note("I work at Company in Lisbon.")
    script.delay_s = delay_s
    wall, sums, questions = [], [], []
    writes: list[float] = []
    checks: list[float] = []
    with (
        patch.object(understanding, "_write", timing(understanding._write, writes)),
        patch("memento.service.understanding.raise_if_invalid", timing(raise_if_invalid, checks)),
    ):
        for number in range(notes):
            before = script.asked
            noted, seconds = timed(lambda: memento.note(f"I work at Company{number} in Lisbon."))  # noqa: B023 (called at once)
            assert noted.memories
            questions.append(script.asked - before)
            wall.append(seconds)
            sums.append(questions[-1] * delay_s)
    script.delay_s = 0.0
    return {
        "questions a note, most": max(questions),
        "wall over sum of delays": round(sum(wall) / sum(sums), 3),
        "note with a model": spread(wall),
        "  held against the shapes": spread(checks),
        "  write": spread(writes),
    }


def acknowledged(memento: Memento, script: Delayed, notes: int) -> dict[str, Any]:
    """Until a note is kept that nobody waits for, while others are being understood."""
    script.delay_s = 0.02
    spent = []
    for number in range(5 * notes):
        noted, seconds = timed(lambda: memento.note(f"I like tea number {number}.", wait=False))  # noqa: B023 (called at once)
        assert noted.pending
        spent.append(seconds)
        time.sleep(0.01)
    script.delay_s = 0.0
    return {"note kept, not waited for": spread(spent)}


def timing(work: Callable[..., T], spent: list[float]) -> Callable[..., T]:
    """The same work, with its seconds noted."""

    def timed_work(*args: Any) -> T:
        result, seconds = timed(lambda: work(*args))
        spent.append(seconds)
        return result

    return timed_work


if __name__ == "__main__":
    main()
