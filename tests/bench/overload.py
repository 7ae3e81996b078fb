"""
How does a node behave under overload: how many requests are accepted and refused, and how long do the accepted ones wait?

One node over a store gets recalls and notes at 1, 3 and 10 times the rate that it can answer alone, whether it keeps up or not.
The limits are low (`--threads`, `--waiting`, `--writers`), so that a short run reaches them.

Run: `.venv/bin/python tests/bench/overload.py [--record]`, two minutes.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import httpx2
import numpy as np

from measure import arguments, record
from people import Life
from served import serving_store
from serving import serving
from startup import free_port


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = arguments(__doc__ or "", notes=500)
    parser.add_argument("--for-s", type=float, default=15.0, help="of each load")
    parser.add_argument("--notes-share", type=float, default=0.2, help="share of the requests that write")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--waiting", type=int, default=16)
    parser.add_argument("--writers", type=int, default=4)
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    questions = list(life.questions(300))
    loads = []
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        query_url, update_url = running.enter_context(serving_store(Path(name) / "store"))
        os.environ |= {
            "MEMENTO_STORE_KIND": "sparql",
            "MEMENTO_STORE_QUERY_URL": query_url,
            "MEMENTO_STORE_UPDATE_URL": update_url,
            "MEMENTO_SERVER_THREADS": str(chosen.threads),
            "MEMENTO_SERVER_WAITING": str(chosen.waiting),
            "MEMENTO_LIMITS_WRITERS": str(chosen.writers),
        }
        _, port = running.enter_context(serving(Path(name) / "node", chosen.model, free_port()))
        address = f"http://127.0.0.1:{port}/memory"
        client = running.enter_context(httpx2.Client(timeout=120, limits=httpx2.Limits(max_connections=1000)))

        def ask(number: int, writes: bool) -> httpx2.Response:
            if writes:
                return client.post(f"{address}/notes", json={"content": f"The parcel {number} is in locker {number}."})
            return client.get(f"{address}/recall?question={quote(questions[number % len(questions)])}")

        for row in list(life.notes(chosen.notes))[:100]:
            client.post(f"{address}/notes", json={"content": row.content})
        begin, alone = time.perf_counter(), 60
        for number in range(alone):
            ask(number, writes=number % round(1 / chosen.notes_share) == 0)
        rate = alone / (time.perf_counter() - begin)
        numbers, taken = count(alone), set(range(0, alone, round(1 / chosen.notes_share)))
        for times in (1, 3, 10):
            found: list[tuple[int, float, int | None]] = []
            lock, rng = threading.Lock(), random.Random(times)

            def run(number: int, writes: bool, due: float) -> None:
                status = ask(number, writes).status_code
                with lock:  # noqa: B023 — all have ended before the next load
                    found.append((status, time.perf_counter() - due, number if writes else None))  # noqa: B023

            with ThreadPoolExecutor(500) as pool:
                due = begin = time.perf_counter()
                while due - begin < chosen.for_s:
                    due += rng.expovariate(times * rate)
                    time.sleep(max(due - time.perf_counter(), 0.0))
                    pool.submit(run, next(numbers), rng.random() < chosen.notes_share, due)
            spent_s = time.perf_counter() - begin
            good = [seconds for status, seconds, _ in found if status < 300]
            taken |= {number for status, _, number in found if status < 300 and number is not None}
            p50, p99 = np.quantile(good, (0.5, 0.99)) * 1000
            loads.append(
                {
                    "times": times,
                    "asked_per_s": round(len(found) / spent_s, 1),
                    "taken_per_s": round(len(good) / spent_s, 1),
                    "refused": round(1 - len(good) / len(found), 3),
                    "statuses": dict(sorted(Counter(str(status) for status, _, _ in found).items())),
                    "p50_ms": round(float(p50), 1),
                    "p99_ms": round(float(p99), 1),
                }
            )
            print(loads[-1], flush=True)
        query = (
            "SELECT ?text WHERE { ?note a <http://purl.org/memento/Note> ; <http://purl.org/memento/content> ?text }"
        )
        sparql = address.removesuffix("/memory") + "/sparql"
        answer = client.get(sparql, params={"query": query}, headers={"Accept": "text/csv"})
        there = {int(line.split()[2]) for line in answer.text.splitlines() if line.startswith("The parcel ")}
    figures: dict[str, object] = {
        "alone_per_s": round(rate, 1),
        "loads": loads,
        "notes_taken": len(taken),
        "lost": len(taken - there),
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(f"alone {rate:.1f} a second; of {len(taken)} notes that were taken {len(taken - there)} are not there")
    record("overload", figures, chosen.record)
    return figures


if __name__ == "__main__":
    main()
