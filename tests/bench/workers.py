"""
How many recalls per second, and how many requests through the proxy, do several workers answer, compared with one process over the
same memories? And how much processor time does each cost, with the store and the client included?

Both services run at the same time and get blocks of questions alternately, so that other load on the machine affects both. The
proxy has a stub provider in a separate process. The client asks in one thread over plain sockets, since it uses the same cores.
Run: `.venv/bin/python tests/bench/workers.py [--workers 2] [--record]`, some four minutes on two cores.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from measure import arguments, memory_in, record, shown, spread
from people import Life
from proxy import CHAT, HERE, printing_its_port
from startup import command, free_port, healthy

READY_S = 300.0

Cost = dict[str, float]
"""Processor seconds by part: `service`, `store`, `asking`."""


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return answers a second of each, their ratio by block, and what an answer costs."""
    parser = arguments(__doc__ or "", notes=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=8, help="blocks of questions to each")
    parser.add_argument("--block-s", type=float, default=5.0)
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    # Nobody asks the same twice: what is kept of the first time would be of use to the service with fewer processes.
    asked = life.questions(500)
    questions = [f"{asked[number % len(asked)]} ({number})" for number in range(20_000)]
    figures: dict[str, object] = {"workers": chosen.workers, "notes": chosen.notes, "model": chosen.model}
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        one, many = Path(name) / "one", Path(name) / "many"
        with memory_in(one, chosen.model) as owned:
            owned.intake.import_notes(life.notes(chosen.notes), consolidate=False)
        shutil.copytree(one, many)
        provider = running.enter_context(printing_its_port([str(HERE.parent / "upstream.py")]))
        services = [
            running.enter_context(serving(one, chosen.model, provider)),
            running.enter_context(serving(many, chosen.model, provider, "--workers", str(chosen.workers))),
        ]
        for kind, requests in (
            ("recall", [recall_request(one) for one in questions[:10_000]]),
            ("proxy", [proxy_request(one) for one in questions[10_000:]]),
        ):
            series = (iter(requests), iter(requests))
            found: list[list[list[float]]] = [[], []]
            costs: list[Cost] = [{}, {}]
            for block in range(-1, chosen.blocks):  # the first warms
                for place in (0, 1) if block % 2 else (1, 0):
                    process, port = services[place]
                    before = list_cpu(process)
                    took = ask_for(chosen.block_s, port, series[place], chosen.connections)
                    after = list_cpu(process)
                    if block >= 0:
                        found[place].append(took)
                        for part, seconds in after.items():
                            costs[place][part] = costs[place].get(part, 0) + seconds - before.get(part, 0)
            figures[kind] = report(kind, found, costs, chosen.block_s, chosen.workers)
    record("workers", figures, chosen.record)
    return figures


def report(
    kind: str, found: Sequence[Sequence[Sequence[float]]], costs: Sequence[Cost], block_s: float, workers: int
) -> dict[str, object]:
    """Print and return the figures of one kind of request; `found` has seconds by service and block."""
    rates = [[len(block) / block_s for block in blocks] for blocks in found]
    ratios = sorted(b / a for a, b in zip(*rates, strict=True))
    figures: dict[str, object] = {
        "ratio": {
            "least": round(ratios[0], 2),
            "median": round(ratios[len(ratios) // 2], 2),
            "most": round(ratios[-1], 2),
        }
    }
    for place, label in enumerate(("one process", f"{workers} workers")):
        every = [seconds for block in found[place] for seconds in block]
        cpu_ms = {part: round(seconds / len(every) * 1000, 1) for part, seconds in sorted(costs[place].items())}
        cores = sum(costs[place].values()) / (block_s * len(found[place]))
        figures[label] = {
            "per_s": round(sum(rates[place]) / len(rates[place]), 1),
            "ms": spread(every),
            "cpu_ms_each": cpu_ms,
            "cores": round(cores, 2),
        }
        print(f"{kind}: {label:<12}{sum(rates[place]) / len(rates[place]):7.1f} a second", shown("", spread(every)))
        print(f"    processor ms of each: {cpu_ms}, in all {cores:.2f} cores of {os.cpu_count()}")
    print(f"{kind}: workers to one process, by block: {figures['ratio']}")
    return figures


def recall_request(question: str) -> bytes:
    """A recall as bytes."""
    return f"GET /memory/recall?question={quote(question)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def proxy_request(question: str) -> bytes:
    """A request to a model that memories are put into, as bytes."""
    body = json.dumps({"model": "plain", "messages": [{"role": "user", "content": question}]}).encode()
    return f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def list_cpu(process: subprocess.Popen[bytes]) -> Cost:
    """Processor seconds until now: of a service with its workers, of the store it has started, and of this process."""
    cost: Cost = {"service": 0.0, "store": 0.0, "asking": time.process_time()}
    waiting = [process.pid]
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        name, _, fields = (folder / "stat").read_text(encoding="utf-8").partition(" (")[2].rpartition(") ")
        user, system = fields.split()[11:13]
        cost["store" if name == "oxigraph" else "service"] += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        for children in folder.glob("task/*/children"):
            waiting += map(int, children.read_text(encoding="utf-8").split())
    return cost


def ask_for(seconds: float, port: int, requests: Iterator[bytes], connections: int) -> list[float]:
    """Send requests over some connections for so long; return the seconds each answer took."""
    took: list[float] = []
    until = time.perf_counter() + seconds
    with selectors.DefaultSelector() as selector, ExitStack() as opened:
        for _ in range(connections):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(next(requests))
            selector.register(connection, selectors.EVENT_READ, [time.perf_counter(), b"", connection])
        while selector.get_map():
            for key, _ in selector.select():
                state = key.data
                begin, answer, connection = state
                state[1] = answer = answer + connection.recv(1 << 18)
                if not is_whole(answer):
                    continue
                if not answer.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"the service said {answer[:400]!r}")
                now = time.perf_counter()
                took.append(now - begin)
                if now >= until:
                    selector.unregister(connection)
                    continue
                state[:2] = [now, b""]
                connection.sendall(next(requests))
    return took


def is_whole(answer: bytes) -> bool:
    """Tell whether an answer is there to its last byte."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
    return body.endswith(b"0\r\n\r\n")


@contextmanager
def serving(folder: Path, model: str, provider: int, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A running service before a provider; gives its process and its port."""
    port, begin = free_port(), time.perf_counter()
    environment = {
        "MEMENTO_EMBEDDING_MODEL": model,
        "MEMENTO_ANSWERS_CACHED": "0",
        "MEMENTO_PROXY_OPENAI_BASE_URL": f"http://127.0.0.1:{provider}/v1",
    }
    process = subprocess.Popen(
        [command(), "--home", str(folder), "serve", "--port", str(port), *options],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    try:
        while not healthy(port):
            if process.poll() is not None or time.perf_counter() - begin > READY_S:
                raise SystemExit("the service did not become ready")
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        process.wait(timeout=60)


if __name__ == "__main__":
    main()
