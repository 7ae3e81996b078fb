"""
How long do feedback, a link, spreading activation, decay and the search for exhausted memories take among many memories?

Data: a synthetic memory (`synthetic.py`, seeded) with a random vector for each text, and associations between some memories, a
tenth as many as there are memories. No model is used. With `--plain` memories have two words each and are about nothing, so that a
million are written in minutes: for operations that ignore the words, such as decay.
Run: `.venv/bin/python tests/bench/living.py [--sizes 10000 100000] [--json] [--record]`; `--plain --sizes 1000000` for the million.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from measure import record, shown, spread, timed
from memento.datadir import DataFolder
from memento.graph import mapping
from memento.iris import IRI, association_iri, relation_iri
from memento.model import Association, Memory, Note, Quad
from memento.python import Memento
from memento.time import now
from recall_scale import opened, written
from synthetic import BEGIN, STEP, World

SIMILAR = relation_iri("similar")


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """The figures of each size; printed as they come."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], metavar="N", help="memories")
    parser.add_argument("--times", type=int, default=100, help="how often each thing is done")
    parser.add_argument("--plain", action="store_true", help="memories of two words, about nothing")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each size")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    return [of_size(n, chosen) for n in chosen.sizes]


def of_size(n: int, chosen: Namespace) -> dict[str, object]:
    """Milliseconds of each thing that is asked or told among `n` memories."""
    with TemporaryDirectory(prefix="memento-bench-") as name:
        world = World(n)
        count = written(alive(world, plain=chosen.plain), DataFolder(Path(name)))
        with opened(Path(name)) as memento:
            ms = {what: spread(of) for what, of in lived(memento, n, chosen.times).items()}
    if chosen.json:
        print(json.dumps({"memories": n, "ms": ms}), flush=True)
    else:
        print(f"{n:,} memories, {count:,} quads")
        print("\n".join(shown(what, of) for what, of in ms.items()), flush=True)
    figures: dict[str, object] = {"memories": n, "quads": count, "plain": chosen.plain, "ms": ms}
    record("living", figures, chosen.record)
    return figures


def alive(world: World, *, plain: bool) -> Iterator[Quad]:
    """The memories of a world, and links between some of them."""
    yield from simple(world) if plain else world.quads()
    rng, at, graph = np.random.default_rng(5), now(), world.scope.graph
    for one, other in rng.integers(0, world.n, (world.n // 10, 2)).tolist():
        if one != other:
            ends = memory_of(one), memory_of(other)
            link = Association(
                iri=association_iri(ends[0], SIMILAR, ends[1]),
                source=ends[0],
                target=ends[1],
                relation=SIMILAR,
                weight=round(0.3 + 0.7 * (one % 100) / 100, 2),
                created_at=at,
                last_reinforced_at=at,
            )
            yield from mapping.quads(link, graph)


def simple(world: World) -> Iterator[Quad]:
    """One note, and memories of two words from it."""
    graph, note = world.scope.graph, IRI(f"urn:memento:note:{0:032x}")
    yield from mapping.quads(Note(iri=note, content="many things", at=BEGIN), graph)
    for i in range(world.n):
        at = BEGIN + i * STEP / 100
        memory = Memory(iri=memory_of(i), content=f"thing {i % 1000}", extracted_from=note, valid_at=at, created_at=at)
        yield from mapping.quads(memory, graph)


def memory_of(i: int) -> IRI:
    return IRI(f"urn:memento:memory:{i:032x}")


def lived(memento: Memento, n: int, times: int) -> dict[str, list[float]]:
    """Seconds of each thing, the first of each left out."""
    rng = np.random.default_rng(7)
    current = [one.iri for one in memento.list(limit=1000)]
    ends = [current[i] for i in rng.integers(0, len(current), 3 * (times + 1)).tolist()]
    some = iter(ends)
    work: dict[str, Callable[[], object]] = {
        "strength": lambda: memento.living.strength(next(some)),
        "feedback": lambda: memento.living.feedback(next(some), helped=True),
        "activate": lambda: memento.living.activate([next(some)]),
        "decay": memento.living.decay,
        "archive, dry run": lambda: memento.living.archive(dry_run=True),
    }
    found = {}
    for name, do in work.items():
        often = times if name != "archive, dry run" else max(times // 20, 1)
        found[name] = [apart(do) for _ in range(often + 1)][1:]
        if name == "activate":
            found["activate after a write"] = [
                after_write(memento, one, other) for one, other in pairwise(ends[: times + 1])
            ]
    return found


def apart(do: Callable[[], object]) -> float:
    """Seconds of one call, in a millisecond of its own: two fadings within one are one."""
    time.sleep(0.002)
    return timed(do)[1]


def after_write(memento: Memento, one: str, other: str) -> float:
    """Seconds of an activation that is the first after a link was drawn."""
    if one != other:
        memento.living.associate(one, other)
    return timed(lambda: memento.living.activate([one]))[1]


if __name__ == "__main__":
    main()
