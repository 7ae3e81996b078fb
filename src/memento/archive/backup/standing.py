"""
A backup in the place of a store that cannot be opened: copied aside and read there, until one is put back for good.

*Guarantees:* nothing is written to what is damaged, nor to the backup.

*Flow:* `stand_in` (the newest backup that is whole → {home}/standing-in) → `stand_back` (the folder itself again).
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from memento.archive.backup import manifest
from memento.archive.backup.putting import lay_out
from memento.datadir import Home
from memento.errors import Damaged, GraphError, InputError
from memento.graph.exact import Exact
from memento.model import Degraded

logger = logging.getLogger(__name__)


def look_for_store(home: Home) -> None:
    """Raises `Damaged` when a folder has backups of a store, and no store: an empty one in its place would hide the loss."""
    is_there = home.store.is_dir() and any(home.store.iterdir())
    if not is_there and (found := _candidates(home)):
        raise Damaged(
            f"the store {home.store} is not there, but {found[0]} is a backup of it; "
            f"move {home.checkpoints} and {home.backups} away to begin with an empty memory"
        )


def stand_in(home: Home, damage: Damaged) -> Degraded:
    """
    Let the newest backup in the folder that is whole be read in the place of the store.

    Raises:
        Damaged: there is none.
    """
    unfit = []
    for backup in _candidates(home):
        try:
            made = manifest.verified(backup)
            lay_out(backup, home.standing_in)
        except (InputError, OSError) as error:
            logger.warning("backup.unfit", extra={"folder": str(backup), "error": type(error).__name__})
            unfit.append(str(error))
            continue
        home.stand_in(on=True)
        logger.error("store.damaged", extra={"stands-in": str(backup)})
        return Degraded(reason=str(damage), backup=str(backup), at=made.at)
    none = f"no backup of it is in {home.path}"
    why = f"none of the {len(unfit)} in {home.path} fits: {'; '.join(unfit)}" if unfit else none
    raise Damaged(f"{damage}, and {why}. {way_out(home)}") from damage


def way_out(home: Home) -> str:
    """What can be done where neither the store nor a backup in the folder can be read."""
    return (
        "Put a backup of another disk or machine in its place with `memento restore FOLDER`; or move "
        f"{home.path} away to begin with an empty memory, into which `memento import` brings an export"
    )


def stand_back(home: Home) -> None:
    """Turn to the folder itself again, and delete the copy; nobody may have it open. Harmless when none stands in."""
    home.stand_in(on=False)
    shutil.rmtree(home.standing_in, ignore_errors=True)


def usual(home: Home) -> Path:
    """
    Which backup is meant where none is named: the one that stands in for a store that cannot be opened; else the latest that
    somebody made, or the latest checkpoint.
    """
    found = _candidates(home)
    if not found or (is_sound(home) and manifest.backups(home.backups)):
        return home.backups
    return found[0]


def is_sound(home: Home) -> bool:
    """Whether the store of a folder that nobody has open can be opened."""
    try:
        Exact.read_only(home.path / "store")
    except GraphError:
        return False
    return True


def _candidates(home: Home) -> list[Path]:
    """The backups in a data folder, newest first, whoever made them."""
    found = [*manifest.backups(home.backups), *manifest.backups(home.checkpoints)]
    return sorted(found, key=lambda path: path.name, reverse=True)
