"""A process is killed while it writes what reading did: that may be lost, a memory is not, and the graph stays whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crash.reader import EARLY, STEPS
from crash.writer import SETTINGS
from memento.iris import IRI
from memento.python import Memento, open_memento

READER = Path(__file__).with_name("reader.py")
ROUNDS = 2


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_loses_no_memory_and_no_reading_that_was_written(tmp_path: Path, step: str) -> None:
    command = [sys.executable, str(READER), str(tmp_path), step, str(ROUNDS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=_environment())
    told = [line.split() for line in done.stdout.splitlines()]
    kept = [iri for what, iri in told if what == "kept"]
    written = max(int(count) for what, count in told if what == "written")

    assert done.returncode == -9
    assert len(kept) == 1 + ROUNDS
    with open_memento(tmp_path, configured=SETTINGS) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        assert {one.iri for one in memento.list()} == set(kept)
        strength = memento.service.reinforcement.read_numbers(IRI(kept[0]))
        assert strength.access_count in (written, written + 1)
        assert strength.depth == pytest.approx(0.05 * strength.access_count)
        [link] = memento.keys.read_memory(kept[0]).keys
        assert link.weight == pytest.approx(1 + 0.1 * strength.access_count)


def test_a_kill_from_outside_loses_the_reading_of_the_last_second_at_most(tmp_path: Path) -> None:
    command = [sys.executable, str(READER), str(tmp_path), "on", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as reader:
        assert reader.stdout is not None
        told = [reader.stdout.readline().split() for _ in range(1 + EARLY + 20)]
        reader.kill()
        told += [line.split() for line in reader.stdout]
    kept = [iri for what, iri in told if what == "kept"]
    read = max(int(number) for what, number in told if what == "read")

    assert reader.returncode == -9
    with open_memento(tmp_path, configured=SETTINGS) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        assert [one.iri for one in memento.list()] == kept
        strength = memento.living.strength(kept[0])
        assert EARLY <= strength.access_count <= read + 1
        assert strength.depth == pytest.approx(min(0.05 * strength.access_count, 1.0))


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": f"{READER.parents[1]}:{os.environ.get('PYTHONPATH', '')}"}
