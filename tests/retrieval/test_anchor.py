"""ANCHOR finds the entities of the graph that a question names and that its best memories are about; EXPAND walks from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import at
from memento.errors import InputError
from memento.iris import IRI, SKOS
from memento.model import Anchor, Change, NoteRow, Recollection, Scope
from memento.python import Memento
from memento.rank import ppr
from memento.retrieval.expand import look_around, rank_by_pagerank
from memento.retrieval.question import named_entities
from memento.retrieval.signals import with_weights
from memento.search.indexes import View
from memento.search.labels import Labels
from memento.search.links import Joined
from memento.settings import ExpandSettings
from memento.time import now

MAIN = IRI("urn:memento:graph:local:main")
FILMS = [
    ("Ed Wood", "Ed Wood is a film that was directed by Tim Burton."),
    ("Tim Burton", "Tim Burton is an American director who was born in Burbank."),
    ("Burbank", "Burbank is a city in California with many studios."),
    ("Faro", "Faro is a town in Algarve."),
    ("Algarve", "Algarve is the south of Portugal."),
]


@pytest.fixture
def films(memento: Memento) -> Memento:
    memento.intake.import_notes([NoteRow(content=text, title=title) for title, text in FILMS], consolidate=False)
    return memento


def weights(found: Recollection) -> dict[str, float]:
    return {one.name: one.weight for one in found.anchors}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who lives in New York City?", [2]),  # the longest name
        ("Who lives in New York?", [1]),
        ("Did Anna's sister see St. Louis or the Big Apple?", [4, 3, 2]),
        ("what did anna say?", [4]),  # small letters count where there is nothing else
        ("Did anna see New York?", [1]),
        ("Is “Zed” by Zed Inc. of work?", [5, 6]),
        ("Who is there?", []),
        ("", []),
    ],
)
def test_a_question_names_what_goes_by_the_longest_name(question: str, expected: list[int]) -> None:
    labels = Labels()
    names = {
        1: ["New York"], 2: ["New York City", "Big Apple"], 3: ["St. Louis"], 4: ["Anna"], 5: ["Zed"], 6: ["Zed Inc."],
        7: ["work"], 8: ["who"],
    }  # fmt: skip
    for node, own in names.items():
        labels.put(node, MAIN, own)

    found = named_entities(question, labels, [MAIN])

    assert found == expected


def test_what_is_named_weighs_its_rarity_and_what_a_seed_brings_a_share_of_it(films: Memento) -> None:
    found = films.recall("Who directed Ed Wood?", explain=True, gate=False)
    named = {one.name: one.named for one in found.anchors}

    assert named["Ed Wood"]
    assert not named["Tim Burton"]
    assert [one.weight for one in found.anchors] == sorted((one.weight for one in found.anchors), reverse=True)
    # Five memories, of which one is about Ed Wood, two are about Tim Burton.
    assert weights(found)["Ed Wood"] == pytest.approx(math.log(7 / 2) / math.log(7), abs=1e-6)
    assert weights(found)["Tim Burton"] == pytest.approx(0.3 * math.log(7 / 3) / math.log(7), abs=1e-6)
    assert films.recall("Who directed Ed Wood?", gate=False).anchors == ()


def test_another_name_of_an_entity_names_it_too(films: Memento) -> None:
    [anchor] = [one for one in films.recall("Faro?", explain=True, gate=False).anchors if one.named]
    scope = Scope()
    films.service.stores.commit(Change(((anchor.iri, SKOS.altLabel, "Ossonoba", scope.graph),)), scope)

    found = films.recall("What is Ossonoba?", explain=True, gate=False)

    assert next((one.name, one.named) for one in found.anchors) == ("Faro", True)
    [town] = [one for one in found.memories if one.content == FILMS[3][1]]
    assert ("entity", "Faro", anchor.iri) in [(step.by, step.name, step.via) for step in town.path]
    assert films.recall("What is Ossonoba?", engine="ppr", gate=False).memories[0].iri == town.iri


def test_what_a_good_memory_replaced_brings_its_entities_along(memento: Memento) -> None:
    memento.note("I work at Siemens.", at=at("2020-01-01"))
    memento.note("I work at Google now.", at=at("2022-01-01"))
    found = memento.recall("Where do I work?", explain=True, gate=False)

    assert {"Google", "Siemens", "USER"} == set(weights(found))
    assert [one.name for one in found.anchors if one.named] == ["USER"]
    assert all("Siemens" not in one.content for one in found.memories)


def test_the_user_anchors_where_the_question_is_about_the_user(memento: Memento) -> None:
    memento.note("I work with Anna at Google.")

    assert "USER" in weights(memento.recall("Where do I work?", explain=True, gate=False))
    assert "USER" not in weights(memento.recall("Where does Anna work?", explain=True, gate=False))


def test_the_walk_gives_the_ranks_of_the_power_iteration_to_what_may_be_seen(films: Memento) -> None:
    view = View.at(films.service.stores.indexes, Scope().memory_graphs, now(), None, None)
    joined = Joined(view.links())
    nodes = np.flatnonzero(view.visible)[:2].astype(np.int32)
    known = view.indexes.links.anchors
    ed, tim = (known.iri(known.find_anchors(name)[0].tolist()[0]) for name in ("ed wood", "tim burton"))
    anchors = tuple(Anchor(iri=iri, name="", weight=weight, named=True) for iri, weight in ((ed, 0.1), (tim, 0.2)))
    seeds = nodes, np.array([1.0, 0.5], dtype=np.float32)
    around = look_around(nodes, [known.number(ed), known.number(tim)], view, joined, ExpandSettings())
    restart = np.zeros(len(around.csr))
    restart[around.find_places(nodes)] = [0.5, 0.5 * 0.25]
    restart[[around.places[known.number(iri)] for iri in (ed, tim)]] = [0.1, 0.2]
    exact = ppr(around.csr, restart, 0.75, 300, tolerance=0.0, weighted=True)

    found = rank_by_pagerank(seeds, anchors, view, joined, ExpandSettings(epsilon=1e-9))

    assert found[around.memories] == pytest.approx(exact[: len(around.memories)], abs=1e-6)
    assert (found > 0).sum() > 2
    nothing = rank_by_pagerank((nodes[:0], seeds[1][:0]), (), view, joined, ExpandSettings())
    assert nothing.sum() == 0


def test_the_walk_alone_ranks_and_reaches_what_no_word_leads_to(films: Memento) -> None:
    found = films.recall("Where was the director of Ed Wood born?", engine="ppr", explain=True, gate=False)
    texts = [one.content for one in found.memories]

    assert texts[0] == FILMS[0][1]
    assert texts.index(FILMS[1][1]) < texts.index(FILMS[2][1])
    assert [one.score for one in found.memories] == sorted((one.score for one in found.memories), reverse=True)
    assert found.memories[0].score == 1.0
    assert {tuple(one.why) for one in found.memories} == {("walk",)}
    assert found.sparql
    assert found.total_candidates >= len(texts)


def test_the_walk_takes_part_unless_it_weighs_nothing(films: Memento) -> None:
    question = "Where was the director of Ed Wood born?"
    found = films.recall(question, explain=True, gate=False)
    films.service.settings = with_weights(films.settings, walk=0.0)
    without = films.recall(question, explain=True, gate=False)

    assert all("walk" not in one.why for one in without.memories)
    assert found.memories[0].why["walk"] > 0
    for memory in found.memories:
        assert sum(memory.why.values()) == pytest.approx(memory.score, abs=2e-5)


@pytest.mark.parametrize("engine", ["signals", "ppr", "published"])
def test_every_engine_answers_within_what_may_be_seen(films: Memento, engine: str) -> None:
    films.note("Ed Wood is a film that nobody saw.", namespace="work")
    found = films.recall("Who directed Ed Wood?", engine=engine, gate=False)
    gone = films.forget(found.memories[0].iri).memories

    assert "nobody" not in " ".join(one.content for one in found.memories)
    assert set(gone).isdisjoint(
        one.iri for one in films.recall("Who directed Ed Wood?", engine=engine, gate=False).memories
    )


def test_an_empty_memory_has_nothing_to_start_from(memento: Memento) -> None:
    for engine in ("signals", "ppr", "published"):
        found = memento.recall("Who directed Ed Wood?", engine=engine, explain=True)
        assert (found.memories, found.anchors, found.sparql) == ((), (), None)


def test_an_unknown_engine_is_refused_with_the_choices(memento: Memento) -> None:
    with pytest.raises(InputError, match="unknown engine 'steam': choose one of signals, ppr, spread, hops, published"):
        memento.recall("Who?", engine="steam")
