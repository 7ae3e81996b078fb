"""
How much does encryption cost? Start, note and recall of a plain and an encrypted folder with the same memories, in one run.

    python tests/bench/encrypted.py [--memories 5000] [--rounds 300] [--embedder minilm]

Prints a table; nothing is asserted. A start is timed after a close, and after a kill (with the files as they were before the
close).
Recalls and notes of the two folders alternate, so that other load on the machine slows both alike.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from memento.plugins.guard.settings import EncryptionSettings
from memento.python import Memento, open_memento
from memento.settings import CheckpointsSettings, EmbeddingSettings, Settings

KEY = EncryptionSettings(key="a key for the benchmark")
WORDS = (
    "harbour",
    "violin",
    "garden",
    "ledger",
    "compass",
    "lantern",
    "orchard",
    "kettle",
    "bridge",
    "atlas",
    "anchor",
)


def text(number: int) -> str:
    """A sentence of a few words that others share, and one of its own."""
    first, second, third = (WORDS[number // 11**power % 11] for power in range(3))
    return f"Person{number % 997} keeps the {first} beside the {second} and paints a {third} in year {1900 + number % 120}."


def open_home(home: Path, settings: Settings) -> Memento:
    memento = open_memento(home, configured=settings, resume=False)
    assert isinstance(memento, Memento)
    return memento


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def size(folder: Path, pattern: str = "*") -> int:
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--embedder", default="trigram")
    asked = parser.parse_args()
    plain = Settings(
        embedding=EmbeddingSettings(model=asked.embedder, cache=False), checkpoints=CheckpointsSettings(hours=0)
    )
    kinds = {"plain": plain, "encrypted": replace(plain, encryption=KEY)}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        rows: dict[str, dict[str, float]] = {name: {} for name in kinds}
        notes_of_both = [{"content": text(number)} for number in range(asked.memories)]
        for name, settings in kinds.items():
            memento = open_home(root / name, settings)
            begin = time.perf_counter()
            memento.intake.import_notes(notes_of_both, consolidate=False)
            rows[name]["import, s"] = time.perf_counter() - begin
            rows[name]["journal after it, MB"] = size(root / name, "journal-*") / 1e6
            rows[name]["close, ms"] = timed(memento.close)
            rows[name]["folder, MB"] = size(root / name) / 1e6
        homes: dict[str, Memento] = {}
        for name, settings in kinds.items():
            rows[name]["start after a close, ms"] = timed(
                lambda name=name, settings=settings: homes.update({name: open_home(root / name, settings)})  # type: ignore[misc]
            )
            homes[name].recall("Who keeps a violin?")
        recalls: dict[str, list[float]] = {name: [] for name in kinds}
        notes: dict[str, list[float]] = {name: [] for name in kinds}
        for number in range(asked.rounds):
            for name in list(kinds)[:: 1 if number % 2 else -1]:
                question = f"What does Person{number * 7 % 997} keep beside the {WORDS[number % 11]}?"
                recalls[name].append(timed(lambda name=name, question=question: homes[name].recall(question)))  # type: ignore[misc]
            if number % 3 == 0:
                for name in list(kinds)[:: 1 if number % 2 else -1]:
                    said = f"Person{number} bought a {WORDS[number % 11]} at market {number}."
                    notes[name].append(timed(lambda name=name, said=said: homes[name].note(said)))  # type: ignore[misc]
        for name in kinds:
            rows[name]["recall p50, ms"] = median(recalls[name])
            rows[name]["recall p95, ms"] = percentile(recalls[name], 0.95)
            rows[name]["note p50, ms"] = median(notes[name])
            rows[name]["note p95, ms"] = percentile(notes[name], 0.95)
        journal = size(root / "encrypted", "journal-*")
        rows["encrypted"]["journal, bytes a note"] = journal / max(1, len(notes["encrypted"]))
        rows["encrypted"]["in memory beside the process, MB"] = size(homes["encrypted"].datadir.work) / 1e6
        for name in kinds:
            copy = root / f"{name}-killed"
            shutil.copytree(root / name, copy, ignore=shutil.ignore_patterns("memento.lock", "owner.json", "snapshots"))
            homes[name].close()
            again: list[Memento] = []
            settings = kinds[name]
            rows[name]["start after a kill, ms"] = timed(
                lambda copy=copy, settings=settings, again=again: again.append(open_home(copy, settings))  # type: ignore[misc]
            )
            again[0].close()
        print(f"{asked.memories} memories, {asked.rounds} recalls, embedder {asked.embedder}")
        print(f"| {'':34} | {'plain':>10} | {'encrypted':>10} | ratio |\n|{'-' * 36}|{'-' * 12}|{'-' * 12}|-------|")
        for what in dict.fromkeys([*rows["plain"], *rows["encrypted"]]):
            one, other = (rows[name].get(what) for name in kinds)
            shown = [f"{value:10.2f}" if value is not None else f"{'':10}" for value in (one, other)]
            print(f"| {what:34} | {shown[0]} | {shown[1]} | {other / one if one and other else 0:5.2f} |")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"The process took at most {peak:.0f} MiB, for both.")


if __name__ == "__main__":
    main()
