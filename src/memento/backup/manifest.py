"""What a backup says of itself, `manifest.json`: its format, its counts, and a checksum of every file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path

from memento.errors import InputError, NotFound

FORMAT = 1
"""Raise it when what is in a backup changes."""
NAME = "manifest.json"

_TIME = re.compile(r"\d{8}T\d{6}\.\d{3}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    `memento` is the version that made it, `at` when. `statements` counts those of the store, `vectors` the nodes that have some,
    by the embedder of the `fingerprint`. `files` has length and SHA-256 by path within the backup.
    """

    format: int
    memento: str
    at: str
    statements: int
    vectors: int
    fingerprint: str
    files: Mapping[str, tuple[int, str]]

    @property
    def bytes(self) -> int:
        """How much room it takes where nothing is shared."""
        return sum(length for length, _ in self.files.values())


def made_at(backup: Path) -> datetime:
    """
    When a backup was made, by its name.

    >>> made_at(Path("/mnt/20260301T090000.250Z")).isoformat()
    '2026-03-01T09:00:00.250000+00:00'
    """
    return datetime.strptime(backup.name, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)


def backups(folder: Path) -> list[Path]:
    """The whole backups in a folder, oldest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if _TIME.fullmatch(path.name) and (path / NAME).is_file())


def chosen(folder: Path) -> Path:
    """
    The backup that a folder is, or the latest of those in it.

    Raises:
        NotFound: it is none and has none.
    """
    if (folder / NAME).is_file():
        return folder
    found = backups(folder)
    if not found:
        raise NotFound(f"{folder} has no backup in it: `memento backup {folder}` makes one")
    return found[-1]


def of(files: Path) -> dict[str, tuple[int, str]]:
    """Length and checksum of every file below a folder, by its path within."""
    found = {}
    for path in sorted(files.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                found[path.relative_to(files).as_posix()] = (
                    path.stat().st_size,
                    file_digest(file, "sha256").hexdigest(),
                )
    return found


def written(manifest: Manifest) -> str:
    """`manifest.json`."""
    return json.dumps(asdict(manifest), indent=1)


def verified(backup: Path) -> Manifest:
    """
    What a backup says of itself, once every file in it is what it says.

    Raises:
        InputError: it is damaged, or made by a version that is newer than this one; names the file.
    """
    try:
        said = json.loads((backup / NAME).read_text(encoding="utf-8"))
        made_by, newest = said.get("format"), said.get("memento")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"the backup {backup} is damaged: {NAME} cannot be read") from error
    if not isinstance(made_by, int) or made_by > FORMAT:
        raise InputError(
            f"the backup {backup} was made by Memento {newest}, which is newer: install that version first"
        )
    try:
        files = {str(name): (int(length), str(mark)) for name, (length, mark) in said.pop("files").items()}
        manifest = Manifest(**said, files=files)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"the backup {backup} is damaged: {NAME} does not say what it should") from error
    found = of(backup)
    found.pop(NAME, None)
    if wrong := sorted({name for name in found.keys() | files.keys() if found.get(name) != files.get(name)}):
        raise InputError(
            f"the backup {backup} is damaged: {wrong[0]} is not as it was ({len(wrong)} of {len(files)} files)"
        )
    return manifest
