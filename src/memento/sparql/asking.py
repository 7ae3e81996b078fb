"""From a query as somebody asks it to the job that a worker does: the guard, the dataset, the media type."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memento.errors import Forbidden, InputError
from memento.iris import IRI
from memento.settings import LimitsSettings
from memento.sparql import guard
from memento.sparql.guard import Reading
from memento.sparql.jobs import Query
from memento.sparql.media import chosen
from memento.sparql.rewrite import SERVICES, Memory, is_plain, rewritten
from memento.sparql.weight import weight

KNOWN, KNOWN_CHARS = 512, 4_096
"""How many short queries are not read anew when they come again, as those of programs do."""
_one_long = threading.Lock()
"""Long ones are read one after the other: many at once would share the interpreter with everybody else, and win."""
_NOT_IN_IRI = frozenset(' <>"{}|\\^`') | {chr(code) for code in range(0x20)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The graphs that a reader may see: `default` where a pattern names no graph, `named` where it names one."""

    default: tuple[IRI, ...]
    named: tuple[IRI, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    A query and what comes with it over the SPARQL protocol.

    `default_graphs` and `named_graphs` are the dataset that the request chooses; None for both leaves it to the query.
    """

    sparql: str
    accept: str = ""
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    base: str | None = None


def job(asked: Asked, visible: Visible | None, limits: LimitsSettings, memory: Memory | None = None) -> Query:
    """
    What a worker is to do.

    Args:
        visible: what the reader may see; None for a plain dataset, all of which anybody may.
        memory: answers `SERVICE mem:search` and its like; None where there is no memory, and SERVICE is refused.

    Raises:
        InputError: no SPARQL, or a graph of the dataset that is no IRI.
        Forbidden: an update, SERVICE, or FROM with a graph that the reader may not see.
        NotAcceptable: no offered media type is wanted.
        TooLong: longer than `limits.query_bytes`.
    """
    if len(asked.sparql) <= KNOWN_CHARS:
        query, reading = _known(asked, visible, limits, has_memory=memory is not None)
    else:
        with _one_long:
            query, reading = _made(asked, visible, limits, has_memory=memory is not None)
    if reading is None or memory is None:
        return query
    edited, tables = rewritten(reading, memory)
    return replace(query, sparql=edited.text, edited=edited, tables=tables)


def _made(
    asked: Asked, visible: Visible | None, limits: LimitsSettings, *, has_memory: bool
) -> tuple[Query, Reading | None]:
    """The job, and where memory is asked for inside the query, what was read, to be rewritten each time."""
    reading = guard.read(asked.sparql, limits, services=SERVICES if has_memory else ())
    if reading.form == "update":
        raise Forbidden("this is an update, and only queries are answered here: send it to /sparql/update")
    default, named = dataset(reading, visible, asked.default_graphs, asked.named_graphs)
    media = chosen(asked.accept, reading.form)
    query = Query(
        sparql=asked.sparql,
        media=media,
        default_graphs=default,
        named_graphs=named,
        base=asked.base,
        weight=weight(reading),
    )
    return query, None if not has_memory or is_plain(reading) else reading


_known = lru_cache(KNOWN)(_made)


def dataset(
    reading: Reading,
    visible: Visible | None,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """
    The default graphs and the named graphs that a query reads; None for both leaves them to the query itself.

    What the request chooses wins over FROM and FROM NAMED, as the protocol has it, and is cut down to what the reader may see:
    whoever asks for invisible graphs alone reads an empty dataset. FROM with an invisible graph is refused, whether it is there or
    not.

    Raises:
        InputError: a graph that is no IRI.
        Forbidden: FROM or FROM NAMED with a graph that the reader may not see.
    """
    if default_graphs is not None or named_graphs is not None:
        default, named = tuple(default_graphs or ()), tuple(named_graphs or ())
        for graph in (*default, *named):
            _checked(graph)
        if visible is None:
            return default, named
        return _among(default, visible), _among(named, visible)
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


def _among(graphs: Collection[str], visible: Visible) -> tuple[str, ...]:
    allowed = {*visible.default, *visible.named}
    return tuple(graph for graph in graphs if graph in allowed)


def _checked(graph: str) -> None:
    if ":" not in graph or not _NOT_IN_IRI.isdisjoint(graph):
        raise InputError(
            f"{graph[:80]!r} is no IRI of a graph: give an absolute one such as urn:memento:graph:local:main"
        )
