"""A memory in a process whose files may not grow beyond a size, as on a full disk, until they may; prints what happened as JSON."""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from attack.lived import opened
from doors import serving
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
        told["checked"] = [one.detail for one in memento.admin.check()]
        told["memories"] = len(memento.list(limit=500))
    with opened(home) as memento:
        told["again"] = len(memento.list(limit=500))
    sys.stdout.write(json.dumps(told))


def bring_in(home: Path, most: int) -> None:
    """Import a long document over HTTP while files may not grow beyond a size; then write with room again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    document = b"".join(b'<urn:x:%d> <urn:p> "%s %d" .\n' % (n, b"x" * 200, n) for n in range(6_000))
    told: dict[str, object] = {}
    with opened(home) as memento, serving(memento) as address:
        memento.warm_up()
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        request = urllib.request.Request(
            f"{address}/memory/import/rdf?data=mine", document, {"Content-Type": "application/n-triples"}
        )
        try:
            told["status"] = urllib.request.urlopen(request).status
        except urllib.error.HTTPError as error:
            told["status"], told["answer"] = error.code, error.read().decode()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        told["after"] = try_notes(memento, 1)
        told["checked"] = [one.detail for one in memento.admin.check()]
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        bring_in(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
