"""
A node over a shared store that writes notes about one slot and about things of its own until it is killed.

    python node.py HOME NAME FIRST QUERY_URL UPDATE_URL     prints "ready", then a number for each note that was acknowledged
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from memento.errors import MementoError
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings, Settings, StoreSettings

LEASE_S = 1.0


def settings_of(query_url: str, update_url: str) -> Settings:
    store = StoreSettings("sparql", query_url, update_url, timeout_s=20.0, lease_s=LEASE_S, follow_ms=50)
    return Settings(embedding=EmbeddingSettings(model="trigram", cache=False), store=store)


def text(name: str, number: int) -> str:
    """A note about a thing of its own, or every third time about the one slot that all nodes write."""
    return f"I work at {name}{number} Ltd." if number % 3 == 0 else f"The crate {name}{number} stands in hall {number}."


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(home: str, name: str, first: str, query_url: str, update_url: str) -> None:
    memento = open_memento(Path(home), configured=settings_of(query_url, update_url))
    assert isinstance(memento, Memento)
    say("ready")
    number = int(first)
    while True:
        try:
            memento.note(text(name, number), idempotency_key=f"{name}{number}")
        except MementoError:  # the store is away: the same note again
            time.sleep(0.05)
            continue
        say(number)
        number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
