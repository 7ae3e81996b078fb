"""Operations that take files, folders and pages in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

_VERBS: Mapping[Interface, str] = {"sexpr": "an expression remembers one text at a time"}


class Ingest(Operation["model.Ingested"], frozen=True):
    """
    Take in a file, all files of a folder, or a page: Markdown, text, source, HTML, PDF, pictures, tables.

    A document becomes pieces, each a memory in its own words, in their order. What is taken in again is read only where it was
    changed; what a document does not say any more, or what is gone from a folder, is retired. One that was stopped goes on where it
    was. Only programs of the machine itself may name a path or an address.

    Raises:
        InputError: the path is none, the file cannot be read, or the page not be fetched; says why.
        Forbidden: the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/ingest"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = _VERBS

    file: Annotated[Text, Meta(description="the whole path of a file or a folder, or the address of a page")]
    dry_run: Annotated[bool, Meta(description="read and count, and write nothing")] = False
    force: Annotated[bool, Meta(description="read again what has not changed, too")] = False
    exclude: Annotated[
        Sequence[str], Meta(description="names to pass over in a folder, as `*.log` or `docs/old/*`")
    ] = ()
    most: (
        Annotated[int, Meta(ge=1, description="most documents to read now; the answer says how many are left")] | None
    ) = None


class IndexProject(Operation["model.Ingested"], frozen=True):
    """
    Take in what a project says of itself: its README, its manifests and settings, 5,000 characters each, and a tree of two levels.

    Once: a project that is known is left as it is, unless it is forced.

    Raises:
        InputError: the path is no folder.
        Forbidden: the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/index"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = _VERBS

    folder: Annotated[Text, Meta(description="the whole path of the project")]
    force: Annotated[bool, Meta(description="read it again")] = False
