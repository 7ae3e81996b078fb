"""
Puts a backup in the place of what a data folder holds, which is moved aside and stays.

*Guarantees:* the backup is verified before anything is touched. A kill at any point leaves the memory as it was, or as it is to be:
once the files lie ready beside the old ones a mark says so, and whoever opens the folder next finishes what is marked.

*Flow:* `readied` (verify, copy) → `put` (mark) → `finish` (old ones aside, new ones in, mark away).
"""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from memento.archive.backup import manifest
from memento.archive.backup.taking import put_on_disk
from memento.datadir import Home
from memento.errors import GraphError, InputError
from memento.model import Restored

_OLD = (
    "store",
    "indexes",
    "erased",
    *(f"{name}.sqlite{end}" for name in ("vectors", "blocks") for end in ("", "-wal", "-shm")),
)
"""What goes aside; settings and tokens stay."""
_NEW = ("store", "vectors.sqlite", "memento.toml")
_READY, _MARK = "restore.new", "restore.json"


def readied(folder: Path, home: Home, at: datetime) -> Restored:
    """
    Verify a backup, or the latest in a folder, and lay its files ready for `put`; nothing that is there is touched.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged or newer than this version, or there is no room.
    """
    backup = manifest.chosen(folder)
    made = manifest.verified(backup)
    ready, aside = home.path / _READY, home.path / f"before-restore-{at.strftime('%Y%m%dT%H%M%S.%f')[:-3]}Z"
    try:
        lay_out(backup, ready)
        if (backup / "memento.toml").is_file() and not home.settings.is_file():
            shutil.copyfile(backup / "memento.toml", ready / "memento.toml")
        put_on_disk(ready)
    except OSError as error:
        shutil.rmtree(ready, ignore_errors=True)
        raise InputError(f"{home.path} has no room for the backup: {error.strerror}") from error
    return Restored(folder=str(backup), statements=made.statements, vectors=made.vectors, aside=str(aside))


def lay_out(backup: Path, folder: Path) -> None:
    """Copy store and vectors of a backup into a folder, which holds nothing else afterwards; raises `OSError`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(backup / "store", folder / "store", copy_function=_linked)
    shutil.copyfile(backup / "vectors.sqlite", folder / "vectors.sqlite")


def put(home: Home, restored: Restored) -> None:
    """Let what is readied take the place of what is there; nobody may have the store open."""
    _mark(home, {"aside": Path(str(restored.aside)).name, "is_aside": False})
    finish(home)


def finish(home: Home) -> None:
    """
    Do what a mark says is still to be done; nothing where there is none. Nobody may have the store open.

    Raises:
        GraphError: a file could not be moved; whoever opens the folder next tries again.
    """
    try:
        said = json.loads((home.path / _MARK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    try:
        _finish(home, said)
    except OSError as error:
        raise GraphError(f"{home.path}: the backup is not in its place yet: {error}") from error


def _finish(home: Home, said: dict[str, Any]) -> None:
    ready, aside = home.path / _READY, home.path / said["aside"]
    if not said["is_aside"]:
        aside.mkdir(mode=0o700, exist_ok=True)
        for name in _OLD:
            if (home.path / name).exists():
                (home.path / name).rename(aside / name)
        _mark(home, {**said, "is_aside": True})
    for name in _NEW:
        if (ready / name).exists():
            (ready / name).rename(home.path / name)
    shutil.rmtree(ready, ignore_errors=True)
    (home.path / _MARK).unlink()
    put_on_disk(home.path, deep=False)


def _mark(home: Home, said: dict[str, object]) -> None:
    fresh = home.path / f"{_MARK}.new"
    fresh.write_text(json.dumps(said), encoding="utf-8")
    put_on_disk(fresh, deep=False)
    fresh.replace(home.path / _MARK)
    put_on_disk(home.path, deep=False)


def _linked(source: str, target: str) -> None:
    """A table of the store never changes once it is written, so it can be shared; the store's other files are appended to."""
    try:
        if not source.endswith(".sst"):
            raise OSError
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
