"""Operations on sessions and on what a namespace is about: the start of a session, its summary, the profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

BODY = (413, 415)

Name = Annotated[Text, Meta(description="its name, 200 characters at most")]


class StartSession(Operation["model.SessionBundle"], frozen=True):
    """
    Return what a session should start with: the profile in a line, and memories grouped as decisions, architecture, errors and
    others.

    With a query, these are the memories that recall finds; without one, the most important ones, discounted for age. A project's
    folder is ingested first if it is not known yet.

    Raises:
        InputError: limit out of range, or there is no such folder.
        Forbidden: a folder, and the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/session"  # a folder is taken in: no link may do that
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = BODY

    query: Annotated[str | None, Meta(description="what the session is about; default the most important memories")] = (
        None
    )
    limit: Annotated[int, Meta(ge=1, le=100, description="most memories, over all groups")] = 15
    folder: Annotated[
        str | None, Meta(description="the absolute path of the project, which is ingested if it is not known yet")
    ] = None


class SummarizeSession(Operation["model.SessionSummary"], frozen=True):
    """
    Keep a summary of a session as a memory, derived from the session's memories; 2,000 characters at most.

    A model words the summary if one is set; otherwise it consists of the beginnings of the memories, in order. An earlier summary
    of the session ends then.

    Raises:
        NotFound: there is no session of that name, no session at all, or none with a memory.
    """

    route: ClassVar[str] = "POST /memory/session/summary"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)

    session: Annotated[str, Meta(description="the conversation; default the latest")] | None = None
    by_model: Annotated[bool, Meta(description="let the model of the settings word it, if one is set")] = True


class Profile(Operation["model.Profile"], frozen=True):
    """
    Show what a namespace is mostly about: tags, entities, files, languages and packages by the number of memories that have them.

    The profile is counted once for each state of the memory. `regenerate` counts again, and also stores it in the graph if the
    caller may write.
    """

    route: ClassVar[str] = "GET /memory/profile"
    is_idempotent: ClassVar[bool] = True

    regenerate: Annotated[bool, Meta(description="count again, even if nothing was written")] = False


class Ask(Operation["model.Replied"], frozen=True):
    """
    Recall what is relevant to a question, and let the model of the settings, if one is set, answer from that alone.

    Raises:
        InputError: empty question, or limit out of range.
        TooLong: question over `limits.text_bytes`.
    """

    route: ClassVar[str] = "POST /ask"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = BODY
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model recalls, and answers itself"}

    question: Annotated[Text, Meta(description="what to answer", extra={"aliases": ("query",)})]
    limit: Annotated[int, Meta(ge=1, le=100, description="most memories")] = 10
    answer: Annotated[bool, Meta(description="false: return only the memories and ask no model")] = True
