"""
Opens a folder of an earlier version and kills itself at a named step of its upgrade.

    python upgrader.py HOME STEP AFTER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from crash.writer import SETTINGS, deadly, keep_indexes_early
from memento.archive import upgrade
from memento.graph.oxigraph import Oxigraph
from memento.python import open_memento
from memento.search.indexes import Indexes
from memento.search.vectors import VectorFile
from memento.service import open as opening

# So that a few memories are several writes.
upgrade.AT_ONCE = 1

STEPS: dict[str, tuple[object, str, bool]] = {
    "before the backup": (opening, "back_up", True),
    "after the backup": (opening, "back_up", False),
    "before it is marked": (VectorFile, "set_mark", True),
    "after it is marked": (VectorFile, "set_mark", False),
    "before edges are written": (Oxigraph, "apply", True),
    "after edges are written": (Oxigraph, "apply", False),
    "before the indexes follow": (Indexes, "refresh", True),
    "after the indexes follow": (Indexes, "refresh", False),
}


def main(home: str, step: str, after: str) -> None:
    begin = upgrade.write_missing_edges

    def upgrade_deadly(*args: Any, **named: Any) -> object:
        if step in STEPS:  # from here on: to open a folder writes and marks too
            owner, name, before = STEPS[step]
            deadly(owner, name, int(after), before=before)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        return begin(*args, **named)

    vars(opening)["write_missing_edges"] = upgrade_deadly
    with open_memento(Path(home), configured=SETTINGS):
        pass


if __name__ == "__main__":
    keep_indexes_early()
    main(*sys.argv[1:])
