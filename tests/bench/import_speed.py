"""
How many short notes per second does an import by rules process, with batched embedding, is a rebuild of all indexes slower, and how
much longer does a note take when there are many (`--alike`: many of the same form)?

Data: a synthetic working life (`people.py`, seeded). Baseline: the rebuild of the same memory in the same run. The memory is opened
again for it, and neither has a cache of embeddings. Run: `.venv/bin/python tests/bench/import_speed.py
[--record]`, some minutes on two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from measure import arguments, memory_in, record, timed
from memento.model import NoteRow
from people import Life


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return notes and texts a second, and their ratio."""
    parser = arguments(__doc__ or "", notes=3_000)
    parser.add_argument("--keep", action="store_true", help="keep each note as one memory instead of consolidating it")
    parser.add_argument("--alike", action="store_true", help="notes that differ in two words only: which box is where")
    chosen = parser.parse_args(argv)
    rows = list_boxes(chosen.notes) if chosen.alike else Life(names=max(chosen.notes // 30, 30)).notes(chosen.notes)
    parts = [rows[len(rows) * at // 3 : len(rows) * (at + 1) // 3] for at in range(3)]
    with TemporaryDirectory(prefix="memento-bench-") as name:
        folder = Path(name)
        with memory_in(folder, chosen.model) as memento:
            memento.warm_up()
            bring_in = partial(memento.intake.import_notes, consolidate=not chosen.keep)
            done = [timed(partial(bring_in, part)) for part in parts]
        with memory_in(folder, chosen.model) as memento:
            texts, rebuild_s = timed(memento.admin.rebuild)
    import_s = sum(took for _, took in done)
    figures: dict[str, object] = {
        "notes": len(rows),
        "memories": sum(one.memories for one, _ in done),
        "texts": texts,
        "model": chosen.model,
        "consolidated": not chosen.keep,
        "alike": chosen.alike,
        "last_third_ms_a_note": round(done[-1][1] / len(parts[-1]) * 1e3, 1),
        "last_third_over_first": round(done[-1][1] / done[0][1], 2),
        "import_notes_per_s": round(len(rows) / import_s, 1),
        "rebuild_notes_per_s": round(len(rows) / rebuild_s, 1),
        "rebuild_over_import": round(import_s / rebuild_s, 2),
    }
    for key, value in figures.items():
        print(f"{key:<22} {value}")
    record("import_speed", figures, chosen.record)
    return figures


def list_boxes(count: int) -> list[NoteRow]:
    """Notes of one form, each about another box."""
    draw = Random(7)
    syllables = [
        one + other
        for one in ("ba", "ko", "li", "mu", "ne", "po")
        for other in ("mer", "lan", "dit", "ros", "kel", "fun")
    ]
    words = [one + other for one in syllables for other in syllables]
    return [
        NoteRow(content=f"The box with {thing} is in the {draw.choice(words)} room.")
        for thing in draw.choices(words, k=count)
    ]


if __name__ == "__main__":
    main()
