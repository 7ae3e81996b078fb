"""
Two nodes over one `oxigraph serve`: how soon does one recall what the other noted, how fast is recall compared with an embedded
memory, and how many changes per second do four writers make?

Run: `.venv/bin/python tests/bench/nodes.py [--notes 2000] [--record]`, some three minutes on two cores. The store needs the program
`oxigraph`. With `--sizes 10000 100000` it queries synthetic memories of these sizes instead,
alternating between an embedded and a shared store; 100,000 take some five minutes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import recall_scale
from measure import arguments, record, shown, spread, timed
from memento.datadir import DataFolder
from memento.iris import IRI, MEM
from memento.model import Change, NoteRow
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.remote import RemoteStore
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.search.vectors import UPGRADED, open_vector_file
from memento.settings import AnswersSettings, EmbeddingSettings, Settings
from people import Life
from served import serving_store
from synthetic import RandomVectors, World

WRITERS = 4
GRAPH = IRI("urn:memento:data:local:bench")


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the figures."""
    parser = arguments(__doc__ or "", notes=2_000)
    parser.add_argument("--seen", type=int, default=200, help="notes of one node that the other is asked for")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--changes", type=int, default=250, help="of each writer")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="compare recall alone, at so many memories")
    parser.add_argument("--write", nargs=3, metavar=("NUMBER", "QUERY_URL", "UPDATE_URL"), help="be one of the writers")
    chosen = parser.parse_args(argv)
    if chosen.write:
        number, query_url, update_url = chosen.write
        return write(number, query_url, update_url, chosen.changes)
    if chosen.sizes:
        sized: dict[str, object] = {f"{size}": compare_recalls(size, chosen.questions) for size in chosen.sizes}
        record("nodes_sizes", sized, chosen.record)
        return sized
    life = Life(names=30)
    rows: list[NoteRow] = list(life.notes(chosen.notes))
    base = Settings(embedding=EmbeddingSettings(model=chosen.model, cache=False), answers=AnswersSettings(cached=0))
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        folder = Path(name)
        query_url, update_url = running.enter_context(serving_store(folder / "store"))
        index = IndexSettings(kind="lance", uri=str(folder / "engine"))
        shared = replace(base, store=StoreSettings("sparql", query_url, update_url), index=index)
        embedded = open_node(folder / "embedded", base, running)
        one, two = (open_node(folder / place, shared, running) for place in ("one", "two"))
        for memento in (embedded, one):
            memento.intake.import_notes(rows, consolidate=False)
        wait_for(two, chosen.notes)
        pairs = ((one, two), (two, one))
        told = [ask_other(number, *pairs[number % 2]) for number in range(chosen.seen)]
        seen, known = [seconds for _, seconds in told], sum(is_known for is_known, _ in told)
        asked: dict[str, list[float]] = {"embedded": [], "shared": []}
        for question in life.questions(chosen.questions):
            for place, memento in (("embedded", embedded), ("shared", two)):
                asked[place].append(timed(lambda memento=memento, question=question: memento.recall(question))[1])  # type: ignore[misc]
        words = [sys.executable, __file__, "--changes", str(chosen.changes), "--write"]
        writers = [
            subprocess.Popen(
                [*words, str(number), query_url, update_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for number in range(WRITERS)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        begin = time.perf_counter()
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.close()
        codes = [writer.wait() for writer in writers]
        written_s = time.perf_counter() - begin
        store = RemoteStore(SparqlClient(query_url, update_url))
        made = [str(quad[0]) for quad in store.quads(GRAPH)]
        store.close()
    wanted = WRITERS * chosen.changes
    figures: dict[str, object] = {
        "notes": chosen.notes,
        "known_at_next_request": f"{known} of {len(told)}",
        "seen_ms": {**spread(seen), "p99": round(float(np.quantile(seen, 0.99)) * 1000, 1)},
        "embedded_recall_ms": spread(asked["embedded"]),
        "shared_recall_ms": spread(asked["shared"]),
        "changes_per_s": round(wanted / written_s, 1),
        "lost": wanted - len(set(made)),
        "double": len(made) - len(set(made)),
        "failed_writers": sum(map(bool, codes)),
    }
    print(f"the other node knows at its next request: {known} of {len(told)}")
    print(shown("recall right after a note on the other node", spread(seen)), f"  p99 {figures['seen_ms']}")
    print(shown("recall, embedded", spread(asked["embedded"])))
    print(shown("recall, shared store", spread(asked["shared"])))
    print(
        f"changes of {WRITERS} writers: {figures['changes_per_s']} a second, {figures['lost']} lost, "
        f"{figures['double']} double"
    )
    record("nodes", figures, chosen.record)
    return figures


def compare_recalls(size: int, questions: int) -> dict[str, object]:
    """Ask a synthetic memory embedded, and a node that shares it with others, in turns; the embedder costs nothing."""
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        embedded_home, shared_home, served = (Path(name) / place for place in ("embedded", "shared", "served"))
        quads = recall_scale.written(World(size).quads(), DataFolder(embedded_home))
        with closing(open_vector_file(DataFolder(embedded_home).vectors, RandomVectors().fingerprint)) as vectors:
            vectors.set_mark(
                UPGRADED, "written"
            )  # both do without the edges by text: as one write each they take minutes
        recall_scale.opened(embedded_home).close()
        shutil.copytree(embedded_home / "store", served / "store")
        urls = running.enter_context(serving_store(served))
        embedded, embedded_s = timed(lambda: recall_scale.opened(embedded_home))
        running.enter_context(embedded)
        shared_store, index = StoreSettings("sparql", *urls), IndexSettings(kind="lance", uri=str(served / "engine"))
        shared, shared_s = timed(lambda: recall_scale.opened(shared_home, shared_store, index))
        running.enter_context(shared)
        memories = shared.status().memories
        assert memories == embedded.status().memories == size, memories
        asked: dict[str, list[float]] = {"embedded": [], "shared": []}
        for at, question in enumerate(World(size, seed=7).questions(questions + 8)):
            for place, memento in (("embedded", embedded), ("shared", shared)):
                seconds = timed(lambda memento=memento, question=question: memento.recall(question))[1]  # type: ignore[misc]
                if at >= 8:
                    asked[place].append(seconds)
    ratio = float(np.median(asked["shared"]) / np.median(asked["embedded"]))
    print(
        f"{size:,} memories, {quads:,} statements: start {embedded_s:.1f} s embedded, {shared_s:.1f} s over a shared store, "
        f"with filling its engine; recall p50 {ratio:.2f} times embedded"
    )
    for place, every in asked.items():
        print(shown(f"  recall, {place}", spread(every)), flush=True)
    return {
        "quads": quads,
        "embedded_recall_ms": spread(asked["embedded"]),
        "shared_recall_ms": spread(asked["shared"]),
        "ratio_p50": round(ratio, 2),
        "start_s": {"embedded": round(embedded_s, 1), "shared": round(shared_s, 1)},
    }


def open_node(home: Path, settings: Settings, running: ExitStack) -> Memento:
    """Return a memory of this process, closed at the end."""
    memento = open_memento(home, configured=settings)
    assert isinstance(memento, Memento)
    running.enter_context(memento)
    memento.warm_up()
    return memento


def wait_for(memento: Memento, notes: int) -> None:
    """Wait until a node has followed so many memories."""
    while memento.status().memories < notes:
        time.sleep(0.1)


def ask_other(number: int, writer: Memento, reader: Memento) -> tuple[bool, float]:
    """Note something on one node and ask the other once; return whether it knows it, and the seconds of the question."""
    writer.note(f"The parcel {number} for Ottilie{number} is in locker {number}.")
    begin = time.perf_counter()
    found = reader.recall(f"In which locker is the parcel for Ottilie{number}?", k=3)
    return any(f"Ottilie{number} " in one.content for one in found.memories), time.perf_counter() - begin


def write(number: str, query_url: str, update_url: str, changes: int) -> dict[str, object]:
    """Make changes one after the other, as two threads of one node."""
    store = RemoteStore(SparqlClient(query_url, update_url))
    print("ready", flush=True)
    sys.stdin.read()  # until all are

    def make(first: int) -> None:
        for at in range(first, changes, 2):
            node = IRI(f"urn:memento:bench:{number}:{at}")
            store.apply(Change(((node, MEM.content, f"change {at}", GRAPH),)))

    threads = [threading.Thread(target=make, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    return {}


if __name__ == "__main__":
    main()
