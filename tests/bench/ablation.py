"""
What does each signal and each phase earn? The default profile with one of them off in turn, and with what is off by default on,
on every set of a folder.

Data: a folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.evaluation.sets`), which the caller has;
none is kept here. Baseline: the default profile on the same import, question by question.
Run: `.venv/bin/python tests/bench/ablation.py FOLDER [--sets NAME …] [--record]`; one import and some twenty rounds of
questions for each set, minutes on two cores. `--record` keeps the table of these sets in `results/ablation.json`.

But: off means weight 0. A signal that weighs nothing still helps to choose the candidates, and `subject` the seeds of EXPAND.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from measure import kept
from memento.evaluation import sets
from memento.evaluation.report import Report, aligned, signed
from memento.evaluation.trial import Trial, bar, prepared
from memento.settings import EmbeddingSettings, Settings, SignalsSettings

SIGNALS = tuple(item.name for item in fields(SignalsSettings) if item.default)
ON = {"walk": 0.2}
"""What weighs nothing by default, and what it is given here."""
GROUPS: Mapping[str, Sequence[str]] = {
    "all meaning": ("meaning", "window"),
    "all words": ("words", "pairs", "session"),
    "conversation": ("window", "pairs", "session", "speaker"),
    "priors": ("speaker", "when", "form"),
    "EXPAND": ("link", "shared"),
    "ANCHOR and EXPAND": ("subject", "link", "shared"),
}
"""What is switched off together: kinds of evidence, and the phases after LAND; ANCHOR without EXPAND is `subject`."""

METRICS = ("recall@5", "recall@10")


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
        print(shown(first, rounds), flush=True)
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


def measured(folder: Path, chosen: Namespace) -> tuple[Report, dict[str, Report]]:
    """The default, and the rounds with something off (`− name`) or on (`+ name`); all from one import."""
    data = sets.read(folder, limit=chosen.limit, exclude_types=chosen.exclude_type)
    configured = Settings(embedding=EmbeddingSettings(model=chosen.model))
    off: dict[str, Sequence[str]] = {**{name: (name,) for name in SIGNALS}, **GROUPS}
    with bar() as progress, prepared(data, configured=configured, progress=progress, keep=chosen.keep) as trial:
        first = trial.asked(configured=configured)
        rounds = {}
        for number, (name, signals) in enumerate(off.items(), start=1):
            rounds[f"− {name}"] = weighing(dict.fromkeys(signals, 0.0), trial, configured)
            print(f"{data.name}: {name} off, {number} of {len(off)}", file=sys.stderr, flush=True)
        rounds |= {f"+ {name}": weighing({name: weight}, trial, configured) for name, weight in ON.items()}
        return first, rounds


def weighing(changed: Mapping[str, float], trial: Trial, configured: Settings) -> Report:
    """The questions asked with some weights changed."""
    weights = replace(configured.signals, **changed)
    return trial.asked(configured=replace(configured, signals=weights))


def shown(first: Report, rounds: Mapping[str, Report]) -> str:
    """Percent, and what is lost in points: the difference to the default with its paired 95 % interval."""
    rows = [(first.dataset, *METRICS, *(f"{metric} lost or won" for metric in METRICS))]
    rows.append(("default", *percents(first), "", ""))
    rows += [
        (name, *percents(report), *(signed(report.minus(first, metric)) for metric in METRICS))
        for name, report in rounds.items()
    ]
    return "\n".join([*aligned(rows), ""])


def percents(report: Report) -> tuple[str, ...]:
    return tuple(f"{100 * report.values(metric).mean():.1f}" for metric in METRICS)


def table(first: Report, rounds: Mapping[str, Report]) -> dict[str, object]:
    """The same as data, fractions in −1..1."""

    def figures(report: Report) -> dict[str, object]:
        values: dict[str, object] = {metric: round(float(report.values(metric).mean()), 4) for metric in METRICS}
        if report is not first:
            values["difference"] = {
                metric: [round(value, 4) for value in report.minus(first, metric)] for metric in METRICS
            }
        return values

    return {
        "questions": len(first.answers),
        "default": figures(first),
        "off": {name[2:]: figures(report) for name, report in rounds.items() if name[0] == "−"},
        "on": {name[2:]: figures(report) for name, report in rounds.items() if name[0] == "+"},
    }


if __name__ == "__main__":
    main()
