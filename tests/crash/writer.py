"""
Writes notes until it is killed, or kills itself at a named step of the n-th write.

    python writer.py HOME FIRST STEP AFTER [KEY]    prints "ready", then one number for each note that was acknowledged

With a KEY the folder is an encrypted one, whose journal is made an archive as often as can be.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from memento.backends import Backends
from memento.graph.oxigraph import Oxigraph
from memento.plugins.guard import vault
from memento.plugins.guard.settings import EncryptionSettings
from memento.python import open_memento
from memento.search import cache
from memento.search.indexes import Indexes
from memento.search.vectors import VectorFile
from memento.search.words import Words
from memento.settings import EmbeddingSettings, Settings

SETTINGS = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))


def with_key(key: str) -> Settings:
    """The settings for a folder that is encrypted with a key; without one, those of a plain folder."""
    return replace(SETTINGS, encryption=EncryptionSettings(key=key)) if key else SETTINGS


def text(number: int) -> str:
    """The n-th note: a new employer each time, so that every write also retires a memory."""
    return f"I work at Company{number} now."


def keep_indexes_early() -> None:
    """Let indexes be kept however few nodes they have, so that every start but the first begins with what an earlier one kept."""
    cache.FEWEST = 1
    cache.LATE = 0


def deadly(owner: object, name: str, after: int, *, before: bool) -> None:
    """Let the process die at the n-th call of a method, before or after it does its work."""
    method: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def wrapped(self: object, *args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls > after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(self, *args, **named)
        if calls > after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, wrapped)


STEPS: dict[str, tuple[object, str, bool]] = {
    "before the change is written": (Backends, "commit", True),
    "before the store has it": (Oxigraph, "apply", True),
    "after the store has it": (Oxigraph, "apply", False),
    "before the indexes follow": (Indexes, "refresh", True),
    "before the vectors are kept": (VectorFile, "write_entries", True),
    "after the vectors are kept": (VectorFile, "write_entries", False),
    "before the indexes are set": (Words, "apply", True),
    "after all of it": (Backends, "commit", False),
}
AT_THE_END: dict[str, tuple[object, str, bool]] = {
    "before the indexes are kept": (cache, "write_folder", True),
    "between keeping the indexes and saying so": (cache, "write_folder", False),
    "before what was touched is let go of": (VectorFile, "forget_touches", True),
    "after the indexes are kept": (cache, "save", False),
    "before the end is noted": (cache, "note_closed", True),
}


SEALED: dict[str, tuple[object, str, bool]] = {
    "before the journal has it": (vault.Journal, "_append", True),
    "after the journal has it": (vault.Journal, "_append", False),
    "in the midst of a record": (vault, "_write_whole", True),
    "before the archive is written": (vault.Vault, "seal_folder", True),
    "before the journal goes": (vault.Journal, "drop", True),
    "after the journal is gone": (vault.Journal, "drop", False),
}


def die_within_a_record(after: int) -> None:
    """Let the process die when half of the n-th record is in the journal."""
    write, calls = vault._write_whole, 0

    def wrapped(file: int, data: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls > after + 1:
            write(file, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write(file, data)

    vault._write_whole = wrapped


def main(home: str, first: str, step: str, after: str, key: str = "") -> None:
    vault.LONG, vault.LONG_SHARE = 2_000, 0.0
    with open_memento(Path(home), configured=with_key(key), command="writer") as memento:
        if step == "in the midst of a record":
            die_within_a_record(int(after))
        elif step in STEPS or step in SEALED:
            owner, name, before = {**STEPS, **SEALED}[step]
            deadly(owner, name, int(after), before=before)
        if step in AT_THE_END:
            owner, name, before = AT_THE_END[step]
            deadly(owner, name, 0, before=before)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for number in range(int(first), int(first) + 10_000):
            memento.note(text(number), idempotency_key=str(number))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            if step in AT_THE_END and number - int(first) >= int(after):
                return


if __name__ == "__main__":
    keep_indexes_early()
    main(*sys.argv[1:])
