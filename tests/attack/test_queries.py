"""A property that has many values where one is meant makes no query slow: values add up, and do not multiply."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from attack.lived import OURS, Lived, opened, reads, spoil
from memento import assets
from memento.errors import InputError
from memento.graph.binding import bind_query, load_query
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, MEM, TYPE
from memento.model import Change

VALUES = 33
MOST_ROWS = 10_000
MOST_S = 2.0
"""Of the processor. Five properties of so many values are 39 million combinations, which take minutes."""
EARLY, LATE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
NAMES = sorted(f"{path.parent.name}/{path.stem}" for path in assets.folder("queries").glob("*/*.rq"))
OF_MEMORY = [name for name in NAMES if "SERVICE" in load_query(name).text or "mem:similarity" in load_query(name).text]


def many(quad: ox.Quad) -> list[ox.Quad]:
    """So many more values of the same kind."""
    value = quad.object
    values: list[Any] = []
    if isinstance(value, ox.NamedNode):
        values = [ox.NamedNode(f"{value.value}-{n}") for n in range(VALUES)]
    elif isinstance(value, ox.Literal):
        kind, datatype = value.datatype.value.rsplit("#", 1)[-1], value.datatype
        values = {
            "dateTime": [ox.Literal(f"20{n:02}-01-01T00:00:00Z", datatype=datatype) for n in range(10, 10 + VALUES)],
            "integer": [ox.Literal(n) for n in range(VALUES)],
            "double": [ox.Literal(n / VALUES) for n in range(VALUES)],
            "boolean": [ox.Literal(True), ox.Literal(False)],
        }.get(kind, [ox.Literal(f"{value.value} {n}") for n in range(VALUES)])
    return [ox.Quad(quad.subject, quad.predicate, one, quad.graph_name) for one in values]


def of_one_each(home: Path, lived: Lived) -> Callable[[ox.Quad], list[ox.Quad]]:
    """Many values of every property of one node of each kind, and of a piece of a session: a memory with its note and session."""
    store = ox.Store.read_only(str(home / "store"))
    chosen: dict[str, Any] = {}
    for quad in store.quads_for_pattern(None, ox.NamedNode(TYPE), None):
        if str(getattr(quad.graph_name, "value", "")).startswith(OURS):
            chosen.setdefault(str(quad.object), quad.subject)
    named = map(ox.NamedNode, (lived.ended, lived.note, lived.case, lived.run, lived.retrieval))
    placed = {quad.subject for quad in store.quads_for_pattern(None, ox.NamedNode(MEM.position), None)}
    sessions: dict[Any, Any] = {
        quad.subject: quad.object for quad in store.quads_for_pattern(None, ox.NamedNode(MEM.session), None)
    }
    piece: tuple[Any, ...] = next(
        (quad.subject, quad.object, sessions[quad.object])
        for quad in store.quads_for_pattern(None, ox.NamedNode(MEM.extractedFrom), None)
        if quad.object in placed & sessions.keys()
    )
    nodes = {*chosen.values(), *named, *piece}
    return lambda quad: many(quad) if quad.subject in nodes and quad.predicate.value != TYPE else []


@pytest.fixture(scope="module")
def crowded(made: tuple[Path, Lived]) -> tuple[ox.Store, list[IRI], list[str]]:
    """The store with many values, those that have them, and some of their texts."""
    home, lived = made
    change, store = of_one_each(home, lived), ox.Store()
    quads = list(ox.Store.read_only(str(home / "store")))
    more = [one for quad in quads for one in change(quad) if str(quad.graph_name.value).startswith(OURS)]
    store.bulk_extend([*quads, *more])
    nodes = dict.fromkeys(IRI(str(getattr(quad.subject, "value", ""))) for quad in more)
    texts = dict.fromkeys(quad.object.value for quad in more if isinstance(quad.object, ox.Literal))
    return store, list(nodes), [text for text in texts if len(text) < 200][:VALUES]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_MEMORY])
def test_a_query_over_many_values_has_few_rows_and_takes_no_time(
    name: str, crowded: tuple[ox.Store, list[IRI], list[str]]
) -> None:
    store, nodes, texts = crowded
    slots: dict[str, Any] = dict.fromkeys(load_query(name).slots, nodes)
    slots |= dict.fromkeys(("name", "content", "key", "hash", "slot"), texts)
    slots |= {"memory": [(node, n, 0.5) for n, node in enumerate(nodes)]} if name == "retrieval/explained" else {}
    slots |= {"place": 3, "text": "tea", "now": LATE, "since": EARLY, "state": ["pending", "done", "failed", "skipped"]}
    slots |= {"trueAt": EARLY, "believedAt": LATE, "begunBy": LATE, "writtenBy": LATE}
    slots |= {"before": [(LATE, "urn:z")]}
    slots |= {"property": [(node, node) for node in nodes]} if name == "plugins/scale/page_of" else {}
    samples = ("kind", "link", "time", "number", "flag", "word", "wantedSubject", "wantedPredicate")
    used = {slot: value for slot, value in slots.items() if slot in load_query(name).slots and slot not in samples}
    graphs = list(store.named_graphs())

    begin = time.process_time()
    found = store.query(bind_query(name, used), default_graph=[*graphs], named_graphs=graphs)
    rows = 1 if isinstance(found, ox.QueryBoolean) else sum(1 for _ in found)

    assert rows < MOST_ROWS
    assert time.process_time() - begin < MOST_S


@pytest.mark.parametrize(
    ("name", "slots"),
    [("library/disputed", {}), ("library/statements", {"name": ["Ana", "Anna"], "relation": ["work at", "boss"]})],
)
def test_what_is_stated_or_in_dispute_is_one_row_however_many_values_it_has(name: str, slots: dict[str, Any]) -> None:
    graph, store = IRI("urn:memento:graph:local:main"), Oxigraph()
    one, other, rivalry, claim, ana = (IRI(f"urn:x:{n}") for n in range(1, 6))
    times = [datetime(2000 + n, 1, 1, tzinfo=UTC) for n in range(VALUES)]
    texts = [f"It is {n}." for n in range(VALUES)]
    said: list[tuple[IRI, IRI, list[Any]]] = [
        *((memory, MEM.content, texts) for memory in (one, other)),
        *((memory, MEM.validAt, times) for memory in (one, other)),
        (rivalry, MEM.rival, [one, other]),
        (rivalry, MEM.confidence, [n / VALUES for n in range(VALUES)]),
        (ana, MEM.name, ["Ana", "Anna"]),
        (claim, MEM.owner, [ana]),
        (claim, MEM.relationName, ["work at", "boss"]),
        (claim, MEM.statedBy, [one]),
        (claim, MEM.valueText, texts),
        (claim, MEM.mood, ["fact", "past", "plan", "report", "condition", "possible"]),
        (claim, MEM.polarity, [True, False]),
        *((claim, predicate, times) for predicate in (MEM.validAt, MEM.invalidAt)),
    ]
    odd = [(node, predicate, "!", graph) for node, predicate, values in said if isinstance(values[0], datetime | float)]
    quads = [(node, predicate, value, graph) for node, predicate, values in said for value in values]
    store.apply(Change(tuple(quads + odd), ()))

    begin = time.process_time()
    [row] = store.select(name, [graph], **slots)

    assert time.process_time() - begin < MOST_S
    assert row.get("confidence", 0.0) in [n / VALUES for n in range(VALUES)]
    assert row.get("oneSince", row.get("since")) in times


def test_many_values_everywhere_slow_no_interface_down(lived: Lived, copied: Callable[[], Path]) -> None:
    home = copied()
    assert spoil(home, of_one_each(home, lived), instead=False) > 3_000
    with opened(home) as memento:
        for name, call in reads(memento, lived):
            begin = time.process_time()
            with suppress(InputError):  # there is no telling which of many plans counts
                call()
            assert time.process_time() - begin < 3 * MOST_S, name
        for name in OF_MEMORY:
            text, begin = load_query(name).text, time.monotonic()
            memento.query(text.replace("urn:memento:memory:0192d5a0-0000-7000-8000-000000000001", lived.memories[0]))
            assert time.monotonic() - begin < memento.settings.sparql.query_s, name
