"""Operations in SPARQL: queries, updates and whole graphs. Over HTTP they speak the SPARQL 1.1 protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

PROTOCOL = "the SPARQL 1.1 Protocol says how it travels"
STORE_PROTOCOL = "the Graph Store Protocol says how it travels"
Accept = Annotated[str, Meta(description="an HTTP Accept header; default JSON for rows and Turtle for graphs")]
Timeout = Annotated[float, Meta(description="seconds it may take, at most `sparql.query_s`, which is the default")]
GraphName = Annotated[str, Meta(description="its IRI; default the graph of the namespace")]


class Query(Operation["tuple[bytes, str]"], frozen=True):
    """
    Answer a read-only SPARQL query over the caller's graphs: the serialised answer, and its media type.

    Without FROM the default graph is the union of the namespace's graphs, the tenant's free ones and what follows from them;
    GRAPH reads these one by one, the tenant's provenance, and for an admin the audit graph. `SERVICE mem:search`,
    `SERVICE mem:asOf` and `mem:similarity` ask the memory from inside the query: see docs/memory-in-sparql.md.

    Raises:
        InputError: no SPARQL; names line and column.
        NotAcceptable: no offered media type fits.
        Forbidden: an update, SERVICE, or FROM with a graph of somebody else.
        TooLong: longer than `limits.query_bytes`.
        Busy: too many queries wait.
        TimedOut, TooMuch: it took more time, memory, rows or bytes than it may; names the limit.
    """

    route: ClassVar[str] = "POST /sparql"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"rest": PROTOCOL, "client": PROTOCOL}

    sparql: Annotated[Text, Meta(description="the query")]
    accept: Accept = ""
    timeout_s: Timeout | None = None
    default_graphs: (
        Annotated[Sequence[str], Meta(description="instead of FROM; what the caller may not see is left out")] | None
    ) = None
    named_graphs: (
        Annotated[Sequence[str], Meta(description="instead of FROM NAMED; what the caller may not see is left out")]
        | None
    ) = None


class Update(Operation["model.Changed"], frozen=True):
    """
    Do what a SPARQL update says, all of it or nothing, in the graphs that the caller may write.

    A pattern without GRAPH reads what a query reads; a template without GRAPH, and DEFAULT, is the graph of the namespace.

    Raises:
        InputError: no SPARQL; names line and column.
        Forbidden: LOAD, SERVICE, a graph that is not the caller's, or no right to write.
        ShapeViolation: memories would break a shape; the report says how to mend them.
        NotFound, Conflict: it takes for granted that there is a graph, or that there is none.
        TooLong: its text, or what it changes, is over a limit; names it.
        Busy, TimedOut, TooMuch: as `query`.
    """

    route: ClassVar[str] = "POST /sparql/update"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "rest": PROTOCOL,
        "client": PROTOCOL,
        "mcp": "a model changes memories by notes, corrections and forgetting",
        "sexpr": "an expression changes memories by its own verbs",
    }

    sparql: Annotated[Text, Meta(description="the update")]
    using_graphs: Annotated[Sequence[str], Meta(description="what patterns read, instead of USING")] | None = None
    using_named_graphs: (
        Annotated[Sequence[str], Meta(description="what patterns read, instead of USING NAMED")] | None
    ) = None
    timeout_s: Timeout | None = None


class GetGraph(Operation["tuple[bytes, str]"], frozen=True):
    """
    Read all triples of a graph: the serialised document, and its media type.

    Raises:
        NotFound: there is no such graph.
        Forbidden: it is not the caller's, whether it is there or not.
        NotAcceptable: no offered media type fits.
    """

    route: ClassVar[str] = "GET /sparql/graphs"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "rest": STORE_PROTOCOL,
        "client": STORE_PROTOCOL,
        "mcp": "a model asks `memento_sparql`",
        "sexpr": "an expression asks `sparql`",
    }

    graph: GraphName | None = None
    accept: Accept = ""


class PutGraph(Operation["model.Changed"], frozen=True):
    """
    Let a graph hold what a document says, and nothing else.

    Raises:
        InputError: the document is not well formed, or of no such media type.
        Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "PUT /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "rest": STORE_PROTOCOL,
        "client": STORE_PROTOCOL,
        "mcp": "a model changes memories by notes, corrections and forgetting",
        "sexpr": "an expression changes memories by its own verbs",
    }

    document: Annotated[bytes, Meta(description="the triples")]
    graph: (
        Annotated[GraphName, Meta(description="its IRI; the graph of memories is replaced by its name alone")] | None
    ) = None
    media: Annotated[
        str,
        Meta(description="of the document: Turtle, N-Triples, RDF/XML, JSON-LD, N3, or TriG and N-Quads of one graph"),
    ] = "text/turtle"


class PostGraph(Operation["model.Changed"], frozen=True):
    """
    Add what a document says to a graph, by default to that of the namespace.

    Raises:
        InputError: the document is not well formed, or of no such media type.
        Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "POST /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = PutGraph.absent

    document: Annotated[bytes, Meta(description="the triples")]
    graph: GraphName | None = None
    media: Annotated[str, Meta(description="of the document, as for `put_graph`")] = "text/turtle"


class PatchGraph(Operation["model.Changed"], frozen=True):
    """
    Do what a SPARQL update says in one graph, which is all that it reads and writes.

    Raises:
        NotFound: there is no such graph.
        WrongGraph: it would change another graph too.
        InputError, Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "PATCH /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = PutGraph.absent

    sparql: Annotated[Text, Meta(description="the update; what names no graph in it is in this one")]
    graph: GraphName | None = None


class DeleteGraph(Operation["model.Changed"], frozen=True):
    """
    Take a graph away with all that is in it.

    Raises:
        NotFound: there is no such graph.
        Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "DELETE /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = PutGraph.absent

    graph: Annotated[GraphName, Meta(description="its IRI")]
