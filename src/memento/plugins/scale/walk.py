"""The memories of a large namespace, in order, read from the graph in pages: a pool holds only a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from memento.graph.store import Store
from memento.iris import IRI, MEM
from memento.model import Filter, Value
from memento.search.nodes import EXPLICIT, Record, column_of, milliseconds
from memento.time import BEGINNING

_PAGE, _PAGES = 1_000, 10_000  # rows of `plugins/scale/page` and `plugins/scale/pages`
_AT_ONCE = 200  # rows whose tags and numbers are read in one batch
_TOP = (datetime(9999, 12, 31, tzinfo=UTC), IRI("urn:z"))


def walk_memories(
    graph: Store, graphs: Sequence[IRI], now: datetime | None, wanted: Filter | None = None, *, skip: int = 0
) -> Iterator[Record]:
    """
    Yield the memories of some graphs, the latest written first, with their times, tags and numbers. A thousand are read first, so
    that a caller who stops early waits only briefly.

    Args:
        now: only memories that hold at this instant; None for all.
        wanted: only memories that this filter accepts.
        skip: the number of memories to skip; of these, only whether they hold is read, where the query can decide the rest.
    """
    wanted, before = wanted or Filter(), _TOP
    pairs = [(MEM.tagged, tag) for tag in wanted.tags] or [(MEM.about, iri) for iri in wanted.about]
    is_told = wanted in (Filter(tags=wanted.tags), Filter(about=wanted.about))
    slots: dict[str, Any] = {"property": pairs} if pairs else {}
    query, most = ("plugins/scale/page_of", _PAGE) if pairs else ("plugins/scale/page", _PAGE)
    while True:
        if not pairs and (before is not _TOP or skip > _PAGE):
            query, most = "plugins/scale/pages", _PAGES
        slots["before"] = [before]
        rows = graph.select(query, graphs, **slots)
        places = {row["memory"]: row["createdAt"] for row in rows}
        if not places:
            return
        iris = list(places)
        while is_told and skip and iris:
            held = _list_held(graph, graphs, iris[:_PAGE], now)
            iris = [*held[skip:], *iris[_PAGE:]] if len(held) > skip else iris[_PAGE:]
            skip = max(skip - len(held), 0)
        for begin in range(0, len(iris), _AT_ONCE):
            records = _read_marks(graph, graphs, some := iris[begin : begin + _AT_ONCE])
            found = (one for iri in some if (one := records.get(iri)) and one.kind == "memory" and _is_held(one, now))
            kept = [one for one in found if _fits(one, wanted)]
            for one in kept if wanted.source is None else _pick_of_source(graph, graphs, kept, wanted.source):
                if skip:
                    skip -= 1
                else:
                    yield one
        if len(rows) < most:
            return
        *_, (iri, written) = places.items()
        before = (written, iri)


def _list_held(graph: Store, graphs: Sequence[IRI], nodes: Sequence[IRI], now: datetime | None) -> list[IRI]:
    """Return those of some nodes that are memories and hold at an instant (None: at any time), in their order."""
    held = {row["memory"] for row in graph.select("plugins/scale/held", graphs, memory=nodes, now=now or BEGINNING)}
    return [iri for iri in nodes if iri in held]


def _read_marks(graph: Store, graphs: Sequence[IRI], nodes: Sequence[IRI]) -> dict[IRI, Record]:
    said: dict[IRI, tuple[IRI, dict[IRI, list[Value]]]] = {}
    for row in graph.select("plugins/scale/marks", graphs, node=nodes) if nodes else ():
        _, values = said.setdefault(row["node"], (row["graph"], {}))
        values.setdefault(row["predicate"], []).append(row["value"])
    return {iri: Record(iri, place, values) for iri, (place, values) in said.items()}


def _pick_of_source(graph: Store, graphs: Sequence[IRI], memories: Sequence[Record], source: str) -> Iterator[Record]:
    """Yield those of some memories whose note has the given source."""
    notes = _read_marks(graph, graphs, list({IRI(one.first(MEM.extractedFrom)) for one in memories}))
    for one in memories:
        note = notes.get(IRI(one.first(MEM.extractedFrom)))
        if ((note.first(MEM.source) if note else "") or EXPLICIT) == source:
            yield one


def _is_held(record: Record, now: datetime | None) -> bool:
    """Return whether a memory holds and is believed; only the index knows when its end became known."""
    if now is None:
        return True
    _, valid_until, _, believed_until, _ = column_of(record.lifetime(None))
    return milliseconds(now) < min(valid_until, believed_until)


def _fits(record: Record, wanted: Filter) -> bool:
    """Return whether a filter accepts a memory, apart from its source."""
    began = column_of(record.lifetime(None))[0]
    return (
        (not wanted.tags or not set(wanted.tags).isdisjoint(record.statements.get(MEM.tagged, ())))
        and (not wanted.about or not set(wanted.about).isdisjoint(record.statements.get(MEM.about, ())))
        and wanted.container in (None, record.first(MEM.container))
        and (wanted.after is None or began >= milliseconds(wanted.after))
        and (wanted.before is None or began < milliseconds(wanted.before))
    )
