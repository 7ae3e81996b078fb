"""
Remembers and reads until it kills itself in the middle of writing what reading did.

    python reader.py HOME STEP ROUNDS       prints "kept IRI" for each memory, "written N" when N reads of the first one are kept
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from crash.writer import SETTINGS, deadly
from memento.backends import Backends
from memento.graph.oxigraph import Oxigraph
from memento.search.indexes import Indexes
from memento.service import Memento, open_memento

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


def main(home: str, step: str, rounds: str) -> None:
    memento: Any = open_memento(Path(home), configured=SETTINGS, command="reader")
    assert isinstance(memento, Memento)
    first = memento.remember("The harbour opens at six.", ["harbour"])
    said("kept", first.saved)
    for number in range(int(rounds)):
        kept = memento.remember(
            f"Ship number {number} carries {'abcdefghij'[number % 10] * 9}.", ["harbour", f"ship {number}x"]
        )
        said("kept", kept.saved)
        for _ in range(3):
            memento.read_memory(first.saved, via=first.keys[0])
        memento._reinforcement.write()
        said("written", 3 * (number + 1))
    memento.read_memory(first.saved, via=first.keys[0])
    owner, name, before = STEPS[step]
    deadly(owner, name, 0, before=before)
    memento._reinforcement.write()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(*sys.argv[1:])
