"""A folder of files behind an MCP server over HTTP, and memories whose plans may use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from fileserver import serving_files
from memento.plugins.cases.settings import ExecutorSettings
from memento.python import Memento, open_memento
from memento.settings import ModelSettings
from planned import Opened


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder, and the address of its server."""
    folder = tmp_path_factory.mktemp("files")
    with serving_files(folder) as address:
        yield folder, address


@pytest.fixture
def folder(shelf: tuple[Path, str]) -> Path:
    """The folder with two files: one says hello, the other goodbye."""
    for path in shelf[0].iterdir():
        path.unlink()
    (shelf[0] / "a.txt").write_text("hello")
    (shelf[0] / "b.txt").write_text("goodbye")
    return shelf[0]


@pytest.fixture
def opening(tmp_path: Path, shelf: tuple[Path, str]) -> Iterator[Opened]:
    """Opens a memory with settings of the executor and of a model."""
    with ExitStack() as stack:

        def opened(model: ModelSettings | None = None, home: str = "home", **executor: Any) -> Memento:
            knobs = ExecutorSettings(
                **{"servers": json.dumps({"files": {"url": shelf[1]}}), "call_s": 10.0, **executor}
            )
            settings = replace(OFFLINE, model=model or ModelSettings()).having(knobs)
            made = open_memento(tmp_path / home, configured=settings)
            assert isinstance(made, Memento)
            return stack.enter_context(made)

        yield opened
