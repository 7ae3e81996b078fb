"""
Which weights fit the questions best, and do they also fit questions that were not used for the choice?

Data: your own folder of sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl` each; see `memento.plugins.lab.evaluation`); the
repository contains none. For each question the signals of its candidates are taken once (`--keep FOLDER` stores them for the next
run); everything else is arithmetic on them. Weights are fitted by a softmax of each answer against the candidates that are no
answers, all at least 0 (L-BFGS), each set counting the same. Baseline: the default weights on the same candidates.
Reported: in sample; in five folds (conversations and lives as a whole, other questions by a hash of their text, so that a question
in several sets is never on both sides); and with the whole family of a set left out.
Run: `.venv/bin/python tests/bench/weights.py FOLDER [--keep FOLDER] [--sets NAME …] [--record]`;
an import of each set, then a minute.
"""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from measure import record
from memento.plugins.lab.evaluation import (
    Estimate,
    Question,
    Trial,
    align_columns,
    estimate,
    format_difference,
    prepare_trial,
    read_set,
    show_progress,
)
from memento.retrieval.signals import SIGNALS as REGISTERED
from memento.settings import EmbeddingSettings, Settings

SIGNALS = tuple(name for name, one in REGISTERED.items() if one.weight)
"""Those that weigh something by default."""
FOLDS = 5
MOST = 300
"""Memories whose signals are looked at: the best by the default weights, as many as are explained at once."""
HARD = 200
"""Of these, memories that are no answer and take part in a fit."""
SEED = 20_240_229

Weights = NDArray[np.float64]
"""(signals,) in the order of `SIGNALS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One question: what every signal says of each candidate, which candidates answer it, and how many answers there are."""

    dataset: str
    fold: int
    answers: int
    is_answer: NDArray[np.bool_]  # (n,)
    values: NDArray[np.float32]  # (n, signals) as they are weighed

    def recall(self, weights: Weights, k: int) -> float:
        """The share of the answers among the first `k`, 0..1."""
        order = np.argsort(-(self.values @ weights.astype(np.float32)), kind="stable")[:k]
        return float(self.is_answer[order].sum()) / self.answers


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print a row for each set and way of choosing, and the weights; returns both."""
    chosen = arguments().parse_args(argv)
    folders = sorted(file.parent for file in chosen.folder.glob("*/qrels.jsonl"))
    folders = [folder for folder in folders if not chosen.sets or folder.name in chosen.sets]
    if not folders:
        raise SystemExit(f"{chosen.folder} has no set that was asked for")
    sheets = {folder.name: sheets_of(folder, chosen.model, chosen.keep) for folder in folders}
    default: Weights = np.array([REGISTERED[name].weight for name in SIGNALS])
    of_all = fitted([one for some in sheets.values() for one in some], default)
    ways: dict[str, Callable[[Sheet], Weights]] = {
        "default": lambda one: default,
        "in sample": lambda one: of_all,
        "cross-validated": keyed(sheets, default, lambda one: one.fold),
        "family left out": keyed(sheets, default, lambda one: family(one.dataset)),
    }
    figures = {name: compared(sheets, way, default) for name, way in ways.items()}
    print(shown(figures))
    chosen_weights = {name: round(float(weight), 3) for name, weight in zip(SIGNALS, of_all, strict=True)}
    print("weights in sample:", ", ".join(f"{name} {weight:.2f}" for name, weight in chosen_weights.items()))
    record("weights", {"weights": chosen_weights, "recall": figures}, chosen.record)
    return {"weights": chosen_weights, "recall": figures}


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the sets are, a folder each")
    parser.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="these alone")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where imports and signals stay, and are found in a later run"
    )
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def family(dataset: str) -> str:
    """Sets that share questions or corpus: `hotpot`, `hotpot_notitle` and `keymem_hotpot` are one."""
    return dataset.removeprefix("keymem_").removesuffix("_notitle")


def sheets_of(folder: Path, model: str, keep: Path | None) -> list[Sheet]:
    """A sheet for each question of a set, from an earlier run when there are some."""
    kept = keep / f"{folder.name}.npz" if keep else None
    if kept and kept.exists():
        return loaded(kept, folder.name)
    data = read_set(folder, exclude_types=["adversarial"])
    configured = Settings(embedding=EmbeddingSettings(model=model))
    with show_progress() as progress, prepare_trial(data, configured=configured, progress=progress, keep=keep) as trial:
        made = taken(trial, configured)
    if kept:
        save(made, kept)
    return made


def taken(trial: Trial, configured: Settings) -> list[Sheet]:
    """A sheet for each question of a set, with the signals that weigh something."""
    fold = folds(trial.data.questions)
    return [sheet(trial, question, fold, configured) for question in trial.data.questions]


def save(sheets: Sequence[Sheet], file: Path) -> None:
    """Write what `loaded` reads."""
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        file,
        sizes=[len(one.is_answer) for one in sheets],
        folds=[one.fold for one in sheets],
        answers=[one.answers for one in sheets],
        is_answer=np.concatenate([one.is_answer for one in sheets]),
        values=np.concatenate([one.values for one in sheets]),
    )


def loaded(file: Path, dataset: str) -> list[Sheet]:
    """The sheets of a file that `save` wrote."""
    with np.load(file) as kept:
        ends = np.cumsum(kept["sizes"])[:-1]
        rows = zip(
            kept["folds"].tolist(),
            kept["answers"].tolist(),
            np.split(kept["is_answer"], ends),
            np.split(kept["values"], ends),
            strict=True,
        )
        return [
            Sheet(dataset=dataset, fold=fold, answers=answers, is_answer=is_answer, values=values)
            for fold, answers, is_answer, values in rows
        ]


def folds(questions: Sequence[Question]) -> dict[str, int]:
    """Question id → fold: with its scope where a few scopes have many questions each, else by its text."""
    scopes = list(dict.fromkeys(question.scope for question in questions))
    whole = 1 < len(scopes) < len(questions) / 1.5
    return {
        one.id: (scopes.index(one.scope) if whole else hashlib.sha256(one.text.encode()).digest()[0]) % FOLDS
        for one in questions
    }


def sheet(trial: Trial, question: Question, fold: Mapping[str, int], configured: Settings) -> Sheet:
    """What every signal says of the best memories for one question, as an explained answer gives it."""
    weights = {name: weight for name, weight in asdict(configured.signals).items() if weight}
    most = sum(weights.values())
    ranked, why = trial.explain(question, MOST, configured=configured)
    values = [[one.get(name, 0.0) * most / weight for name, weight in weights.items()] for one in why]
    return Sheet(
        dataset=trial.data.name,
        fold=fold[question.id],
        answers=len(question.grades),
        is_answer=np.array([document in question.grades for document in ranked], dtype=np.bool_),
        values=np.array(values, dtype=np.float32).reshape(len(ranked), len(weights)),
    )


def fitted(sheets: Sequence[Sheet], default: Weights) -> Weights:
    """
    The weights under which answers stand out best, in the unit of the default: with the same sum.

    The least mean, over sets and over the questions of each, of −ln softmax(answer against what is none).
    """
    batches = [batch(some, default) for some in by_set(sheets).values()]
    root = torch.tensor(
        np.sqrt(4.0 * default + 0.01), dtype=torch.float32, requires_grad=True
    )  # a square is never negative
    optimiser = torch.optim.LBFGS([root], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = torch.stack([surprise(root**2, *one) for one in batches]).mean()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    found: Weights = (root.detach() ** 2).double().numpy()
    return np.asarray(found * (default.sum() / found.sum()))


def batch(sheets: Sequence[Sheet], default: Weights) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(a, signals) answers, (a, HARD, signals) what is none beside each, and (a, HARD) what is only padding."""
    answers, others, padding = [], [], []
    for one in sheets:
        none = one.values[~one.is_answer]
        none = none[np.argsort(-(none @ default.astype(np.float32)))[:HARD]]
        missing = HARD - len(none)
        none = np.pad(none, ((0, missing), (0, 0)))
        for answer in one.values[one.is_answer]:
            answers.append(answer)
            others.append(none)
            padding.append(np.arange(HARD) >= HARD - missing)
    return tuple(torch.from_numpy(np.stack(some)) for some in (answers, others, padding))  # type: ignore[return-value]


def surprise(weights: torch.Tensor, answers: torch.Tensor, others: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
    """−ln softmax of each answer against the others, on average."""
    rest = (others @ weights).masked_fill(padding, -torch.inf).logsumexp(dim=1)
    return torch.nn.functional.softplus(rest - answers @ weights).mean()


def keyed(
    sheets: Mapping[str, Sequence[Sheet]], default: Weights, key: Callable[[Sheet], object]
) -> Callable[[Sheet], Weights]:
    """For each question, weights that were fitted without the questions of its key."""
    everything = [one for some in sheets.values() for one in some]
    without = {
        left: fitted([one for one in everything if key(one) != left] or everything, default)
        for left in {key(one) for one in everything}
    }
    return lambda one: without[key(one)]


def by_set(sheets: Iterable[Sheet]) -> dict[str, list[Sheet]]:
    """The sheets of each set."""
    found: dict[str, list[Sheet]] = {}
    for one in sheets:
        found.setdefault(one.dataset, []).append(one)
    return found


def compared(
    sheets: Mapping[str, Sequence[Sheet]], way: Callable[[Sheet], Weights], default: Weights
) -> dict[str, dict[str, object]]:
    """For each set recall@5 and recall@10, and the paired difference to the default with its 95 % interval; 0..1."""
    found: dict[str, dict[str, object]] = {}
    for name, some in sheets.items():
        found[name] = {}
        for k in (5, 10):
            values = np.array([one.recall(way(one), k) for one in some])
            plain = np.array([one.recall(default, k) for one in some])
            difference = estimate(values - plain, np.random.default_rng(SEED))
            found[name][f"recall@{k}"] = round(float(values.mean()), 4)
            found[name][f"difference@{k}"] = [round(float(value), 4) for value in difference]
    return found


def shown(figures: Mapping[str, Mapping[str, Mapping[str, object]]]) -> str:
    """Percent; recall@5 / recall@10, and the difference to the default with its interval."""
    rows: list[tuple[str, ...]] = [("set", "weights", "R@5", "R@10", "R@5 − default", "R@10 − default")]
    for way, of_sets in figures.items():
        for name, one in of_sets.items():
            recalls = (f"{100 * float(str(one[f'recall@{k}'])):.1f}" for k in (5, 10))
            gains = ("" if way == "default" else percent(one[f"difference@{k}"]) for k in (5, 10))
            rows.append((name, way, *recalls, *gains))
    rows.sort(key=lambda row: (row[0] != "set", row[0]))
    return "\n".join(align_columns(rows))


def percent(difference: object) -> str:
    assert isinstance(difference, list)
    return format_difference(Estimate(*map(float, difference)))


if __name__ == "__main__":
    main()
