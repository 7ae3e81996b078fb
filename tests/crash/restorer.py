"""
Makes or puts back a backup and kills itself at a named step.

    python restorer.py HOME FOLDER STEP
"""

from __future__ import annotations

import sys
from pathlib import Path

from crash.writer import SETTINGS, deadly, keep_indexes_early
from memento.archive import backup
from memento.graph import backups
from memento.python import Memento, open_memento
from memento.python import restore_folder as restored
from memento.search.vectors import Pinned

TAKING: dict[str, tuple[object, str, bool]] = {
    "before the vectors are copied": (Pinned, "copy", True),
    "before the backup is described": (backup, "encode_manifest", True),
    "before the backup has its name": (backup, "sync_to_disk", False),
}
PUTTING: dict[str, tuple[object, str, bool]] = {
    "before the files lie ready": (backups, "sync_to_disk", True),
    "after the files lie ready": (backups, "sync_to_disk", False),
    "before the mark is set": (backups, "write_mark", True),
    "after the mark is set": (backups, "write_mark", False),
    "before the old files are aside": (Path, "rename", True),
    "after one old file is aside": (Path, "rename", False),
    "before the mark is gone": (Path, "unlink", True),
}


def main(home: str, folder: str, step: str, state: str) -> None:
    if step in TAKING:
        with open_memento(Path(home), configured=SETTINGS) as memento:
            deadly(*TAKING[step][:2], 0, before=TAKING[step][2])
            memento.admin.backup(folder)
    elif state == "open":
        opened = open_memento(Path(home), configured=SETTINGS)
        assert isinstance(opened, Memento)
        with opened:
            deadly(*PUTTING[step][:2], 0, before=PUTTING[step][2])
            opened.admin.restore(folder)
    else:
        deadly(*PUTTING[step][:2], 0, before=PUTTING[step][2])
        restored(home, folder)


if __name__ == "__main__":
    keep_indexes_early()
    main(*sys.argv[1:])
