"""
Watch a folder and take in its files as they arrive: a file is read, then moved to `processed/`, or to `failed/`; a
file `.reason` beside it says what could not be read.

*Guarantees:* files that are already there are taken in first. A file that is still being written is taken in only once its length
and time have not changed for half a second. If the process died after it took a file in and before it moved it, the file is
recognised when it is taken in again.

*But:* subfolders, hidden files and links are skipped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

from memento.errors import InputError, MementoError
from memento.plugins.intake.code import MISSING

DEBOUNCE_MS = 500
PROCESSED, FAILED = "processed", "failed"

Take = Callable[[Path], tuple[str, Sequence[str]]]
"""Takes a file in and returns a description of the result, and the rows of the file that could not be read."""


def drain_inbox(folder: Path, take: Take) -> Iterator[tuple[Path, str, bool]]:
    """
    Take in every file of an inbox, oldest first; yield its path, the result, and whether it succeeded.

    Raises:
        MementoError: the memory itself cannot be written; the file stays in the inbox.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in _list_files(folder):
        if not _stands_still(path):
            continue
        try:
            (said, refused), is_well = take(path), True
        except InputError as error:
            said, refused, is_well = str(error), (str(error),), False
        moved = _move(path, folder / (PROCESSED if is_well else FAILED))
        if refused:
            text = "".join(f"{one}\n" for one in refused)
            moved.with_name(f"{moved.name}.reason").write_text(text, encoding="utf-8")
            said = f"{said}; {len(refused):,} rows could not be read, see {moved.name}.reason" if is_well else said
        yield path, said, is_well


def watch_inbox(folder: Path, take: Take, stopping: Event | None = None) -> Iterator[tuple[Path, str, bool]]:
    """
    Do the same for every file that arrives, for ever or until `stopping` is set.

    Raises:
        InputError: the library that watches folders is not installed.
        MementoError: as for `drain_inbox`.
    """
    try:
        from watchfiles import watch
    except ImportError as error:
        raise InputError(f"what watches folders is not installed: {MISSING}") from error
    folder.mkdir(parents=True, exist_ok=True)
    yield from drain_inbox(folder, take)
    changes = watch(
        folder, recursive=False, debounce=DEBOUNCE_MS, stop_event=stopping, rust_timeout=2_000, yield_on_timeout=True
    )
    for _ in changes:
        yield from drain_inbox(folder, take)


def _list_files(folder: Path) -> list[Path]:
    found = [one for one in folder.iterdir() if one.is_file() and not one.is_symlink() and not one.name.startswith(".")]
    times = {one: one.stat().st_mtime_ns for one in found if one.exists()}
    return sorted(times, key=lambda one: (times[one], one))


def _stands_still(path: Path) -> bool:
    """Tell whether a file is complete; if it changed just now, wait for half a second and look again."""
    try:
        before = path.stat()
        if time.time() - before.st_mtime < DEBOUNCE_MS / 1000:
            time.sleep(DEBOUNCE_MS / 1000)
        after = path.stat()
    except OSError:
        return False
    return (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def _move(path: Path, folder: Path) -> Path:
    """Move a file into a folder; if its name is taken there, append a number."""
    folder.mkdir(exist_ok=True)
    target, number = folder / path.name, 1
    while target.exists():
        number += 1
        target = folder / f"{path.stem}-{number}{path.suffix}"
    try:
        return path.replace(target)
    except OSError as error:
        raise MementoError(f"{path} cannot be moved to {folder}: {error.strerror}") from error
