"""
A tenant with N memories moves from one store to another while it is written and read: how long does the move take, how long do its
writers wait, and how fast is recall for it and for another tenant, compared with before?

Run: `.venv/bin/python tests/bench/tenants.py [--notes 10000] [--record]`, some minutes on two cores. The stores need
the program `oxigraph`, which the extra `workers` installs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from measure import arguments, record
from memento.access import Access
from memento.iris import graph_iri
from memento.model import NoteRow
from memento.python import Memento
from memento.settings import AnswersSettings, EmbeddingSettings, Settings, StoreSettings
from nodes import open_node, serving_store
from people import Life


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = arguments(__doc__ or "", notes=10_000)
    parser.add_argument("--before", type=float, default=10.0, help="seconds of the same without a move")
    chosen = parser.parse_args(argv)
    life = Life(names=30)
    rows: list[NoteRow] = list(life.notes(chosen.notes))
    questions = [row.content for row in rows[:: max(len(rows) // 50, 1)]]
    base = Settings(embedding=EmbeddingSettings(model=chosen.model, cache=False), answers=AnswersSettings(cached=0))
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        folder = Path(name)
        urls = [running.enter_context(serving_store(folder / place)) for place in ("store", "second")]
        shards = f'{{"b": {{"query_url": "{urls[1][0]}", "update_url": "{urls[1][1]}"}}}}'
        shared = replace(base, store=StoreSettings("sparql", *urls[0], shards=shards))
        node = open_node(folder / "one", shared, running)
        ada, bob = (node.with_access(Access(tenant=tenant, right="write")) for tenant in ("ada", "bob"))
        ada.import_notes(rows, consolidate=False)
        bob.import_notes(rows[: min(len(rows), 500)], consolidate=False)
        calls: dict[str, Callable[[int], object]] = {
            "note of the tenant": lambda place: ada.note(f"The crate {place} holds {place * 7} bolts."),
            "recall of the tenant": lambda place: ada.recall(questions[place % len(questions)]),
            "note of another tenant": lambda place: bob.note(f"The shelf {place} holds {place * 7} nuts."),
            "recall of another tenant": lambda place: bob.recall(questions[place % len(questions)]),
        }
        with load(calls) as before:
            time.sleep(chosen.before)
        with load(calls) as during:
            moved = node.move_tenant("ada", to="b")
        found: dict[str, object] = {
            "memories": len(rows),
            "statements": moved.statements,
            "move_s": moved.seconds,
            "cut_ms": round(moved.waited_s * 1000, 1),
        }
        for call in calls:
            found[f"{call}, before"] = summarise(before[call])
            found[f"{call}, meanwhile"] = summarise(during[call])
        noted = len(before["note of the tenant"]) + len(during["note of the tenant"])
        found["notes that were lost"] = count_lost(node, noted)
    for figure, value in found.items():
        print(f"{figure:<40} {value}")
    record("tenants", found, chosen.record)
    return found


@contextmanager
def load(calls: dict[str, Callable[[int], object]]) -> Iterator[dict[str, list[float]]]:
    """Make each call again and again in a thread, a fiftieth of a second apart; give the seconds that each took."""
    ended, taken = threading.Event(), {call: list[float]() for call in calls}

    def go_on(call: str) -> None:
        while not ended.wait(0.02):
            begin = time.perf_counter()
            calls[call](len(taken[call]) + (1_000_000 if call in _USED else 0))
            taken[call].append(time.perf_counter() - begin)
        _USED.add(call)

    threads = [threading.Thread(target=go_on, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    try:
        yield taken
    finally:
        ended.set()
        for thread in threads:
            thread.join()


_USED: set[str] = set()
"""The calls that were made before: a second time notes say something else."""


def summarise(seconds: Sequence[float]) -> str:
    """Return the middle, the 99th percentile and the longest, in ms, and how many there were."""
    figures = (*np.percentile(seconds, (50, 99)), max(seconds)) if seconds else ()
    return f"p50 / p99 / longest {' / '.join(f'{float(one) * 1000:.0f}' for one in figures)} ms of {len(seconds)}"


def count_lost(node: Memento, noted: int) -> int:
    """Return how many of the notes that were acknowledged are not in the new store."""
    graph = node.service.shards.open_shard("b").stores.graph
    there = {quad[2] for quad in graph.quads(graph_iri("ada", "main")) if str(quad[2]).startswith("The crate ")}
    return noted - len(there)


if __name__ == "__main__":
    main()
