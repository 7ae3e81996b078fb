"""Operations that read in files, folders, pages, and what was said in sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import File, Interface, Iri, Limit, Offset, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model


class Ingest(Operation["model.Ingested"], frozen=True):
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
    source: (
        Annotated[Text, Meta(description="how it came in, as a short word such as `import`; default explicit")] | None
    ) = None


class IndexProject(Operation["model.Ingested"], frozen=True):
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


class MemoryFile(Operation["model.FileAnswer"], frozen=True):
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
    view_range: (
        Annotated[Sequence[int], Meta(description="view: the first and the last line to show, from 1; -1 is the end")]
        | None
    ) = None
    file_text: Annotated[str, Meta(description="create: the text of the new file")] | None = None
    old_str: (
        Annotated[str, Meta(description="str_replace: the text to replace, which must be in the file exactly once")]
        | None
    ) = None
    new_str: Annotated[str, Meta(description="str_replace: the new text; default nothing")] | None = None
    insert_line: Annotated[int, Meta(description="insert: the line to insert after; 0 is the beginning")] | None = None
    insert_text: Annotated[str, Meta(description="insert: the lines to insert")] | None = None
    old_path: Annotated[str, Meta(description="rename: the current path")] | None = None
    new_path: Annotated[str, Meta(description="rename: the new path")] | None = None


_WHOSE: Mapping[Interface, str] = {
    "mcp": "what comes in from other programs, and goes again, is for the user to decide",
}


class Adopt(Operation["model.Adopted"], frozen=True):
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
    absent: ClassVar[Mapping[Interface, str]] = _WHOSE

    projects: Annotated[
        Sequence[str], Meta(description="the folders of projects to look in, by absolute path", extra={"is_path": True})
    ] = ()
    user_home: (
        Annotated[
            File, Meta(description="the home folder in which agents keep their own; default that of the service's user")
        ]
        | None
    ) = None
    agents: Annotated[
        Sequence[str],
        Meta(description="only these: claude-code, codex, gemini, cursor, windsurf, cline, copilot; default all"),
    ] = ()
    sessions: Annotated[bool, Meta(description="false leaves the sessions out")] = True
    apply: Annotated[bool, Meta(description="true notes what was found; else nothing is written")] = False


class Imports(Operation["tuple[model.ImportShown, ...]"], frozen=True):
    """List the imports of the namespace of which something is left, newest first."""

    route: ClassVar[str] = "GET /memory/imports"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = _WHOSE


class UndoImport(Operation["model.ImportUndone"], frozen=True):
    """
    Take out again all that one import brought in: its notes and their memories are erased, and what they had ended holds again.

    The same can be imported again afterwards.

    Raises:
        NotFound: this namespace has no such import.
    """

    route: ClassVar[str] = "POST /memory/imports/{iri}/undo"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = _WHOSE

    iri: Annotated[Iri, Meta(description="the import, as `imports` lists it")]


_SESSIONS: Mapping[Interface, str] = {
    "mcp": "hooks and the proxy send what was said; a model writes notes itself",
}
_YES: Mapping[Interface, str] = {
    "mcp": "what is captured is for the user to accept, not for a model",
}


class Capture(Operation["model.Capturing"], frozen=True):
    """
    Send what was said in a session; it is noted, proposed to the user, or skipped, as `capture` is set for the namespace.

    What is to be kept is queued in a journal and noted in the background. Read-only tool calls, answers shorter than 50 characters,
    what the user does not want kept and what was sent before are skipped; the answer counts them by reason.

    Raises:
        BackendError: the journal cannot be written.
    """

    route: ClassVar[str] = "POST /memory/capture"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {**_SESSIONS, "cli": "`memento hook run` reads what a client sends"}

    session: Annotated[Text, Meta(description="the client's name for the session")]
    turns: Annotated[
        Sequence[model.CapturedTurn],
        Meta(description="what was said, in order", extra={"fails_apart": True}),
    ]
    client: Annotated[Text, Meta(description="the program that sends it, such as `claude-code`")] = "client"
    event: Annotated[Text, Meta(description="the event it sends it for: prompt, stop, compact, tool or proxy")] = "stop"


class Proposals(Operation["tuple[model.Proposal, ...]"], frozen=True):
    """List the captured texts of the namespace that wait for approval, oldest first."""

    route: ClassVar[str] = "GET /memory/proposals"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = _YES

    limit: Limit = 100
    offset: Offset = 0


class AcceptProposals(Operation["model.Decided"], frozen=True):
    """
    Approve captured texts, which are then noted: some proposals, or all of the namespace.

    Raises:
        BackendError: store, embedder or journal failed; what was not noted still waits.
    """

    route: ClassVar[str] = "POST /memory/proposals/accept"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = _YES

    proposals: Annotated[Sequence[str], Meta(description="ids of the proposals; default none")] = ()
    every: Annotated[bool, Meta(description="all proposals of the namespace")] = False


class RejectProposals(Operation["model.Decided"], frozen=True):
    """Delete captured texts that wait for approval: some proposals, or all of the namespace; they are not proposed again."""

    route: ClassVar[str] = "POST /memory/proposals/reject"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = _YES

    proposals: Annotated[Sequence[str], Meta(description="ids of the proposals; default none")] = ()
    every: Annotated[bool, Meta(description="all proposals of the namespace")] = False


class WriteAheadLog(Operation["tuple[model.LogEntry, ...]"], frozen=True):
    """
    List the accepted writes of the namespace that are not done yet: notes that wait to be understood, and captured texts.

    Each is on disk; the next start replays it, and `retry` does so at once. An entry leaves the log with the write that completes
    it.
    """

    route: ClassVar[str] = "GET /memory/log"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "`memento_status` counts the notes that wait"}
