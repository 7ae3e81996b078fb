"""
How long does a recall take on a node, whose index an engine holds, compared with the index in memory, as the memory grows?

Data: a synthetic memory (`synthetic.py`, seeded). The vector of a text is the sum of the directions of its words, so that no model
is needed and texts that share words are near each other. A node's graph is behind `memento store serve` on the same machine.
Baseline: `faiss`, the index in memory over an embedded graph, in the same run.
Three passes over questions, in a new process: `cold` are the first ones, `unseen` are others that were never asked, `again` repeats
`unseen`. `pool` is the part of a recall that loads candidates. Requests are those to the object store.
Run: `.venv/bin/python tests/bench/engine_scale.py --sizes 10000 100000 --index faiss lance [--uri s3://bucket/path] [--folder DIR]
[--record]`; for an S3 address it starts `moto`, in memory in a separate process, unless AWS_ENDPOINT_URL names another store.
"""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from measure import record, shown, spread, timed
from memento.datadir import DataFolder
from memento.plugins.scale.databases import open_engine
from memento.plugins.scale.engine import Where
from memento.plugins.scale.pool import PooledIndexes
from memento.plugins.scale.settings import IndexSettings
from memento.python import Memento
from memento.search.vectors import UPGRADED, open_vector_file
from object_store import client, count_requests, serve_bucket
from recall_scale import alone, opened, resident_mb, written
from served import opened_shared
from synthetic import WordVectors, World

_COLD = 20  # questions of the first pass


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size and engine; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument("--index", nargs="+", default=["faiss", "lance"], choices=("faiss", "lance", "milvus"))
    parser.add_argument("--uri", default="", help="where the engine is; default a folder beside the graph")
    parser.add_argument("--asked", type=int, default=100, help="questions of the second pass, and of the third")
    parser.add_argument("--pool", type=int, default=IndexSettings().pool)
    parser.add_argument(
        "--exact", type=int, default=10, help="questions of which the nearest are compared with an exact search"
    )
    parser.add_argument("--folder", type=Path, help="keep the memories here, and take those that are there already")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    found = []
    with served(chosen.uri), TemporaryDirectory(prefix="memento-bench-") as name:
        for n in chosen.sizes:
            folder = (chosen.folder or Path(name)) / f"{n}"
            if not folder.exists():
                print(f"{n:,} memories, {alone(built, folder, n):,} quads", flush=True)
            for kind in chosen.index:
                place = f"{chosen.uri.rstrip('/')}/{n}" if chosen.uri else str(folder / kind)
                index = IndexSettings(kind=kind, uri="" if kind == "faiss" else place, pool=chosen.pool)
                filled = alone(filled_once, folder, index)
                asked = alone(ask, folder, n, index, chosen.asked, chosen.exact)
                figures = {"memories": n, "index": kind, "uri": place if kind != "faiss" else "", **filled, **asked}
                record("engine_scale", figures, chosen.record)
                found.append(figures)
    return found


def built(folder: Path, n: int) -> int:
    """Write the graph in one piece; return how many quads it has."""
    home = DataFolder(folder)
    count = written(World(n).quads(), home)
    file = open_vector_file(home.vectors, WordVectors().fingerprint)
    file.set_mark(UPGRADED, "written")  # else the first start adds edges to names by many small writes
    file.close()
    return count


def show_progress(done: int, total: int) -> None:
    if done % 51_200 == 0:
        print(f"  {done:,} of {total:,}", flush=True)


def filled_once(folder: Path, index: IndexSettings) -> dict[str, object]:
    """Start over the graph for the first time, which puts everything into the engine."""
    before, begin = time.process_time(), time.perf_counter()
    with open_memory(folder, index):
        seconds = time.perf_counter() - begin
    print(
        f"{folder.name} {index.kind}: filled in {seconds:.0f} s ({time.process_time() - before:.0f} of the processor)",
        flush=True,
    )
    return {"fill_s": round(seconds, 1)}


def open_memory(folder: Path, index: IndexSettings) -> AbstractContextManager[Memento]:
    """The memory of a folder, or a node over its store if an engine has the index."""
    if index.kind == "faiss":
        return opened(folder, index=index, vectors=WordVectors)
    return opened_shared(folder, index, WordVectors)


def ask(folder: Path, n: int, index: IndexSettings, count: int, exact: int) -> dict[str, object]:
    """Ask three passes of questions, and say what they took."""
    print(f"{n:,} memories, {index.kind} {index.uri if index.uri.startswith('s3:') else ''}", flush=True)
    before = resident_mb()
    questions = list(World(n, seed=7).questions(_COLD + count))
    begin = time.perf_counter()
    with open_memory(folder, index) as memento:
        start_s = time.perf_counter() - begin
        figures: dict[str, object] = {"start_s": round(start_s, 2)}
        passes = {"cold": questions[:_COLD], "unseen": questions[_COLD:], "again": questions[_COLD:]}
        figures |= {name: ask_pass(memento, some, name) for name, some in passes.items()}
        print(f"  start {start_s:.1f} s, {resident_mb() - before:,.0f} MB beyond the imports", flush=True)
    if index.kind != "faiss":
        figures |= {"bytes": size_of(index.uri) // n}
        print(f"  {figures['bytes']:,} bytes a memory in the engine", flush=True)
    if index.kind == "lance" and exact:
        figures["nearest"] = compare(index, questions[:exact])
        print(f"  of the exactly nearest {index.pool} found {figures['nearest']}", flush=True)
    return figures


def ask_pass(memento: Memento, questions: Sequence[str], name: str) -> dict[str, object]:
    """Spread of each phase in milliseconds, and requests a question."""
    spent, brought, bring = defaultdict(list), [], PooledIndexes.bring

    def time_bring(*given: Any, **named: Any) -> None:
        brought.append(timed(lambda: bring(*given, **named))[1])

    begun = count_requests()
    with patch.object(PooledIndexes, "bring", time_bring):
        for question in questions:
            brought.clear()
            recollection, seconds = timed(lambda: memento.recall(question))  # noqa: B023 (called at once)
            spent["recall"].append(seconds)
            spent["  pool"].append(sum(brought))
            for phase, ms in recollection.timings_ms.items():
                if phase != "total":
                    spent[f"  {phase}"].append(ms / 1000)
    found = {phase: spread(seconds) for phase, seconds in spent.items()}
    requests = (count_requests() - begun) / len(questions)
    print(shown(f"{name}, {requests:.1f} requests", found["recall"]), flush=True)
    if name == "unseen":
        print("\n".join(shown(phase, ms) for phase, ms in found.items() if phase != "recall"), flush=True)
    return {"ms": found, "requests": round(requests, 1)}


def compare(index: IndexSettings, questions: Sequence[str]) -> float:
    """The share of the exactly nearest windows that the engine's nearest have, of current memories."""
    import lancedb

    table: Any = lancedb.connect(index.uri).open_table("memento")
    engine = open_engine(index, 384)
    shares = []
    assert engine is not None
    for question, row in zip(questions, WordVectors().embed(questions), strict=True):
        near = {
            hit.iri
            for hit in engine.nearest(row[None].astype(np.float32), index.pool, Where(graphs=[World(0).scope.graph]))
        }
        search = table.search(row, vector_column_name="vector").distance_type("cosine").bypass_vector_index()
        exact = (
            search.where("kind = 'memory'", prefilter=True).limit(index.pool).select(["iri", "_distance"]).to_arrow()
        )
        shares.append(len(near.intersection(exact["iri"].to_pylist())) / index.pool)
        assert question
    return round(float(np.mean(shares)), 3)


def size_of(uri: str) -> int:
    """Bytes of the files of an engine."""
    if not uri.startswith("s3://"):
        return sum(path.stat().st_size for path in Path(uri).rglob("*") if path.is_file())
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    pages = client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
    return sum(one["Size"] for page in pages for one in page.get("Contents", ()))


def served(uri: str) -> AbstractContextManager[None]:
    """The bucket of an address of S3, unless AWS_ENDPOINT_URL names a store that is there."""
    if not uri.startswith("s3://") or "AWS_ENDPOINT_URL" in os.environ:
        return nullcontext()
    return serve_bucket(uri.removeprefix("s3://").split("/")[0])


if __name__ == "__main__":
    main()
