"""A memory has a vector of its text with the names masked, which follows it wherever its own vector goes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.backends import Backends
from memento.model import NoteRow
from memento.python import Memento, open_memento
from memento.search.grains import Grains, list_grains

WORKS = "Ana Costa works at the harbour clinic."
TWO = "Ana Costa moved to Porto. She keeps three hens."


def grains_of(memento: Memento) -> Grains:
    return memento.service.stores.indexes.grains


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    assert is_so()


def count_grains(memento: Memento) -> int:
    return memento.service.stores.indexes.file.count_grains()


def test_a_turn_of_a_conversation_is_not_masked() -> None:
    assert list_grains("Ana: I met Ben Ray.", is_turn=True) == [""]


def test_a_note_has_its_grains_at_once(memento: Memento) -> None:
    memento.note(WORKS)
    assert len(grains_of(memento).masked) == 1
    assert not grains_of(memento).pending


def test_a_plain_import_gets_its_grains_in_the_background(memento: Memento) -> None:
    memento.intake.import_notes([NoteRow(content=WORKS), NoteRow(content=TWO)], consolidate=False)
    wait_until(lambda: not grains_of(memento).pending)
    assert (len(grains_of(memento).masked), count_grains(memento)) == (2, 2)


def test_a_question_about_somebody_does_not_wait_for_the_background(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backends, "wake_grains", lambda _: None)
    memento.intake.import_notes([NoteRow(content=WORKS), NoteRow(content="Ben Ray plays the harp.")], consolidate=False)
    assert len(grains_of(memento).pending) == 2
    memento.recall("Where does Ana Costa work?")
    assert len(grains_of(memento).pending) == 1


def test_grains_are_erased_with_their_memory(memento: Memento) -> None:
    noted = memento.note(WORKS)
    memento.forget(noted.memories[0], erase=True)
    assert (len(grains_of(memento).masked), count_grains(memento)) == (0, 0)


def test_a_start_reads_the_grains_and_a_folder_without_them_gets_them(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        memento.note(WORKS)
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        assert len(grains_of(memento).masked) == 1
        path = memento.service.datadir.vectors
    with closing(sqlite3.connect(path, isolation_level=None)) as db:  # as a folder of an earlier version
        db.execute("DROP TABLE grain")
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        wait_until(lambda: not grains_of(memento).pending)
        assert len(grains_of(memento).masked) == 1


def test_a_rebuild_gives_the_same_grains(memento: Memento) -> None:
    memento.note(TWO)
    before = count_grains(memento)
    memento.admin.rebuild()
    wait_until(lambda: not grains_of(memento).pending)
    assert count_grains(memento) == before
