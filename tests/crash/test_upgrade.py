"""A process is killed while it upgrades a folder of version 0.1; the next start gives it everything, once."""

from __future__ import annotations

import random
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from archive.test_upgrade import FOLDER
from crash import dying
from crash.writer import SETTINGS
from memento.graph.backups import list_backups, verify_backup
from memento.iris import ONTOLOGY
from memento.model import Quad
from memento.python import Memento, open_memento

AT_ANY_TIME = "at any time"


def unpack(home: Path) -> Path:
    with tarfile.open(FOLDER) as archive:
        archive.extractall(home, filter="data")
    return home


def upgrade_and_die(home: Path, step: str, after: int = 0, wait_s: float = 0.0) -> int:
    """Upgrade until the kill; return the exit status, 0 where the upgrade was done before."""
    command = [sys.executable, dying.__file__, "upgrade", str(home), step, str(after)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        if step == AT_ANY_TIME:
            time.sleep(wait_s)
            process.kill()
    return process.returncode


def read_all(home: Path) -> list[Quad]:
    """Open a folder, which completes its upgrade; return its quads, but for the ontology: its blank nodes change."""
    with open_memento(home, configured=SETTINGS) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        graph = memento.service.stores.graph
        quads = [quad for name in graph.graphs() if name != ONTOLOGY for quad in graph.quads(name)]
        return sorted(quads, key=str)


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> list[Quad]:
    """What is there after an upgrade that nobody interrupts."""
    return read_all(unpack(tmp_path_factory.mktemp("whole") / "home"))


def list_sound_backups(home: Path) -> list[Path]:
    made = list_backups(home / "backups")
    for one in made:
        verify_backup(one)
    return made


@pytest.mark.parametrize("step", dying.UPGRADE)
def test_a_kill_during_the_upgrade_loses_and_doubles_nothing(step: str, tmp_path: Path, upgraded: list[Quad]) -> None:
    home = unpack(tmp_path / "home")
    after = 0 if "backup" in step or "mark" in step else 1
    assert upgrade_and_die(home, step, after) == -9
    assert read_all(home) == upgraded
    assert list_sound_backups(home)


def test_an_upgrade_that_is_killed_again_and_again_is_completed_once(tmp_path: Path, upgraded: list[Quad]) -> None:
    home = kill(tmp_path, seed=1, count=2, upgraded=upgraded)
    made = list_sound_backups(home)
    assert read_all(home) == upgraded
    assert list_sound_backups(home) == made


@pytest.mark.crash
def test_a_hundred_kills_during_upgrades_lose_and_double_nothing(tmp_path: Path, upgraded: list[Quad]) -> None:
    for seed in range(20):
        kill(tmp_path / str(seed), seed, 5, upgraded)


def kill(folder: Path, seed: int, count: int, upgraded: list[Quad]) -> Path:
    chance = random.Random(seed)
    home = unpack(folder / "home")
    for _ in range(count):
        step = chance.choice([*dying.UPGRADE, AT_ANY_TIME])
        upgrade_and_die(home, step, chance.randrange(4), chance.uniform(0.0, 0.3))
    assert read_all(home) == upgraded
    return home
