"""
How many chats lack their memories on a busy machine: at their first turn, and still at their next?

Two turns each of `--chats` chats, one after the other through a service with `--notes` synthetic notes, beside `--busy` processes
that keep a core busy each. The provider is a stub in a process of its own. A chat whose first request was forwarded without
memories catches up if the next request brings them (`x-memento-caught-up`), and is lost if that one is late too.
Run: `.venv/bin/python tests/bench/late_recalls.py [--chats 200] [--busy 2]`; it takes three minutes on two cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx2
import numpy as np

from measure import arguments, record
from people import Life
from proxy import CHAT, proxied_life


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = arguments(__doc__ or "", notes=2_000)
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--busy", type=int, default=2, help="processes that keep a core busy")
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    with proxied_life(life, chosen.notes, chosen.model) as (_, port, _), busy_cores(chosen.busy):
        figures = ask_chats(f"http://127.0.0.1:{port}{CHAT}", life.questions(2 * chosen.chats))
    print(json.dumps(figures, indent=2))
    record("late_recalls", figures, chosen.record)
    return figures


def ask_chats(url: str, questions: Sequence[str]) -> dict[str, object]:
    """Two turns of each chat: the states of the first and of the second, and how long their memories were waited for."""
    firsts, seconds = Counter[str](), Counter[str]()
    waited: list[float] = []
    late = lost = 0
    with httpx2.Client(timeout=120) as client:
        for first, second in zip(questions[::2], questions[1::2], strict=True):
            asked: list[dict[str, str]] = [{"role": "user", "content": first}]
            opening = client.post(url, json={"model": "plain", "messages": asked})
            asked += [{"role": "assistant", "content": "Let me see."}, {"role": "user", "content": second}]
            following = client.post(url, json={"model": "plain", "messages": asked})
            firsts[opening.headers["x-memento-status"]] += 1
            seconds[following.headers["x-memento-status"]] += 1
            waited += [float(one.headers["x-memento-ms"]) for one in (opening, following)]
            if opening.headers["x-memento-status"] in ("timeout", "error"):
                late += 1
                lost += following.headers["x-memento-status"] in ("timeout", "error")
    p50, p95, most = np.quantile(waited, (0.5, 0.95, 1.0))
    return {
        "chats": len(questions) // 2,
        "first turns": dict(firsts),
        "next turns": dict(seconds),
        "late at their first turn": late,
        "without memories at their next turn": lost,
        "waited_ms": {"p50": round(float(p50), 1), "p95": round(float(p95), 1), "max": round(float(most), 1)},
    }


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Processes that compute without end."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    main()
