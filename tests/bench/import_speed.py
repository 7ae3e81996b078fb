"""
How many short notes per second does an import by rules process, with batched embedding, and is a rebuild of all indexes slower?

Data: a synthetic working life (`people.py`, seeded). Baseline: the rebuild of the same memory in the same run. The memory is opened
again for it, and neither has a cache of embeddings. Run: `.venv/bin/python tests/bench/import_speed.py
[--record]`, some minutes on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import arguments, memory_in, record, timed
from people import Life


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return notes and texts a second, and their ratio."""
    parser = arguments(__doc__ or "", notes=3_000)
    parser.add_argument("--keep", action="store_true", help="keep each note as one memory instead of consolidating it")
    chosen = parser.parse_args(argv)
    rows = Life(names=max(chosen.notes // 30, 30)).notes(chosen.notes)
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        with memory_in(folder, chosen.model) as memento:
            imported, import_s = timed(lambda: memento.intake.import_notes(rows, consolidate=not chosen.keep))
        with memory_in(folder, chosen.model) as memento:
            texts, rebuild_s = timed(memento.admin.rebuild)
    figures: dict[str, object] = {
        "notes": len(rows),
        "memories": imported.memories,
        "texts": texts,
        "model": chosen.model,
        "consolidated": not chosen.keep,
        "import_notes_per_s": round(len(rows) / import_s, 1),
        "rebuild_notes_per_s": round(len(rows) / rebuild_s, 1),
        "rebuild_over_import": round(import_s / rebuild_s, 2),
    }
    for key, value in figures.items():
        print(f"{key:<22} {value}")
    record("import_speed", figures, chosen.record)
    return figures


if __name__ == "__main__":
    main()
