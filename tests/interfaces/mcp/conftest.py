"""One memory and one service for all tests of a file; each test uses words of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conftest import OFFLINE
from doors import serving
from memento.python import Memento, open_memento


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A memory that is served."""
    opened = open_memento(tmp_path_factory.mktemp("home"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.warm_up()
        yield opened


@pytest.fixture(scope="module")
def address(memory: Memento) -> Iterator[str]:
    """Where it answers."""
    with serving(memory) as at:
        yield at
