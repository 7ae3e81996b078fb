"""Operations that read in files, folders, pages, and what agents have written on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import File, Interface, Operation, Right, Text
from memento.operations.notes import WHOSE

if TYPE_CHECKING:
    from memento.plugins.intake import nouns

NOUNS = "memento.plugins.intake.nouns"


class Ingest(Operation["nouns.Ingested"], frozen=True):
    """
    Ingest a file, all files of a folder, or a page: Markdown, text, source, HTML, PDF, pictures, tables.

    A document is split into pieces, in order; each piece becomes a memory with its text unchanged. When you ingest it again, only
    what changed is read; what is no longer in the document, or in the folder, is retired. An ingest that was stopped continues
    where it was. Only programs on the service's own machine may name a path or an address.

    Raises:
        InputError: there is no such path, the file cannot be read, or the page cannot be fetched; the message says why.
        Forbidden: the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/ingest"
    reports_progress: ClassVar[bool] = True
    over_http: ClassVar[str] = "memento.plugins.intake.portions:ingest_in_portions"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)

    file: Annotated[
        Text,
        Meta(description="the absolute path of a file or a folder, or the address of a page", extra={"is_path": True}),
    ]
    dry_run: Annotated[bool, Meta(description="read and count, and write nothing")] = False
    force: Annotated[bool, Meta(description="also read again what has not changed")] = False
    exclude: Annotated[
        Sequence[str], Meta(description="names to skip in a folder, such as `*.log` or `docs/old/*`")
    ] = ()
    most: (
        Annotated[int, Meta(ge=1, description="most documents to read now; the answer says how many are left")] | None
    ) = None
    source: Annotated[
        Text | None, Meta(description="how it came in, as a short word such as `import`; default explicit")
    ] = None


class IndexProject(Operation["nouns.Ingested"], frozen=True):
    """
    Ingest a project's description of itself: README, manifests and settings, 5,000 characters each, and a tree of two levels.

    A project that is known already is left as it is, unless `force` is true.

    Raises:
        InputError: the path is no folder.
        Forbidden: the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/index"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)

    folder: Annotated[Text, Meta(description="the absolute path of the project", extra={"is_path": True})]
    force: Annotated[bool, Meta(description="read it again")] = False


class MemoryFile(Operation["nouns.FileAnswer"], frozen=True):
    """
    Run a command of Claude's memory tool on the files below `/memories`.

    The content of a file is remembered: each paragraph and each list item is a memory with its text unchanged. Recall finds it, and
    an edit retires what it removes. Answers and errors have the wording published for the tool; `failed` tells them apart.

    Raises:
        InputError: an argument that the command needs is missing.
        TooLong: the text of the file is over `limits.text_bytes`.
    """

    route: ClassVar[str] = "POST /memory/files"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "the memory tool is run by the program that asks the model; over MCP a model notes and recalls",
    }

    command: Annotated[
        Literal["view", "create", "str_replace", "insert", "delete", "rename"], Meta(description="what to do")
    ]
    path: Annotated[str, Meta(description="the file or the folder, such as `/memories/notes.txt`")] | None = None
    view_range: Annotated[
        Sequence[int] | None, Meta(description="view: the first and the last line to show, from 1; -1 is the end")
    ] = None
    file_text: Annotated[str, Meta(description="create: the text of the new file")] | None = None
    old_str: Annotated[
        str | None, Meta(description="str_replace: the text to replace, which must be in the file exactly once")
    ] = None
    new_str: Annotated[str, Meta(description="str_replace: the new text; default nothing")] | None = None
    insert_line: Annotated[int, Meta(description="insert: the line to insert after; 0 is the beginning")] | None = None
    insert_text: Annotated[str, Meta(description="insert: the lines to insert")] | None = None
    old_path: Annotated[str, Meta(description="rename: the current path")] | None = None
    new_path: Annotated[str, Meta(description="rename: the new path")] | None = None


class Adopt(Operation["nouns.Adopted"], frozen=True):
    """
    Find what Claude Code, Codex, Gemini, Cursor, Windsurf, Cline and Copilot have written on this machine; with `apply`, note it.

    Rules and memory files are kept word for word, a paragraph or list item each; of sessions, the user's own turns are noted. What
    is already remembered is skipped. Only the named folders are read, and no link that leads out of them. `undo_import` takes out
    again what was brought in.

    Raises:
        InputError: a folder is missing, or an agent is unknown; names it.
        Forbidden: the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/adopt"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = WHOSE

    projects: Annotated[
        Sequence[str], Meta(description="the folders of projects to look in, by absolute path", extra={"is_path": True})
    ] = ()
    user_home: Annotated[
        File | None,
        Meta(description="the home folder in which agents keep their own; default that of the service's user"),
    ] = None
    agents: Annotated[
        Sequence[str],
        Meta(description="only these: claude-code, codex, gemini, cursor, windsurf, cline, copilot; default all"),
    ] = ()
    sessions: Annotated[bool, Meta(description="false leaves the sessions out")] = True
    apply: Annotated[bool, Meta(description="true notes what was found; else nothing is written")] = False
