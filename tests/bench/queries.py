"""
How much processor time does each query of recall take on a large memory, bound as the service binds it?

Data: a synthetic memory (`synthetic.py`, seeded), in the embedded store alone: no index is used. The slots get different nodes each
time; the hub is what most memories are about. Baseline: the same query at another size. Processor time instead of wall-clock time:
a query runs in one thread and waits for nothing, so other load does not count.
Run: `.venv/bin/python tests/bench/queries.py [--sizes 10000 100000] [--record]`; 100,000 take half a minute on two cores, most of
it to create the memory.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from measure import record, shown, spread
from memento.datadir import DataFolder
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import Row
from memento.iris import IRI, MEM
from memento.model import Quad
from recall_scale import written
from synthetic import World

THEN = datetime(2020, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)

Slots = Callable[[], Mapping[str, Any]]


class Known:
    """What slots are filled with: drawn anew for each question."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(1)
        self._memories: list[IRI] = []
        self._ended: list[IRI] = []
        self._sessions: dict[IRI, None] = {}
        self._about: Counter[IRI] = Counter()

    def seen(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """The same quads, noted in passing."""
        for quad in quads:
            subject, predicate, value, _ = quad
            if isinstance(value, IRI):
                if predicate == MEM.extractedFrom:
                    self._memories.append(subject)
                elif predicate == MEM.invalidates:
                    self._ended.append(subject)
                elif predicate == MEM.session:
                    self._sessions[value] = None
                elif predicate == MEM.about:
                    self._about[value] += 1
            yield quad

    def some(self, what: Sequence[IRI], count: int) -> list[IRI]:
        """As many of them, each once at most."""
        return [what[place] for place in self._rng.choice(len(what), min(count, len(what)), replace=False).tolist()]

    def queries(self) -> dict[str, tuple[str, Slots]]:
        """What is asked, by how it is called here: the file and its slots."""
        memories, ended = self._memories, self._ended or self._memories
        entities, sessions = list(self._about), list(self._sessions)
        hub = self._about.most_common(1)[0][0]
        when = {"trueAt": THEN, "believedAt": LATER}

        def mixed() -> list[IRI]:  # half of them have a history
            return list(dict.fromkeys(self.some(memories, 5) + self.some(ended, 5)))

        def told() -> Mapping[str, Any]:
            brought = mixed()
            rows = [(iri, rank, 0.5) for rank, iri in enumerate(brought, 1)]
            ways = {"found": brought, "led": brought, "seed": brought[:5], "anchor": hub, "over": hub}
            return {"memory": rows, **ways, **when, "begunBy": LATER, "writtenBy": LATER}

        return {
            "ANCHOR, names": ("retrieval/named", lambda: {"named": [*self.some(entities, 2), hub]}),
            "ANCHOR": ("retrieval/entities", lambda: {"memory": mixed()[:5]}),
            "ANCHOR as published": ("plugins/published/anchor", lambda: {"memory": self.some(memories, 100)}),
            "TRACE": ("retrieval/trace", lambda: {"memory": mixed()}),
            "explained": ("retrieval/explained", told),
            "as_of": ("library/as_of", lambda: {"about": self.some(entities, 1), **when}),
            "as_of of the hub": ("library/as_of", lambda: {"about": hub, **when}),
            "neighbours": ("consolidation/neighbours", lambda: {"session": self.some(sessions, 1), "place": 20}),
        }


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000], metavar="N", help="memories")
    parser.add_argument("--asked", type=int, default=200, help="times that each query is asked; the hub's five times")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    found = [measured(n, chosen.asked) for n in chosen.sizes]
    for figures in found:
        record("queries", figures, chosen.record)
    return found


def measured(n: int, times: int) -> dict[str, object]:
    """p50 and p95 of each query, in milliseconds, and how many rows it has, over `n` memories."""
    world, known, spent = World(n), Known(), {}
    with TemporaryDirectory(prefix="memento-bench-") as folder:
        home = DataFolder(Path(folder))
        print(f"{n:,} memories, {written(known.seen(world.quads()), home):,} quads", flush=True)
        graph = Oxigraph(home.store)
        for name, (file, slots) in known.queries().items():
            bindings = [slots() for _ in range(min(times, 5) if "hub" in name else times)]
            answers = [worked(lambda: graph.select(file, world.scope.readable, **one)) for one in bindings]  # noqa: B023
            rows = round(float(np.mean([len(answer) for answer, _ in answers])), 1)
            spent[name] = {**spread([seconds for _, seconds in answers]), "rows": rows}
            print(f"{shown(name, spent[name])}   {rows:,} rows", flush=True)
        graph.close()
    return {"memories": n, "ms": spent}


def worked(select: Callable[[], list[Row]]) -> tuple[list[Row], float]:
    """The rows, and the seconds of processor time they took."""
    begin = time.process_time()
    rows = select()
    return rows, time.process_time() - begin


if __name__ == "__main__":
    main()
