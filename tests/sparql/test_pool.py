"""Workers on snapshots of a real folder: what they answer, and that none of them outlives its limits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from memento.errors import Busy, GraphError, InputError, MementoError, TimedOut, TooMuch
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.iris import IRI, MEM
from memento.model import Change
from memento.settings import LimitsSettings, SparqlSettings
from memento.sparql.jobs import Answer, Job, Modify, Operation, Query, TrialOptions, Update, WaitingClient
from memento.sparql.pool import ClientGone, Pool
from memento.sparql.prepare import QueryRequest, prepare_query

A = IRI("urn:memento:graph:local:a")
TIGHT = SparqlSettings(
    workers=3, share=1, query_s=60.0, memory_mb=64, rows=20_000, bytes=2_000_000, queue=4, wait_s=60.0
)
HUNDRED = " ".join(map(str, range(100)))


def product(size: int, of: str = "*") -> str:
    """A query of 100 ** size rows: without data, and with as much work as one likes."""
    return f"SELECT {of} {{ {' '.join(f'VALUES ?v{n} {{ {HUNDRED} }}' for n in range(size))} }}"


FOREVER = product(7, "(COUNT(*) AS ?n)")
"""Works for hours without a word; its shape promises nothing."""


class Client(WaitingClient):
    """Somebody who waits for an answer, and may leave."""

    def __init__(self) -> None:
        super().__init__()
        self.held: socket.socket | None = None
        self.holds = threading.Event()

    def hold(self, answering: socket.socket, /) -> bool:
        self.held = answering
        self.holds.set()
        return not self.has_left

    def release(self) -> None:
        self.held = None

    def leave(self) -> None:
        self.has_left = True
        if self.held:
            with suppress(OSError):  # whoever answers may close it at this moment
                self.held.shutdown(socket.SHUT_RDWR)


@contextmanager
def pool_on(folder: Path, limits: SparqlSettings = TIGHT) -> Iterator[tuple[Pool, Oxigraph]]:
    graph = Oxigraph(folder / "store")
    snapshots = Snapshots(graph, folder / "snapshots")
    pool = Pool(snapshots, limits)
    try:
        yield pool, graph
    finally:
        pool.close()
        snapshots.close()
        graph.close()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pool_on(tmp_path_factory.mktemp("pool")) as (pool, _):
        yield pool


def asked(sparql: str) -> Query:
    return prepare_query(QueryRequest(sparql=sparql, accept="text/csv"), None, LimitsSettings())


def told(pool: Pool, sparql: str, caller: str = "somebody", *, seconds: float | None = None) -> str:
    """The whole answer."""
    answer = pool.run(asked(sparql), caller=caller, timeout_s=seconds)
    return b"".join(answer.chunks).decode()


def works(pool: Pool) -> bool:
    return told(pool, "ASK {}") == "true"


def busy(pool: Pool, caller: str, sparql: str = FOREVER) -> Callable[[], None]:
    """A query that does not end before it is told to; returns when it has a worker."""
    client = Client()
    ended: list[BaseException] = []

    def run() -> None:
        try:
            pool.run(asked(sparql), caller=caller, waiting=client)
        except ClientGone as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    client.holds.wait(60)

    def end() -> None:
        client.leave()
        thread.join()
        assert ended

    return end


def test_a_short_answer_comes_whole_and_a_long_one_in_pieces(pool: Pool) -> None:
    short = pool.run(asked("SELECT (1 AS ?x) {}"), caller="a")
    long = pool.run(asked(product(2)), caller="a")

    assert short.whole == b"x\r\n1\r\n"
    assert long.whole is None
    pieces = list(long.chunks)
    assert len(pieces) > 1
    assert b"".join(pieces).count(b"\n") == 10_001


def test_one_text_of_megabytes_comes_in_pieces_too(pool: Pool) -> None:
    doubled = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(17))
    answer = pool.run(asked(f"SELECT ?x17 {{ BIND('01234567' AS ?x0) {doubled} }}"), caller="a")
    sizes = [len(piece) for piece in answer.chunks]

    assert sum(sizes) == len("x17\r\n") + (8 << 17) + len("\r\n")
    assert max(sizes) < 1 << 19


def test_a_query_sees_every_write_before_it(tmp_path: Path) -> None:
    with pool_on(tmp_path) as (pool, graph):
        for n in range(5):
            graph.apply(Change(((IRI(f"urn:{n}"), MEM.name, f"name {n}", A),)))
            assert told(pool, f"ASK {{ GRAPH ?g {{ ?s ?p 'name {n}' }} }}") == "true"
        graph.apply(Change(removes=((IRI("urn:0"), MEM.name, "name 0", A),)))
        assert told(pool, "ASK { GRAPH ?g { ?s ?p 'name 0' } }") == "false"


def test_a_query_that_takes_too_long_ends_and_its_worker_with_it(pool: Pool) -> None:
    with pytest.raises(TimedOut, match=r"0\.2 s .*sparql\.query_s"):
        told(pool, FOREVER, seconds=0.2)
    assert works(pool)


def test_nobody_gets_more_time_than_the_setting_has(tmp_path: Path) -> None:
    with pool_on(tmp_path, replace(TIGHT, query_s=0.2)) as (pool, _), pytest.raises(TimedOut):
        told(pool, FOREVER, seconds=3600)


@pytest.mark.parametrize(
    ("sparql", "limit"),
    [
        (product(3), "sparql.rows"),
        (f"SELECT (CONCAT('{'x' * 500}', STR(?v0)) AS ?text) {{ {product(2)} }}", "sparql.bytes"),
        (f"{product(5)} ORDER BY ?v3", "sparql.memory_mb"),
        (f"SELECT ({'IF(1, 2, ' * 100_000}1{')' * 100_000} AS ?x) {{}}", "sparql.memory_mb"),
    ],
    ids=["rows", "bytes", "memory", "stack"],
)
def test_a_query_that_takes_too_much_ends_and_says_of_what(pool: Pool, sparql: str, limit: str) -> None:
    with pytest.raises(TooMuch, match=limit):
        # Not through the guard, which takes none that is so deep.
        b"".join(pool.run(replace(asked("ASK {}"), sparql=sparql, media="text/csv", cost=2), caller="a").chunks)
    assert works(pool)


def test_an_answer_that_breaks_off_is_told_by_an_error_after_what_has_come(pool: Pool) -> None:
    answer = pool.run(asked(product(3)), caller="a")
    pieces = []

    with pytest.raises(TooMuch):
        for piece in answer.chunks:
            pieces.append(piece)
    assert 0 < b"".join(pieces).count(b"\n") <= TIGHT.rows


def test_a_mistake_is_told_with_its_place_and_ends_no_worker(pool: Pool) -> None:
    before = works(pool) and pool.processes

    with pytest.raises(InputError, match="line 2, column 3 of the query"):
        told(pool, "SELECT *\n{ nothing }")
    with pytest.raises(InputError, match="prefix ex: is not declared"):
        told(pool, "SELECT * { ?s ex:p ?o }")
    assert pool.processes == before


def test_a_worker_that_somebody_kills_is_an_error_and_is_replaced(pool: Pool) -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            told(pool, FOREVER)
        except TooMuch as error:
            failed.append(error)

    assert works(pool)
    thread = threading.Thread(target=run)
    thread.start()
    while not failed:
        for child in pool.processes:
            with suppress(ProcessLookupError):  # it has just been replaced
                os.kill(child, signal.SIGKILL)
        thread.join(0.05)
    thread.join()
    assert works(pool)


def test_a_worker_that_somebody_kills_while_it_waits_is_not_missed(pool: Pool) -> None:
    for _ in range(3):
        assert works(pool)
        for worker in pool.processes:
            os.kill(worker, signal.SIGKILL)
            os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # until it is dead; its owner has still to find it so
    assert works(pool)


def test_a_client_that_leaves_frees_its_worker(pool: Pool) -> None:
    for _ in range(3):
        busy(pool, "a")()
    with pytest.raises(ClientGone):
        gone = Client()
        gone.has_left = True
        pool.run(asked("ASK {}"), caller="a", waiting=gone)
    assert works(pool)


@pytest.mark.parametrize("has_begun", [True, False])
def test_an_answer_that_is_not_read_to_the_end_frees_its_worker(pool: Pool, has_begun: bool) -> None:
    answer = pool.run(asked(product(2)), caller="a")
    if has_begun:
        next(answer.chunks)
    answer.close()
    answer.close()

    assert works(pool)
    assert len(told(pool, product(2), "a")) > 10_000


def test_a_reader_who_stalls_does_not_use_up_the_time_of_the_query(tmp_path: Path) -> None:
    long = f"SELECT (CONCAT('{'x' * 500}', STR(?v0)) AS ?text) {{ {product(2)} }}"
    with pool_on(tmp_path, replace(TIGHT, query_s=3.0, bytes=10**8)) as (pool, _):
        answer = pool.run(asked(long), caller="a")
        read = len(next(answer.chunks))
        time.sleep(3.1)
        read += sum(map(len, answer.chunks))
        assert read > 5_000_000


def test_a_reader_who_stalls_for_too_long_is_left(tmp_path: Path) -> None:
    limits = replace(TIGHT, query_s=0.5, stall_s=0.1, rows=10**7, bytes=10**9)
    with pool_on(tmp_path, limits) as (pool, _), pytest.raises(TimedOut):
        answer = pool.run(asked(product(4)), caller="a")
        next(answer.chunks)
        time.sleep(0.7)
        list(answer.chunks)


def test_one_caller_cannot_take_all_workers_nor_keep_themselves_from_short_answers(pool: Pool) -> None:
    ends = [busy(pool, "greedy"), busy(pool, "other")]
    waiting = [threading.Thread(target=expected_busy, args=(pool, "greedy")) for _ in range(2)]
    for thread in waiting:
        thread.start()
    try:
        assert told(pool, "ASK {}", "greedy") == "true"
        assert told(pool, "SELECT ?x { VALUES ?x { 1 2 } FILTER(REGEX(STR(?x), '2')) }", "third") == "x\r\n2\r\n"
        assert told(pool, "ASK {}", "greedy") == "true"
    finally:
        for end in ends:
            end()
        for thread in waiting:
            thread.join()
    assert works(pool)


def expected_busy(pool: Pool, caller: str) -> None:
    """A query that waits, and is told that it waited too long, or that it took too long."""
    with pytest.raises((Busy, TimedOut)):
        told(pool, FOREVER, caller, seconds=0.3)


def test_a_full_queue_is_said_at_once_with_when_to_come_again(tmp_path: Path) -> None:
    with pool_on(tmp_path, replace(TIGHT, queue=2, wait_s=30)) as (pool, _):
        end = busy(pool, "greedy")
        clients = [Client() for _ in range(3)]
        threads = [threading.Thread(target=left, args=(pool, client)) for client in clients]
        for thread in threads:
            thread.start()
        with pytest.raises(Busy, match=r"sparql\.queue") as raised:
            while True:  # until the others wait
                told(pool, FOREVER, "greedy", seconds=0.05)
        assert raised.value.retry_after_s >= 1
        assert told(pool, "ASK {}", "somebody else") == "true"
        for client in clients:
            client.leave()
        end()
        for thread in threads:
            thread.join()


def left(pool: Pool, client: Client) -> None:
    """A query of somebody who leaves before it ends, wherever it is then."""
    with pytest.raises((ClientGone, Busy)):
        pool.run(asked(FOREVER), caller="greedy", waiting=client)


MISTAKES = ("SELECT * { ?s ?p }", "ASK { ?s ex:p ?o }", f"SELECT (COUNT(*) AS ?n) {{ {HUNDRED} }}")


def mistaken_update() -> Update:
    act = Modify(inserts=" <urn:a> <urn:b> ")
    operation = Operation(act=act, prologue="", text="INSERT DATA { <urn:a> <urn:b> }")
    return Update(sparql=operation.text, operations=(operation,), options=TrialOptions(), scratch="")


def statuses_of_mistakes(pool: Pool, rounds: int) -> list[int]:
    """What is answered to texts that are no SPARQL, to each by a thread of its own."""
    jobs = [*map(asked, MISTAKES), mistaken_update()] * rounds

    def status(job: Job) -> int:
        with pytest.raises(MementoError) as raised:
            pool.run(job, caller="greedy")
        return raised.value.status

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(status, jobs))


def test_a_mistake_is_one_while_every_place_is_taken(tmp_path: Path) -> None:
    with pool_on(tmp_path, replace(TIGHT, workers=2, queue=2, wait_s=0.2, query_s=60.0)) as (pool, _):
        end = busy(pool, "greedy")
        clients = [Client() for _ in range(2)]
        threads = [threading.Thread(target=left, args=(pool, client)) for client in clients]
        for thread in threads:
            thread.start()
        with pytest.raises((Busy, TimedOut)):
            told(pool, FOREVER, "greedy", seconds=0.3)
        assert statuses_of_mistakes(pool, 5) == [400] * 20
        with pytest.raises((Busy, TimedOut)):
            told(pool, FOREVER, "greedy", seconds=0.3)
        for client in clients:
            client.leave()
        end()
        for thread in threads:
            thread.join()


def test_a_mistake_is_one_while_workers_are_killed(pool: Pool) -> None:
    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(0.002):
            for child in pool.processes:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        assert {status for _ in range(5) for status in statuses_of_mistakes(pool, 1)} == {400}
    finally:
        is_over.set()
        thread.join()
    assert works(pool)


def test_an_end_ends_every_worker_and_every_query(tmp_path: Path) -> None:
    raised: list[BaseException] = []
    with pool_on(tmp_path) as (pool, _):
        assert works(pool)

        def run() -> None:
            try:
                told(pool, FOREVER)
            except GraphError as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        while not pool.is_busy:
            time.sleep(0.01)
        pool.close()
        pool.close()
        thread.join()
        with pytest.raises(GraphError, match="closed"):
            works(pool)
    assert raised
    assert pool.processes == []


def test_what_is_erased_is_open_in_no_worker(tmp_path: Path) -> None:
    with pool_on(tmp_path) as (pool, graph):
        pool.start()
        graph.apply(Change(((IRI("urn:s"), MEM.name, "Snollygoster", A),)))
        assert works(pool)
        pool.snapshots.drop()

        assert list((tmp_path / "snapshots").iterdir()) == []
        for worker in pool.processes:
            for file in Path(f"/proc/{worker}/fd").iterdir():
                with suppress(FileNotFoundError):  # closed meanwhile
                    assert str(tmp_path / "snapshots") not in str(file.readlink())
        assert works(pool)


def test_a_worker_reaches_no_network(pool: Pool) -> None:
    if not may_unshare():
        pytest.skip("this system lets no process give its network up")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.3)
        service = f"SELECT * {{ SERVICE <http://127.0.0.1:{listener.getsockname()[1]}/> {{ ?s ?p ?o }} }}"
        with pytest.raises(GraphError):  # not through the guard, which lets nothing like it pass
            pool.run(replace(asked("ASK {}"), sparql=service), caller="a")
        with pytest.raises(TimeoutError):
            listener.accept()


def may_unshare() -> bool:
    tried = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x50000000) != 0)"
    return subprocess.run([sys.executable, "-c", tried], check=False).returncode == 0


def test_a_worker_ends_with_its_owner_whatever_it_does(tmp_path: Path) -> None:
    script = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "sys.path[:0] = sys.argv[2:]\n"
        "from test_pool import FOREVER, asked, pool_on\n"
        "with pool_on(Path(sys.argv[1])) as (pool, graph):\n"
        "    for n in range(2):\n"
        "        threading.Thread(target=pool.run, args=(asked(FOREVER),), kwargs={'caller': str(n)}, daemon=True).start()\n"
        "    while len(pool.processes) < 2: time.sleep(0.01)\n"
        "    print(*pool.processes, flush=True)\n"
        "    time.sleep(60)\n"
    )
    path = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    owner = subprocess.Popen([sys.executable, "-c", script, str(tmp_path), *path], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    with owner.stdout:
        workers = [int(pid) for pid in owner.stdout.readline().split()]
    assert len(workers) == 2
    owner.kill()
    owner.wait()
    until = time.monotonic() + 60
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < until:
        time.sleep(0.02)

    assert [worker for worker in workers if Path(f"/proc/{worker}").exists()] == []


def test_many_threads_get_their_own_answers(pool: Pool) -> None:
    found: dict[int, str] = {}

    def run(n: int) -> None:
        for _ in range(10):
            found[n] = told(pool, f"SELECT ?x {{ VALUES ?x {{ {n} }} }}", f"caller {n}")
            assert found[n].split() == ["x", str(n)]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4


def test_an_answer_names_its_media_type(pool: Pool) -> None:
    answer: Answer = pool.run(
        prepare_query(QueryRequest(sparql="DESCRIBE <urn:x>"), None, LimitsSettings()), caller="a"
    )

    assert answer.media == "text/turtle"
