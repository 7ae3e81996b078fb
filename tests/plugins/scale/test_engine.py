"""Every engine gives the same answers to the same questions, and loses nothing that it has acknowledged."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from unittest.mock import patch

import lancedb
import numpy as np
import pytest

from endpoints import free_port, serve_milvus
from memento.errors import EngineError
from memento.iris import IRI, MEM
from memento.plugins.scale import databases
from memento.plugins.scale.databases import Lance, Milvus
from memento.plugins.scale.engine import Engine, Entry, Where, pack_records, unpack_entry
from memento.search.nodes import Record
from memento.search.postings import tokens
from memory_engine import MemoryEngine
from object_store import serve_bucket

D = 16
G, OTHER = IRI("urn:memento:graph:me:main"), IRI("urn:memento:graph:me:other")
FOREVER = 2**62
NOW = 1_700_000_000_000
TEXTS = (
    "Anna moved to Lisbon",
    "Bob likes green tea",
    "Anna likes black coffee",
    "The cat sleeps on the sofa",
    "It's the O'Neill",
)
Opener = Callable[[], Engine]


def vector(seed: int) -> np.ndarray:
    row = np.random.default_rng(seed).standard_normal((1, D)).astype(np.float32)
    return row / np.linalg.norm(row)


def entry(number: int, text: str = "", **given: object) -> Entry:
    iri = IRI(f"urn:memento:memory:{number}'s")
    record = Record(iri, G, {MEM.content: [text], MEM.about: [IRI("urn:anna")], MEM.accessCount: [3]})
    fields = {
        "iri": iri,
        "graph": G,
        "kind": "memory",
        "vectors": vector(number),
        "text": " ".join(tokens(text)),
        "times": (0, FOREVER, 0, FOREVER, 0),
        "keys": (),
        "packed": pack_records([record]),
    }
    return Entry(**{**fields, **given})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    with serve_milvus(tmp_path_factory.mktemp("milvus"), port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with serve_bucket("tests"):
        yield "s3://tests"


@pytest.fixture(params=["memory", "lance", "bucket", "milvus"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens the engine again and again, on the same place."""
    if request.param == "bucket":
        place = f"{request.getfixturevalue('bucket')}/{tmp_path.name}"
        return lambda: Lance(place, None, D)
    if request.param == "memory":
        engine = MemoryEngine(D)
        return lambda: engine
    if request.param == "lance":
        return lambda: Lance(str(tmp_path / "lance"), None, D)
    uri = request.getfixturevalue("server")
    Milvus(uri, None, D).clear()
    return lambda: Milvus(uri, None, D)


def test_what_is_put_is_found_by_meaning_words_and_keys_and_comes_back_as_it_was(opened: Opener) -> None:
    engine = opened()
    put = [entry(number, text, keys=(f"label:{number}", "all")) for number, text in enumerate(TEXTS)]
    engine.put(put)
    where = Where(graphs=[G])
    for number, one in enumerate(put):
        hits = engine.nearest(vector(number), 3, where)
        assert hits[0].iri == one.iri
        assert hits[0].score == pytest.approx(1, abs=1e-3)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert [hit.iri for hit in engine.linked([f"label:{number}", "none"], 10, where)] == [one.iri]
    assert [hit.iri for hit in engine.words(tokens("Who likes tea?"), 2, where)] == [put[1].iri, put[2].iri]
    assert engine.words([], 3, where) == []
    assert len(engine.linked(["all"], 3, where)) == 3
    found = {one.iri: one for one in engine.records([one.iri for one in put], [G])}
    assert len(found) == len(put)
    for one in put:
        same = found[one.iri]
        assert (same.graph, same.kind, same.text, same.times, set(same.keys), same.packed) == (
            (one.graph, one.kind, one.text, one.times, set(one.keys), one.packed)
        )
        assert np.allclose(same.vectors, one.vectors, atol=1e-6)
    assert engine.count(where) == len(put)
    assert sorted(engine.sample(10, where)) == sorted(one.text for one in put)


def test_a_question_sees_only_its_graphs_its_kind_and_what_holds(opened: Opener) -> None:
    engine = opened()
    text = "Anna drinks tea"
    engine.put(
        [
            entry(1, text),
            entry(2, text, graph=OTHER),
            entry(3, text, kind="anchor"),
            entry(4, text, times=(0, NOW - 1, 0, FOREVER, NOW - 1)),
            entry(5, text, times=(0, FOREVER, 0, NOW - 1, 0)),
            entry(6, text, times=(0, NOW - 1, 0, FOREVER, NOW + 1)),
        ]
    )
    ids = {number: entry(number).iri for number in range(1, 7)}

    def seen(where: Where) -> set[IRI]:
        near = {hit.iri for hit in engine.nearest(vector(1), 10, where)}
        assert near == {hit.iri for hit in engine.words(["tea"], 10, where)}
        return near

    assert seen(Where(graphs=[G], current=NOW)) == {ids[1], ids[6]}
    assert seen(Where(graphs=[G])) == {ids[1], ids[4], ids[5], ids[6]}
    assert seen(Where(graphs=[G, OTHER], current=NOW)) == {ids[1], ids[2], ids[6]}
    assert seen(Where(graphs=[G], kinds=("anchor",))) == {ids[3]}
    assert engine.records([ids[1], ids[2]], [OTHER])[0].iri == ids[2]
    assert (engine.count(Where(graphs=[OTHER])), engine.count(Where(graphs=[]))) == (1, 5)


def test_an_entry_is_replaced_whole_with_the_windows_that_it_has_no_more(opened: Opener) -> None:
    engine = opened()
    long = np.concatenate([vector(10), vector(11), vector(12)])
    engine.put([entry(1, "one two three", vectors=long, keys=("old",)), entry(2, "four")])
    assert engine.nearest(vector(12), 1, Where(graphs=[G]))[0].iri == entry(1).iri
    assert np.allclose(engine.records([entry(1).iri], [G])[0].vectors, long, atol=1e-6)
    assert engine.count(Where(graphs=[G])) == 2
    engine.put([entry(1, "five", vectors=vector(20), keys=("new",))])
    [found] = engine.records([entry(1).iri], [G])
    assert (len(found.vectors), found.text) == (1, "five")
    assert engine.nearest(vector(12), 1, Where(graphs=[G]))[0].score < 0.9
    assert engine.words(["three"], 5, Where(graphs=[G])) == []
    assert engine.linked(["old"], 5, Where(graphs=[G])) == []
    assert [hit.iri for hit in engine.linked(["new"], 5, Where(graphs=[G]))] == [entry(1).iri]
    engine.put([entry(3, "six", vectors=np.zeros((0, D), dtype=np.float32))], gone=[entry(2).iri])
    assert {one.iri for one in engine.records([entry(number).iri for number in (1, 2, 3)], [G])} == {
        entry(1).iri,
        entry(3).iri,
    }
    assert entry(3).iri not in {hit.iri for hit in engine.nearest(vector(3), 5, Where(graphs=[G]))}
    assert [hit.iri for hit in engine.words(["six"], 5, Where(graphs=[G]))] == [entry(3).iri]


def test_what_is_longer_than_a_field_of_the_engine_comes_back_whole(opened: Opener) -> None:
    engine = opened()
    packed = np.random.default_rng(1).bytes(150_000)
    engine.put([entry(1, "short", packed=packed), entry(2, "x", packed=b"")])
    assert engine.records([entry(1).iri], [G])[0].packed == packed
    assert engine.count(Where(graphs=[G])) == 2


def test_an_engine_says_of_what_store_it_is(opened: Opener) -> None:
    engine = opened()
    assert engine.owner == ""
    engine.put([], owner="here")
    engine.put([entry(1, "one")])
    assert opened().owner == "here"
    engine.put([], owner="there")
    assert opened().owner == "there"
    engine.clear()
    assert (engine.owner, engine.count(Where(graphs=[]))) == ("", 0)


def test_vectors_that_were_put_once_more_are_found_by_an_index(tmp_path: Path) -> None:
    engine = Lance(str(tmp_path / "lance"), None, D)
    with patch.object(databases, "_INDEXED", 300):
        for begin in (0, 1_000):
            engine.clear()
            engine.put([entry(number, "tea") for number in range(begin, begin + 400)])
            engine.settle()
            table = lancedb.connect(str(tmp_path / "lance")).open_table("memento")
            found = table.index_stats("vector_idx")
            assert found
            assert found.num_unindexed_rows == 0
    assert engine.nearest(vector(1_003), 1, Where(graphs=[G]))[0].iri == entry(1_003).iri


def test_what_was_put_is_there_when_it_is_opened_again(opened: Opener) -> None:
    engine = opened()
    engine.put([entry(number, text) for number, text in enumerate(TEXTS)])
    again = opened()
    assert again.count(Where(graphs=[G])) == len(TEXTS)
    engine.put([entry(9, "Carla sings")])  # seen at once by who has it open
    assert [hit.iri for hit in again.words(["carla"], 1, Where(graphs=[G]))] == [entry(9).iri]
    engine.settle()
    assert [hit.iri for hit in again.words(["carla"], 1, Where(graphs=[G]))] == [entry(9).iri]


def test_engines_find_what_an_exact_search_finds(opened: Opener) -> None:
    rng = np.random.default_rng(5)
    words = [f"word{number}" for number in range(400)]
    often = 1 / np.arange(1, 401)  # as words of a language are: few are in many texts
    often /= often.sum()
    put = [
        entry(number, " ".join(rng.choice(words, 5 + number % 17, p=often)), graph=(G, OTHER)[number % 2])
        for number in range(1200)
    ]
    engine, exact = opened(), MemoryEngine(D)
    for one in (engine, exact):
        one.put(put)
    engine.settle()
    near, told = [], []
    for number in range(20):
        where, asked = Where(graphs=[G]), [str(word) for word in rng.choice(words, 4, p=often)]
        row = vector(10_000 + number)
        want, got = ({hit.iri for hit in one.nearest(row, 20, where)} for one in (exact, engine))
        near.append(len(want & got) / len(want))
        want, got = ({hit.iri for hit in one.words(asked, 20, where)} for one in (exact, engine))
        told.append(len(want & got) / len(want))
    assert np.mean(near) >= 0.9
    assert np.mean(told) >= 0.9


def test_one_of_many_that_is_erased_is_in_no_file(tmp_path: Path) -> None:
    engine = Lance(str(tmp_path / "lance"), None, D)
    engine.put([entry(number, "Zanzibar" if number == 1 else f"told {number}") for number in range(400)])
    engine.settle()
    engine.put([], gone=[entry(1).iri])
    engine.purge()
    assert not any(b"zanzibar" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert engine.count(Where(graphs=[G])) == 399
    assert engine.nearest(vector(7), 1, Where(graphs=[G]))[0].iri == entry(7).iri


def test_files_are_purged_while_another_node_writes_and_nothing_of_that_is_lost(tmp_path: Path) -> None:
    place, failed = str(tmp_path / "lance"), list[EngineError]()
    here, there = (Lance(place, None, D) for _ in range(2))

    def write() -> None:
        for number in range(20):
            try:
                there.put([entry(number, f"told {number}")])
            except EngineError as error:
                failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    purged = 0
    while writer.is_alive():
        here.put([entry(100 + purged, "zanzibar")])
        here.put([], gone=[entry(100 + purged).iri])
        here.purge()
        purged += 1
    writer.join()
    assert failed == [] and purged
    found = {one.iri: one.text for one in Lance(place, None, D).records(None)}
    assert found == {entry(number).iri: " ".join(tokens(f"told {number}")) for number in range(20)}
    assert len(here.words(["told"], 30, Where(graphs=[G]))) == 20
    here.purge()
    assert not any(b"zanzibar" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def contains(folder: Path, word: bytes) -> bool:
    """Whether a file below a folder contains a word; files and folders may be deleted meanwhile, which `rglob` does not bear."""
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                if word in Path(place, name).read_bytes():
                    return True
    return False


def test_what_was_put_into_milvus_lite_is_indexed_before_it_becomes_much(
    server: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Until then each question looks through all of it."""
    engine = Milvus(server, None, D)
    engine.clear()

    def list_indexed() -> set[Path]:
        return set(tmp_path_factory.getbasetemp().glob("milvus*/**/*.parquet"))

    before = list_indexed()
    engine.put([entry(number, "Anna drinks tea") for number in range(200)])
    assert list_indexed() == before
    engine.put([entry(number, "Anna drinks tea") for number in range(200, 300)])
    assert list_indexed() - before
    assert engine.count(Where(graphs=[G])) == 300


def write_some(kind: str, place: str, begin: int, count: int) -> None:
    engine = (Lance if kind == "lance" else Milvus)(place, None, D)
    for number in range(begin, begin + count):
        engine.put([entry(number, f"written {number}")])


@pytest.mark.parametrize("kind", ["lance", "milvus"])
def test_several_processes_write_and_nothing_is_lost(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = str(tmp_path / "lance") if kind == "lance" else request.getfixturevalue("server")
    engine: Engine = (Lance if kind == "lance" else Milvus)(place, None, D)
    engine.clear()
    spawn = get_context("spawn")
    writers = [spawn.Process(target=write_some, args=(kind, place, 100 * one, 8)) for one in range(2)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert engine.count(Where(graphs=[G])) == 16
    assert len(engine.records([entry(100 * one + number).iri for one in range(2) for number in range(8)], [G])) == 16


def write_until_killed(place: str, acknowledged: str) -> None:
    engine = Lance(place, None, D)
    with Path(acknowledged).open("a") as log:
        for number in range(100_000):
            engine.put([entry(number, f"told {number}", vectors=np.concatenate([vector(number), vector(number + 1)]))])
            log.write(f"{number}\n")
            log.flush()


def test_a_writer_that_is_killed_leaves_whole_entries_and_all_that_it_acknowledged(tmp_path: Path) -> None:
    place, log = str(tmp_path / "lance"), tmp_path / "log"
    engine = Lance(place, None, D)
    log.touch()
    writer = get_context("spawn").Process(target=write_until_killed, args=(place, str(log)))
    writer.start()
    while len(log.read_text().splitlines()) < 5:
        time.sleep(0.05)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    told = [int(line) for line in log.read_text().splitlines()]
    found = engine.records([entry(number).iri for number in range(len(told) + 1)], [G])
    assert len(found) >= len(told)
    assert all(len(one.vectors) == 2 for one in found)
    engine.put([entry(0, "new")])
    assert len(engine.records([entry(0, TEXTS[0]).iri], [G])[0].vectors) == 1


def test_records_come_back_from_their_packed_form() -> None:
    record = Record(IRI("urn:a"), G, {MEM.about: [IRI("urn:b"), "text"], MEM.weight: [0.5], MEM.position: [3]})
    assert unpack_entry(pack_records([record]))[0] == (record,)
    assert isinstance(unpack_entry(pack_records([record]))[0][0].statements[MEM.about][0], IRI)
    assert unpack_entry(pack_records([record]))[1] is None
    masked = np.full((1, D), 0.25, dtype=np.float32)
    records, found = unpack_entry(pack_records([record], masked))
    assert found is not None
    assert (records, found.tolist()) == ((record,), masked.tolist())


def test_a_table_of_another_embedder_is_made_again_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Lance(str(tmp_path / "lance"), None, D).put([entry(1, "tea")])
    engine = Lance(str(tmp_path / "lance"), None, D + 1)
    assert (engine.count(Where(graphs=[G])), engine.owner) == (0, "")
    assert [one.message for one in caplog.records] == ["engine.foreign"]


def test_an_engine_that_cannot_be_reached_is_an_error_of_ours() -> None:
    with pytest.raises(EngineError, match="Milvus"):
        Milvus("http://127.0.0.1:9", None, D)


def count_when_connected(engine: Engine) -> int:
    """Count entries as soon as the library has connected again, which it tries later each time."""
    until = time.monotonic() + 60
    while True:
        try:
            return engine.count(Where(graphs=[G]))
        except EngineError as error:
            if "Fail connecting" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_a_server_that_was_started_again_is_asked_as_before(tmp_path: Path) -> None:
    port = free_port()
    with serve_milvus(tmp_path, port):
        engine = Milvus(f"http://127.0.0.1:{port}", None, D)
        engine.put([entry(0, TEXTS[0])])
    with pytest.raises(EngineError, match="Milvus failed"):
        engine.count(Where(graphs=[G]))
    with serve_milvus(tmp_path, port):
        assert count_when_connected(engine) == 1
        engine.put([entry(1, TEXTS[1])])
        assert engine.count(Where(graphs=[G])) == 2


def test_an_engine_whose_table_is_gone_says_how_it_is_made_again(tmp_path: Path) -> None:
    engine = Lance(str(tmp_path / "lance"), None, D)
    rmtree(tmp_path / "lance")
    with pytest.raises(EngineError, match="memento care rebuild") as caught:
        engine.count(Where(graphs=[G]))
    assert ".rs:" not in str(caught.value)
    engine.clear()
    engine.put([entry(0, TEXTS[0])])
    assert engine.count(Where(graphs=[G])) == 1
