"""A process is killed in the middle of its writes; afterwards everything acknowledged is there, whole, and found."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crash.writer import AT_THE_END, SEALED, STEPS, text, with_key
from memento.iris import MEM
from memento.model import Scope
from memento.python import Memento, open_memento

WRITER = Path(__file__).with_name("writer.py")


KEY = "a key for the test alone"


def killed(home: Path, first: int, step: str, after: int, wait_s: float | None = None, key: str = "") -> int:
    """Run the writer until it dies; returns one more than the last number it acknowledged."""
    command = [sys.executable, str(WRITER), str(home), str(first), step, str(after), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if wait_s is not None:
            time.sleep(wait_s)
            process.kill()
        acknowledged = [int(line) for line in process.stdout if line.endswith("\n")]
    assert process.returncode == -9
    return acknowledged[-1] + 1 if acknowledged else first


def examine(home: Path, acknowledged: int, key: str = "") -> int:
    """Assert that the memory is whole; returns the number to go on with."""
    # A process that the killed one was just starting holds the lock until it begins its own program.
    with open_memento(home, configured=with_key(key), wait_s=60) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        graph = Scope().graph
        quads = list(memento.service.stores.graph.quads(graph))
        notes = {
            str(value) for _, predicate, value, _ in quads if predicate == MEM.content and str(value).startswith("I ")
        }
        keys = {str(value) for _, predicate, value, _ in quads if predicate == MEM.idempotencyKey}
        # A write that was not acknowledged may be there or not; whatever is there is whole.
        written = len(keys)
        assert written in (acknowledged, acknowledged + 1)
        assert notes == {text(number) for number in range(written)}
        assert len([1 for _, predicate, _, _ in quads if predicate == MEM.extractedFrom]) == written
        assert memento.status().current == min(written, 1)
        if written:
            again = memento.note(text(written - 1), idempotency_key=str(written - 1))
            assert len(again.memories) == 1
            found = memento.recall("Which company do I work at?", k=1).memories
            assert [one.iri for one in found] == list(again.memories)
        return written


def rounds(home: Path, count: int, seed: int, key: str = "") -> None:
    chance = random.Random(seed)
    steps = [*SEALED, "after the store has it", "before the end is noted"] if key else [*STEPS, *AT_THE_END]
    number = 0
    for kill in range(count):
        if kill % 5 == 4:
            died = killed(home, number, "at any time", 0, wait_s=chance.uniform(0.0, 0.15), key=key)
            number = examine(home, died, key)
        else:
            step = steps[(kill - kill // 5) % len(steps)]
            number = examine(home, killed(home, number, step, after=chance.randrange(1, 4), key=key), key)


def test_sixteen_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    rounds(tmp_path / "home", 16, seed=1)


def test_kills_lose_nothing_of_an_encrypted_folder_and_leave_nothing_in_plain_text(tmp_path: Path) -> None:
    home = tmp_path / "home"

    rounds(home, 6, seed=2, key=KEY)

    written = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in written if b"Company" in path.read_bytes() or b"urn:memento:" in path.read_bytes()] == []


@pytest.mark.crash
@pytest.mark.parametrize("key", ["", KEY])
def test_two_hundred_kills_lose_nothing_that_was_acknowledged(tmp_path: Path, key: str) -> None:
    for folder in range(5):
        rounds(tmp_path / str(folder), 40, seed=folder, key=key)
