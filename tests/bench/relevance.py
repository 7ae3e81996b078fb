"""
How reliably does recall know that it has an answer, and which memories belong to it? Fits the tables of `retrieval/relevance.py`.

Data: your own sets (`corpus.jsonl`, `queries.jsonl`, `qrels.jsonl`, optionally `unanswerable.jsonl`; see
`memento.plugins.lab.evaluation`), and data in the repository: `sets/diaries`, three invented diaries, with chat turns that ask
nothing (`chat.jsonl`), and `lives/development`, four lives, understood by the rules and stored verbatim, each also asked the
questions of another life.
The features of each question are taken in the scope of its answer and, for a set with several scopes, in another scope too; short
turns of a conversation are asked in another conversation. `removed` is a question whose answers are hidden, so that only their
neighbours are left.
`--lives` are checked and never fitted: files of {"notes": [{"note", "at"}], "questions":
[{"question", "want", "as_of"}]}.
Baseline: a scope always answers, with ten memories. Reported: how many questions without an answer, questions of other scopes and
small talk get none, at some rates of false silence; the same with each set left out of the fit, and with each feature left out of
the table; the number of memories shown, and how much of the gold remains.
Run: `.venv/bin/python tests/bench/relevance.py FOLDER [--sets NAME …] [--lives FILE …] [--keep FOLDER] [--plot FILE] [--record]`;
an import of each set, then some minutes.
"""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray

from measure import record
from memento.iris import IRI
from memento.model import NoteRow, Scored
from memento.plugins.lab.evaluation import Question, Trial, namespace_of, prepare_trial, read_set
from memento.python import Memento, open_memento
from memento.retrieval import pipeline, relevance
from memento.retrieval.question import Query
from memento.retrieval.question import Question as Asked
from memento.retrieval.trace import trace
from memento.settings import EmbeddingSettings, Settings
from memento.telemetry import Stopwatch
from memento.text.claims import USER, read_question, single_relations
from memento.time import instant

Array = NDArray[np.float64]

OWN = Path(__file__).parent / "sets" / "diaries"
RATES = (0.02, 0.03, 0.05, 0.08)
"""False silences at which the rest is read off."""
OWN_LIVES = Path(__file__).parent / "lives" / "development"
WEIGHTS = {"answered": 0.5, "elsewhere": 0.12, "unsaid": 0.3, "turn": 0.8, "chat": 0.1, "removed": 0.15}
"""What each kind of question counts in the fit."""
SHARES = {"own lives, rules": 2.0, "own lives, raw": 2.0, "beam": 0.1}
"""What each set counts, the others 1: small memories of one person most; least long messages, whose cosines mean something else."""
FEW_GOLD = 3
"""Documents that answer a question whose answers can all be hidden."""
FOREIGN = 20
"""Questions of each other life that a life is asked."""
SHOWN = 10
SHORT = 14
"""Words of a turn up to which it is asked as small talk."""
COSINES = ("cosine", "topic cosine", "behind", "ahead")
SEED = 20_240_229


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One question: what is known of it, of each of the best memories, and which of these answer it; `is_led` opens it anyway."""

    dataset: str
    kind: str
    asked: dict[str, float]
    fits: Array  # (n, features)
    is_gold: NDArray[np.bool_]  # (n,)
    is_led: bool


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print the tables, what they reach and what each feature adds; return the figures."""
    chosen = arguments().parse_args(argv)
    folders = [OWN, *(chosen.folder / name for name in chosen.sets)]
    sheets = [one for folder in folders for one in take_sheets(folder, chosen.model, chosen.keep, chosen.limit)]
    own = sorted(OWN_LIVES.glob("*.json"))
    sheets += [one for file in own for one in take_life(file, chosen.model, "own lives", own)]
    lives = [one for file in chosen.lives for one in take_life(file, chosen.model, "lives")]
    figures: dict[str, object] = {}
    for label, dropped in (("all", ()), ("without cosines", COSINES)):
        asked = [name for name in sheets[0].asked if name not in dropped]
        openness = fit_openness(sheets, asked)
        print(
            f"\n{chosen.model}, {label}\nopenness = {named(asked, openness)}\nfitness = {named_fits(sheets, dropped)}"
        )
        print_rates([*sheets, *lives], score(openness, asked, [*sheets, *lives]))
        print_tail(sheets, lives, dropped)
        figures[label] = {"openness": named(asked, openness), "fitness": named_fits(sheets, dropped)}
    print("\nleft out of the fit")
    asked = [*sheets[0].asked]
    for dataset in dict.fromkeys(one.dataset for one in sheets):
        inside = [one for one in sheets if one.dataset == dataset]
        print_rates(
            inside, score(fit_openness([one for one in sheets if one.dataset != dataset], asked), asked, inside)
        )
    print_ablation(sheets, lives)
    if chosen.plot:
        plot(sheets, lives, chosen.plot)
    record("relevance", {"model": chosen.model, **figures}, chosen.record)
    return figures


def arguments() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR")
    parser.add_argument("--sets", nargs="*", default=[], metavar="NAME", help="what else is fitted to")
    parser.add_argument("--lives", nargs="*", default=[], type=Path, metavar="FILE", help="what is only checked")
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--limit", type=int, help="the first so many questions of each set")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where imports stay, and are found in a later run")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where the curve is drawn")
    parser.add_argument("--record", action="store_true", help="append the tables to tests/bench/results")
    return parser


def take_sheets(folder: Path, model: str, keep: Path | None, limit: int | None) -> Iterator[Sheet]:
    """Yield a sheet for each question of a set, of each kind that it has."""
    data = read_set(folder, limit=limit, exclude_types=["adversarial"])
    choose, name = random.Random(SEED), data.name
    with prepare_trial(data, configured=Settings(embedding=EmbeddingSettings(model=model)), keep=keep) as trial:
        for question in data.questions:
            yield from ask(trial, question, "answered", name)
            yield from ask(trial, elsewhere(question, data.scopes, choose), "elsewhere", name)
        for question in data.unanswerable:
            yield from ask(trial, question, "unsaid", name)
        short = [one for one in data.documents if one.row.session and len(one.row.content.split()) <= SHORT]
        for document in choose.sample(short, min(len(short), 200)):
            turn = Question(id=document.id, text=document.row.content, scope=document.scope)
            yield from ask(trial, elsewhere(turn, data.scopes, choose), "turn", name)
        for line in (OWN / "chat.jsonl").read_text(encoding="utf-8").splitlines():
            said = Question(id="", text=json.loads(line)["text"], scope=choose.choice(data.scopes))
            yield from ask(trial, said, "chat", name)


def elsewhere(question: Question, scopes: Sequence[str | None], choose: random.Random) -> Question | None:
    """Return a question in a scope that is not its own; None where there is no other."""
    others = [scope for scope in scopes if scope not in (None, question.scope)]
    return replace(question, scope=choose.choice(others), grades={}) if others else None


def ask(trial: Trial, question: Question | None, kind: str, dataset: str) -> Iterator[Sheet]:
    if question:
        scope = namespace_of(question.scope)
        found = measure(trial.memento, question.text, scope, question.as_of)
        grades = set(question.grades)

        def judge(found: Measured) -> list[bool]:
            return [bool({trial.find_document(note) for note in notes} & grades) for notes in found.notes]

        yield from found.as_sheets(dataset, kind, judge(found))
        if kind == "answered" and len(grades) <= FEW_GOLD:
            again = partial(measure, trial.memento, question.text, scope, question.as_of)
            yield from remove_gold(found, judge, again, dataset)


def remove_gold(
    found: Measured, judge: Callable[[Measured], list[bool]], again: Callable[[list[IRI]], Measured], dataset: str
) -> Iterator[Sheet]:
    """Yield the sheet of a question whose answers are hidden, however many there are among the best."""
    hidden: list[IRI] = []
    for _ in range(3):
        gold = judge(found)
        hidden += [iri for iri, is_gold in zip(found.iris, gold, strict=True) if is_gold]
        if not any(gold):
            break
        found = again(hidden)
    if hidden and not any(judge(found)):
        yield from found.as_sheets(dataset, "removed", judge(found))


def take_life(file: Path, model: str, name: str, others: Sequence[Path] = ()) -> Iterator[Sheet]:
    """Yield a sheet for each question of a life, told as notes and imported as they are, and for some of other lives."""
    life = json.loads(file.read_text(encoding="utf-8"))
    configured = Settings(embedding=EmbeddingSettings(model=model))
    for is_understood in (True, False):
        dataset, choose = f"{name}, {'rules' if is_understood else 'raw'}", random.Random(SEED)
        with TemporaryDirectory() as home, open_memento(home, configured=configured) as memento:
            assert isinstance(memento, Memento)
            rows = [NoteRow(content=note["note"], at=instant(note["at"], "at", UTC)) for note in life["notes"]]
            memento.intake.import_notes(rows, consolidate=is_understood)
            for one in life["questions"]:
                found = measure(memento, one["question"], "main", one.get("as_of"))

                def judge(found: Measured, wanted: Sequence[str] = one["want"]) -> list[bool]:
                    return [any(word.lower() in text.lower() for word in wanted) for text in found.texts]

                yield from found.as_sheets(dataset, "answered" if one["want"] else "unsaid", judge(found))
                if one["want"]:
                    again = partial(measure, memento, one["question"], "main", one.get("as_of"))
                    yield from remove_gold(found, judge, again, dataset)
            for text in list_foreign(file, others, choose):
                found = measure(memento, text, "main", None)
                yield from found.as_sheets(dataset, "elsewhere", [False] * len(found.texts))


def asks_for_ones_own(question: str) -> bool:
    """Tell whether a question asks for something of the user that anybody may have told, such as the employer."""
    asked = read_question(question).clauses
    return any(one.owner == USER and one.relation in single_relations() for one in asked)


def list_foreign(file: Path, others: Sequence[Path], choose: random.Random) -> Iterator[str]:
    """Yield questions of other lives, but what anybody may ask about themselves: this life answers that too."""
    for other in others:
        if other != file:
            for one in choose.sample(json.loads(other.read_text(encoding="utf-8"))["questions"], FOREIGN):
                if not asks_for_ones_own(one["question"]):
                    yield one["question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The features of a question and of its best memories, with what these say and the notes they come from."""

    asked: dict[str, float]
    fits: dict[str, Array]
    iris: list[IRI]
    texts: list[str]
    notes: list[list[IRI]]
    is_led: bool

    def as_sheets(self, dataset: str, kind: str, gold: Sequence[bool]) -> Iterator[Sheet]:
        if self.texts:
            fits = np.stack([*self.fits.values()], axis=1)
            is_gold = np.array(gold, dtype=np.bool_)
            yield Sheet(dataset=dataset, kind=kind, asked=self.asked, fits=fits, is_gold=is_gold, is_led=self.is_led)


def measure(memento: Memento, text: str, namespace: str, as_of: str | None, hidden: Collection[IRI] = ()) -> Measured:
    """Return what recall knows of a question when it judges the relevance of the memories it found, some hidden from it."""
    settings, stores = memento.settings, memento.service.stores
    at = instant(as_of, "as_of", UTC) if as_of else None
    query, watch = Query(text, memento.context.scope(namespace), k=SHOWN, as_of=at), Stopwatch("measured")
    with pipeline.read_question(query, stores, settings, watch) as question:
        question = hide(question, hidden)
        ranking = pipeline.rank(question, query, stores, settings, watch)
        signals = ranking.evidence.signals
        read = pipeline.text_reader(question, query, stores)
        asked, every = relevance.measure_features(
            question, ranking.chosen, signals, read
        )  # as many as recall judges by
        is_led = bool(relevance.find_answering(ranking.chosen[:5], signals).any())
        best, fits = ranking.chosen[:SHOWN], {name: values[:SHOWN] for name, values in every.items()}
        named = [Scored(question.view.indexes.nodes.iri(one.item), one.score, one.source) for one in best]
    memories, _ = trace(named, stores.graph, query.scope, None)
    texts = [f"{one.content} {one.note.content if one.note else ''}" for one in memories]
    return Measured(
        iris=[one.iri for one in memories],
        asked=asked,
        fits=fits,
        texts=texts,
        notes=[[one.note.iri] if one.note else [] for one in memories],
        is_led=is_led,
    )


def hide(question: Asked, hidden: Collection[IRI]) -> Asked:
    """Return a question without some memories: what is left are their neighbours, and none answers it."""
    visible = question.view.visible.copy()
    visible[[node for iri in hidden if (node := question.view.indexes.nodes.find(iri)) is not None]] = False
    return replace(question, view=replace(question.view, visible=visible)) if hidden else question


def fit(values: Array, wanted: Array, weights: Array, ridge: float) -> Array:
    """Return the weights of a logistic regression, the first that of the constant: features are scaled while it is fitted."""
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
    mean[0], scale[0] = 0.0, 1.0
    inside, target, share = (torch.tensor(x) for x in ((values - mean) / scale, wanted, weights / weights.sum()))
    found = torch.zeros(values.shape[1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([found], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        logits = inside @ found
        value = (share * torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")).sum()
        value = value + ridge * (found[1:] ** 2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    scaled = found.detach().numpy() / scale
    scaled[0] -= float((scaled * mean)[1:].sum())
    return np.asarray(scaled, dtype=np.float64)


def fit_openness(sheets: Sequence[Sheet], names: Sequence[str]) -> Array:
    """Return what each feature of a question weighs."""
    counts = Counter((one.dataset, one.kind) for one in sheets)
    weights = np.array(
        [SHARES.get(one.dataset, 1.0) * WEIGHTS[one.kind] / counts[one.dataset, one.kind] for one in sheets]
    )
    values = np.array([[one.asked[name] for name in names] for one in sheets])
    return fit(values, np.array([float(one.kind == "answered") for one in sheets]), weights, 3e-3)


def fit_fitness(sheets: Sequence[Sheet], places: Sequence[int]) -> Array:
    """Return what each feature of a memory weighs, by questions with an answer among the best."""
    some = [one for one in sheets if one.kind == "answered" and one.is_gold.any()]
    counts = Counter(one.dataset for one in some)
    weights = np.concatenate(
        [
            np.full(len(one.is_gold), SHARES.get(one.dataset, 1.0) / counts[one.dataset] / len(one.is_gold))
            for one in some
        ]
    )
    values = np.concatenate([one.fits[:, places] for one in some])
    return fit(values, np.concatenate([one.is_gold for one in some]).astype(np.float64), weights, 1e-3)


FITS = (
    "bias",
    "cosine",
    "behind",
    "score",
    "covered",
    "speaker",
    "subject",
    "link",
    "no time",
    "no number",
    "unfilled",
)
"""The features of a memory in the order of `measure_features`."""


def places_of(dropped: Iterable[str]) -> list[int]:
    return [place for place, name in enumerate(FITS) if name not in set(dropped)]


def named(names: Sequence[str], weights: Array) -> dict[str, float]:
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def named_fits(sheets: Sequence[Sheet], dropped: Iterable[str]) -> dict[str, float]:
    places = places_of(dropped)
    return named([FITS[place] for place in places], fit_fitness(sheets, places))


def score(openness: Array, names: Sequence[str], sheets: Sequence[Sheet]) -> Array:
    """Return (sheets,) how open each question is, 0..1."""
    values = np.array([[one.asked[name] for name in names] for one in sheets])
    return np.where([one.is_led for one in sheets], 1.0, 1 / (1 + np.exp(-(values @ openness))))


def read_off(scores: Array, sheets: Sequence[Sheet], dataset: str, kind: str) -> list[float]:
    """Return the share of a kind of questions that is left unanswered at each rate of false silence."""
    here = np.array([one.dataset == dataset for one in sheets])
    kinds = np.array([one.kind for one in sheets])
    answered, others = scores[here & (kinds == "answered")], scores[here & (kinds == kind)]
    return [round(float((others < np.quantile(answered, rate)).mean()), 3) for rate in RATES] if len(others) else []


def print_rates(sheets: Sequence[Sheet], scores: Array) -> None:
    """Print what is left unanswered at some rates of false silence, and at the threshold of the package."""
    limit = relevance.choose_calibration("all-MiniLM-L6-v2").opens
    for dataset in dict.fromkeys(one.dataset for one in sheets):
        for kind in WEIGHTS:
            if not (rates := read_off(scores, sheets, dataset, kind)):
                continue
            at = np.mean(
                [x < limit for x, one in zip(scores, sheets, strict=True) if (one.dataset, one.kind) == (dataset, kind)]
            )
            print(f"  {dataset:24} {kind:10}", *(f"{rate:6.3f}" for rate in rates), f"  at {limit}: {at:.3f}")


def print_tail(sheets: Sequence[Sheet], lives: Sequence[Sheet], dropped: Iterable[str]) -> None:
    """Print how many memories are shown when the tail is cut, and what share of the gold among the first ten is left."""
    places = places_of(dropped)
    weights = fit_fitness(sheets, places)
    for dataset in dict.fromkeys(one.dataset for one in (*sheets, *lives)):
        some = [
            one for one in (*sheets, *lives) if (one.dataset, one.kind) == (dataset, "answered") and one.is_gold.any()
        ]
        for keeps in (0.3, 0.4, 0.5):
            shown, left = [], []
            for one in some:
                judged = relevance.Judgement(
                    openness=1.0, fitness=1 / (1 + np.exp(-(one.fits[:, places] @ weights))), is_open=True, keeps=keeps
                )
                kept = [place for place, fits in enumerate(judged.fitness) if judged.is_kept(place, float(fits))]
                shown.append(len(kept))
                left.append(float(one.is_gold[kept].sum() / one.is_gold.sum()))
            print(
                f"  {dataset:24} keeps {keeps:.2f}: {np.mean(shown):4.1f} shown, {np.mean(left):.3f} of the gold left"
            )


def print_ablation(sheets: Sequence[Sheet], lives: Sequence[Sheet]) -> None:
    """Print what is reached without each feature, at 5 % false silences."""
    every = [*sheets, *lives]
    print("\nwithout a feature, left unanswered of what nobody said at 5 % false silences")
    for dropped in (None, *(name for name in sheets[0].asked if name != "bias")):
        names = [name for name in sheets[0].asked if name != dropped]
        scores = score(fit_openness(sheets, names), names, every)
        rates = {of: read_off(scores, every, of, "unsaid")[2:3] for of in dict.fromkeys(one.dataset for one in every)}
        print(f"  {dropped or '(all)':16}", *(f"{of} {rate[0]:.3f}" for of, rate in rates.items() if rate))


def plot(sheets: Sequence[Sheet], lives: Sequence[Sheet], file: Path) -> None:
    """Draw what is left unanswered over the false silences."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    every, names = [*sheets, *lives], [*sheets[0].asked]
    scores = score(fit_openness(sheets, names), names, every)
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for dataset in dict.fromkeys(one.dataset for one in every):
        here = np.array([one.dataset == dataset for one in every])
        kinds = np.array([one.kind for one in every])
        answered = np.sort(scores[here & (kinds == "answered")])
        for kind in ("unsaid", "turn"):
            if len(others := scores[here & (kinds == kind)]):
                silent = np.arange(len(answered)) / len(answered)
                axes.plot(
                    100 * silent, [100 * (others < limit).mean() for limit in answered], label=f"{dataset}: {kind}"
                )
    axes.set(xlim=(0, 20), ylim=(0, 100), xlabel="false silences, %", ylabel="left unanswered, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    main()
