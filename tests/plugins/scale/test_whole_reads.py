"""A large namespace is read and worked on alike with the index in memory and in an engine, which brings in a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree
from typing import Any
from unittest.mock import patch

import pytest

from conftest import OFFLINE
from endpoints import serve_graphs
from memento import manifest
from memento.codec import plain
from memento.graph.store import Store
from memento.iris import IRI, MEM, graph_iri, tag_iri
from memento.model import Filter
from memento.operations import Operation, care, sessions
from memento.operations import recall as questions
from memento.plugins.cases import operations as cases
from memento.plugins.keys import operations as keys
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.living import operations as living
from memento.plugins.scale import node, pool, walk
from memento.plugins.scale.pool import Pools
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.search.nodes import Record
from memento.settings import Settings
from memory_engine import MemoryEngine

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")

CHOSEN = OFFLINE.having(KeysSettings(direct=True))
TOLD = (
    ("I work at Acme.", "2024-01-08"),
    ("My sister is called Clara.", "2024-01-09"),
    ("Clara lives in Porto.", "2024-01-10"),
    ("Bob likes green tea.", "2024-02-01"),
    ("Project Heron is written in Rust.", "2024-02-02"),
    ("Project Heron ships in June.", "2024-02-03"),
    ("I am allergic to peanuts.", "2024-03-01"),
    ("Anna moved to Lisbon.", "2024-03-02"),
    ("Anna plays the cello.", "2024-03-03"),
    ("I work at Zenith now.", "2025-01-01"),
    ("Clara moved to Faro.", "2025-02-01"),
)
KEPT = (
    ("The oven of the bakery is broken.", ("oven", "bakery"), ("error",)),
    ("Rye needs a sourdough.", ("rye", "bakery"), ("decision",)),
    ("We bake with gas, not with wood.", ("oven",), ("decision", "architecture")),
)
"""Texts with keys and tags."""


@contextmanager
def opened(folder: Path, configured: Settings) -> Iterator[Memento]:
    with open_memento(folder, configured=configured) as memento:
        assert isinstance(memento, Memento)
        yield memento


@contextmanager
def open_over(kind: str, folder: Path, home: Path, whole: int = 0) -> Iterator[Memento]:
    """A copy of a memory, alone, or shared with an index in LanceDB, or in the engine that others are compared with."""
    if kind == "faiss":
        copytree(home, folder / kind)
        with opened(folder / kind, CHOSEN) as memento:
            yield memento
        return
    copytree(home / "store", folder / f"{kind}-store")
    index = IndexSettings(kind="lance", uri=str(folder / f"{kind}-index"), whole=whole, pool=8)
    with ExitStack() as stack:
        if kind == "engine":
            stack.enter_context(patch.object(node, "open_engine", lambda _, dimensions: MemoryEngine(dimensions)))
        server = stack.enter_context(serve_graphs(folder / f"{kind}-store"))
        store = StoreSettings("sparql", server.query_url, server.update_url, probe=False)
        yield stack.enter_context(opened(folder / kind, replace(CHOSEN, store=store, index=index)))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reads") / "home"
    with opened(folder, CHOSEN) as memento:
        for text, at in TOLD:
            memento.note(text, at=at, session="monday" if at < "2024-01-10" else None)
        saved = [memento.keys.remember(text, list(some), tags=list(tags)).saved for text, some, tags in KEPT]
        memento.living.associate(saved[0], saved[1], "similar", 0.8)
        memento.living.associate(saved[1], saved[2], "leads to", 0.6)
        memento.living.feedback(saved[0], True)
        gone = memento.keys.remember("A slip of paper.", ["paper"], importance=0.01).saved
        memento.forget(gone)
        memento.note("The kitchen is blue.", container="flat", tags=["room"])
        memento.cases.add([])
    return folder


@pytest.fixture(scope="module")
def memories(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Memento]]:
    folder = tmp_path_factory.mktemp("kinds")
    with ExitStack() as stack:
        yield {kind: stack.enter_context(open_over(kind, folder, home)) for kind in ("faiss", "lance", "engine")}


def find(memento: Memento, text: str) -> str:
    """The IRI of the memory with a text."""
    return next(one.iri for one in memento.list(limit=100, past=True) if text in one.content)


READS: dict[str, Callable[[Memento], Operation[Any]]] = {
    "map": lambda m: questions.Manifest(fresh=True),
    "list": lambda m: questions.List(),
    "list past": lambda m: questions.List(past=True),
    "list a page": lambda m: questions.List(limit=3, offset=4),
    "list beyond the end": lambda m: questions.List(limit=3, offset=400),
    "list by tag": lambda m: questions.List(tags=("decision", "room")),
    "list by container": lambda m: questions.List(container="flat"),
    "list by source": lambda m: questions.List(source="explicit"),
    "list by entity": lambda m: questions.List(entity="Clara", past=True),
    "list by time": lambda m: questions.List(after="2024-02-01", before="2024-03-02"),
    "list by all": lambda m: questions.List(tags=("decision",), source="explicit", after="2024-02-01"),
    "tags": lambda m: questions.Tags(),
    "entities": lambda m: questions.Entities(),
    "entities, three": lambda m: questions.Entities(limit=3),
    "timeline": lambda m: questions.Timeline("Clara"),
    "timeline of me": lambda m: questions.Timeline("me"),
    "timeline then": lambda m: questions.Timeline("Clara", as_of="2024-06-01"),
    "timeline by part of a name": lambda m: questions.Timeline("Heron"),
    "timeline of a memory": lambda m: questions.Timeline(find(m, "Zenith")),
    "get me": lambda m: questions.Get(m.context.scope(None).user),
    "relations": lambda m: questions.Relations(find(m, "sourdough")),
    "relations of an entity": lambda m: questions.Relations(entity="Clara"),
    "neighbours": lambda m: questions.Neighbours(["Clara"]),
    "path": lambda m: questions.FindPath("Clara", "Faro"),
    "start a session": lambda m: sessions.StartSession(limit=5),
    "profile": lambda m: sessions.Profile(),
    "find keys": lambda m: keys.FindKeys("What of the bakery?"),
    "read a key": lambda m: keys.ReadKey(m.keys.find("bakery").keys[0].key),
    "read the key of an entity": lambda m: keys.ReadKey(m.keys.find("Clara").keys[0].key),
    "read a memory": lambda m: keys.ReadMemory(find(m, "sourdough")),
    "related": lambda m: keys.Related(find(m, "oven of")),
    "list with keys": lambda m: keys.ListMemories(limit=6, offset=2),
    "list with keys by tag": lambda m: keys.ListMemories(tags=("decision",)),
    "recall over keys": lambda m: keys.RecallMemories("the oven of the bakery"),
    "strength": lambda m: living.Strength(find(m, "oven of")),
    "trace": lambda m: living.Trace(find(m, "oven of"), depth=3),
    "activate": lambda m: living.Activate([find(m, "oven of")]),
    "archive, tried": lambda m: living.Archive(True),
    "fading": lambda m: living.ListFading(),
    "archived": lambda m: living.ListArchived(),
    "items": lambda m: living.RecallItems("the oven"),
    "cases": lambda m: cases.RetrieveCases("Bake for Clara."),
    "counts": lambda m: keys.MemoryStats(),
    "compact, tried": lambda m: care.Compact(True),
}


def ask(memento: Memento, name: str) -> Any:
    memento.service.reinforcement.write_effects()  # of the question before; else a thread may write them while this one reads
    if isinstance(
        indexes := memento.service.stores.indexes, Pools
    ):  # else a question would find what one before brought in
        indexes.forget()
    answer = plain(memento.call(READS[name](memento)))
    return strip(answer)


CHANGING = {
    "timings_ms",
    "energy_at",
    "at",
    "cached",
    "is_cached",
    "bytes_on_disk",
    "retrieval",
    "branch",
    "depth",
    "access_count",
    "last_accessed_at",
    "archived_on",
}
"""What is another each time: instants, and what reading does."""


def strip(value: Any) -> Any:
    match value:
        case dict():
            return {name: strip(one) for name, one in value.items() if name not in CHANGING}
        case list() | tuple():
            return [strip(one) for one in value]
        case float():
            return pytest.approx(value, abs=1e-3)
    return value


@pytest.mark.parametrize("kind", ["lance", "engine"])
@pytest.mark.parametrize("name", READS)
def test_a_large_namespace_is_read_over_an_engine_as_in_memory(
    name: str, kind: str, memories: dict[str, Memento]
) -> None:
    assert ask(memories[kind], name) == ask(memories["faiss"], name)


def list_contents(memento: Memento) -> list[tuple[str, bool, bool, tuple[str, ...]]]:
    listed = memento.list(limit=100, past=True)
    return sorted((one.content, one.invalid_at is None, one.expired_at is None, one.tags) for one in listed)


def update_by_sparql(memento: Memento) -> None:
    graph, found = graph_iri("local", "main"), find(memento, "cello")
    stated = f"?claim <{MEM.statedBy}> <{found}> ; ?p ?o"
    memento.graphs.update(
        f"DELETE WHERE {{ GRAPH <{graph}> {{ {stated} }} }} ; DELETE WHERE {{ GRAPH <{graph}> {{ <{found}> ?p ?o }} }}"
    )


CHANGES: dict[str, Callable[[Memento], object]] = {
    "correct": lambda m: m.correct(find(m, "sourdough"), "Rye needs a sourdough and time.", keys=["rye", "time"]),
    "forget": lambda m: m.forget(find(m, "green tea")),
    "erase": lambda m: m.forget(find(m, "peanuts"), erase=True),
    "forget by tag": lambda m: m.review.forget_tagged(["decision"]),
    "remember": lambda m: m.keys.remember("The oven of the bakery is mended.", ["oven", "bakery"], tags=["error"]),
    "remember the same": lambda m: m.keys.remember("Rye needs a sourdough.", ["rye"]),
    "mark": lambda m: m.review.mark(find(m, "Porto"), tags=["old"]),
    "feedback": lambda m: m.living.feedback(find(m, "gas"), False),
    "fade": lambda m: m.living.decay(1.0),
    "archive": lambda m: m.living.archive(),
    "compact": lambda m: m.admin.compact(),
    "clean up": lambda m: m.keys.cleanup_expired(),
    "update": update_by_sparql,
    "note": lambda m: m.note("Clara moved to Evora."),
}


@pytest.mark.parametrize("kind", ["lance", "engine"])
def test_a_large_namespace_is_changed_over_an_engine_as_in_memory(kind: str, home: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        engine, plain_one = (stack.enter_context(open_over(one, tmp_path, home)) for one in (kind, "faiss"))
        for name, change in CHANGES.items():
            for one in (plain_one, engine):
                change(one)
            assert list_contents(engine) == list_contents(plain_one), name
        assert engine.admin.check() == ()
        assert len(engine.living.list_archived()) == len(plain_one.living.list_archived())


@pytest.mark.parametrize("kind", ["lance", "engine"])
@pytest.mark.parametrize("name", ["by tag", "by entity", "past"])
def test_rows_of_a_large_namespace_are_exported_alike(
    name: str, kind: str, memories: dict[str, Memento], tmp_path: Path
) -> None:
    every: dict[str, dict[str, Any]] = {
        "by tag": {"tags": ["decision"]},
        "by entity": {"entity": "Clara"},
        "past": {"past": True},
    }
    texts = []
    for one in ("faiss", kind):
        memories[one].export(str(tmp_path / f"{one}.jsonl"), **every[name])
        texts.append((tmp_path / f"{one}.jsonl").read_text(encoding="utf-8"))
    assert texts[0] == texts[1] != ""


def test_what_use_does_is_written_over_an_engine(home: Path, tmp_path: Path) -> None:
    with open_over("lance", tmp_path, home) as memento:
        found = find(memento, "oven of")
        before = memento.living.strength(found).access_count
        memento.keys.read_memory(found)
        memento.service.reinforcement.write_effects()
        assert memento.living.strength(found).access_count == before + 1
        assert memento.admin.check() == ()


def test_a_map_and_neighbours_that_are_cut_say_so(home: Path, tmp_path: Path) -> None:
    notices: list[str] = []
    with open_over("lance", tmp_path, home) as memento:
        memento.on_notice = notices.append
        with patch.object(manifest, "MOST_DRAWN", 3):
            drawn = memento.graphs.manifest(fresh=True)
        assert (drawn.layout.memories, drawn.left_out > 3) == (3, True)
        assert f"{drawn.left_out} older ones are not on this map" in drawn.text
        memento.timeline("Clara")
        assert not notices
        with patch.object(pool, "_BESIDE_MOST", 2):
            memento.timeline("Clara")
        assert "only the latest 2 were looked at" in notices[0]


def test_a_page_begins_where_the_one_before_it_ended(memories: dict[str, Memento]) -> None:
    memento = memories["faiss"]
    graph, graphs = memento.service.stores.graph, memento.context.scope(None).memory_graphs
    rows = graph.select("plugins/scale/page", graphs)
    assert len(rows) > 20
    for place, row in enumerate(rows):
        after: Any = [(row["createdAt"], row["memory"])]
        assert graph.select("plugins/scale/page", graphs, before=after) == rows[place + 1 :]


@pytest.mark.parametrize("now", [None, datetime(2030, 1, 1, tzinfo=UTC)])
@pytest.mark.parametrize("about", ["all", "decision", "Clara"])
def test_what_is_passed_over_is_not_read(
    now: datetime | None, about: str, memories: dict[str, Memento], monkeypatch: pytest.MonkeyPatch
) -> None:
    memento, read = memories["faiss"], list[IRI]()
    graph, graphs = memento.service.stores.graph, memento.context.scope(None).memory_graphs
    clara = IRI(memento.timeline("Clara").iris[0])
    filters = {"all": Filter(), "decision": Filter(tags=(tag_iri("decision"),)), "Clara": Filter(about=(clara,))}
    read_marks = walk._read_marks

    def note_read(store: Store, names: Sequence[IRI], some: Sequence[IRI]) -> dict[IRI, Record]:
        read.extend(some)
        return read_marks(store, names, some)

    monkeypatch.setattr(walk, "_read_marks", note_read)
    monkeypatch.setattr(walk, "_AT_ONCE", 1)
    found = [one.iri for one in walk.walk_memories(graph, graphs, now, filters[about])]
    assert len(found) > 1
    monkeypatch.setattr(walk, "_PAGE", 3)  # less than a query gives, so that what is held is looked up in portions
    for skip in range(len(found) + 2):
        read.clear()
        assert [one.iri for one in walk.walk_memories(graph, graphs, now, filters[about], skip=skip)] == found[skip:]
        assert not {*found[:skip]} & {*read}
    sourced = Filter(source="explicit")
    told = [one.iri for one in walk.walk_memories(graph, graphs, now, sourced)]
    assert [one.iri for one in walk.walk_memories(graph, graphs, now, sourced, skip=4)] == told[4:]
