"""Operations on what was said in sessions: capture it, decide what becomes of it, see what is not written yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Limit, Offset, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

GROUP = "intake"

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
