"""Operations that query the memory: recall, look-ups, listings, the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento import plugin
from memento.operations.base import Alone, Filtered, Instant, Interface, Iri, Limit, Offset, Operation, Text
from memento.settings import MODES, list_engines

if TYPE_CHECKING:
    from memento import model

GROUP = "graphs"

_ENGINES = [name for name in list_engines() if name not in MODES]

AsOf = Annotated[Instant, Meta(description="what was true at this time, instead of now")]
BelievedAt = Annotated[Instant, Meta(description="what Memento believed at this time, instead of now")]


class Recall(Filtered["model.Recollection"], frozen=True):
    """
    Find the memories that answer a question, best first, with when they were true, where they came from and what they replaced.

    Raises:
        InputError: empty question, k or budget out of range, unknown profile, engine or mode, or a mode and an engine.
        NotFound: nothing goes by the name of `entity`.
        TooLong: question over `limits.text_bytes`.
    """

    route: ClassVar[str] = "GET /memory/recall"
    method: ClassVar[str] = "recall"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 413)

    question: Annotated[Text, Meta(description="what to answer", extra={"aliases": ("query", "q")})]
    k: Annotated[
        int | None,
        Meta(description="most memories; default `distill.top_k`", extra_json_schema={"minimum": 1, "maximum": 300}),
    ] = None
    as_of: AsOf | None = None
    believed_at: BelievedAt | None = None
    profile: Annotated[
        str | None,
        Meta(description="retrieval settings by name", extra_json_schema={"enum": [*plugin.name_owners("profiles")]}),
    ] = None
    engine: Annotated[
        str | None,
        Meta(
            description="how to rank; default the engine of the profile, else the setting `land.engine`",
            extra_json_schema={"enum": _ENGINES},
        ),
    ] = None
    mode: Annotated[
        str | None,
        Meta(
            description="rank by one plain search instead of an engine: by meaning, by words, or 70/30 by both; returns the "
            "best k, relevant or not, unless `gate` is true",
            extra_json_schema={"enum": [*MODES]},
        ),
    ] = None
    gate: Annotated[
        bool | None,
        Meta(
            description="true: only relevant memories, each fact once; false: the best k; default the setting `gate.on`"
        ),
    ] = None
    budget: Annotated[
        int | None,
        Meta(
            description="most tokens of the memories and of the text around them in their notes, best first; default no limit",
            extra_json_schema={"minimum": 1},
        ),
    ] = None
    counts: Annotated[
        bool | None,
        Meta(description="count the returned memories as used, if the caller may write; default `living.count_recall`"),
    ] = None
    everywhere: Annotated[
        bool, Meta(description="search every namespace that the caller may read, not only this one and `main`")
    ] = False
    cases: Annotated[
        int,
        Meta(
            description="also return up to this many cases to follow, and to avoid, whose tasks are similar to the question",
            extra_json_schema={"minimum": 0, "maximum": 1000},
        ),
    ] = 0
    related: Annotated[
        int,
        Meta(
            description="also return up to this many memories that are linked to those found, relevant to the question or not",
            extra_json_schema={"minimum": 0, "maximum": 100},
        ),
    ] = 0
    explain: Annotated[
        bool,
        Meta(
            description="say why each memory was returned, and which SPARQL query returns the same; 300 memories at most"
        ),
    ] = False


class Get(Operation["model.Described"], frozen=True):
    """
    Show everything that the graph says about a note, memory, entity, session, invalidation or the user.

    Raises:
        NotFound: nothing in this namespace has that IRI.
    """

    route: ClassVar[str] = "GET /memory/{iri}"
    method: ClassVar[str] = "get"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="what to show")]
    explain: Annotated[
        bool,
        Meta(description="of a memory or a note: also say which claims it might have ended, and why it did not"),
    ] = False


class List(Filtered["tuple[model.Listed, ...]"], frozen=True):
    """
    List the memories of the namespace, newest first.

    Raises:
        InputError: limit or offset out of range.
        NotFound: nothing goes by the name of `entity`.
    """

    route: ClassVar[str] = "GET /memory/list"
    method: ClassVar[str] = "list"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    limit: Limit = 50
    offset: Offset = 0
    past: Annotated[bool, Meta(description="also memories that have ended or are forgotten")] = False
    alone: Alone = False


class Relations(Operation["tuple[model.Relation, ...]"], frozen=True):
    """
    Find how other memories are related to one, or which memories are about an entity or a piece of code, strongest first.

    Raises:
        InputError: neither or both of `iri` and `entity`, or a limit out of range.
        NotFound: no such memory here, or nothing goes by the name of `entity`.
    """

    route: ClassVar[str] = "GET /memory/relations"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="a memory")] | None = None
    entity: Annotated[
        str | None,
        Meta(description="its name or a clear part of it, its IRI, `me`, or a file, function, URL or variable"),
    ] = None
    limit: Limit = 50


class Tags(Operation["tuple[model.TagCount, ...]"], frozen=True):
    """List the tags of the current memories of the namespace, the most used first."""

    route: ClassVar[str] = "GET /memory/tags"
    method: ClassVar[str] = "review.tags"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "`memory_stats` counts them"}

    alone: Alone = False


class Entities(Operation["tuple[model.RecalledEntity, ...]"], frozen=True):
    """
    List the entities that most memories are about, the most mentioned first.

    Raises:
        InputError: limit out of range.
    """

    route: ClassVar[str] = "GET /memory/entities"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model asks `memento_sparql`"}

    limit: Limit = 10


class Timeline(Operation["model.Timeline"], frozen=True):
    """
    Show the history of an entity, the user, a memory or a note: its memories in the order they became true, with what ended them.

    The history of a memory is what it replaced and what replaced it.

    Raises:
        NotFound: nothing goes by that name or IRI.
        InputError: empty subject, or limit out of range.
    """

    route: ClassVar[str] = "GET /memory/timeline"
    method: ClassVar[str] = "timeline"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 413)

    subject: Annotated[Text, Meta(description="the name of an entity, an IRI, or `me`")]
    as_of: AsOf | None = None
    believed_at: BelievedAt | None = None
    limit: Limit = 50


class Neighbours(Operation["model.Neighbourhood"], frozen=True):
    """
    Show what some memories, entities or notes are linked with, newest first, and all links among these nodes.

    Raises:
        NotFound: nothing goes by one of the names.
        InputError: no node, or too many.
    """

    route: ClassVar[str] = "GET /memory/neighbours"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model asks `memento_sparql`"}

    nodes: Annotated[
        Sequence[str],
        Meta(description="names of entities, IRIs, or `me`", extra_json_schema={"minItems": 1, "maxItems": 500}),
    ]
    limit: Annotated[int, Meta(ge=0, le=1000, description="most neighbours of each; 0: only the links among them")] = 30


class FindPath(Operation["model.Neighbourhood"], frozen=True):
    """
    Find the shortest path from one thing to another over what memories are about, mention, replace, contradict and come from.

    A path over the user, whom nearly every memory is about, comes last. If there is no path, the answer has no links.

    Raises:
        NotFound: nothing goes by one of the names.
    """

    route: ClassVar[str] = "GET /memory/path"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model asks `memento_sparql`"}

    start: Annotated[Text, Meta(description="the name of an entity, an IRI, or `me`")]
    end: Annotated[Text, Meta(description="the name of an entity, an IRI, or `me`")]
    steps: Annotated[int, Meta(ge=1, le=8, description="most links of the path")] = 6


class Manifest(Operation["model.Manifest"], frozen=True):
    """
    Draw the map of what the namespace reads: its regions, its key nodes, what is new and what fades.

    `text` is the same map in 500 tokens. The map is cached. When it is older than 30 seconds, or after
    100 changes, it is drawn again in the background.
    """

    route: ClassVar[str] = "GET /memory/manifest"
    method: ClassVar[str] = "graphs.manifest"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "it is the resource `memento://manifest`"}

    fresh: Annotated[bool, Meta(description="draw it now instead of using the cache, however long that takes")] = False
