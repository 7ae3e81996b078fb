"""
Nodes, the store and the engine of a shared index are killed at every step: what was acknowledged is there once, what was erased is
gone, and the engine has what the graph says as soon as it has settled.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from statistics import median

import pytest

from crash.node import AMID, STEPS, Shared, settings_of, text, write_and_die
from endpoints import BINARY, Server, free_port, serve_milvus
from memento.errors import MementoError
from memento.iris import MEM
from memento.model import Scope
from memento.plugins.scale.engine import Entry, unpack_entry
from memento.plugins.scale.node import Node
from memento.plugins.scale.pool import Pools, list_kept
from memento.plugins.scale.settings import IndexSettings
from memento.python import Memento, open_memento
from memento.search.vectors import VectorFile
from memory_engine import MemoryEngine

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")
pytestmark = pytest.mark.skipif(BINARY is None, reason="no `oxigraph`: pip install oxigraph")

ANY, STORE, ENGINE = "at any time", "the store, at any time", "the engine, at any time"
SETTLED_S = 60.0
PROCESSES = get_context("forkserver")
"""Each is forked from one that has imported everything, which takes longer than all the rest."""
PROCESSES.set_forkserver_preload(["crash.node", "lancedb", "lancedb.index", "lancedb.query"])


class Victim:
    """A writing process."""

    def __init__(self, home: Path, name: str, shared: Shared) -> None:
        self.home, self.name, self.shared = home, name, shared
        self.process: ForkServerProcess | None = None
        self.acknowledged: set[int] = set()
        self.erased: set[int] = set()

    def start(self, step: str, after: int = 0) -> None:
        """Start it; where it is to be killed from here, wait until it has written."""
        first = max(self.acknowledged, default=-1) + 1
        self.told, sender = PROCESSES.Pipe(duplex=False)
        given = (self.home, self.name, first, self.shared, step, after, sender)
        self.process = PROCESSES.Process(target=write_and_die, args=given)
        self.process.start()
        sender.close()
        if step == ANY:
            assert self.told.recv() == "ready"
            self.acknowledged.add(self.told.recv())

    def end(self, *, kills: bool) -> int:
        """Wait for it to die, or kill it; return how many notes it acknowledged."""
        assert self.process is not None
        if kills:
            self.process.kill()
        numbers = []
        with suppress(EOFError), self.told:
            while True:
                numbers.append(self.told.recv())
        self.process.join(60)
        assert self.process.exitcode == -9
        numbers = [one for one in numbers if one != "ready"]
        self.erased |= {-number for number in numbers if number < 0}
        self.acknowledged |= {number for number in numbers if number >= 0}
        return len(numbers)


class Round:
    """A store, an engine, a node that writes until it dies, and one in this process that lives on."""

    def __init__(self, folder: Path, kind: str, uri: str) -> None:
        self.server = Server(folder / "store", free_port())
        self.server.start()
        shared = (self.server.query_url, self.server.update_url, kind, uri)
        survivor = open_memento(folder / "survivor", configured=settings_of(*shared))
        assert isinstance(survivor, Memento)
        self.survivor = survivor
        self.victim = Victim(folder / "victim", "Alder", shared)
        self.kept: list[int] = []
        self.done: list[tuple[str, int, float]] = []
        """For each kill: at which step, how many notes were acknowledged before, and the seconds until all was settled."""

    def close(self) -> None:
        self.survivor.close()
        if self.victim.process is not None:
            self.victim.process.kill()
        self.server.kill()

    def finish(self, step: str, acknowledged: int, *, writes: bool) -> None:
        """Wait until all is settled after a kill, with or without a write of the survivor, and examine it."""
        begin = time.monotonic()
        while writes:
            number = len(self.kept)
            with suppress(MementoError):
                self.survivor.note(text("Birch", 3 * number + 1), idempotency_key=f"Birch{3 * number + 1}")
                self.kept.append(3 * number + 1)
                break
            assert time.monotonic() < begin + SETTLED_S
            time.sleep(0.1)
        while not self.is_settled():
            assert time.monotonic() < begin + SETTLED_S, f"{step}: {self.survivor.admin.check()}"
            time.sleep(0.05)
        self.done.append((step, acknowledged, time.monotonic() - begin))
        self.examine()

    def is_settled(self) -> bool:
        stores = self.survivor.service.stores
        assert isinstance(stores, Node)
        with suppress(MementoError):
            self.survivor.list(limit=1)  # an operation pays what another node owes
            head = stores.shared.system.read_head()
            return head.is_at(stores.shared.head) and not head.debts and not stores.pools.is_foreign
        return False

    def examine(self) -> None:
        memento, victim = self.survivor, self.victim
        assert memento.admin.check() == ()
        quads = list(memento.service.stores.graph.quads(Scope().graph))
        keys = Counter(str(value) for _, predicate, value, _ in quads if predicate == MEM.idempotencyKey)
        assert set(keys.values()) <= {1}
        said = Counter(
            str(value) for node, predicate, value, _ in quads if predicate == MEM.content and ":note:" in node
        )
        for number in victim.acknowledged - victim.erased:
            is_there = said[text(victim.name, number)] == 1
            assert is_there or number % 3 == 1, number  # which it may have been erasing when it died
        assert not [number for number in victim.erased if said[text(victim.name, number)]]
        assert all(said[text("Birch", number)] == 1 for number in self.kept)

    def compare(self) -> None:
        """Assert that the engine has, entry by entry, what one would have that is filled from the graph."""
        stores = self.survivor.service.stores
        pools = stores.indexes
        assert isinstance(pools, Pools)
        fresh = MemoryEngine(pools.engine.dimensions)
        whole = Pools(stores.graph, stores.embedder, VectorFile(None, "x"), fresh, IndexSettings(kind="lance", uri="x"))
        kept = dict(list_kept(stores.graph))
        with whole.apart():
            whole.revise([*kept], list(dict.fromkeys(kept.values())))
        there, expected = (
            {one.iri: describe(one) for one in engine.records(None) if not one.iri.startswith("urn:memento:store")}
            for engine in (pools.engine, fresh)
        )
        assert sorted(there) == sorted(expected)
        assert [iri for iri in expected if there[iri] != expected[iri]] == []


def describe(entry: Entry) -> object:
    """What an entry says, whatever the order of its records."""
    records, masked = unpack_entry(entry.packed)
    packed = sorted(
        (one.iri, one.graph, sorted((name, sorted(map(repr, values))) for name, values in one.statements.items()))
        for one in records
    )
    vectors = entry.vectors.round(4).tolist()
    said = None if masked is None else masked.tolist()
    return (entry.graph, entry.kind, vectors, said, entry.text, entry.times, sorted(entry.keys), packed)


@contextmanager
def opened(folder: Path, kind: str, uri: str) -> Iterator[Round]:
    one = Round(folder, kind, uri)
    try:
        yield one
        one.compare()
    finally:
        one.close()


def kill_nodes(folder: Path, steps: list[str], seed: int) -> list[tuple[str, int, float]]:
    """Kill a node over LanceDB in a folder once at each of some steps, or the store."""
    chance = random.Random(seed)
    with opened(folder, "lance", str(folder / "engine")) as one:
        for place, step in enumerate(steps):
            is_killed = step in (ANY, STORE)
            one.victim.start(ANY if is_killed else step, chance.randrange(1, 4))
            if is_killed:
                time.sleep(chance.uniform(0.05, 0.5))
            if step == STORE:
                one.server.kill()
                time.sleep(chance.uniform(0.0, 0.2))
                one.server.start()
                time.sleep(chance.uniform(0.0, 0.3))
            one.finish(step, one.victim.end(kills=is_killed), writes=place % 2 == 1)
        return one.done


def kill_engine(folder: Path, kills: int, seed: int) -> list[tuple[str, int, float]]:
    """Kill the process of an engine while one node writes and the other asks."""
    chance = random.Random(seed)
    (folder / "milvus").mkdir(parents=True)
    port = free_port()
    is_over = threading.Event()

    def ask(memento: Memento) -> None:
        while not is_over.is_set():
            with suppress(MementoError):
                memento.recall("Which crate stands in hall 4?")
            time.sleep(0.01)

    engine = serve_milvus(folder / "milvus", port)
    engine.__enter__()
    with opened(folder, "milvus", f"http://127.0.0.1:{port}") as one:
        asking = threading.Thread(target=ask, args=(one.survivor,))
        asking.start()
        try:
            for _ in range(kills):
                one.victim.start(ANY)
                time.sleep(chance.uniform(0.1, 0.8))
                engine.__exit__(None, None, None)
                time.sleep(chance.uniform(0.0, 0.3))
                engine = serve_milvus(folder / "milvus", port)
                engine.__enter__()
                one.finish(ENGINE, one.victim.end(kills=True), writes=False)
        finally:
            is_over.set()
            asking.join()
        one.compare()
    engine.__exit__(None, None, None)
    return one.done


def summarise(done: list[tuple[str, int, float]]) -> str:
    """Return a table: what was killed at which step, how often, how many notes it had acknowledged, how long until settled."""
    by_step: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for step, acknowledged, seconds in done:
        by_step[step].append((acknowledged, seconds))
    lines = [f"{'killed':<44}{'kills':>6}{'acknowledged':>14}{'settled s, median':>20}{'most':>7}"]
    for step, rows in by_step.items():
        waits = [one for _, one in rows]
        counted = sum(one for one, _ in rows)
        lines.append(f"{step:<44}{len(rows):>6}{counted:>14}{median(waits):>20.1f}{max(waits):>7.1f}")
    return "\n".join([*lines, f"{len(done)} kills; nothing lost, nothing doubled, nothing half"])


EVERY = [*STEPS, *AMID, ANY, STORE]


def test_kills_between_store_and_engine_lose_nothing_and_leave_the_engine_as_the_graph(tmp_path: Path) -> None:
    kill_nodes(
        tmp_path, ["between store and engine", "when rows are merged", "between two portions of a rebuild"], seed=1
    )


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(12))
def test_two_hundred_and_forty_kills_at_every_step_leave_the_engine_as_the_graph(
    tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = random.Random(seed).sample(EVERY, len(EVERY))
    done = kill_nodes(tmp_path, steps, seed)
    with capsys.disabled():
        sys.stdout.write(f"\n{summarise(done)}\n")


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(4))
def test_sixty_kills_of_an_engine_leave_it_as_the_graph(
    tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    done = kill_engine(tmp_path, 15, seed)
    with capsys.disabled():
        sys.stdout.write(f"\n{summarise(done)}\n")
