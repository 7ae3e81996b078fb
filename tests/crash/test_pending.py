"""A process is killed while a model understands its notes; afterwards every acknowledged note has been understood exactly once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from crash.pending_writer import ALL_STEPS, AT_ONCE, settings, text
from memento.iris import MEM, PROV
from memento.model import Scope
from memento.python import Memento, open_memento
from scripted import Asked, ScriptedModel
from understanding import Understanding

TESTS = Path(__file__).parents[1]


class Slowly:
    """An understanding model that takes a few milliseconds for each answer, or none once it is told to hurry."""

    def __init__(self, seed: int) -> None:
        self.hurries = False
        self._chance = random.Random(seed)
        self._understanding = Understanding()

    def __call__(self, asked: Asked) -> Any:
        if not self.hurries:
            time.sleep(self._chance.uniform(0.001, 0.02))
        return self._understanding(asked)


def killed(home: Path, model: ScriptedModel, first: int, step: str, after: int, wait_s: float) -> int:
    """Run the writer until it dies; returns one more than the last number it acknowledged."""
    command = [sys.executable, "-m", "crash.pending_writer", str(home), model.openai, str(first), step, str(after)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TESTS) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            process.kill()
        acknowledged = [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.returncode == -9
    return acknowledged[-1] + 1 if acknowledged else first


def rounds(home: Path, kills: int, seed: int) -> None:
    chance, script = random.Random(seed), Slowly(seed)
    steps = [*ALL_STEPS, *["at any time"] * len(ALL_STEPS)]
    with ScriptedModel(script) as model:
        number = 0
        for kill in range(kills):
            step = steps[kill % len(steps)]
            number = killed(home, model, number, step, chance.randrange(AT_ONCE), chance.uniform(0.02, 0.6))
        script.hurries = True
        examine(home, model, number)


def examine(home: Path, model: ScriptedModel, acknowledged: int) -> None:
    """Assert that each note is there once, was understood once, and left one memory."""
    with open_memento(home, configured=settings(model.openai)) as memento:
        assert isinstance(memento, Memento)
        for _ in range(6000):
            if memento.status().pending == 0:
                break
            time.sleep(0.01)
        assert memento.admin.check() == ()
        quads = list(memento.service.stores.graph.quads(Scope().graph))
        runs = list(memento.service.stores.graph.quads(Scope().provenance))
        keys = {subject: int(str(value)) for subject, name, value, _ in quads if name == MEM.idempotencyKey}
        texts = Counter(str(value) for subject, name, value, _ in quads if subject in keys and name == MEM.content)
        memories = Counter(value for _, name, value, _ in quads if name == MEM.extractedFrom)
        used = Counter(value for _, name, value, _ in runs if name == PROV.used)
        states = Counter(str(value) for _, name, value, _ in runs if name == MEM.state)

        # A note that was not acknowledged may be there or not; whatever is there is whole.
        assert acknowledged <= len(keys) <= acknowledged + 1
        assert texts == {text(number): 1 for number in keys.values()}
        assert set(range(acknowledged)) <= set(keys.values())
        assert memories == dict.fromkeys(keys, 1)
        assert used == dict.fromkeys(keys, 1)
        assert states == ({"done": len(keys)} if keys else {})
        employers = [one for one in memento.list(limit=1000) if "works at" in one.content]
        assert len(employers) <= 1


def test_ten_kills_leave_every_note_understood_once(tmp_path: Path) -> None:
    rounds(tmp_path / "home", 10, seed=3)


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(10))
def test_three_hundred_kills_leave_every_note_understood_once(seed: int, tmp_path: Path) -> None:
    rounds(tmp_path / "home", 30, seed)
