"""
A node over a shared store that writes notes about one slot and about things of its own until it is killed.

    python node.py HOME NAME FIRST QUERY_URL UPDATE_URL KIND URI     prints "ready", then a number for each acknowledged note

`write_and_die` is the same over a shared engine, at a named step of which it kills itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, cast

from crash.writer import deadly
from memento.errors import MementoError
from memento.plugins.scale import databases, node
from memento.plugins.scale.databases import Lance
from memento.plugins.scale.node import Node
from memento.plugins.scale.pool import PooledIndexes
from memento.plugins.scale.remote import RemoteStore
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings

Shared = tuple[str, str, str, str]
"""The addresses of the store for queries and for updates, the kind of the engine, and where that is."""

STEPS: dict[str, tuple[object, str, bool]] = {
    "before the store has it": (RemoteStore, "_commit", True),
    "between store and engine": (RemoteStore, "_commit", False),
    "before the nodes are read again": (PooledIndexes, "_put_nodes", True),
    "before rows are merged": (Lance, "_build_rows", False),
    "when rows are merged": (PooledIndexes, "_put_nodes", False),
    "before the debt is taken out": (Node, "note_indexed", True),
    "when the debt is taken out": (Node, "note_indexed", False),
    "before files are joined": (Lance, "settle", True),
    "when files are joined": (Lance, "settle", False),
    "before files of what is erased go": (Lance, "purge", True),
    "when files of what is erased are gone": (Lance, "purge", False),
    "when a rebuild has emptied the table": (Lance, "clear", False),
    "between two portions of a rebuild": (Node, "_put_steadily", False),
    "when a rebuild has put everything": (Node, "rebuild_indexes", False),
}
"""By its name what is called at a step: its owner, its name, and whether the process dies before it or after it."""

AMID: dict[str, tuple[object, str, float]] = {
    "while rows are merged": (Lance, "put", 0.02),
    "while files are joined": (Lance, "settle", 0.05),
    "while files of what is erased go": (Lance, "purge", 0.05),
    "while a rebuild runs": (Node, "rebuild_indexes", 0.3),
}
"""In what the process dies, at most so many seconds after its begin."""


def settings_of(query_url: str, update_url: str, kind: str, uri: str) -> Settings:
    # Whether the store is fit is known, and to ask takes a node as long as its writes.
    store = StoreSettings(
        "sparql",
        query_url,
        update_url,
        probe=False,
        timeout_s=20.0,
    )
    index = IndexSettings(kind=cast(Literal["lance", "milvus"], kind), uri=uri)
    return Settings(embedding=EmbeddingSettings(model="trigram", cache=False), store=store, index=index)


def text(name: str, number: int) -> str:
    """A note about a thing of its own, or every third time about the one slot that all nodes write."""
    return f"I work at {name}{number} Ltd." if number % 3 == 0 else f"The crate {name}{number} stands in hall {number}."


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def die_within(owner: object, name: str, calls: int, most_s: float) -> None:
    """Let the process die in the n-th call of a method, later in it with each call that is passed over."""
    method, left = getattr(owner, name), calls

    def wrapped(*args: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            threading.Timer(most_s * (calls % 5) / 5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return method(*args, **named)

    setattr(owner, name, wrapped)


def prepare_death(step: str, after: int) -> None:
    databases._LATE, node._PORTION = 3, 4  # so that a few notes make files to join, and portions to rebuild
    if step in STEPS:
        owner, name, before = STEPS[step]
        deadly(owner, name, after, before=before)
    elif step in AMID:
        owner, name, most_s = AMID[step]
        die_within(owner, name, after, most_s)


def write_notes(memento: Memento, name: str, first: int, say: Callable[[object], None], step: str = "") -> None:
    """Write notes for ever, and say the number of each that was acknowledged, below zero for one that was erased again."""
    say("ready")
    number = first
    while True:
        try:
            noted = memento.note(text(name, number), idempotency_key=f"{name}{number}")
            say(number)
            if "rebuild" in step and number % 4 == 1:
                memento.admin.rebuild()
            if "erased" in step and number % 3 == 1:
                memento.forget(noted.memories[0], erase=True)
                say(-number)
        except MementoError:  # store or engine is away: the same note again
            time.sleep(0.05)
            continue
        number += 1


def write_and_die(home: Path, name: str, first: int, shared: Shared, step: str, after: int, told: Connection) -> None:
    """Write notes over an engine, until it is killed or after so many calls of the step."""
    prepare_death(step, after)
    memento = open_memento(home, configured=settings_of(*shared))
    assert isinstance(memento, Memento)
    write_notes(memento, name, first, told.send, step)


def main(home: str, name: str, first: str, *shared: str) -> None:
    memento = open_memento(Path(home), configured=settings_of(*shared))
    assert isinstance(memento, Memento)
    write_notes(memento, name, int(first), say)


if __name__ == "__main__":
    main(*sys.argv[1:])
