"""
How many bytes, nodes and stores does a memory of 10,000 to a billion memories need, by part, and what does it cost?

`--measure N …` builds a synthetic memory of N (`synthetic.py`, a random vector for each text, no model) and measures each part: the
store's folder, the vectors, the cached indexes, a table of LanceDB by column before and after `settle`, and the memory of a process
that answers from each. Without it, the table is made from recorded measurements. A figure of a measured size is the measurement;
any other is computed from the two largest sizes measured, by the law that its row names, and marked with `~`:

    linear    a + b·n        bytes, statements, memory of a process that holds everything
    power     a·n^k          processor seconds of a question over indexes in memory, memory of a process over an engine
    constant  the largest    what a pool limits: its seconds, its calls

Run: `.venv/bin/python tests/bench/sizing.py [--measure 10000 100000] [--rate 100] [--record]`; 10,000 take a minute on two cores,
100,000 some ten.
"""

from __future__ import annotations

import json
import math
import time
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import RESULTS, record, timed
from memento import telemetry
from memento.plugins.scale.settings import IndexSettings
from recall_scale import alone, asked, built_once, resident_mb
from served import opened_shared
from synthetic import World

SIZES = tuple(10**power for power in range(4, 10))
PRICES = Path(__file__).parent / "prices.toml"
BUSY = 0.7  # of a core, above which answers queue
REQUESTS = 1.0  # to an object store a question, of a node that has a copy of the table: see `engine_scale.py`
Figures = Mapping[str, float]
Points = Mapping[int, Figures]

LAWS: Mapping[str, str] = {
    "statements": "linear",
    "store_bytes": "linear",
    "vectors_bytes": "linear",
    "indexes_bytes": "linear",
    "engine_bytes": "linear",
    "engine_vectors_bytes": "linear",
    "engine_words_bytes": "linear",
    "engine_records_bytes": "linear",
    "memory_node_bytes": "linear",
    "engine_node_bytes": "power",
    "memory_cpu_s": "power",
    "engine_cpu_s": "constant",
    "engine_calls": "constant",
}
"""What is measured, and by which law it is continued."""


def main(argv: Sequence[str] | None = None) -> str:
    """Print and return the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=int, nargs="+", default=[], metavar="N", help="memories")
    parser.add_argument("--asked", type=int, default=40, help="questions that are timed")
    parser.add_argument("--rate", type=float, default=100.0, help="questions a second that the table is for")
    parser.add_argument(
        "--store-statements", type=float, default=2e8, help="statements that one store is to have at most"
    )
    parser.add_argument("--folder", type=Path, help="keep the memories here, and take those that are there already")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    points = dict(load_points())
    for n in chosen.measure:
        with TemporaryDirectory(prefix="memento-bench-") as name:
            folder = chosen.folder / f"{n}" if chosen.folder else Path(name)
            folder.mkdir(parents=True, exist_ok=True)
            for work in (measure_memory, measure_engine):
                figures = work(folder, n, chosen.asked)
                record("sizing", {"memories": n, **figures}, chosen.record)
                points[n] = {**points.get(n, {}), **figures}
    prices = tomllib.loads(PRICES.read_text(encoding="utf-8"))
    text = write_table(points, prices, chosen.rate, chosen.store_statements)
    print(text)
    return text


def load_points() -> Points:
    """Return what was recorded last of each size; of a million, what `recall_scale.py` has recorded of indexes in memory."""
    points: dict[int, dict[str, float]] = {}
    for line in _read_lines("recall_scale"):
        points[line["memories"]] = {
            "statements": line["quads"],
            "memory_node_bytes": line["resident_mb"] * 2**20,
            "memory_cpu_s": line["ms"]["  processor time"]["p50"] / 1000,
        }
    for line in _read_lines("sizing"):
        points.setdefault(line["memories"], {}).update({name: line[name] for name in LAWS if name in line})
    return points


def _read_lines(name: str) -> list[dict[str, Any]]:
    path = RESULTS / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line)["figures"] for line in lines]


def measure_memory(folder: Path, n: int, count: int) -> dict[str, float]:
    """Measure a memory with its index in memory, in processes of their own."""
    built = alone(built_once, folder, n)
    answered = alone(asked, folder, n, count, False, False)
    return {
        "statements": float(str(built["quads"])),
        "store_bytes": bytes_of(folder / "store"),
        "vectors_bytes": sum(bytes_of(path) for path in folder.glob("vectors.sqlite*")),
        "indexes_bytes": bytes_of(folder / "indexes"),
        "memory_node_bytes": float(str(answered["resident_mb"])) * 2**20,
        "memory_cpu_s": answered["ms"]["  processor time"]["p50"] / 1000,  # type: ignore[index]
    }


def measure_engine(folder: Path, n: int, count: int) -> dict[str, float]:
    """Measure a memory over a table of LanceDB, in processes of their own."""
    return {**alone(fill_engine, folder), **alone(ask_engine, folder, n, count)}


def index_of(folder: Path) -> IndexSettings:
    """A table of LanceDB beside a memory."""
    return IndexSettings(kind="lance", uri=str(folder / "lance"))


def fill_engine(folder: Path) -> dict[str, float]:
    """Put a memory into a table of LanceDB beside it."""
    table, begin = folder / "lance", time.perf_counter()
    with opened_shared(folder, index_of(folder)) as memento:
        put_s = time.perf_counter() - begin
        loose = bytes_of(table)
        engine = memento.service.stores.indexes.engine  # type: ignore[attr-defined]
        _, settle_s = timed(engine.settle)
        engine.purge()
        columns = _measure_columns(table)
    print(f"put into LanceDB in {put_s:.0f} s, settled in {settle_s:.0f} s", flush=True)
    return {"engine_loose_bytes": loose, "engine_bytes": bytes_of(table), "put_s": put_s, **columns}


def ask_engine(folder: Path, n: int, count: int) -> dict[str, float]:
    """Ask a memory over its engine some questions; what the process needs is beyond its imports."""
    before = resident_mb()
    questions = list(World(n, seed=7).questions(count + 4))
    with opened_shared(folder, index_of(folder)) as memento:
        for question in questions[:4]:
            memento.recall(question)
        calls, cpu = _count_calls(), time.process_time()
        for question in questions[4:]:
            memento.recall(question)
        return {
            "engine_cpu_s": (time.process_time() - cpu) / count,
            "engine_calls": (_count_calls() - calls) / count,
            "engine_node_bytes": (resident_mb() - before) * 2**20,
        }


def _count_calls() -> float:
    lines = telemetry.exposition().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("memento_engine_call_seconds_count"))


def _measure_columns(table: Path) -> dict[str, float]:
    import lancedb

    [path] = table.glob("*.lance")
    rows = lancedb.connect(str(table)).open_table(path.stem).to_arrow()
    sizes = {name: rows[name].nbytes for name in rows.column_names}
    return {
        "engine_vectors_bytes": sizes["vector"],
        "engine_words_bytes": sizes["text"],
        "engine_records_bytes": sizes["packed"],
    }


def bytes_of(path: Path) -> float:
    """Bytes of a file, or of all files below a folder."""
    return float(sum(one.stat().st_size for one in ([path] if path.is_file() else path.rglob("*")) if one.is_file()))


def predict(points: Points, name: str, n: int) -> tuple[float, bool] | None:
    """Return a figure at a size, and whether it was measured there; None where nothing was."""
    known = {size: point[name] for size, point in sorted(points.items()) if name in point}
    if n in known:
        return known[n], True
    if not known:
        return None
    if LAWS[name] == "constant":
        return max(known.values()), False
    if len(known) < 2:
        return None
    (n1, y1), (n2, y2) = [*known.items()][-2:]
    if LAWS[name] == "power":
        k = math.log(y2 / y1) / math.log(n2 / n1)
        return y2 * (n / n2) ** k, False
    return y2 + (y2 - y1) / (n2 - n1) * (n - n2), False


def write_table(points: Points, prices: Mapping[str, float], rate: float, store_statements: float) -> str:
    """Return the table in Markdown, and where its figures come from."""
    rows = {name: [predict(points, name, n) for n in SIZES] for name in LAWS}

    def show(name: str, unit: Callable[[float], str]) -> list[str]:
        return ["–" if one is None else ("" if one[1] else "~") + unit(one[0]) for one in rows[name]]

    def compute(work: Callable[[Mapping[str, float]], str]) -> list[str]:
        shown = []
        for place in range(len(SIZES)):
            at = {name: found[place] for name, found in rows.items()}
            values = {name: one[0] for name, one in at.items() if one is not None}
            try:
                shown.append("~" + work(values))
            except KeyError:
                shown.append("–")
        return shown

    def cores(at: Figures, kind: str) -> float:
        return rate * at[f"{kind}_cpu_s"] / BUSY

    def nodes(at: Figures, kind: str) -> int:
        return max(math.ceil(cores(at, kind)), 2)  # one may go

    def shards(at: Figures) -> int:
        return math.ceil(at["statements"] / store_statements)

    def month(at: Figures, kind: str) -> float:
        of_node = max(1.0, at[f"{kind}_node_bytes"] / 2**30 / prices["gib_of_vcpu"])
        vcpus = nodes(at, kind) * of_node + 2 * shards(at)  # and two for each store
        disk = at["store_bytes"] + at["vectors_bytes" if kind == "memory" else "engine_bytes"] * nodes(at, kind)
        spent = vcpus * prices["vcpu_hour"] * prices["hours_of_month"] + disk / 1e9 * prices["disk_gb_month"]
        if kind == "engine":
            seconds = prices["hours_of_month"] * 3600
            spent += at["engine_bytes"] / 1e9 * prices["object_gb_month"]
            spent += rate * seconds * REQUESTS * prices["object_get"]
        return spent

    lines: list[Sequence[str]] = [
        ("statements", *show("statements", _count)),
        ("store, its folder", *show("store_bytes", _bytes)),
        ("vectors.sqlite of a node", *show("vectors_bytes", _bytes)),
        ("kept indexes of a node", *show("indexes_bytes", _bytes)),
        ("engine, all files settled", *show("engine_bytes", _bytes)),
        ("… vectors (column)", *show("engine_vectors_bytes", _bytes)),
        ("… words (column)", *show("engine_words_bytes", _bytes)),
        ("… records (column)", *show("engine_records_bytes", _bytes)),
        ("process, index in memory", *show("memory_node_bytes", _bytes)),
        ("process, over an engine", *show("engine_node_bytes", _bytes)),
        ("processor s a question, in memory", *show("memory_cpu_s", _seconds)),
        ("… over an engine", *show("engine_cpu_s", _seconds)),
        ("calls of the engine a question", *show("engine_calls", _count)),
        (f"cores for {rate:g} questions/s, in memory", *compute(lambda at: str(nodes(at, "memory")))),
        ("… over an engine", *compute(lambda at: str(nodes(at, "engine")))),
        (f"stores of {_count(store_statements)} statements", *compute(lambda at: str(shards(at)))),
        ("USD a month, in memory", *compute(lambda at: f"{month(at, 'memory'):,.0f}")),
        ("… over an engine on an object store", *compute(lambda at: f"{month(at, 'engine'):,.0f}")),
    ]
    heads = ["", *(f"10^{round(math.log10(n))}" for n in SIZES)]
    table = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    table += [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*table, "", *_explain(points), f"Prices: list prices as of {prices['as_of']}, in prices.toml."])


def _explain(points: Points) -> list[str]:
    """Say of each figure from which sizes, by which law, and how well that law meets a third size where there is one."""
    lines = []
    for name, law in LAWS.items():
        known = [size for size in sorted(points) if name in points[size]]
        if not known:
            continue
        said = f"{name}: measured at {', '.join(f'{one:,}' for one in known)}; beyond, {law}"
        if law != "constant" and len(known) > 1:
            said += f" through {known[-2]:,} and {known[-1]:,}"
        if len(known) > 2:
            of_two = predict({size: points[size] for size in known[:-1]}, name, known[-1])
            assert of_two is not None
            said += f" (the law through the two before is off by {of_two[0] / points[known[-1]][name] - 1:+.0%} there)"
        lines.append(f"- {said}")
    return lines


def _scale(value: float, steps: Sequence[tuple[float, str]], digits: int = 3) -> str:
    unit, name = next(((size, name) for size, name in steps if value >= size), (1.0, ""))
    scaled = value / unit
    return f"{scaled:.0f}{name}" if scaled >= 10 ** (digits - 1) else f"{scaled:.{digits}g}{name}"


def _bytes(value: float) -> str:
    return _scale(value, [(1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " kB")])


def _count(value: float) -> str:
    return _scale(value, [(1e9, " G"), (1e6, " M"), (1e3, " k")])


def _seconds(value: float) -> str:
    return f"{value * 1000:.3g} ms"


if __name__ == "__main__":
    main()
