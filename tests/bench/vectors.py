"""
From how many vectors on is an index of codes faster than comparing all of them, and how many of the ten nearest does each find?

Data: seeded unit vectors in clusters, with a cosine of .7 within a cluster; or, with `--vectors FILE`, those of a data folder's
`vectors.sqlite`, which come from texts. A question is a row with noise. Baseline: every vector compared (`likeness`, and the flat
FAISS index). Milliseconds are processor time of one thread, so that other load changes them little. `--share` allows only that
share of the rows, as a filter by namespace or time does; `--gone` deletes that share, as forgetting does.
Run: `.venv/bin/python tests/bench/vectors.py [--sizes 5000 20000 …] [--record]`; building HNSW takes minutes.
"""

from __future__ import annotations

import sqlite3
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from measure import record
from memento.ports import Vectors
from memento.rank import unit
from memento.search.nearest import VectorIndex
from memento.search.vectors import VectorFile
from memento.settings import Above

SEED = 20_240_229
K = 10
POOL = 600
"""What LAND asks for: three times the candidates of a channel."""
PER_CLUSTER = 50
CHOICES: Mapping[str, tuple[int, Above]] = {"flat": (1 << 60, "ivf"), "ivf": (0, "ivf"), "hnsw": (0, "hnsw")}


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """Print a row for each size and index, and where comparing all becomes the slower one."""
    chosen = arguments().parse_args(argv)
    faiss.omp_set_num_threads(1)
    real = read_rows(chosen.vectors) if chosen.vectors else None
    found: list[dict[str, object]] = []
    print(f"{'vectors':>9} {'index':<10} {'build s':>8} {'10 ms':>7} {'600 ms':>7} {'recall@10':>10} {'of 10':>6}")
    for size in chosen.sizes:
        rows = clusters(size) if real is None else real[np.random.default_rng(SEED).permutation(len(real))[:size]]
        found += [{"vectors": len(rows), **one} for one in measure(rows, chosen)]
    for k in (K, POOL):
        for name in ("flat", "ivf", "hnsw"):
            print(f"{name} brings {k} sooner than comparing all from {crossing(found, name, k)} vectors on")
    figures = {
        "data": "texts" if chosen.vectors else "clusters",
        "share": chosen.share,
        "gone": chosen.gone,
        "rows": found,
    }
    record("vectors", figures, chosen.record)
    return found


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 50_000, 100_000], metavar="N")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="take them from a vectors.sqlite")
    parser.add_argument("--index", nargs="+", default=[*CHOICES], choices=[*CHOICES], help="these alone, beside all")
    parser.add_argument("--asked", type=int, default=100, help="questions")
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows that may come back")
    parser.add_argument("--gone", type=float, default=0.0, help="share of the rows that were dropped")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def measure(rows: Vectors, chosen: Namespace) -> list[dict[str, object]]:
    """The figures of each index over some rows, and of comparing all."""
    chance = np.random.default_rng(SEED + 1)
    asked = rows[chance.integers(0, len(rows), chosen.asked)]
    asked = unit(
        asked + chance.standard_normal(asked.shape).astype(np.float32) * np.float32(0.7 / rows.shape[1] ** 0.5)
    )
    inside = chance.random(len(rows)) < chosen.share
    gone = np.flatnonzero(chance.random(len(rows)) < chosen.gone).tolist()
    nodes, counts = np.arange(len(rows), dtype=np.int32), np.ones(len(rows), dtype=np.int64)
    seen = inside.copy()
    seen[gone] = False
    nearest = [set(best_of(rows @ one, seen, K).tolist()) for one in asked]
    found: list[dict[str, object]] = []
    for name in ("all", *chosen.index):
        index = VectorIndex(rows.shape[1], *CHOICES.get(name, CHOICES["flat"]))
        begin = time.process_time()
        index.fill(nodes, counts, rows)
        build_s = time.process_time() - begin
        for node in gone:
            index.drop(node)

        def ask(one: Vectors, k: int) -> NDArray[np.integer]:
            if name == "all":  # noqa: B023
                return best_of(index.likeness(one, len(rows)), inside, k)  # noqa: B023
            return index.search(one, k, inside)[0]  # noqa: B023

        ms = {k: spent(ask, asked, k) for k in (K, POOL)}
        brought = [ask(one[None], K).tolist() for one in asked]
        right = [len(best.intersection(some)) / max(len(best), 1) for best, some in zip(nearest, brought, strict=True)]
        figures = {
            "index": name,
            "build_s": round(build_s, 2),
            **{f"ms_{k}": round(value, 3) for k, value in ms.items()},
            "recall@10": round(float(np.mean(right)), 4),
            "brought": round(float(np.mean([len(some) for some in brought])), 2),
        }
        print(f"{len(rows):>9,}", "{:<10} {:>8} {:>7} {:>7} {:>10} {:>6}".format(*figures.values()), flush=True)
        found.append(figures)
    return found


def spent(ask: Callable[[Vectors, int], object], asked: Vectors, k: int) -> float:
    """Median milliseconds of the processor for one question."""
    taken = []
    for one in asked:
        begin = time.process_time()
        ask(one[None], k)
        taken.append(time.process_time() - begin)
    return float(np.median(taken)) * 1000


def best_of(scores: NDArray[np.floating], inside: NDArray[np.bool_], k: int) -> NDArray[np.integer]:
    nodes = np.flatnonzero(inside)
    return nodes[np.argpartition(-scores[nodes], min(k, len(nodes) - 1))[:k]]


def crossing(found: Sequence[Mapping[str, object]], name: str, k: int) -> str:
    """The first measured size from which on an index is quicker than comparing all."""
    ms = {(one["index"], int(str(one["vectors"]))): float(str(one[f"ms_{k}"])) for one in found}
    sizes = sorted(size for index, size in ms if index == name)
    sooner = {size: ms[name, size] < ms["all", size] for size in sizes}
    from_here = [size for place, size in enumerate(sizes) if all(sooner[later] for later in sizes[place:])]
    return f"{from_here[0]:,}" if from_here else "no measured number of"


def clusters(size: int, dimensions: int = 384) -> Vectors:
    """Unit vectors around random centres, as texts about the same are."""
    chance = np.random.default_rng(SEED)
    centres = unit(chance.standard_normal((max(size // PER_CLUSTER, 1), dimensions)).astype(np.float32))
    noise = chance.standard_normal((size, dimensions)).astype(np.float32) * np.float32(0.65 / dimensions**0.5)
    return unit(centres[chance.integers(0, len(centres), size)] + noise)


def read_rows(path: Path) -> Vectors:
    """The vectors of a data folder that nobody has open."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        made_by = db.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()[0]
    file = VectorFile(path, made_by)
    rows = [row for _, row in file.read_all()]
    file.close()
    return np.stack(rows)


if __name__ == "__main__":
    main()
