"""
Does recall find more with inference, and does it lose anything?

Data: generated here, seeded: people who live in invented towns or work for invented firms, and unrelated memories; and a free graph
that says which town is part of which province and country, and which firm of which group, transitively. The questions are about
provinces, countries and groups, which no memory names, and about names that memories contain. Baseline: the same without inference
(weight 0). recall@5 is the share of the wanted memories among the first five, of at most five.
Run: `.venv/bin/python tests/bench/inferred_recall.py [--weights 0 0.5 1 2] [--record]`; a minute on two cores.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from measure import record
from memento.iris import data_iri
from memento.python import Memento, open_memento
from memento.retrieval.signals import with_weights
from memento.settings import EmbeddingSettings, Settings
from synthetic import _word

FIRST = "Anna Ben Carla David Elena Femi Gita Hugo Ines Jonas Kofi Lena Marta Nils Olga Pedro".split()  # noqa: SIM905
OTHER = (
    "I like green tea.", "My cat is called Tom.", "I play the cello.", "I drive an old van.", "I use Zed as my editor.",
    "My favourite colour is blue.", "I sleep badly before a launch.", "I never eat olives.", "I read on the train.",
    "I keep bees.", "I am learning Portuguese.", "I run on Sundays.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """What there is to find: notes, the free graph, and questions with the texts that answer them, of two sorts."""

    notes: list[str]
    graph: str
    led: list[tuple[str, frozenset[str]]]
    plain: list[tuple[str, frozenset[str]]]


def made(towns: int, seed: int = 5) -> Made:
    """A small world."""
    rng = np.random.default_rng(seed)
    names = iter([_word(int(i), 3).title() for i in rng.permutation(8000)])
    lines = ["ex:partOf a owl:TransitiveProperty ."]
    notes = [*OTHER]
    wheres: dict[tuple[str, int], set[str]] = {}
    plain: list[tuple[str, frozenset[str]]] = []
    for number in range(towns):
        town, firm = next(names), next(names)
        province, group = number // 3, number // 3
        for kind, thing, whole in (("town", town, "province"), ("firm", firm, "group")):
            above = province if kind == "town" else group
            lines.append(f'ex:{kind}{number} rdfs:label "{thing}" ; ex:partOf ex:{whole}{above} .')
        who, works = (f"{FIRST[int(rng.integers(len(FIRST)))]} {next(names)}" for _ in range(2))
        lives, employed = f"{who} lives in {town}.", f"{works} works at {firm}."
        notes += [lives, employed]
        wheres.setdefault(("province", province), set()).add(lives)
        wheres.setdefault(("country", province // 3), set()).add(lives)
        wheres.setdefault(("group", group), set()).add(employed)
        plain += [(f"Who lives in {town}?", frozenset({lives})), (f"Who works at {firm}?", frozenset({employed}))]
    led = []
    for (kind, number), texts in wheres.items():
        name = next(names)
        whole = f" ; ex:partOf ex:country{number // 3}" if kind == "province" else ""
        lines.append(f'ex:{kind}{number} rdfs:label "{name}"{whole} .')
        question = f"Whom do I know in {name}?" if kind != "group" else f"Who has something to do with {name}?"
        led.append((question, frozenset(texts)))
    rng.shuffle(notes)
    prefixes = "@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    return Made(
        notes, f"{prefixes}@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {' '.join(lines)}", led, plain
    )


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """recall@5 of both sorts of questions by the weight of what is inferred."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--towns", type=int, default=36)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.0, 0.5, 1.0, 2.0])
    parser.add_argument("--model", default="minilm", choices=("minilm", "trigram"))
    parser.add_argument("--record", action="store_true", help="append the figures to tests/bench/results")
    chosen = parser.parse_args(argv)
    world = made(chosen.towns)
    found: dict[str, dict[str, float]] = {}
    with TemporaryDirectory(prefix="memento-bench-") as folder:
        settings = Settings(embedding=EmbeddingSettings(model=chosen.model, cache=False))
        with opened(Path(folder), settings) as memento:
            for text in world.notes:
                memento.note(text)
            memento.service.stores.graph.load(world.graph.encode(), data_iri("local", "places"))
        for weight in chosen.weights:
            with opened(Path(folder), weighing(settings, weight)) as memento:
                figures = {sort: recall(memento, asked) for sort, asked in (("led", world.led), ("plain", world.plain))}
            found[str(weight)] = figures
            print(f"weight {weight:<4}  led to {figures['led']:.3f}   named {figures['plain']:.3f}", flush=True)
    told: dict[str, object] = {
        "led": len(world.led),
        "plain": len(world.plain),
        "model": chosen.model,
        "recall_at_5": found,
    }
    record("inferred_recall", told, chosen.record)
    return told


def weighing(settings: Settings, weight: float) -> Settings:
    return with_weights(settings, inferred=weight)


def opened(folder: Path, settings: Settings) -> Memento:
    memento = open_memento(folder / "home", configured=settings)
    assert isinstance(memento, Memento)
    return memento


def recall(memento: Memento, asked: Sequence[tuple[str, frozenset[str]]]) -> float:
    """The mean share of what is to be found among the first five, with the gate as people have it."""
    return round(float(np.mean(list(_shares(memento, asked)))), 4)


def _shares(memento: Memento, asked: Sequence[tuple[str, frozenset[str]]]) -> Iterator[float]:
    for question, wanted in asked:
        found = {one.content for one in memento.recall(question, k=5).memories}
        yield len(found & wanted) / min(len(wanted), 5)


if __name__ == "__main__":
    main()
