"""Operations that keep the memory in order: status, checks, rebuilds, backups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right

if TYPE_CHECKING:
    from memento import model

    Folder = Path | str
else:
    Folder = str


class Status(Operation["model.Status"], frozen=True):
    """Say what the namespace holds and how the service stands."""

    route: ClassVar[str] = "GET /memory/status"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "`stats` has the memory in numbers"}


class Check(Operation["tuple[model.Difference, ...]"], frozen=True):
    """
    Read the store to its end, and compare indexes and shapes with the graph; an empty answer when all is well.

    Raises:
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "GET /memory/check"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "it concerns the whole data folder",
        "sexpr": "it concerns the whole data folder",
    }


class Rebuild(Operation["int"], frozen=True):
    """
    Make every index from the graph alone; answers with how many texts were embedded or taken from the cache.

    Raises:
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "POST /memory/rebuild"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "it concerns the whole data folder",
        "sexpr": "it concerns the whole data folder",
    }


class Backup(Operation["model.BackedUp"], frozen=True):
    """
    Make a backup while the memory is in use: store and vectors as they are at one instant, and the settings, without tokens.

    Raises:
        InputError: other things are in the folder, or it cannot be written.
        Damaged: the store's files cannot be read to their end; older backups stay.
        Forbidden: the caller may not care for the whole data folder, or not name a folder.
    """

    route: ClassVar[str] = "POST /memory/backup"
    right: ClassVar[Right] = "admin"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "it concerns the whole data folder",
        "sexpr": "it concerns the whole data folder",
    }

    folder: (
        Annotated[
            Folder,
            Meta(description="where to put it, on the machine of the service; default `backups` in the data folder"),
        ]
        | None
    ) = None
    keep: Annotated[int, Meta(ge=1, description="how many of the latest to leave there; default all")] | None = None


class Restore(Operation["model.Restored"], frozen=True):
    """
    Let a backup be the memory from now on; what was here is moved aside and stays.

    Tokens stay as they are, settings too where there are some.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged, or newer than this version; the memory is as it was.
        Forbidden: the caller may not care for the whole data folder, or not name a folder.
    """

    route: ClassVar[str] = "POST /memory/restore"
    right: ClassVar[Right] = "admin"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "it concerns the whole data folder",
        "sexpr": "it concerns the whole data folder",
    }

    folder: (
        Annotated[
            Folder,
            Meta(description="a backup, or a folder of backups, of which the latest is taken; default as for `backup`"),
        ]
        | None
    ) = None
