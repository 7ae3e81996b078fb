"""Operations that take in files, folders, pages, and what was said in sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import Interface, Limit, Offset, Operation, Right, Text

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


class MemoryFile(Operation["model.FileAnswer"], frozen=True):
    """
    Carry out a command of Claude's memory tool on the files below `/memories`.

    What a file says is remembered, each paragraph and each item of a list as a memory in its own words: recall finds it, an edit
    retires what it takes out. Answers and errors are worded as published for the tool; `failed` tells them apart.

    Raises:
        InputError: an argument that the command needs is missing.
        TooLong: the text of the file is over `limits.text_bytes`.
    """

    route: ClassVar[str] = "POST /memory/files"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "the memory tool is run by the program that asks the model; over MCP a model notes and recalls",
        "sexpr": "an expression remembers one text at a time",
    }

    command: Annotated[
        Literal["view", "create", "str_replace", "insert", "delete", "rename"], Meta(description="what to do")
    ]
    path: Annotated[str, Meta(description="the file or the folder, as `/memories/notes.txt`")] | None = None
    view_range: (
        Annotated[Sequence[int], Meta(description="view: the first and the last line to show, from 1; -1 is the end")]
        | None
    ) = None
    file_text: Annotated[str, Meta(description="create: the text of the new file")] | None = None
    old_str: Annotated[str, Meta(description="str_replace: what stands in the file, once")] | None = None
    new_str: Annotated[str, Meta(description="str_replace: what takes its place; default nothing")] | None = None
    insert_line: Annotated[int, Meta(description="insert: the line to insert after; 0 is the beginning")] | None = None
    insert_text: Annotated[str, Meta(description="insert: the lines to insert")] | None = None
    old_path: Annotated[str, Meta(description="rename: what it is called now")] | None = None
    new_path: Annotated[str, Meta(description="rename: what it is to be called")] | None = None


_SESSIONS: Mapping[Interface, str] = {
    "mcp": "hooks and the proxy tell what was said; a model notes by itself",
    "sexpr": "an expression remembers one text at a time",
}
_YES: Mapping[Interface, str] = {
    "mcp": "what is captured is for the user to accept, not for a model",
    "sexpr": "what is captured is for the user to accept, not for a model",
}


class Capture(Operation["model.Capturing"], frozen=True):
    """
    Tell what was said in a session, so that it is noted, proposed to the user, or passed over, as the namespace is set to.

    What is to be kept waits in a journal, and is noted in the background. Tools that only look, answers shorter than 50
    characters, what the user does not want kept and what was told before are passed over; the answer counts why.

    Raises:
        BackendError: the journal cannot be written.
    """

    route: ClassVar[str] = "POST /memory/capture"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {**_SESSIONS, "cli": "`memento hook run` reads what a client tells"}

    session: Annotated[Text, Meta(description="the session, as the client calls it")]
    turns: Annotated[
        Sequence[model.CapturedTurn],
        Meta(description="what was said, in its order", extra={"fails_apart": True}),
    ]
    client: Annotated[Text, Meta(description="the program that tells it, as `claude-code`")] = "client"
    event: Annotated[Text, Meta(description="what it tells it of: prompt, stop, compact, tool or proxy")] = "stop"


class Proposals(Operation["tuple[model.Proposal, ...]"], frozen=True):
    """List what was captured in the namespace and waits for a yes, the oldest first."""

    route: ClassVar[str] = "GET /memory/proposals"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = _YES

    limit: Limit = 100
    offset: Offset = 0


class AcceptProposals(Operation["model.Decided"], frozen=True):
    """
    Note what was captured and waits for a yes: some proposals, or all of the namespace.

    Raises:
        BackendError: store, embedder or journal failed; what was not noted waits as before.
    """

    route: ClassVar[str] = "POST /memory/proposals/accept"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = _YES

    proposals: Annotated[Sequence[str], Meta(description="which, by their ids; default none")] = ()
    every: Annotated[bool, Meta(description="all that wait in the namespace")] = False


class RejectProposals(Operation["model.Decided"], frozen=True):
    """Delete what was captured and waits for a yes: some proposals, or all of the namespace; none of them is proposed again."""

    route: ClassVar[str] = "POST /memory/proposals/reject"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = _YES

    proposals: Annotated[Sequence[str], Meta(description="which, by their ids; default none")] = ()
    every: Annotated[bool, Meta(description="all that wait in the namespace")] = False


class WriteAheadLog(Operation["tuple[model.LogEntry, ...]"], frozen=True):
    """
    List the writes of the namespace that are accepted and not done yet: notes that wait to be understood, and what was captured.

    Each is on the disk; the next start replays it, `retry` does at once. What is done leaves the log with its write.
    """

    route: ClassVar[str] = "GET /memory/log"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento_status` counts the notes that wait",
        "sexpr": "what an expression writes never waits",
    }
