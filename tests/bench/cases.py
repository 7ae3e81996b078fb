"""
Does the case value that is learned from rewards choose better cases than similarity does?

Data: your own real questions with plans and outcomes (`cases.jsonl`, `queries.jsonl`, `pairs.jsonl`); the repository contains none.

*Online:* 900 questions come in a fixed order. Showing a case earns 1 if it is from the question's own set and was a success, else
0; one reward in ten is flipped. The memory sees only these rewards. The figure is the mean reward of the last 300 questions, for
one case and for four (their mean), over several seeds of the noise and of the network. Cases are chosen among all of them, as in
the baselines: by cosine, at random, by an oracle that knows the sets, and by a classifier that knows the sets of the first 600
questions. `successes` is the same with failures excluded from every choice.

*Pairs:* the AUC with which Q tells, for questions it has never seen, whether the task succeeded; the split is by question.

But: sets of questions stand for kinds of tasks, and being from the same set stands for being useful. What is learned is to tell
kinds of tasks apart, not that a plan helped. In the pairs the outcome is the same for every case of a question, so that figure says
how well Q predicts which questions are hard, and nothing about which case is better.

Run: `.venv/bin/python tests/bench/cases.py --data DIR [--json] [--plot FILE] [--speed] [--record]`; about ten minutes on two cores.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import record, shown, spread, timed
from memento.iris import IRI
from memento.model import CasesFound
from memento.plugins.cases.bank import Bank, Entry, Pair, measure_form
from memento.plugins.cases.learner import Learner, auc
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

NOISE = 0.1
SHOWN = (1, 4)
FOLDS = 5

Numbers = NDArray[np.float64]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Data:
    """The three files: cases, questions and labelled pairs, as rows."""

    cases: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    pairs: list[dict[str, Any]]

    @property
    def pays(self) -> NDArray[np.bool_]:
        """(questions, cases) whether showing a case is right: of the same set, and a success."""
        sets = np.array([one["source"] for one in self.cases])
        asked = np.array([one["source"] for one in self.questions])
        return np.asarray((asked[:, None] == sets[None]) & self.good[None])

    @property
    def good(self) -> NDArray[np.bool_]:
        return np.array([one["label"] == "positive" for one in self.cases])


def main(argv: Sequence[str] | None = None) -> Figures:
    """Print the tables, or the figures as one JSON object, and return them."""
    chosen = arguments().parse_args(argv)
    say: Callable[[str], None] = (lambda _: None) if chosen.json else print
    figures: Figures = {}
    if chosen.speed:
        figures["speed"] = speed(chosen.sizes, say)
    if chosen.data:
        data = read(chosen.data, chosen.questions)
        rewards: dict[int, list[Numbers]] = {}
        figures["online"] = online(data, chosen, say, rewards, successes=False)
        figures["online_successes"] = online(data, chosen, say, rewards, successes=True)
        figures["pairs"] = pairs(data, chosen, say)
        if chosen.plot:
            plot(data, rewards, chosen)
    if chosen.json:
        print(json.dumps(figures))
    record("cases", {"model": chosen.model, "seeds": chosen.seeds, **figures}, chosen.record)
    return figures


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with cases.jsonl, queries.jsonl, pairs.jsonl")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the learning curves into a picture")
    parser.add_argument("--speed", action="store_true", help="time storing, retrieving, learning; weigh the memory")
    parser.add_argument("--sizes", type=int, nargs=2, default=(1_000, 10_000), help="cases stored at once, and held")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=900, help="how many, of which the last third counts")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    return parser


def read(folder: Path, questions: int) -> Data:
    """The three files of a folder, with the first so many questions."""
    rows = [
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("cases.jsonl", "queries.jsonl", "pairs.jsonl")
    ]
    return Data(rows[0], rows[1][:questions], rows[2])


def memory(folder: str, model: str, seed: int) -> Memento:
    """An empty memory whose network begins from `seed`."""
    configured = Settings(embedding=EmbeddingSettings(model=model)).having(CasesSettings(seed=seed))
    opened = open_memento(folder, namespace="main", configured=configured)
    assert isinstance(opened, Memento)
    return opened


def online(
    data: Data, chosen: Any, say: Callable[[str], None], rewards: dict[int, list[Numbers]], *, successes: bool
) -> Figures:
    """One row of figures for each number of cases that are shown."""
    last = slice(2 * len(data.questions) // 3, None)
    say(f"\nmean reward of the last third of {len(data.questions)} questions" + ", successes only" * successes)
    found: Figures = {}
    for k in SHOWN:
        runs = [run(data, k, seed, chosen.model, successes) for seed in range(chosen.seeds)]
        rewards.setdefault(k, runs)
        plain = baselines(data, k, chosen, last, successes)
        row: Figures = {"q": interval([float(one[last].mean()) for one in runs]), **plain}
        found[str(k)] = row
        mean, low, high = row["q"]
        others = "  ".join(f"{name} {value:.3f}" for name, value in plain.items())
        say(f"k = {k}   Q {mean:.3f} [{low:.3f}, {high:.3f}]  {others}")
    return found


def run(data: Data, k: int, seed: int, model: str, successes: bool) -> Numbers:
    """(questions,) the reward that each question earned, through the service as anybody would use it."""
    noise, pays, got = np.random.default_rng(1_000 + seed), data.pays, []
    with TemporaryDirectory(prefix="memento-bench-") as folder, memory(folder, model, seed) as memento:
        iris = memento.cases.add(rows_of(data))
        place = {iri: number for number, iri in enumerate(iris)}
        for number, question in enumerate(data.questions):
            found = memento.cases.retrieve(question["text"], k=k)
            shown_here = [place[iri] for iri in choice(found, k, successes)]
            earned = turned(pays[number, shown_here], noise)
            assert found.retrieval
            single: dict[str, float] = {
                iris[case]: float(reward) for case, reward in zip(shown_here, earned, strict=True)
            }
            memento.cases.reward(found.retrieval, single=single)
            got.append(earned.mean())
    return np.array(got)


def rows_of(data: Data) -> list[CaseRow]:
    return [
        CaseRow(task=one["state"], plan=one["plan"], outcome="success" if good else "failure")
        for one, good in zip(data.cases, data.good, strict=True)
    ]


def choice(found: CasesFound, k: int, successes: bool) -> list[IRI]:
    """The k cases with the best score, of both sections or of those to follow."""
    both = [*found.positives] if successes else [*found.positives, *found.negatives]
    return [one.iri for one in sorted(both, key=lambda one: -one.score)[:k]]


def turned(right: NDArray[np.bool_], noise: np.random.Generator) -> Numbers:
    """Rewards of 1 and 0, each the other one by a chance of one in ten."""
    return np.asarray(np.where(noise.random(len(right)) < NOISE, ~right, right), dtype=np.float64)


def baselines(data: Data, k: int, chosen: Any, last: slice, successes: bool) -> dict[str, float]:
    """What other choices earn on average; their noise is worked out, not drawn."""
    asked, held = vectors(data, chosen.model)
    among = np.flatnonzero(data.good) if successes else np.arange(len(data.cases))
    pays = data.pays[last][:, among]
    likeness = asked[last] @ held[among].T
    by_cosine = np.argsort(-likeness, axis=1, kind="stable")[:, :k]
    sets = np.array([one["source"] for one in data.cases])[among]
    guessed = told(data, asked, last)
    of_guess = np.where((guessed[:, None] == sets[None]) & data.good[among][None], likeness, -2)
    by_guess = np.argsort(-of_guess, axis=1, kind="stable")[:, :k]
    right = {
        "cosine": np.take_along_axis(pays, by_cosine, 1).mean(),
        "random": pays.mean(),
        "oracle": np.sort(pays, axis=1)[:, -k:].mean(),
        "classifier": np.take_along_axis(pays, by_guess, 1).mean(),
    }
    return {name: round(float(NOISE + (1 - 2 * NOISE) * value), 4) for name, value in right.items()}


def told(data: Data, asked: Numbers, last: slice) -> NDArray[np.str_]:
    """The set of each of the last questions, guessed by a classifier that was told those of the others."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    sets = np.array([one["source"] for one in data.questions])
    known = LogisticRegression(C=10, max_iter=3_000).fit(asked[: last.start], sets[: last.start])
    return np.asarray(known.predict(asked[last]))


def vectors(data: Data, model: str) -> tuple[Numbers, Numbers]:
    """(questions, d) and (cases, d) embeddings."""
    with TemporaryDirectory(prefix="memento-bench-") as folder, memory(folder, model, 0) as memento:
        embed = memento.service.stores.embedder.embed
        return (
            embed([one["text"] for one in data.questions]).astype(np.float64),
            embed([one["state"] for one in data.cases]).astype(np.float64),
        )


def pairs(data: Data, chosen: Any, say: Callable[[str], None]) -> Figures:
    """The AUC of Q and of the cosine on questions that were not learned from: the mean over seeds of five folds by question."""
    asked = sorted({row["query"] for row in data.pairs})
    folds: list[Fold] = []
    with TemporaryDirectory(prefix="memento-bench-") as folder, memory(folder, chosen.model, 0) as memento:
        held = {case: IRI(f"urn:x:case:{place}") for place, case in enumerate(sorted({r["case"] for r in data.pairs}))}
        told_of = {row["case"]: row["label"] == "positive" for row in data.pairs}
        entries = [
            Entry(iri=iri, task=case, at=EPOCH, reward=1.0 if told_of[case] else -0.2) for case, iri in held.items()
        ]
        states, tasks = memento.service.stores.embedder.embed(list(held)), memento.service.stores.embedder.embed(asked)
        for seed in range(chosen.seeds):
            fold_of = np.random.default_rng(seed).permutation(len(asked)) % FOLDS
            for fold in range(FOLDS):
                bank = Bank(IRI(f"urn:memento:cases:x:{seed}-{fold}"), states.shape[1])
                bank.put(entries, states)
                learner = Learner(
                    bank, [], memento.service.stores, replace(memento.settings.of(CasesSettings), seed=seed)
                )
                every = [pair_of(row, asked, held, tasks, bank) for row in data.pairs]
                unseen = np.array([fold_of[asked.index(row["query"])] == fold for row in data.pairs])
                learner.fit([pair for pair, left in zip(every, unseen, strict=True) if not left])
                folds.append(judged([pair for pair, left in zip(every, unseen, strict=True) if left], learner, bank))
    figures: Figures = {
        "auc": resampled(folds, lambda one: one.q),
        "cosine_auc": round(float(np.mean([auc(one.cosine, one.good) for one in folds])), 4),
    }
    mean, low, high = figures["auc"]
    say(f"\npairs: AUC of Q {mean:.3f} [{low:.3f}, {high:.3f}], of the cosine {figures['cosine_auc']:.3f}")
    return figures


EPOCH = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Fold:
    """Pairs that were not learned from: what Q and the cosine say of them, how they ended, and which question each is of."""

    q: Numbers
    cosine: Numbers
    good: NDArray[np.bool_]
    question: NDArray[np.str_]


def pair_of(row: Mapping[str, Any], asked: list[str], held: Mapping[str, IRI], tasks: Any, bank: Bank) -> Pair:
    place = asked.index(row["query"])
    case = held[row["case"]]
    at = bank.row(case)
    assert at is not None
    return Pair(
        use=IRI("urn:x:use"),
        retrieval=IRI(f"urn:x:retrieval:{place}"),
        case=case,
        state=tasks[place],
        form=measure_form(row["query"]),
        at_ms=EPOCH.timestamp() * 1000,
        cosine=float(bank.vectors[at] @ tasks[place]),
        reward=1.0 if row["success"] else -0.2,
    )


def judged(some: Sequence[Pair], learner: Learner, bank: Bank) -> Fold:
    said = []
    for pair in some:
        at = bank.row(pair.case)
        assert at is not None
        q = learner.q(pair.state, pair.form, np.array([at]), pair.at_ms)
        assert q is not None
        said.append(float(q[0]))
    return Fold(
        np.array(said),
        np.array([pair.cosine for pair in some]),
        np.array([pair.reward > 0.5 for pair in some]),
        np.array([pair.retrieval for pair in some]),
    )


def resampled(folds: Sequence[Fold], told: Callable[[Fold], Numbers], times: int = 500) -> list[float]:
    """The mean AUC of some folds, and the interval that 95 of 100 draws of their questions fall into."""
    draw, means = np.random.default_rng(0), []
    groups = [[np.flatnonzero(one.question == name) for name in np.unique(one.question)] for one in folds]
    for _ in range(times):
        some = []
        for one, rows in zip(folds, groups, strict=True):
            taken = np.concatenate([rows[place] for place in draw.integers(0, len(rows), len(rows))])
            if 0 < one.good[taken].sum() < len(taken):
                some.append(auc(told(one)[taken], one.good[taken]))
        means.append(np.mean(some))
    whole = np.mean([auc(told(one), one.good) for one in folds])
    low, high = np.quantile(means, (0.025, 0.975))
    return [round(float(value), 4) for value in (whole, low, high)]


def interval(values: Sequence[float]) -> list[float]:
    """The mean over seeds, and its 95 % interval by Student's t."""
    from scipy.stats import t

    mean, count = float(np.mean(values)), len(values)
    half = float(t.ppf(0.975, count - 1) * np.std(values, ddof=1) / count**0.5) if count > 1 else 0.0
    return [round(value, 4) for value in (mean, mean - half, mean + half)]


def plot(data: Data, rewards: Mapping[int, Sequence[Numbers]], chosen: Any) -> None:
    """Draw the mean reward of the last hundred questions over time, of Q and of the cosine."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    asked, held = vectors(data, chosen.model)
    nearest = np.argsort(-(asked @ held.T), axis=1, kind="stable")
    window = min(100, len(asked))
    for k, runs in rewards.items():
        right = np.take_along_axis(data.pays, nearest[:, :k], 1).mean(axis=1)
        curves = {"Q": np.mean(runs, axis=0), "cosine": NOISE + (1 - 2 * NOISE) * right}
        for (name, mean), style in zip(curves.items(), ("-", "--"), strict=True):
            curve = np.convolve(mean, np.ones(window) / window, mode="valid")
            axes.plot(
                np.arange(len(curve)) + window, curve, style, color=f"C{SHOWN.index(k)}", label=f"{name}, k = {k}"
            )
    axes.set(xlabel="questions", ylabel=f"mean reward of the last {window}", ylim=(0, 0.9))
    axes.legend(loc="lower right", ncols=2)
    figure.savefig(chosen.plot)
    pyplot.close(figure)


def speed(sizes: Sequence[int], say: Callable[[str], None]) -> Figures:
    """Milliseconds to store and read back some cases, to retrieve and rank, and to learn; megabytes of many cases."""
    few, many = sizes
    say("\nspeed, without embedding")
    with TemporaryDirectory(prefix="memento-bench-") as folder:
        before, draw = resident_mb(), np.random.default_rng(0)
        with memory(folder, "trigram", 0) as memento:
            rows = [made_up(draw) for _ in range(many)]
            memento.service.stores.embedder.embed([row.task for row in rows[:few]])
            _, store_s = timed(lambda: memento.cases.add(rows[:few]))
            _, read_s = timed(lambda: memento.cases.list(limit=few))
            for begin in range(few, many, 1_000):
                memento.cases.add(rows[begin : min(begin + 1_000, many)])
            retrieving, ranking, rewarding, learning = used(memento, draw)
            held = {"memory": resident_mb() - before}
        held["disk"] = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 2**20
    figures: Figures = {
        f"store {few}": round(store_s * 1_000, 1),
        f"read {few}": round(read_s * 1_000, 1),
        "retrieve": spread(retrieving),
        "rank": spread(ranking),
        "reward": spread(rewarding),
        "update": spread(learning),
        "megabytes": {name: round(value, 1) for name, value in held.items()},
    }
    say(f"{few} cases: stored in {figures[f'store {few}']} ms, read back in {figures[f'read {few}']} ms")
    for name in ("retrieve", "rank", "reward", "update"):
        say(shown(f"{name}, {many} cases", figures[name]))
    say(f"{many} cases: {held['memory']:.0f} MB of memory, {held['disk']:.0f} MB on disk")
    return figures


def used(memento: Memento, draw: np.random.Generator) -> tuple[list[float], ...]:
    """Seconds of retrievals, of their ranking alone, of rewards without learning, and of rewards with an update of the network."""
    retrieving: list[float] = []
    ranking: list[float] = []
    rewarding: list[float] = []
    learning: list[float] = []
    for _ in range(200):
        task = made_up(draw).task
        memento.service.stores.embedder.embed([task])
        found, took = timed(partial(memento.cases.retrieve, task))
        retrieving.append(took)
        ranking.append(found.timings_ms["rank"] / 1_000)
        updates = memento.cases.status().updates
        assert found.retrieval
        reward = float(draw.random() < 0.5)
        credited, took = timed(partial(memento.cases.reward, found.retrieval, reward=reward))
        (learning if credited.updates > updates else rewarding).append(took)
    return retrieving, ranking, rewarding, learning[1:] or learning  # the first one imports torch


def made_up(draw: np.random.Generator) -> CaseRow:
    words = draw.choice(WORDS, 10)
    plan = "\n".join(f"{step}. {' '.join(draw.choice(WORDS, 8))}" for step in range(1, 5))
    return CaseRow(task=f"{' '.join(words)}?", plan=plan, outcome="success" if draw.random() < 0.6 else "failure")


WORDS = np.array(
    [f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ne") for b in ("ra", "st", "vo", "zu") for c in ("n", "r", "t")]
)


def resident_mb() -> float:
    """Megabytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main()
