"""
How well does recall find what answers a question, over every set of a folder and for several profiles, side by side?

Data: your own folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.plugins.lab.evaluation`); the
repository contains none. Baseline: the last profile, against which the others are compared question by question on the same
import.
Run: `.venv/bin/python tests/bench/recall_quality.py FOLDER [--profile NAME …] [--record]`; without a profile it runs `default`,
`seed` and `half`; `vector`, `keyword` and `hybrid` are passed as modes. A corpus of 8,000 documents takes some minutes on two
cores, most of it for embedding.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from measure import record
from memento.plugins.lab.evaluation import (
    METRICS,
    EvaluationSet,
    Report,
    Trial,
    format_difference,
    prepare_trial,
    read_set,
    show_progress,
)
from memento.plugins.scale.settings import IndexSettings
from memento.settings import MODES, EmbeddingSettings, Settings, with_mode

SHOWN = ("recall@5", "recall@10", "all@5", "mrr@10", "ndcg@10")
PROFILES = ("default", "seed", "half")
MEAN_OF = (
    "locomo",
    "mb1_updates",
    "hotpot",
    "2wiki",
    "musique",
    "hotpot_notitle",
    "2wiki_notitle",
    "keymem_hotpot_notitle",
)
"""The sets whose figures are averaged, each counting the same; one of `keymem_hotpot` is enough."""


def main(argv: Sequence[str] | None = None) -> list[Report]:
    """Print one table; returns a report for each set and profile."""
    chosen = arguments().parse_args(argv)
    folders = sorted(file.parent for file in chosen.folder.glob("*/corpus.jsonl") if wanted(file.parent, chosen.only))
    if not folders:
        raise SystemExit(f"{chosen.folder} has no folder with a corpus.jsonl that was asked for")
    base = (chosen.profile or PROFILES)[-1]
    print(line("set", "profile", ["n", *SHOWN, f"R@5 − {base}", f"R@10 − {base}", "p50 ms", "p95 ms"]))
    reports: list[Report] = []
    for folder in folders:
        of_set = reported(folder, chosen)
        for report in of_set:
            print(row(report, of_set[-1]), flush=True)
            figures = {**report.as_json(), "profile": report.profile_name, "intervals": intervals(report)}
            record("recall_quality", figures, chosen.record)
        reports += of_set
    for profile in dict.fromkeys(report.profile_name for report in reports):
        print(mean_row([one for one in reports if one.profile_name == profile and one.dataset in MEAN_OF]))
    return reports


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the sets are, a folder each")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="this set; may be repeated")
    parser.add_argument(
        "--profile", action="append", default=[], metavar="NAME", help="or a mode, as keyword; may be repeated"
    )
    parser.add_argument("--limit", type=int, help="the first so many questions of each set")
    parser.add_argument("--exclude-type", action="append", default=["adversarial"], metavar="TYPE")
    parser.add_argument("--consolidate", action="store_true", help="let the rules retire memories")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument(
        "--index", choices=("lance", "milvus"), help="ask the same import once more through this engine"
    )
    parser.add_argument("--uri", default="", help="where the engine is; default a folder that is gone afterwards")
    parser.add_argument("--pool", type=int, default=300, help="memories that each search of the engine brings in")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where imports stay, and are found in a later run")
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def wanted(folder: Path, only: Sequence[str]) -> bool:
    return (folder / "qrels.jsonl").is_file() and (not only or folder.name in only)


def reported(folder: Path, chosen: Namespace) -> list[Report]:
    """A report for each profile, all from one import."""
    data = read_set(folder, limit=chosen.limit, exclude_types=chosen.exclude_type)
    configured = Settings(embedding=EmbeddingSettings(model=chosen.model))
    profiles = chosen.profile or PROFILES
    with TemporaryDirectory(prefix="memento-quality-") as name:
        kept = chosen.keep or Path(name)
        reports = tried(data, profiles, chosen, configured, kept)
        if chosen.index:
            index = IndexSettings(kind=chosen.index, uri=chosen.uri or f"{name}/index", whole=0, pool=chosen.pool)
            through = tried(data, profiles, chosen, replace(configured, index=index), kept)
            reports = [*(replace(one, profile=f"{one.profile_name}/{chosen.index}") for one in through), *reports]
        return reports


def tried(
    data: EvaluationSet, profiles: Sequence[str], chosen: Namespace, configured: Settings, kept: Path
) -> list[Report]:
    """A report for each profile, of the memory that is kept in a folder."""
    with (
        show_progress() as progress,
        prepare_trial(
            data, consolidate=chosen.consolidate, configured=configured, progress=progress, keep=kept
        ) as trial,
    ):
        return [ask(trial, profile, configured) for profile in profiles]


def ask(trial: Trial, profile: str, configured: Settings) -> Report:
    """The report of a profile, or of a mode: `keyword` is BM25 alone."""
    if profile not in MODES:
        return trial.ask_all(profile)
    return replace(trial.ask_all(configured=with_mode(configured, profile)), profile=profile)


def row(report: Report, base: Report) -> str:
    """Percent; recall@5 with its interval, and the paired differences to another profile."""
    means = [f"{100 * report.list_values(metric).mean():.1f}" for metric in SHOWN]
    _, low, high = report.estimate("recall@5")
    means[0] += f" [{100 * low:.1f}, {100 * high:.1f}]"
    differences = (
        "" if report is base else format_difference(report.compare_with(base, metric))
        for metric in ("recall@5", "recall@10")
    )
    p50, p95 = np.quantile([answer.latency_ms for answer in report.answers], (0.5, 0.95))
    cells = [str(len(report.answers)), *means, *differences, f"{p50:.1f}", f"{p95:.1f}"]
    return line(report.dataset, report.profile_name, cells)


def mean_row(reports: Sequence[Report]) -> str:
    """The mean over sets, whatever their size; empty when none of them is averaged."""
    if not reports:
        return ""
    means = [f"{100 * np.mean([report.list_values(metric).mean() for report in reports]):.1f}" for metric in SHOWN]
    return line(f"mean of {len(reports)}", reports[0].profile_name, ["", *means, "", "", "", ""])


def line(name: str, profile: str, cells: Sequence[str]) -> str:
    widths = (5, 19, 9, 6, 6, 7, 21, 21, 7, 7)
    return f"{name:<22}{profile:<10}" + " ".join(cell.rjust(w) for cell, w in zip(cells, widths, strict=True))


def intervals(report: Report) -> dict[str, list[float]]:
    return {metric: [round(x, 4) for x in report.estimate(metric)[1:]] for metric in METRICS}


if __name__ == "__main__":
    main()
