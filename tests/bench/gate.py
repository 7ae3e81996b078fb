"""
How often does the gate hold back an answer that exists, and how often does it let through memories that have nothing to do with the
question?

Data: your own evaluation set (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl`; see `memento.plugins.lab.evaluation`); the
repository contains none.
Each question is asked in the scope of its answer and, for a set with several scopes, in another one; `--foreign` also asks the
questions of another set. Baseline: no gate, which holds back nothing (0 % and 100 %).
Run: `.venv/bin/python tests/bench/gate.py DATA_DIR [--foreign OTHER_DIR] [--limit N] [--record]`; 2,800 turns and 1,600 questions
take about two minutes on two cores if nothing is embedded yet.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from measure import record
from memento.plugins.lab.evaluation import Question, Trial, prepare_trial, read_set
from memento.settings import EmbeddingSettings, Settings

SEED = 20_240_229


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Print both rates, and return them in percent."""
    chosen = arguments().parse_args(argv)
    data = read_set(chosen.folder, limit=chosen.limit, exclude_types=chosen.exclude_type)
    choose = random.Random(SEED)
    figures: dict[str, float] = {}
    with prepare_trial(
        data, configured=Settings(embedding=EmbeddingSettings(model=chosen.model)), keep=chosen.keep
    ) as trial:
        trial.gate = True
        figures |= rate(trial, "false empties", data.questions, of_empty=True)
        if len(data.scopes) > 1:
            figures |= rate(trial, "wrong non-empties", elsewhere(data.questions, data.scopes, choose))
        if chosen.foreign:
            foreign = read_set(chosen.foreign, limit=chosen.limit, exclude_types=chosen.exclude_type).questions
            figures |= rate(trial, f"non-empties of {chosen.foreign.name}", elsewhere(foreign, data.scopes, choose))
    record("gate", {"set": data.name, "model": chosen.model, **figures}, chosen.record)
    return figures


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR")
    parser.add_argument("--foreign", type=Path, metavar="OTHER_DIR", help="a set whose questions have no answer here")
    parser.add_argument("--limit", type=int, help="the first so many questions")
    parser.add_argument("--exclude-type", action="append", default=["adversarial"], metavar="TYPE")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where imports stay, and are found in a later run")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def elsewhere(
    questions: Sequence[Question], scopes: Sequence[str | None], choose: random.Random
) -> tuple[Question, ...]:
    """Each question in a scope that is not its own."""
    return tuple(
        replace(one, scope=choose.choice([scope for scope in scopes if scope != one.scope] or list(scopes)))
        for one in questions
    )


def rate(trial: Trial, name: str, questions: Sequence[Question], of_empty: bool = False) -> dict[str, float]:
    """Ask some questions, and count those that came back empty, or those that did not."""
    trial.data = replace(trial.data, questions=tuple(questions))
    answers = trial.ask_all().answers
    percent = 100 * sum((not answer.ranked) == of_empty for answer in answers) / len(answers)
    print(f"{trial.data.name}: {name} {percent:.1f} % of {len(answers)}")
    return {name: round(percent, 2)}


if __name__ == "__main__":
    main()
