"""
How much load can nodes behind a load balancer carry, over how many stores (shards)? A seeded simulation of single requests.

    arrivals (Poisson) → balancer → queue and processor of a node → shard of the tenant: concurrent readers, one writer at a time

Service times are drawn from measurements (`results/cluster.jsonl`, by `--measure`): the quantiles of recalls and notes of an
otherwise idle node. Results: throughput and waits by number of nodes and of shards, for three balancing strategies, for a node that
dies and returns, for a few tenants with most of the requests (Zipf), and for a tenant that moves to another shard while its writes
pause.

*But:* processors and stores do not slow each other down, as they do on one machine, and caches are not simulated.

`test_cluster.py` compares the simulation with Erlang's formula for M/M/c. `--measure` starts two real nodes over a store on this
machine, sends requests at three rates, and prints the prediction beside the measurement.

Run: `.venv/bin/python tests/bench/cluster.py [--picture docs/pictures/cluster.svg]`, a minute; `--measure [--record]` two more.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import random
import threading
import time
from argparse import ArgumentParser
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import accumulate, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import quote

import httpx2
import numpy as np

from measure import RESULTS, record
from nodes import serving_store
from people import Life
from serving import serving
from startup import free_port

Policy = Literal["round robin", "least connections", "hash by tenant"]
POLICIES: tuple[Policy, ...] = ("round robin", "least connections", "hash by tenant")
Draw = Callable[[random.Random], float]
"""Draws the seconds that something takes."""
HEALTH_S = 2.0
"""How often a balancer looks whether a node is ready."""
PARTS = 20
"""Quantiles that are kept of what was measured."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What is simulated."""

    nodes: int = 2
    shards: int = 1
    cores: int = 1
    """Processors that a node's requests use; Python uses one."""
    readers: int = 4
    """Requests that a shard answers at once."""
    rate: float = 50.0
    """Requests a second, of all tenants."""
    writes: float = 0.1
    """Share of the requests that write."""
    tenants: int = 100
    skew: float = 1.0
    """The exponent of Zipf: tenant r asks in proportion to r^-skew; 0: all ask alike."""
    policy: Policy = "least connections"
    read_s: Draw = field(default=lambda rng: rng.expovariate(1 / 0.02))
    """Of a read at a node."""
    write_s: Draw = field(default=lambda rng: rng.expovariate(1 / 0.02))
    """Of a write at a node."""
    lookup_s: Draw | None = None
    """Of a read at a shard."""
    turn_s: Draw | None = None
    """For which a write has the turn of its shard."""
    dies: tuple[float, float] | None = None
    """When the first node dies, and when it is back."""
    moves: tuple[float, float] | None = None
    """When the first tenant's writes pause, and when they go on at the last shard."""
    for_s: float = 200.0
    warm_s: float = 20.0
    """Seconds at the beginning that are not counted."""
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it: seconds of the reads and of the writes in the order of their ends, what was lost, and how busy each was."""

    reads: np.ndarray[Any, np.dtype[np.float64]]
    writes: np.ndarray[Any, np.dtype[np.float64]]
    waits: np.ndarray[Any, np.dtype[np.float64]]
    """Seconds of each read in the queue of its node."""
    lost: int
    per_s: float
    node_load: tuple[float, ...]
    turn_load: tuple[float, ...]


class Station:
    """A queue before some servers: first come, first served."""

    def __init__(self, events: Events, servers: int) -> None:
        self._events, self._servers = events, servers
        self._queue: deque[tuple[float, Callable[[], None]]] = deque()
        self._taken = 0
        self.busy_s = 0.0
        self.waiting = 0
        """Requests that are here, waiting or being served."""
        self._life = 0

    def enter(self, service_s: float, done: Callable[[float], None]) -> None:
        """Serve a request, then call `done` with the seconds that it waited."""
        self.waiting += 1
        begin = self._events.now
        self._queue.append((service_s, lambda: done(self._events.now - begin - service_s)))
        self._serve()

    def clear(self) -> int:
        """Lose everything that is here; return how much that was."""
        lost, self.waiting, self._taken = self.waiting, 0, 0
        self._queue.clear()
        self._life += 1
        return lost

    def _serve(self) -> None:
        while self._queue and self._taken < self._servers:
            service_s, done = self._queue.popleft()
            self._taken += 1
            self.busy_s += service_s
            self._events.after(service_s, partial(self._end, done, self._life))

    def _end(self, done: Callable[[], None], life: int) -> None:
        if life != self._life:
            return
        self._taken -= 1
        self.waiting -= 1
        done()
        self._serve()


class Events:
    """What happens when, by a heap."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def after(self, wait_s: float, work: Callable[[], None]) -> None:
        """Do something later."""
        heapq.heappush(self._heap, (self.now + wait_s, next(self._order), work))

    def run(self, until: float) -> None:
        """Let everything happen up to a time."""
        while self._heap and self._heap[0][0] <= until:
            self.now, _, work = heapq.heappop(self._heap)
            work()


def simulate(cluster: Cluster) -> Outcome:
    """Simulate a cluster; the same one gives the same outcome."""
    events, rng = Events(), random.Random(cluster.seed)
    nodes = [Station(events, cluster.cores) for _ in range(cluster.nodes)]
    readers = [Station(events, cluster.readers) for _ in range(cluster.shards)]
    turns = [Station(events, 1) for _ in range(cluster.shards)]
    weights = list(accumulate((rank + 1) ** -cluster.skew for rank in range(cluster.tenants)))
    of_tenant = [tenant % cluster.shards for tenant in range(cluster.tenants)]
    preferred = [sorted(range(cluster.nodes), key=partial(_hash, tenant)) for tenant in range(cluster.tenants)]
    seconds: dict[bool, list[float]] = {False: [], True: []}
    waits: list[float] = []
    seen = [True] * cluster.nodes  # by the balancer
    up = [True] * cluster.nodes
    paused: list[Callable[[], None]] | None = None
    lost, turn = 0, 0

    def choose(tenant: int) -> int:
        nonlocal turn
        able = [place for place in range(cluster.nodes) if seen[place]]
        turn += 1
        if cluster.policy == "hash by tenant":
            return next(place for place in preferred[tenant] if seen[place])
        if cluster.policy == "least connections":
            return min(able, key=lambda place: (nodes[place].waiting, (place - turn) % cluster.nodes))
        return able[turn % len(able)]

    def arrive() -> None:
        events.after(rng.expovariate(cluster.rate), arrive)
        tenant = min(bisect(weights, rng.random() * weights[-1]), cluster.tenants - 1)
        writes = rng.random() < cluster.writes
        place = choose(tenant)
        while not up[place]:  # nobody takes the connection: the balancer asks the next one
            place = (place + 1) % cluster.nodes
        begin = events.now

        def end() -> None:
            if begin >= cluster.warm_s:
                seconds[writes].append(events.now - begin)

        def go_to_shard(waited_s: float) -> None:
            if begin >= cluster.warm_s and not writes:
                waits.append(waited_s)
            stations, draw = (turns, cluster.turn_s) if writes else (readers, cluster.lookup_s)
            if draw is None:
                end()
            elif writes and tenant == 0 and paused is not None:
                paused.append(lambda: go_to_shard(0.0))
            else:
                stations[of_tenant[tenant]].enter(draw(rng), lambda waited_s: end())

        nodes[place].enter((cluster.write_s if writes else cluster.read_s)(rng), go_to_shard)

    def die() -> None:
        nonlocal lost
        up[0] = False
        lost += nodes[0].clear()
        events.after(HEALTH_S, lambda: seen.__setitem__(0, up[0]))

    def return_to_life() -> None:
        up[0] = True
        events.after(HEALTH_S, lambda: seen.__setitem__(0, True))

    def pause() -> None:
        nonlocal paused
        paused = []

    def go_on() -> None:
        nonlocal paused
        held, paused = paused or [], None
        of_tenant[0] = cluster.shards - 1
        for work in held:
            work()

    events.after(rng.expovariate(cluster.rate), arrive)
    for when, works in ((cluster.dies, (die, return_to_life)), (cluster.moves, (pause, go_on))):
        for at, work in zip(when or (), works, strict=False):
            events.after(at, work)
    events.run(cluster.for_s)
    counted_s = cluster.for_s - cluster.warm_s
    return Outcome(
        reads=np.array(seconds[False]),
        writes=np.array(seconds[True]),
        waits=np.array(waits),
        lost=lost,
        per_s=(len(seconds[False]) + len(seconds[True])) / counted_s,
        node_load=tuple(round(node.busy_s / cluster.for_s / cluster.cores, 3) for node in nodes),
        turn_load=tuple(round(one.busy_s / cluster.for_s, 3) for one in turns),
    )


def _hash(tenant: int, place: int) -> bytes:
    """Order nodes for a tenant. Source: Thaler and Ravishankar 1998, highest random weight."""
    return blake2b(f"{tenant} {place}".encode(), digest_size=8).digest()


def wait_of_erlang(rate: float, service_s: float, servers: int) -> float:
    """Mean wait in an M/M/c queue. Source: Erlang 1917; Kleinrock, Queueing Systems I (1975), 3.5."""
    offered = rate * service_s
    busy = offered / servers
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    last = offered**servers / math.factorial(servers) / (1 - busy)
    return last / (sum(terms) + last) * service_s / (servers * (1 - busy))


def interval(values: np.ndarray[Any, np.dtype[np.float64]], batches: int = 30) -> tuple[float, float]:
    """Mean of values in their order, and its standard error by batch means, as neighbours in a queue are alike."""
    whole = values[: len(values) // batches * batches].reshape(batches, -1).mean(axis=1)
    return float(whole.mean()), float(whole.std(ddof=1) / math.sqrt(batches))


def draw_from(quantiles: Sequence[float]) -> Draw:
    """Draw from a distribution that is known by evenly spaced quantiles, from the least to the most, in seconds."""

    def draw(rng: random.Random) -> float:
        at = rng.random() * (len(quantiles) - 1)
        low = int(at)
        return quantiles[low] + (quantiles[min(low + 1, len(quantiles) - 1)] - quantiles[low]) * (at - low)

    return draw


def main(argv: Sequence[str] | None = None) -> str:
    """Print and return the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--measure", action="store_true", help="measure two real nodes, and compare them with the simulation"
    )
    parser.add_argument("--notes", type=int, default=500, help="of the memory that is measured")
    parser.add_argument("--model", default="trigram", choices=("minilm", "trigram"))
    parser.add_argument("--pause-s", type=float, default=2.0, help="for which the writes of a tenant pause that moves")
    parser.add_argument("--for-s", type=float, default=200.0, help="seconds that are simulated")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--record", action="store_true", help="append what was measured to tests/bench/results")
    chosen = parser.parse_args(argv)
    if chosen.measure:
        figures = measure(chosen.notes, chosen.model)
        record("cluster", figures, chosen.record)
    else:
        figures = load_measured()
    base = cluster_of(figures, chosen.for_s)
    lines = [*compare(figures), *tell_nodes(base), *tell_faults(base, chosen.pause_s), *tell_shards(base)]
    print("\n".join(lines))
    if chosen.picture:
        draw_picture(base, chosen.picture)
    return "\n".join(lines)


def load_measured() -> dict[str, Any]:
    """Return what was recorded last; raises `SystemExit` where nothing was."""
    path = RESULTS / "cluster.jsonl"
    if not path.exists():
        raise SystemExit("nothing is recorded yet: run with --measure --record")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["figures"]
    return found


def cluster_of(figures: Mapping[str, Any], for_s: float) -> Cluster:
    """A cluster with the measured service times: what a recall or a note takes of a node, and for how long a note has the turn."""
    return Cluster(
        read_s=draw_from(figures["recall_s"]),
        write_s=draw_from(figures["note_s"]),
        turn_s=draw_from(figures["turn_s"]),
        for_s=for_s,
        warm_s=for_s / 10,
    )


def mean_of(cluster: Cluster) -> float:
    """Mean seconds of a node that a request takes."""
    rng = random.Random(0)
    reads, writes = (sum(draw(rng) for _ in range(5_000)) / 5_000 for draw in (cluster.read_s, cluster.write_s))
    return (1 - cluster.writes) * reads + cluster.writes * writes


def tell_nodes(base: Cluster) -> Iterator[str]:
    """Tell throughput and waits by number of nodes and policy, at four fifths of what they could do."""
    yield "\n| nodes | policy | asked /s | answered /s | p50 ms | p99 ms | busiest node |\n|---|---|---|---|---|---|---|"
    for nodes in (1, 2, 4, 8, 16):
        rate = 0.8 * nodes / mean_of(base)
        for policy in POLICIES if nodes > 1 else POLICIES[:1]:
            found = simulate(replace(base, nodes=nodes, rate=rate, policy=policy, turn_s=None))
            p50, p99 = np.quantile(found.reads, (0.5, 0.99)) * 1000
            yield (
                f"| {nodes} | {policy} | {rate:.0f} | {found.per_s:.0f} | {p50:.0f} | {p99:.0f} | {max(found.node_load):.0%} |"
            )


def tell_faults(base: Cluster, pause_s: float) -> Iterator[str]:
    """Tell what a node that dies for a minute costs, and a tenant that moves."""
    middle = base.for_s / 2
    yield "\n| four nodes at half of what they could do, half of it writes | p50 ms | p99 ms | p99 of writes | longest | lost |"
    yield "|---|---|---|---|---|---|"
    base = replace(base, writes=0.5)
    well = replace(base, nodes=4, shards=4, rate=0.5 * 4 / mean_of(base))
    for name, cluster in (
        ("all well", well),
        ("one dies, and returns after 30 s", replace(well, dies=(middle, middle + 30.0))),
        (
            f"the busiest tenant moves, pausing its writes {pause_s:g} s",
            replace(well, moves=(middle, middle + pause_s)),
        ),
    ):
        found = simulate(cluster)
        p50, p99 = np.quantile(found.reads, (0.5, 0.99)) * 1000
        written = np.quantile(found.writes, (0.99, 1.0)) * 1000
        yield f"| {name} | {p50:.0f} | {p99:.0f} | {written[0]:.0f} | {written[1]:.0f} | {found.lost} |"


def tell_shards(base: Cluster) -> Iterator[str]:
    """Tell the waits of writes by number of shards, for tenants alike and tenants of which few ask most."""
    yield "\n| shards | tenants | writes /s | p50 of writes ms | p99 | busiest turn |\n|---|---|---|---|---|---|"
    for row in shard_rows(base):
        load = f"{row['load']:.0%}" + (" (add a shard, or move a tenant)" if row["load"] > 0.7 else "")
        name = "alike" if not row["skew"] else f"Zipf {row['skew']:g}"
        yield f"| {row['shards']:.0f} | {name} | {row['rate']:.0f} | {row['p50']:.0f} | {row['p99']:.0f} | {load} |"


def shard_rows(base: Cluster) -> Iterator[dict[str, float]]:
    """Simulate writes to more and more shards, at three times of what one could take with half its turn."""
    assert base.turn_s is not None
    rng = random.Random(0)
    turn_s = sum(base.turn_s(rng) for _ in range(5_000)) / 5_000
    rate = 1.5 / turn_s
    for skew in (0.0, 1.0):
        for shards in (2, 4, 8):
            # Nodes enough: only the turns are asked about.
            cluster = replace(base, nodes=16, cores=8, shards=shards, skew=skew, rate=rate, writes=1.0)
            found = simulate(cluster)
            p50, p99 = np.quantile(found.writes, (0.5, 0.99)) * 1000
            load = max(found.turn_load)
            yield {"shards": shards, "skew": skew, "rate": rate, "p50": p50, "p99": p99, "load": load}


def compare(figures: Mapping[str, Any]) -> Iterator[str]:
    """Tell what was predicted for the two real nodes, beside what was seen."""
    yield "| two nodes, asked /s | answered /s, predicted | seen | p50 ms, predicted | seen | p99 ms, predicted | seen |"
    yield "|---|---|---|---|---|---|---|"
    for seen in figures["seen"]:
        alone = draw_from(seen.get("alone_s", figures["recall_s"]))
        cluster = Cluster(read_s=alone, writes=0.0, rate=seen["rate"], policy="round robin", for_s=1_000.0)
        found = simulate(cluster)
        p50, p99 = np.quantile(found.reads, (0.5, 0.99)) * 1000
        yield (
            f"| {seen['rate']:.1f} | {found.per_s:.1f} | {seen['per_s']:.1f} | {p50:.0f} | {seen['p50_ms']:.0f} | "
            f"{p99:.0f} | {seen['p99_ms']:.0f} |"
        )


def draw_picture(base: Cluster, path: Path) -> None:
    """Draw the 99th percentile of recalls by load and policy, and that of writes by number of shards."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "cluster"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    loads = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
    for policy in POLICIES:
        p99 = []
        for load in loads:
            rate = load * 4 / mean_of(base)
            found = simulate(replace(base, nodes=4, rate=rate, policy=policy, turn_s=None))
            p99.append(float(np.quantile(found.reads, 0.99)) * 1000)
        left.plot([100 * load for load in loads], p99, marker="o", label=policy)
    left.set(
        xlabel="load of four nodes, %",
        ylabel="p99 of a recall, ms",
        yscale="log",
        title="Ways to balance, tenants by Zipf",
    )
    left.legend()
    rows = list(shard_rows(base))
    for skew, name in ((0.0, "tenants alike"), (1.0, "tenants by Zipf")):
        some = [row for row in rows if row["skew"] == skew]
        right.plot([row["shards"] for row in some], [row["p99"] for row in some], marker="o", label=name)
    right.set(
        xlabel="shards", ylabel="p99 of a write, ms", yscale="log", title=f"{rows[0]['rate']:.0f} writes a second"
    )
    right.legend()
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})


def measure(notes: int, model: str) -> dict[str, Any]:
    """Measure one node that does nothing else, then two nodes behind a round robin at three rates."""
    life = Life(names=30)
    questions = list(life.questions(300))
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        query_url, update_url = running.enter_context(serving_store(Path(name) / "store"))
        os.environ |= {
            "MEMENTO_STORE_KIND": "sparql",
            "MEMENTO_STORE_QUERY_URL": query_url,
            "MEMENTO_STORE_UPDATE_URL": update_url,
        }
        ports = [running.enter_context(serving(Path(name) / place, model, free_port()))[1] for place in ("one", "two")]
        client = running.enter_context(httpx2.Client(timeout=60, limits=httpx2.Limits(max_connections=256)))
        rows = "".join(json.dumps({"content": row.content}) + "\n" for row in life.notes(notes))
        head = {"Content-Type": "application/x-ndjson"}
        client.post(
            f"http://127.0.0.1:{ports[0]}/memory/import?consolidate=false", content=rows, headers=head, timeout=600
        )

        def recall(port: int, number: int) -> float:
            begin = time.perf_counter()
            question = quote(questions[number % len(questions)])
            client.get(f"http://127.0.0.1:{port}/memory/recall?question={question}").raise_for_status()
            return time.perf_counter() - begin

        def note(port: int, number: int) -> float:
            begin = time.perf_counter()
            content = {"content": f"The parcel {number} is in locker {number}."}
            client.post(f"http://127.0.0.1:{port}/memory/notes", json=content).raise_for_status()
            return time.perf_counter() - begin

        for number in range(20):
            recall(ports[number % 2], number)
        recalls = [recall(ports[number % 2], number) for number in range(60)]
        written = [note(ports[0], number) for number in range(40)]
        metrics = client.get(f"http://127.0.0.1:{ports[0]}/metrics").text
        seen = [offer_beside(recall, ports, load) for load in (0.2, 0.4, 0.6)]
    held = read_mean(metrics, "store_turn_hold_seconds")
    grid = np.linspace(0, 1, PARTS + 1)
    note_s = np.quantile(written, grid)
    return {
        "notes": notes,
        "model": model,
        "recall_s": np.quantile(recalls, grid).round(5).tolist(),
        "note_s": note_s.round(5).tolist(),
        # As long as the note itself varies, scaled to the mean that the turn was held.
        "turn_s": (note_s * held / np.mean(written)).round(5).tolist(),
        "seen": seen,
        "load_average": round(os.getloadavg()[0], 1),
    }


def offer_beside(ask: Callable[[int, int], float], ports: Sequence[int], load: float) -> dict[str, Any]:
    """
    Ask two nodes at a share of what they could do; right before and after, measure what one answer takes alone, as a machine that
    others use is not the same from minute to minute.
    """
    before = [ask(ports[number % 2], number) for number in range(25)]
    seen = offer(ask, ports, load * 2 / (sum(before) / len(before)), 12.0)
    alone = before + [ask(ports[number % 2], number) for number in range(25)]
    return {**seen, "alone_s": np.quantile(alone, np.linspace(0, 1, PARTS + 1)).round(5).tolist()}


def read_mean(metrics: str, name: str) -> float:
    """Mean of a histogram of `/metrics`."""
    values = {}
    for part in ("sum", "count"):
        lines = [line for line in metrics.splitlines() if line.startswith(f"memento_{name}_{part}")]
        values[part] = sum(float(line.rpartition(" ")[2]) for line in lines)
    return values["sum"] / values["count"]


def offer(ask: Callable[[int, int], float], ports: Sequence[int], rate: float, for_s: float) -> dict[str, float]:
    """Ask at a rate whether the answers keep up or not; the seconds of each count from when it was to be asked."""
    rng, took = random.Random(3), []
    lock = threading.Lock()

    def ask_late(number: int, due: float) -> None:
        ask(ports[number % len(ports)], number)
        with lock:
            took.append(time.perf_counter() - due)

    with ThreadPoolExecutor(200) as pool:
        begin = due = time.perf_counter()
        for number in count():
            due += rng.expovariate(rate)
            if due - begin > for_s:
                break
            time.sleep(max(due - time.perf_counter(), 0.0))
            pool.submit(ask_late, number, due)
    spent_s = time.perf_counter() - begin
    p50, p99 = np.quantile(took, (0.5, 0.99)) * 1000
    return {
        "rate": round(rate, 2),
        "per_s": round(len(took) / spent_s, 2),
        "p50_ms": round(float(p50), 1),
        "p99_ms": round(float(p99), 1),
    }


if __name__ == "__main__":
    main()
