"""
How long does it take to move a memory of 10,000 memories to another embedder, and how long do recalls and notes take meanwhile?

Data: a synthetic working life (`people.py`, seeded). Run: `.venv/bin/python tests/bench/migration.py [--record]`; with
`--model trigram` no model is needed. The memory moves from `trigram` with 256 dimensions to the model, or to `trigram` with 384.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from measure import arguments, fresh_memory, record, timed
from memento.model import Migrated
from memento.python import Memento
from people import Life

_NOTE_EVERY = 20


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the seconds, and the distributions of recall times in milliseconds."""
    parser = arguments(__doc__ or "", notes=10_000)
    parser.add_argument("--asked", type=int, default=200, help="questions that are timed before and after")
    chosen = parser.parse_args(argv)
    life = Life(names=max(chosen.notes // 30, 30))
    rows, questions = life.notes(chosen.notes + 2_000), life.questions(chosen.asked)
    with fresh_memory("trigram") as memento:
        memento.intake.import_notes(rows[: chosen.notes], consolidate=False)
        before = [timed(lambda: memento.recall(question))[1] for question in questions]  # noqa: B023 (called at once)
        moved, seconds, asked, noted = watch(
            memento, chosen.model, questions, [row.content for row in rows[chosen.notes :]]
        )
        after = [timed(lambda: memento.recall(question))[1] for question in questions]  # noqa: B023 (called at once)
        differences = len(memento.admin.check())
    figures: dict[str, object] = {
        "texts": moved.texts,
        "before": moved.before,
        "after": moved.after,
        "seconds": round(seconds, 1),
        "recall before": distribution(before),
        "recall meanwhile": distribution(asked),
        "recall afterwards": distribution(after),
        "note meanwhile": distribution(noted),
        "differences": differences,
    }
    for name, figure in figures.items():
        print(f"{name:<20} {figure}")
    record("migration", figures, chosen.record)
    return figures


def watch(
    memento: Memento, model: str, questions: Sequence[str], texts: Sequence[str]
) -> tuple[Migrated, float, list[float], list[float]]:
    """Move the memory; return the answer, the seconds, and those of each recall and note that came meanwhile."""
    answers: list[tuple[Migrated, float]] = []
    dimensions = 384 if model == "trigram" else None

    def move() -> None:
        answers.append(timed(lambda: memento.admin.migrate(model=model, dimensions=dimensions)))

    asked, noted = list[float](), list[float]()
    thread = threading.Thread(target=move)
    thread.start()
    while thread.is_alive():
        asked.append(timed(lambda: memento.recall(questions[len(asked) % len(questions)]))[1])
        if len(asked) % _NOTE_EVERY == 0 and len(noted) < len(texts):
            noted.append(timed(lambda: memento.note(texts[len(noted)]))[1])
    thread.join()
    ((moved, seconds),) = answers
    return moved, seconds, asked, noted


def distribution(seconds: Sequence[float]) -> dict[str, float]:
    """How many there are, and p50, p95, p99 and the longest in milliseconds."""
    if not seconds:
        return {"count": 0}
    quantiles = (np.quantile(seconds, (0.5, 0.95, 0.99, 1.0)) * 1000).round(1).tolist()
    return {"count": len(seconds), **dict(zip(("p50", "p95", "p99", "most"), quantiles, strict=True))}


if __name__ == "__main__":
    main()
