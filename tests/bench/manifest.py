"""
How long does it take to draw the map of a memory, and how long does a recall wait meanwhile?

Data: a synthetic memory (`synthetic.py`, seeded) with a random vector for each text; with `--short` texts are cut to a word, so
that a million are written sooner: the map uses only links, numbers and names. Recalls are timed alone, and while one map after the
other is drawn on another thread.
Targets: 500 ms at 10,000 memories, 10 s at 1,000,000.
Run: `.venv/bin/python tests/bench/manifest.py [--sizes 10000 100000] [--folder DIR] [--json] [--record]`; 10,000 take a minute.
`--arrays --sizes 1000000` leaves out the store and the reads from it: `indexes held`, and a `portion held` for 4,096 memories.
"""

from __future__ import annotations

import json
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from measure import record, shown, spread, timed
from memento import manifest as maps
from memento.datadir import DataFolder
from memento.iris import MEM
from memento.manifest import analyse_graph
from memento.model import Quad
from memento.python import Memento
from memento.time import now
from recall_scale import opened, written
from synthetic import World


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument("--times", type=int, default=5, help="how often a map is drawn")
    parser.add_argument("--arrays", action="store_true", help="draw from arrays, without a store: for a million")
    parser.add_argument("--short", action="store_true", help="texts of one word")
    parser.add_argument("--folder", type=Path, help="keep the memories here, and take those that are there already")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each size")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    return [(of_arrays if chosen.arrays else of_size)(n, chosen) for n in chosen.sizes]


def of_size(n: int, chosen: Namespace) -> dict[str, object]:
    """Milliseconds of a map of `n` memories, of its parts, and of recalls beside it."""
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = chosen.folder / f"manifest-{n}" if chosen.folder else Path(name)
        if not (folder / "store").exists():
            world = World(n)
            written(short(world) if chosen.short else world.quads(), DataFolder(folder))
        with opened(folder) as memento:
            ms = {what: spread(of) for what, of in measured(memento, n, chosen.times, asks=not chosen.short).items()}
            layout = memento.graphs.manifest().layout
    if chosen.json:
        print(json.dumps({"memories": n, "ms": ms}), flush=True)
    else:
        print(f"{layout.memories:,} current memories, {layout.anchors:,} anchors, {layout.links:,} links")
        print("\n".join(shown(what, of) for what, of in ms.items()), flush=True)
    figures: dict[str, object] = {"memories": n, "links": layout.links, "short": chosen.short, "ms": ms}
    record("manifest", figures, chosen.record)
    return figures


def of_arrays(n: int, chosen: Namespace) -> dict[str, object]:
    """Milliseconds of what is computed from what the indexes say, once they have said it."""
    read = arrays(n)
    found: dict[str, list[float]] = {"graph": [], "structure": []}
    for _ in range(chosen.times):
        world, seconds = timed(lambda: maps.build_world(read, [], now()))
        found["graph"].append(seconds)
        found["structure"].append(
            timed(lambda w=world: analyse_graph(w.csr, w.energy, w.importance, w.touched))[1]  # type: ignore[misc]
        )
    ms = {what: spread(of) for what, of in found.items()}
    print(json.dumps({"memories": n, "ms": ms}) if chosen.json else f"{n:,} memories as arrays")
    if not chosen.json:
        print("\n".join(shown(what, of) for what, of in ms.items()), flush=True)
    figures: dict[str, object] = {"memories": n, "arrays": True, "ms": ms}
    record("manifest", figures, chosen.record)
    return figures


def arrays(n: int) -> maps.MapData:
    """As many memories as `World` has, each about one or two of a seventh as many anchors, few of which are in everything."""
    rng = np.random.default_rng(11)
    source = np.repeat(np.arange(n), rng.integers(1, 3, n))
    anchors = max(n // 7, 1)
    drawn = ((anchors + 30) * (30 / (anchors + 30)) ** rng.random(len(source)) - 30).astype(
        np.int64
    )  # p(r) ~ 1 / (r + 30)
    ages = now().timestamp() - rng.exponential(90 * 86_400, n)
    nothing = np.zeros(0, dtype=np.int64)
    return maps.MapData(
        memories=np.arange(n, dtype=np.int32),
        size=n + anchors + 1,
        arcs=(source.astype(np.int32), (n + np.clip(drawn, 0, anchors)).astype(np.int32)),
        associated=(nothing, nothing, np.zeros(0)),
        created=ages,
        read_at=np.full(n, np.nan),
        judged_at=np.full(n, np.nan),
        energies=rng.random(n),
        importances=np.full(n, 0.5),
        accesses=np.zeros(n),
    )


def short(world: World) -> Iterator[Quad]:
    """The quads of a world with its texts cut to a word: what words mean is not on the map."""
    for subject, predicate, value, graph in world.quads():
        if predicate == MEM.content and isinstance(value, str):
            value = value.split()[0]
        yield (subject, predicate, value, graph)


def measured(memento: Memento, n: int, times: int, *, asks: bool) -> dict[str, list[float]]:
    """Seconds of each thing; the first map of a process, which loads libraries, apart."""
    found: dict[str, list[float]] = {"first map": [timed(lambda: memento.graphs.manifest(fresh=True))[1]]}
    found["map"] = [timed(lambda: memento.graphs.manifest(fresh=True))[1] for _ in range(times)]
    found["kept map"] = [timed(memento.graphs.manifest)[1] for _ in range(100)]
    scope, parts = memento.context.scope(None), memento.service.stores
    found["indexes held"], found["portion held"] = [], []
    for _ in range(times):
        with parts.indexes.lock:
            read, seconds = timed(lambda: maps.read_map_data(scope, now(), parts))
        found["indexes held"].append(seconds)
        some = read.memories[: maps.PORTION]
        found["portion held"].append(timed(lambda some=some: parts.indexes.keys.links_of(some))[1])  # type: ignore[misc]
    world = maps.build_world(read, maps.read_key_links(read.memories, parts), now())
    found["structure"] = [
        timed(lambda: analyse_graph(world.csr, world.energy, world.importance, world.touched))[1] for _ in range(times)
    ]
    if asks:
        questions = list(World(n).questions(40))
        for question in questions[:5]:
            memento.recall(question)
        found["recall"] = [timed(lambda q=question: memento.recall(q))[1] for question in questions]  # type: ignore[misc]
        found["recall beside a map"] = beside(memento, questions)
    return found


def beside(memento: Memento, questions: Sequence[str]) -> list[float]:
    """Seconds of recalls while one map after the other is drawn."""
    stop = threading.Event()

    def draw() -> None:
        while not stop.is_set():
            memento.graphs.manifest(fresh=True)

    drawer = threading.Thread(target=draw)
    drawer.start()
    time.sleep(0.05)
    try:
        return [timed(lambda q=question: memento.recall(q))[1] for question in questions]  # type: ignore[misc]
    finally:
        stop.set()
        drawer.join()


if __name__ == "__main__":
    main()
