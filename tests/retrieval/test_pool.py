"""Above a size LAND looks at a pool; the memories that come back are those that looking at all of them gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from conftest import make_grains
from memento.datadir import DataFolder
from memento.graph.oxigraph import Oxigraph
from memento.model import Change, Recollection
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, LandSettings, Settings
from synthetic import World

WHOLE = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
POOLED = replace(WHOLE, land=LandSettings(whole=0, flat=0))
QUESTIONS = [*World(900, seed=3).questions(24), "Where do I work?", "What is my phone number?"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("worlds") / "whole"
    graph = Oxigraph(DataFolder(path).store)
    graph.apply(Change(tuple(World(900).quads())))
    graph.close()
    with open_memento(path, configured=WHOLE) as memento:
        memento.note("I work at Siemens.")
        memento.note("My phone number is 555 1234.")
    copytree(path, path.with_name("coded"))
    return path


@pytest.fixture(scope="module")
def memento(home: Path) -> Iterator[Memento]:
    with open_memento(home, configured=WHOLE) as memento:
        assert isinstance(memento, Memento)
        make_grains(memento)
        yield memento


def found(memento: Memento, question: str, settings: Settings) -> Recollection:
    own, memento.service.settings = memento.settings, settings
    try:
        return memento.recall(question, gate=False)
    finally:
        memento.service.settings = own


def scores(recollection: Recollection) -> dict[str, float]:
    return {one.iri: one.score for one in recollection.memories}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_pool_gives_what_looking_at_all_gives(memento: Memento, question: str) -> None:
    whole, pooled = found(memento, question, WHOLE), found(memento, question, POOLED)

    assert [one.iri for one in pooled.memories] == [one.iri for one in whole.memories]
    assert scores(pooled) == pytest.approx(scores(whole), abs=1e-5)


def test_a_small_pool_gives_nearly_the_same(memento: Memento) -> None:
    settings = [replace(WHOLE, land=LandSettings(pool=40, whole=whole)) for whole in (100_000, 0)]
    both = [[scores(found(memento, question, one)).keys() for question in QUESTIONS] for one in settings]

    shared = sum(len(one & other) for one, other in zip(*both, strict=True))
    assert shared > 0.95 * sum(map(len, both[0]))


def test_a_pool_explains_itself(memento: Memento) -> None:
    own, memento.service.settings = memento.settings, POOLED
    explained = memento.recall(QUESTIONS[0], gate=False, explain=True)
    memento.service.settings = own

    assert all(sum(one.why.values()) == pytest.approx(one.score, abs=1e-4) for one in explained.memories)


def test_a_small_namespace_is_searched_whole_among_many_others(home: Path) -> None:
    with open_memento(home.with_name("coded"), configured=POOLED) as memento:
        assert isinstance(memento, Memento)
        assert not memento.service.stores.indexes.vectors["memory"].is_whole
        for text in ("I bake bread on Sundays.", "The oven is broken.", "Rye needs a sourdough."):
            memento.note(text, namespace="kitchen")
        view = memento.service.stores.indexes
        inside = view.nodes.within([memento.context.scope("kitchen").graph], "memory")
        asked = view.embedder.embed(["bread"])

        nodes, _ = view.vectors["memory"].search(asked, 10, inside)

        assert len(nodes) == 3
        assert "bread" in memento.recall("Who bakes bread?", namespace="kitchen", k=1).memories[0].content


def test_codes_find_what_vectors_would(home: Path, memento: Memento) -> None:
    expected = [scores(found(memento, question, WHOLE)) for question in QUESTIONS]
    with open_memento(home.with_name("coded"), configured=POOLED) as coded:
        assert isinstance(coded, Memento)
        again = [scores(coded.recall(question, gate=False)) for question in QUESTIONS]

    shared = sum(len(one.keys() & other.keys()) for one, other in zip(expected, again, strict=True))
    assert shared > 0.95 * sum(map(len, expected))
