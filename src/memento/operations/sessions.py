"""Operations on sessions and on what a namespace is about: where a session starts, its summary, the profile, standing pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

BODY = (413, 415)
_EXPRESSION: Mapping[Interface, str] = {"sexpr": "an expression asks `recall` and `sparql`"}

Name = Annotated[Text, Meta(description="its name, 200 characters at most")]


class StartSession(Operation["model.SessionBundle"], frozen=True):
    """
    Say what a session starts from: the profile in a line, and memories grouped as decisions, architecture, errors and others.

    With a query they are what a recall brings back, without one the most important by their age. A folder of a project is taken in
    first, where it is not known yet.

    Raises:
        InputError: limit out of range, or the folder is none.
        Forbidden: a folder, and the caller is not the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/session"  # a folder is taken in: no link may do that
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = BODY
    absent: ClassVar[Mapping[Interface, str]] = _EXPRESSION

    query: Annotated[str, Meta(description="what the session is about; default whatever is most important")] | None = (
        None
    )
    limit: Annotated[int, Meta(ge=1, le=100, description="most memories, of all groups together")] = 15
    folder: (
        Annotated[str, Meta(description="the whole path of the project, taken in where it is not known yet")] | None
    ) = None


class SummarizeSession(Operation["model.SessionSummary"], frozen=True):
    """
    Keep a summary of a session as a memory, derived from the session's memories; 2,000 characters at most.

    It is the beginnings of the memories in their order; where a model is set, the model's words. An earlier summary of the session
    is over from then on.

    Raises:
        NotFound: there is no session of that name, none at all, or none with a memory.
    """

    route: ClassVar[str] = "POST /memory/session/summary"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression remembers one text at a time"}

    session: Annotated[str, Meta(description="the conversation; default the latest")] | None = None
    by_model: Annotated[bool, Meta(description="let the model of the settings word it, where one is set")] = True


class Profile(Operation["model.Profile"], frozen=True):
    """
    Say what a namespace is mostly about: tags, entities, files, languages and packages by how many memories have them.

    It is counted once for each state of the memory. `regenerate` counts again, and keeps it in the graph for who may write.
    """

    route: ClassVar[str] = "GET /memory/profile"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "`stats` has the memory in numbers"}

    regenerate: Annotated[bool, Meta(description="count again, though nothing was written")] = False


class SetPage(Operation["model.Page"], frozen=True):
    """
    Let a query or a question stand as a page: its answer is kept in the graph, and made again after every write to its namespace.

    It reads that namespace alone, whoever declares it. A page of that name is replaced.

    Raises:
        InputError: neither a query nor a question, or both; the query is no SPARQL; there are too many pages.
        Forbidden: the query is an update, or names a graph of another namespace.
        TimedOut: the query takes longer than a page may.
    """

    route: ClassVar[str] = "POST /memory/pages"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = BODY
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "which pages stand is for the user to say; `memento://page/{name}` reads one",
        "sexpr": "an expression asks `sparql`",
    }

    name: Name
    query: Annotated[str, Meta(description="a SPARQL query")] | None = None
    question: Annotated[str, Meta(description="a question, answered by a recall")] | None = None


class Pages(Operation["tuple[model.Page, ...]"], frozen=True):
    """List the standing pages of a namespace by name, without their answers."""

    route: ClassVar[str] = "GET /memory/pages"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento://page/{name}` reads one",
        "sexpr": "an expression asks `sparql`",
    }


class ReadPage(Operation["model.Page"], frozen=True):
    """
    Read a standing page; what was written since it was rendered is in it.

    Raises:
        NotFound: no page of that name in this namespace; lists those there are.
    """

    route: ClassVar[str] = "GET /memory/pages/{name}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "it is the resource `memento://page/{name}`",
        "sexpr": "an expression asks `sparql`",
    }

    name: Name


class RemovePage(Operation["model.Page"], frozen=True):
    """
    Let a page stand no longer; what it was made of stays.

    Raises:
        NotFound: no page of that name in this namespace.
    """

    route: ClassVar[str] = "DELETE /memory/pages/{name}"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "which pages stand is for the user to say",
        "sexpr": "an expression asks `sparql`",
    }

    name: Name


class Ask(Operation["model.Replied"], frozen=True):
    """
    Recall what bears on a question, and let the model of the settings answer from that alone, where one is set.

    Raises:
        InputError: empty question, or limit out of range.
        TooLong: question over `limits.text_bytes`.
    """

    route: ClassVar[str] = "POST /ask"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = BODY
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model recalls, and answers itself",
        "sexpr": "an expression finds memories by `recall`",
    }

    question: Annotated[Text, Meta(description="what to answer")]
    limit: Annotated[int, Meta(ge=1, le=100, description="most memories")] = 10
    answer: Annotated[bool, Meta(description="false: the memories alone, no model is asked")] = True
