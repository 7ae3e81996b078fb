"""
Do three nodes over one store and one engine answer as one embedded memory does, whatever is done in whatever order? Random
histories of 300 operations, without and with a node, the store or the engine that fails.

Run: `.venv/bin/python tests/bench/histories.py [--count 500] [--killed 30] [--record]`, some five minutes a history on two cores.
`--seed 7` plays one and prints its operations, `--kills` lets things fail in it, and `--shrink` looks for a shorter one that
fails too.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from history import find_difference, make_history, shrink
from measure import record


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return how many histories are equal."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="histories in which nothing fails")
    parser.add_argument("--killed", type=int, default=30, help="histories in which things fail")
    parser.add_argument("--length", type=int, default=300, help="operations of each")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--whole", type=int, default=2_000, help="index.whole of the nodes")
    parser.add_argument("--seed", type=int, help="play only this one")
    parser.add_argument("--kills", action="store_true", help="with --seed: let things fail")
    parser.add_argument("--shrink", action="store_true", help="with --seed: look for a shorter one that fails too")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    with TemporaryDirectory(prefix="memento-bench-") as name:
        if chosen.seed is not None:
            return replay(
                chosen.seed, chosen.length, Path(name), chosen.whole, kills=chosen.kills, shrinks=chosen.shrink
            )
        figures: dict[str, object] = {"length": chosen.length, "whole": chosen.whole}
        for kind, count in (("without kills", chosen.count), ("with kills", chosen.killed)):
            equal = 0
            for place, seed in enumerate(range(chosen.first, chosen.first + count), start=1):
                begin = time.perf_counter()
                difference = find_difference(
                    make_history(seed, chosen.length),
                    Path(name),
                    seed=seed,
                    kills=kind == "with kills",
                    whole=chosen.whole,
                )
                equal += difference is None
                took = f"{time.perf_counter() - begin:.0f} s"
                print(f"{kind}, seed {seed}: {difference or 'equal'}; {equal} of {place} equal, {took}", flush=True)
            figures[kind] = {"equal": equal, "of": count}
            print(f"histories {kind}: {equal} of {count} equal, {chosen.length} operations each")
    record("histories", figures, chosen.record)
    return figures


def replay(seed: int, length: int, folder: Path, whole: int, *, kills: bool, shrinks: bool) -> dict[str, object]:
    """Play one history, print its operations and what differs, and look for a shorter one."""
    play = partial(find_difference, folder=folder, seed=seed, kills=kills, whole=whole)
    print(f"seed {seed}, {length} operations")
    played: list[object] = []

    def report(step: object) -> None:
        played.append(step)
        print(step, flush=True)

    steps = make_history(seed, length)
    difference = play(steps, report=report)
    print(difference or "equal")
    if difference and shrinks:
        fewer = shrink(steps[: len(played)], lambda some: play(some) is not None)
        print(f"{len(fewer)} of them are enough:", *fewer, play(fewer), sep="\n")
    return {"seed": seed, "equal": difference is None}


if __name__ == "__main__":
    main()
