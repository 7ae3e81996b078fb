"""
How many recalls a second do several workers answer, beside one process over the same memories?

Both services run at the same time; blocks of questions go to one and then to the other, so that what else the machine does hits
both. Run: `.venv/bin/python tests/bench/workers.py [--workers 2] [--record]`, some two minutes on two cores.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from measure import arguments, memory_in, record, shown, spread
from people import Life
from startup import command, free_port, healthy

READY_S = 300.0


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return recalls a second of each, and their ratio by block."""
    parser = arguments(__doc__ or "", notes=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=8, help="blocks of questions to each")
    parser.add_argument("--block-s", type=float, default=5.0)
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    questions = list(life.questions(500))
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        one, many = Path(name) / "one", Path(name) / "many"
        with memory_in(one, chosen.model) as owned:
            owned.import_notes(life.notes(chosen.notes), consolidate=False)
        shutil.copytree(one, many)
        ports = [
            running.enter_context(serving(one, chosen.model)),
            running.enter_context(serving(many, chosen.model, "--workers", str(chosen.workers))),
        ]
        found: dict[int, list[list[float]]] = {port: [] for port in ports}
        for block in range(-1, chosen.blocks):  # the first warms
            for port in ports if block % 2 else reversed(ports):
                took = ask_for(chosen.block_s, port, questions, chosen.connections)
                if block >= 0:
                    found[port].append(took)
    rates = {port: [len(block) / chosen.block_s for block in blocks] for port, blocks in found.items()}
    ratios = sorted(b / a for a, b in zip(rates[ports[0]], rates[ports[1]], strict=True))
    figures: dict[str, object] = {
        "workers": chosen.workers,
        "notes": chosen.notes,
        "one_per_s": round(sum(rates[ports[0]]) / chosen.blocks, 1),
        "many_per_s": round(sum(rates[ports[1]]) / chosen.blocks, 1),
        "ratio": {
            "least": round(ratios[0], 2),
            "median": round(ratios[len(ratios) // 2], 2),
            "most": round(ratios[-1], 2),
        },
        "one_ms": spread([s for block in found[ports[0]] for s in block]),
        "many_ms": spread([s for block in found[ports[1]] for s in block]),
    }
    for label, port in zip(("one process", f"{chosen.workers} workers"), ports, strict=True):
        print(f"{label:<14} {sum(rates[port]) / chosen.blocks:7.1f} recalls a second", end="   ")
        print(shown("", spread([s for block in found[port] for s in block])))
    print(f"workers to one process, by block: {figures['ratio']}")
    record("workers", figures, chosen.record)
    return figures


def ask_for(seconds: float, port: int, questions: Sequence[str], connections: int) -> list[float]:
    """Ask questions over some connections for so long; return the seconds each answer took."""
    until = time.perf_counter() + seconds

    def ask(number: int) -> list[float]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        took: list[float] = []
        at = number * 61
        while (begin := time.perf_counter()) < until:
            at += 1
            connection.request("GET", f"/memory/recall?question={quote(questions[at % len(questions)])}")
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise SystemExit(f"the service said {answer.status}: {text[:200]!r}")
            took.append(time.perf_counter() - begin)
        connection.close()
        return took

    with ThreadPoolExecutor(connections) as pool:
        return [one for some in pool.map(ask, range(connections)) for one in some]


@contextmanager
def serving(folder: Path, model: str, *options: str) -> Iterator[int]:
    """A running service; gives its port."""
    port, begin = free_port(), time.perf_counter()
    process = subprocess.Popen(
        [command(), "--home", str(folder), "serve", "--port", str(port), *options],
        env={**os.environ, "MEMENTO_EMBEDDING_MODEL": model, "MEMENTO_ANSWERS_CACHED": "0"},
        stdout=subprocess.DEVNULL,
    )
    try:
        while not healthy(port):
            if process.poll() is not None or time.perf_counter() - begin > READY_S:
                raise SystemExit("the service did not become ready")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


if __name__ == "__main__":
    main()
