"""
What does each signal and each phase contribute? The default profile with one of them switched off in turn, and with each one that
is off by default switched on, on every set of a folder.

Data: your own folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.plugins.lab.evaluation`); the
repository contains none. Baseline: the default profile on the same import, question by question.
Run: `.venv/bin/python tests/bench/ablation.py FOLDER [--sets NAME …] [--keep FOLDER] [--record]`; one import and one round of
questions for each set, minutes on two cores. `--record` stores the table of these sets in `results/ablation.json`.

But: off means weight 0. The best 300 memories of each explained answer are ranked again, so a signal without weight has still
helped to choose these memories, and `subject` has helped to choose the seeds of EXPAND.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from measure import kept
from memento.plugins.lab.evaluation import (
    Estimate,
    Report,
    Trial,
    align_columns,
    estimate_difference,
    format_difference,
    prepare_trial,
    read_set,
    show_progress,
)
from memento.retrieval.signals import SIGNALS as REGISTERED
from memento.retrieval.signals import with_weights
from memento.settings import EmbeddingSettings, ExpandSettings, Settings
from weights import SEED, SIGNALS, Sheet, save, taken


def of_kind(kind: str) -> list[str]:
    return [name for name in SIGNALS if kind in REGISTERED[name].kinds]


def of_phase(*phases: str) -> list[str]:
    return [name for name in SIGNALS if REGISTERED[name].phase in phases]


ON = {name: 0.2 for name, one in REGISTERED.items() if not one.weight}
"""What weighs nothing by default, and what it is given here."""
GROUPS: Mapping[str, Sequence[str]] = {
    "all meaning": of_kind("meaning"),
    "all words": of_kind("words"),
    "conversation": of_kind("conversation"),
    "priors": of_kind("priors"),
    "links": ("link", "shared", "tie"),
    "EXPAND": of_phase("expand"),
    "ANCHOR and EXPAND": of_phase("anchor", "expand"),
}
"""What is switched off together: kinds of evidence, and the phases after LAND; ANCHOR without EXPAND is `subject`."""

METRICS = ("recall@5", "recall@10")

WITHOUT = {"successions": ExpandSettings(successions=0.0), "turns": ExpandSettings(turns=0.0)}
"""Edges that the walk goes over, and the settings of EXPAND that leave them out; they are asked again, as ANCHOR's rows are."""

Round = Mapping[str, NDArray[np.float64]]
"""Metric → (questions,) what each question reaches, 0..1."""


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print one table, a row for each thing that is off or on; returns the table of each set."""
    chosen = arguments().parse_args(argv)
    folders = sorted(file.parent for file in chosen.folder.glob("*/qrels.jsonl"))
    folders = [folder for folder in folders if not chosen.sets or folder.name in chosen.sets]
    if not folders:
        raise SystemExit(f"{chosen.folder} has no set that was asked for")
    tables: dict[str, object] = {}
    for folder in folders:
        first, rounds = measured(folder, chosen)
        print(shown(folder.name, first, rounds), flush=True)
        tables[folder.name] = table(first, rounds)
        kept("ablation", folder.name, tables[folder.name], chosen.record)
    return tables


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the sets are, a folder each")
    parser.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--limit", type=int, help="the first so many questions of each set")
    parser.add_argument("--exclude-type", action="append", default=["adversarial"], metavar="TYPE")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where imports stay, and are found in a later run")
    parser.add_argument("--record", action="store_true", help="keep the tables in tests/bench/results/ablation.json")
    return parser


def measured(folder: Path, chosen: Namespace) -> tuple[Round, dict[str, Round]]:
    """The default, and the rounds with something off (`− name`) or on (`+ name`); all from the same answers."""
    data = read_set(folder, limit=chosen.limit, exclude_types=chosen.exclude_type)
    plain = Settings(embedding=EmbeddingSettings(model=chosen.model))
    configured = with_weights(plain, **ON)
    with (
        show_progress() as progress,
        prepare_trial(data, configured=configured, progress=progress, keep=chosen.keep) as trial,
    ):
        sheets = taken(trial, configured)
        rounds: dict[str, Round] = {f"− {name}": one for name, one in ask_without_edges(trial, plain).items()}
    if chosen.keep:  # for `weights.py`, which looks at what weighs something by default
        save([replace(one, values=one.values[:, : len(SIGNALS)]) for one in sheets], chosen.keep / f"{data.name}.npz")
    off: dict[str, Sequence[str]] = {**{name: (name,) for name in SIGNALS}, **GROUPS}
    rounds |= {
        f"− {name}": weighed(sheets, with_weights(plain, **dict.fromkeys(some, 0.0))) for name, some in off.items()
    }
    rounds |= {f"+ {name}": weighed(sheets, with_weights(plain, **{name: weight})) for name, weight in ON.items()}
    return weighed(sheets, plain), rounds


def ask_without_edges(trial: Trial, plain: Settings) -> dict[str, Round]:
    """What is reached without the rows of ANCHOR, and without some edges of the walk."""
    with (
        patch("memento.retrieval.anchor.find_anchors", lambda *_: ()),
        patch("memento.retrieval.anchor.find_named_anchors", lambda *_: {}),
    ):
        rounds = {"rows of ANCHOR": values_of(trial.ask_all(configured=plain))}
    for name, expand in WITHOUT.items():
        rounds[name] = values_of(trial.ask_all(configured=replace(plain, expand=expand)))
    return rounds


def values_of(report: Report) -> Round:
    return {metric: np.array(report.list_values(metric)) for metric in METRICS}


def weighed(sheets: Sequence[Sheet], settings: Settings) -> Round:
    """What some weights reach."""
    of_name = asdict(settings.signals)
    weights = np.array([of_name[name] for name in (*SIGNALS, *ON)])
    return {f"recall@{k}": np.array([one.recall(weights, k) for one in sheets]) for k in (5, 10)}


def shown(dataset: str, first: Round, rounds: Mapping[str, Round]) -> str:
    """Percent, and what is lost in points: the difference to the default with its paired 95 % interval."""
    rows = [(dataset, *METRICS, *(f"{metric} lost or won" for metric in METRICS))]
    rows.append(("default", *percents(first), "", ""))
    rows += [
        (name, *percents(one), *(format_difference(difference(one, first, metric)) for metric in METRICS))
        for name, one in rounds.items()
    ]
    return "\n".join([*align_columns(rows), ""])


def percents(one: Round) -> tuple[str, ...]:
    return tuple(f"{100 * one[metric].mean():.1f}" for metric in METRICS)


def difference(one: Round, first: Round, metric: str) -> Estimate:
    return estimate_difference(first[metric], one[metric], np.random.default_rng(SEED))


def table(first: Round, rounds: Mapping[str, Round]) -> dict[str, object]:
    """The same as data, fractions in −1..1."""

    def figures(one: Round) -> dict[str, object]:
        values: dict[str, object] = {metric: round(float(one[metric].mean()), 4) for metric in METRICS}
        if one is not first:
            values["difference"] = {
                metric: [round(value, 4) for value in difference(one, first, metric)] for metric in METRICS
            }
        return values

    return {
        "questions": len(first[METRICS[0]]),
        "default": figures(first),
        "off": {name[2:]: figures(one) for name, one in rounds.items() if name[0] == "−"},
        "on": {name[2:]: figures(one) for name, one in rounds.items() if name[0] == "+"},
    }


if __name__ == "__main__":
    main()
