"""A process is killed while it makes or puts back a backup; afterwards there is the old or the new, and nothing between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crash.restorer import PUTTING, TAKING
from crash.writer import SETTINGS
from memento.graph.backups import list_backups, verify_backup
from memento.python import Memento, open_memento

RESTORER = Path(__file__).with_name("restorer.py")
OLD, NEW = {"I live in Lisbon."}, {"I live in Oslo.", "I like tea."}


def killed(*words: str) -> None:
    command = [sys.executable, str(RESTORER), *words]
    # What is imported below tests is found as pytest finds it.
    environment = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run(command, capture_output=True, env=environment, check=False).returncode == -9


def contents(home: Path) -> set[str]:
    with open_memento(home, configured=SETTINGS) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        return {one.content for one in memento.list()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory that lives in Oslo, with a backup of when it lived in Lisbon."""
    with open_memento(tmp_path / "home", configured=SETTINGS) as memento:
        memento.note("I live in Lisbon.", at="2024-01-01")
        memento.admin.backup(tmp_path / "backups")
        memento.note("I live in Oslo.", at="2025-01-01")
        memento.note("I like tea.")
    return tmp_path / "home"


def every(steps: dict[str, tuple[object, str, bool]]) -> list[object]:
    """The last one in every run of the tests, the others with the rest of the kills."""
    return [pytest.param(step, marks=() if step == list(steps)[-2] else pytest.mark.crash) for step in steps]


@pytest.mark.parametrize("step", every(TAKING))
def test_a_kill_leaves_no_half_backup(step: str, home: Path, tmp_path: Path) -> None:
    [before] = list_backups(tmp_path / "backups")
    killed(str(home), str(tmp_path / "backups"), step, "open")
    assert list_backups(tmp_path / "backups") == [before]
    assert contents(home) == NEW
    with open_memento(home, configured=SETTINGS) as memento:
        made = memento.admin.backup(tmp_path / "backups")

    assert list_backups(tmp_path / "backups") == [before, Path(made.folder)]
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == [before.name, Path(made.folder).name]
    verify_backup(before)


@pytest.mark.parametrize("state", ["open", "closed"])
@pytest.mark.parametrize("step", every(PUTTING))
def test_a_kill_leaves_the_old_memory_or_the_restored_one(step: str, state: str, home: Path, tmp_path: Path) -> None:
    killed(str(home), str(tmp_path / "backups"), step, state)
    is_old = step in ("before the files lie ready", "after the files lie ready", "before the mark is set")

    assert contents(home) == (NEW if is_old else OLD)
    assert not (home / "restore.json").exists()
    with open_memento(home, configured=SETTINGS) as memento:
        memento.admin.restore(tmp_path / "backups")
    assert contents(home) == OLD
    if not is_old:
        aside = min(home.glob("before-restore-*"))
        (tmp_path / "aside").mkdir()
        (aside / "store").rename(tmp_path / "aside" / "store")
        assert contents(tmp_path / "aside") == NEW
