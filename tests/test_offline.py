"""By default nothing leaves the machine: every connection that the interpreter makes is heard of, and there is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento.python import open_memento
from memento.settings import EmbeddingSettings, Settings

EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request")
_heard: list[str] | None = None


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if _heard is not None and event in EVENTS:
        _heard.append(f"{event} {arguments[:2]}")


sys.addaudithook(_listen)  # for the whole life of the process: there is no way to take one back


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """What was reached out for since the test began."""
    global _heard
    _heard = []
    try:
        yield _heard
    finally:
        _heard = None


def test_a_note_and_a_question_by_the_default_model_reach_out_for_nothing(heard: list[str], tmp_path: Path) -> None:
    configured = Settings(embedding=EmbeddingSettings(runtime="torch", cache=False))
    with open_memento(tmp_path, configured=configured) as memento:
        memento.note("I moved from Paris to Lisbon.")
        found = memento.recall("Where do I live?")
        memento.graphs.query_bytes("SELECT * { ?s ?p ?o } LIMIT 1")

    assert found.memories
    assert heard == []


def test_the_listener_hears(heard: list[str]) -> None:
    import socket

    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", 1), timeout=1):
        pass

    assert heard
