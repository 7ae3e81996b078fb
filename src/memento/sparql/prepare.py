"""
Turns a query of a user into the job of a worker: applies the guard, and determines the dataset, the media type of the answer and
the cost class.

*But:* the cost class is a guess by the shape of the query. It only decides which query goes first when all workers are busy
(`pool.PriorityQueue`); a wrong guess costs a slice of time.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from memento.errors import Forbidden, InputError, NotAcceptable
from memento.iris import IRI
from memento.settings import LimitsSettings
from memento.sparql.evaluate import GRAPH_FORMATS, ROW_FORMATS
from memento.sparql.guard import Form, Reading, Token, read_sparql
from memento.sparql.jobs import CHEAP, LIKELY, UNKNOWN, Query
from memento.sparql.rewrite import SERVICES, MemoryAccess, is_without_memory, rewrite_query
from memento.sparql.trial import FORMATS

CACHED, CACHED_CHARS = 512, 4_096
"""The number of short queries whose parsed form is cached, because programs repeat theirs."""
RDFLIB_DEFAULT = "urn:x-rdflib:default"
"""The name that rdflib sends for the default graph of a `Dataset`; it does not choose a graph."""
_one_long = threading.Lock()
"""Long queries are parsed one at a time: many at once would take the interpreter from all other threads."""
_NOT_IN_IRI = frozenset(' <>"{}|\\^`') | {chr(code) for code in range(0x20)}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleGraphs:
    """The graphs that a reader may see: `default` for patterns that name no graph, `named` for those that name one."""

    default: tuple[IRI, ...]
    named: tuple[IRI, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """
    A query and its parameters in the SPARQL protocol.

    `default_graphs` and `named_graphs` are the dataset that the request chooses; None for both leaves it to the query.
    """

    sparql: str
    accept: str = ""
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    base: str | None = None


def prepare_query(
    request: QueryRequest, visible: VisibleGraphs | None, limits: LimitsSettings, memory: MemoryAccess | None = None
) -> Query:
    """
    Prepare the job for a worker.

    Args:
        visible: the graphs that the reader may see; None for a plain dataset, which anybody may read completely.
        memory: answers `SERVICE mem:search` and the like; None if there is no memory: SERVICE is refused then.

    Raises:
        InputError: not SPARQL, or a graph of the dataset is not an IRI.
        Forbidden: an update, SERVICE, or FROM with a graph that the reader may not see.
        NotAcceptable: no offered media type is accepted.
        TooLong: longer than `limits.query_bytes`.
    """
    if len(request.sparql) <= CACHED_CHARS:
        query, reading = _prepare_cached(request, visible, limits, has_memory=memory is not None)
    else:
        with _one_long:
            query, reading = _prepare(request, visible, limits, has_memory=memory is not None)
    if reading is None or memory is None:
        return query
    edited, tables = rewrite_query(reading, memory)
    return replace(query, sparql=edited.text, edited=edited, tables=tables)


def _prepare(
    request: QueryRequest, visible: VisibleGraphs | None, limits: LimitsSettings, *, has_memory: bool
) -> tuple[Query, Reading | None]:
    """Return the job, and, for a query that asks for memory, the reading, because it must be rewritten each time."""
    reading = read_sparql(request.sparql, limits, services=SERVICES if has_memory else ())
    if reading.form == "update":
        raise Forbidden("this is an update, and only queries are answered here: `update` takes it")
    default, named = choose_dataset(reading, visible, request.default_graphs, request.named_graphs)
    media = choose_media_type(request.accept, reading.form)
    query = Query(
        sparql=reading.sparql,
        media=media,
        default_graphs=default,
        named_graphs=named,
        base=request.base,
        cost=cost_class(reading),
        digest=digest_tokens(reading.tokens),
    )
    return query, None if not has_memory or is_without_memory(reading) else reading


_prepare_cached = lru_cache(CACHED)(_prepare)


def digest_tokens(tokens: Sequence[Token]) -> str:
    """
    Return the SHA-256 of a text without its strings and numbers, in hexadecimal.

    >>> from memento.sparql.guard import tokenise
    >>> len({digest_tokens(list(tokenise(text))) for text in ("ASK { ?s ?p 'a' }", "ASK {?s ?p 'b'}", "ASK { ?s ?p ?o }")})
    2
    """
    kept = (token.kind if token.kind in ("string", "number") else token.text for token in tokens)
    return sha256(" ".join(kept).encode("utf-8", errors="surrogatepass")).hexdigest()


def choose_dataset(
    reading: Reading,
    visible: VisibleGraphs | None,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """
    Return the default graphs and the named graphs that a query reads; None for both leaves them to the query itself.

    The dataset of the request takes precedence over FROM and FROM NAMED, as the protocol requires, and is reduced to the graphs
    that the reader may see: a request for invisible graphs only reads an empty dataset. FROM with an invisible graph is refused,
    whether it exists or not. `RDFLIB_DEFAULT` counts as no choice.

    Raises:
        InputError: a graph is not an IRI.
        Forbidden: FROM or FROM NAMED with a graph that the reader may not see.
    """
    if default_graphs and RDFLIB_DEFAULT in default_graphs:
        default_graphs = [graph for graph in default_graphs if graph != RDFLIB_DEFAULT] or None
        named_graphs = named_graphs or (() if default_graphs else None)
    if default_graphs is not None or named_graphs is not None:
        default, named = tuple(default_graphs or ()), tuple(named_graphs or ())
        for graph in (*default, *named):
            _raise_if_no_iri(graph)
        if visible is None:
            return default, named
        return _keep_visible(default, visible), _keep_visible(named, visible)
    if visible is None:
        return None, None
    if reading.default_graphs is None and reading.named_graphs is None:
        return visible.default, visible.named
    default, named = reading.default_graphs or (), reading.named_graphs or ()
    allowed = {*visible.default, *visible.named}
    for graph in (*default, *named):
        if graph not in allowed:
            raise Forbidden(f"FROM <{graph}>: this is none of the graphs that you may read")
    return default, named


def _keep_visible(graphs: Collection[str], visible: VisibleGraphs) -> tuple[str, ...]:
    allowed = {*visible.default, *visible.named}
    return tuple(graph for graph in graphs if graph in allowed)


def _raise_if_no_iri(graph: str) -> None:
    if ":" not in graph or not _NOT_IN_IRI.isdisjoint(graph):
        raise InputError(
            f"{graph[:80]!r} is no IRI of a graph: give an absolute one such as urn:memento:graph:local:main"
        )


FEW_ROWS = 1_000
MOST_TOKENS = 80
MOST_PATTERNS = 8

_HEAVY_WORDS = frozenset(
    ("ORDER", "GROUP", "HAVING", "DISTINCT", "REDUCED", "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
) | {"REGEX", "REPLACE", "CONTAINS", "STRSTARTS", "STRENDS", "MINUS", "UNION", "EXISTS", "BIND", "LATERAL"}
_HEAVY_SIGNS = frozenset(("/", "|", "^", "+", "<<", "<<(", "!"))
_SEPARATORS = frozenset((".", ";", ","))


def cost_class(reading: Reading) -> int:
    """Return the cost class of a query, from what the guard has read."""
    tokens = reading.tokens
    if reading.form == "update" or len(tokens) > MOST_TOKENS:
        return UNKNOWN
    words = [token.text.upper() for token in tokens if token.kind == "word"]
    if not _HEAVY_WORDS.isdisjoint(words) or words.count("SELECT") > 1:
        return UNKNOWN
    opening = next((place for place, token in enumerate(tokens) if token.text == "{"), None)
    if opening is None:
        return LIKELY if reading.form == "describe" else UNKNOWN
    inside = tokens[opening + 1 :]
    if any(token.text in _HEAVY_SIGNS or token.text == "*" for token in inside):
        return UNKNOWN
    is_short = reading.form == "ask" or _read_limit(tokens) <= FEW_ROWS
    patterns = _count_patterns(inside)
    if patterns == 0:
        return CHEAP
    variables = [token.text[1:] for token in inside if token.kind == "variable"]
    is_constant = inside[0].kind in ("iri", "name")
    if patterns == 1 and "FILTER" not in words and len(set(variables)) == len(variables) and (is_short or is_constant):
        return CHEAP
    return LIKELY if patterns <= MOST_PATTERNS and (is_short or is_constant) else UNKNOWN


def _count_patterns(inside: Sequence[Token]) -> int:
    """Count the triple patterns by their separators."""
    terms = sum(token.kind in ("iri", "name", "variable", "string", "number", "blank") for token in inside)
    separators = sum(token.text in _SEPARATORS and after.text != "}" for token, after in pairwise(inside))
    return separators + 1 if terms else 0


def _read_limit(tokens: Sequence[Token]) -> int:
    for token, after in pairwise(tokens):
        if token.kind == "word" and token.text.upper() == "LIMIT" and after.text.isdecimal() and len(after.text) < 8:
            return int(after.text)
    return FEW_ROWS + 1


ROW_MEDIA: tuple[str, ...] = tuple(ROW_FORMATS)
"""For SELECT and ASK, the default first."""
GRAPH_MEDIA: tuple[str, ...] = tuple(GRAPH_FORMATS)
"""For CONSTRUCT and DESCRIBE, the default first."""


DOCUMENT_MEDIA: tuple[str, ...] = tuple(FORMATS)
"""For documents that are read, the default first."""
SUFFIXES = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".rdf": "application/rdf+xml",
    ".xml": "application/rdf+xml",
    ".jsonld": "application/ld+json",
    ".trig": "application/trig",
    ".nq": "application/n-quads",
    ".n3": "text/n3",
}
"""The file suffixes of such documents."""


class _MediaRange(NamedTuple):
    kind: str
    subtype: str
    quality: float

    def fits(self, media: str) -> int:
        """Return how specific the match is: 0 none, 1 any type, 2 by type, 3 by type and subtype."""
        kind, _, subtype = media.partition("/")
        if self.kind == "*":
            return 1
        if self.kind != kind:
            return 0
        return 2 if self.subtype == "*" else 3 * (self.subtype == subtype)


def choose_media_type(accept: str, form: Form) -> str:
    """
    Choose the media type for the answer to a query of this form; see `negotiate`.

    >>> choose_media_type("text/csv;q=0.5, application/n-quads", "select"), choose_media_type("", "describe")
    ('text/csv', 'text/turtle')
    """
    return negotiate(accept, GRAPH_MEDIA if form in ("construct", "describe") else ROW_MEDIA)


def negotiate(accept: str, offered: Sequence[str]) -> str:
    """
    Choose the offered media type that an Accept header prefers; for each, the most specific matching range gives the quality.

    Of equally preferred types, choose the one that the header names first; without a header, the first offered one.

    Raises:
        NotAcceptable: none is accepted; lists the offered ones.

    >>> negotiate("text/*;q=0.9, text/csv;q=0, */*;q=0.1", ["text/csv", "image/png", "text/turtle"])
    'text/turtle'
    """
    ranges = _parse_accept(accept) if accept.strip() else [_MediaRange("*", "*", 1.0)]
    best, liking = "", (0.0, 0)
    for media in offered:
        place, close = max(enumerate(one.fits(media) for one in ranges), key=lambda fit: (fit[1], -fit[0]))
        liked = (ranges[place].quality if close else 0.0, len(ranges) - place)
        if liked[0] > 0 and liked > liking:
            best, liking = media, liked
    if not best:
        raise NotAcceptable(f"none of the media types in {accept!r} can be had here: {', '.join(offered)}")
    return best


def _parse_accept(accept: str) -> list[_MediaRange]:
    ranges = []
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.lower().split(";"))
        kind, _, subtype = name.partition("/")
        quality = next((_parse_quality(one[2:]) for one in parameters if one.startswith("q=")), 1.0)
        ranges.append(_MediaRange(kind, subtype, quality))
    return ranges


def _parse_quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
