"""
How fast are exports, imports, backups and restores, and how long does a note wait that arrives during a backup?

Data: a synthetic working life (`people.py`, seeded), each note stored as one memory. Baseline: the import of the same notes, in the
same run. Run: `.venv/bin/python tests/bench/exchange_speed.py [--notes N] [--model trigram] [--record]`, some minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import arguments, memory_in, record, timed
from memento.python import Memento
from people import Life


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return statements and memories a second, and milliseconds."""
    parser = arguments(__doc__ or "", notes=5_000)
    chosen = parser.parse_args(argv)
    rows = Life(names=max(chosen.notes // 30, 30)).notes(chosen.notes)
    figures: dict[str, object] = {"notes": len(rows), "model": chosen.model}
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        with memory_in(folder / "here", chosen.model) as memento:
            _, noted_s = timed(lambda: memento.intake.import_notes(rows, consolidate=False))
            figures["import_of_notes_per_s"] = round(len(rows) / noted_s)
            for form in ("nq", "trig", "jsonld"):
                sent, sent_s = timed(lambda form=form: memento.export(folder / f"all.{form}", vectors=form == "nq"))  # type: ignore[misc]
                figures[f"export_{form}_statements_per_s"] = round(sent.statements / sent_s)
            figures["statements"] = sent.statements
            _backups(memento, folder / "backups", figures)
        for how, check in (("checked", True), ("unchecked", False)):
            with memory_in(folder / how, chosen.model) as memento:
                merged, merged_s = timed(lambda check=check: memento.intake.import_rdf(folder / "all.nq", check=check))  # type: ignore[misc]
                figures[f"import_{how}_memories_per_s"] = round(merged.memories / merged_s)
    for key, value in figures.items():
        print(f"{key:<32} {value}")
    record("exchange_speed", figures, chosen.record)
    return figures


def _backups(memento: Memento, folder: Path, figures: dict[str, object]) -> None:
    waits: list[float] = []
    stop = threading.Event()

    def note() -> None:
        while not stop.is_set():
            waits.append(timed(lambda: memento.note(f"I saw bird number {len(waits)}."))[1])

    figures["backup_ms"] = _ms(lambda: memento.admin.backup(folder))
    writer = threading.Thread(target=note)
    writer.start()
    figures["backup_beside_notes_ms"] = _ms(lambda: memento.admin.backup(folder))
    stop.set()
    writer.join()
    figures["longest_note_beside_a_backup_ms"] = round(max(waits) * 1000)
    figures["restore_ms"] = _ms(lambda: memento.admin.restore(folder))


def _ms(work: Callable[[], object]) -> int:
    return round(timed(work)[1] * 1000)


if __name__ == "__main__":
    main()
