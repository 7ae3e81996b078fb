"""
How long do a compaction of many memories and its undo take, and how long do recalls take meanwhile?

Data: a synthetic memory (`synthetic.py`, seeded) with a random vector for each text; the newest memories are duplicated, so that
some are merged. Half have expired, and a tenth of all is kept. One thread recalls without a pause while another compacts; between
two recalls the write lock is taken, as a note takes it.
Run: `.venv/bin/python tests/bench/compaction.py [--sizes 10000 100000] [--json] [--record]`
"""

from __future__ import annotations

import json
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import record, shown, spread, timed
from memento.datadir import DataFolder
from memento.graph import mapping
from memento.iris import IRI
from memento.model import Compacted, Memory, Note, Quad
from memento.python import Memento
from memento.time import now
from recall_scale import opened, written
from synthetic import BEGIN, STEP, World

TWICE = 100
"""How many memories are said a second time."""


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], metavar="N", help="memories")
    parser.add_argument("--asked", type=int, default=50, help="recalls before, for comparison")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each size")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    return [of_size(n, chosen.asked, as_json=chosen.json, recorded=chosen.record) for n in chosen.sizes]


def of_size(n: int, asked: int, *, as_json: bool, recorded: bool) -> dict[str, object]:
    """Seconds of a trial run, a compaction and its undoing among `n` memories, and milliseconds of recalls."""
    with TemporaryDirectory(prefix="memento-bench-") as name:
        world = World(n)
        written(repeated(world), DataFolder(Path(name)))
        with opened(Path(name)) as memento:
            questions = list(World(n, seed=7).questions(asked + 400))
            for question in questions[:8]:
                memento.recall(question)
            calm = [timed(partial(memento.recall, question))[1] for question in questions[8 : asked + 8]]
            half_s = (now() - (BEGIN + STEP * (n // 2))).total_seconds()
            days, most = half_s / 86_400, max(n // 10, 1)
            before = digest_of(memento, world)
            shown_first, dry_s = timed(lambda: memento.admin.compact(dry_run=True, ttl_days=days, max_entries=most))
            during, gone, apply_s = beside(memento, questions, lambda: memento.admin.compact(branch=shown_first.branch))
            middle = digest_of(memento, world)
            after, _, undo_s = beside(memento, questions, lambda: memento.admin.compact(undo=True))
            same = before == digest_of(memento, world) != middle
    figures: dict[str, object] = {
        "memories": n,
        "expired": gone.expired,
        "merged": gone.merged,
        "evicted": gone.evicted,
        "seconds": {"dry run": round(dry_s, 2), "compaction": round(apply_s, 2), "undo": round(undo_s, 2)},
        "recall_ms": {"before": spread(calm), "during": spread(during["recall"]), "undoing": spread(after["recall"])},
        "wait_ms": {"write lock": spread(during["lock"]), "index lock": spread(during["index"])},
        "undone exactly": same,
    }
    if as_json:
        print(json.dumps(figures), flush=True)
    else:
        print(f"{n:,} memories: {gone.expired:,} expired, {gone.merged:,} merged, {gone.evicted:,} evicted")
        print(f"dry run {dry_s:.2f} s, compaction {apply_s:.2f} s, undo {undo_s:.2f} s; undone exactly: {same}")
        print(shown("recall before", spread(calm)))
        for what, seconds in (("during", during), ("undoing", after)):
            print(shown(f"recall {what}", spread(seconds["recall"])))
            print(shown("  wait for indexes", spread(seconds["index"])))
            print(shown("  wait for writers", spread(seconds["lock"])), flush=True)
    record("compaction", figures, recorded)
    return figures


def repeated(world: World) -> Iterator[Quad]:
    """The memories of a world, some of the newest said once more at its end."""
    graph, at = world.scope.graph, BEGIN + STEP * world.n
    last: list[str] = []
    for quad in world.quads():
        yield quad
        if quad[1].endswith("/content") and ":memory:" in quad[0]:
            last = [*last[-TWICE + 1 :], str(quad[2])]
    for i, text in enumerate(last):
        note = Note(iri=IRI(f"urn:memento:note:{i:031x}f"), content=text, at=at)
        yield from mapping.quads(note, graph)
        for copy in range(2):
            iri = IRI(f"urn:memento:memory:{i:030x}f{copy}")
            again = Memory(iri=iri, content=text, extracted_from=note.iri, valid_at=at, created_at=at)
            yield from mapping.quads(again, graph)


def beside(
    memento: Memento, questions: Sequence[str], work: Callable[[], Compacted]
) -> tuple[dict[str, list[float]], Compacted, float]:
    """Do some work on a thread; return the seconds of each recall and of each wait for a lock meanwhile, and of the work."""
    answer: list[tuple[Compacted, float]] = []
    thread = threading.Thread(target=lambda: answer.append(timed(work)))
    seconds: dict[str, list[float]] = {"recall": [], "lock": [], "index": []}
    service, at = memento.service, 0
    thread.start()
    while thread.is_alive():
        question = questions[at % len(questions)]
        seconds["recall"].append(timed(partial(memento.recall, question))[1])
        for name, lock in (("index", service.stores.indexes.lock), ("lock", service.writing)):
            begin = time.perf_counter()
            with lock:
                seconds[name].append(time.perf_counter() - begin)
        at += 1
    thread.join()
    return seconds, *answer[0]


def digest_of(memento: Memento, world: World) -> str:
    """A digest of every statement of the namespace, whatever their order."""
    found = sorted(repr(quad) for quad in memento.service.stores.graph.quads(world.scope.graph))
    return sha256("\n".join(found).encode()).hexdigest()


if __name__ == "__main__":
    main()
