"""
How long do operations that read a large namespace take on a node, which loads a part of it, compared with the index in memory?

Data: a synthetic memory (`synthetic.py`, seeded), every fifth memory with one of twenty tags; vectors are sums of the directions of
words, so that no model is needed. Baseline: `faiss`, the index in memory, over the same graph in the same run. Each operation runs
once in a fresh memory (`first`), then four more times, of which the median is shown (`again`); milliseconds.
Run: `.venv/bin/python tests/bench/whole_reads.py --sizes 10000 [--folder DIR] [--record]`
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copytree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pyoxigraph as ox

from engine_scale import built, open_memory
from measure import record, timed
from memento.datadir import DataFolder
from memento.iris import MEM, TYPE, tag_iri
from memento.plugins.scale.settings import IndexSettings
from memento.python import Memento
from recall_scale import alone

_TAGS, _EACH = 20, 5
_AGAIN = 4

READS: dict[str, Callable[[Memento, str, str], object]] = {
    "list": lambda m, memory, name: m.list(),
    "list, from the 5,000th": lambda m, memory, name: m.list(offset=5_000),
    "list by tag": lambda m, memory, name: m.list(tags=["tag7"]),
    "list by entity": lambda m, memory, name: m.list(entity=name),
    "tags": lambda m, memory, name: m.review.tags(),
    "entities": lambda m, memory, name: m.graphs.entities(),
    "timeline": lambda m, memory, name: m.timeline(name),
    "counts": lambda m, memory, name: m.keys.memory_stats(),
    "find keys": lambda m, memory, name: m.keys.find(name),
    "related": lambda m, memory, name: m.keys.related(memory),
    "activate": lambda m, memory, name: m.living.activate([memory]),
    "map": lambda m, memory, name: m.graphs.manifest(fresh=True),
    "archive, tried": lambda m, memory, name: m.living.archive(dry_run=True),
    "compaction, tried": lambda m, memory, name: m.admin.compact(dry_run=True),
}


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size and index; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument("--index", nargs="+", default=["faiss", "lance"], choices=("faiss", "lance"))
    parser.add_argument("--folder", type=Path, help="make the memories here, and leave them")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    found = []
    with TemporaryDirectory(prefix="memento-bench-") as name:
        for n in chosen.sizes:
            home = (chosen.folder or Path(name)) / f"{n}"
            if not home.exists():
                alone(build_tagged, home, n)
            for kind in chosen.index:
                if not (folder := home.with_name(f"{n}-{kind}")).exists():
                    copytree(home, folder)
                figures = {"memories": n, "index": kind, **alone(ask_each, folder, kind)}
                record("whole_reads", figures, chosen.record)
                found.append(figures)
    return found


def build_tagged(folder: Path, n: int) -> int:
    """Write the graph, and tags to some of its memories; return how many quads that are."""
    count, store = built(folder, n), ox.Store(DataFolder(folder).store)
    memories = [found.subject for found in store.quads_for_pattern(None, ox.NamedNode(TYPE), ox.NamedNode(MEM.Memory))]
    [graph] = {found.graph_name for found in store.quads_for_pattern(memories[0], None, None)}
    tags = [ox.NamedNode(tag_iri(f"tag{number}")) for number in range(_TAGS)]
    named = [ox.Quad(tag, ox.NamedNode(MEM.name), ox.Literal(f"tag{at}"), graph) for at, tag in enumerate(tags)]
    some = sorted(map(str, memories))[::_EACH]
    tagged = [
        ox.Quad(ox.NamedNode(memory[1:-1]), ox.NamedNode(MEM.tagged), tags[at % _TAGS], graph)
        for at, memory in enumerate(some)
    ]
    store.extend([*named, *tagged])
    store.flush()
    return count + len(named) + len(tagged)


def ask_each(folder: Path, kind: str) -> dict[str, Any]:
    """Milliseconds of each operation, the first time and the median of those after it."""
    index = IndexSettings(kind="lance", uri=str(folder / "lance")) if kind == "lance" else IndexSettings()
    with open_memory(folder, index):
        figures: dict[str, Any] = {}
    with open_memory(folder, index) as memento:
        [entity, *_] = memento.graphs.entities(limit=1)
        memory = memento.list(limit=1)[0].iri
        for name, read in READS.items():
            forget = getattr(memento.service.stores.indexes, "forget", None)
            if forget:
                forget()
            spent = [timed(lambda: read(memento, memory, entity.name))[1] * 1000 for _ in range(1 + _AGAIN)]  # noqa: B023
            figures[name] = {"first": round(spent[0], 1), "again": round(median(spent[1:]), 1)}
            print(f"  {kind:6}{name:24}{spent[0]:10,.1f}{median(spent[1:]):10,.1f}", flush=True)
    return figures


if __name__ == "__main__":
    main()
