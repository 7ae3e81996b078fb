"""
Opens a folder, does with it what is named, and kills itself at a named step of that.

    python dying.py migrate|upgrade|sync HOME STEP AFTER [SHARED]

`migrate` moves it to another embedder, `upgrade` opens one of an earlier version, `sync` takes a turn with the folder SHARED.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crash.writer import SETTINGS, deadly, keep_indexes_early
from memento.archive import upgrade
from memento.graph.oxigraph import Oxigraph
from memento.plugins.guard import exchange
from memento.plugins.guard.ledger import Ledger
from memento.python import Memento, open_memento
from memento.search import vectors
from memento.search.indexes import Indexes
from memento.search.vectors import VectorFile
from memento.service import open as opening
from memento.service.handlers import care

Steps = Mapping[str, tuple[object, str, bool]]
"""By its name what is called at a step: its owner, its name, and whether the process dies before it or after it."""

MIGRATION: Steps = {
    "before the backup": (care, "back_up", True),
    "before vectors are written": (VectorFile, "adopt", True),
    "after vectors are written": (VectorFile, "adopt", False),
    "before the new file is flushed": (VectorFile, "flush", True),
    "before the settings are written": (care, "write_settings", True),
    "after the settings are written": (care, "write_settings", False),
    "when the old file is gone": (vectors, "delete_vector_file", False),
}
UPGRADE: Steps = {
    "before the backup": (opening, "back_up", True),
    "after the backup": (opening, "back_up", False),
    "before it is marked": (VectorFile, "set_mark", True),
    "after it is marked": (VectorFile, "set_mark", False),
    "before edges are written": (Oxigraph, "apply", True),
    "after edges are written": (Oxigraph, "apply", False),
    "before the indexes follow": (Indexes, "refresh", True),
    "after the indexes follow": (Indexes, "refresh", False),
}
SYNC: Steps = {
    "before a patch is written": (exchange, "write_patch", True),
    "after a patch is written": (exchange, "write_patch", False),
    "before a patch has its name": (Ledger, "intend", False),
    "when a patch has its name": (exchange, "record_patches", True),
    "before the ledger has the own patch": (exchange, "note_own", True),
    "after the ledger has the own patch": (exchange, "note_own", False),
    "before what came is looked at": (exchange, "prepare_merge", True),
    "before what came is written": (exchange, "write_merge", True),
    "after what came is written": (exchange, "write_merge", False),
    "before what is gone is blanked": (exchange, "blank_patches", True),
}


def migrate(home: Path, step: str, after: int) -> None:
    """Move a folder to another embedder."""
    upgrade.EMBEDDED_AT_ONCE = 2  # so that a few memories are several writes
    with open_memento(home, configured=SETTINGS) as memento:
        owner, name, before = MIGRATION[step]
        deadly(owner, name, after, before=before)
        memento.admin.migrate(model="trigram", dimensions=64)


def open_earlier(home: Path, step: str, after: int) -> None:
    """Open a folder of an earlier version."""
    upgrade.AT_ONCE = 1
    begin = upgrade.write_missing_edges

    def upgrade_deadly(*args: Any, **named: Any) -> object:
        if step in UPGRADE:  # from here on: to open a folder writes and marks too
            owner, name, before = UPGRADE[step]
            deadly(owner, name, after, before=before)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        return begin(*args, **named)

    vars(opening)["write_missing_edges"] = upgrade_deadly
    with open_memento(home, configured=SETTINGS):
        pass


def take_turn(home: Path, step: str, after: int, shared: Path) -> None:
    """Take a turn with the other machines."""
    with open_memento(home, configured=SETTINGS, resume=False) as memento:
        assert isinstance(memento, Memento)
        owner, name, before = SYNC[step]
        deadly(owner, name, after, before=before)
        memento.admin.sync(shared)


def run_and_die(*words: object) -> None:
    """Run this program; raises `AssertionError` where it does not die."""
    call = [sys.executable, __file__, *map(str, words)]
    done = subprocess.run(call, env={"PYTHONPATH": ":".join(sys.path)}, timeout=120)
    assert done.returncode == -9


def main(what: str, home: str, step: str, after: str, *more: str) -> None:
    if what == "migrate":
        migrate(Path(home), step, int(after))
    elif what == "upgrade":
        keep_indexes_early()
        open_earlier(Path(home), step, int(after))
    else:
        take_turn(Path(home), step, int(after), Path(more[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
