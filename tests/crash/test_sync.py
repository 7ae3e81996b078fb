"""A process is killed while it takes its turn with another machine; the next turn loses nothing and doubles nothing."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import pytest

from crash.dying import SYNC, run_and_die
from crash.writer import SETTINGS
from memento.plugins.guard.patches import list_graphs, read_patches
from memento.python import Memento, open_memento

BY_DEFAULT = ("before a patch has its name", "when a patch has its name", "after what came is written")
"""The steps of every run of the tests: on either side of where a patch counts, and where the memory is ahead of the ledger."""


def open_at(home: Path) -> Memento:
    memento = open_memento(home, configured=SETTINGS, resume=False)
    assert isinstance(memento, Memento)
    return memento


def digest(memento: Memento) -> str:
    graph = memento.service.stores.graph
    quads = [str(quad) for name in list_graphs(graph, "local") for quad in graph.match(graph=name)]
    return sha256("\n".join(sorted(quads)).encode()).hexdigest()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machines that have met, each with something that the other does not know yet."""
    place = tmp_path_factory.mktemp("machines")
    (place / "shared").mkdir()
    with open_at(place / "a") as a, open_at(place / "b") as b:
        a.note("I live in Rome.")
        for machine in (a, b, a):
            machine.admin.sync(place / "shared")
        gone = a.note("I collect stamps.").memories[0]
        a.admin.sync(place / "shared")
        a.forget(gone, erase=True)
        a.note("I like green tea.")
        b.note("My sister Ana works at Google.")
        b.admin.sync(place / "shared")
    return place


@pytest.mark.parametrize(
    "step", [step if step in BY_DEFAULT else pytest.param(step, marks=pytest.mark.crash) for step in SYNC]
)
def test_a_kill_during_a_turn_loses_nothing_and_doubles_nothing(step: str, place: Path, tmp_path: Path) -> None:
    copy = Path(copytree(place, tmp_path / "copy"))
    run_and_die("sync", copy / "a", step, 0, copy / "shared")

    with open_at(copy / "a") as a, open_at(copy / "b") as b:
        for machine in (a, b, a):
            machine.admin.sync(copy / "shared")
        assert digest(a) == digest(b)
        for machine in (a, b):
            said = Counter(one.content for one in machine.list(limit=100))
            assert said == {
                "I live in Rome.": 1,
                "I like green tea.": 1,
                "My sister Ana works at Google.": 1,
            }
            assert machine.admin.check() == ()
            assert machine.admin.sync(copy / "shared").sent == 0
        assert read_patches(copy / "shared", {})
