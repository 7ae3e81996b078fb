"""A memory whose index an engine holds answers as one that has it in memory, and loses nothing when either of the two fails."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from conftest import OFFLINE, make_grains
from endpoints import serve_graphs
from memento.errors import EngineError, InputError, SettingsError
from memento.iris import graph_iri
from memento.model import NoteRow
from memento.plugins.scale.databases import Lance
from memento.plugins.scale.engine import Where
from memento.plugins.scale.pool import PooledIndexes, Pools
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.settings import Settings, check_settings

NOTES = (
    "Anna moved to Lisbon.",
    "I work at Acme.",
    "My sister is called Clara.",
    "Clara lives in Porto.",
    "Bob likes green tea.",
    "The boiler was repaired on 3 May 2024 by Tom Hall.",
    "Project Heron is written in Rust.",
    "Project Heron ships in June.",
    "I am allergic to peanuts.",
    "Tom Hall charges 80 euros an hour.",
    "Anna plays the cello.",
    "I work at Zenith now.",
)
QUESTIONS = (
    "Where do I work?",
    "Where did I work before?",
    "Where does my sister live?",
    "Who moved to Lisbon?",
    "Which language is Project Heron written in?",
    "When does Heron ship?",
    "What does the man who repaired the boiler charge?",
    "What am I allergic to?",
    "Who plays an instrument?",
)


Over = Callable[..., Settings]


@contextmanager
def serve(folder: Path) -> Iterator[Over]:
    """Yield a function that returns settings for a store of its own with an index in LanceDB, of which a part is loaded."""
    with serve_graphs(folder / "store") as server:

        def over(**knobs: Any) -> Settings:
            index = IndexSettings(kind="lance", uri=str(folder / "lance"), **{"whole": 0, "pool": 20, **knobs})
            store = StoreSettings("sparql", server.query_url, server.update_url, probe=False)
            return replace(OFFLINE, store=store, index=index)

        yield over


@pytest.fixture
def over(tmp_path: Path) -> Iterator[Over]:
    with serve(tmp_path) as settings:
        yield settings


def opened(folder: Path, configured: Settings) -> Memento:
    memento = open_memento(folder, configured=configured)
    assert isinstance(memento, Memento)
    return memento


def contents(memento: Memento, question: str, **asked: Any) -> list[tuple[str, bool]]:
    return [(one.content, one.invalid_at is None) for one in memento.recall(question, **asked).memories]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Memento, Memento]]:
    """The folder, a memory over LanceDB, and one with its index in memory; both were told the same."""
    folder = tmp_path_factory.mktemp("pooled")
    with (
        serve(folder) as over,
        opened(folder / "home", over()) as pooled,
        opened(folder / "plain", OFFLINE) as plain,
    ):
        for memento in (pooled, plain):
            for note in NOTES:
                memento.note(note)
        yield folder, pooled, plain


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_pool_answers_as_the_whole_index_does(question: str, told: tuple[Path, Memento, Memento]) -> None:
    _, pooled, plain = told
    # What comes behind the answer depends on what else was loaded.
    assert contents(pooled, question)[:3] == contents(plain, question)[:3]


def masked_vectors(memento: Memento) -> dict[str, list[float]]:
    """The masked vector of each memory, by its content."""
    stores = memento.service.stores
    listed = {row.iri: row.content for row in memento.list(limit=100)}

    def read() -> dict[str, list[float]]:
        ids = stores.indexes.find_all([*listed], [graph_iri("local", "main")])
        assert not stores.indexes.grains.pending
        rows = stores.indexes.grains.masked.vectors([*ids.values()])
        return dict(zip(map(listed.__getitem__, ids), rows.tolist(), strict=True))

    return stores.run(read)


def test_an_engine_has_the_masked_vectors_that_an_index_in_memory_has(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over(whole=100)) as pooled, opened(tmp_path / "plain", OFFLINE) as plain:
        for memento in (pooled, plain):
            memento.note("Anna moved to Lisbon.")
            memento.intake.import_notes([NoteRow(content=text) for text in NOTES[3:6]], consolidate=False)
        make_grains(plain)
        expected = masked_vectors(plain)
        assert any(map(any, expected.values()))
        assert masked_vectors(pooled) == expected
        pooled.admin.rebuild()
        assert masked_vectors(pooled) == expected


def test_what_is_over_is_found_by_a_question_about_then(told: tuple[Path, Memento, Memento]) -> None:
    _, pooled, plain = told
    assert contents(pooled, "Where do I work?")[0] == ("I work at Zenith now.", True)
    status, other = pooled.status(), plain.status()
    assert (status.memories, status.current, status.vectors) == (other.memories, other.current, other.vectors)


def test_what_asks_for_a_whole_namespace_without_bringing_anything_in_is_refused_where_it_is_large(
    told: tuple[Path, Memento, Memento],
) -> None:
    _, pooled, _ = told
    stores, graphs = pooled.service.stores, pooled.context.scope(None).memory_graphs
    with pytest.raises(InputError, match=r"raise index\.whole .* index\.kind = 'faiss'"):
        stores.run(lambda: len(stores.indexes.nodes), graphs=lambda: graphs)

    def begin_with_a_part() -> int:
        assert not stores.indexes.has_whole(graphs)
        stores.indexes.bring(graphs, texts=["Who moved to Lisbon?"])
        return len(stores.indexes.nodes)

    assert stores.run(begin_with_a_part, graphs=lambda: graphs)


def test_another_namespace_is_not_seen(told: tuple[Path, Memento, Memento]) -> None:
    _, pooled, _ = told
    pooled.note("Dora keeps bees in Faro.", namespace="work")
    assert contents(pooled, "Who keeps bees?", namespace="work")[0][0] == "Dora keeps bees in Faro."
    assert "Dora keeps bees in Faro." not in [one for one, _ in contents(pooled, "Who keeps bees?", gate=False)]


def test_a_small_namespace_is_brought_in_whole(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over(whole=100)) as memento:
        memento.note("Anna moved to Lisbon.")
        assert memento.graphs.manifest(fresh=True).layout.memories == 1
        assert [one.content for one in memento.list()] == ["Anna moved to Lisbon."]


@pytest.mark.parametrize("whole", [0, 100])
def test_what_is_forgotten_is_gone_from_the_engine(whole: int, tmp_path: Path, over: Over) -> None:
    graph = graph_iri("me", "main")
    with opened(tmp_path / "home", over(whole=whole)) as memento:
        memento.note("My neighbour is called Mirabelle Quagga.")
        [named] = memento.recall("What is my neighbour called?").memories
        memento.note("Anna keeps a zebra.")
        found = memento.recall("Who keeps a zebra?").memories[0]
        memento.forget(found.iri, erase=True)
        memento.forget(named.iri, erase=True)
        assert contents(memento, "Who keeps a zebra?") == []
        assert memento.admin.check() == ()
    files = [path for path in (tmp_path / "lance").rglob("*") if path.is_file()]
    assert files
    for word in (b"zebra", b"quagga"):  # a word, and the name of an entity
        assert not [path for path in files if word in path.read_bytes()]
    engine = Lance(str(tmp_path / "lance"), None, 256)
    assert engine.words(["zebra"], 5, Where(graphs=[])) == []
    assert engine.records([found.iri], [graph]) == []


def test_a_start_reads_the_engine_and_writes_nothing(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over()) as memento:
        memento.note("Anna moved to Lisbon.")
        before = contents(memento, "Who moved?")
    written = patch.object(Lance, "put", side_effect=AssertionError("written"))
    with written, opened(tmp_path / "home", over()) as memento:
        assert contents(memento, "Who moved?") == before == [("Anna moved to Lisbon.", True)]


def test_what_the_engine_did_not_take_it_has_after_the_next_write_and_after_a_start(tmp_path: Path, over: Over) -> None:
    def fail(*_: object, **__: object) -> None:
        raise EngineError("away")

    with opened(tmp_path / "home", over()) as memento:
        with patch.object(Lance, "put", fail), pytest.raises(EngineError):
            memento.note("Anna moved to Lisbon.")
        memento.note("Bob likes green tea.")
        assert contents(memento, "Who moved to Lisbon?")[0][0] == "Anna moved to Lisbon."
        with patch.object(Lance, "put", fail), pytest.raises(EngineError):
            memento.note("Carla sings in Faro.")
    with opened(tmp_path / "home", over()) as memento:
        assert contents(memento, "Who sings?")[0][0] == "Carla sings in Faro."


def test_a_question_right_after_a_write_sees_it(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over()) as memento:
        for note in NOTES[:6]:
            memento.note(note)
        assert contents(memento, "Who moved to Lisbon?")[0] == ("Anna moved to Lisbon.", True)
        memento.note("Anna moved to Madrid.")
        assert contents(memento, "Where did Anna move?")[0] == ("Anna moved to Madrid.", True)
        assert ("Anna moved to Lisbon.", True) not in contents(memento, "Where did Anna move?")


def test_a_pool_ends_with_its_operation(tmp_path: Path, over: Over) -> None:
    made: list[weakref.ref[PooledIndexes]] = []

    def create(pools: Pools, *graphs: Any) -> PooledIndexes:
        made.append(weakref.ref(built := created(pools, *graphs)))
        return built

    created = Pools._create
    with patch.object(Pools, "_create", create), opened(tmp_path / "home", over()) as memento:
        for note in NOTES[:6]:
            memento.note(note)
            assert contents(memento, note)
        assert len(made) > 6
        give_up = time.monotonic() + 60
        while any(one() for one in made) and time.monotonic() < give_up:  # the worker that masks names may have one
            gc.collect()
            time.sleep(0.01)
        assert [one for one in made if one() is not None] == []


def test_nothing_looks_at_an_object_store_once_the_memory_is_closed(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over()) as memento:
        noted = memento.note("Anna moved to Lisbon.")
        with patch.object(Lance, "close") as close:
            memento.forget(noted.memories[0], erase=True)
            memento.close()
        close.assert_called()


def test_an_engine_of_another_store_is_filled_again(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "one", over()) as memento:
        memento.note("Anna moved to Lisbon.")
    with serve(tmp_path / "other") as other:
        settings = replace(other(), index=over().index)
        with opened(tmp_path / "two", settings) as memento:
            memento.note("Bob likes green tea.")
            assert contents(memento, "Who moved to Lisbon?", gate=False) == [("Bob likes green tea.", True)]
    with opened(tmp_path / "three", over()) as memento:
        assert contents(memento, "Who moved to Lisbon?", gate=False) == [("Anna moved to Lisbon.", True)]


def test_check_finds_what_the_engine_lacks_and_a_rebuild_mends_it(tmp_path: Path, over: Over) -> None:
    with opened(tmp_path / "home", over()) as memento:
        memento.note("Anna moved to Lisbon.")
        assert memento.admin.check() == ()
        [found] = memento.recall("Who moved?").memories
        Lance(str(tmp_path / "lance"), None, 256).put([], gone=[found.iri])
        assert [one.iri for one in memento.admin.check()] == [found.iri]
        memento.admin.rebuild()
        assert memento.admin.check() == ()


def test_an_engine_needs_its_place_and_an_index_in_memory_has_none() -> None:
    with pytest.raises(SettingsError, match="uri"):
        check_settings(Settings(index=IndexSettings(kind="milvus")))
    with pytest.raises(SettingsError, match="uri"):
        check_settings(Settings(index=IndexSettings(uri="here")))


def test_an_engine_is_for_a_store_that_nodes_share(tmp_path: Path) -> None:
    index = IndexSettings(kind="lance", uri=str(tmp_path / "lance"))
    with pytest.raises(SettingsError, match="for a store that several nodes share"):
        check_settings(Settings(index=index))
    with pytest.raises(SettingsError, match=r"leave index\.kind"):
        open_memento(tmp_path / "home", configured=replace(OFFLINE, index=index))
