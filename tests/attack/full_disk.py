"""A memory in a process whose files may not grow beyond a size, as on a full disk, until they may; prints what happened as JSON."""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from attack.lived import opened
from memento.errors import MementoError
from memento.model import Health
from memento.python import Memento
from memento.service.handlers.recall import health

MOST = 400_000


def try_notes(memento: Memento, count: int) -> Counter[str]:
    """Note so many texts; counts the answers by their kind and status."""
    came: Counter[str] = Counter()
    for number in range(count):
        try:
            memento.note(f"I like the tea of shop number {number}. " + "It is green. " * 100)
            came["written"] += 1
        except MementoError as error:
            came[f"{type(error).__name__} {error.status}"] += 1
        except Exception as error:
            came[f"bug {type(error).__name__} {error}"] += 1
    return came


def state_of(memento: Memento) -> Health:
    return health(memento.context, {})


def main(home: Path) -> None:
    """Fill, look, make room, look."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    told: dict[str, object] = {}
    with opened(home) as memento:
        memento.note("I live in Lisbon.")
        memento.warm_up()
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, resource.RLIM_INFINITY))
        told["full"] = try_notes(memento, 200)
        told["health"] = (state_of(memento).status, state_of(memento).store, state_of(memento).degraded)
        told["recalled"] = [one.content for one in memento.recall("Where do I live?").memories][:1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        for _ in range(600):
            if state_of(memento).status == "ok":
                break
            time.sleep(0.1)
        told["healed"] = (state_of(memento).status, state_of(memento).store)
        told["after"] = try_notes(memento, 2)
        told["checked"] = [one.detail for one in memento.check()]
        told["memories"] = len(memento.list(limit=500))
    with opened(home) as memento:
        told["again"] = len(memento.list(limit=500))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
