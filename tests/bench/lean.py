"""
How much disk and memory does a memory need, and how many rows per second does an import store?

Data: a synthetic working life (`people.py`, seeded), each note stored as one memory, or understood by the rules with `--rules`.
Each size is measured in a separate process, so that no other adds to its resident memory; embeddings of earlier runs are not
cached. Checkpoints, which are copies, are listed separately. `--held N`, given at least twice, measures something else: it notes
and imports alternately into several memories whose stores write their tables every N quads, and prints what each took.
Baseline: the embedder alone on the same texts, in batches of the same size; `--beside` also prints the rate of an installed
`chromadb` in the same process with the same embedder.
Run: `.venv/bin/python tests/bench/lean.py [--notes N …] [--rules] [--beside] [--record]`, some minutes on two cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from measure import memory_in, record, shown, spread, timed
from memento.graph import oxigraph
from memento.python import Memento
from memento.search.embedders import Trigram
from memento.search.minilm import MiniLm
from people import Life

T = TypeVar("T")

SIZES = (1_000, 10_000)
BATCH = 128
"""Rows that are embedded together, as an import does."""


def main(argv: Sequence[str] | None = None) -> list[dict[str, object]]:
    """Print and return the figures of each size."""
    chosen = arguments().parse_args(argv)
    if chosen.beside:
        chroma()  # says how to get it before anything is measured
    if chosen.alone:
        print(json.dumps(measured(chosen.alone, chosen.model, chosen.beside, by_rules=chosen.rules)))
        return []
    if chosen.held:
        return [held_figures(chosen.held, (chosen.notes or [3_000])[0], chosen.model)]
    every = []
    for notes in chosen.notes or SIZES:
        options = [
            "--alone",
            str(notes),
            "--model",
            chosen.model,
            *(f"--{one}" for one in ("beside", "rules") if getattr(chosen, one)),
        ]
        done = subprocess.run([sys.executable, __file__, *options], stdout=subprocess.PIPE, text=True, check=True)
        figures = json.loads(done.stdout.splitlines()[-1])
        for name, value in figures.items():
            print(f"{name:<34} {value}")
        record("lean", figures, chosen.record)
        every.append(figures)
    return every


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, action="append", metavar="N", help="may be repeated")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--rules", action="store_true", help="let the rules read the notes, as `note` does")
    parser.add_argument("--held", type=int, action="append", metavar="N", help="compare stores that hold so many quads")
    parser.add_argument("--beside", action="store_true", help="chromadb too, when it is installed")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    parser.add_argument("--alone", type=int, metavar="N", help="this size in this process")
    return parser


def measured(notes: int, model: str, beside: bool, *, by_rules: bool = False) -> dict[str, object]:
    """Import so many notes; bytes and quads are for each note."""
    life = Life(names=max(notes // 30, 30))
    rows = life.notes(notes)
    with TemporaryDirectory(prefix="memento-bench-") as name:
        home = Path(name)
        with memory_in(home, model) as memento:
            before = resident()
            _, import_s = timed(lambda: memento.intake.import_notes(rows, consolidate=by_rules))
            memento.recall(life.questions(1)[0])
            quads = count_quads(memento)
            after, by_file_open = resident(), sizes(home)
            _, close_s = timed(memento.close)
        by_file = sizes(home)
        checkpoints = by_file.pop("checkpoints", 0)
        reopened = subprocess.run(
            [sys.executable, "-c", REOPENED, str(home), model, life.questions(1)[0]],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
        resident_again, start_s = json.loads(reopened.stdout.splitlines()[-1])
    texts = [row.content for row in rows]
    rates = {"embedder alone": rate_of_embedder(texts, model)}
    if beside:
        rates["chromadb"] = rate_of_chroma(texts, model)
    return {
        "notes": notes,
        "model": model,
        "read by the rules": by_rules,
        "quads a memory": round(quads.total() / notes, 1),
        **{f"  of {kind}": round(count / notes, 1) for kind, count in quads.most_common(8)},
        "bytes a memory": round(sum(by_file.values()) / notes),
        **{f"  {part}": round(size / notes) for part, size in by_file.most_common()},
        "bytes a memory before closing": round(sum(by_file_open.values()) / notes),
        **{f"  open, {part}": round(size / notes) for part, size in by_file_open.most_common()},
        "checkpoint, bytes a memory": round(checkpoints / notes),
        "resident MB: open": before,
        "resident MB: after the import": after,
        "resident MB: opened again, asked": resident_again,
        "rows/s": round(notes / import_s, 1),
        **{f"rows/s, {name}": round(rate, 1) for name, rate in rates.items()},
        **{f"of the rate of {name}": round(notes / import_s / rate, 2) for name, rate in rates.items()},
        "seconds to close": round(close_s, 2),
        "seconds to open again": start_s,
    }


REOPENED = """
import json, sys
from pathlib import Path
from lean import resident
from measure import memory_in, timed
memento, start_s = timed(lambda: memory_in(Path(sys.argv[1]), sys.argv[2]))
memento.recall(sys.argv[3])
print(json.dumps([resident(), round(start_s, 2)]))
memento.close()
"""


def resident() -> int:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return round(pages * 4096 / 1e6)


def sizes(home: Path) -> Counter[str]:
    """The bytes of a data folder by part; of the store its log and its tables."""
    found: Counter[str] = Counter()
    for path in home.rglob("*"):
        if path.is_file():
            parts = path.relative_to(home).parts
            kind = {".log": "log", ".sst": "tables"}.get(path.suffix, "rest")
            found[f"store, {kind}" if parts[0] == "store" else parts[0]] += path.stat().st_size
    return found


def count_quads(memento: Memento) -> Counter[str]:
    """The quads of a memory by the class of their subject; the ontology, as large in every memory, is left out."""
    rows = memento.graphs.query_bytes(QUADS, accept="text/csv")[0].decode().split()[1:]
    return Counter({kind.rpartition("/")[2]: int(count) for kind, count in (row.split(",") for row in rows)})


QUADS = """
SELECT ?kind (COUNT(*) AS ?quads) WHERE {
  GRAPH ?graph { ?node a ?kind ; ?property ?value }
  FILTER (?graph != <urn:memento:ontology> && STRSTARTS(STR(?kind), "http://purl.org/memento/"))
  FILTER (?kind != <http://purl.org/memento/Turn>)
}
GROUP BY ?kind
"""


def held_figures(sizes_of: Sequence[int], notes: int, model: str) -> dict[str, object]:
    """Note half of so many one by one and import as many as rows, in one memory for each size by turns; print what each took."""
    rows = Life(names=max(notes // 30, 30)).notes(2 * notes)
    figures: dict[str, object] = {"notes": notes, "model": model}
    with ExitStack() as stack:
        folders = {size: Path(stack.enter_context(TemporaryDirectory(prefix="memento-bench-"))) for size in sizes_of}
        memories = {size: stack.enter_context(memory_in(folder, model)) for size, folder in folders.items()}
        took: dict[int, list[float]] = {size: [] for size in sizes_of}
        imported = dict.fromkeys(sizes_of, 0.0)
        for row in rows[:notes]:
            for size, memento in memories.items():
                oxigraph.HELD = size
                took[size].append(timed(partial(memento.note, row.content, at=row.at))[1])
        for batch in batches(rows[notes:]):
            for size, memento in memories.items():
                oxigraph.HELD = size
                imported[size] += timed(partial(memento.intake.import_notes, batch, consolidate=False))[1]
        for size in sizes_of:
            slowest = [round(seconds * 1000) for seconds in sorted(took[size])[-3:]]
            disk = round(sum(sizes(folders[size]).values()) / 2 / notes)
            print(shown(f"note, {size:,} quads held", spread(took[size])), f"  slowest {slowest} ms")
            print(f"  import {notes / imported[size]:.0f} rows/s, {disk} bytes of disk a note while open")
            figures[f"{size}"] = {
                **spread(took[size]), "slowest": slowest, "rows/s": round(notes / imported[size]), "bytes open": disk,
            }  # fmt: skip
    return figures


def embedder_of(model: str) -> Any:
    if model == "trigram":
        return Trigram()
    return MiniLm()


def rate_of_embedder(texts: Sequence[str], model: str) -> float:
    """Texts a second, a batch at a time."""
    embedder = embedder_of(model)
    embedder.embed(["warm"])
    some = texts[:2_000]
    _, seconds = timed(lambda: [embedder.embed(batch) for batch in batches(some)])
    return len(some) / seconds


def rate_of_chroma(texts: Sequence[str], model: str) -> float:
    """Rows a second that its collection on disk takes in, embedded by the same embedder."""
    chromadb = chroma()
    embedder = embedder_of(model)
    embedder.embed(["warm"])
    with TemporaryDirectory(prefix="memento-bench-") as folder:
        collection = chromadb.PersistentClient(folder).create_collection("notes", embedding_function=None)
        place = 0

        def add() -> None:
            nonlocal place
            for batch in batches(texts):
                ids = [str(place + number) for number in range(len(batch))]
                collection.add(ids=ids, documents=list(batch), embeddings=embedder.embed(batch))
                place += len(batch)

        _, seconds = timed(add)
    return len(texts) / seconds


def chroma() -> Any:
    """The package `chromadb`, which is no dependency."""
    try:
        return import_module("chromadb")
    except ImportError as error:
        raise SystemExit(
            "--beside needs chromadb, which nothing else does: `pip install chromadb` into a virtual environment that has Memento, "
            "best not into the one that you work in"
        ) from error


def batches(texts: Sequence[T]) -> Iterator[Sequence[T]]:
    return (texts[begin : begin + BATCH] for begin in range(0, len(texts), BATCH))


if __name__ == "__main__":
    main()
