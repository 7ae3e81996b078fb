"""
What is shown where nothing surely answers, and to whom?

Data: the invented lives of `tests/bench/lives`, each asked its own questions and a fifth of `sets/general`: questions of general
knowledge, tasks, small talk. Baseline: nothing is nearest.
Run: `.venv/bin/python tests/bench/nearest.py [FILE …]`; some minutes.

    answers      share of the texts of a kind for which memories come back as answers
    nearest      share for which memories come back as nearest
    rescued      of the answered questions without an answer: the right memory is among the nearest
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lives import LIVES, has_any, strings
from measure import fresh_memory

GENERAL = Path(__file__).parent / "sets" / "general" / "texts.jsonl"
PART = 5


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Print a line for each kind of text, and return the figures."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="*", type=Path, help="all of tests/bench/lives, if none is named")
    counts: dict[str, dict[str, list[bool]]] = {}
    general = [json.loads(line) for line in GENERAL.read_text(encoding="utf-8").splitlines()]
    for at, path in enumerate(parser.parse_args(argv).file or sorted(LIVES.glob("*/*.json"))):
        life = json.loads(path.read_text(encoding="utf-8"))
        texts = [("asked" if one["want"] else "unsaid", one["question"], one) for one in life["questions"]]
        texts += [(one["kind"], one["text"], {}) for one in general[at % PART :: PART]]
        with fresh_memory("minilm") as memento:
            for told in life["notes"]:
                memento.note(told["note"], at=told["at"])
            for kind, text, question in texts:
                found = memento.recall(text, as_of=question.get("as_of"))
                kept = counts.setdefault(kind, {})
                kept.setdefault("answers", []).append(bool(found.memories))
                kept.setdefault("nearest", []).append(bool(found.nearest))
                if kind == "asked" and not found.memories:
                    words = strings(question["want"])
                    kept.setdefault("rescued", []).append(any(has_any(one.content, words) for one in found.nearest))
    figures = {
        kind: {measure: round(float(np.mean(values)), 3) for measure, values in kept.items()}
        for kind, kept in counts.items()
    }
    for kind, means in figures.items():
        print(
            f"{kind:<9}{len(counts[kind]['answers']):5}  "
            + "  ".join(f"{key} {mean:.3f}" for key, mean in means.items())
        )
    return figures


if __name__ == "__main__":
    main()
