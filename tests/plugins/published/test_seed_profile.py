"""
`recall --profile seed` answers what the first published design says it should: its phases are worked out here once more, plainly,
from what a user can ask for: the two plain searches, the edges by SPARQL, and the embedder.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import OFFLINE
from memento.model import NoteRow, Recollection
from memento.plugins.published.settings import PublishedSettings
from memento.python import Memento, open_memento
from memento.search.embedders import Trigram
from memento.settings import GateSettings, LandSettings, WordsSettings

Scores = dict[str, float]

PEOPLE = ("Ana Silva", "Ben Okafor", "Cleo Marsh", "Dora Weiss", "Emil Lund")
PLACES = ("Norway", "Nepal", "Peru", "Kenya", "Chile", "Japan", "Malta")
DEEDS = ("climbed a ridge", "repaired the old radio", "lost a red rucksack", "photographed eagles", "cooked lentils")
QUESTIONS = (
    "Who climbed with Ana Silva in Norway?",
    "eagles",
    "lentils in Japan",
    "tell me about rain",
)
ABOUT = """PREFIX mem: <http://purl.org/memento/>
SELECT ?memory ?anchor ?name ?description WHERE {
  ?memory mem:about ?anchor . ?anchor mem:name ?name OPTIONAL { ?anchor mem:description ?description }
}"""


def told(count: int) -> list[str]:
    """So many trips, no two alike."""
    return [
        f"{PEOPLE[n % 5]} {DEEDS[n * 3 % 5]} in {PLACES[n % 7]} with {PEOPLE[(n // 5 + n + 1) % 5]}, day {n * n}."
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A hundred and thirty trips, not changed by the tests; both plain searches score words as the seed is configured here."""
    opened = open_memento(tmp_path_factory.mktemp("trips"), configured=replace(OFFLINE, words=WordsSettings(1.2, 0.75)))
    assert isinstance(opened, Memento)
    with opened:
        opened.intake.import_notes([NoteRow(content=text) for text in told(130)], consolidate=False)
        yield opened


class Design:
    """The phases of the first design over one memory, as its text has them."""

    def __init__(self, memento: Memento) -> None:
        self.memento = memento
        self.embedder = Trigram()
        self.about: dict[str, set[str]] = defaultdict(set)
        self.called: dict[str, str] = {}
        for row in csv.DictReader(io.StringIO(memento.graphs.query_bytes(ABOUT, accept="text/csv")[0].decode())):
            self.about[row["memory"]].add(row["anchor"])
            self.called[row["anchor"]] = f"{row['name']}: {row['description']}" if row["description"] else row["name"]
        self.texts = {one.iri: one.content for one in memento.list(limit=1000)}
        self.rows = dict(zip(self.texts, self.embedder.embed(list(self.texts.values())), strict=True))

    def land(self, question: str) -> Scores:
        """The seeds: two searches of a hundred each, fused, cut to a hundred."""
        dense, sparse = (
            {str(one.iri): one.score for one in self.memento.recall(question, mode=mode, k=100, gate=False).memories}
            for mode in ("vector", "keyword")
        )
        return dict(list(fuse(dense, sparse).items())[:100])

    def anchor(self, question: str, seeds: Scores) -> Scores:
        """The share of the walk of each entity that a seed is about; the user is none."""
        [asked] = self.embedder.embed([question])
        by_entity: dict[str, list[str]] = defaultdict(list)
        for seed in seeds:
            for entity in self.about[seed]:
                by_entity[entity].append(seed)
        degree = {one: sum(one in about for about in self.about.values()) for one in by_entity}
        most = max([1, *degree.values()])
        weights = {}
        for entity, memories in by_entity.items():
            semantic = float(self.embedder.embed([self.called[entity]])[0] @ asked)
            memory = sum(float(self.rows[one] @ asked) for one in memories) / len(memories)
            structural = math.log1p(degree[entity]) / math.log1p(most)
            weights[entity] = 0.5 * semantic + 0.3 * memory + 0.2 * structural
        return {entity: weight / sum(weights.values()) for entity, weight in weights.items()} if weights else {}

    def expand(self, question: str, anchors: Scores, *, weighted: bool = False, structural: float = 0.5) -> Scores:
        """A personalised PageRank of 25 steps with damping .75, mixed with the likeness to the question; a hundred memories."""
        [asked] = self.embedder.embed([question])
        near: dict[str, set[str]] = defaultdict(set)
        for memory, entities in self.about.items():
            for entity in entities:
                near[memory].add(entity)
                near[entity].add(memory)
        restart = {one: (weight if weighted else 1.0) for one, weight in anchors.items()}
        ranks = dict(restart) if weighted else {one: 0.25 * weight for one, weight in restart.items()}
        for _ in range(25):
            ranks = {
                node: 0.25 * restart.get(node, 0.0)
                + 0.75 * sum(ranks.get(other, 0.0) / len(near[other]) for other in others)
                for node, others in near.items()
            }
        reached = sorted((one for one in ranks if one in self.texts and ranks[one] > 0), key=lambda one: -ranks[one])[
            :100
        ]
        mixed = {one: structural * ranks[one] + (1 - structural) * float(self.rows[one] @ asked) for one in reached}
        return dict(sorted(mixed.items(), key=lambda one: -one[1]))

    def faults(self, found: Recollection, seeds: Scores, reached: Scores, k: int = 10) -> list[str]:
        """
        What is wrong with the answer of DISTILL: a second fusion, then each time the memory that is best and differs most.

        Vectors are kept in half precision, so a score may be off by a little, and of two that are nearly equal either may be taken.
        """
        fused = fuse(seeds, reached)
        gap = max(fused.values()) - sum(fused.values()) / len(fused)
        share = 0.7 if gap > 0.3 else 0.65 if gap > 0.2 else 0.6 if gap > 0.1 else 0.5
        near = dict.fromkeys(fused, 0.0)
        wrong, left = [] if len(found.memories) == k else [f"{len(found.memories)} memories"], dict(fused)
        for one in found.memories:
            gains = {iri: share * score - (1 - share) * near[iri] for iri, score in left.items()}
            if one.iri not in left or gains[one.iri] < max(gains.values()) - 5e-3:
                return [*wrong, f"rank {one.rank}: another one is better than {one.content}"]
            if abs(one.score - left.pop(one.iri)) > 1e-3:
                wrong.append(f"rank {one.rank}: {one.score} is not {fused[one.iri]}")
            near = {iri: max(most, float(self.rows[iri] @ self.rows[one.iri])) for iri, most in near.items()}
        return wrong


def fuse(first: Mapping[str, float], second: Mapping[str, float]) -> Scores:
    """Two lists as one: the same mean and spread, 0..1, short lists trusted less, weak hits of the second dropped, 70 to 30."""
    if not first or not second:
        return dict(first or second)

    def normalised(side: Mapping[str, float]) -> Scores:
        values = np.array(list(side.values()), dtype=np.float64)
        spread = values.std()
        aligned = 0.5 + 0.2 * (values - values.mean()) / spread if spread else np.full(len(values), 0.5)
        width = aligned.max() - aligned.min()
        return dict(zip(side, ((aligned - aligned.min()) / width if width else aligned).tolist(), strict=True))

    weights = [0.7 * min(len(first) / 5, 1), 0.3 * min(len(second) / 5, 1)]
    of_first, of_second = (weight / sum(weights) for weight in weights)
    fused = {one: of_first * score for one, score in normalised(first).items()}
    for one, score in normalised(second).items():
        if score >= 0.3 - 1e-9:
            fused[one] = fused.get(one, 0.0) + of_second * score
    return dict(sorted(fused.items(), key=lambda one: -one[1]))


@pytest.fixture(scope="module")
def design(trips: Memento) -> Design:
    return Design(trips)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_the_one_that_the_phases_of_the_design_give(trips: Memento, design: Design, question: str) -> None:
    seeds = design.land(question)
    reached = design.expand(question, design.anchor(question, seeds))
    found = trips.recall(question, profile="seed")

    assert design.faults(found, seeds, reached) == []
    assert found.total_candidates == len(seeds) + len(reached)
    assert max(len(seeds), len(reached)) <= 100


def test_no_phase_of_the_design_may_be_otherwise(trips: Memento, design: Design) -> None:
    """What the test above compares with is not so lax that a walk, a list or a weight could be left out."""
    question = QUESTIONS[0]
    seeds = design.land(question)
    anchors = design.anchor(question, seeds)
    reached = design.expand(question, anchors)
    found = trips.recall(question, profile="seed")

    assert design.faults(found, seeds, {})
    assert design.faults(found, reached, seeds)
    assert design.faults(found, seeds, design.expand(question, anchors, structural=1.0))
    assert design.faults(found, seeds, design.expand(question, dict.fromkeys(list(anchors)[:1], 1.0)))
    assert design.faults(trips.recall(question, profile="half"), seeds, reached)


def test_a_walk_may_restart_by_weight(tmp_path: Path) -> None:
    """The constant `published.weighted`, beside the constants of the design; a profile would put them back."""
    engine = replace(
        OFFLINE,
        words=WordsSettings(1.2, 0.75),
        land=LandSettings(engine="published"),
        gate=GateSettings(on=False),
    ).having(PublishedSettings(weighted=True, structural_weight=1.0))
    opened = open_memento(tmp_path, configured=engine)
    assert isinstance(opened, Memento)
    with opened:
        opened.intake.import_notes([NoteRow(content=text) for text in told(60)], consolidate=False)
        design, question = Design(opened), QUESTIONS[0]
        seeds = design.land(question)
        anchors = design.anchor(question, seeds)
        found = opened.recall(question, k=10)
        by_weight = design.expand(question, anchors, weighted=True, structural=1.0)
        alike = design.expand(question, anchors, structural=1.0)

    assert design.faults(found, seeds, by_weight) == []
    assert design.faults(found, seeds, alike)


def test_words_that_nothing_has_leave_the_order_and_scores_of_the_vectors(trips: Memento) -> None:
    """One of the two lists is empty, and the other is not touched: the best seed has its cosine as its score."""
    question = "zzyzx qwrtp"
    plain = trips.recall(question, mode="vector", k=3, gate=False)

    assert not trips.recall(question, mode="keyword", gate=False).memories
    assert trips.recall(question, profile="half", k=3).memories[0].score == pytest.approx(
        plain.memories[0].score, abs=1e-3
    )


@pytest.mark.parametrize(("fewest", "reached"), [(1, True), (40, False)])
def test_an_entity_needs_enough_seeds_to_be_walked_from(tmp_path: Path, fewest: int, reached: bool) -> None:
    """The constant `published.min_memories`."""
    engine = replace(
        OFFLINE,
        land=LandSettings(engine="published"),
        gate=GateSettings(on=False),
    ).having(PublishedSettings(candidates=20, min_memories=fewest))
    opened = open_memento(tmp_path, configured=engine)
    assert isinstance(opened, Memento)
    with opened:
        opened.intake.import_notes([NoteRow(content=text) for text in told(60)], consolidate=False)
        found = opened.recall(QUESTIONS[0])

    assert (found.total_candidates > 20) is reached
