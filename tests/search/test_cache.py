"""What is kept of the indexes gives the same answers as the graph, or is not used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, MEM
from memento.model import Change, Recollection, Scope
from memento.ports import Progress
from memento.python import Memento, open_memento
from memento.search import cache
from memento.search.indexes import Indexes
from memento.settings import EmbeddingSettings, Settings

SETTINGS = Settings(embedding=EmbeddingSettings(model="trigram", cache=False))
QUESTIONS = ("Where do I work?", "Who is Ada Byron?", "What did Ben say of whales?", "Which city has seven hills?")


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FEWEST", 1)


def opened(home: Path) -> Memento:
    memento = open_memento(home, configured=SETTINGS)
    assert isinstance(memento, Memento)
    return memento


def told(memento: Memento) -> None:
    for text in ("I work at Google.", "My dog is called Rex.", "I joined Microsoft.", "Ada Byron is a poet."):
        memento.note(text)
    memento.note("It has seven hills.", title="Lisbon")
    for position, text in enumerate(("Did you see the whale?", "Yes, near Faro!", "We counted seven.")):
        memento.note(text, speaker=["Ana", "Ben"][position % 2], session="one", position=position)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with opened(tmp_path / "home") as memento:
        told(memento)
    return tmp_path / "home"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each start that read the graph."""
    found: list[str] = []

    reconcile = Indexes.reconcile

    def count(indexes: Indexes, progress: Progress | None = None, *, mends: bool = True) -> int:
        found.append("read")
        return reconcile(indexes, progress, mends=mends)

    monkeypatch.setattr(Indexes, "reconcile", count)
    return found


def answers(memento: Memento) -> list[tuple[tuple[str, float], ...]]:
    def said(found: Recollection) -> tuple[tuple[str, float], ...]:
        return tuple((one.content, one.score) for one in found.memories)

    return [said(memento.recall(question, gate=False)) for question in QUESTIONS]


def from_the_graph(home: Path) -> list[tuple[tuple[str, float], ...]]:
    cache.remove_folder(home / "indexes")
    with opened(home) as memento:
        assert memento.admin.check() == ()
        return answers(memento)


def test_a_start_with_kept_indexes_reads_no_graph_and_answers_the_same(home: Path, reads: list[str]) -> None:
    with opened(home) as memento:
        kept = answers(memento)
        assert memento.admin.check() == ()

    assert reads == []
    assert kept == from_the_graph(home)
    assert reads == ["read"]


def test_what_came_after_they_were_kept_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LATE", 1000)
    with opened(home) as memento:
        memento.note("I joined Siemens.")
        memento.note("Faro is a town in Algarve.")
        memento.note("A whale again!", speaker="Ana", session="one", position=1)
        (dog,) = (one.iri for one in memento.list() if "Rex" in one.content)
        memento.forget(dog)
        live = answers(memento)
    with opened(home) as memento:
        replayed = answers(memento)
        assert memento.admin.check() == ()
        memento.note("Rex is a cat.")
        again = answers(memento)
    with opened(home) as memento:
        assert answers(memento) == again

    assert live == replayed
    assert again == from_the_graph(home)


def test_kept_indexes_that_have_grown_are_merged_when_they_are_kept_again(home: Path) -> None:
    for text in ("I joined Siemens.", "Ada Byron moved to Faro.", "Faro is a town in Algarve."):
        with opened(home) as memento:
            memento.note(text)
            memento.note(f"{text} Really?", speaker="Ben", session="one", position=7)
            live = answers(memento)

    with opened(home) as memento:
        assert answers(memento) == live
    assert live == from_the_graph(home)


def test_damaged_files_are_not_used(home: Path, reads: list[str]) -> None:
    expected = from_the_graph(home)
    file = home / "indexes" / "arrays.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    del reads[:]

    with opened(home) as memento:
        assert answers(memento) == expected
    assert reads == ["read"]


def test_a_write_behind_our_back_is_seen(home: Path, reads: list[str]) -> None:
    with opened(home) as memento:
        (dog,) = (one.iri for one in memento.list() if "Rex" in one.content)
    graph = Oxigraph(home / "store")
    scope = Scope()
    old = next(quad for quad in graph.quads(scope.graph) if quad[0] == dog and quad[1] == MEM.content)
    graph.apply(Change(removes=(old,), adds=((dog, MEM.content, "USER's dog is called Bello.", scope.graph),)))
    graph.close()

    with opened(home) as memento:
        assert "Bello" in memento.recall("dog called", k=1, gate=False).memories[0].content
        assert memento.admin.check() == ()
    assert reads == ["read"]


def test_an_older_copy_of_the_folder_is_not_used(home: Path, tmp_path: Path, reads: list[str]) -> None:
    (home / "indexes").rename(tmp_path / "older")
    with opened(home) as memento:
        memento.note("I joined Siemens.")
    cache.remove_folder(home / "indexes")
    (tmp_path / "older").rename(home / "indexes")

    with opened(home) as memento:
        assert any("Siemens" in text for text, _ in answers(memento)[0])
    assert reads == ["read", "read"]


def test_erased_text_is_in_no_kept_file(home: Path) -> None:
    with opened(home) as memento:
        memento.note("I collect xylophonics.")
    assert b"xylophon" in (home / "indexes" / "arrays.bin").read_bytes()
    with opened(home) as memento:
        (secret,) = (one.iri for one in memento.list() if "xylophonics" in one.content)
        memento.forget(secret, erase=True)
        assert not (home / "indexes").exists()
    assert not (home / "indexes").exists()
    with opened(home):
        pass
    assert b"xylophon" not in (home / "indexes" / "arrays.bin").read_bytes()


def test_a_folder_that_is_half_written_is_not_there(tmp_path: Path) -> None:
    cache.write_folder(tmp_path / "kept", {"a": np.arange(3), "b/c": np.zeros((0, 4))}, {"x": 1})
    found = cache.read_folder(tmp_path / "kept")
    assert found is not None
    arrays, about = found
    assert (arrays["a"].tolist(), arrays["b/c"].shape, about) == ([0, 1, 2], (0, 4), {"x": 1})

    (tmp_path / "kept" / "arrays.bin").unlink()
    assert cache.read_folder(tmp_path / "kept") is None
    assert cache.read_folder(tmp_path / "nowhere") is None


def test_iris_are_iris_again(home: Path) -> None:
    with opened(home) as memento:
        indexes = memento.service.stores.indexes
        assert all(isinstance(iri, IRI) for iri in (*indexes.nodes.iris(), *indexes.names, *indexes.passages))


def test_whoever_waits_for_the_indexes_is_told_how_far_they_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento.search.indexes._SHOWN", 1)
    cache.remove_folder(home / "indexes")
    (home / "vectors.sqlite").unlink()
    steps: list[tuple[int, int]] = []
    open_memento(home, configured=SETTINGS, progress=lambda done, total: steps.append((done, total))).close()
    assert steps[:3] == [(1, 0), (2, 0), (3, 0)]  # nodes read, of nobody knows how many
    assert steps[-1][0] == steps[-1][1] > 0  # nodes embedded
