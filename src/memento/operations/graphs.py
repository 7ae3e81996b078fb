"""Operations in SPARQL: queries, updates and whole graphs. Over HTTP they speak the SPARQL 1.1 protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

PROTOCOL = "it follows the SPARQL 1.1 Protocol"
STORE_PROTOCOL = "it follows the Graph Store Protocol"
Accept = Annotated[str, Meta(description="an HTTP Accept header; default JSON for rows and Turtle for graphs")]
Timeout = Annotated[float, Meta(description="timeout in seconds, at most `sparql.query_s`, which is the default")]
GraphName = Annotated[str, Meta(description="its IRI; default the graph of the namespace")]


class Query(Operation["tuple[bytes, str]"], frozen=True):
    """
    Answer a read-only SPARQL query over the caller's graphs: return the serialised answer and its media type.

    Without FROM, the default graph is the union of the namespace's graphs, the free graphs that the caller may read, and what
    follows from them.
    GRAPH reads each of these, the ontology, the tenant's provenance graph, and for an admin the audit graph. `SERVICE mem:search`,
    `SERVICE mem:asOf` and `mem:similarity` query the memory from inside the query: see docs/memory-in-sparql.md.

    Raises:
        InputError: invalid SPARQL; the message has line and column.
        NotAcceptable: no offered media type fits.
        Forbidden: an update, SERVICE, or FROM with a graph of somebody else.
        TooLong: longer than `limits.query_bytes`.
        Busy: too many queries wait.
        TimedOut, TooMuch: it took more time, memory, rows or bytes than allowed; the message names the limit.
    """

    route: ClassVar[str] = "POST /sparql"
    method: ClassVar[str] = "graphs.query_bytes"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"rest": PROTOCOL, "client": PROTOCOL}

    sparql: Annotated[Text, Meta(description="the query")]
    accept: Accept = ""
    timeout_s: Timeout | None = None
    default_graphs: Annotated[
        Sequence[str] | None, Meta(description="instead of FROM; what the caller may not see is left out")
    ] = None
    named_graphs: Annotated[
        Sequence[str] | None, Meta(description="instead of FROM NAMED; what the caller may not see is left out")
    ] = None


class Update(Operation["model.Changed"], frozen=True):
    """
    Run a SPARQL update atomically, in the graphs that the caller may write.

    A pattern without GRAPH reads what a query reads. A template without GRAPH, and DEFAULT, mean the graph of the namespace.

    Raises:
        InputError: invalid SPARQL; the message has line and column.
        Forbidden: LOAD, SERVICE, a graph that is not the caller's, or no right to write.
        ShapeViolation: memories would break a shape; the report says how to fix them.
        NotFound, Conflict: it requires a graph to exist that does not, or the other way round.
        TooLong: its text, or what it changes, is over a limit; the message names the limit.
        Busy, TimedOut, TooMuch: as `query`.
    """

    route: ClassVar[str] = "POST /sparql/update"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "rest": PROTOCOL,
        "client": PROTOCOL,
        "mcp": "a model changes memories by notes, corrections and forgetting",
    }

    sparql: Annotated[Text, Meta(description="the update")]
    using_graphs: Annotated[Sequence[str], Meta(description="what patterns read, instead of USING")] | None = None
    using_named_graphs: Annotated[
        Sequence[str] | None, Meta(description="what patterns read, instead of USING NAMED")
    ] = None
    timeout_s: Timeout | None = None


class GetGraph(Operation["tuple[bytes, str]"], frozen=True):
    """
    Read all triples of a graph: return the serialised document and its media type.

    Raises:
        NotFound: there is no such graph.
        Forbidden: it is not the caller's graph, whether it exists or not.
        NotAcceptable: no offered media type fits.
    """

    route: ClassVar[str] = "GET /sparql/graphs"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "rest": STORE_PROTOCOL,
        "client": STORE_PROTOCOL,
        "mcp": "a model asks `memento_sparql`",
    }

    graph: GraphName | None = None
    accept: Accept = ""


class PutGraph(Operation["model.Changed"], frozen=True):
    """
    Replace the content of a graph by a document.

    Raises:
        InputError: the document is not well formed, or its media type is not supported.
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
    }

    document: Annotated[bytes, Meta(description="the triples")]
    graph: Annotated[
        GraphName | None, Meta(description="its IRI; the graph of memories is only replaced if you name it")
    ] = None
    media: Annotated[
        str,
        Meta(description="of the document: Turtle, N-Triples, RDF/XML, JSON-LD, N3, or TriG and N-Quads of one graph"),
    ] = "text/turtle"


class PostGraph(Operation["model.Changed"], frozen=True):
    """
    Add the triples of a document to a graph, by default to that of the namespace.

    Raises:
        InputError: the document is not well formed, or its media type is not supported.
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
    Run a SPARQL update in one graph; it reads and writes only this graph.

    Raises:
        NotFound: there is no such graph.
        WrongGraph: it would change another graph too.
        InputError, Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "PATCH /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = PutGraph.absent

    sparql: Annotated[Text, Meta(description="the update; patterns and templates without a graph mean this one")]
    graph: GraphName | None = None


class DeleteGraph(Operation["model.Changed"], frozen=True):
    """
    Delete a graph with everything in it.

    Raises:
        NotFound: there is no such graph.
        Forbidden, ShapeViolation, TooLong, Busy, TimedOut, TooMuch: as `update`.
    """

    route: ClassVar[str] = "DELETE /sparql/graphs"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = PutGraph.absent

    graph: Annotated[GraphName, Meta(description="its IRI")]
