"""A memory moves to another embedder while it answers: side by side, in one step, and what is kept with the folder says so."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.archive import upgrade
from memento.errors import Conflict, EmbeddingError, Forbidden, SettingsError
from memento.graph.backups import list_backups, verify_backup
from memento.iris import ONTOLOGY
from memento.model import Migrated, Quad
from memento.operations.care import Migrate
from memento.plugins.cases.nouns import CaseRow
from memento.ports import Vectors
from memento.python import Memento, open_memento
from memento.retrieval import pipeline
from memento.search.embedders import Trigram
from memento.settings import EmbeddingSettings, Settings, load

SAID = ("I live in Rome.", "My sister Ana works at Google.", "I like green tea.", "Project Apollo ends in May 2030.")


def open_here(home: Path, configured: Settings | None = OFFLINE) -> Memento:
    memento = open_memento(home, configured=configured, resume=False)
    assert isinstance(memento, Memento)
    return memento


def read_quads(memento: Memento) -> list[Quad]:
    graph = memento.service.stores.graph
    return sorted((quad for name in graph.graphs() if name != ONTOLOGY for quad in graph.quads(name)), key=str)


def read_ids(home: Path) -> dict[str, int]:
    with closing(sqlite3.connect(home / "vectors.sqlite")) as db:
        return dict(db.execute("SELECT iri, id FROM node"))


def read_files(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.glob("*") if path.is_file() and path.suffix != ".sqlite-shm"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed folder with memories, keys and a case, in 256 dimensions."""
    home = tmp_path_factory.mktemp("folder") / "home"
    with open_here(home) as memento:
        for text in SAID:
            memento.note(text)
        memento.keys.remember("Ana plays the cello on Mondays.", keys=["Ana", "music"])
        memento.cases.add([CaseRow(task="Book a table for two", plan="Call them.", outcome="success")])
    (home / "memento.toml").write_text('# mine\n[embedding]\nmodel = "trigram"  # small\n[land]\nwhole = 40\n')
    return home


@pytest.fixture
def home(folder: Path, tmp_path: Path) -> Path:
    return Path(copytree(folder, tmp_path / "home"))


@pytest.fixture
def told(home: Path) -> Iterator[Memento]:
    with open_here(home) as memento:
        yield memento


@dataclass(frozen=True)
class Move:
    """What there was before a migration, and what it said."""

    home: Path
    memento: Memento
    quads: list[Quad]
    ids: dict[str, int]
    files: tuple[dict[Path, bytes], dict[Path, bytes]]
    planned: Migrated
    done: Migrated


@pytest.fixture(scope="module")
def move(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    home = Path(copytree(folder, tmp_path_factory.mktemp("moved") / "home"))
    with open_here(home) as memento:
        quads, ids = read_quads(memento), read_ids(home)
        before = read_files(home)
        planned = memento.admin.migrate(model="trigram", dimensions=64, dry_run=True)
        after = read_files(home)
        done = memento.admin.migrate(model="trigram", dimensions=64)
        yield Move(home, memento, quads, ids, (before, after), planned, done)


def test_a_dry_run_says_what_there_is_to_do_and_changes_nothing(move: Move) -> None:
    assert move.planned.dry_run and move.planned.backup is None
    assert move.planned.embedded == move.planned.texts == len(move.ids) + 1
    assert move.files[0] == move.files[1]


def test_ids_stay_and_dimensions_change_and_everything_is_found(move: Move) -> None:
    assert (move.done.before, move.done.after) == ("trigram-256", "trigram-64")
    assert (move.done.dimensions_before, move.done.dimensions_after) == (256, 64)
    assert move.done.embedded == move.done.texts == len(move.ids) + 1
    assert read_ids(move.home) == move.ids
    assert read_quads(move.memento) == move.quads
    assert move.memento.admin.check() == ()
    assert [one.content for one in move.memento.recall("Where do I live?", k=1).memories] == ["I live in Rome."]
    assert move.memento.keys.find("music").keys
    assert move.memento.cases.retrieve("Book a table for three").positives


def test_a_backup_comes_first(move: Move) -> None:
    assert move.done.backup
    assert verify_backup(Path(move.done.backup)).fingerprint == "trigram-256"


def test_the_settings_kept_with_the_folder_open_it_with_the_new_embedder(move: Move, tmp_path: Path) -> None:
    move.memento.close()
    home = Path(copytree(move.home, tmp_path / "home"))

    with open_here(home, None) as again:
        assert again.status().embedder == "trigram-64"
        assert again.admin.check() == ()
        assert again.admin.migrate(dimensions=64).embedded == 0  # it is that already
        forced = again.admin.migrate(dimensions=64, force=True)
        assert forced.embedded == forced.texts and forced.before == forced.after
        assert again.admin.check() == ()
    assert (home / "memento.toml").read_text().startswith("# mine\n")
    assert load(home / "memento.toml").land.whole == 40


class Slow(Trigram):
    """Embeds when it is let."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.begun, self.go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.go_on.wait(60)
        return super().embed(texts)


def test_recalls_are_answered_and_writes_are_kept_while_it_runs(told: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, moved = Slow(64), list[Migrated]()
    gone = told.recall("What do I like?", k=1).memories[0]
    with monkeypatch.context() as patch:
        patch.setattr("memento.search.embedders.Trigram", lambda dimensions: slow)
        thread = threading.Thread(target=lambda: moved.append(told.admin.migrate(model="trigram", dimensions=64)))
        thread.start()
        assert slow.begun.wait(60)

    assert told.recall("Where do I live?", k=1).memories[0].content == "I live in Rome."
    told.note("My brother Tom lives in Oslo.")
    told.forget(gone.iri, erase=True)
    with pytest.raises(Conflict, match="is being moved"):
        told.admin.migrate(model="trigram", dimensions=32)
    assert told.status().embedder == "trigram-256"
    slow.go_on.set()
    thread.join(60)

    assert moved and told.status().embedder == "trigram-64"
    assert told.admin.check() == ()
    assert "Oslo" in told.recall("Where does Tom live?", k=1).memories[0].content
    assert gone.iri not in [one.iri for one in told.list(past=True)]


class Broken(Trigram):
    """Embeds so many calls, and then fails."""

    def __init__(self, dimensions: int, calls: int) -> None:
        super().__init__(dimensions)
        self.left = calls

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.left == 0:
            raise EmbeddingError("the service is away")
        self.left -= 1
        return super().embed(texts)


def test_what_was_embedded_before_a_failure_is_kept_until_something_is_erased(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "EMBEDDED_AT_ONCE", 2)
    with open_here(home) as told, monkeypatch.context() as patch:
        patch.setattr("memento.search.embedders.Trigram", lambda dimensions: Broken(dimensions, 3))
        with pytest.raises(EmbeddingError, match="away"):
            told.admin.migrate(model="trigram", dimensions=64)

    with open_here(home) as again:
        assert again.admin.check() == ()
        assert again.status().embedder == "trigram-256"
        assert again.admin.migrate(model="trigram", dimensions=64, dry_run=True).resumed == 6
        moved = again.admin.migrate(model="trigram", dimensions=64)
        assert moved.resumed == 6 and moved.embedded == moved.texts - 6
        assert again.admin.check() == ()

        (home / "vectors-next.sqlite").write_bytes(b"of an earlier one")
        again.forget(again.recall("Where do I live?", k=1).memories[0].iri, erase=True)
        assert not (home / "vectors-next.sqlite").exists()


def test_what_cannot_be_is_refused_before_anything_is_done(
    home: Path, told: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="must be one of minilm, trigram"):
        told.admin.migrate(model="no such folder")
    with pytest.raises(Forbidden):
        told.with_access(Access(name="writer", right="write")).call(Migrate("trigram"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_DIMENSIONS", "256")
    with pytest.raises(SettingsError, match=r"MEMENTO_EMBEDDING_DIMENSIONS to 64, or unset it"):
        told.admin.migrate(model="trigram", dimensions=64)
    assert told.status().embedder == "trigram-256"
    assert not (home / "backups").exists()


def test_a_start_with_another_model_makes_a_backup_and_embeds_everything_again(home: Path) -> None:
    changed = EmbeddingSettings(model="trigram", dimensions=64, cache=False)
    with open_here(home, replace(OFFLINE, embedding=replace(changed, auto_migrate=False))) as again:
        quads = read_quads(again)
        assert again.status().embedder == "trigram-256"  # the vectors stay as they are where that is wanted
        assert not (home / "backups").exists()

    with open_here(home, replace(OFFLINE, embedding=changed)) as again:
        assert again.status().embedder == "trigram-64"
        assert again.admin.check() == ()
        assert read_quads(again) == quads
    (kept,) = list_backups(home / "backups")
    assert verify_backup(kept).fingerprint == "trigram-256"


def test_a_question_that_was_embedded_before_the_switch_is_asked_again(told: Memento) -> None:
    begin, asked = pipeline.recall, list[object]()

    def switch_between(*args: Any, **named: Any) -> object:
        asked.append(args)
        if len(asked) == 1:
            told.admin.migrate(model="trigram", dimensions=64)
            raise ValueError("shapes (1,256) and (64,5) not aligned")
        return begin(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "recall", switch_between)
        assert told.recall("Where do I live?", k=1).memories[0].content == "I live in Rome."
    assert len(asked) == 2 and told.status().embedder == "trigram-64"


@pytest.mark.parametrize(
    ("chosen", "named"),
    [
        ({"model": "a folder " + "x" * 500}, "model of"),
        ({"model": "\0"}, "model of"),
        ({"provider": "acme", "model": "m"}, "provider of"),
    ],
    ids=["a name that is too long", "a name with a zero", "a provider that is none"],
)
def test_a_target_that_cannot_be_is_refused_and_named(memento: Memento, chosen: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        memento.admin.migrate(**chosen)
