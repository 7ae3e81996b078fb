"""
Moves a folder to another embedder and kills itself at a named step.

    python migrator.py HOME STEP AFTER
"""

from __future__ import annotations

import sys
from pathlib import Path

from crash.writer import SETTINGS, deadly
from memento.archive import upgrade
from memento.python import open_memento
from memento.search import vectors
from memento.search.vectors import VectorFile
from memento.service.handlers import care

# So that a few memories are several writes.
upgrade.EMBEDDED_AT_ONCE = 2

STEPS: dict[str, tuple[object, str, bool]] = {
    "before the backup": (care, "back_up", True),
    "before vectors are written": (VectorFile, "adopt", True),
    "after vectors are written": (VectorFile, "adopt", False),
    "before the new file is flushed": (VectorFile, "flush", True),
    "before the settings are written": (care, "write_settings", True),
    "after the settings are written": (care, "write_settings", False),
    "when the old file is gone": (vectors, "delete_vector_file", False),
}


def main(home: str, step: str, after: str) -> None:
    with open_memento(Path(home), configured=SETTINGS) as memento:
        owner, name, before = STEPS[step]
        deadly(owner, name, int(after), before=before)
        memento.migrate(model="trigram", dimensions=64)


if __name__ == "__main__":
    main(*sys.argv[1:])
