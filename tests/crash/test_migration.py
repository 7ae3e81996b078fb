"""A process is killed while it moves a memory to another embedder; the next start has the old vectors whole, or the new ones."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from crash.dying import MIGRATION, run_and_die
from crash.writer import SETTINGS
from memento.iris import ONTOLOGY
from memento.model import Quad
from memento.python import Memento, open_memento
from memento.settings import load

SAID = ("I live in Rome.", "My sister Ana works at Google.", "I like green tea.")
BY_DEFAULT = ("after vectors are written", "before the settings are written", "after the settings are written")
"""The steps that every run of the tests takes: between vectors, and on either side of where it counts."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("told") / "home"
    with open_memento(home, configured=SETTINGS) as memento:
        for text in SAID:
            memento.note(text)
    return home


def read_quads(memento: Memento) -> list[Quad]:
    graph = memento.service.stores.graph
    return sorted((quad for name in graph.graphs() if name != ONTOLOGY for quad in graph.quads(name)), key=str)


@pytest.mark.parametrize(
    "step", [step if step in BY_DEFAULT else pytest.param(step, marks=pytest.mark.crash) for step in MIGRATION]
)
def test_a_kill_during_a_migration_loses_nothing_and_it_goes_on(step: str, folder: Path, tmp_path: Path) -> None:
    home = Path(copytree(folder, tmp_path / "home"))
    run_and_die("migrate", home, step, 1 if "vectors" in step else 0)
    is_moved = "after the settings" in step or "is gone" in step

    configured = load(home / "memento.toml", {}) if is_moved else SETTINGS
    with open_memento(home, configured=configured, resume=False) as memento:
        assert isinstance(memento, Memento)
        assert memento.status().embedder == ("trigram-64" if is_moved else "trigram-256")
        assert memento.admin.check() == ()
        before = read_quads(memento)
        assert memento.recall("Where do I live?", k=1).memories[0].content == "I live in Rome."
        moved = memento.admin.migrate(model="trigram", dimensions=64)
        assert moved.after == "trigram-64"
        assert bool(moved.resumed) == (not is_moved and step != "before the backup")
        assert memento.admin.check() == ()
        assert read_quads(memento) == before
        assert memento.recall("Where do I live?", k=1).memories[0].content == "I live in Rome."
        assert {path.name for path in home.glob("vectors*")} <= {f"vectors.sqlite{end}" for end in ("", "-wal", "-shm")}
