"""The operation that synchronises machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import File, Interface, Operation, Right

if TYPE_CHECKING:
    from memento.plugins.guard import nouns

GROUP = "admin"
NOUNS = "memento.plugins.guard.nouns"


class Sync(Operation["nouns.Synced"], frozen=True):
    """
    Synchronise the memory with those of other machines through a folder that all of them can reach, in a cloud or on a USB stick.

    Each machine writes its changes there as numbered patches and applies those of the others, all or nothing and in any order. A
    patch is only changed to remove what was erased. What was said on several machines is all kept; `disputes` lists what can hardly
    both be true. What is forgotten or erased on one machine is so on all.

    Raises:
        InputError: a patch is damaged or missing, by name, or the folder cannot be written; nothing is applied.
        ShapeViolation: a patch would break a shape.
        Forbidden: the caller may not administer the whole data folder, or may not name a folder.
    """

    route: ClassVar[str] = "POST /memory/sync"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    fails: ClassVar[tuple[int, ...]] = (422,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "it concerns the whole data folder"}

    folder: Annotated[File, Meta(description="the folder with the patches, on the machine of the service")]
    dry_run: Annotated[bool, Meta(description="only say what would be sent and applied, and change nothing")] = False
