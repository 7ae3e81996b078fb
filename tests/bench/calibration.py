"""
Is the relevance of a memory the probability that it answers? Fits `retrieval/calibration.toml`.

Data: the memories that are shown for the questions of the invented lives of `tests/bench/lives`, understood by rules; a memory is
right if it has a wanted word. `development` is fitted, `unseen` is held out, its even and its odd questions apart.
Baseline: the relevance as the gate computes it; and always the share of right memories.
Run: `.venv/bin/python tests/bench/calibration.py [--fit]`; a minute a life.

    Brier      mean squared distance of the relevance from 1 (right) or 0 (wrong); less is better
    with       calibrated by the table, or with `--fit` by the new numbers, which are written into it
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lives import LIVES, UNSEEN, has_any, instant, strings
from measure import fresh_memory
from memento.python import Memento
from memento.retrieval import calibration, pipeline
from memento.retrieval.question import Query
from memento.telemetry import Stopwatch

Array = NDArray[np.float64]
FAMILY = "all-MiniLM-L6-v2"
K = 10


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Print the Brier score of each part with and without the table; return the figures."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit to the development lives, and write the table")
    chosen = parser.parse_args(argv)
    parts: dict[str, list[tuple[float, bool]]] = {"development": [], "even half": [], "odd half": []}
    for path in sorted(LIVES.glob("*/*.json")):
        for number, shown in enumerate(ask_life(path)):
            half = "odd half" if number % 2 else "even half"
            parts[half if path.parent.name == UNSEEN else "development"] += shown
    scores = {name: np.array(pairs, dtype=np.float64) for name, pairs in parts.items()}
    calibrate = partial(calibration.calibrate, fingerprint=FAMILY)
    if chosen.fit:
        slope, offset = fit(scores["development"][:, 0], scores["development"][:, 1])
        head = calibration.TABLE.read_text(encoding="utf-8").partition("[")[0]
        calibration.TABLE.write_text(
            f'{head}["{FAMILY}"]\nslope = {slope:.3f}\noffset = {offset:.3f}\n', encoding="utf-8"
        )
        print(f"slope {slope:.3f}  offset {offset:.3f}")
    figures = {name: measure(pairs, [calibrate(value) for value in pairs[:, 0]]) for name, pairs in scores.items()}
    for name, means in figures.items():
        print(f"{name:<12}{len(scores[name]):5}  " + "  ".join(f"{key} {value:.4f}" for key, value in means.items()))
    return figures


def measure(pairs: Array, calibrated: Sequence[float]) -> dict[str, float]:
    """Return the Brier scores of pairs of relevance and right."""
    raw, right = pairs[:, 0], pairs[:, 1]
    return {
        "without": float(np.mean((raw - right) ** 2)),
        "with": float(np.mean((np.array(calibrated) - right) ** 2)),
        "share": float(right.mean() * (1 - right.mean())),
    }


def ask_life(path: Path) -> Iterator[list[tuple[float, bool]]]:
    """Yield for each question the relevance of each memory that is shown, uncalibrated, and whether it is right."""
    life = json.loads(path.read_text(encoding="utf-8"))
    with fresh_memory("minilm") as memento:
        for told in life["notes"]:
            memento.note(told["note"], at=told["at"])
        for question in life["questions"]:
            wanted = strings(question["want"])
            shown = find_shown(memento, question["question"], question.get("as_of"))
            yield [(relevance, bool(wanted) and has_any(text, wanted)) for relevance, text in shown]


def find_shown(memento: Memento, text: str, as_of: str | None) -> list[tuple[float, str]]:
    """Return the uncalibrated relevance and the text of each memory that answers a question."""
    settings, stores, watch = memento.settings, memento.service.stores, Stopwatch("measured")
    query = Query(text, memento.context.scope("main"), k=K, as_of=instant(as_of) if as_of else None)
    with pipeline.read_question(query, stores, settings, watch) as question:
        ranking = pipeline.rank(question, query, stores, settings, watch)
        picked = pipeline.pick_in_time(ranking, query, question, stores, settings)
        if ranking.judgement is None or not picked.chosen:
            return []
        iris = [question.view.indexes.nodes.iri(one.item) for one in picked.chosen[:K]]
    rows = stores.graph.select("search/texts", query.scope.readable, memory=iris)
    texts = {row["memory"]: str(row["content"]) for row in rows}
    openness = ranking.judgement.openness
    return [(openness * fit, texts[iri]) for iri, fit in zip(iris, picked.fitness, strict=False)]


def fit(relevance: Array, right: Array) -> tuple[float, float]:
    """Return the slope and the offset of a logistic regression of right on the logit of the relevance."""
    p = np.clip(relevance, 1e-6, 1 - 1e-6)
    logits, target = torch.tensor(np.log(p / (1 - p))), torch.tensor(right)
    found = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([found], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.binary_cross_entropy_with_logits(found[0] * logits + found[1], target)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    slope, offset = found.detach().tolist()
    return float(slope), float(offset)


if __name__ == "__main__":
    main()
