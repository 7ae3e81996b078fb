"""
How long does it take to embed one question, and many notes, in onnxruntime and in torch, and are the vectors the same?

Data: questions and notes of a synthetic working life (`people.py`, seeded). Baseline: torch, alternating with onnxruntime text by
text, so that other load on the machine affects both; processor time excludes that load.
Run: `.venv/bin/python tests/bench/embedding.py [--record]`, half a minute, and ten seconds more if the model was never exported
(to the user's cache folder).
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from measure import record, shown, spread, timed
from memento.search.minilm import MiniLm
from people import Life

RUNTIMES = ("onnx", "torch")


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return spreads in milliseconds, and the least cosine of the two vectors of a text."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--asked", type=int, default=300, help="questions that are timed, one by one")
    parser.add_argument("--notes", type=int, default=1000, help="notes that are embedded in one call, on all cores")
    parser.add_argument("--threads", type=int, default=1, help="for one question")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    life = Life(names=100)
    notes = [row.content for row in life.notes(chosen.notes)]
    questions = life.questions(chosen.asked)
    models = {name: MiniLm(chosen.threads, runtime=name) for name in RUNTIMES}
    figures: dict[str, object] = {"threads": chosen.threads, "notes": chosen.notes}
    for name, model in models.items():
        figures[f"{name}_first_text_s"] = round(timed(partial(model.embed, ["tea"]))[1], 2)
    times: dict[str, list[float]] = {name: [] for name in RUNTIMES}
    busy: dict[str, list[float]] = {name: [] for name in RUNTIMES}
    for question in questions:
        for name, model in models.items():
            begin = time.process_time()
            times[name].append(timed(partial(model.embed, [question]))[1])
            busy[name].append(time.process_time() - begin)
    for name, model in models.items():
        figures[f"{name}_question"] = spread(times[name])
        figures[f"{name}_question_processor"] = spread(busy[name])
        figures[f"{name}_notes_s"] = round(timed(partial(model.embed, notes))[1], 2)
        print(shown(f"one question, {name}", spread(times[name])))
        print(shown("  time of the processor", spread(busy[name])))
        print(
            f"{chosen.notes} notes, {name}: {figures[f'{name}_notes_s']} s; loaded in {figures[f'{name}_first_text_s']} s"
        )
    figures["least_cosine"] = least_cosine(models, [*questions, *notes])
    print(f"least cosine of the two vectors of a text: {figures['least_cosine']}")
    record("embedding", figures, chosen.record)
    return figures


def least_cosine(models: Mapping[str, MiniLm], texts: Sequence[str]) -> float:
    """Of the vectors that both runtimes give the same text."""
    left, right = (model.embed(texts) for model in models.values())
    return round(float(np.einsum("ij,ij->i", left, right).min()), 7)


if __name__ == "__main__":
    main()
