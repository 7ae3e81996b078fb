"""
How long does each phase of a recall take among 10,000, 100,000 or a million memories, how much memory does it need, and how long
does a start take?

Data: a synthetic memory (`synthetic.py`, seeded) with a random vector for each text: no model is used, so the figures exclude
embedding. Baselines in the same run: brute-force cosine in numpy, PageRank by power iteration, and the query of TRACE in rdflib (up
to `--rdflib` memories: it needs minutes to load more).
Run: `.venv/bin/python tests/bench/recall_scale.py [--sizes 10000 100000] [--record]`; 10,000 take half a minute on two cores,
100,000 some minutes. `--profile` also lists the functions that take the time.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import resource
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from unittest.mock import patch

import numpy as np
import pyoxigraph as ox

from measure import record, shown, spread, timed
from memento import backends
from memento.datadir import DataFolder
from memento.graph.binding import bind_query
from memento.graph.terms import to_term
from memento.iris import IRI
from memento.model import Quad
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.rank import ppr
from memento.search.embedders import Cached
from memento.search.indexes import View
from memento.settings import GateSettings, Settings
from memento.time import now
from synthetic import RandomVectors, World

T = TypeVar("T")
Seconds = dict[str, list[float]]


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument("--asked", type=int, default=200, help="questions that are timed")
    parser.add_argument("--rdflib", type=int, default=10_000, metavar="N", help="most memories that rdflib loads")
    parser.add_argument("--folder", type=Path, help="keep the memories here, and take those that are there already")
    parser.add_argument("--profile", action="store_true", help="print the functions that the time goes to")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    found = []
    for n in chosen.sizes:
        with TemporaryDirectory(prefix="memento-bench-") as name:
            folder = chosen.folder / f"{n}" if chosen.folder else Path(name)
            # Each in a process of its own, so that neither finds the other's memory.
            figures = {"memories": n, **alone(built_once, folder, n)}
            figures |= alone(asked, folder, n, chosen.asked, n <= chosen.rdflib, chosen.profile)
        record("recall_scale", figures, chosen.record)
        found.append(figures)
    return found


def alone(work: Callable[..., T], *arguments: object) -> T:
    """What `work` returns in a new process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def built_once(folder: Path, n: int) -> dict[str, object]:
    """The figures of `built`, kept beside what it made; they are those of an earlier run when it is there."""
    path = folder / "built.json"
    if path.exists():
        return {**json.loads(path.read_text(encoding="utf-8")), "built_earlier": True}  # by another commit, perhaps
    found = built(folder, n)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def built(folder: Path, n: int) -> dict[str, object]:
    """Write the graph in one piece, then make every index from it for the first time; seconds of processor time too."""
    cpu = [time.process_time()]
    count, write_s = timed(lambda: written(World(n).quads(), DataFolder(folder)))
    cpu.append(time.process_time())
    memento, index_s = timed(lambda: opened(folder))
    cpu.append(time.process_time())
    memento.close()
    write_cpu, index_cpu = np.diff(cpu).round(1).tolist()
    print(f"{n:,} memories, {count:,} quads, bulk write {write_s:.1f} s ({write_cpu} of the processor)", flush=True)
    print(f"index build {index_s:.1f} s ({index_cpu} of the processor)", flush=True)
    return {
        "quads": count,
        "write_s": round(write_s, 1),
        "write_cpu_s": write_cpu,
        "index_build_s": round(index_s, 1),
        "index_build_cpu_s": index_cpu,
        "build_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def written(quads: Iterable[Quad], home: DataFolder) -> int:
    """How many quads were written, in one bulk load."""
    store, count = ox.Store(home.store), 0
    found = iter(quads)
    named: dict[IRI, ox.NamedNode] = {}  # predicates and graphs are few

    def term(iri: IRI) -> ox.NamedNode:
        return named.get(iri) or named.setdefault(iri, ox.NamedNode(iri))

    while chunk := list(islice(found, 500_000)):
        store.bulk_extend(
            ox.Quad(to_term(s), term(p), to_term(o), term(g))  # type: ignore[arg-type]
            for s, p, o, g in chunk
        )
        count += len(chunk)
    store.flush()
    return count


def opened(
    folder: Path,
    store: StoreSettings | None = None,
    index: IndexSettings | None = None,
    vectors: type[RandomVectors] = RandomVectors,
) -> Memento:
    """The memory of a folder with random vectors for an embedder, and a gate that looks at every question and lets it pass."""
    gate = GateSettings(base=1e-9, slope=0.0, floor=0.0)
    configured = Settings(gate=gate, store=store or StoreSettings(), index=index or IndexSettings())
    with patch.object(backends, "embedder_of", lambda settings, cache: Cached(vectors(), None)):
        memento = open_memento(folder, namespace="main", configured=configured)
    assert isinstance(memento, Memento)
    return memento


def asked(folder: Path, n: int, count: int, with_rdflib: bool, profile: bool) -> dict[str, object]:
    """Start with all indexes in place, then time the phases of some questions, and the plain alternatives."""
    before = resident_mb()
    memento, start_s = timed(lambda: opened(folder))
    memory, peak = resident_mb() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    questions = list(World(n, seed=7).questions(count + 8))
    with memento:
        _, first_s = timed(lambda: memento.recall(questions[0]))  # what is worked out once and kept
        print(f"start-up {start_s:.2f} s, first recall {first_s * 1000:.0f} ms")
        print(f"resident {memory:,.0f} MB beyond the imports, peak {peak:,.0f} MB")
        phases = spreads(timed_phases(memento, questions[8:], questions[1:8], profile))
        plain = spreads(alternatives(memento, questions[8:], with_rdflib))
    return {
        "start_s": round(start_s, 2),
        "first_recall_ms": round(first_s * 1000, 1),
        "resident_mb": round(memory),
        "peak_mb": round(peak),
        "ms": phases,
        "alternatives_ms": plain,
    }


def spreads(spent: Seconds) -> dict[str, dict[str, float]]:
    """p50 and p95 in milliseconds of each, printed too."""
    found = {name: spread(seconds) for name, seconds in spent.items()}
    print("\n".join(shown(name, ms) for name, ms in found.items()), flush=True)
    return found


def timed_phases(memento: Memento, questions: Sequence[str], warm: Sequence[str], profile: bool) -> Seconds:
    """Seconds of each question by phase; `rest` is what no phase counts: who may see what, and the service around."""
    spent: Seconds = defaultdict(list)
    for question in warm:
        memento.recall(question)
    for question in questions:
        cpu = time.thread_time()
        recollection, seconds = timed(lambda: memento.recall(question))  # noqa: B023 (called at once)
        # What the thread worked, without waiting for others on a busy machine; embedding is next to nothing here.
        spent["  processor time"].append(time.thread_time() - cpu)
        phases = {phase: ms / 1000 for phase, ms in recollection.timings_ms.items() if phase != "total"}
        spent["recall without embedding"].append(seconds - phases["embed"])
        for phase, value in phases.items():
            spent[f"  {phase}"].append(value)
        spent["  rest"].append(seconds - sum(phases.values()))
    if profile:
        with cProfile.Profile() as watched:
            for question in questions[:50]:
                memento.recall(question)
        pstats.Stats(watched).sort_stats("tottime").print_stats(25)
    return {name: seconds for name, seconds in spent.items() if name != "  embed"}


def alternatives(memento: Memento, questions: Sequence[str], with_rdflib: bool) -> Seconds:
    """Seconds of what one would write without Memento, on the same data."""
    indexes, graphs = memento.service.stores.indexes, World(0).scope.memory_graphs
    view = View.at(indexes, graphs, now(), None, None)
    matrix = indexes.vectors["memory"].vectors(np.flatnonzero(view.visible).astype(np.int32))
    vectors = indexes.embedder.embed(questions)
    csr, spent = view.matrix(), defaultdict(list)
    some = questions[:20]
    for asked_vector in vectors:
        spent["cosine, brute force"].append(timed(lambda: np.argpartition(matrix @ asked_vector, -10)[-10:])[1])  # noqa: B023
    for question in some:
        restart = np.zeros(indexes.nodes.size)
        anchors = {IRI for one in memento.recall(question, k=5).memories for IRI in one.about_iris}
        restart[[node for iri in anchors if (node := indexes.nodes.find(iri)) is not None]] = 1.0
        if restart.any():
            spent["PageRank, 25 power iterations"].append(timed(lambda: ppr(csr, restart, 0.75, 25))[1])  # noqa: B023
    if with_rdflib:
        spent["TRACE in rdflib"] = rdflib_traces(memento, some[:3])
    return dict(spent)


def rdflib_traces(memento: Memento, questions: Sequence[str]) -> list[float]:
    """Seconds of the query of TRACE on the same triples in rdflib."""
    import rdflib

    graph, scope = rdflib.Graph(), World(0).scope
    triples = "\n".join(
        f"{to_term(s)} {to_term(p)} {to_term(o)} ." for s, p, o, _ in memento.service.stores.graph.quads(scope.graph)
    )
    graph.parse(data=triples, format="nt")
    spent = []
    for question in questions:
        query = bind_query("retrieval/trace", {"memory": [one.iri for one in memento.recall(question).memories]})
        spent.append(timed(lambda: list(graph.query(query)))[1])  # noqa: B023
    return spent


def resident_mb() -> float:
    """Memory of this process that is in RAM now; its peak where the system does not tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
