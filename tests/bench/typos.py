"""
How much does one typo in a question cost, and how much of that does spell correction recover?

Data: your own folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.plugins.lab.evaluation`); the
repository contains none. In every question one word of at least four letters, chosen by the question's hash, gets one typo after
its first letter: a letter missing, wrong or extra, or two letters swapped. Baseline: the questions as they are; beside it the
same without spell correction. Run: `.venv/bin/python tests/bench/typos.py FOLDER [--sets NAME …] [--keep FOLDER] [--record]`; one
import and four rounds of questions for each set.
"""

from __future__ import annotations

import hashlib
import random
import re
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

from measure import record
from memento.plugins.lab.evaluation import (
    Report,
    align_columns,
    format_difference,
    prepare_trial,
    read_set,
    show_progress,
)
from memento.settings import EmbeddingSettings, Settings
from memento.text.words import STOP_WORDS

METRICS = ("recall@5", "recall@10")


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print one table; returns the figures of each set."""
    chosen = arguments().parse_args(argv)
    folders = sorted(file.parent for file in chosen.folder.glob("*/qrels.jsonl"))
    folders = [folder for folder in folders if not chosen.sets or folder.name in chosen.sets]
    if not folders:
        raise SystemExit(f"{chosen.folder} has no set that was asked for")
    figures: dict[str, object] = {}
    for folder in folders:
        rounds = measured(folder, chosen.model, chosen.keep)
        print(shown(folder.name, rounds), flush=True)
        figures[folder.name] = {
            name: {metric: round(float(report.list_values(metric).mean()), 4) for metric in METRICS}
            for name, report in rounds.items()
        }
    record("typos", figures, chosen.record)
    return figures


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the sets are, a folder each")
    parser.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where imports stay, and are found in a later run")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def measured(folder: Path, model: str, keep: Path | None) -> dict[str, Report]:
    """The questions as they are and with a slip, mended and not; all from one import."""
    data = read_set(folder, exclude_types=["adversarial"])
    slipped = replace(data, questions=tuple(replace(one, text=with_slip(one.text)) for one in data.questions))
    mending = Settings(embedding=EmbeddingSettings(model=model))
    plain = replace(mending, land=replace(mending.land, mend=False))
    rounds = {}
    with show_progress() as progress, prepare_trial(data, configured=mending, progress=progress, keep=keep) as trial:
        for name, asked, configured in (
            ("as it is", data, plain),
            ("as it is, mended", data, mending),
            ("slip", slipped, plain),
            ("slip, mended", slipped, mending),
        ):
            trial.data = asked
            rounds[name] = trial.ask_all(configured=configured)
    return rounds


def with_slip(question: str) -> str:
    """
    The question with one slip; the same question always has the same one.

    >>> with_slip("Where is it?")
    'Where is it?'
    """
    choose = random.Random(hashlib.sha256(question.encode()).digest())
    words = [found for found in re.finditer(r"[A-Za-z]{4,}", question) if found[0].lower() not in STOP_WORDS]
    if not words:
        return question
    found = choose.choice(words)
    word = found[0]
    place, letter = choose.randrange(1, len(word) - 1), choose.choice(ascii_lowercase)
    before, after = word[:place], word[place:]
    slip = choose.choice(
        (
            before + after[1:],
            before + letter + after[1:],
            before + letter + after,
            before + after[1] + after[0] + after[2:],
        )
    )
    return question[: found.start()] + slip + question[found.end() :]


def shown(name: str, rounds: dict[str, Report]) -> str:
    """Percent, and the difference to the question as it is, not mended, with its paired 95 % interval."""
    first = rounds["as it is"]
    rows: list[tuple[str, ...]] = [(name, *METRICS, *(f"{metric} lost or won" for metric in METRICS))]
    for called, report in rounds.items():
        means = (f"{100 * report.list_values(metric).mean():.1f}" for metric in METRICS)
        gains = ("" if report is first else format_difference(report.compare_with(first, metric)) for metric in METRICS)
        rows.append((called, *means, *gains))
    return "\n".join([*align_columns(rows), ""])


if __name__ == "__main__":
    main()
