"""
How well does recall find what answers a question, over every set of a folder and for one or more profiles, side by side?

Data: a folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.evaluation.sets`), which the caller has;
none is kept here. Baseline: the first profile, against which the others are compared question by question.
Run: `.venv/bin/python tests/bench/recall_quality.py FOLDER --profile seed [--profile NAME …] [--record]`; a corpus of 8,000
documents takes some minutes on two cores, most of it embedding.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from measure import record
from memento.evaluation import metrics, sets
from memento.evaluation.report import METRICS, SEED, Report, bar, prepared
from memento.settings import EmbeddingSettings, Settings

SHOWN = ("recall@5", "recall@10", "all@5", "mrr@10", "ndcg@10")


def main(argv: Sequence[str] | None = None) -> list[Report]:
    """Print one table; returns a report for each set and profile."""
    chosen = arguments().parse_args(argv)
    folders = sorted(file.parent for file in chosen.folder.glob("*/corpus.jsonl") if wanted(file.parent, chosen.only))
    if not folders:
        raise SystemExit(f"{chosen.folder} has no folder with a corpus.jsonl that was asked for")
    print(line("set", "profile", ["n", *SHOWN, "difference", "p50 ms", "p95 ms"]))
    reports: list[Report] = []
    for folder in folders:
        of_set = reported(folder, chosen)
        for report in of_set:
            print(row(report, of_set[0]), flush=True)
            figures = {**report.as_json(), "profile": report.profile, "intervals": intervals(report)}
            record("recall_quality", figures, chosen.record)
        reports += of_set
    return reports


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the sets are, a folder each")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="this set; may be repeated")
    parser.add_argument("--profile", action="append", default=[], metavar="NAME", help="may be repeated")
    parser.add_argument("--limit", type=int, help="the first so many questions of each set")
    parser.add_argument("--exclude-type", action="append", default=["adversarial"], metavar="TYPE")
    parser.add_argument("--consolidate", action="store_true", help="let the rules retire memories")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def wanted(folder: Path, only: Sequence[str]) -> bool:
    return (folder / "qrels.jsonl").is_file() and (not only or folder.name in only)


def reported(folder: Path, chosen: Namespace) -> list[Report]:
    """A report for each profile, all from one import."""
    data = sets.read(folder, limit=chosen.limit, exclude_types=chosen.exclude_type)
    configured = Settings(embedding=EmbeddingSettings(model=chosen.model))
    with (
        bar() as progress,
        prepared(data, consolidate=chosen.consolidate, configured=configured, progress=progress) as trial,
    ):
        return [trial.asked(profile) for profile in chosen.profile or [None]]


def row(report: Report, first: Report) -> str:
    """Percent; recall@5 with its interval, and its paired difference to the first profile."""
    means = [f"{100 * report.estimate(metric).mean:.1f}" for metric in SHOWN]
    _, low, high = report.estimate("recall@5")
    means[0] += f" [{100 * low:.1f}, {100 * high:.1f}]"
    rng = np.random.default_rng(SEED)
    mean, low, high = metrics.paired(first.values("recall@5"), report.values("recall@5"), rng)
    difference = "" if report is first else f"{100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    p50, p95 = np.quantile([answer.latency_ms for answer in report.answers], (0.5, 0.95))
    cells = [str(len(report.answers)), *means, difference, f"{p50:.1f}", f"{p95:.1f}"]
    return line(report.dataset, report.profile or "default", cells)


def line(name: str, profile: str, cells: Sequence[str]) -> str:
    widths = (5, 19, 9, 6, 6, 7, 20, 7, 7)
    return f"{name:<22}{profile:<10}" + " ".join(cell.rjust(w) for cell, w in zip(cells, widths, strict=True))


def intervals(report: Report) -> dict[str, list[float]]:
    return {metric: [round(x, 4) for x in report.estimate(metric)[1:]] for metric in METRICS}


if __name__ == "__main__":
    main()
