"""
Remembers and reads until it kills itself in the middle of writing what reading did.

    python reader.py HOME STEP ROUNDS       prints "kept IRI" for each memory, "written N" when N reads of the first one are kept
    python reader.py HOME on 0              prints "read N" for each read, without end: somebody else kills it
"""

from __future__ import annotations

import os
import signal
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

from crash.writer import SETTINGS, deadly, keep_indexes_early
from memento.backends import Backends
from memento.graph.oxigraph import Oxigraph
from memento.python import Memento, open_memento
from memento.search.indexes import Indexes

EARLY = 10
"""Reads that are more than a second old when further ones follow."""

STEPS: dict[str, tuple[object, str, bool]] = {
    "before it is written": (Backends, "reinforce", True),
    "before the store has it": (Oxigraph, "apply", True),
    "after the store has it": (Oxigraph, "apply", False),
    "before the indexes follow": (Indexes, "recount", True),
    "after all of it": (Backends, "reinforce", False),
}


def said(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def read_on(memento: Memento, memory: str, key: str) -> None:
    """Read for ever; ten reads are let pass into a store before the rest."""
    for number in count(1):
        memento.keys.read_memory(memory, via=key)
        said("read", number)
        time.sleep(1.2 if number == EARLY else 0.001)


def main(home: str, step: str, rounds: str) -> None:
    memento: Any = open_memento(Path(home), configured=SETTINGS, command="reader")
    assert isinstance(memento, Memento)
    first = memento.keys.remember("The harbour opens at six.", ["harbour"])
    said("kept", first.saved)
    if step == "on":
        read_on(memento, first.saved, first.keys[0])
    for number in range(int(rounds)):
        kept = memento.keys.remember(
            f"Ship number {number} carries {'abcdefghij'[number % 10] * 9}.", ["harbour", f"ship {number}x"]
        )
        said("kept", kept.saved)
        for _ in range(3):
            memento.keys.read_memory(first.saved, via=first.keys[0])
        memento.service.reinforcement.write_effects()
        said("written", 3 * (number + 1))
    memento.keys.read_memory(first.saved, via=first.keys[0])
    owner, name, before = STEPS[step]
    deadly(owner, name, 0, before=before)
    memento.service.reinforcement.write_effects()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    keep_indexes_early()
    main(*sys.argv[1:])
