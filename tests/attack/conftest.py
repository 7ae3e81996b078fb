"""One memory with something of every kind in it, made once; each test spoils a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from attack.lived import Lived, live


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Lived]:
    """Its folder, and what is asked for by name."""
    home = tmp_path_factory.mktemp("lived") / "home"
    return home, live(home)


@pytest.fixture
def lived(made: tuple[Path, Lived]) -> Lived:
    return made[1]


@pytest.fixture
def copied(made: tuple[Path, Lived], tmp_path: Path) -> Callable[[], Path]:
    """Makes a copy of the folder, which nobody has open."""

    def copy() -> Path:
        return Path(shutil.copytree(made[0], tmp_path / "home"))

    return copy
