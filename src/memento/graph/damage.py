"""What is wrong with a store that fails: damage, which only a backup mends, or something that passes or is to be put right."""

from __future__ import annotations

from pathlib import Path

from memento.errors import Damaged, GraphError

_WHOLE = (
    "lock hold by",
    "While lock file",
    "No space left",
    "Permission denied",
    "Too many open files",
    "Read-only file system",
)
"""What the engine says when the files themselves are as they were: another process has them, or the machine is in the way."""


def looked_at(folder: Path) -> None:
    """
    Look at a store before it is opened: where the file is gone by which the engine knows the others, it would begin an empty store
    in their place.

    Raises:
        Damaged: there are files of a store, and that one is not among them.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "CURRENT").is_file():
        raise Damaged(f"the store {folder} is damaged: its file CURRENT is missing")


def opening(folder: Path, error: Exception) -> GraphError:
    """What an exception of the engine means that came as it opened a store."""
    said = f"the store {folder} cannot be opened: {error}"
    return GraphError(said) if any(words in str(error) for words in _WHOLE) else Damaged(said)


def met(error: Exception, where: str) -> GraphError:
    """What an exception of the engine means that came as it read or wrote; `where` is the query, in words."""
    said = f"the store failed{where}: {error}"
    return Damaged(said) if str(error).startswith("Corruption") else GraphError(said)
