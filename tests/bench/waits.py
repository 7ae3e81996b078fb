"""
How long do others wait while one caller is heavy: `/health`, and a short note of another caller?

The loads are a file with one line of 50 MB, one heavy note of 40 kB (1,200 short sentences), and 400 heavy notes of eight kinds, 16
at a time. For each load the waits are measured until it is over, at most `--for-s` seconds.

Run: `.venv/bin/python tests/bench/waits.py [--record]`, three minutes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import numpy as np

from measure import arguments, record
from serving import serving
from startup import free_port

KINDS: tuple[Callable[[int], str], ...] = (
    lambda n: " ".join(f"Ada{n}x{i} Bo{i} met Cy{i} in Town{i}." for i in range(1_200)),
    lambda n: f"I no longer live in Oslo{n}. " * 1_500,
    lambda n: f"- I like tea {n}\n" * 2_500,
    lambda n: f"Shop{n} has " + "green tea and " * 2_800 + "cake.",
    lambda n: " ".join(f"w{n}x{i}" for i in range(5_000)),
    lambda n: " ".join(f"My employer is Acme{n}x{i}." for i in range(1_200)),
    lambda n: "\n".join(f"On 2024-01-{i % 28 + 1:02d} I paid {n + i} euro." for i in range(1_000)),
    lambda n: " ".join(f"“Tea{i}”, said Ada{n}, “is ({i}) green”." for i in range(1_000)),
)


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = arguments(__doc__ or "", notes=400)
    parser.add_argument("--for-s", type=float, default=60.0, help="at most, for each load")
    parser.add_argument("--line-mb", type=int, default=50)
    chosen = parser.parse_args(argv)
    figures: dict[str, object] = {}
    with TemporaryDirectory(prefix="memento-bench-") as name:
        line = Path(name) / "line.txt"
        line.write_bytes(b"tea " * (chosen.line_mb << 18))
        with serving(Path(name) / "home", chosen.model, free_port()) as (_, port):
            address = f"http://127.0.0.1:{port}"

            def ingest() -> int:
                return post(f"{address}/memory/ingest", {"file": str(line)})

            def give(number: int) -> int:
                return post(f"{address}/memory/notes", {"content": KINDS[number % len(KINDS)](number)})

            loads: dict[str, list[Callable[[], int]]] = {
                f"a line of {chosen.line_mb} MB": [ingest],
                "a heavy note": [lambda: give(0)],
                f"{chosen.notes} heavy notes": [lambda number=n: give(number) for n in range(1, chosen.notes + 1)],  # type: ignore[misc]
            }
            for load, work in loads.items():
                figures[load] = measure_waits(load, work, address, chosen.for_s)
    record("waits", figures, chosen.record)
    return figures


def post(address: str, body: object) -> int:
    """The status of the answer; 0 if none came in time."""
    try:
        return httpx2.post(address, json=body, timeout=60).status_code
    except httpx2.HTTPError:
        return 0


def measure_waits(load: str, work: Sequence[Callable[[], int]], address: str, for_s: float) -> dict[str, object]:
    """Do the work, 16 at a time; print and return the waits of others meanwhile, and how the work was answered."""
    over, statuses = time.monotonic() + for_s, Counter[int]()
    health: list[float] = []
    notes: list[float] = []

    def run(one: Callable[[], int]) -> None:
        if time.monotonic() < over:
            statuses[one()] += 1

    def watch(waits: list[float], ask: Callable[[int], object]) -> None:
        while not waits or (time.monotonic() < over and not done.is_set()):
            begin = time.perf_counter()
            ask(len(waits))
            waits.append(time.perf_counter() - begin)
            done.wait(0.1)

    done = threading.Event()
    watchers = [
        threading.Thread(target=watch, args=(health, lambda _: httpx2.get(f"{address}/health", timeout=60))),
        threading.Thread(
            target=watch,
            args=(notes, lambda n: post(f"{address}/memory/notes", {"content": f"I bought {load} lamp {n}."})),
        ),
    ]
    with ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(run, one) for one in work]
        for watcher in watchers:
            watcher.start()
        for one in sent:
            one.result()
    done.set()
    for watcher in watchers:
        watcher.join()
    print(f"{load}: answered {dict(statuses)}")
    return {
        "answers": {str(status): count for status, count in statuses.items()},
        "health_s": show("  /health", health),
        "note_s": show("  another caller's note", notes),
    }


def show(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Print and return p50, p95 and the maximum."""
    p50, p95, most = (round(float(one), 3) for one in np.quantile(seconds, (0.5, 0.95, 1.0)))
    print(f"{name:<24} p50 {p50:7.3f} s   p95 {p95:7.3f} s   max {most:7.3f} s   of {len(seconds)}", flush=True)
    return {"p50": p50, "p95": p95, "max": most}


if __name__ == "__main__":
    main()
