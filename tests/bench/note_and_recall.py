"""
How long do a note by rules and a recall take in a memory of 10,000 memories, and how much of that is embedding?

Data: a synthetic working life (`people.py`, seeded). Run: `.venv/bin/python tests/bench/note_and_recall.py [--record]`,
some minutes on two cores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from measure import arguments, fresh_memory, record, shown, spread, timed
from memento.python import Memento
from memento.search.embedders import embedder_of
from memento.settings import EmbeddingSettings
from people import Life

Seconds = list[float]


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return the spreads, in milliseconds."""
    parser = arguments(__doc__ or "", notes=10_000)
    parser.add_argument("--asked", type=int, default=300, help="notes, and questions, that are timed")
    chosen = parser.parse_args(argv)
    life = Life(names=max(chosen.notes // 30, 30))
    rows = life.notes(chosen.notes + chosen.asked)
    texts = [row.content for row in rows[chosen.notes :]]
    with fresh_memory(chosen.model) as memento:
        memento.intake.import_notes(rows[: chosen.notes], consolidate=False)
        memories = memento.status().memories
        phases = recalled(memento, life.questions(chosen.asked))
        noting = noted(memento, texts)
    spreads = {
        "note by rules": spread(noting),
        "  embedding of its text": spread(embedded(chosen.model, texts)),
        **{phase: spread(seconds) for phase, seconds in phases.items()},
    }
    show(memories, chosen.model, spreads)
    figures: dict[str, object] = {"memories": memories, "model": chosen.model, "ms": spreads}
    record("note_and_recall", figures, chosen.record)
    return figures


def recalled(memento: Memento, questions: Sequence[str]) -> dict[str, Seconds]:
    """Seconds of each question, in all and by the phases that the service itself reports."""
    spent: dict[str, Seconds] = defaultdict(list)
    for question in questions:
        recollection, seconds = timed(lambda: memento.recall(question))  # noqa: B023 (called at once)
        spent["recall"].append(seconds)
        for phase, ms in recollection.timings_ms.items():
            if phase != "total":
                spent[f"  {phase}"].append(ms / 1000)
    return spent


def noted(memento: Memento, texts: Sequence[str]) -> Seconds:
    """Seconds of each note, which is consolidated by rules."""
    return [timed(lambda: memento.note(text))[1] for text in texts]  # noqa: B023 (called at once)


def embedded(model: str, texts: Sequence[str]) -> Seconds:
    """Seconds that the embedder alone needs for each text, one at a time."""
    embedder = embedder_of(EmbeddingSettings(model=model, cache=False), None)
    embedder.embed(["warm"])
    return [timed(lambda: embedder.embed([text]))[1] for text in texts]  # noqa: B023 (called at once)


def show(memories: int, model: str, spreads: Mapping[str, Mapping[str, float]]) -> None:
    """Print a line for each spread."""
    print(f"{memories:,} memories, embedder {model}, nothing cached")
    for name, ms in spreads.items():
        print(shown(name, ms))


if __name__ == "__main__":
    main()
