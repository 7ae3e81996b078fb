"""
How much does Memento cost between a client and its provider: for a request, for the first byte of an answer, for a hundred streams?

The provider is a stub in a separate process that answers at once. Baselines: a direct connection, and a program that only copies
bytes. The three alternate in blocks, so that other load on the machine affects each of them. Relay only: requests that switch
memories off. With recall: questions among `--notes` synthetic notes, each asked once.
Run: `.venv/bin/python tests/bench/proxy.py [--notes 10000] [--record]`; the notes take two minutes on two cores, the rest one.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import startup
from measure import arguments, memory_in, record
from people import Life

CHAT = "/v1/chat/completions"
OFF = "x-memento: off\r\n"
HERE = Path(__file__).parent

Figures = dict[str, float]


@dataclass(frozen=True)
class Route:
    """A way to the provider."""

    name: str
    port: int


@dataclass(frozen=True)
class Taken:
    """Seconds until the first byte of the body, and until the last."""

    first: float
    last: float
    status: str


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures of each way."""
    parser = arguments(__doc__ or "", notes=10_000)
    parser.add_argument("--requests", type=int, default=600, help="requests of each way and each number of connections")
    parser.add_argument("--asked", type=int, default=200, help="questions with recall")
    parser.add_argument("--streams", type=int, default=100, help="streams at once")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each of them takes")
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    with (
        proxied_life(life, chosen.notes, chosen.model) as (process, port, provider),
        printing_its_port([str(HERE / "passthrough.py"), str(provider)]) as copy,
    ):
        routes = [Route("direct", provider), Route("bare copy", copy), Route("memento", port)]
        questions = list(life.questions(chosen.asked))
        figures: dict[str, object] = {
            "notes": chosen.notes,
            "model": chosen.model,
            "relay at 1": asyncio.run(relayed(routes, chosen.requests, 1)),
            "relay at 16": asyncio.run(relayed(routes, chosen.requests, 16)),
            "first byte with recall": asyncio.run(first_bytes(routes, questions)),
            "streams": asyncio.run(streams(routes, chosen.streams, chosen.seconds, process.pid)),
        }
    for title, found in figures.items():
        print(f"{title}: {found}" if not isinstance(found, dict) else f"{title}\n" + "\n".join(lines(found)))
    record("proxy", figures, chosen.record)
    return figures


def lines(found: dict[str, object]) -> Iterator[str]:
    """A figure in a line."""
    return (f"  {name:<26} {value}" for name, value in found.items())


async def relayed(routes: Sequence[Route], requests: int, connections: int) -> dict[str, Figures | float]:
    """Milliseconds of requests without memories, over connections that stay open; and what Memento adds."""
    body = {"model": "plain", "messages": [{"role": "user", "content": "What did I talk about with Ada?"}]}
    taken: dict[str, list[Taken]] = {route.name: [] for route in routes}
    block = max(requests // 12 // connections, 1)

    async def worker(route: Route, count: int) -> list[Taken]:
        streams = await asyncio.open_connection("127.0.0.1", route.port)
        try:
            return [await exchanged(streams, body, OFF) for _ in range(count)]
        finally:
            streams[1].close()

    for turn in range(13):
        for route in routes:
            found = await asyncio.gather(*(worker(route, block) for _ in range(connections)))
            taken[route.name] += [one for each in found for one in each] if turn else []  # the first warms up
    spreads: dict[str, Figures | float] = {name: _spread([one.last for one in each]) for name, each in taken.items()}
    return spreads | _added(taken, lambda one: one.last)


async def first_bytes(routes: Sequence[Route], questions: Sequence[str]) -> dict[str, Figures | float]:
    """Milliseconds until the first byte of a streamed answer to questions that bring memories with them."""
    taken: dict[str, list[Taken]] = {route.name: [] for route in routes}
    recalls = []
    for place, question in enumerate(questions):
        recalls.append(await asyncio.to_thread(recalled, routes[-1].port, f"{question} [{place}]"))
        for route in routes:
            body = {
                "model": "plain",
                "stream": True,
                "messages": [{"role": "user", "content": f"{question} ({place})"}],
            }
            streams = await asyncio.open_connection("127.0.0.1", route.port)
            found = await exchanged(streams, body, "")
            streams[1].close()
            taken[route.name].append(found)
    states = [one.status for one in taken["memento"]]
    counted = {f"status {state}": float(states.count(state)) for state in sorted(set(states))}
    spreads: dict[str, Figures | float] = {name: _spread([one.first for one in each]) for name, each in taken.items()}
    return spreads | {"recall alone": _spread(recalls)} | _added(taken, lambda one: one.first) | counted


async def streams(routes: Sequence[Route], count: int, seconds: float, pid: int) -> dict[str, Figures | float]:
    """Seconds until streams that run at once have all ended, and memory that each of them holds while nothing comes."""
    body = {"model": "paced", "chunks": 20, "pause": seconds / 19, "stream": True, "messages": []}
    found: dict[str, Figures | float] = {}

    async def one(route: Route, asked: Mapping[str, object]) -> Taken:
        stream = await asyncio.open_connection("127.0.0.1", route.port)
        try:
            return await exchanged(stream, asked, OFF)
        finally:
            stream[1].close()

    before = resident(pid)
    idle = [asyncio.ensure_future(one(routes[-1], {**body, "chunks": 2, "pause": 2 * seconds})) for _ in range(count)]
    await asyncio.sleep(seconds)
    found["kB_per_idle_stream"] = round((resident(pid) - before) / count, 1)
    await asyncio.gather(*idle)
    for route in routes:
        begin = time.perf_counter()
        taken = await asyncio.gather(*(one(route, body) for _ in range(count)))
        ends = time.perf_counter() - begin
        found[route.name] = {
            "all_ended_s": round(ends, 3),
            "first_byte_p99_ms": _spread([each.first for each in taken])["p99"],
        }
    found["resident_MB"] = round(resident(pid) / 1024, 1)
    return found


async def exchanged(
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], body: Mapping[str, object], headers: str
) -> Taken:
    """One request, and its answer read to the end."""
    reader, writer = streams
    data = json.dumps(body).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(data)}\r\n\r\n"
    begin = time.perf_counter()
    writer.write(head.encode() + data)
    fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    named = dict(line.split(": ", 1) for line in fields[1:] if line)
    if "200" not in fields[0]:
        raise SystemExit(fields[0])
    if "content-length" in named:
        await reader.readexactly(1)
        first = time.perf_counter() - begin
        await reader.readexactly(int(named["content-length"]) - 1)
        return Taken(first, time.perf_counter() - begin, named.get("x-memento-status", ""))
    first = 0.0
    while size := int(await reader.readline(), 16):
        first = first or time.perf_counter() - begin
        await reader.readexactly(size + 2)
    await reader.readline()
    return Taken(first, time.perf_counter() - begin, named.get("x-memento-status", ""))


def recalled(port: int, question: str) -> float:
    """Seconds that a recall took, by its own account."""
    query = urllib.parse.urlencode({"q": question})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/memory/recall?{query}", timeout=30) as answer:
        return float(json.load(answer)["timings_ms"]["total"]) / 1000


def _added(taken: dict[str, list[Taken]], of: Callable[[Taken], float]) -> Figures:
    """What Memento adds to a direct connection, quantile by quantile."""
    direct, through = ([of(one) for one in taken[name]] for name in ("direct", "memento"))
    differences = (np.quantile(through, (0.5, 0.99)) - np.quantile(direct, (0.5, 0.99))) * 1000
    return {"added_p50_ms": round(float(differences[0]), 2), "added_p99_ms": round(float(differences[1]), 2)}


def _spread(seconds: Sequence[float]) -> Figures:
    p50, p99 = np.quantile(seconds, (0.5, 0.99)) * 1000
    return {"p50": round(float(p50), 2), "p99": round(float(p99), 2)}


def resident(pid: int) -> int:
    """Kilobytes of a process in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


@contextmanager
def proxied_life(life: Life, notes: int, model: str) -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
    """The service over so many notes in front of a stub of a provider: its process, its port, and that of the provider."""
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as stack:
        with memory_in(Path(name), model) as owned:
            owned.intake.import_notes(life.notes(notes))
        provider = stack.enter_context(printing_its_port([str(HERE.parent / "upstream.py")]))
        process, port = stack.enter_context(memento(Path(name), model, provider))
        yield process, port, provider


@contextmanager
def printing_its_port(command: list[str]) -> Iterator[int]:
    """A Python program that prints its port and ends with its standard input."""
    with subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield int(process.stdout.readline())


@contextmanager
def memento(folder: Path, model: str, provider: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The service in front of the provider, once it says that it is ready; and its port."""
    port = startup.free_port()
    environment = {
        "MEMENTO_EMBEDDING_MODEL": model,
        "MEMENTO_EMBEDDING_CACHE": "false",
        "MEMENTO_PROXY_OPENAI_BASE_URL": f"http://127.0.0.1:{provider}/v1",
    }
    command = [sys.executable, "-m", "memento", "--home", str(folder), "serve", "--port", str(port)]
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        begin = time.perf_counter()
        while not startup.healthy(port):
            if process.poll() is not None or time.perf_counter() - begin > startup.READY_S:
                raise SystemExit("the service did not become ready")
            time.sleep(0.05)
        yield process, port
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
